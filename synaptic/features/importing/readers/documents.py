"""Reads plain texts (`.txt`) and Word documents (`.docx`): one file, a folder or a zip of them.

A text is UTF-8, UTF-16 or cp1252 (Windows). If two lines or more are heads with a date, each
begins an entry of that day; else the whole file is one entry.

| line                                                      | begins an entry |
|-----------------------------------------------------------|-----------------|
| `14 March 2026`, `Samstag, 14. März 2026`, `2026-03-14`    | of that day     |
| `14.3.2026 21:10`, `March 14, 2026, 9:10 PM`               | at that time    |
| `2026-03-14 At sea`, `14.3.2026: At sea`                   | with that title |
| `14 March 2026 At sea`, as a heading of a Word document    | with that title |
| `03/02/2026`                                              | none: two dates |
| `On 14 March 2026 we were at sea.`                         | none            |
"""

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, time
from functools import partial
from hashlib import sha256
from html import unescape
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from ....errors import InvalidArgument
from ....files import PICTURE_BYTES, PICTURE_FOLDER, PICTURES, open_regular_file
from ....notes.blocks import TIME
from ....notes.dates import date_in_name, moment_in_value
from ....notes.diary import read_date_of_heading
from .archive import ExportedFile, open_export
from .pages import html_to_markdown
from .record import Record, Skipped, report_errors
from .shared import split_off_heading
from .source import modification_time

XML_BYTES, DOCX_BYTES = 16_000_000, 400_000_000
"""The most bytes to which the text of a Word document may unpack (its reader takes 40 times as
much memory), and the whole document.
"""
_SUFFIXES = (".txt", ".docx")
_HEAD_CHARS, _TITLE_CHARS = 120, 100
_MARKS = re.compile(r"\A[#*_\s]*(.*?)[*_:\s]*\Z", re.DOTALL)
_TIME_AT_END = re.compile(
    r"[\s,]+(?:(?:at|um|à|kl\.?) )?\d{1,2}[:.h]\d\d(?::\d\d)?"
    r"(?:\s?[AaPp]\.?[Mm]\.?)?(?:\s?Uhr)?\Z"
)
_BEGINS_WITH_NUMBERS = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\d{1,2}\. ?\d{1,2}\. ?\d{4}\b"
)
_TWO_DATES = re.compile(r"(?m)^\W*\d{1,2}/\d{1,2}/\d{4}\b")
_TAG = re.compile(r"<(/?)(\w+)[^>]*?(/?)>")
_SINGLE = ("br", "img", "hr", "input")
_ANY_TAG = re.compile(r"<[^>]*>")
_NO_PICTURE = re.compile(r'<img(?: alt="[^"]*")? src="" ?/>')


@dataclass(frozen=True, slots=True)
class _Head:
    """The date at the beginning of an entry, and the rest of its line."""

    at: datetime
    title: str


@dataclass
class _Part:
    """One future entry: its head, None without a date, and the lines or blocks below it."""

    head: _Head | None
    parts: list[str] = field(default_factory=list)


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """Yields a record for each dated entry of the documents, or for each document without."""
    files = _open_documents(path, skipped)
    if not files:
        raise InvalidArgument(
            f"{path} holds no texts or Word documents.",
            "Name a .txt or .docx file, or a folder or a zip with such files. A .doc, .odt or "
            ".rtf can be saved as .docx by its program.",
        )
    keys: Counter[str] = Counter()
    for name, file in files.items():
        with report_errors(skipped, name):
            for key, record in _read_document(name, file, skipped):
                keys[key] += 1
                number = f"/{keys[key]}" if keys[key] > 1 else ""
                yield record(key=f"{key}{number}")


def _open_documents(path: Path, skipped: Skipped) -> dict[str, ExportedFile]:
    """Maps the names of the documents to their files. A Word document is a zip, too, but none
    of documents.
    """
    if path.suffix.lower() in _SUFFIXES and path.is_file():
        opened = ExportedFile(partial(open_regular_file, path), modification_time(path))
        return {path.name: opened}
    files = open_export(path, skipped)
    return {name: files[name] for name in files if _is_document(name)}


