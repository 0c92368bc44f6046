"""Chooses a reader for each file of a folder or zip, and says why the others are left out.

| file                                          | reader                           |
|-----------------------------------------------|----------------------------------|
| JSON, by its first keys                       | that of the program that wrote it |
| a text that begins with `[2026-11-21 09:31] `  | `jrnl`                           |
| or with that without brackets                 |                                  |
| `Title 32HEX.md`, `.html`                      | `notion`                         |
| `.csv`, `.tsv`, with a column of a day and one | `tables`                         |
| of a text                                     |                                  |
| `.enex`                                       | `evernote`                       |
| other texts, by their endings                 | `documents`                      |
| a transcript or a database, by its name       | that of its program              |
| a zip                                         | its files, as those of a folder  |

Of files with the same bytes the one with the shortest name is read, if no other has a day in
its name or folders.
"""

import os
import re
import zipfile
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import partial
from hashlib import sha256
from pathlib import Path, PurePosixPath
from posixpath import basename, dirname, join, splitext

from ....errors import Sentence, SynapticError
from ....files import SETTINGS_BYTES, real_path
from ....journal.backups import READ_ME, is_backup
from ....journal.folder import is_note
from ....journal.obsidian import names_of_template_folders, template_folders
from ....models import SESSIONS, Texts
from ....notes.dates import date_in_path
from ....notes.picture_kinds import is_picture_name
from . import tables
from .archive import ZIP_ERRORS, Export, ExportedFile, file_on_disk, open_export
from .documents import ENDINGS, pictures_beside
from .evernote import ENDING as EVERNOTE
from .jrnl import begins_with_entry
from .pages import notion_ids
from .record import Skipped, find_reader, reason_of
from .shared import DAY_FILE

_OF_PROGRAMS = ("node_modules", "__pycache__", "__MACOSX")
_HEAD = 1 << 18
"""The first bytes of a file by which its program is known."""
_JSON: dict[str, re.Pattern[bytes]] = {
    "claude-ai": re.compile(rb'(?s)\s*\[\s*\{.*?"chat_messages"\s*:'),
    "chatgpt": re.compile(rb'(?s)\s*\[\s*\{.*?"mapping"\s*:'),
    "day-one": re.compile(rb'(?s)\s*\{.*?"entries"\s*:.*?"creationDate"\s*:'),
    "jrnl": re.compile(rb'(?s)\s*\{.*?"entries"\s*:.*?"(?:body|starred)"\s*:'),
    "server-memory": re.compile(rb'\s*\{"type":\s*"(?:entity|relation)"'),
}
_OUR_ROWS = re.compile(
    rb'\s*\[\{"id": "\d{8}-[0-9a-z]{8}", "at": |id,at,date,date_source,type,title,content,'
)
_CONVERSATIONS = ("claude-ai", "chatgpt")
_BESIDE_CONVERSATIONS = frozenset(
    "chat.html user.json users.json message_feedback.json model_comparisons.json "
    "shared_conversations.json projects.json memories.json".split()
)
"""Files of the exports of _CONVERSATIONS that hold no other conversation."""
_OF_EXPORTS = (
    *("documents", "jrnl", "notion", "day-one", "tables", "evernote"),
    *_CONVERSATIONS,
)
"""Sources whose readers take an Export, several files of which may lie in a zip; another reader
takes the path of one file.
"""
_DATABASES = {"claude-mem.db": "claude-mem", "sqlite_vec.db": "mcp-memory-service"}
_ANY_JSON = ("*.json", "*.jsonl")
_VSCODE_CHAT_HEAD = re.compile(rb'"requests"\s*:|\{"kind"\s*:\s*0')
_SAVED_ANEW = (".doc", ".odt", ".rtf", ".pages")
READABLE = (
    f"{', '.join((*ENDINGS, *tables.ENDINGS, EVERNOTE))}, JSON of the programs that "
    "`synaptic import --help` names, and zips and folders of these"
)
"""What an import reads, for people."""
NOT_READ = "files are not read"
_IS_NOTE = "it is a note of the journal already, {path}"
_SAVE_ANEW = "{suffix} files are not read: save it as .docx in its program"
_LITTER = ("~", ".swp", ".tmp", ".part", ".crdownload")


@dataclass(frozen=True, slots=True)
class Chosen:
    """Files that one reader reads: `origin` is what it is given, `names` are those of the
    files, and `within` is the zip in which they lie, "" without one.
    """

    source: str
    origin: Path | Export
    names: Texts
    within: str = ""


