"""Reads documents: plain texts, Markdown, Org, web pages and Word documents; one file, a folder
or a zip of them.

A text is UTF-8, UTF-16 or cp1252 (Windows). A file becomes one entry, or one for each head with
a date (`dated_parts`), in Org also for each heading with a day of its own (`org`). Its title is
that of its front matter or first heading, else its first line.

| first lines of a file                      | title                                 |
|--------------------------------------------|---------------------------------------|
| `# Dinner`, `Dinner` above `======`         | `Dinner`                              |
| `Shopping`, `milk`                         | `Shopping`                            |
| a sentence that is wrapped over two lines  | the sentence; the text stays together |
| a list, code, a picture                    | made of it; the text stays together   |
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from hashlib import sha256
from html import unescape
from itertools import chain
from pathlib import Path, PurePosixPath
from posixpath import basename, splitext

from ....errors import InvalidArgument, Sentence
from ....journal.comments import find_ids
from ....kinds import FOREIGN
from ....models import EntryType, Json, Pairs, Texts
from ....notes.dates import date_in_path
from ....notes.frontmatter import FrontMatter
from ....notes.header import (
    ID,
    Comment,
    leading_markup,
    make_title,
    read_comment,
    without_emphasis,
)
from ....notes.picture_kinds import picture_media_type
from .archive import Export, ExportedFile, file_on_disk, open_export
from .dated_parts import (
    Head,
    heads_of_blocks,
    heads_of_lines,
    heads_of_markdown,
    split_at_heads,
    split_blocks,
)
from .org import read_org
from .page_links import PageLinks, linkable, pictures_of_file
from .pages import html_to_markdown
from .record import Record, Skipped, report_errors
from .shared import (
    DAY_FILE,
    Note,
    fields_beside,
    join_markdown,
    make_tags,
    moment_of_note,
    parse_note,
    strip_blank_lines,
)
from .word import read_docx

MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
PLAIN = (".txt", ".text")
PAGES = (".html", ".htm")
ENDINGS = (*PLAIN, *MARKDOWN, ".org", *PAGES, ".docx")
MOST_CHARS = 2_000_000
"""The most characters of one entry."""
_TITLE_CHARS, _WRAPPED_CHARS = 100, 60
"""The longest line that is a title; a line that is wrapped is longer than the second."""
_TWO_DATES = re.compile(r"(?m)^[^\w\n]{0,20}\d{1,2}/\d{1,2}/\d{4}\b")
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_HEADING = re.compile(r"(#{1,6})[ \t]+(\S[^\n]*?)[ \t]*#*[ \t]*(?:\n|\Z)")
_UNDERLINED = re.compile(r"(\S[^\n]*?)[ \t]*\n(?:={3,}|-{3,})[ \t]*(?:\n|\Z)")
_NOT_A_TITLE = re.compile(r"(?:`{3}|~{3}|[<|!%\[:]|\d{4}-\d\d-\d\d|\w[\w-]*::)|[-*_=. \t]*\Z")
_HTML_TITLE = re.compile(r"(?i)<title>([^<]+)</title>")
_HTML_HEAD = 10_000
_ESCAPED = re.compile(r"\\([_*])")
_WORD = re.compile(r"[^\W\d_]{3,}")
_LETTERS = re.compile(r"[^\W\d_]")
_NO_FRONT = FrontMatter()
_SAID_APART = ("title", "date", "tags", "syn")


@dataclass(frozen=True, slots=True)
class _DocumentPart:
    """One future entry; `at` is the time that its head or heading says. `comment` is that of
    an entry which Synaptic exported.
    """

    text: str
    at: datetime | None = None
    title: str = ""
    tags: Texts = ()
    fields: Pairs = ()
    type: EntryType = "note"
    front: FrontMatter = _NO_FRONT
    comment: Comment | None = None


def read(path: Path | Export, skipped: Skipped) -> Iterator[Record]:
    """Yields a record for each dated entry of the documents, or for each document without."""
    files = _open_documents(path, skipped)
    names = files.names(_is_document)
    if not names:
        raise InvalidArgument(
            "{path} holds no texts or Word documents.",
            "Name a file that ends in {endings}, or a folder or a zip with such files. A .doc, "
            ".odt or .rtf can be saved as .docx by its program.",
            path=path,
            endings=", ".join(ENDINGS),
        )
    titles = _Titles(files, names)
    holder: dict[str, str] = {}
    for name in names:
        with report_errors(skipped, name):
            keys: Counter[str] = Counter()
            links = PageLinks(name, files, "", titles.title_of)
            for key, piece in _read_document(name, files[name], links, skipped):
                keys[key] += 1
                number = f"/{keys[key]}" if keys[key] > 1 else ""
                if holder.setdefault(f"{key}{number}", name) != name:
                    other = holder[f"{key}{number}"]
                    skipped(name, Sentence("it holds the same text as {name}", name=other))
                else:
                    yield _record_of_piece(f"{key}{number}", piece, name, files[name], links)
            for missing in links.missing:
                text = "it shows the picture {picture}, which was not found"
                skipped(name, Sentence(text, picture=missing))


def _open_documents(path: Path | Export, skipped: Skipped) -> Export:
    """Opens the documents. A Word document is a zip, too, but none of documents; a single file
    comes with the pictures that it shows.
    """
    is_document = isinstance(path, Path) and path.suffix.lower() in ENDINGS
    if isinstance(path, Path) and is_document and path.is_file():
        files = {path.name: file_on_disk(path), **pictures_beside(path)}
        return Export(path, files, [path.name])
    return open_export(path, skipped)


def pictures_beside(path: Path) -> dict[str, ExportedFile]:
    """Maps the paths of the pictures that a single document shows, and that lie below its
    folder, to their files. A Word document has them within.
    """
    pictures = {}
    if path.name.lower().endswith(ENDINGS) and not path.name.lower().endswith(".docx"):
        with report_errors(lambda where, why: None, path.name):  # `read` reports it
            text = decode_text(file_on_disk(path).read())
            pictures.update(pictures_of_file(path, text))
    return pictures


def _is_document(name: str) -> bool:
    pure = PurePosixPath(name)
    hidden = any(part.startswith((".", "~$", "__MACOSX")) for part in pure.parts)
    return pure.suffix.lower() in ENDINGS and not hidden


class _Titles:
    """The titles of the entries that the documents become, by which links name them."""

    def __init__(self, files: Export, names: list[str]) -> None:
        self._files = files
        self._names = set(names)
        stems: dict[str, list[str]] = {}
        for name in names:
            stems.setdefault(basename(splitext(name)[0]).casefold(), []).append(name)
        self._by_stem = {stem: some[0] for stem, some in stems.items() if len(some) == 1}
        self._read = cache(self._read_title)

    def title_of(self, link: str) -> str:
        """The title of the document at this path, or of the only one with this name; "" if it
        becomes no entry, or several.
        """
        stem = basename(link).casefold()
        name = link if link in self._names else self._by_stem.get(stem, "")
        return self._read(name) if name else ""

    def _read_title(self, name: str) -> str:
        if name.lower().endswith(".docx"):
            return ""
        pieces: list[_DocumentPart] = []
        with report_errors(lambda where, why: None, name):  # `read` reports it
            text = decode_text(self._files[name].read())
            pieces += _split_text(name, text, self._files[name].at)
        if len(pieces) != 1:
            return ""
        title, text = _title_and_text(pieces[0])
        return linkable(title or make_title(text))


def _read_document(
    name: str, file: ExportedFile, links: PageLinks, skipped: Skipped
) -> Iterator[tuple[str, _DocumentPart]]:
    """Yields (key, piece) of each entry of a document."""
    if name.lower().endswith(".docx"):
        html = read_docx(name, file, links.pictures, skipped)
        blocks = split_blocks(html)
        pieces = []
        for part in split_at_heads(blocks, heads_of_blocks(blocks)):
            text = html_to_markdown("".join(part.parts))
            at = part.head.at if part.head else None
            pieces.append(_DocumentPart(text, at, part.head.title if part.head else ""))
    else:
        data = links.set_inline_aside(file.read())
        if find_ids(data):
            raise ValueError(
                "it holds entries of Synaptic: copy it into the folder of your journal"
            )
        text = decode_text(data)
        if name.lower().endswith(PLAIN):
            unsure = _TWO_DATES.findall(text)
            if unsure:
                lines = "1 line begins" if len(unsure) == 1 else f"{len(unsure):,} lines begin"
                why = "which may be a day in two ways: write the month as a word"
                skipped(name, f"taken, but split at no day: {lines} as {unsure[0]} does, {why}")
        pieces = _split_text(name, text, file.at)
    is_empty = True
    for piece in pieces:
        title, text = _title_and_text(piece)
        if not (title or text.strip() or piece.fields):
            continue
        is_empty = False
        if len(text) > MOST_CHARS:
            skipped(name, f"an entry of it has more than {MOST_CHARS:,} characters; split it")
            continue
        day = f"{piece.at:%Y-%m-%d %H:%M}" if piece.at else ""
        named = date_in_path(f"{splitext(file.place)[0]}.md", DAY_FILE)
        named_day = named.day.isoformat() if named and not piece.at else ""
        values = [*piece.tags, *chain.from_iterable(piece.fields)]
        digest = _digest(title, text, named_day, *values)
        key = f"{day or PurePosixPath(name).stem}-{digest}"
        if piece.comment and piece.comment.id:
            key = piece.comment.id
        yield key.encode("utf-8", "replace").decode(), piece
    if is_empty:
        raise ValueError(Sentence("it is empty"))


def _record_of_piece(
    key: str, piece: _DocumentPart, name: str, file: ExportedFile, links: PageLinks
) -> Record:
    title, text = _title_and_text(piece)
    title = links.rewrite(title)
    text = strip_blank_lines(links.rewrite(text))
    fields = piece.fields
    place = file.place
    if piece.at:
        place = f"{place} {piece.at:%Y-%m-%d %H:%M}"
    elif not piece.comment and _says_more(name, f"{title}\n{text}"):
        fields = (*fields, ("file", basename(name)))
    beside = "" if piece.comment and text == title else text  # a title alone is no text below
    at = piece.at or moment_of_note(piece.front, splitext(file.place)[0], file.at)
    record = Record(
        key=key,
        title=title,
        text=join_markdown(beside, fields=fields_beside(text, fields)) or title,
        at=at,
        dated=at is not file.at,
        type=piece.type,
        tags=piece.tags,
        place=place.encode("utf-8", "replace").decode(),
        pictures=links.pictures_in(f"{title}\n{text}"),
    )
    return _as_exported(record, piece.comment, file.at) if piece.comment else record


def _as_exported(record: Record, comment: Comment, changed: datetime) -> Record:
    """The record of an entry that Synaptic exported, with all that its comment says."""
    values = comment.values
    return replace(
        record,
        id=comment.id or "",
        at=comment.at or changed,
        dated=True,
        place="",
        source=dict(values["extra"]).get("source", ""),
        marks=_marks_of_comment(values),
        growing=True,
        project=values.get("project"),
        importance=values.get("importance"),
        files=values["files"],
        by=values.get("by"),
    )


def _marks_of_comment(values: Json) -> Json:
    """The days and the ids that the comment of an entry holds, as marks of a record."""
    ids = {
        "parent": next(filter(ID.match, [values.get("parent") or ""]), None),
        "supersedes": tuple(filter(ID.match, values.get("supersedes", ()))),
    }
    return ids | {name: values.get(name) for name in ("due", "expires")}


def _digest(*texts: str) -> str:
    data = "\0".join(texts).encode("utf-8", "surrogatepass")
    return sha256(data).hexdigest()[:8]


def _says_more(name: str, text: str) -> bool:
    """True if the name of a file has a word that its text lacks: searches shall find it."""
    words = _WORD.findall(basename(splitext(name)[0]).casefold())
    return not all(word in text.casefold() for word in words)


def decode_text(data: bytes) -> str:
    """Returns the text of bytes in UTF-8, UTF-16 or cp1252, with LF as line end. Raises
    ValueError if they are none of these.
    """
    text = _decode_bytes(data).replace("\r\n", "\n").replace("\r", "\n")
    if CONTROL.search(text):
        raise ValueError("it is not a text: it holds control characters")
    return text


def _decode_bytes(data: bytes) -> str:
    wide = name_utf16(data)
    if wide:
        return data.decode(wide)
    if b"\0" in data:
        kind = "a picture" if picture_media_type(data) else "a file of a program"
        raise ValueError(f"it is {kind} and no text, whatever its name says")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise ValueError("its text is not UTF-8, UTF-16 or cp1252") from error


def name_utf16(data: bytes) -> str:
    """The name of the form of UTF-16 in which bytes seem to be, "" if in none."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    odd, even = data[1::2], data[::2]
    for encoding, high, low in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        if b"\0" in high and high.count(0) > len(high) // 3 and not low.count(0):
            return encoding
    return ""


