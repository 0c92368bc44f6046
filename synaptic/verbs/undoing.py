"""Takes changes of the journal back, by the log of changes.

A run is one command or call. Its records are taken back newest first, each file by itself: byte
for byte if nothing else changed since, else its lines where they still stand. A file in which
they were changed is left and named. That is a run too, which can be taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile

from ..config import load_config
from ..errors import Changed, NotFound, Refused, Sentence, join_sentences
from ..journal.changelog import NO_FILE, Deed, FileChange, hash_or_none, make_record
from ..journal.comments import find_ids
from ..journal.renames import MANY_EDITS
from ..journal.reverting import CannotUndo, find_spans, undo_change
from ..journal.rewriting import RewriteFile, rewrite_entries
from ..journal.standing import (
    UNDO,
    LoggedRun,
    changes_of_run,
    list_standing_changes,
    verb_of_undo,
)
from ..models import PERSON, ParsedFile, Texts, frozen
from ..notes.blocks import bytes_of_text, without_masked
from ..notes.privacy import mask_private
from ..notes.redaction import redact
from ..notes.screening import visible_secrets
from ..plugin import TAKE_BACK_RUN
from ..workspace.many_edits import cut_around_change, finish_edits, take_back
from ..workspace.preferences import read_log
from ..workspace.rule_changes import check_may_change
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .receipts import index_now, note_rule_change

LEAST_LETTERS = 4
"""A shorter id would be taken for a place in a list."""
AS_ONE = ("update", "restore")
"""The verbs that may move an entry between two files: both are taken back, or none."""
EXACTLY = ("settle",)
"""The verbs that are taken back only where nothing else was written since."""
NOT_IN_TRASH = ("tick", "open a task", "move a task")
"""The verbs whose replaced lines are kept in the log alone."""


_MOST_SHOWN = 80
"""The most letters of a text that a message shows."""
_HEADING = re.compile(rb"^#{1,6}[ \t]+(?:\d\d:\d\d[ \t]+)?")


@frozen
class Undone:
    """A run that was taken back, and the name of the run that did so. The files `stay` were
    changed since: (path, why). `earlier` is the run that comes next, if there is one.
    """

    done: LoggedRun
    run: str
    stay: tuple[tuple[str, str], ...] = ()
    notices: Texts = ()
    earlier: LoggedRun | None = None
    first_lines: Mapping[str, int] = field(default_factory=dict)
    """By path, the first line that is as it was again."""


def list_runs(ws: Workspace) -> list[LoggedRun]:
    """The runs that can be taken back, the newest first."""
    records = _records_by_run(ws)
    ids = [id for ones in records.values() for id in ones[-1].entries]
    titles = in_step(ws, lambda _: ws.index.titles(ids))
    if any(id not in titles for id in ids):
        titles = {piece.id: piece.title for piece in ws.journal.trashed()} | titles
    return [_read_run(ones, titles) for ones in records.values()]


def list_runs_with_words(ws: Workspace) -> list[LoggedRun]:
    """The runs that can be taken back, the newest first, with some words that each changed; of
    the undo of a run those of the run.
    """
    words = dict(_changed_words(ws))
    runs = []
    for run in list_runs(ws):
        words_before, words_after = words.get(run.run, ("", ""))
        pair = (words_after, words_before) if run.undone_verb else (words_before, words_after)
        runs.append(replace(run, words=pair))
    return runs


def _changed_words(ws: Workspace) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yields the name of the run of each change, the newest first, with words before and after
    it. Each file is read once and goes back change by change, while nothing else changed it.
    """
    files: dict[str, bytes | None] = {}
    for record in ws.journal.log.newest_first():
        path = record.path
        if not record.hunks:
            continue
        if path not in files:
            files[path] = ws.journal.read_all([path]).get(path)
        data = files[path]
        masked = b""
        if hash_or_none(data) == record.now:
            masked = mask_private(data or b"")
            files[path] = undo_change(record, data)
        first = record.hunks[0]
        texts = bytes_of_text(first.before), masked[first.at : first.at + first.bytes]
        changed = _cut_words(*map(_visible_lines, texts))
        yield record.run, changed if any(changed) else _changed_marks(*texts)