class DroppedFiles:
    """The files of a folder or zip, or the one file of a path: which reader shall read which.

    `apart` says of some folders why nothing of them is taken, and `find_equal` which note of
    the journal has the same bytes, "" for none. Raises InvalidArgument for an unreadable zip.
    """

    def __init__(
        self,
        path: Path,
        apart: Mapping[Path, str],
        find_equal: Callable[[bytes], str],
        skipped: Skipped,
    ) -> None:
        self._find_equal = find_equal
        self.chosen: list[Chosen] = []
        self._without_reader: list[tuple[str, str, str]] = []
        self._skipped = skipped
        files = dict(_walk(path, apart, skipped)) if path.is_dir() else {path.name: path}
        zips = [name for name in files if name.lower().endswith(".zip")]
        others = {name: file_on_disk(files[name]) for name in files.keys() - zips}
        if not path.is_dir():
            others |= pictures_beside(path)
        self._exports = {"": Export(path, dict(sorted(others.items())))}
        for name in zips:
            if files[name].is_file() and not zipfile.is_zipfile(files[name]):
                skipped(name, Sentence("it is not a zip, or a damaged one"))
                continue
            try:
                opened = open_export(files[name], partial(self._skip, f"{name}/"))
                self._exports[f"{name}/"] = opened
            except (SynapticError, OSError) as error:
                if path == files[name]:
                    raise
                skipped(name, getattr(error, "message", str(error)))
        for within, export in self._exports.items():
            if is_backup(export):
                zipped = within.rstrip("/")
                tells = f"`synaptic restore {basename(zipped)}`" if zipped else f"its {READ_ME}"
                why = f"it is a backup of Synaptic: {tells} says how to use it"
                skipped(zipped or str(path), why)
                export.clear()
            else:
                self._choose(within, export, {} if within else files)

    def files_of_readers(self) -> Iterator[tuple[str, str, ExportedFile]]:
        """Yields (zip, name, file) of the files for which a reader was chosen."""
        for chosen in self.chosen:
            for name in chosen.names:
                if isinstance(chosen.origin, Path):
                    yield "", name, file_on_disk(chosen.origin)
                else:
                    yield chosen.within, name, chosen.origin[name]

    def leave_out(self, within: str, name: str, why: str) -> None:
        """Takes a file from its reader, and reports the reason."""
        self._skip(within, name, why)
        left = []
        for chosen in self.chosen:
            names = tuple(one for one in chosen.names if (chosen.within, one) != (within, name))
            origin = chosen.origin
            if isinstance(origin, Export):
                origin = Export(origin.at, origin, names)
            if names:
                left.append(Chosen(chosen.source, origin, names, chosen.within))
        self.chosen = left

    def report_unshown(self) -> None:
        """Reports the pictures that no text shows, and the files that are not read and to which
        none links, after all was read.
        """
        for within, name, why in self._without_reader:
            if name not in self._exports[within].attached:
                self._skip(within, name, why)
        for within, export in self._exports.items():
            for name in export.keys() - export.attached:
                if is_picture_name(name) and not _hidden_part(name):
                    self._skip(within, name, Sentence("no text shows this picture"))

    def _skip(self, within: str, where: str, why: str) -> None:
        self._skipped(f"{within}{where}", why)

    def _choose(self, within: str, export: Export, files: Mapping[str, Path]) -> None:
        """Chooses the readers of the files of one export; `files` are their paths on the
        disk.
        """
        names_by_source: dict[str, list[str]] = {}
        left_out = {}
        for folder in _template_folders_in_zip(export) if within else ():
            self._skip(within, f"{folder}/", Sentence("it holds templates"))
            for name in [name for name in export if name.startswith(f"{folder}/")]:
                del export[name]
        has_pages = any(map(_is_notion_page, export))
        for name in export:
            if is_picture_name(name) and not _hidden_part(name):
                continue  # `report_unshown`
            try:
                source = _source_of(name, export, files.get(name), has_pages=has_pages)
                equal = self._find_equal(export[name].read()) if is_note(name) else ""
                if equal:
                    raise ValueError(Sentence(_IS_NOTE, path=equal))
                names_by_source.setdefault(source, []).append(name)
            except OSError as error:
                left_out[name] = str(error.strerror)
            except ZIP_ERRORS as error:
                left_out[name] = reason_of(error)
        for source in _CONVERSATIONS:
            folders = {dirname(name) for name in names_by_source.get(source, ())}
            for name in export:
                is_beside = basename(name) in _BESIDE_CONVERSATIONS
                if is_beside and dirname(name) in folders:
                    left_out[name] = f"it belongs to the export of {source}, without a talk"
        for source, names in names_by_source.items():
            names_by_source[source] = [name for name in names if name not in left_out]
        self._without_reader += [(within, name, why) for name, why in left_out.items()]
        for source, names in names_by_source.items():
            if names and source in _OF_EXPORTS:
                place = Export(export.at, export, names)
                self.chosen.append(Chosen(source, place, tuple(names), within))
            else:
                self.chosen += [Chosen(source, files[name], (name,)) for name in names]