def _split_text(name: str, text: str, changed: datetime) -> list[_DocumentPart]:
    """Splits the text of a file into its future entries, by the form that its name says."""
    lower = name.lower()
    if lower.endswith(".org"):
        return [
            _DocumentPart(one.text, one.at, one.title, make_tags(*one.tags), one.fields)
            for one in read_org(text, changed.date())
        ]
    if lower.endswith(PLAIN):
        lines = text.split("\n")
        return _split_document(lines, heads_of_lines(lines))
    if lower.endswith(PAGES):
        title = _HTML_TITLE.search(text[:_HTML_HEAD])
        text = html_to_markdown(text)
        if title and not _HEADING.match(text):
            return [_DocumentPart(text, title=" ".join(unescape(title[1]).split()))]
    note = parse_note(text)
    exported = _read_exported(note)
    if exported:
        return [exported]
    if note.front.excluded:
        raise ValueError("its front matter says `synaptic: false`")
    named = date_in_path(name, DAY_FILE)
    lines = note.text.split("\n")
    pieces = _split_document(
        lines, heads_of_markdown(lines, named.day if named and named.is_day else None)
    )
    if len(pieces) == 1 and not pieces[0].at:
        front = replace(pieces[0], text=note.text, title=note.title, front=note.front)
        return [replace(front, tags=note.tags, fields=note.fields, type=note.type)]
    pieces = [replace(piece, tags=note.tags) for piece in pieces]
    pieces[0] = replace(pieces[0], fields=note.fields)
    return pieces