def _visible_lines(text: bytes) -> list[str]:
    """The lines of a text without comments of entries, private passages, secrets and marks."""
    lines = []
    for line in without_masked(text).splitlines():
        words = _HEADING.sub(b"", line).decode("utf-8", "replace").strip()
        if words and not find_ids(line):
            lines.append(redact(words, visible_secrets(words)))
    return lines


def _cut_words(old_words: list[str], new_words: list[str]) -> tuple[str, str]:
    """The words in which two lists of lines differ, with some words around them."""
    for at in (0, -1):
        while old_words and new_words and old_words[at] == new_words[at]:
            del old_words[at], new_words[at]
    before, after = cut_around_change(" ".join(old_words), " ".join(new_words))
    return before[:_MOST_SHOWN], after[:_MOST_SHOWN]


def _changed_marks(old_bytes: bytes, new_bytes: bytes) -> tuple[str, str]:
    """The marks in comments of entries in which two texts differ: `due=2026-12-01`."""
    sides = []
    for text in (old_bytes, new_bytes):
        comments = [line for line in text.splitlines() if find_ids(line)]
        sides.append(dict.fromkeys(mark for line in comments for mark in line.split()))
    one, other = sides
    before, after = (
        b" ".join(mark for mark in own if mark not in others).decode("utf-8", "replace")
        for own, others in ((one, other), (other, one))
    )
    return before[:_MOST_SHOWN], after[:_MOST_SHOWN]


def _records_by_run(ws: Workspace) -> dict[str, list[FileChange]]:
    by_run: dict[str, list[FileChange]] = {}
    for record in list_standing_changes(ws.journal):
        by_run.setdefault(record.run, []).append(record)
    return by_run


def _read_run(records: Sequence[FileChange], titles: Mapping[str, str]) -> LoggedRun:
    """A run, named by the titles of its entries, of which the log holds none."""
    first = records[-1]
    what = first.what
    named = [titles[id] for id in first.entries if id in titles]
    if named and not what:
        what = f"{named[0]}, and {len(named) - 1:,} more" if named[1:] else named[0]
    files = dict.fromkeys(one.to or one.path for one in reversed(records) if one.path)
    own = first.run, first.moment, first.who, first.by, first.verb
    return LoggedRun(*own, what, tuple(files), first.entries)


def undo_last(
    ws: Workspace, *, verb: str = "", by_person: bool = True, confirms: bool = False
) -> Undone:
    """Takes the last thing back that a person did in this home, or an agent unless
    `by_person`; of this verb if given. What was taken back before is passed over. Raises
    NotFound without one, and as `undo_run` does.
    """
    finish_edits(ws)
    runs = list_runs(ws)
    run = find_last(runs, verb, by_person=by_person)
    return _undo(ws, run, runs, by_person=by_person, confirms=confirms)


def find_last(runs: Sequence[LoggedRun], verb: str = "", *, by_person: bool) -> LoggedRun:
    """Of these runs the one that `undo_last` takes back. Raises NotFound without one."""
    for run in _runs_of(runs, verb, by_person=by_person):
        return run
    if by_person and not verb:
        message = "Nothing that a person did in this home is left to take back."
    else:  # asked in a terminal
        thing = f"No {verb}" if verb else "Nothing"
        who = "a person" if by_person else "an agent"
        message = f"{thing} that {who} did in this home is left to take back."
    raise NotFound(
        message,
        "`synaptic undo --list` lists all that can be taken back, also what was taken back.",
    )


def undo_run(
    ws: Workspace, name: str, *, by_person: bool = True, confirms: bool = False
) -> Undone:
    """Takes the run of this name back, or the one that begins with at least four letters of
    it. An agent takes back only what an agent did, and only one who `confirms` changes a
    preference in force.

    Raises NotFound, Refused, and Changed if nothing of it can be taken back.
    """
    finish_edits(ws)
    runs = list_runs(ws)
    named = [run for run in runs if run.run.startswith(name.lower())]
    exact = [run for run in named if run.run == name.lower()] or named
    if len(name) < LEAST_LETTERS:
        exact = []
    if not exact:
        raise NotFound(
            "No change with the id {name!r} can be taken back.",
            "`synaptic undo --list` lists those that can.",
            name=name[:40],
        )
    if len(exact) > 1:
        raise NotFound(
            "{n} changes have an id that begins with {name!r}.",
            "Give more of it.",
            valid=[run.run for run in exact[:5]],
            n=len(exact),
            name=name[:40],
        )
    return _undo(ws, exact[0], runs, by_person=by_person, confirms=confirms)


