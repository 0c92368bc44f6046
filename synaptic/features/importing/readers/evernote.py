"""Reads what Evernote exports: a file `.enex` for each notebook, or a folder or a zip of them.

`<en-export>` holds for each `<note>` its `title`, `created` and `updated` (`20261121T093100Z`),
`tag`s, `note-attributes` with `source-url`, the page as ENML, which is HTML, in `content`, and
`resource`s: `data` in base64, `mime`, `file-name`. `<en-media hash="MD5">` shows a resource,
`<en-todo checked="true"/>` is a task. Since version 10 a list of tasks is `--en-todo` in the
style of a `ul`, code `--en-codeblock` in that of a `div`, and each `task` of a group stands
behind `content`.

A file of any size is read in parts. Its document type is named and never fetched; one that
declares anything itself is refused.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from hashlib import md5, sha256
from mimetypes import guess_extension
from os import SEEK_END
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any
from xml.parsers import expat
from zipfile import ZipExtFile

from ....errors import InvalidArgument, Sentence
from ....files import PICTURE_FOLDER
from ....journal.shelf import is_attachment
from ....notes.dates import moment_in_value, owner_time
from ....notes.picture_kinds import PICTURE_BYTES, PICTURES, is_picture_name, picture_media_type
from .archive import Export, ExportedFile, open_export
from .page_links import plain_name
from .pages import TEXT_BYTES, parse_html, soup_to_markdown
from .record import Record, Skipped, reason_of, report_errors
from .shared import join_markdown, strip_blank_lines
from .source import DEEPEST

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

ENDING = ".enex"
_CHUNK = 1 << 20
_CONTROL = bytes(set(range(32)) - {9, 10, 13})
_WITHOUT_CONTROL = bytes.maketrans(_CONTROL, b" " * len(_CONTROL))
"""Zero bytes and the like, with which no XML parser goes on, become blanks."""
ReadSpan = Callable[[int, int], bytes]
"""Reads the bytes between two offsets of a file."""
_MOST_BASE64 = 2 * PICTURE_BYTES
_NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")
_DATA_TAG = re.compile(rb"\A<[^>]*>\s*(?:<!\[CDATA\[)?")
_MOST_PARTS = 10_000
"""The most tags, tasks and resources of a note."""
_VALUES = "title created updated content source-url reminder-time place-name".split()
_READ = {*_VALUES, *"tag mime file-name taskStatus taskGroupNoteLevelID".split()}
_BOLD = re.compile(r"(?i)font-weight:\s*(?:bold|[6-9]00)")
_ITALIC = re.compile(r"(?i)font-style:\s*italic")
_CHECKED = re.compile(r"(?i)--en-checked:\s*(true|false)")
_TASK_GROUP = re.compile(r"(?i)--en-id:\s*([\w-]+)")
_LINE_ENDS = re.compile(r"[ \t]+\n")
_BLANK_LINES = re.compile(r"\n{3,}")
_BLOCKS = "div p ul ol table pre blockquote hr h1 h2 h3 h4 h5 h6 center".split()
_NOT_TAKEN = (".svg", ".htm", ".html")


@dataclass(slots=True)
class _Resource:
    """A picture or file of a note: where its base64 stands in the file, and its hash."""

    start: int = 0
    end: int = 0
    hash: str = ""
    head: bytes = b""
    size: int = 0
    mime: str = ""
    name: str = ""
    is_broken: bool = False

    def stored_name(self) -> str:
        """The name in the journal. Raises ValueError if it is not taken."""
        label = self.name or self.mime or "a file"
        if self.is_broken:
            raise ValueError(Sentence("{file} is damaged, and left out", file=label))
        if self.size > PICTURE_BYTES:
            text = "{file} is larger than {most:,} bytes, and left out"
            raise ValueError(Sentence(text, file=label, most=PICTURE_BYTES))
        kind = picture_media_type(self.head)
        if kind:
            return f"{self.hash}{PICTURES[kind][2][0]}"
        suffix = PurePosixPath(self.name).suffix or guess_extension(self.mime) or ""
        name = f"{plain_name(PurePosixPath(self.name).stem)}-{self.hash[:8]}{suffix.lower()}"
        is_wrong = is_picture_name(name) or suffix.lower() in _NOT_TAKEN
        if is_wrong or not is_attachment(name):
            raise ValueError(
                Sentence("{file} is a file of a kind that is not taken", file=label)
            )
        return name


@dataclass(slots=True)
class _Task:
    """A task of a group in a note of version 10."""

    values: dict[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        is_done = self.values.get("taskStatus", "") == "completed"
        return f"- [{'x' if is_done else ' '}] {' '.join(self.values.get('title', '').split())}"


@dataclass(slots=True)
class _EvernoteNote:
    """What the file says of a note; `wrong` says why it is left out, "" if it is not."""

    values: dict[str, str] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    resources: list[_Resource] = field(default_factory=list)
    tasks: list[_Task] = field(default_factory=list)
    wrong: str = ""


class _NoteParser:
    """Parses a file in parts into `notes`."""

    def __init__(self) -> None:
        self.notes: list[_EvernoteNote] = []
        self._path: list[str] = []
        self._text: list[str] = []
        self._chars = 0
        self._note = _EvernoteNote()
        self._base64 = b""
        self._md5 = md5(usedforsecurity=False)
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.buffer_size = _CHUNK
        parser.StartDoctypeDeclHandler = self._check_doctype
        parser.EntityDeclHandler = self._refuse_entity
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._take_text

    def feed(self, data: bytes, *, is_last: bool) -> None:
        """Parses a part of the file. Raises ValueError, ExpatError."""
        self._parser.Parse(data.translate(_WITHOUT_CONTROL), is_last)

    def _check_doctype(
        self, name: str, system: str | None, public: str | None, has_own: bool
    ) -> None:
        if has_own:
            self._refuse_entity()

    def _refuse_entity(self, *_: Any) -> None:
        raise ValueError("its document type declares something, which no program writes")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._path.append(name)
        if len(self._path) == 1 and name != "en-export":
            raise ValueError(Sentence("it is not a file that Evernote exported"))
        if len(self._path) > DEEPEST:
            raise ValueError(f"it has more than {DEEPEST} levels")
        note = self._note
        self._text.clear()
        self._chars = 0
        if self._path == ["en-export", "note"]:
            self._note = _EvernoteNote()
        elif len(note.tags) + len(note.resources) + len(note.tasks) > _MOST_PARTS:
            note.wrong = f"it has more than {_MOST_PARTS:,} tags and files"
            note.tags, note.resources, note.tasks = [], [], []
        elif name == "resource":
            note.resources.append(_Resource())
        elif name == "task":
            note.tasks.append(_Task())
        elif name == "data" and note.resources:
            note.resources[-1].start = self._parser.CurrentByteIndex
            self._base64 = b""
            self._md5 = md5(usedforsecurity=False)

    def _take_text(self, text: str) -> None:
        if self._path[-1] == "data" and self._note.resources:
            self._take_base64(self._note.resources[-1], text)
            return
        if self._path[-1] not in _READ:
            return
        self._chars += len(text)
        if self._chars > TEXT_BYTES:
            self._note.wrong = f"it has more than {TEXT_BYTES:,} bytes of text"
            self._text.clear()
        else:
            self._text.append(text)

    def _take_base64(self, resource: _Resource, text: str, *, is_last: bool = False) -> None:
        data = self._base64 + _NO_BASE64.sub(b"", text.encode("ascii", "ignore"))
        end = len(data) if is_last else len(data) // 4 * 4
        self._base64 = data[end:]
        try:
            decoded = b64decode(data[:end] + b"=" * (-end % 4))
        except Base64Error:
            resource.is_broken = True
            return
        self._md5.update(decoded)
        resource.size += len(decoded)
        resource.head = (resource.head + decoded)[:32]

    def _end(self, name: str) -> None:
        self._path.pop()
        text = "".join(self._text)
        self._text.clear()
        note = self._note
        above = self._path[-1] if self._path else ""
        if name == "note" and self._path == ["en-export"]:
            self.notes.append(note)
        elif name == "data" and note.resources:
            resource = note.resources[-1]
            self._take_base64(resource, "", is_last=True)
            resource.end = self._parser.CurrentByteIndex
            resource.hash = self._md5.hexdigest()
        elif above in ("resource", "resource-attributes") and note.resources:
            if name == "mime":
                note.resources[-1].mime = text.strip()
            elif name == "file-name":
                note.resources[-1].name = text.strip()
        elif above == "task" and note.tasks:
            note.tasks[-1].values[name] = text
        elif name == "tag" and above == "note":
            note.tags.append(text.strip())
        elif name in _VALUES and above in ("note", "note-attributes"):
            note.values[name] = text


def read(path: Path | Export, skipped: Skipped) -> Iterator[Record]:
    """Yields a record for each note, with its pictures and files where its text shows them."""
    files = open_export(path, skipped)
    names = files.names(lambda name: name.lower().endswith(ENDING))
    taken: dict[tuple[str, str], str] = {}
    keys: set[str] = set()
    count = 0
    problems: dict[str, str] = {}
    for name in names:
        notes = _notes_of_file(name, files[name], problems.__setitem__)
        for note, number, read_span in notes:
            title = " ".join(note.values.get("title", "").split())
            where = f"{name}, note {number:,}{f' ({title[:60]})' if title else ''}"
            with report_errors(skipped, where):
                if note.wrong:
                    raise ValueError(note.wrong)
                report = partial(skipped, where)
                record = _EvernotePage(note, title, files[name].at, read_span, report).record()
                count += 1
                first = taken.setdefault((record.key, record.text), where)
                if first != where:
                    skipped(where, Sentence("it is the same note as {first}", first=first))
                    continue
                if record.key in keys:
                    digest = sha256(record.text.encode()).hexdigest()[:8]
                    record = replace(record, key=f"{record.key}/{digest}")
                keys.add(record.key)
                yield record
    if not count:
        why = "".join(f": {why}" for why in [*problems.values()][:1])
        raise InvalidArgument(
            "{path} holds no notes that Evernote exported{why}.",
            "In Evernote, export a notebook as ENEX, and give the {ending} file, a folder or "
            "a zip with such files.",
            path=path,
            why=why,
            ending=ENDING,
        )
    for name, why in problems.items():
        skipped(name, why)


def _notes_of_file(
    name: str, file: ExportedFile, skipped: Skipped
) -> Iterator[tuple[_EvernoteNote, int, ReadSpan]]:
    """Yields the notes of a file with their numbers, and what reads its bytes again; reports
    what ends it before its end.
    """
    parser = _NoteParser()
    number = 0
    problem = ""
    with report_errors(skipped, name), file.open() as stream:
        read_span = partial(_read_between, file)
        copy = None
        if isinstance(stream, ZipExtFile):  # to go back in it is to unpack it once more
            copy = TemporaryFile()  # noqa: SIM115  open while its pictures are used
            read_span = partial(_read_copy_between, copy)
        is_last = False
        while not (is_last or problem):
            try:
                data = stream.read(_CHUNK)
                is_last = not data
                if copy:
                    copy.seek(0, SEEK_END)
                    copy.write(data)
                parser.feed(data, is_last=is_last)
            except Exception as error:  # of the disk, the zip and the parser
                problem = reason_of(error)
            for note in parser.notes:
                number += 1
                yield note, number, read_span
            parser.notes.clear()
    if problem:
        where = f" behind its note {number:,}" if number else ""
        skipped(name, f"it is damaged{where}: {problem}")


def _read_between(file: ExportedFile, start: int, end: int) -> bytes:
    with file.open() as stream:
        stream.seek(start)
        return stream.read(min(end - start, _MOST_BASE64))


def _read_copy_between(copy: IO[bytes], start: int, end: int) -> bytes:
    copy.seek(start)
    return copy.read(min(end - start, _MOST_BASE64))


@dataclass
class _EvernotePage:
    """A note that becomes a record."""

    note: _EvernoteNote
    title: str
    changed: datetime
    read_span: ReadSpan
    report: Callable[[str], None]
    pictures: dict[str, Callable[[], bytes]] = field(default_factory=dict)

    def record(self) -> Record:
        """The record of the note. Its key is made of the time and the title."""
        values = self.note.values
        body = self._markdown()
        fields = []
        for name in ("source-url", "place-name", "reminder-time"):
            value = values.get(name, "").strip()
            moment = moment_in_value(value) if name == "reminder-time" else None
            fields.append((name, f"{owner_time(moment):%Y-%m-%d %H:%M}" if moment else value))
        text = join_markdown(body, fields=fields) or self.title
        if not text:
            raise ValueError(Sentence("it is empty"))
        stamps = [values.get(name, "").strip() for name in ("created", "updated")]
        moments = {stamp: moment_in_value(stamp) for stamp in stamps if stamp}
        place, at = next((one for one in moments.items() if one[1]), ("undated", None))
        return Record(
            key=f"{place}-{sha256(self.title.encode()).hexdigest()[:8]}",
            place=place,
            growing=True,
            title=self.title,
            text=text,
            at=at or self.changed,
            dated=at is not None,
            tags=tuple(filter(None, self.note.tags)),
            pictures=tuple(self.pictures.items()),
        )

    def _markdown(self) -> str:
        soup = parse_html(self.note.values.get("content", ""))
        resources = {one.hash: one for one in self.note.resources}
        placed = set()
        for media in soup.select("en-media"):
            digest = str(media.get("hash", "")).lower()
            placed.add(digest)
            if digest in resources:
                self._place(soup, media, resources[digest])
            else:
                self.report(Sentence("a picture or file that it shows is not in the export"))
                _say(media, "(not in the export)")
        for crypt in soup.select("en-crypt"):
            self.report(
                Sentence(
                    "a passage of it is encrypted: decrypt it in Evernote, and export again"
                )
            )
            _say(crypt, "(encrypted in Evernote)")
        for digest, resource in resources.items():
            if digest not in placed:
                media = soup.new_tag("p")
                soup.append(media)
                inner = soup.new_tag("span")
                media.append(inner)
                self._place(soup, inner, resource)
        self._place_tasks(soup)
        _mark_styles(soup)
        _join_lines(soup)
        text = soup_to_markdown(soup)
        return strip_blank_lines(_BLANK_LINES.sub("\n\n", _LINE_ENDS.sub("\n", text)))

    def _place(self, soup: BeautifulSoup, media: Tag, resource: _Resource) -> None:
        """Puts a picture, or a link to a file, in the place of an element."""
        try:
            name = resource.stored_name()
        except ValueError as error:
            self.report(str(error))
            _say(media, f"({resource.name or 'file'} stays in Evernote)")
            return
        self.pictures[name] = partial(_read_again, self.read_span, resource)
        path = f"{PICTURE_FOLDER}/{name}"
        media.clear()
        if is_picture_name(name):
            media.name = "img"
            media.attrs = {"src": path}
        else:
            media.name = "a"
            media.attrs = {"href": path}
            media.string = resource.name or name

    def _place_tasks(self, soup: BeautifulSoup) -> None:
        groups: dict[str, list[str]] = {}
        for task in self.note.tasks:
            group = task.values.get("taskGroupNoteLevelID", "").strip()
            groups.setdefault(group, []).append(task.line)
        for place in soup.select('div[style*="--en-task-group"]'):
            group_id = _TASK_GROUP.search(str(place["style"]))
            _say_lines(soup, place, groups.pop(group_id[1] if group_id else "", []))
        for lines in groups.values():
            place = soup.new_tag("div")
            soup.append(place)
            _say_lines(soup, place, lines)


def _read_again(read_span: ReadSpan, resource: _Resource) -> bytes:
    """Reads a picture or file out of the export again, because a plan may hold thousands."""
    data = read_span(resource.start, resource.end)
    data = _NO_BASE64.sub(b"", _DATA_TAG.sub(b"", data).partition(b"]]>")[0])
    decoded = b64decode(data + b"=" * (-len(data) % 4))
    if md5(decoded, usedforsecurity=False).hexdigest() != resource.hash:
        raise ValueError("the export was changed meanwhile")
    return decoded


def _say(element: Tag, words: str) -> None:
    element.name = "span"
    element.attrs = {}
    element.string = words


def _say_lines(soup: BeautifulSoup, place: Tag, lines: list[str]) -> None:
    """Puts a list of tasks into an element."""
    place.clear()
    place.name = "ul"
    place.attrs = {}
    for line in lines:
        item = soup.new_tag("li")
        item.string = line.removeprefix("- ")
        place.append(item)


def _mark_styles(soup: BeautifulSoup) -> None:
    """Makes elements of what ENML says by styles and elements of its own."""
    for todo in soup.select("en-todo"):
        is_done = str(todo.get("checked", "")).lower() == "true"
        box = f"[{'x' if is_done else ' '}] "
        within = todo.find_parent("li")
        todo.name = "span"
        todo.attrs = {}
        todo.insert(0, box if within else f"- {box}")
    for item in soup.select('li[style*="--en-checked"]'):
        checked = _CHECKED.search(str(item["style"]))
        if checked:
            item.insert(0, f"[{'x' if checked[1].lower() == 'true' else ' '}] ")
    for code in soup.select('div[style*="--en-codeblock"], div[style*="-en-codeblock"]'):
        lines = [part.get_text() for part in code.children]
        code.name = "pre"
        code.attrs = {}
        code.string = "\n".join(lines)
    for span in soup.select("span[style]"):
        style = str(span["style"])
        if span.get_text(strip=True) and not span.find(_BLOCKS):
            if _BOLD.search(style):
                span.name = "b"
            elif _ITALIC.search(style):
                span.name = "i"


def _join_lines(soup: BeautifulSoup) -> None:
    """Makes lines of the `div`s that hold one line each: they are no paragraphs."""
    for line in soup.select("div"):
        if line.find(_BLOCKS):
            continue
        is_blank = not line.get_text(strip=True) and not line.find("img")
        line.name = "span"
        if is_blank:
            line.clear()
        if is_blank or line.find_next_sibling() is not None:
            line.append(soup.new_tag("br"))
