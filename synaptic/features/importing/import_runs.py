"""Takes in what other programs have written: shows first what would come, then writes it, and
takes it back if asked.

A record becomes an entry whose id is made of its source and key, so that no second run doubles
it. The comment says where it comes from: `via=import:SOURCE source=KEY`. Of a record that grows
it also keeps a hash of the text, `was`, by which a later run sees that nobody has edited the
entry.
"""

import json
import os
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, partial
from hashlib import blake2b
from itertools import chain, product
from pathlib import Path
from typing import NamedTuple

from platformdirs import user_config_path

from ...config import Config, read_sources
from ...errors import (
    Ambiguous,
    Busy,
    InvalidArgument,
    NotFound,
    PlugInError,
    Refused,
    SynapticError,
    match_valid_name,
)
from ...files import SETTINGS_BYTES, read_regular_file
from ...index.rows import hash64
from ...journal.disk import open_to_append, read_state_file, read_state_lines
from ...journal.folder import Roots, scan_notes
from ...journal.imports import insert_blocks, remove_blocks, remove_pictures, save_picture
from ...journal.projects import Projects, project_of_folder, write_projects
from ...journal.repository import find_checkout
from ...journal.runs import Block, Run, Runs, hash_of_block
from ...journal.settings import write_setting
from ...language.time_fields import read_date
from ...models import SESSIONS, Entry, Json, Texts, frozen
from ...notes.blocks import project_key
from ...notes.draft import draft_entry
from ...notes.reading import encode_base32, id_date
from ...notes.screening import Screen
from ...verbs.browse import Listing
from ...verbs.removing import delete
from ...verbs.saving import parse_moment
from ...workspace.changes import fingerprint_files
from ...workspace.checkout import names_in_step
from ...workspace.embed import Progress
from ...workspace.preferences import end_confirmation, read_log
from ...workspace.proposals import forget_proposals
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .readers.record import (
    MEMORIES,
    READERS,
    Record,
    Skipped,
    find_reader,
    readers_by_source,
    report_errors,
)
from .readers.source import find_files, modification_time
from .session_rules import propose_rules_of_sessions

SETTLED = timedelta(minutes=10)
"""A session's files are assumed to be unchanged for this long after its end."""
MOST_ENTRIES, MOST_CHARS = 200_000, 100_000_000
"""The most entries and characters of one run, which are kept in memory. The next run of the
same import continues after them.
"""
FORGOTTEN = "forgotten"
"""The name of the file with hashes of the sessions that are never imported again."""
MOST_PARTS = 200
"""More than the number of digests that any session has."""


STATES = {
    "new": "new",
    "grown": "say more now",
    "known": "here already",
    "edited": "edited since, and left alone",
    "deleted": "deleted before, and not brought back",
    "others": "of other projects",
}
"""The states of an imported record, each with its text for people."""


class Coming(NamedTuple):
    """An entry that an import will write to the file `path`, and the record from which it is
    made.
    """

    path: str
    entry: Entry
    record: Record


@dataclass(slots=True)
class ImportPlan:
    """What an import would do: `new` and `grown` entries in order of time, `counts` of records
    by STATES, `skipped` records as (where, why), and in `screened` the counts of privacy
    notices. `projects` are those of the home and of the records.
    """

    source: str
    places: list[Path]
    projects: Projects
    new: list[Coming] = field(default_factory=list)
    grown: list[Coming] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATES, 0))
    skipped: list[tuple[str, str]] = field(default_factory=list)
    screened: Counter[str] = field(default_factory=Counter)

    def skip(self, where: str, why: str) -> None:
        self.skipped.append((where, why))


@frozen
class Done:
    """The result of an import or of its undo. `kept` are (id, title, reason) of entries that
    were not removed. `notices` name what may still hold the text of a forgotten session.
    """

    run: str
    entries: int
    kept: tuple[tuple[str, str, str], ...] = ()
    notices: Texts = ()


def find_source_places(source: str) -> list[Path]:
    """Returns the files and folders in which the program `source` keeps its data on this
    machine.
    """
    find = getattr(find_reader(source), "find", None)  # where an export is only a person knows
    return find(Path.home(), os.environ) if find else []


