"""Takes in what other programs have written: shows first what would come, then writes it, and takes it back if asked.

A record becomes an entry whose id is made of its source and key, so that no second run doubles it. The comment says
where it comes from: `via=import:SOURCE source=KEY`. Of a record that grows it also keeps a hash of the text, `was`, by
which a later run sees that nobody has edited the entry.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from ..config import Config, read_sources
from ..errors import Ambiguous, Busy, InvalidArgument, NotFound, Refused, SynapticError, one_of
from ..journal.folder import Roots, scan
from ..journal.runs import Block, Run
from ..language.query import read_date
from ..models import SESSIONS, Entry, Listing
from ..notes.blocks import project_key
from ..notes.header import FINGERPRINT_DIGITS
from ..notes.markdown import proven_block
from ..notes.privacy import without_private
from ..notes.reading import BASE32, id_date
from ..notes.screening import Screen
from ..readers.record import READERS, Record, reader_of
from ..workspace.changes import fingerprints
from ..workspace.checkout import Checkout, checkout_around
from ..workspace.embed import Progress
from ..workspace.rows import hash_of
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from . import inbox
from .adopt import write_setting
from .writing import clean_entry, delete, moment_of

SETTLED_S = 60
"""A file that changed later than this after its session is another than the session left."""
UNKNOWN = "0" * FINGERPRINT_DIGITS
MOST_PARTS = 200
"""A session has fewer digests."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a source holds at a place: the number of its records, and the dates (`YYYY-MM-DD`) of first and last."""

    source: str
    place: Path
    records: int
    since: str
    until: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do. `new` and `grown` are entries by path, in order of time.

    `known` are in the journal as they are, `edited` there and changed by somebody since, `deleted` were deleted or
    forgotten, `others` are of projects that were not asked for; `skipped` are (where, why) of what cannot be taken.
    `proposed` has by their ids what entries leave in the inbox.
    """

    source: str
    places: tuple[Path, ...]
    new: tuple[tuple[str, Entry], ...]
    grown: tuple[tuple[str, Entry], ...]
    known: int
    edited: int
    deleted: int
    others: int
    skipped: tuple[tuple[str, str], ...]
    pictures: Mapping[str, Callable[[], bytes]]
    proposed: Mapping[str, tuple[dict[str, Any], ...]]


@dataclass(frozen=True, slots=True)
class Done:
    """What an import did, or what was taken back. `kept` are (id, title, why) of entries that stay."""

    run: str
    entries: int
    kept: tuple[tuple[str, str, str], ...] = ()


def places_of(source: str) -> list[Path]:
    """Where the program of this source keeps its data on this machine."""
    find = getattr(reader_of(source), "find", None)  # where an export is only a person knows
    return find(Path.home(), os.environ) if find else []


def look_around(progress: Progress | None = None) -> Iterator[Found]:
    """What the programs whose files can be read keep on this machine. Places that hold nothing are left out."""
    for number, source in enumerate(READERS, start=1):
        for place in places_of(source):
            with suppress(SynapticError, OSError):
                days = sorted(record.at.date() for record in reader_of(source).read(place, lambda where, why: None))
                if days:
                    yield Found(source, place, len(days), str(days[0]), str(days[-1]))
        if progress:
            progress("looking", number, len(READERS))
    for vault in vaults():
        if notes := scan(Roots({"": vault})):
            days = sorted(datetime.fromtimestamp(note.mtime_ns / 1e9).date() for note in notes)
            yield Found("obsidian", vault, len(notes), str(days[0]), str(days[-1]))


def vaults() -> list[Path]:
    """The vaults that Obsidian knows on this machine."""
    config = user_config_path("obsidian", appauthor=False, roaming=True) / "obsidian.json"
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
        known = json.loads(config.read_bytes())["vaults"].values()
        return [path for vault in known if (path := Path(vault["path"])).is_dir()]
    return []


def read_in_place(config: Config, place: Path, *, dry_run: bool = False) -> int:
    """The number of notes in a folder, which from now on is one of the `sources`.

    Raises InvalidArgument for a folder without notes or one that is read already, ConfigError for a second of its name.
    """
    root = place.expanduser().absolute()
    notes = len(scan(Roots({"": root}, config.exclude))) if root.is_dir() else 0
    if not notes:
        raise InvalidArgument(f"{root} holds no Markdown.", hint="Name the folder of a vault or a graph.")
    if os.path.realpath(root) in map(os.path.realpath, config.roots.values()):
        raise InvalidArgument(f"{root} is read already.", hint="`synaptic status` lists the folders that are.")
    file = config.home / "config.toml"
    said = tomllib.loads(file.read_text("utf-8-sig")).get("sources", []) if file.exists() else []
    read_sources(file, replace(config, sources={}), [*said, str(root)])
    if not dry_run:
        write_setting(config.home, "sources", [*said, str(root)])
    return notes


def plan(
    ws: Workspace,
    source: str,
    place: Path | None = None,
    *,
    since: str | None = None,
    project: Sequence[str] = (),
    into: str | None = None,
    progress: Progress | None = None,
) -> Plan:
    """What an import of this source would write. Nothing is written.

    `place` is a file or folder; without it, where the program keeps its data.
    With `project` only what is of these projects; what is of none gets the project where it is one. `into` is a folder
    of the journal for their day files.
    Raises InvalidArgument for an unknown source and a place that holds nothing of it.
    """
    source = one_of(READERS, source, "source")
    reader = reader_of(source)
    places = [place.expanduser().absolute()] if place else places_of(source)
    if not places:
        raise InvalidArgument(f"{source} has left nothing here.", hint=f"synaptic import {source} PATH names a place.")
    first = read_date(since, now=ws.clock(), name="since") if since else ""
    skipped: list[tuple[str, str]] = []

    def records() -> Iterator[Record]:
        done = 0
        for where in places:
            if not where.exists():
                raise InvalidArgument(f"{where} does not exist.", hint="Give a file or a folder that does.")
            for record in reader.read(where, lambda at, why: skipped.append((at, why))):
                if progress:
                    progress("reading", done := done + 1, done + 1)
                yield record

    if any(part.startswith((".", "@")) for part in Path(into or "").parts) or (into or "").startswith("/"):
        raise InvalidArgument(f"into is {into!r}.", valid=("a folder inside the journal, like imported/diary",))
    maker = _Maker(ws, source, project, into)
    wanted, others = set(map(project_key, project)), 0
    forgotten, left = set(_forgotten(ws).read_text().split() if _forgotten(ws).exists() else ()), 0
    entries: dict[str, tuple[str, Entry]] = {}
    pictures: dict[str, Callable[[], bytes]] = {}
    proposed: dict[str, tuple[dict[str, Any], ...]] = {}
    for record in records():
        try:
            path, entry = maker.entry(record)
        except SynapticError as error:
            skipped.append((record.key, error.message))
            continue
        if wanted and project_key(entry.project or "") not in wanted:
            others += 1
        elif record.growing and _session_hash(source, record.key) in forgotten:
            left += 1
        elif entry.date >= first:
            entries[entry.short_id] = path, entry
            pictures |= record.pictures
            proposed[entry.short_id] = record.proposed
    latest = {piece.id.partition("-")[2]: piece.why for piece in ws.journal.trashed()}
    known = in_step(ws, lambda _: ws.index.standing(entries))
    absent = [part for part in entries if part not in known]
    new = [entries[part] for part in absent if latest.get(part) != "delete"]
    grown, edited = _grown(ws, [(path, replace(entries[part][1], id=id)) for part, (id, path) in known.items()])
    return Plan(
        source,
        tuple(places),
        tuple(sorted(new, key=lambda item: (item[1].at, item[0]))),
        tuple(grown),
        known=len(known) - len(grown) - edited,
        edited=edited,
        deleted=len(absent) - len(new) + left,
        others=others,
        skipped=tuple(skipped),
        pictures=pictures,
        proposed=proposed,
    )


def run(ws: Workspace, planned: Plan, progress: Progress | None = None) -> Done:
    """Writes what was planned, each day file once. A run that is killed is finished by `resume`."""
    name = f"{planned.source}-{ws.clock():%Y%m%d-%H%M%S}"
    while name in ws.journal.runs.names():
        name += "a"
    for picture, read in planned.pictures.items():
        ws.journal.put_file(f"attachments/{picture}", read)
    for _, entry in (*planned.new, *planned.grown):
        if proposed := planned.proposed[entry.short_id]:
            inbox.file(ws, entry.id, proposed)
    new = sorted(planned.new, key=lambda item: item[0])
    blocks = [Block(e.id, path, _h1(e, path), proven_block(e).decode("utf-8", "surrogatepass")) for path, e in new]
    if blocks:
        _finish(ws, Run(name, planned.source, str(ws.config.journal), tuple(blocks)), progress)
    for path, entry in planned.grown:
        with suppress(NotFound):
            ws.journal.edit(path, entry.id, partial(_followed, entry), keep=False)
    return Done(name, len(blocks) + len(planned.grown))


def catch_up(ws: Workspace) -> None:
    """Digests the sessions that hooks noted in `.state/capture/`. What cannot be read now is not tried again."""
    for noted in sorted((ws.config.state / "capture").glob("[!.]*")):
        try:
            said = json.loads(noted.read_bytes())
            place = Path(said["path"]) if said["path"] else None
            done = run(ws, plan(ws, said["client"], place))
            ws.journal.runs.drop(done.run)  # `forget` takes a session back
        except Busy:
            return
        except (OSError, ValueError, KeyError, TypeError, SynapticError):
            pass
        noted.unlink(missing_ok=True)


def resume(ws: Workspace, progress: Progress | None = None) -> list[Done]:
    """Finishes the runs that were killed."""
    return [_finish(ws, run, progress) for run in ws.journal.runs.open()]


def with_source(ws: Workspace, listing: Listing) -> Listing:
    """The digests of sessions in this list, each with what its lines of the transcript say in place of its own text.

    Private passages and secrets are left out of it. Raises InvalidArgument for any other entry, NotFound where the
    client has deleted the transcript.
    """
    from ..readers.session import events

    told = []
    for entry in listing.entries:
        extra = dict(_as_written(ws, entry).extra)
        source = (entry.via or "").removeprefix("import:")
        if source not in SESSIONS or "lines" not in extra:
            hint = "`synaptic search --sessions` finds those."
            raise InvalidArgument(f"{entry.short_id} is no digest of a session, so it has no transcript.", hint=hint)
        first, _, last = extra["lines"].partition("-")
        key = extra["source"].partition("/")[0]
        found = (events(source, place, key, (int(first), int(last))) for place in places_of(source))
        lines = [f"{event.line:>6} {event.kind:6} {event.text}" for some in found for event in some]
        if not lines:
            hint = "Clients delete them after some weeks; the digest stays."
            raise NotFound(f"The transcript of {entry.short_id} is gone, session {key} of {source}.", hint=hint)
        text = Screen("redact").redacted("text", without_private("\n".join(lines)))
        told.append(replace(entry, content=text))
    return replace(listing, entries=tuple(told))


def _as_written(ws: Workspace, entry: Entry) -> Entry:
    """The entry with the keys of its comment that the index does not know."""
    path = entry.there.path
    here = ws.journal.parse(path, ws.journal.read(path)).entries
    return next((each for each in here if each.id == entry.id), entry)


def forget(ws: Workspace, session: str) -> int:
    """The number of entries that told of a session, whole id of the client's or id of such an entry; no copy is left.

    It is never taken in again: a hash of its id stays. Raises NotFound where nothing tells of it.
    """
    with suppress(NotFound, Ambiguous):
        found = _as_written(ws, in_step(ws, lambda _: ws.index.resolve(session)).entry)
        session = dict(found.extra).get("source", session)
    session = session.partition("/")[0]
    keys = [session, *(f"{session}/{part}" for part in range(2, MOST_PARTS))]
    parts = [key_id(source, key) for source in SESSIONS for key in keys]
    ids = {id for id, _ in in_step(ws, lambda _: ws.index.standing(parts)).values()}
    ids |= {piece.id for piece in ws.journal.trashed() if piece.id.partition("-")[2] in parts}
    if not ids:
        raise NotFound(
            f"Nothing here tells of the session {session!r}.", hint="`synaptic search --sessions` lists ids."
        )
    with _forgotten(ws).open("a") as file:  # before its digest goes: a kill must not bring it back
        file.writelines(f"{_session_hash(source, session)}\n" for source in SESSIONS)
    for id in ids:
        delete(ws, id, purge=True)
    return len(ids)


def _forgotten(ws: Workspace) -> Path:
    return ws.config.state / "forgotten"


def _session_hash(source: str, key: str) -> str:
    return blake2b(f"{source}\0{key.partition('/')[0]}".encode(), digest_size=16).hexdigest()


def undo(ws: Workspace, name: str, progress: Progress | None = None) -> Done:
    """Takes a run back, to the trash. Entries that were edited, or that others name, stay and are listed.

    Raises InvalidArgument for a run that there is not, with the runs that there are.
    """
    found = {run.lower(): ws.journal.runs.get(run) for run in ws.journal.runs.names()}
    here = {key: run for key, run in found.items() if not run.undone}
    run = here[one_of(here, name, "run")]
    ids = [block.id for block in run.blocks]
    named = in_step(ws, lambda _: ws.index.named_by_others(ids))
    gone: set[str] = set()
    for path, blocks in run.by_path():
        gone |= set(ws.journal.take_out(path, [block for block in blocks if block.id not in named]))
        if progress:
            progress("taking back", len(gone), len(ids))
    ws.journal.runs.put(replace(run, open=False, undone=True))
    left = in_step(ws, lambda _: ws.index.titles(ids))
    kept = [(id, left[id], "others name it" if id in named else "it was edited") for id in ids if id in left]
    return Done(run.name, len(gone), tuple(kept))


def _finish(ws: Workspace, run: Run, progress: Progress | None) -> Done:
    total = len(run.blocks)
    ws.journal.take_in(run, lambda done: progress("writing", done, total) if progress else None)
    return Done(run.name, total)


def _grown(ws: Workspace, known: Iterable[tuple[str, Entry]]) -> tuple[list[tuple[str, Entry]], int]:
    """(those of these known entries of which the source says more now and that nobody edited; how many were edited)."""
    grown, edited = [], 0
    growing = sorted((item for item in known if _was(item[1])), key=lambda item: item[0])
    for path, items in groupby(growing, key=lambda item: item[0]):
        here = {entry.id: entry for entry in ws.journal.parse(path, ws.journal.read(path)).entries}
        for _, new in items:
            old = here.get(new.id)
            if old and _was(old) != _digest(old):
                edited += 1
            elif old and _was(old) != _was(new):
                grown.append((path, new))
    return grown, edited


def _followed(new: Entry, old: Entry) -> Entry:
    """The entry that says what its source says now, unless somebody edited it."""
    if _was(old) != _digest(old):
        return old
    return replace(
        old, title=new.title, content=new.content, tags=new.tags, files=new.files, fingerprints=new.fingerprints,
        extra=new.extra,
    )  # fmt: skip


def _was(entry: Entry) -> str:
    return dict(entry.extra).get("was", "")


def _digest(entry: Entry) -> str:
    return f"{hash_of(entry.content) & 0xFFFFFFFF:08x}"


def _h1(entry: Entry, path: str) -> str:
    return entry.date if entry.date in path else Path(path).stem


class _Maker:
    """Makes entries of records."""

    def __init__(self, ws: Workspace, source: str, projects: Sequence[str], into: str | None) -> None:
        self._ws, self._source = ws, source
        self._project = projects[0] if len(projects) == 1 else None
        self._path = ws.journal.captured_path if source in SESSIONS and not into else ws.journal.day_path
        self._into = f"{into.strip('/')}/" if into else ""
        self._checkouts: dict[str, Checkout | None] = {}

    def entry(self, record: Record) -> tuple[str, Entry]:
        """The path and the entry of a record, screened. Raises Refused or InvalidArgument for one that cannot be."""
        at = moment_of(record.at, self._ws.clock())
        here = self._checkout(record.folder)
        project = record.project or (here.project if here else _last_part(record.folder)) or self._project
        if project and project_key(project) in map(project_key, self._ws.config.exclude_projects):
            raise Refused(f"The setting `exclude_projects` names {project}.")
        screen = Screen(self._ws.config.secrets)
        extra = [("source", record.key)]
        if record.lines:
            extra.append(("lines", "{}-{}".format(*record.lines)))
        entry, _ = clean_entry(
            screen,
            record.text,
            id=f"{id_date(at.date())}-{key_id(self._source, record.key)}",
            at=at,
            title=record.title,
            type=record.type,
            tags=record.tags,
            importance=record.importance,
            files=record.files,
            project=project,
            by=record.by or (self._source if self._source in SESSIONS else None),
        )
        if record.growing:
            extra.append(("was", _digest(entry)))
        entry = replace(entry, via=f"import:{self._source}", branch=record.branch, extra=tuple(extra))
        return self._into + self._path(at), replace(entry, fingerprints=_as_left(entry, record, here))

    def _checkout(self, folder: str | None) -> Checkout | None:
        if folder and folder not in self._checkouts:
            self._checkouts[folder] = checkout_around(Path(folder))
        return self._checkouts.get(folder or "")


def key_id(source: str, key: str) -> str:
    """The last eight characters of the id of a record."""
    number = int.from_bytes(blake2b(f"{source}\0{key}".encode(), digest_size=5).digest())
    return "".join(BASE32[number >> shift & 31] for shift in range(35, -1, -5))


def _as_left(entry: Entry, record: Record, here: Checkout | None) -> tuple[tuple[str, str], ...]:
    """Fingerprints of the files of a session; of a file that changed after it, one that no file has."""
    if here is None or record.until is None:
        return ()
    end = moment_of(record.until, record.until).timestamp() + SETTLED_S

    def left(path: str, known: str) -> str:
        with suppress(OSError):
            return known if (here.root / path).stat().st_mtime <= end else UNKNOWN
        return known

    return tuple((path, left(path, known)) for path, known in fingerprints(entry, here))


def _last_part(folder: str | None) -> str | None:
    return Path(folder).name if folder and Path(folder) != Path.home() else None
