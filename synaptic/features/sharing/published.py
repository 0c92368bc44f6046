"""A workspace on a published journal: to be read, from a database alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NoReturn, TypeVar

from psycopg import OperationalError, ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ...config import Config, make_clock
from ...errors import IndexUnusable, InvalidArgument, NotFound, Refused
from ...index.embedding import FastEmbedder
from ...index.index import Index
from ...index.publishing import published_consents
from ...index.rows import to_microseconds
from ...journal.journal_files import JournalFiles
from ...journal.trash import TrashedText
from ...models import Entry, Texts, frozen
from ...workspace.access import Access, IndexQuestion, Word
from ...workspace.workspace import Workspace
from .postgres import PostgresEngine

Result = TypeVar("Result")
VARIABLE = "SYNAPTIC_DATABASE"
BY_DATES = (
    "As of {:%Y-%m-%d %H:%M}, by the dates of entries and what replaced what by then alone: "
    "texts are of today, and what was deleted since is missing."
)
_LOCAL = ("localhost", "127.0.0.1", "::1")
_TORN = re.compile(r"\w+://(?:[^/?]*@[^/?]*|[^@?]*/[^?]*)@")
"""Matches an address with an unescaped @ or / in the password: the rest of the password would
be shown as a host.
"""


class PublishedJournal(JournalFiles):
    """The published files of all allowed journals, to be read only. Their paths begin with `@`
    and the journal's name.
    """

    def __init__(self, config: Config, engine: PostgresEngine) -> None:
        super().__init__(config)
        self._engine = engine

    def place(self, path: str | Path) -> Path:
        return Path(path)

    def absent(self) -> Texts:
        return ()

    def trashed(self) -> tuple[TrashedText, ...]:
        return ()

    def read(self, path: str) -> bytes:
        data = self._engine.bytes_of(path)
        if data is None:
            raise NotFound(
                f"No file {path} is published.",
                hint="It was moved or deleted. Search for the entry again.",
            )
        return data

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        return self._engine.bytes_of_all(list(paths))

    def link_folder_of(self, path: str) -> str:
        return super().link_folder_of(path.partition("/")[2])


@frozen
class Published(Access):
    """The read-only access to the published journals of a database. `journals` are those that
    the asker may read; None: all.
    """

    engine: PostgresEngine
    journals: Texts | None = None
    is_past: bool = False
    remark: str = ""
    may_write = False
    is_published = True
    owner = "publisher"

    @property
    def is_of_several(self) -> bool:  # type: ignore[override]
        return len(self.journals or ()) != 1

    def refuse_change(self) -> NoReturn:
        raise Refused(
            "A published journal cannot be changed here.",
            hint="Write on the machine with the journal, or have this server started with "
            "`synaptic serve --read --writer URL`, which forwards changes to it.",
        )

    def in_step(self, question: IndexQuestion[Result]) -> Result:
        return self.run_on_one_state(question.run_without_sync)

    def run_on_one_state(self, run: Callable[[], Result]) -> Result:
        """Runs `run` in one transaction on the journals that the asker may read, and returns
        its result. A lost connection is opened again once.
        """
        try:
            return self._in_transaction(run)
        except IndexUnusable as error:
            if not isinstance(error.__cause__, OperationalError):
                raise
        return self._in_transaction(run)

    def _in_transaction(self, run: Callable[[], Result]) -> Result:
        with self.engine.transaction(self.journals):
            if not Index(self.engine).change_positions():
                wanted = f" of {', '.join(self.journals)}" if self.journals else ""
                raise NotFound(
                    f"No journal{wanted} is published there yet.",
                    hint="Publish one with `synaptic publish`, or make a token for other "
                    "journals with "
                    "`synaptic token --journals`.",
                )
            return run()

    def limit_to_journals(self, journals: Texts | None) -> Published:
        return replace(self, journals=journals)

    def why_index_in_memory(self, index: Index) -> str:
        return ""

    @contextmanager
    def hiding_after(self, moment: datetime) -> Iterator[Access]:
        with self.engine.transaction(self.journals):
            self.engine.hide_entries_after(to_microseconds(moment))
            yield replace(self, is_past=True, remark=BY_DATES.format(moment))

    def published_verdicts(self, entries: Sequence[Entry]) -> list[tuple[Word, str]]:
        rows = published_consents(Index(self.engine), [entry.id for entry in entries])
        verdicts = list[tuple[Word, str]]()
        for entry in entries:
            path = entry.there.path
            word, by = rows.get((entry.id, path), (None, None))
            if word == "yes":
                by = f"the publisher of {path.partition('/')[0].removeprefix('@')}"
            verdicts.append((word or "waits", by or ""))
        return verdicts


def open_published(config: Config, address: str) -> Workspace:
    """Opens a read-only workspace on the published journals in the PostgreSQL database at
    `address`. Only one thread may use it.
    """
    engine = PostgresEngine(address)
    config = replace(config, track_access=False, metrics=False)
    return Workspace(
        config=config,
        journal=PublishedJournal(config, engine),
        index=Index(engine),
        embedder=FastEmbedder(
            config.model, cache=config.state / "models", threads=config.threads
        ),
        clock=make_clock(),
        access=Published(engine),
    )


def check_database_address(address: str, *, insecure: bool = False, typed: bool = False) -> str:
    """Returns the libpq address to use. A host other than this machine must prove its identity
    by TLS, unless `insecure`; an address that was `typed` on the command line may hold no
    password. Raises InvalidArgument.
    """
    if not address:
        raise InvalidArgument(
            f"No database was given, and {VARIABLE} is not set.",
            hint=f"export {VARIABLE}=postgresql://me@db.example.org/notes, or service=notes; "
            "the password goes into ~/.pgpass.",
        )
    try:
        if _TORN.match(address):
            raise ProgrammingError
        about = conninfo_to_dict(address)
    except ProgrammingError as error:
        raise InvalidArgument(
            "This is not the address of a PostgreSQL database.",
            valid=(
                "postgresql://USER@HOST/DATABASE",
                "host=HOST dbname=DATABASE",
                "service=NAME",
            ),
            hint="Write @ and / in a password as %40 and %2F, or put the password into "
            "~/.pgpass.",
        ) from error
    if typed and about.get("password"):
        raise InvalidArgument(
            "A password on the command line can be read by others on this machine.",
            hint="Put the password into ~/.pgpass, or give service=NAME.",
        )
    hosts = f"{about.get('host') or ''},{about.get('hostaddr') or ''}".strip(",")
    is_local = all(host.startswith("/") or host in _LOCAL for host in hosts.split(","))
    if insecure or is_local:
        return address
    mode = about.get("sslmode", "verify-full")
    if mode != "verify-full":
        raise InvalidArgument(
            f"sslmode={mode} does not prove that {hosts} is the database.",
            valid=("sslmode=verify-full",),
            hint="In a network that you trust, --insecure connects without this proof.",
        )
    return make_conninfo(address, sslmode="verify-full")
