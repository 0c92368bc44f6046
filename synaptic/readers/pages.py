"""Exports of pages: of Notion, and of Apple Notes. A zip, also of zips, or a folder, of HTML or
of Markdown.

Notion (Export, HTML or Markdown & CSV): a page is `Title 32HEX.html` or `.md`, what belongs to
it is in a folder beside it. HTML has `h1.page-title`, a `table.properties` and `div.page-body`;
Markdown has `# Title` and a line `Created: January 2, 2026 3:04 PM` or the like for each
property. Tables (`.csv`) are left out: each of their rows is a page. Apple Notes (Export as
Markdown, or an exporter): `Title.md`, `Title/Title.md` or `Title.html`, pictures beside it or
in a folder; only the times of the files say when.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import sha256
from html import unescape
from pathlib import Path, PurePosixPath
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from ..errors import InvalidArgument
from ..files import PICTURE_BYTES, PICTURE_FOLDER, is_picture_name
from ..language.query import read_moment
from .archive import File, files_of
from .record import Record, Skipped, told
from .shared import headed

_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_UNLINKED = re.compile(r" [0-9a-f]{32}$|[\[\]|#]")
"""What no link can say."""
_LINK = re.compile(
    r"(!?)\[([^\]]{0,300})\]\(<?((?:[^()\s<>]|\([^()\s]*\))+)>?(?: \"[^\"]*\")?\)"
)
_CREATED = re.compile(
    r"^(?:created|created time|created at|date created): *@?(.+?)(?: \(.*)?$", re.M | re.I
)
_TAGS = re.compile(r"^tags: *(.+)$", re.M | re.I)
_TITLE = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*# +(.+)|<title>([^<]+)</title>")
_INLINE = re.compile(
    rb"data:image/(\w{1,10})[^,\s\"'()]{0,100};base64,([A-Za-z0-9+/=\r\n\t]*+)"
)
_PLACEHOLDER = "inline-picture:"
_UNSEEN = re.compile(r"<!--.*?(?:-->|\Z)|<[!?][^>]*(?:>|\Z)", re.DOTALL)
_BLANK = re.compile(r"&(?:#0*(?:9|10|13|32)|#[xX]0*(?:9|20|[aAdD])|Tab|NewLine);?")
_BLANKS = re.compile(r"([ \t\r\n]{80})[ \t\r\n]++")
"""The parser and the converter take time by the square of a run of blanks and of a tag that
does not end.
"""
TEXT_BYTES, TAGS = 2_000_000, 20_000
"""A page with more text than this without its pictures, or with more tags, is left out: both
take memory and time.
"""
_HEAD = 2_000
"""Characters of a page that may tell its title and its properties."""


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """A record for each page; its key is Notion's id or its path, and links between pages
    become `[[Title]]`.
    """
    files = files_of(path, skipped)
    names = [name for name in files if name.endswith((".html", ".md"))]
    if not names:
        raise InvalidArgument(
            f"{path} holds no pages (.html, .md).", hint="Name the export's zip or folder."
        )
    names = [
        name for name in names if _ids(name)
    ] or names  # Notion's; beside them is only a list of them
    titles: dict[str, str] = {}
    for name in names:
        title = PurePosixPath(name).stem
        with suppress(Exception), files[name].open() as stream:  # what is damaged is told below
            if found := _TITLE.search(stream.read(_HEAD)):
                title = unescape((found[1] or found[2]).decode("utf-8", "replace"))
        titles |= dict.fromkeys((name, *_ids(name)), _UNLINKED.sub("", title).strip())
    for name in names:
        with told(skipped, name):
            yield _page(name, files, titles)


def _ids(path: str) -> list[str]:
    """Notion's id in the name of a page, a list of one or none."""
    return _ID.findall(PurePosixPath(path).name)[-1:]