def list_importable_data(config: Config, progress: Progress) -> Iterator[Json]:
    """Yields a row for each program with readable data on this machine: source, place, number
    of records, dates.
    """
    finds = []
    names = list(readers_by_source())
    for number, source in enumerate(names, 1):
        places = []
        with suppress(PlugInError):  # importing from it says so
            places = find_source_places(source)
        for place in places:
            with suppress(SynapticError):
                records = _read_records(source, [place], lambda where, why: None, None)
                finds.append((source, place, [record.at.date() for record in records]))
        progress("looking", number, len(names))
    for vault in find_obsidian_vaults():
        notes = scan_notes(Roots({"": vault}))
        days = [datetime.fromtimestamp(note.mtime_ns / 1e9).date() for note in notes]
        finds.append(("obsidian", vault, days))
    for files in find_new_memories(config).values():
        days = [modification_time(file).date() for file in files]
        finds.append(("memories", files[0].parent, days))
    for source, place, days in finds:
        if days:
            yield {
                "source": source,
                "place": place,
                "records": len(days),
                "since": min(days),
                "until": max(days),
            }


def find_obsidian_vaults() -> list[Path]:
    """Returns the folders of the vaults that Obsidian's settings on this machine list."""
    from .readers.shared import paths_in_config  # a hook that notes a session does without

    config = user_config_path("obsidian", appauthor=False, roaming=True) / "obsidian.json"
    return [
        vault
        for vault in paths_in_config(config, "vaults", "path", Path.home())
        if vault.is_dir()
    ]


def count_unimported_files(config: Config) -> dict[str, int]:
    """Counts by source the files that were never imported, without reading them.

    Digests that a hook made do not count as imports. A missing home is not created.
    """
    taken = {name.rsplit("-", 2)[0] for name in Runs(config.state / "imports").names()}
    counts = {}
    for source in READERS:
        if source not in taken and source != "claude-code-memory":
            patterns = getattr(find_reader(source), "patterns", ("*",))
            places = find_source_places(source)
            counts[source] = sum(
                len(find_files(at, _ignore_skipped, *patterns)) for at in places
            )
    counts["memories"] = sum(map(len, find_new_memories(config).values()))
    return {source: files for source, files in counts.items() if files}


def _ignore_skipped(*_: str) -> None:
    """Ignores a skipped record; the import itself will report it."""


def find_new_memories(config: Config) -> dict[str, list[Path]]:
    """Returns the Markdown notes in agents' own memory folders that Synaptic does not read yet,
    by the `sources` line that would include them.
    """
    new: dict[str, list[Path]] = {}
    for name, pattern in MEMORIES.items():
        for place in set(Path.home().glob(pattern)) - set(config.sources.values()):
            files = find_files(place, _ignore_skipped, "*.md")
            new.setdefault(f"{name}=~/{pattern}", []).extend(files)
    return {line: files for line, files in new.items() if files}


def add_sources(config: Config, added: Iterable[str], *, dry_run: bool = False) -> None:
    """Adds folders to the setting `sources`, so that their notes are read from now on. Raises
    ConfigError for a folder that is read already and for a name that is used already.
    """
    file = config.home / "config.toml"
    text = ""
    if file.exists():
        text = read_regular_file(file, SETTINGS_BYTES).decode("utf-8-sig")
    folders = [*tomllib.loads(text).get("sources", []), *added]
    read_sources(file, replace(config, sources={}), folders)
    if not dry_run:
        write_setting(config.home, "sources", folders)


def count_notes(config: Config, root: Path) -> int:
    """Counts the notes in a folder that a person wants to add to the setting `sources`.

    Raises InvalidArgument for a folder without notes, and for one that holds the home.
    """
    notes = len(scan_notes(Roots({"": root}, config.exclude))) if root.is_dir() else 0
    if not notes or config.home.is_relative_to(root):
        why = "Synaptic's own home" if notes else "no Markdown"
        raise InvalidArgument(f"{root} holds {why}.", "Give the folder of the notes.")
    return notes


