"""Reads the journal: its files, their entries, and where they stand. It writes nothing."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath

from ..config import Config, make_clock
from ..errors import JournalError, NotFound
from ..files import folder_of_agent_memory
from ..models import Entry, FileSignature, ParsedFile, Stamp, Texts
from ..notes.dates import date_in_path
from ..notes.privacy import has_private_tag, mask_private, shows_private_text, unclosed_tags
from ..notes.reading import parse_entries
from . import folder
from .changelog import ChangeLog
from .comments import find_ids
from .disk import RENAMES, UNFINISHED
from .projects import UNKNOWN, project_of_folder
from .saved import SavedText, SavedTexts
from .text import find_entry_span, normalize_block
from .trash import Trash, TrashedText


class JournalFiles:
    """The Markdown files of a journal, and the trash of the state that Synaptic keeps beside
    it. One thread owns it.
    """

    def __init__(self, config: Config) -> None:
        self.root = config.journal
        self.state = config.state
        self.clock = make_clock()
        self.roots = folder.Roots(config.roots, config.exclude, config.text_files)
        self.remarks: Mapping[str, str] = {}
        """By id, what is said of an entry beside its text."""
        self.names = UNKNOWN
        self.changes: list[str] = []
        """The paths of the files that this process changed, in order."""
        self.trash = Trash(config.state)
        self.saved = SavedTexts(config.state)
        self.log = ChangeLog(config.state)
        self._config = config

    # -- the files

    def place(self, path: str | Path) -> Path:
        """Where a path of the journal lies on disk."""
        return self.roots.place(path)

    def absent(self) -> Texts:
        """Sentences on the roots that are not there, or cannot be read."""
        return self.roots.absent()

    def scan(self) -> list[Stamp]:
        """A stamp of every note, as `folder.scan_notes` lists them."""
        return folder.scan_notes(self.roots)

    def compare(
        self, signatures: Mapping[str, FileSignature | None], only: str = ""
    ) -> folder.Comparison:
        """The notes on disk, or the one at `only`, beside known signatures by path."""
        return folder.compare_roots(self.roots, signatures, only)

    def stamp(self, path: str, *, was_listed: bool = False) -> Stamp | None:
        """The stamp of one file; None if `scan` lists no such file."""
        return folder.read_stamp(self.roots, path, was_listed=was_listed)

    def trashed(self) -> tuple[TrashedText, ...]:
        """All whole pieces of the trash, the oldest first."""
        return self.trash.pieces()

    # -- their entries

    def read_all(self, paths: Iterable[str]) -> dict[str, bytes]:
        """Maps paths to the bytes of these files; a file that is gone is left out."""
        files = {}
        for path in paths:
            with suppress(NotFound):
                files[path] = self.read(path)
        return files

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises NotFound, also for one that cannot be read, and
        JournalError for a path that leads out.

        Secrets in what another program keeps, in a hidden folder, are redacted.
        """
        try:
            data = folder.read_bytes(self.roots, path)[0]
        except JournalError as error:
            if isinstance(error.__cause__, OSError):
                raise NotFound(error.message, error.hint) from error
            raise
        name, root, _ = self.roots.split_path(path)
        parts = (*root.parts, *self._config.roots[name].parts)  # a source may be a link
        is_own = name in folder.OWN or not any(part.startswith(".") for part in parts)
        if is_own or self._config.secrets == "allow":
            return data
        # imported late: most journals have no hidden source
        from ..notes.screening import Screen

        text = data.decode("utf-8", "surrogateescape")
        return Screen("redact").redact_secrets("text", text).encode("utf-8", "surrogateescape")

    def link_folder_of(self, path: str) -> str:
        """The journal folder that relative links in the file `path` start from."""
        return path.rpartition("/")[0]

    def parse(
        self, path: str, data: bytes, mtime_ns: int = 0, *, block: bool = False
    ) -> ParsedFile:
        """The entries of a file with these bytes; `block`: they are one entry alone."""
        try:
            mtime = datetime.fromtimestamp(mtime_ns / 1e9, UTC).astimezone()
        except (ValueError, OverflowError, OSError):  # a clock beyond the calendar
            mtime = datetime.fromtimestamp(0, UTC)
        day_file = self._config.day_file
        name, root, _ = self.roots.split_path(path)
        if name:
            day_file = f"{name.replace('%', '%%')}/{day_file}"
        parsed = parse_entries(data, path, mtime=mtime, day_file=day_file, block=block)
        remembered = folder_of_agent_memory(root) if name else None
        if remembered:
            project = project_of_folder(self.state, remembered, journal=self.names)
            entries = [
                replace(entry, project=entry.project or project) for entry in parsed.entries
            ]
            parsed = replace(parsed, entries=tuple(entries))
        return parsed

    def day_path(self, at: datetime) -> str:
        """The path of the day file that an entry of this moment belongs to."""
        pattern = self._config.day_file.replace("%Y", f"{at.year:04d}")
        return PurePosixPath(at.strftime(pattern)).as_posix()

    def path_of_day(self, at: datetime) -> str:
        """The path of the file for a new entry of this moment: the day file, else the only file
        that is named by this day, in any folder and form. Logseq's own files get no entries.
        """
        path = self.day_path(at)
        same_day = []
        with suppress(PermissionError):  # the save itself says why the folder cannot be read
            own = self.roots.folders[""]
            is_new = own.is_dir() and not self.roots.place(path).exists()
            if is_new and not folder.is_logseq_graph(own):
                same_day = self._files_of_day(at.date())
        return same_day[0] if len(same_day) == 1 else path

    def _files_of_day(self, day: date) -> list[str]:
        """The paths of the journal's own files that are named by this day and no more."""
        paths = []
        for stamp in self.scan():
            named = date_in_path(stamp.path, self._config.day_file)
            if named and named.is_day and named.day == day and stamp.path[0] != "@":
                paths.append(stamp.path)
        return paths

    def find(self, path: str, id: str) -> tuple[bytes, Entry]:
        """Returns the block and the entry with this id, as its file now contains them. Raises
        NotFound.
        """
        data, status = folder.read_bytes(self.roots, path)
        parsed = self.parse(path, data, status.st_mtime_ns)
        entry, start, end = find_entry_span(parsed, path, id)
        return data[start:end], entry

    def find_or_none(self, path: str, id: str) -> tuple[bytes, Entry] | None:
        """The result of `find`; None if the entry does not stand in this file."""
        with suppress(NotFound):
            return self.find(path, id)
        return None

    # -- what is kept beside them

    @property
    def has_unfinished_rename(self) -> bool:
        """True while a rename is carried out, and after one was killed."""
        return (self.state / RENAMES / UNFINISHED).exists()

    def saved_copy(self, id: str) -> SavedText | None:
        """The copy of this entry's last saved text in `done/`; None if there is none, or if it
        belongs to another journal of this home.
        """
        record = self.saved.get(id)
        return record if record and self.is_ours(record) else None

    def is_ours(self, text: SavedText) -> bool:
        """True unless the text belongs to another journal of this home; a moved home keeps its
        texts.
        """
        journal = Path(text.journal)
        return journal == self.roots.split_path(text.path)[1] or not journal.is_dir()

    def copies_with_private_text(self, path: str, data: bytes) -> set[tuple[str, bytes]]:
        """(id, block) of each copy in `done/` and the trash that shows a passage which is
        private in these bytes.
        """
        # somebody may be typing an open tag right now
        if not has_private_tag(data) or unclosed_tags(data) or mask_private(data) == data:
            return set()
        hidden = find_ids(data) - find_ids(mask_private(data))
        blocks = dict.fromkeys(hidden, b"")
        for entry in self.parse(path, data).entries:
            blocks[entry.id] = data[entry.there.start : entry.there.end]
        copies = [(piece.id, normalize_block(piece.text)) for piece in self.trashed()]
        for id in blocks:
            record = self.saved_copy(id)
            if record:
                copies.append((id, record.text))
        return {
            (id, block)
            for id, block in copies
            if id in hidden or shows_private_text(block, blocks.get(id, b""))
        }

    def saved_text(self, path: str, id: str, block: bytes) -> SavedText:
        """The copy of a block for `done/`."""
        return SavedText(id, path, str(self.roots.split_path(path)[1]), block)