def _is_document(name: str) -> bool:
    pure = PurePosixPath(name)
    hidden = any(part.startswith((".", "~$", "__MACOSX")) for part in pure.parts)
    return pure.suffix.lower() in _SUFFIXES and not hidden


def _read_document(
    name: str, file: ExportedFile, skipped: Skipped
) -> Iterator[tuple[str, Callable[..., Record]]]:
    """Yields (key, function that makes the record with it) of each entry of a document."""
    stem = PurePosixPath(name).stem
    pictures: dict[str, Callable[[], bytes]] = {}
    if name.lower().endswith(".docx"):
        html = _read_docx(name, file, pictures, skipped)
        pieces = _split_at_heads(_split_blocks(html), _head_of_block)
        texts = [html_to_markdown("".join(piece.parts)) for piece in pieces]
    else:
        text = _text_of_bytes(file.read()).replace("\r\n", "\n").replace("\r", "\n")
        pieces = _split_at_heads(text.split("\n"), _head_of_line)
        texts = ["\n".join(piece.parts).strip() for piece in pieces]
        unsure = len(_TWO_DATES.findall(text))
        if unsure:
            why = "may be a day in two ways and begin no entry: write the month as a word"
            skipped(name, f"{unsure:,} lines that begin like 03/02/2026 {why}")
    named = date_in_name(stem)
    for piece, text in zip(pieces, texts, strict=True):
        title = piece.head.title if piece.head else ""
        if len(title) > _TITLE_CHARS:
            text = f"{title}\n\n{text}".strip()
            title = ""
        if not piece.head:
            title, text = split_off_heading(text)
            title = title or stem
        if not text and not title:
            continue
        day = f"{piece.head.at:%Y-%m-%d %H:%M}" if piece.head else stem
        first = (title or text).partition("\n")[0]
        at = datetime.combine(named.day, time()) if named else file.at
        yield (
            f"{day}-{sha256(first.encode()).hexdigest()[:8]}",
            partial(
                Record,
                title=title,
                text=text.strip() or title,
                at=piece.head.at if piece.head else at,
                pictures=tuple(item for item in pictures.items() if item[0] in text),
            ),
        )