def plan_import(
    ws: Workspace,
    source: str,
    place: Path | None = None,
    *,
    since: str | None = None,
    project: Sequence[str] = (),
    into: str | None = None,
    progress: Progress | None = None,
) -> ImportPlan:
    """Returns what an import of this source would do. Nothing is written.

    `place` is a file or folder; without it, the program's own places are read. With `project`
    only entries of these projects come; a single one is given to entries without a project.
    `into` is a folder of the journal for the day files. Raises InvalidArgument for an unknown
    source and a place without its data.
    """
    source = match_valid_name(readers_by_source(), source, "source")
    places = [place.expanduser().absolute()] if place else find_source_places(source)
    if not places:
        raise InvalidArgument(
            f"No data of {source} was found in its usual places on this machine.",
            f"Give the file or folder: synaptic import {source} PATH",
        )
    first = read_date(since, ws.clock(), "since") if since else ""
    planned = ImportPlan(source, places, Projects(ws.config.state))
    home_entries = _KnownEntries(ws, source, project, into, planned.projects)
    done = set()
    chars = 0
    for record in _read_records(source, places, planned.skip, progress):
        with report_errors(planned.skip, record.key):
            screen = Screen(ws.config.secrets)
            entry = home_entries.entry(screen, record)
            if entry.date < first or entry.short_id in done:
                continue
            done.add(entry.short_id)
            state, coming = home_entries.compare(entry, record)
            planned.counts[state] += 1
            if state in ("new", "grown"):
                getattr(planned, state).append(coming)
                planned.screened.update(screen.notices())
                chars += len(entry.content)
        if len(planned.new) >= MOST_ENTRIES or chars > MOST_CHARS:
            most = f"{MOST_ENTRIES:,} new entries or {MOST_CHARS:,} characters"
            planned.skip(source, f"a run ends at {most}; import again for more")
            break
    for some in (planned.new, planned.grown):
        some.sort(key=lambda coming: (coming.entry.at, coming.path))
    return planned


