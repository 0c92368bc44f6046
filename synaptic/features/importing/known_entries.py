"""Compares new records with the entries that the home has or had."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from ...errors import InvalidArgument, Refused
from ...filters import Filters
from ...index.lists import map_paths_by_short_id
from ...index.rows import hash64
from ...journal.disk import read_state_lines
from ...journal.journal_files import JournalFiles
from ...journal.projects import Projects, project_of_folder
from ...journal.repository import find_checkout
from ...journal.runs import open_import_runs
from ...language.time_fields import read_date
from ...models import SESSIONS, Entry
from ...notes.blocks import project_key
from ...notes.draft import draft_entry
from ...notes.header import read_comment
from ...notes.reading import encode_base32, id_date
from ...notes.screening import Screen
from ...verbs.exports import export
from ...verbs.saving import parse_moment
from ...workspace.changes import fingerprint_files
from ...workspace.checkout import names_in_step
from ...workspace.preferences import read_log
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .readers.record import Record
from .readers.shared import make_tag

SETTLED = timedelta(minutes=10)
"""A session's files are assumed to be unchanged for this long after its end."""
FORGOTTEN = "forgotten"
"""The name of the file with hashes of the sessions that are never imported again."""
SAME, SHORT_CHARS = 0.7, 300
"""The share of words or letters that two versions of a text have in common, and the longest
text whose letters are compared: `test_files.py` has corrections and other entries.
"""
STATES = {
    "new": "new",
    "grown": "changed in the source",
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


class KnownEntries:
    """The entries that this home has or had, with which new records are compared.

    Only records since the day `since` are taken. With `project` only entries of these projects
    come; a single one is given to entries without a project. `into` is a folder of the journal
    for the day files.
    """

    def __init__(
        self,
        ws: Workspace,
        taken: Projects,
        *,
        since: str | None = None,
        project: Sequence[str] = (),
        into: str | None = None,
    ) -> None:
        self._ws = ws
        self._projects = project
        self._into = ""
        if into is not None:
            hidden = any(part.startswith((".", "@")) for part in Path(into).parts)
            if hidden or into.startswith("/"):
                valid = ("a folder inside the journal, like imported/diary",)
                raise InvalidArgument(
                    f"--into {into!r} is not a folder of the journal.", valid=valid
                )
            self._into = f"{into.strip('/')}/"
        self.first = read_date(since, ws.clock(), "since") if since else ""
        self.secrets = ws.config.secrets
        self._standing = in_step(ws, lambda _: map_paths_by_short_id(ws.index))
        self._deleted = [piece for piece in ws.journal.trashed() if piece.why == "delete"]
        gone = [piece.id for piece in self._deleted]
        for run in open_import_runs(ws.journal.state).all():
            gone += [block.id for block in run.blocks if not run.open]
        self._gone = {id.partition("-")[2] for id in gone}
        """The last parts of the ids of entries that were deleted or imported once."""
        forgotten = ws.config.state / FORGOTTEN
        self._forgotten = read_state_lines(forgotten)
        self._written = cache(partial(entries_by_id, ws))
        self._places = cache(self._find_places)
        self._deleted_at = cache(self._find_deleted)
        self._met: dict[str, str] = {}
        """The texts of the records that came, by the last parts of the ids of their entries."""
        state = ws.config.state
        names = names_in_step(ws)
        self._project = cache(
            lambda folder: project_of_folder(state, Path(folder), taken, names)
        )
        self._marks = taken.marks

    def entry(self, screen: Screen, source: str, record: Record) -> Entry:
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
        at = record.at
        if not (record.id and at.tzinfo):  # the day of a text from elsewhere is this clock's
            at = parse_moment(at, self._ws.clock())
        day = at.date() if record.dated else None
        origin = record.source or (not record.id and record.key)
        extra = {"source": origin} if origin else {}
        if record.place and not record.key.startswith(record.place):
            extra["place"] = record.place
        if record.lines:
            extra["lines"] = "{}-{}".format(*record.lines)
        entry, _ = draft_entry(
            screen,
            record.text,
            id=record.id or f"{id_date(day)}-{make_record_id(source, record.key)}",
            at=at,
            title=record.title,
            type=record.type,
            tags=tuple(map(make_tag, record.tags)),
            importance=record.importance,
            files=record.files,
            project=project,
            by=record.by or (source if source in SESSIONS else None),
            via=f"import:{source}",
            branch=record.branch,
            extra=extra,
        )
        remote, root = self._marks(project or "")
        entry = replace(entry, remote=remote, root=root, **record.marks)
        if record.growing or record.place:
            entry = replace(entry, extra=(*entry.extra, ("was", _edit_hash(entry))))
        if record.until and abs(self._ws.clock() - record.until) < SETTLED:
            here = find_checkout(Path(record.folder)) if record.folder else None
            here = here and here._replace(project=project or "")
            entry = replace(
                entry, fingerprints=fingerprint_files(entry, here, self._ws.config.state)
            )
        return entry

    def compare(self, entry: Entry, source: str, record: Record) -> tuple[str, Coming]:
        """Returns the state of a record (one of STATES), and its entry with the file where it
        is or will be.
        """
        part = entry.short_id
        if part not in self._standing and record.place:  # its entry has the id of an older text
            part = self._places(source)[0].get(record.key, part)
        if record.growing and record.place and self._is_other_text(part, entry):
            digest = blake2b(entry.content.encode(), digest_size=4).hexdigest()
            return self._compare_apart(entry, source, f"{record.key}/{digest}", record)
        id, path = self._standing.get(part, (entry.id, self._new_path(source, entry.at)))
        coming = Coming(path, replace(entry, id=id), replace(record, text=""))
        wanted = map(project_key, self._projects)
        if self._projects and project_key(entry.project or "") not in wanted:
            return "others", coming
        if record.growing and session_hash(source, record.key) in self._forgotten:
            return "deleted", coming
        self._met[part] = _text_of(entry)
        if part not in self._standing:
            return "deleted" if part in self._gone else "new", coming
        return self._compare_texts(coming) if record.growing else "known", coming

    def _is_other_text(self, part: str, entry: Entry) -> bool:
        """True if the entry with this part of an id is here or has come, and its text is
        another one: two diaries may have the same title at the same minute.
        """
        if part in self._met:
            return not are_versions(self._met[part], _text_of(entry))
        if part not in self._standing:
            return False
        id, path = self._standing[part]
        present = self._written(path).get(id)
        is_known = not present or _stored_edit_hash(present) in ("", _stored_edit_hash(entry))
        return not is_known and not are_versions(_text_of(present), _text_of(entry))

    def _compare_apart(
        self, entry: Entry, source: str, key: str, record: Record
    ) -> tuple[str, Coming]:
        """Compares a record under another key, because an entry of another text has its own."""
        extra = tuple((name, key if name == "source" else own) for name, own in entry.extra)
        id = f"{entry.id.partition('-')[0]}-{make_record_id(source, key)}"
        apart = replace(record, key=key, growing=False)
        return self.compare(replace(entry, id=id, extra=extra), source, apart)

    def follow(self, source: str, coming: Coming) -> tuple[str, Coming]:
        """Returns the state of a record whose key is new: if an entry of its place is here of
        which no record came, the record is that entry, corrected in the source.
        """
        for part in self._places(source)[1].get(coming.record.place, ()):
            id, path = self._standing.get(part, ("", ""))
            present = self._written(path).get(id) if id and part not in self._met else None
            if present and are_versions(_text_of(present), _text_of(coming.entry)):
                self._met[part] = _text_of(coming.entry)
                entry = replace(coming.entry, id=id)
                corrected = Coming(path, entry, coming.record)
                return self._compare_texts(corrected), corrected
        for text in self._deleted_at(source).get(coming.record.place, ()):
            if are_versions(text, _text_of(coming.entry)):
                return "deleted", coming
        return "new", coming

    def _compare_texts(self, coming: Coming) -> str:
        """The state of a record whose entry is here, by what both say."""
        present = self._written(coming.path).get(coming.entry.id)
        before = _stored_edit_hash(present) if present else ""
        if not present or before in ("", _stored_edit_hash(coming.entry)):
            return "known"
        return "grown" if is_as_imported(present) else "edited"

    def _find_places(self, source: str) -> tuple[dict[str, str], dict[str, list[str]]]:
        """(part of the id by key, parts of the ids by place) of the entries of a source."""
        by_key = {}
        by_place: dict[str, list[str]] = {}
        filters = Filters(sources=(f"import:{source}",), include_superseded=True)
        paths = dict.fromkeys(entry.path for entry in export(self._ws, filters))
        for path in paths:
            for entry in self._written(path).values():
                extra = dict(entry.extra)
                if entry.via == f"import:{source}" and "source" in extra:
                    by_key[extra["source"]] = entry.short_id
                    by_place.setdefault(_place_in_source(extra), []).append(entry.short_id)
        return by_key, by_place

    def _find_deleted(self, source: str) -> dict[str, list[str]]:
        """The texts of the deleted entries of a source, by their places."""
        texts: dict[str, list[str]] = {}
        for piece in self._deleted:
            _, comment, *body = [*piece.text.decode("utf-8", "replace").split("\n", 2), ""]
            values = read_comment(comment.strip()).values
            if values.get("via") == f"import:{source}":
                text = "\n".join([piece.title, *body])
                texts.setdefault(_place_in_source(dict(values["extra"])), []).append(text)
        return texts

    def _new_path(self, source: str, at: datetime) -> str:
        if source in SESSIONS and not self._into:
            return digest_path(self._ws.journal, self._ws.config.capture_into, at)
        return f"{self._into}{self._ws.journal.day_path(at)}"


def digest_path(journal: JournalFiles, capture_into: str, at: datetime) -> str:
    """The path of the file for digests of sessions of this day."""
    if capture_into == "sessions":
        return f"@sessions/{at:%Y-%m-%d}.md"
    return journal.day_path(at)


def _place_in_source(extra: Mapping[str, str]) -> str:
    """The place in its source that the comment of an entry names; that of jrnl begins its
    key.
    """
    return extra.get("place", extra.get("source", "").rpartition("-")[0])


def _text_of(entry: Entry | None) -> str:
    return f"{entry.title}\n{entry.content}" if entry else ""


def are_versions(earlier: str, later: str) -> bool:
    """True if two texts are versions of one: most words of the shorter stand in the longer, or,
    of short ones, most letters stay in their order.
    """
    words = [Counter(text.casefold().split()) for text in (earlier, later)]
    common = (words[0] & words[1]).total()
    if common >= SAME * min(counts.total() for counts in words):
        return True
    if max(len(earlier), len(later)) > SHORT_CHARS:
        return False
    return (
        SequenceMatcher(None, earlier.casefold(), later.casefold(), autojunk=False).ratio()
        >= SAME
    )


def session_hash(source: str, key: str) -> str:
    return blake2b(f"{source}\0{key.partition('/')[0]}".encode(), digest_size=16).hexdigest()


def entries_by_id(ws: Workspace, path: str) -> dict[str, Entry]:
    """Maps ids to the entries of a file."""
    return {entry.id: entry for entry in ws.journal.parse(path, ws.journal.read(path)).entries}


def update_from_source(ws: Workspace, new: Entry, old: Entry) -> Entry:
    """Returns `new`, the entry as its source has it now; returns `old` instead if somebody
    edited it, or a person confirmed it as a preference.
    """
    is_rule = old.id in read_log(ws.config.state).confirmed
    if is_rule or not is_as_imported(old):
        return old
    followed = ("title", "content", "tags", "importance", "files", "fingerprints", "extra")
    return replace(old, **{name: getattr(new, name) for name in followed})


def is_as_imported(entry: Entry) -> bool:
    """True if nobody edited the entry since an import wrote it, as its comment says."""
    return _stored_edit_hash(entry) == _edit_hash(entry)


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