def _text_of_bytes(data: bytes) -> str:
    """Returns the text of bytes in UTF-8, UTF-16 or cp1252. Raises ValueError if they are none
    of these.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    if b"\0" in data:
        odd, even = data[1::2], data[::2]
        for encoding, high, low in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
            if high.count(0) > len(high) // 3 and not low.count(0):
                return data.decode(encoding)
        raise ValueError("it is not a text: it holds zero bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise ValueError("its text is not UTF-8, UTF-16 or cp1252") from error


def _split_at_heads(
    parts: list[str], head_of: Callable[[str, str], _Head | None]
) -> list[_Part]:
    """Splits lines or blocks into pieces at heads with a date; `head_of` gets a part and the
    one before it. A text with one head is one piece of that date.
    """
    pieces = [_Part(None)]
    before = ""
    for part in parts:
        head = head_of(part, before)
        if head:
            pieces.append(_Part(head))
        else:
            pieces[-1].parts.append(part)
        before = part
    first, *dated = pieces
    if dated and not "".join(first.parts).strip():
        return dated
    if len(dated) == 1 and dated[0].head:  # a letter: its date stays where it stands
        return [_Part(_Head(dated[0].head.at, ""), parts)]
    return pieces


def _head_of_line(line: str, before: str) -> _Head | None:
    """The head that a line of a text is; behind a line that is not blank only if nothing but
    the date stands on it.
    """
    return _read_head(line, is_heading=not before.strip() and bool(_is_numbered(line)))


def _head_of_block(block: str, _: str) -> _Head | None:
    """The head that a paragraph or heading of a Word document is."""
    is_heading = bool(re.match(r"<h[1-6]", block))
    if not is_heading and not block.startswith("<p"):
        return None
    line = unescape(_ANY_TAG.sub("", block))
    return _read_head(line, is_heading=is_heading or _is_numbered(line))


def _is_numbered(line: str) -> bool:
    """True for a line that begins with a date in numbers, as nobody writes in a sentence."""
    return bool(_BEGINS_WITH_NUMBERS.match(line.strip()))


def _read_head(line: str, *, is_heading: bool) -> _Head | None:
    """The date of a line that consists of a date with or without a time. In a heading a title
    may follow.
    """
    match = _MARKS.match(line)
    text = match[1] if match else ""
    if not any(map(str.isdigit, text[:40])):
        return None
    if len(text) <= _HEAD_CHARS:
        named = date_in_name(_TIME_AT_END.sub("", text))
        moment = moment_in_value(text) if named and named.is_alone else None
        if moment:
            return _Head(moment, "")
    when = read_date_of_heading(text, 0, TIME) if is_heading else None
    if not when:
        return None
    clock = text[slice(*when.time)]
    moment = moment_in_value(f"{when.day.isoformat()} {clock}".strip())
    title = text[when.end :].strip(" \t-–—:,;|")
    return _Head(moment or datetime.combine(when.day, time()), title)


def _split_blocks(html: str) -> list[str]:
    """Splits the HTML of a document into the blocks that stand side by side."""
    blocks = []
    depth = 0
    start = 0
    for tag in _TAG.finditer(html):
        if tag[2] not in _SINGLE and not tag[3]:
            depth += -1 if tag[1] else 1
        if depth == 0:
            blocks.append(html[start : tag.end()])
            start = tag.end()
    return blocks


def _read_docx(
    name: str, file: ExportedFile, pictures: dict[str, Callable[[], bytes]], skipped: Skipped
) -> str:
    """Returns the text of a Word document as HTML, and adds its pictures to `pictures`. Raises
    ValueError beyond a limit.
    """
    import mammoth

    data = file.read(DOCX_BYTES)
    _check_docx(data)

    def place_picture(image: Any) -> dict[str, str]:
        kinds = PICTURES.get(image.content_type)
        if not kinds:
            skipped(name, f"a picture of the kind {image.content_type} is left out")
            return {"src": ""}
        with image.open() as stream:
            digest = sha256(stream.read(PICTURE_BYTES + 1)).hexdigest()
        stored = f"{digest[:32]}{kinds[2][0]}"
        pictures[stored] = partial(_read_picture, file, digest)
        return {"src": f"{PICTURE_FOLDER}/{stored}"}

    result = mammoth.convert_to_html(
        BytesIO(data),
        convert_image=mammoth.images.img_element(place_picture),
        include_embedded_style_map=False,
        external_file_access=False,
    )
    return _NO_PICTURE.sub("", str(result.value))


def _check_docx(data: bytes) -> None:
    """Raises ValueError if a Word document unpacks to more than the limits, or declares
    entities, which no program writes.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            infos = archive.infolist()
            if sum(info.file_size for info in infos) > DOCX_BYTES:
                raise ValueError(f"it would unpack to more than {DOCX_BYTES:,} bytes")
            xml = [one for one in infos if not one.filename.startswith("word/media/")]
            if sum(info.file_size for info in xml) > XML_BYTES:
                raise ValueError(
                    f"its text would unpack to more than {XML_BYTES:,} bytes; split it"
                )
            for info in xml:
                if re.search(rb"<!\0?(?:D\0?O|E\0?N)", archive.read(info)):
                    raise ValueError(f"{info.filename} in it declares a document type")
    except zipfile.BadZipFile as error:
        raise ValueError("it is not a Word document (.docx)") from error


def _read_picture(file: ExportedFile, digest: str) -> bytes:
    """Reads the picture with this hash out of a Word document again, because a plan may hold
    thousands.
    """
    with zipfile.ZipFile(BytesIO(file.read(DOCX_BYTES))) as archive:
        for info in archive.infolist():
            if info.filename.startswith("word/media/") and info.file_size <= PICTURE_BYTES:
                picture = archive.read(info)
                if sha256(picture).hexdigest() == digest:
                    return picture
    raise ValueError("the picture is gone from the document")
