"""Takes in what other programs have written: shows first what would come, then writes it, and
takes it back if asked.

A record becomes an entry whose id is made of its source and key, so that no second run doubles
it. The comment says where it comes from: `via=import:SOURCE source=KEY`. Of a record that grows
it also keeps a hash of the text, `was`, by which a later run sees that nobody has edited the
entry.
"""

import json
import os
from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from ...config import Config
from ...errors import (
    Ambiguous,
    Busy,
    InvalidArgument,
    NotFound,
    PlugInError,
    SynapticError,
    match_valid_name,
)
from ...files import real_path
from ...index.links import referenced_ids
from ...index.lists import map_paths_by_short_id
from ...journal.changelog import Actor, FileChange, acting
from ...journal.disk import open_to_append, read_state_file
from ...journal.entry_edits import edit_entry
from ...journal.folder import Roots, is_note, scan_notes
from ...journal.imports import (
    bring_pictures_back,
    insert_in_parts,
    remove_blocks,
    remove_pictures,
    save_picture,
)
from ...journal.projects import Project, Projects, locked_projects, numbered_names
from ...journal.runs import Block, Run, Runs, hash_of_block, open_import_runs
from ...journal.standing import changes_of_run, verb_of_undo
from ...models import SESSIONS, Entry, Json, Texts, frozen
from ...notes.blocks import project_key
from ...notes.screening import Screen
from ...render.terminal import entry_count_text
from ...verbs.removing import delete
from ...workspace.embed import Progress
from ...workspace.preferences import read_log
from ...workspace.proposing import forget_proposals
from ...workspace.rule_changes import end_confirmation
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .in_place import take_settings_back, write_run
from .known_entries import (
    FORGOTTEN,
    STATES,
    Coming,
    KnownEntries,
    entries_by_id,
    is_as_imported,
    make_record_id,
    session_hash,
    update_from_source,
)
from .readers.choice import Chosen, DroppedFiles, leave_equal_files_out
from .readers.record import (
    MEMORIES,
    READERS,
    Record,
    Skipped,
    find_reader,
    readers_by_source,
    report_errors,
)
from .readers.source import find_files, is_upload, modification_time
from .session_rules import propose_rules_of_sessions

IMPORT = "import"
"""The verb of an import in the log of changes."""
END = object()
MOST_ENTRIES, MOST_CHARS = 200_000, 100_000_000
"""The most entries and characters of one run, which are kept in memory. The next run of the
same import continues after them.
"""
MOST_PARTS = 200
"""More than the number of digests that any session has."""


@dataclass(slots=True)
class ImportPlan:
    """What an import would do: `new` and `grown` entries in order of time, `counts` of records
    by STATES, `skipped` files and records as (where, why), and in `screened` the counts of
    privacy notices. `projects` are those of the home and of the records. `chosen` are the files
    for which a reader was chosen.
    """

    name: str
    places: list[Path]
    projects: Projects
    chosen: list[Chosen] = field(default_factory=list)
    new: list[Coming] = field(default_factory=list)
    grown: list[Coming] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STATES, 0))
    skipped: list[tuple[str, str]] = field(default_factory=list)
    screened: Counter[str] = field(default_factory=Counter)

    @property
    def sources(self) -> list[str]:
        return self.name.split("+")

    def skip(self, where: str, why: str) -> None:
        self.skipped.append((where, why))

    def note(self, state: str, coming: Coming) -> None:
        """Counts a record by its state; keeps an entry that is to be written."""
        self.counts[state] += 1
        if state in ("new", "grown"):
            getattr(self, state).append(coming)


@frozen
class Done:
    """The result of an import or of its undo. `kept` are (id, title, reason) of entries that
    were not removed. `notices` name what may still hold the text of a forgotten session.
    `corrected` are the ids of entries whose text before is in the trash.
    """

    run: str
    entries: int
    kept: tuple[tuple[str, str, str], ...] = ()
    notices: Texts = ()
    corrected: Texts = ()


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
                parts = [Chosen(source, place, ())]
                records = _read_records(parts, _ignore_skipped, None)
                finds.append((source, place, [record.at.date() for _, record in records]))
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
    runs = Runs(config.state / "imports").names()
    taken = {source for name in runs for source in name.rsplit("-", 2)[0].split("+")}
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