def leave_equal_files_out(dropped: Sequence[DroppedFiles]) -> None:
    """Leaves one of the files that have the same bytes and the same day in their paths, the one
    with the shortest name, and names the others.
    """
    alike: dict[tuple[int, date | None], list[tuple[DroppedFiles, str, str, ExportedFile]]] = {}
    for files in dropped:
        for within, name, file in files.files_of_readers():
            named = date_in_path(f"{splitext(file.place)[0]}.md", DAY_FILE)
            day = named.day if named else None
            alike.setdefault((file.size, day), []).append((files, within, name, file))
    for some in alike.values():
        first: dict[bytes, tuple[str, ExportedFile]] = {}
        some.sort(key=lambda one: (len(one[1]) + len(one[2]), one[1], one[2]))
        for files, within, name, file in some if len(some) > 1 else ():
            digest = _digest_of_text(file)
            taken_name, taken = first.setdefault(digest, (f"{within}{name}", file))
            if digest and taken.place != file.place:
                where = taken.place if taken_name == f"{within}{name}" else taken_name
                why = Sentence("it is the same file as {name}", name=where)
                files.leave_out(within, name, why)


def _digest_of_text(file: ExportedFile) -> bytes:
    """A hash of the bytes of a file; b"" of one that is blank, or that cannot be read."""
    digest = sha256()
    is_blank = True
    with suppress(*ZIP_ERRORS), file.open() as stream:
        for data in iter(partial(stream.read, _HEAD), b""):
            digest.update(data)
            is_blank = is_blank and not data.strip()
    return b"" if is_blank else digest.digest()


def _source_of(name: str, export: Export, file: Path | None, *, has_pages: bool) -> str:
    """The source whose reader reads a file; `file` is its path on the disk, None within a zip.
    Raises ValueError with the reason why none does.
    """
    source = _source_of_name(name, file)
    if source:
        return source
    hidden = _hidden_part(name)
    if hidden:
        is_folder = hidden != basename(name)
        raise ValueError(f"{hidden} is hidden" if is_folder else Sentence("it is hidden"))
    suffix = PurePosixPath(name).suffix.lower()
    if basename(name).startswith("~$") or name.endswith(_LITTER):
        raise ValueError(Sentence("it is a temporary file of a program"))
    if _is_notion_page(name):
        return "notion"
    if has_pages and basename(name) == "index.html":
        raise ValueError(Sentence("it lists the pages of the export"))
    if suffix == EVERNOTE:
        return "evernote"
    if suffix in tables.ENDINGS and has_pages and notion_ids(name):
        raise ValueError(Sentence("each of its rows is a page of the export"))
    if suffix in (".json", ".jsonl", ".txt", "", *tables.ENDINGS):
        with export[name].open() as stream:
            head = stream.read(_HEAD)
        if _OUR_ROWS.match(head):
            why = "it holds rows for other programs: import the zip of the page's search"
            raise ValueError(f"{why}, or go back to a backup")
        if suffix in tables.ENDINGS:
            tables.check_table(head)
            return "tables"
        source = _source_of_head(head, suffix, file)
        if source:
            return source
    if suffix in ENDINGS:
        return "documents"
    if suffix in (".json", ".jsonl"):
        raise ValueError(Sentence("it is JSON of no program that is known"))
    if suffix in _SAVED_ANEW:
        raise ValueError(Sentence(_SAVE_ANEW, suffix=suffix))
    if not suffix:
        text = "its name has no ending that names its form: call it .txt or .md"
        raise ValueError(Sentence(text))
    raise ValueError(Sentence("{suffix} files are not read", suffix=suffix))