class _KnownEntries:
    """The entries of one source that this home has or had, with which new records are
    compared.
    """

    def __init__(
        self,
        ws: Workspace,
        source: str,
        projects: Sequence[str],
        into: str | None,
        taken: Projects,
    ) -> None:
        self._ws = ws
        self._source = source
        self._projects = projects
        self._path = ws.journal.digest_path if source in SESSIONS else ws.journal.day_path
        if into is not None:
            hidden = any(part.startswith((".", "@")) for part in Path(into).parts)
            if hidden or into.startswith("/"):
                valid = ("a folder inside the journal, like imported/diary",)
                raise InvalidArgument(
                    f"--into {into!r} is not a folder of the journal.", valid=valid
                )
            self._path = lambda at: f"{into.strip('/')}/{ws.journal.day_path(at)}"
        self._standing = in_step(ws, lambda _: ws.index.paths_by_short_id())
        gone = [piece.id for piece in ws.journal.trashed() if piece.why == "delete"]
        for run in ws.journal.runs.all():
            gone += [block.id for block in run.blocks if not run.open]
        self._gone = {id.partition("-")[2] for id in gone}
        """The last parts of the ids of entries that were deleted or imported once."""
        forgotten = ws.config.state / FORGOTTEN
        self._forgotten = read_state_lines(forgotten)
        self._written = cache(partial(_entries_by_id, ws))
        state = ws.config.state
        names = names_in_step(ws)
        self._project = cache(
            lambda folder: project_of_folder(state, Path(folder), taken, names)
        )
        self._marks = taken.marks

    def entry(self, screen: Screen, record: Record) -> Entry:
        """Makes the screened entry of a record. Raises Refused, InvalidArgument."""
        project = record.project
        if record.folder and not project:
            project = self._project(record.folder)
        if not project and len(self._projects) == 1:
            project = self._projects[0]
        excluded = map(project_key, self._ws.config.exclude_projects)
        if project and project_key(project) in excluded:
            raise Refused(
                f"The project {project} is not imported: the setting `exclude_projects` "
                "lists it.",
                "Remove it from that setting in config.toml to import it.",
            )
        at = parse_moment(record.at, self._ws.clock())
        extra = {"source": record.key}
        if record.lines:
            extra["lines"] = "{}-{}".format(*record.lines)
        entry, _ = draft_entry(
            screen,
            record.text,
            id=f"{id_date(at.date())}-{make_record_id(self._source, record.key)}",
            at=at,
            title=record.title,
            type=record.type,
            tags=record.tags,
            importance=record.importance,
            files=record.files,
            project=project,
            by=record.by or (self._source if self._source in SESSIONS else None),
            via=f"import:{self._source}",
            branch=record.branch,
            extra=extra,
        )
        remote, root = self._marks(project or "")
        entry = replace(entry, remote=remote, root=root)
        if record.growing:
            entry = replace(entry, extra=(*entry.extra, ("was", _edit_hash(entry))))
        if record.until and abs(self._ws.clock() - record.until) < SETTLED:
            here = find_checkout(Path(record.folder)) if record.folder else None
            here = here and here._replace(project=project or "")
            entry = replace(
                entry, fingerprints=fingerprint_files(entry, here, self._ws.config.state)
            )
        return entry

    def compare(self, entry: Entry, record: Record) -> tuple[str, Coming]:
        """Returns the state of a record (one of STATES), and its entry with the file where it
        is or will be.
        """
        part = entry.short_id
        id, path = self._standing.get(part, (entry.id, self._path(entry.at)))
        coming = Coming(path, replace(entry, id=id), replace(record, text=""))
        wanted = map(project_key, self._projects)
        if self._projects and project_key(entry.project or "") not in wanted:
            return "others", coming
        if record.growing and _session_hash(self._source, record.key) in self._forgotten:
            return "deleted", coming
        if part not in self._standing:
            return "deleted" if part in self._gone else "new", coming
        old = self._written(path).get(id) if record.growing else None
        if not old:
            return "known", coming
        if _stored_edit_hash(old) != _edit_hash(old):
            return "edited", coming
        is_same = _stored_edit_hash(old) == _stored_edit_hash(entry)
        return "known" if is_same else "grown", coming


def _read_records(
    source: str, places: Iterable[Path], skipped: Skipped, progress: Progress | None
) -> Iterator[Record]:
    number = 0
    for place in places:
        if not (place.exists() or place.parent.is_file()):  # a session of a database
            raise InvalidArgument(
                f"{place} does not exist.", "Give an existing file or folder."
            )
        try:
            for record in find_reader(source).read(place, skipped):
                number += 1
                if progress:
                    progress("reading", number, number)
                yield record
        except OSError as error:
            raise InvalidArgument(
                f"{place} cannot be read: {error.strerror}.",
                "Give yourself permission to read it, and try again.",
            ) from error
        except (SynapticError, ModuleNotFoundError):
            raise
        except Exception as error:  # what was read is taken all the same
            skipped(str(place), f"reading ended behind record {number:,}: {error!r:.300}")


def write_plan(ws: Workspace, planned: ImportPlan, name: str = "") -> Done:
    """Writes the entries of a plan, each day file in one step. If the process is killed,
    `resume_runs` finishes the run.
    """
    name = name or f"{planned.source}-{ws.clock():%Y%m%d-%H%M%S}"
    done = {run.name for run in ws.journal.runs.all() if not run.open}
    while name in done:
        name += "a"
    pictures = dict[str, str]()
    coming = [*planned.new, *planned.grown]
    for picture, read in chain.from_iterable(one.record.pictures for one in coming):
        with report_errors(planned.skip, picture):
            path = save_picture(ws.journal, picture, read)
            pictures[path] = hash_of_block(ws.journal.read(path))
    projects = {project_key(one.entry.project or "") for one in coming}
    write_projects(
        ws.config.state,
        [planned.projects.changed[key] for key in projects & planned.projects.changed.keys()],
    )
    new = sorted(planned.new, key=lambda one: one.path)
    blocks = tuple(Block.from_entry(one.path, one.entry) for one in new)
    if blocks or not coming:  # one that brought nothing is known, too
        insert_blocks(ws.journal, Run(name, blocks, pictures=pictures))
    for path, entry, _ in planned.grown:
        with suppress(NotFound):
            ws.journal.edit(path, entry.id, partial(_update_from_source, ws, entry), keep=False)
    return Done(name if blocks else "", len(coming))