def plan_import(
    ws: Workspace, source: str, *places: Path, progress: Progress | None = None, **choices: Any
) -> ImportPlan:
    """Returns what an import of this source would do. Nothing is written.

    `places` are files or folders; without them, the program's own places are read. `choices`
    are those of `KnownEntries`. Raises InvalidArgument for an unknown source and a place
    without its data.
    """
    source = match_valid_name(readers_by_source(), source, "source")
    named = [place.expanduser().absolute() for place in places]
    paths = named or find_source_places(source)
    if not paths:
        raise InvalidArgument(
            f"No data of {source} was found in its usual places on this machine.",
            f"Give the file or folder: synaptic import {source} PATH",
        )
    planned = ImportPlan(source, paths, Projects(ws.config.state))
    for place in paths:
        if not (place.exists() or place.parent.is_file()):  # a session of a database
            raise _no_such_place(place)
    parts = [Chosen(source, place, ()) for place in paths]
    _fill_plan(planned, parts, KnownEntries(ws, planned.projects, **choices), progress)
    return planned


def plan_files(
    ws: Workspace, *places: Path, progress: Progress | None = None, **choices: Any
) -> ImportPlan:
    """Returns what an import of these files and folders would do, each file read by the reader
    that fits it. Nothing is written.

    Raises InvalidArgument for a place that does not exist, and for Synaptic's own folders.
    """
    named = [place.expanduser().absolute() for place in places]
    planned = ImportPlan("", named, Projects(ws.config.state))
    apart = _folders_of_ours(ws.config)
    find_equal = _finder_of_equal_notes(ws)
    dropped = []
    for place in named:
        if not place.exists():
            raise _no_such_place(place)
        for folder in (real_path(place), *real_path(place).parents):
            is_taken = place.is_file() and not is_note(place.name)  # a .docx in a vault
            is_taken = is_taken or is_upload(place)
            if folder in apart and not is_taken:
                raise InvalidArgument(
                    f"Nothing of {place} is imported: {apart[folder]}.", "Name another folder."
                )
        dropped.append(DroppedFiles(place, apart, find_equal, planned.skip))
    leave_equal_files_out(dropped)
    planned.chosen = [chosen for one in dropped for chosen in one.chosen]
    sources = dict.fromkeys(chosen.source for chosen in planned.chosen)
    planned.name = "+".join(sources) or "files"
    entries = KnownEntries(ws, planned.projects, **choices)
    _fill_plan(planned, planned.chosen, entries, progress)
    for one in dropped:
        one.report_unshown()
    return planned


def _finder_of_equal_notes(ws: Workspace) -> Callable[[bytes], str]:
    """Returns a function that returns the path of the note with these bytes, "" if none has."""
    paths: dict[int, list[str]] = {}
    for stamp in ws.journal.scan():
        paths.setdefault(stamp.size, []).append(stamp.path)

    def find_equal(data: bytes) -> str:
        equal = ws.journal.read_all(paths.get(len(data), [])) if data else {}
        return next((path for path, held in equal.items() if held == data), "")

    return find_equal


def _no_such_place(path: Path) -> InvalidArgument:
    return InvalidArgument(f"{path} does not exist.", "Give an existing file or folder.")


def _folders_of_ours(config: Config) -> dict[Path, str]:
    """Maps the folders of Synaptic, and those that it reads where they lie, to the reason why
    nothing of them is imported.
    """
    apart = {
        real_path(at): "it is read where it lies already" for at in config.sources.values()
    }
    apart[real_path(config.home)] = "it is the home of Synaptic"
    apart[real_path(config.journal)] = "it is the journal itself"
    return apart


def _fill_plan(
    planned: ImportPlan,
    parts: Sequence[Chosen],
    entries: KnownEntries,
    progress: Progress | None,
) -> None:
    """Reads the parts and notes in the plan what becomes of each record."""
    done = set()
    new: list[tuple[str, Coming]] = []
    is_whole = True
    chars = 0
    for part, record in _read_records(parts, planned.skip, progress):
        with report_errors(planned.skip, f"{part.within}{record.key}"):
            screen = Screen(entries.secrets)
            entry = entries.entry(screen, part.source, record)
            if entry.date < entries.first:
                continue
            state, coming = entries.compare(entry, part.source, record)
            if coming.entry.short_id in done:
                continue
            done.add(coming.entry.short_id)
            if state == "new" and record.place:
                new.append((part.source, coming))
            else:
                planned.note(state, coming)
            if state in ("new", "grown"):
                planned.screened.update(screen.notices())
                chars += len(entry.content)
        if len(planned.new) + len(new) >= MOST_ENTRIES or chars > MOST_CHARS:
            most = f"{MOST_ENTRIES:,} new entries or {MOST_CHARS:,} characters"
            planned.skip(planned.name, f"a run ends at {most}; import again for more")
            is_whole = False
            break
    for source, coming in new:  # only of all records it is known which entries are left
        planned.note(*(entries.follow(source, coming) if is_whole else ("new", coming)))
    for some in (planned.new, planned.grown):
        some.sort(key=lambda coming: (coming.entry.at, coming.path))