def _runs_of(runs: Sequence[LoggedRun], verb: str, *, by_person: bool) -> Iterator[LoggedRun]:
    """Yields the runs of a person, or of agents, of this verb, or all that are no undo."""
    for run in runs:
        is_persons = run.who == PERSON
        fits = run.verb == verb if verb else not run.undone_verb
        if fits and is_persons == by_person:
            yield run


def _undo(
    ws: Workspace, run: LoggedRun, runs: Sequence[LoggedRun], *, by_person: bool, confirms: bool
) -> Undone:
    """Takes one of these runs back, which are all that can be."""
    if not by_person and run.who == PERSON:
        raise Refused(
            "A person did that, so only a person takes it back.",
            "`synaptic undo {run}`, in a terminal of their own.",
            run=run.run,
        )
    others = [one for one in runs if one.run != run.run]
    undone = Undone(run, "", earlier=next(_runs_of(others, "", by_person=by_person), None))
    if run.verb.removeprefix(UNDO) in MANY_EDITS:
        back = take_back(ws, run.run)
        stay = tuple((path, Sentence("its lines were changed since")) for path in back.stay)
        return replace(undone, run=_name_of_undo(ws, run, runs, stay), stay=stay)
    answer = TAKE_BACK_RUN.ask_in_turn(ws, run, confirms)
    if answer is not None:
        stays, notices = answer
        name = _name_of_undo(ws, run, runs, stays)
        return replace(undone, run=name, stay=tuple(stays), notices=notices)
    with ws.own_journal.writing(), ws.own_journal.doing(verb_of_undo(run.verb)) as deed:
        plans, notices = _take_files_back(ws, run, runs, deed, confirms=confirms)
    return replace(
        undone,
        run=deed.run,
        stay=tuple((path, plan.stays) for path, plan in plans.items() if plan.stays),
        notices=(*notices, *index_now(ws, *run.files)),
        first_lines={path: plan.first_line() for path, plan in plans.items()},
    )


def _name_of_undo(
    ws: Workspace, run: LoggedRun, runs: Sequence[LoggedRun], stay: Sequence[tuple[str, str]]
) -> str:
    """The name of the run that has just taken this one of `runs` back; "" if it changed no
    file. Raises Changed if all of it had to `stay`.
    """
    newest = next(ws.journal.log.newest_first(), None)
    if newest and newest.run not in (one.run for one in runs):
        return newest.run
    if stay:
        what, why = stay[0]
        raise Changed(
            "{verb} of {at} was not taken back: {what} ({why}). Nothing was written.",
            _step_before(run, runs) or "Edit or delete it as it is now.",
            verb=run.verb,
            at=f"{run.at:%Y-%m-%d %H:%M}",
            what=what,
            why=why,
        )
    return ""


@dataclass
class _FilePlan:
    """A file as it is, and as it would be; the ids of the records that this takes back, or why
    the file `stays`; its rights if it comes back.
    """

    present: bytes | None
    wanted: bytes | None
    taken: list[str] = field(default_factory=list)
    stays: str = ""
    mode: int | None = None

    def first_line(self) -> int:
        """The first line that becomes another."""
        pair = [(text or b"").splitlines() for text in (self.present, self.wanted)]
        equal = takewhile(lambda lines: lines[0] == lines[1], zip(*pair, strict=False))
        return sum(1 for _ in equal) + 1