def digest_noted_sessions(ws: Workspace) -> None:
    """Makes digests of the sessions that a hook noted, and proposes the rules typed in them. A
    session that cannot be read now is not tried again.
    """
    for noted in sorted((ws.config.state / "capture").glob("[!.]*")):
        try:
            note = json.loads(read_state_file(noted))
            client = note["client"]
            path = note["path"]
            for place in find_source_places(client) if client == "opencode" else [Path("/")]:
                planned = plan_import(ws, client, place / path)
                write_plan(ws, planned, f"captured-{noted.name}")
                if not planned.counts["deleted"]:
                    propose_rules_of_sessions(ws, client, place / path)
        except Busy:
            return
        except Exception:  # of the note, or of what it names
            pass
        noted.unlink(missing_ok=True)


def resume_runs(ws: Workspace) -> list[str]:
    """Finishes the import runs that were killed; returns their names."""
    runs = ws.journal.runs.open()
    for run in runs:
        insert_blocks(ws.journal, run)
    return [run.name for run in runs]


def with_transcripts(ws: Workspace, listing: Listing) -> Listing:
    """Replaces the text of each session digest in the listing by its lines of the
    transcript.

    Private passages and secrets are left out of it. Raises InvalidArgument for any other entry,
    NotFound where the client has deleted the transcript.
    """
    from .readers.digest import screen_events
    from .readers.session import read_session_events

    whole = []
    for entry in listing.entries:
        extra = _read_comment_keys(ws, entry)
        source = (entry.via or "").removeprefix("import:")
        if source not in SESSIONS or "lines" not in extra:
            raise InvalidArgument(
                f"{entry.short_id} is not a digest of a session, so it has no transcript.",
                "`synaptic search --sessions` finds digests of sessions.",
            )
        key = extra["source"].partition("/")[0]
        transcript = next(
            filter(
                None,
                (
                    read_session_events(source, place, key)
                    for place in find_source_places(source)
                ),
            ),
            [],
        )
        if not transcript:
            raise NotFound(
                f"The transcript of {entry.short_id} (session {key} of {source}) was deleted.",
                "Clients delete transcripts after some weeks. Read the digest instead: "
                "synaptic get ID",
            )
        first, last = map(int, extra["lines"].split("-"))
        lines = []
        # a passage may be opened, closed or repeated in another part of the session
        for event in screen_events(transcript):
            if first <= event.line <= last:
                lines += [f"{event.line:>6} {event.kind:6} {event.text}"]
        text = Screen("redact").redact_secrets("text", "\n".join(lines))
        whole.append(replace(entry, content=text))
    return replace(listing, entries=tuple(whole))


def _read_comment_keys(ws: Workspace, entry: Entry) -> dict[str, str]:
    """Returns the keys in an entry's comment that the index does not store."""
    return dict(_entries_by_id(ws, entry.path).get(entry.id, entry).extra)


def _entries_by_id(ws: Workspace, path: str) -> dict[str, Entry]:
    """Maps ids to the entries of a file."""
    return {entry.id: entry for entry in ws.journal.parse(path, ws.journal.read(path)).entries}