def _read_records(
    parts: Iterable[Chosen], skipped: Skipped, progress: Progress | None
) -> Iterator[tuple[Chosen, Record]]:
    number = 0
    for part in parts:

        def skip(where: str, why: str, within: str = part.within) -> None:
            skipped(f"{within}{where}", why)

        try:
            for record in find_reader(part.source).read(part.origin, skip):
                number += 1
                if progress:
                    progress("reading", number, number)
                yield part, record
        except (OSError, SynapticError) as error:
            why = error.message if isinstance(error, SynapticError) else str(error.strerror)
            for name in part.names:  # the other files are taken all the same
                skip(name, why)
            if not part.names and isinstance(error, OSError):
                raise InvalidArgument(
                    f"{part.origin} cannot be read: {why}.",
                    "Give yourself permission to read it, and try again.",
                ) from error
            if not part.names:
                raise
        except ModuleNotFoundError:
            raise
        except Exception as error:  # what was read is taken all the same
            skipped(str(part.origin), f"reading ended behind record {number:,}: {error!r:.300}")


def write_plan(ws: Workspace, planned: ImportPlan, name: str = "") -> Done:
    """Writes the entries of a plan, as `write_in_parts` does."""
    parts = write_in_parts(ws, planned, name)
    while True:
        try:
            next(parts)
        except StopIteration as end:
            done: Done = end.value
            return done


def write_in_parts(
    ws: Workspace, planned: ImportPlan, name: str = ""
) -> Generator[None, None, Done]:
    """Writes the entries of a plan, each day file in one step; yields where others may write,
    and returns what was done. If the process is killed, `resume_runs` finishes the run.
    """
    name = open_import_runs(ws.journal.state).free_name(
        name or f"{planned.name}-{ws.clock():%Y%m%d-%H%M%S}"
    )
    pictures = dict[str, str]()
    coming = [*planned.new, *planned.grown]
    for picture, read in chain.from_iterable(one.record.pictures for one in coming):
        with report_errors(planned.skip, picture):
            path = save_picture(ws.own_journal, picture, read)
            pictures[path] = hash_of_block(ws.journal.read(path))
        yield
    projects = {project_key(one.entry.project or "") for one in coming}
    _write_projects(
        ws.config.state,
        [planned.projects.changed[key] for key in projects & planned.projects.changed.keys()],
    )
    new = sorted(planned.new, key=lambda one: one.path)
    blocks = tuple(Block.from_entry(one.path, one.entry) for one in new)
    doing = partial(ws.own_journal.doing, IMPORT, entry_count_text(len(coming)), run=name)
    if blocks or not coming:  # one that brought nothing is known, too
        inserting = insert_in_parts(ws.own_journal, Run(name, blocks, pictures=pictures))
        is_more = True
        while is_more:
            with doing():
                is_more = next(inserting, END) is not END
            yield
    for path, entry, record in planned.grown:
        with doing(), suppress(NotFound):
            update = partial(update_from_source, ws, entry)
            edit_entry(ws.own_journal, path, entry.id, update, keep=record.is_correction)
        yield
    if pictures and not blocks:
        _note_pictures(ws, {one.entry.id for one in planned.grown}, pictures)
    corrected = tuple(one.entry.id for one in planned.grown if one.record.is_correction)
    return Done(name if blocks else "", len(coming), corrected=corrected)


def _note_pictures(ws: Workspace, ids: Collection[str], pictures: Mapping[str, str]) -> None:
    """Notes the pictures of entries that followed their source in the runs that brought these,
    which take them away again.
    """
    with ws.own_journal.writing():
        for run in open_import_runs(ws.journal.state).all():
            if any(block.id in ids for block in run.blocks):
                open_import_runs(ws.journal.state).put(
                    replace(run, pictures={**run.pictures, **pictures})
                )


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
                with acting(Actor(client, "hook")):
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
    runs = open_import_runs(ws.journal.state).open()
    for run in runs:
        write_run(ws, run, "finished after it was killed")
    return [run.name for run in runs]