def _take_files_back(
    ws: Workspace, run: LoggedRun, runs: Sequence[LoggedRun], deed: Deed, *, confirms: bool
) -> tuple[dict[str, _FilePlan], Texts]:
    """Takes the records of a run back, under the lock, as this deed; returns what it did by
    path, and notices. Raises Changed if nothing can be taken back.
    """
    records = changes_of_run(ws.journal, run.run)
    if not records:
        raise Changed(
            "{verb} of {at} was taken back meanwhile.",
            "`synaptic undo --list` lists what can be taken back.",
            verb=run.verb,
            at=f"{run.at:%Y-%m-%d %H:%M}",
        )
    deed.what, deed.entries = records[0].what, records[0].entries
    plans = _plan_files(ws, run, records)
    changed = {path: plan for path, plan in plans.items() if plan.present != plan.wanted}
    is_one = run.verb.removeprefix(UNDO) in AS_ONE
    for path, plan in plans.items():
        if not plan.stays:
            continue
        later = _find_later_change(ws, run, path, plan.stays)
        plan.stays = later.words
        if is_one or not changed:
            raise Changed(
                "{verb} of {at} was not taken back: in {path} {words}. Nothing was written.",
                _next_step(ws, run, runs, path, later),
                verb=run.verb,
                at=f"{run.at:%Y-%m-%d %H:%M}",
                path=path,
                words=later.words,
            )
    if not confirms:
        for path, plan in changed.items():
            _check_rules(ws, path, plan.present or b"", plan.wanted or b"")
    deed.of = {path: plan.taken for path, plan in plans.items() if plan.taken}
    if not changed:  # its own changes cancelled each other
        deed.of = {"": [id for plan in plans.values() for id in plan.taken]}
        ws.journal.log.append(make_record(deed, ws.journal.clock(), ""), sync=False)
    log = read_log(ws.config.state)
    notices: list[str] = []
    moved: dict[str, str] = {}
    for path, plan in changed.items():
        before, after = (
            {entry.id for entry in ws.journal.parse(path, data or b"").entries}
            for data in (plan.present, plan.wanted)
        )
        moved |= dict.fromkeys(after - before, path)
    for path, plan in changed.items():
        rewrite = rewrite_entries(
            ws.own_journal,
            path,
            _change_between(path, plan.present, plan.wanted),
            keep=run.verb.removeprefix(UNDO) not in NOT_IN_TRASH,
            comes_back=True,
            mode=plan.mode,
            moved=moved,
        )
        for written in rewrite.written:
            notices += note_rule_change(ws, log, written, confirms=confirms, brings_words=True)
    return plans, tuple(notices)


@frozen
class _LaterChange:
    """What stands against an undo of a run in a file: `words` are a part of a sentence. `by` is
    the run that changed its lines since, else a hand or another program did, near this line.
    """

    words: str
    by: str = ""
    line: int = 0


def _find_later_change(ws: Workspace, run: LoggedRun, path: str, why: str) -> _LaterChange:
    """The change of a file for which a run cannot be taken back: that of the run without which
    it could be, else one by hand. `why` says all of a file that is gone, new or private.
    """
    data = ws.journal.read_all([path]).get(path)
    if data is None or not why.endswith("since"):
        return _LaterChange(why)
    records = [record for record in list_standing_changes(ws.journal) if record.path == path]
    own = [record for record in records if record.run == run.run]
    earlier = data
    for record in takewhile(lambda record: record.run != run.run, records):
        with suppress(CannotUndo):
            earlier = undo_change(record, earlier) or b""
            before: bytes | None = earlier
            for one in own:
                before = undo_change(one, before)
            return _LaterChange(
                Sentence("{why} by {run} ({verb})", why=why, run=record.run, verb=record.verb),
                record.run,
            )
    # a server may have been started before `sync --init` wrote the address
    is_shared = load_config(ws.config.home).sync.url
    text = "{why}, by hand or by another program"
    if is_shared:
        text = "{why}, by hand or by another machine"
    why = Sentence(text, why=why)
    entries = [one for one in ws.journal.parse(path, data).entries if one.id in run.entries]
    if entries:
        place = entries[0].there
        start = place.body_start if entries[0].has_body else place.start
        line, end = place.line, place.end
    else:
        start, end = own[0].hunks[0].at if own and own[0].hunks else 0, len(data)
        line = data.count(b"\n", 0, start) + 1
    words = next(iter(_visible_lines(mask_private(data)[start:end])), "")[:_MOST_SHOWN]
    return _LaterChange(
        Sentence(
            "{why}; near line {line} it now reads {words!r}", why=why, line=line, words=words
        ),
        line=line,
    )


