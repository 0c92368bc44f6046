"""Exports of pages: of Notion, and of Apple Notes. A zip, also of zips, or a folder, of HTML or of Markdown.

Notion (Export, HTML or Markdown & CSV): a page is `Title 32HEX.html` or `.md`, what belongs to it is in a folder beside
it. HTML has `h1.page-title`, a `table.properties` and `div.page-body`; Markdown has `# Title` and a line `Created:
January 2, 2026 3:04 PM` or the like for each property. Tables (`.csv`) are left out: each of their rows is a page.
Apple Notes (Export as Markdown, or an exporter): `Title.md`, `Title/Title.md` or `Title.html`, pictures beside it or in
a folder; only the times of the files say when.
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
from ..language.query import read_moment
from .archive import File, files_of
from .record import Record, Skipped
from .shared import headed

_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_UNLINKED = re.compile(r" [0-9a-f]{32}$|[\[\]|#]")
"""What no link can say."""
_LINK = re.compile(r"(!?)\[([^\]]{0,300})\]\(<?((?:[^()\s<>]|\([^()\s]*\))+)>?(?: \"[^\"]*\")?\)")
_CREATED = re.compile(r"^(?:created|created time|created at|date created): *@?(.+?)(?: \(.*)?$", re.M | re.I)
_TAGS = re.compile(r"^tags: *(.+)$", re.M | re.I)
_TITLE = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*# +(.+)|<title>([^<]+)</title>")
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".heic")
_HEAD = 2_000
"""Characters of a page that may tell its title and its properties."""


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """A record for each page; its key is Notion's id or its path, and links between pages become `[[Title]]`."""
    files = files_of(path)
    names = [name for name in files if name.endswith((".html", ".md"))]
    if not names:
        raise InvalidArgument(f"{path} holds no pages (.html, .md).", hint="Name the export's zip or folder.")
    names = [name for name in names if _ids(name)] or names  # Notion's; beside them is only a list of them
    titles: dict[str, str] = {}
    for name in names:
        title = PurePosixPath(name).stem
        with suppress(Exception), files[name].open() as stream:  # what is damaged is told below
            if found := _TITLE.search(stream.read(_HEAD)):
                title = unescape((found[1] or found[2]).decode("utf-8", "replace"))
        titles |= dict.fromkeys((name, *_ids(name)), _UNLINKED.sub("", title).strip())
    for name in names:
        try:
            yield _page(name, files, titles)
        except Exception as error:  # of the disk, the zip and the parser
            skipped(name, f"it cannot be understood: {error!r}")


def _ids(path: str) -> list[str]:
    """Notion's id in the name of a page, a list of one or none."""
    return _ID.findall(PurePosixPath(path).name)[-1:]


def _page(name: str, files: dict[str, File], titles: dict[str, str]) -> Record:
    pictures: dict[str, Callable[[], bytes]] = {}
    key = [name, *_ids(name)][-1]

    def picture(said: str, suffix: str, read: Callable[[], bytes]) -> str:
        attached = sha256(said.encode()).hexdigest()[:32] + suffix
        pictures[attached] = read
        return f"![](attachments/{attached})"

    def shown(link: re.Match[str]) -> str:
        if inline := re.match(r"data:image/(\w+)[^,]*;base64,(.*)", link[3]):
            return picture(inline[2], f".{inline[1]}", partial(b64decode, inline[2]))
        near = normpath(join(dirname(name), unquote(link[3])))
        if linked := [titles[one] for one in (near, *_ids(near)) if one in titles]:
            return f"[[{linked[0]}]]"
        if near not in files:
            return link[0]
        if not link[1] or not near.lower().endswith(_PICTURES):
            return link[2] or PurePosixPath(near).name  # a file that stays behind
        return picture(f"{key} {near}", PurePosixPath(near).suffix, files[near].read)

    text = files[name].read().decode("utf-8-sig")
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
    """The Markdown of a page of HTML: its title, its properties and its text, as Notion writes Markdown."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(html, "html.parser")
    title = "".join(f"# {title.get_text()}" for title in soup.select("h1.page-title"))
    rows = [row.select("th, td") for row in soup.select("table.properties tr")]
    above = "\n".join(": ".join(cell.get_text(", ", strip=True) for cell in row) for row in rows)
    for box in soup.select("div.checkbox"):
        box.replace_with("[x]" if "checkbox-on" in box["class"] else "[ ]")
    for around in soup.select("a:has(> img)"):
        around.unwrap()
    for unread in soup.select("head, script, style, svg, table.properties, h1.page-title"):
        unread.decompose()
    text = MarkdownConverter(heading_style="ATX", bullets="-").convert_soup(soup).strip()
    return "\n\n".join(part for part in (title, above, text) if part)