def with_transcripts(ws: Workspace, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Replaces the text of each of these session digests by its lines of the transcript.

    Private passages and secrets are left out of it. Raises InvalidArgument for any other entry,
    NotFound where the client has deleted the transcript.
    """
    from .readers.digest import screen_events
    from .readers.session import read_session_events

    whole = []
    for entry in entries:
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
    return tuple(whole)


def _read_comment_keys(ws: Workspace, entry: Entry) -> dict[str, str]:
    """Returns the keys in an entry's comment that the index does not store."""
    return dict(entries_by_id(ws, entry.path).get(entry.id, entry).extra)


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
    standing = in_step(ws, lambda _: map_paths_by_short_id(ws.index))
    ids = {standing[part][0] for part in parts if part in standing}
    ids |= {piece.id for piece in ws.journal.trashed() if piece.id.partition("-")[2] in parts}
    if not ids:
        hint = "`synaptic search --sessions` lists ids."
        raise NotFound(f"The journal has no digest of the session {session!r}.", hint)
    # before its digest goes: a kill must not bring it back
    with os.fdopen(open_to_append(ws.config.state / FORGOTTEN), "a") as file:
        file.writelines(f"{session_hash(source, session)}\n" for source in SESSIONS)
    forget_proposals(ws.config.state, session)
    notices: list[str] = []
    for id in ids:
        notices += delete(ws, id, purge=True).notices
    return Done("", len(ids), notices=tuple(dict.fromkeys(notices)))


def find_import(ws: Workspace, name: str) -> Run:
    """The import run of this name. Raises InvalidArgument with the known ones."""
    names = {run.lower(): run for run in open_import_runs(ws.journal.state).newest_first()}
    return open_import_runs(ws.journal.state).get(names[match_valid_name(names, name, "undo")])


def _as_imported(ws: Workspace, path: str, blocks: Sequence[Block]) -> list[Block]:
    """The blocks with the hashes of their entries as these stand, where nobody edited them: an
    entry may have followed its source, or have gone back from that by an undo.
    """
    data = ws.journal.read_all([path]).get(path, b"")
    hashes = {
        entry.id: hash_of_block(data[entry.there.start : entry.there.end])
        for entry in ws.journal.parse(path, data).entries
        if is_as_imported(entry) and not (entry.pin or entry.due or entry.expires)
    }
    return [replace(block, hash=hashes.get(block.id, block.hash)) for block in blocks]


def undo_import(ws: Workspace, name: str, *, confirms: bool = False) -> Done:
    """Undoes an import run by moving its entries to the trash. Entries that were edited, or
    that others refer to, stay and are listed; so do preferences in force, unless a person
    `confirms`.

    Raises InvalidArgument for an unknown run, and names the known ones.
    """
    run = find_import(ws, name)
    take_settings_back(ws, run)
    ids = [block.id for block in run.blocks]
    why = dict.fromkeys(in_step(ws, lambda _: referenced_ids(ws.index, ids)), "others name it")
    rules = in_step(ws, lambda _: read_log(ws.config.state)).confirmed.keys() & set(ids)
    if not confirms:
        why |= dict.fromkeys(rules, "the user confirmed it")
    count = 0
    with ws.own_journal.doing(verb_of_undo(IMPORT), entry_count_text(len(ids))) as deed:
        records: dict[str, list[FileChange]] = {}
        for record in changes_of_run(ws.journal, name):
            records.setdefault(record.path, []).append(record)
        deed.of = {path: [one.id for one in ones] for path, ones in records.items()}
        for path, blocks in run.by_path().items():
            free = _as_imported(ws, path, [block for block in blocks if block.id not in why])
            for id in rules - why.keys():  # the same import may bring it again
                end_confirmation(ws.config.state, id)
            own = records.get(path, [])
            whole = own[0] if len(own) == 1 and len(free) == len(blocks) else None
            count += len(remove_blocks(ws.own_journal, path, free, whole))
    remove_pictures(ws.own_journal, run.pictures)
    left = in_step(ws, lambda _: ws.index.titles(ids))
    stays = tuple(replace(block, text="") for block in run.blocks if block.id in left)
    if stays:
        open_import_runs(ws.journal.state).put(
            replace(run, open=False, blocks=stays)
        )  # to be tried again
    else:
        open_import_runs(ws.journal.state).drop(run.name)
    staying = [(one.id, left[one.id], why.get(one.id, "it was edited")) for one in stays]
    notices = [f"Not read any more: {place}" for place in run.settings.get("sources", ())]
    return Done(run.name, count, tuple(staying), tuple(notices))


def bring_pictures_of_run_back(ws: Workspace, run: str) -> None:
    """Brings the pictures back that the texts show which this run, the undo of an import, took
    away.
    """
    for record in changes_of_run(ws.journal, run):
        bring_pictures_back(ws.own_journal, b"\n".join(record.befores()))


def _write_projects(state: Path, taken: Collection[Project]) -> None:
    """Writes projects that were claimed on a plan in memory into the file of this home."""
    if taken:
        with locked_projects(state) as projects:
            for name, repositories in taken:
                for repository in repositories:
                    projects.claim(repository, numbered_names(name))