def _next_step(
    ws: Workspace, run: LoggedRun, runs: Sequence[LoggedRun], path: str, later: _LaterChange
) -> str:
    """The command that goes on where a run cannot be taken back, as a sentence."""
    if later.by:
        return Sentence("`synaptic undo {by}` takes that back first.", by=later.by)
    where = f"{ws.journal.place(path)}:{later.line}" if later.line else ws.journal.place(path)
    step = Sentence("Edit {where}.", where=where)
    if run.entries:
        id = run.entries[0].partition("-")[2]
        if run.verb == "delete":
            step = Sentence("`synaptic restore {id}` brings its text back.", id=id)
        elif later.line and run.verb == "save":
            step = Sentence(
                "`synaptic delete {id}` deletes it as it is now, or edit {where}.",
                id=id,
                where=where,
            )
        elif later.line and run.verb in AS_ONE:
            step = Sentence(
                "`synaptic restore {id}` brings an earlier text back and keeps "
                "the present one, or edit {where}.",
                id=id,
                where=where,
            )
    return join_sentences(list(filter(None, (step, _step_before(run, runs)))))


def _step_before(run: LoggedRun, runs: Sequence[LoggedRun]) -> str:
    """The command that takes back what was done before this run, as a sentence; "" if nothing
    was.
    """
    names = [one.run for one in runs if not one.undone_verb or one.run == run.run]
    before = names[names.index(run.run) + 1 :] if run.run in names else []
    text = "`synaptic undo {run}` takes back what was before."
    return Sentence(text, run=before[0]) if before else ""


def _change_between(path: str, present: bytes | None, wanted: bytes | None) -> RewriteFile:
    """The change of the bytes of a file into those that are wanted."""

    def change(data: bytes, _: ParsedFile) -> bytes | None:
        if data != (present or b""):
            raise Changed(
                "{path} was changed meanwhile; nothing was written.", "Try again.", path=path
            )
        return wanted

    return change


def _plan_files(
    ws: Workspace, run: LoggedRun, records: Sequence[FileChange]
) -> dict[str, _FilePlan]:
    plans: dict[str, _FilePlan] = {}
    for record in records:
        path = record.path
        if path not in plans:
            data = ws.journal.read_all([path]).get(path)
            plans[path] = _FilePlan(data, data)
        plan = plans[path]
        if plan.stays:
            continue
        try:
            is_as_logged = hash_or_none(plan.wanted) in (record.was, record.now)
            if run.verb in EXACTLY and not is_as_logged:
                raise CannotUndo(Sentence("something was written since"))
            wanted = undo_change(record, plan.wanted)
            if wanted is not None and hash_or_none(plan.wanted) != record.now:
                _check_nothing_loose(ws, record, plan.wanted or b"", wanted)
        except CannotUndo as error:
            plans[path] = _FilePlan(plan.present, plan.present, stays=error.args[0])
            continue
        plan.wanted = wanted
        plan.taken.append(record.id)
        if record.now == NO_FILE:
            plan.mode = record.mode
    return plans


def _check_nothing_loose(
    ws: Workspace, record: FileChange, present: bytes, wanted: bytes
) -> None:
    """Raises CannotUndo where an entry would go, and leave what was typed into it since to the
    entry above.
    """
    stays = {entry.id for entry in ws.journal.parse(record.path, wanted).entries}
    spans = find_spans(record, present)
    for entry in ws.journal.parse(record.path, present).entries:
        at, end = entry.there.start, entry.there.end
        loose = b""
        for start, stop, _ in spans:
            loose += present[at : min(start, end)]
            at = max(at, stop)
        if entry.id not in stays and (loose + present[at:end]).strip():
            raise CannotUndo(Sentence("something was typed into its entry since"))


def _check_rules(ws: Workspace, path: str, present: bytes, wanted: bytes) -> None:
    """Raises Refused where a preference in force would change."""
    now: Mapping[str, object] = {
        entry.id: (entry.title, entry.content, entry.type)
        for entry in ws.journal.parse(path, wanted).entries
    }
    for entry in ws.journal.parse(path, present).entries:
        if now.get(entry.id) != (entry.title, entry.content, entry.type):
            check_may_change(ws.config.state, entry.id, entry)
