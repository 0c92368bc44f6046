"""The threads of a server: one that writes, others that only read, and one that loads the
embedding model.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import count
from pathlib import Path
from queue import Empty, PriorityQueue, SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ..config import CLIENT_WAITS_S, load_config
from ..errors import IndexFailed, IndexUnusable
from ..index.counters import Counters
from ..index.embedding import Embedder
from ..journal.withdrawal import WITHDRAWAL, Withdrawal
from ..models import Json, Texts
from ..plugin import ACCESS, CATCH_UP, with_doors
from ..workspace.access import NeedsWriter
from ..workspace.checkout import ELSEWHERE, SESSION_FOLDER
from ..workspace.index_check import verify_index
from ..workspace.pace import Paces
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace, open_workspace
from .failures import to_user_error
from .local_socket import HookListener
from .processes import ReaderProcess, call_outcome, open_reader, start_synaptic
from .tokens import Grant
from .turns import Turns

if TYPE_CHECKING:
    from ..render.prompt_entries import PromptEntries

log = logging.getLogger(__name__)
Result = TypeVar("Result")
Verb = Callable[[Workspace], Result]
"""A function of a Workspace, which a thread of the worker calls."""
Lane = Literal["write", "read", "hook", "slow", "process"]
"""The queue of a verb: of the thread that writes, of the threads that read, of the thread that
answers hooks, of the thread for slow reads, or of the process for slow reads. The verbs of that
process and their results must be picklable.
"""
READERS = 2
"""The number of threads that read: more would wait for Python's lock, and each has a cache of
the index.
"""
STEPS = 20_000
"""Steps of SQLite's virtual machine, about a millisecond, between two checks whether the client
has disconnected.
"""
IDLE_S = 60.0
"""Seconds without work after which the process for slow reads ends."""
END, COUNTS, FOLLOW, IN_TURN = range(4)
"""The ranks by which the writing thread takes its jobs, lowest first: the end, counts and
wake-ups, jobs that a reader waits for, all others.
"""

GRACE_S = 2
"""Seconds that open answers, and then the worker, have to end when a server ends."""
SLICE_S = 0.05
"""Seconds for which the idle thread embeds before it looks for a call again."""
QUIET_S = 0.1
"""Seconds without a call before the thread embeds, so that calls in quick succession never wait
for it.
"""
FLUSH_EVERY_S = 10.0
"""Seconds between two writes of the counts of reads to the index."""
RETRY_AFTER_S = 60.0
"""Seconds until a model that could not be loaded is tried again; for that time the embedder
remembers the reason. The most seconds between two tries to embed what waits.
"""
SYNC_EVERY_S = 60.0
"""Seconds between two syncs with other machines."""
FIRST_CALL_S = 2.0
"""Seconds after the first call that needs the model, during which such calls wait for it."""


@dataclass(order=True, slots=True)
class Job:
    """A verb in a queue. `gone` is set when its caller no longer waits, and its change is
    withdrawn if it has not begun; lower ranks and numbers run first.
    """

    rank: int
    number: int
    verb: Verb[Any] = field(compare=False)
    future: Future[Any] = field(compare=False, default_factory=Future)
    gone: threading.Event = field(compare=False, default_factory=threading.Event)
    withdrawal: Withdrawal = field(compare=False, default_factory=Withdrawal)


@dataclass
class ClientState:
    """What a server keeps of a client: the order of its calls, the notices that it was given
    and needs once, and hashes of the entries that it has read, by id.
    """

    turns: Turns = field(default_factory=Turns)
    sent_notices: set[str] = field(default_factory=set)
    read_texts: dict[str, int] = field(default_factory=dict)


class Worker:
    """Runs verbs in the order they come, on the one Workspace that writes; between them it
    checks the index and embeds. Verbs that only read run on threads of their own.

    The Workspace is opened for the first verb. A home or config.toml that cannot be used is an
    error of each call, not of the server: after the file is corrected, the next call succeeds.
    With `readers=0` reads keep their order among the writes of the one client. With the
    `address` of a database nothing is written: all verbs read what is published there.
    """

    def __init__(
        self,
        home: str | Path | None = None,
        embedder: Embedder | None = None,
        *,
        read_only: bool = False,
        readers: int = READERS,
        address: str = "",
    ) -> None:
        self._threads: dict[Lane, int] = {
            "write": 0,
            "read": readers,
            "hook": 1,
            "slow": 1,
            "process": 1,
        }
        self.session = os.urandom(8).hex()
        self.began = time.time()
        self.clients: defaultdict[str, ClientState] = defaultdict(ClientState)
        """By the name of a token, or "" for the one client over stdio."""
        self.withdrawals: dict[str, Withdrawal] = {}
        """By the id of a call that writes, over stdio."""
        self._home = home
        self._read_only = read_only
        self._address = address
        self._embedder = embedder
        self._jobs: PriorityQueue[Job] = PriorityQueue()
        self._numbers = count()
        self._reads: dict[Lane, SimpleQueue[Job]] = {}
        self._is_asked = False
        self._thread = threading.Thread(
            target=self._run_writer, name="synaptic-worker", daemon=True
        )
        self._ws: Workspace | None = None
        self._hooks: HookListener | None = None
        self._load_at = 0.0
        self._model_tried = threading.Event()
        self._wait_until = 0.0
        self._checked = False
        self._embed_again_s = 0.0
        self._flush_at = 0.0
        self._sync_at = 0.0
        self._synced = 0

    @property
    def is_published(self) -> bool:
        """True if it reads published journals from a database, and writes nothing."""
        return bool(self._address)

    @property
    def loading(self) -> bool:
        """True until the model was loaded or failed to load; during that time no call should
        wait for it.
        """
        return not self._model_tried.is_set()

    @property
    def paces(self) -> Paces:
        """How far the index is, and how fast it is filled here."""
        return self._ws.paces if self._ws else Paces()

    def start(self) -> None:
        """Starts the thread that opens the Workspace and loads the model. Further calls do
        nothing.
        """
        if self._thread.ident is None:
            self._thread.start()

    def submit(self, verb: Verb[Result], lane: Lane = "write") -> Future[Result]:
        """Queues the verb and returns a future of its result. A verb that is cancelled in the
        queue is skipped.
        """
        return self._queue(verb, lane).future

    async def ask(
        self, verb: Verb[Result], lane: Lane = "write", withdrawal: Withdrawal | None = None
    ) -> Result:
        """Queues the verb, waits, and returns its result. Raises the error of the verb; a
        defect as SynapticError.

        If the caller is cancelled, a verb that reads ends at its next step in SQLite, and one
        that writes does nothing unless its change has begun. `withdrawal` says so earlier.
        """
        job = self._queue(verb, lane, withdrawal=withdrawal)
        try:
            return await asyncio.wrap_future(job.future)
        except asyncio.CancelledError:
            job.withdrawal.request()
            job.gone.set()
            raise
        except Exception as error:
            raise to_user_error(error) from error

    def _queue(
        self,
        verb: Verb[Any],
        lane: Lane = "write",
        rank: int = IN_TURN,
        withdrawal: Withdrawal | None = None,
    ) -> Job:
        """Puts the verb into the queue of its lane, and starts the threads of that lane if
        there are none.
        """
        job = Job(rank, next(self._numbers), verb, withdrawal=withdrawal or Withdrawal())
        self.start()
        if self._address and rank == IN_TURN and lane == "write":
            lane = "read"
        ws = self._ws
        # an index in the memory of the writer is the writer's alone
        if not self._threads[lane] or ws is None or ws.access.why_index_in_memory(ws.index):
            self._jobs.put(job)
            return job
        if lane not in self._reads:
            self._reads[lane] = SimpleQueue()
            for _ in range(self._threads[lane]):
                reading = threading.Thread(
                    target=self._run_published_reader if self._address else self._run_reader,
                    args=(lane, ws),
                    name=f"synaptic-{lane}",
                    daemon=True,
                )
                reading.start()
        self._reads[lane].put(job)
        if not ws.embedder.ready:
            self._queue(_do_nothing, rank=COUNTS)  # the writer may try to load it again
        return job

    async def wait_for_model(self) -> None:
        """Waits until the model was loaded or failed to load, at most until FIRST_CALL_S after
        the first such wait. Raises the error of a home that cannot be opened.
        """
        if not self.loading:
            return
        ready = await self.ask(lambda ws: ws.embedder.ready)
        now = time.monotonic()
        self._wait_until = self._wait_until or now + FIRST_CALL_S
        if not ready and now < self._wait_until:
            await asyncio.to_thread(self._model_tried.wait, self._wait_until - now)

    def close(self, wait_s: float = 0.0) -> None:
        """Ends the threads after the verbs that they run, and drops waiting verbs. Waits for
        the writing thread, at most `wait_s` seconds.
        """
        if self._hooks:
            self._hooks.close()
        end = Job(END, next(self._numbers), _do_nothing)
        for jobs in self._reads.values():
            jobs.put(end)
        self._jobs.put(end)
        if self._thread.ident:
            self._thread.join(wait_s)

    def _run_writer(self) -> None:
        """Runs the queued verbs in the thread that writes, until the worker is closed; does
        small work in between.
        """
        patience: float | None = 0.0
        while True:
            try:
                job = self._jobs.get(timeout=patience)
            except Empty:
                patience = self._work_while_idle()
                continue
            if job.rank == END:
                break
            patience = QUIET_S
            if not job.future.set_running_or_notify_cancel():
                continue
            self._is_asked = job.rank == IN_TURN
            result, error = call_outcome(self._run_job, job)
            self._is_asked = False  # before the answer: its client may search next
            _settle_future(job.future, result, error)
        if self._ws:
            while not self._jobs.empty():
                job = self._jobs.get()
                if job.rank == COUNTS:
                    job.verb(self._ws)
                elif job.rank == FOLLOW:
                    job.future.cancel()  # a reader waits for it
            self._ws.close()

    def _run_job(self, job: Job) -> Any:
        ws = self._ensure_workspace()
        token = WITHDRAWAL.set(job.withdrawal)
        try:
            return job.verb(ws)
        finally:
            WITHDRAWAL.reset(token)

    def _run_reader(self, lane: Lane, writer: Workspace) -> None:
        """Runs the verbs of a lane, in a thread with a read-only connection of its own."""
        jobs = self._reads[lane]

        def ask_writer(verb: Verb[Any], *, at_leisure: bool = False) -> Any:
            if at_leisure and self._is_asked:
                return None
            return self._queue(verb, rank=IN_TURN if at_leisure else FOLLOW).future.result()

        ws = open_reader(writer, ask_writer)
        apart = ReaderProcess(ws.config, ask_writer)

        def read(job: Job) -> Any:
            if lane == "process":
                return apart.run(job.verb, job.gone)
            if lane in ("hook", "slow"):
                ws.index.file.db.set_progress_handler(job.gone.is_set, STEPS)
            return job.verb(ws)

        while True:
            try:
                job = jobs.get(timeout=IDLE_S)
            except Empty:
                apart.end()
                continue
            if job.rank == END:
                jobs.put(job)  # for the next reader
                break
            if not job.future.set_running_or_notify_cancel():
                continue
            result, error = call_outcome(read, job)
            counted = ws.index.counters.take_all()
            if counted:  # before the answer: what the client does next may write it
                self._queue(partial(_add_counts, counted), rank=COUNTS)
            if isinstance(error, NeedsWriter | IndexUnusable) and (not job.gone.is_set()):
                again = self._queue(job.verb)
                again.future.add_done_callback(partial(_copy_outcome, job.future))
            else:
                _settle_future(job.future, result, error)
        apart.end()
        ws.index.file.close()

    def _run_published_reader(self, lane: Lane, first: Workspace) -> None:
        """Runs the verbs of a lane, in a thread with a connection of its own to the database of
        published journals.
        """
        jobs = self._reads[lane]
        opened = cache(lambda: replace(self._open_workspace(), embedder=first.embedder))
        while (job := jobs.get()).rank != END:
            if job.future.set_running_or_notify_cancel():
                _settle_future(job.future, *call_outcome(_run_on_opened, job.verb, opened))
        jobs.put(job)  # for the next reader
        if opened.cache_info().currsize:
            opened().close()

    def _open_workspace(self) -> Workspace:
        config = load_config(self._home, for_agent=True)
        if not self._address:
            return with_doors(open_workspace(config, embedder=self._embedder))
        return ACCESS.ask_only(config, self._address)

    def _ensure_workspace(self) -> Workspace:
        """Returns the Workspace that writes, opened at the first call; starts to load the model
        if it is not loaded.
        """
        if self._ws is None:
            self._ws = self._open_workspace()
            if not self._address:
                self._hooks = HookListener(self._ws.config, self._answer_hook)
        now = time.monotonic()
        if now >= self._load_at and not self._ws.embedder.ready:
            self._load_at = now + RETRY_AFTER_S
            self._model_tried.clear()
            threading.Thread(
                target=self._load_model, args=(self._ws.embedder,), daemon=True
            ).start()
        return self._ws

    def _answer_hook(self, question: Json) -> Json | None:
        """Returns the entries that answer a prompt, by words and meaning, on a reader of their
        own; None if the model or a reader is not there, or if it takes longer than the hook
        waits.
        """
        until = time.monotonic() + min(float(question["within_s"]), CLIENT_WAITS_S)
        ws = self._ws
        if ws and not ws.embedder.ready:
            self._model_tried.wait(until - time.monotonic())
        if ws is None or not ws.embedder.ready or ws.access.why_index_in_memory(ws.index):
            return None
        job = self._queue(partial(_answer_prompt, question), "hook")
        try:
            entries: PromptEntries = job.future.result(max(0.0, until - time.monotonic()))
        except Exception:  # the hook goes on by words alone, and reports its own errors
            job.gone.set()
            job.future.cancel()
            return None
        return entries._asdict()

    def _load_model(self, embedder: Embedder) -> None:
        try:
            embedder.load()
        except Exception as error:
            log.warning("%s", to_user_error(error))
        self._model_tried.set()
        self._queue(_do_nothing, rank=COUNTS)  # there may be passages to embed

    def _work_while_idle(self) -> float | None:
        """Does one short piece of work that can wait, such as embedding. Returns the seconds
        until the next piece; None if there is none.
        """
        try:
            ws = self._ensure_workspace()
            # so that no search waits for its patterns
            from ..search import pipeline, planner  # noqa: F401

            if self.is_published:
                return None
            if not self._checked:
                self._checked = True
                if not verify_index(ws):
                    log.warning("The index was damaged and has been made anew.")
                if not self._read_only:
                    CATCH_UP.ask_each(ws)
                return 0.0
            if ws.journal.has_unfinished_rename and not self._read_only:
                from ..workspace.many_edits import finish_edits  # rarely needed

                finish_edits(ws)
            embed_ms = SLICE_S * 1000
            report = in_step(ws, lambda report: report, embed_ms=embed_ms, shows_own=False)
            if report.embedded:
                self._embed_again_s = 0.0
                return 0.0
        except Exception as error:
            log.warning("%s", to_user_error(error))  # the next call says so too
            return None
        now = time.monotonic()
        wait = self._flush_at - now
        if wait <= 0:
            self._flush_at = now + FLUSH_EVERY_S
            wait = 0 if ws.index.flush() else FLUSH_EVERY_S
        if ws.config.sync.auto and not self._read_only:
            with suppress(OSError):
                wait = min(self._start_sync(ws, now), wait or SYNC_EVERY_S)
        if report.pending_entries and ws.embedder.ready:  # another process writes, or embeds
            self._embed_again_s = min(2 * self._embed_again_s + 1, RETRY_AFTER_S)
            wait = min(wait or RETRY_AFTER_S, self._embed_again_s)
        return wait or None

    def _start_sync(self, ws: Workspace, now: float) -> float:
        """Starts a process that syncs changes with other machines, at most once a minute.
        Returns the seconds until the next check.
        """
        changed = [ws.journal.saved.folder.stat().st_mtime_ns]
        with suppress(IndexFailed):  # the next call mends the index
            changed += (
                signature[1] for signature in ws.index.signatures().values() if signature
            )
        if max(changed) <= self._synced:
            return SYNC_EVERY_S
        if now >= self._sync_at:
            self._sync_at = now + SYNC_EVERY_S
            self._synced = time.time_ns()
            process = start_synaptic(ws.config, "sync")
            threading.Thread(target=process.wait, daemon=True).start()
        return self._sync_at - now


def _run_on_opened(verb: Verb[Result], opened: Callable[[], Workspace]) -> Result:
    return verb(opened())


def _answer_prompt(question: Json, ws: Workspace) -> PromptEntries:
    """Returns the entries that answer a hook's question, as the hook's own process would in
    its folder, but with meaning.
    """
    from ..render.prompt_entries import entries_for_prompt  # most servers are asked by no hook

    def run() -> PromptEntries:
        own = replace(ws, config=replace(ws.config, project=question["project"]))
        folder = Path(question["folder"])
        SESSION_FOLDER.set(folder)
        seen = frozenset(question["seen"])
        return entries_for_prompt(own, question["prompt"], folder, seen, by_meaning=True)

    return copy_context().run(run)


def _do_nothing(_: Workspace) -> None:
    """Does nothing: as a verb it wakes a thread."""


def _add_counts(counted: Counters, ws: Workspace) -> None:
    ws.index.counters.add(counted)


def _settle_future(future: Future[Any], result: Any, error: BaseException | None) -> None:
    if error:
        future.set_exception(error)
    else:
        future.set_result(result)


def _copy_outcome(waiting: Future[Any], done: Future[Any]) -> None:
    error = CancelledError() if done.cancelled() else done.exception()
    _settle_future(waiting, None if error else done.result(), error)


def run_elsewhere(verb: Verb[Result], ws: Workspace) -> Result:
    """Runs the verb for a client whose folder is unknown, and returns its result."""

    def run() -> Result:
        ELSEWHERE.set(True)
        return verb(ws)

    return copy_context().run(run)


def run_for_client(verb: Verb[Result], grant: Grant, ws: Workspace) -> Result:
    """Runs the verb for a remote client and returns its result: with the client's project, not
    that of the server's folder, and on the journals that it may read.
    """

    own = replace(ws, config=replace(ws.config, project=grant.project))
    return run_elsewhere(partial(run_on_journals, verb, grant.journals), own)


def run_on_journals(verb: Verb[Result], journals: Texts | None, ws: Workspace) -> Result:
    """Runs the verb on the published journals of these names, None for all, in one snapshot,
    and returns its result.
    """
    allowed = replace(ws, access=ws.access.limit_to_journals(journals))
    return allowed.access.run_on_one_state(lambda: verb(allowed))