def _read_exported(note: Note) -> _DocumentPart | None:
    """The entry of a file out of a zip that Synaptic exported: front matter has the comment of
    the entry as `syn`, what that says once more, and the fields that the text does not hold.
    """
    written = dict(note.front.fields).get("syn")
    comment = read_comment(f"<!-- syn:{written} -->") if written else None
    if not comment or not comment.id:
        return None
    extra = dict(comment.values["extra"])
    repeated = {("type", extra.get("type")), ("source", extra.get("source"))}
    for name, value in comment.values.items():
        for one in value if isinstance(value, tuple) else (value,):
            repeated.add((name, str(one)))
    fields = [one for one in note.front.fields if one[0] not in _SAID_APART]
    return _DocumentPart(
        strip_blank_lines(note.text),
        title=note.front.title or "",
        tags=note.front.tags,
        fields=tuple(one for one in fields if one not in repeated),
        type=FOREIGN.get(extra.get("type", ""), "note"),
        comment=comment,
    )


def _split_document(lines: list[str], heads: list[Head | None]) -> list[_DocumentPart]:
    return [
        _DocumentPart(
            strip_blank_lines(text) if part.head else text.strip(),
            part.head.at if part.head else None,
            part.head.title if part.head else "",
        )
        for part in split_at_heads(lines, heads)
        for text in ["\n".join(part.parts)]
    ]