def _page(name: str, files: dict[str, File], titles: dict[str, str]) -> Record:
    pictures: dict[str, Callable[[], bytes]] = {}
    key = [name, *_ids(name)][-1]

    inlines = list[tuple[str, str, Callable[[], bytes]]]()

    def picture(said: str, suffix: str, read: Callable[[], bytes]) -> str:
        attached = sha256(said.encode()).hexdigest()[:32] + suffix
        if not is_picture_name(attached):
            return "(a picture was left out)"
        pictures[attached] = read
        return f"![]({PICTURE_FOLDER}/{attached})"

    def put_aside(inline: re.Match[bytes]) -> bytes:
        read = partial(_inline, files[name], *inline.span(2))
        inlines.append((sha256(inline[2]).hexdigest(), f".{inline[1].decode()}", read))
        return f"{_PLACEHOLDER}{len(inlines) - 1}".encode()

    def shown(link: re.Match[str]) -> str:
        number = link[3].removeprefix(_PLACEHOLDER)
        if number != link[3] and number.isdecimal() and int(number) < len(inlines):
            return picture(*inlines[int(number)])
        near = normpath(join(dirname(name), unquote(link[3])))
        if linked := [titles[one] for one in (near, *_ids(near)) if one in titles]:
            return f"[[{linked[0]}]]"
        if near not in files:
            return link[0]
        if not link[1] or not is_picture_name(near):
            return link[2] or PurePosixPath(near).name  # a file that stays behind
        return picture(
            f"{key} {near}",
            PurePosixPath(near).suffix,
            partial(files[near].read, PICTURE_BYTES),
        )

    data = _INLINE.sub(put_aside, files[name].read())
    if len(data) > TEXT_BYTES:
        raise ValueError(f"it has more than {TEXT_BYTES:,} bytes of text")
    text = data.decode("utf-8-sig")
    text = _LINK.sub(shown, _of_html(text) if name.endswith(".html") else text).strip()
    title, body = headed(text)
    title, at = title or titles[name], files[name].at
    created, tags = _CREATED.search(body[:_HEAD]), _TAGS.search(body[:_HEAD])
    with suppress(InvalidArgument):
        at = read_moment(created[1], now=at, name="created") if created else at
    return Record(
        key=key,
        title=title,
        text=body.strip() or title,
        at=at,
        tags=tuple(tag.strip() for tag in tags[1].split(",")) if tags else (),
        pictures=tuple(pictures.items()),
    )


def _of_html(html: str) -> str:
    """The Markdown of a page of HTML: its title, its properties and its text, as Notion writes
    Markdown.
    """
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    end = html.rfind(">") + 1
    html = html[:end] + html[end:].replace("<", "&lt;")
    html = _BLANKS.sub(r"\1", _BLANK.sub(" ", _UNSEEN.sub("", html)))
    if html.count("<") > TAGS:
        raise ValueError(f"it has more than {TAGS:,} tags")
    soup = BeautifulSoup(html, "html.parser")
    title = "".join(f"# {title.get_text()}" for title in soup.select("h1.page-title"))
    rows = [row.select("th, td") for row in soup.select("table.properties tr")]
    above = "\n".join(
        ": ".join(cell.get_text(", ", strip=True) for cell in row) for row in rows
    )
    for box in soup.select("div.checkbox"):
        box.name, box.string = "span", "[x]" if "checkbox-on" in box["class"] else "[ ]"
    for around in soup.select(
        "a:has(> img)"
    ):  # to take a tag out takes time by the number of its siblings
        around.name = "span"
    for unread in soup.select("head, script, style, svg, table.properties, h1.page-title"):
        unread.name, unread.string = "span", ""
    text = MarkdownConverter(heading_style="ATX", bullets="-").convert_soup(soup).strip()
    return "\n\n".join(part for part in (title, above, text) if part)


def _inline(page: File, start: int, end: int) -> bytes:
    """The picture that stands between these bytes of a page. It is read anew: a plan may hold
    thousands.
    """
    return b64decode(page.read()[start:end])