def forget_session(ws: Workspace, session: str) -> Done:
    """Removes all digests of a session for good, with their older versions. `session` is the
    client's whole session id, or the id of a digest.

    The session is never imported again: a hash of its id stays. Raises NotFound without a
    digest.
    """
    with suppress(NotFound, Ambiguous):
        digest = in_step(ws, lambda _: ws.index.resolve(session)).entry
        session = _read_comment_keys(ws, digest).get("source", session)
    session = session.partition("/")[0]
    keys = [session, *(f"{session}/{part}" for part in range(2, MOST_PARTS))]
    parts = {make_record_id(source, key) for source, key in product(SESSIONS, keys)}
    standing = in_step(ws, lambda _: ws.index.paths_by_short_id())
    ids = {standing[part][0] for part in parts if part in standing}
    ids |= {piece.id for piece in ws.journal.trashed() if piece.id.partition("-")[2] in parts}
    if not ids:
        hint = "`synaptic search --sessions` lists ids."
        raise NotFound(f"The journal has no digest of the session {session!r}.", hint)
    # before its digest goes: a kill must not bring it back
    with os.fdopen(open_to_append(ws.config.state / FORGOTTEN), "a") as file:
        file.writelines(f"{_session_hash(source, session)}\n" for source in SESSIONS)
    forget_proposals(ws.config.state, session)
    notices: list[str] = []
    for id in ids:
        notices += delete(ws, id, purge=True).notices
    return Done("", len(ids), notices=tuple(dict.fromkeys(notices)))


def _session_hash(source: str, key: str) -> str:
    return blake2b(f"{source}\0{key.partition('/')[0]}".encode(), digest_size=16).hexdigest()


def find_import(ws: Workspace, name: str) -> Run:
    """The import run of this name. Raises InvalidArgument with the known ones."""
    names = {run.lower(): run for run in ws.journal.runs.newest_first()}
    return ws.journal.runs.get(names[match_valid_name(names, name, "run")])


def undo_import(ws: Workspace, name: str, *, confirms: bool = False) -> Done:
    """Undoes an import run by moving its entries to the trash. Entries that were edited, or
    that others refer to, stay and are listed; so do preferences in force, unless a person
    `confirms`.

    Raises InvalidArgument for an unknown run, and names the known ones.
    """
    run = find_import(ws, name)
    ids = [block.id for block in run.blocks]
    why = dict.fromkeys(in_step(ws, lambda _: ws.index.referenced_ids(ids)), "others name it")
    rules = in_step(ws, lambda _: read_log(ws.config.state)).confirmed.keys() & set(ids)
    if not confirms:
        why |= dict.fromkeys(rules, "the user confirmed it")
    count = 0
    for path, blocks in run.by_path().items():
        free = [block for block in blocks if block.id not in why]
        for id in rules - why.keys():  # the same import may bring it again
            end_confirmation(ws.config.state, id)
        count += len(remove_blocks(ws.journal, path, free))
    remove_pictures(ws.journal, run.pictures)
    left = in_step(ws, lambda _: ws.index.titles(ids))
    stays = tuple(replace(block, text="") for block in run.blocks if block.id in left)
    if stays:
        ws.journal.runs.put(replace(run, open=False, blocks=stays))  # to be tried again
    else:
        ws.journal.runs.drop(run.name)
    staying = [(one.id, left[one.id], why.get(one.id, "it was edited")) for one in stays]
    return Done(run.name, count, tuple(staying))


def _update_from_source(ws: Workspace, new: Entry, old: Entry) -> Entry:
    """Returns `new`, the entry as its source has it now; returns `old` instead if somebody
    edited it, or a person confirmed it as a preference.
    """
    is_rule = old.id in read_log(ws.config.state).confirmed
    if is_rule or _stored_edit_hash(old) != _edit_hash(old):
        return old
    followed = ("title", "content", "tags", "files", "fingerprints", "extra")
    return replace(old, **{name: getattr(new, name) for name in followed})


def _stored_edit_hash(entry: Entry) -> str:
    return dict(entry.extra).get("was", "")


def _edit_hash(entry: Entry) -> str:
    """Returns a hash of the parts of an entry that a person may edit."""
    text = "\0".join(
        (entry.title, entry.type, entry.content, *sorted(entry.tags), str(entry.importance))
    )
    return f"{hash64(text) & 0xFFFFFFFF:08x}"


def make_record_id(source: str, key: str) -> str:
    """Returns the last eight characters of a record's entry id, made from its source and
    key.
    """
    return encode_base32(blake2b(f"{source}\0{key}".encode(), digest_size=5).digest())