def _title_and_text(piece: _DocumentPart) -> tuple[str, str]:
    """The title and the text of a piece: without a head, its heading or first line is the
    title, and no part of the text.
    """
    title = piece.title
    if piece.comment:
        return title, piece.text
    text = piece.text.strip("\n").rstrip()
    if len(title) > _TITLE_CHARS:
        return "", f"{title}\n\n{text}".strip()
    heading, body = ("", text) if piece.at else _split_first_line(text)
    if title and title != heading:
        return title, text
    return heading, body


def _split_first_line(text: str) -> tuple[str, str]:
    """(title, body) of a text: its first line is the title if it stands by itself, and none if
    a sentence, a list or a block of code begins with it.
    """
    heading = _HEADING.match(text)
    if heading:
        mark, title = heading[1], heading[2]
        others = re.compile(rf"(?m)^#{{1,{len(mark)}}}[ \t]")
        is_only = not others.search(text, heading.end())
        return title, text[heading.end() :].strip("\n") if is_only else text
    underlined = _UNDERLINED.match(text)
    if underlined and len(underlined[1]) <= _TITLE_CHARS:
        return underlined[1], text[underlined.end() :].strip("\n")
    line, _, rest = text.partition("\n")
    title = without_emphasis(_ESCAPED.sub(r"\1", line.strip()))
    is_prose = not leading_markup(line).strip() and not _NOT_A_TITLE.match(line.strip())
    is_whole = _LETTERS.search(title) and not title.endswith(",")
    if not (is_prose and is_whole) or len(title) > _TITLE_CHARS or _is_wrapped(text):
        return "", text
    return title, rest.strip("\n")


def _is_wrapped(text: str) -> bool:
    """True if the first line of a text was broken because its next word had no room in it."""
    paragraph = text.partition("\n\n")[0].split("\n")
    if len(paragraph) == 1 or not paragraph[1].strip():
        return False
    width = max(_WRAPPED_CHARS, *map(len, paragraph[:50]))
    return len(paragraph[0].rstrip()) + 1 + len(paragraph[1].split()[0]) > width