def _source_of_name(name: str, file: Path | None) -> str:
    """The source of a database or of an agent's transcript, by its name; "" for other files
    and for those that hold nothing of the kind.
    """
    if not file:
        return ""
    if basename(name) in _DATABASES:
        return _DATABASES[basename(name)]
    for source in SESSIONS:
        patterns = getattr(find_reader(source), "patterns", ())
        own = [pattern for pattern in patterns if pattern not in _ANY_JSON]
        if any(map(PurePosixPath(name).match, own)) and _holds_session(source, file):
            return source
    return ""


def _holds_session(source: str, file: Path) -> bool:
    with suppress(Exception):  # damaged, or of another program
        for session in find_reader(source).sessions(file, lambda where, why: None):
            if session.events:
                return True
    return False


def _source_of_head(head: bytes, suffix: str, file: Path | None) -> str:
    """The source of a file by its first bytes; "" if they are of no program that is known."""
    head = head.removeprefix(BOM_UTF8)
    if suffix in (".txt", ""):
        return "jrnl" if begins_with_entry(head.lstrip()) else ""
    for source, pattern in _JSON.items():
        if pattern.match(head):
            return source if file or source in _OF_EXPORTS else ""
    is_vscode = file and _VSCODE_CHAT_HEAD.search(head) and _holds_session("vscode", file)
    return "vscode" if is_vscode else ""


def _is_notion_page(name: str) -> bool:
    return bool(notion_ids(name)) and name.endswith((".html", ".md"))


def _hidden_part(name: str) -> str:
    """The first part of a path that is hidden or belongs to a program; "" if none is."""
    parts = name.split("/")
    return next((part for part in parts if part[:1] == "." or part in _OF_PROGRAMS), "")


def _walk(top: Path, apart: Mapping[Path, str], skipped: Skipped) -> Iterator[tuple[str, Path]]:
    """Yields (path below `top`, file) of the regular files; reports links, folders that are
    left out, and all that is neither a file nor a folder.
    """
    real = real_path(top)
    templates = {top / name for name in _template_folders(top)}
    folders = [top]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            skipped(_within(top, folder), str(error.strerror))
            continue
        if folder != top and any(entry.name == ".obsidian" for entry in entries):
            templates |= {folder / name for name in _template_folders(folder)}
        for entry in entries:
            path = Path(entry.path)
            where = _within(top, path)
            if entry.is_symlink():
                skipped(where, _reason_of_link(path, real))
            elif entry.is_dir(follow_symlinks=False):
                why = "it holds templates" if path in templates else apart.get(real_path(path))
                if _hidden_part(entry.name):
                    why = "it is hidden" if entry.name[0] == "." else "it belongs to a program"
                if why:
                    skipped(f"{where}/", why)
                else:
                    folders.append(path)
            elif entry.is_file(follow_symlinks=False):
                yield where, path
            else:
                skipped(where, "it is not a regular file")


def _within(top: Path, path: Path) -> str:
    return path.relative_to(top).as_posix() if path != top else str(top)


def _template_folders(vault: Path) -> list[str]:
    with suppress(OSError):
        return template_folders(vault)
    return []


def _template_folders_in_zip(export: Export) -> list[str]:
    """The folders of templates in a zip: of the zip itself, of the one folder that holds all
    its files, and of each vault of Obsidian.
    """
    tops = {name.partition("/")[0] if "/" in name else "" for name in export}
    vaults = {"", *tops} if len(tops) == 1 else {""}
    for name in export:
        above, within, _ = f"/{name}".partition("/.obsidian/")
        if within:
            vaults.add(above[1:])
    folders = {
        join(vault, name)
        for vault in vaults
        for name in names_of_template_folders(partial(_read_setting_in_zip, export, vault))
    }
    in_zip = {above.as_posix() for name in export for above in PurePosixPath(name).parents}
    return sorted(folders & in_zip)


def _read_setting_in_zip(export: Export, vault: str, path: str) -> bytes:
    file = export.get(join(vault, path))
    with suppress(ValueError, *ZIP_ERRORS):
        return file.read(SETTINGS_BYTES) if file else b""
    return b""


def _reason_of_link(path: Path, real: Path) -> str:
    target = real_path(path)
    if not target.exists():
        return "it is a link that leads nowhere"
    if target.is_relative_to(real):
        return f"it is a link to {target}, which is read itself"
    return f"it is a link out of the folder, to {target}; name that itself"
