"""Reads pages that Notion or Apple Notes exported: a zip, also of zips, or a folder, of HTML or
of Markdown.

Notion (Export, HTML or Markdown & CSV): a page is `Title 32HEX.html` or `.md`, with
its files in a folder beside it. HTML has `h1.page-title`, `table.properties`, `div.page-body`;
Markdown has `# Title` and a line `Created: January 2, 2026 3:04 PM` or the like for each
property. Tables (`.csv`) are left out: each of their rows is a page. Apple Notes (Export as
Markdown, or an exporter): `Title.md`, `Title/Title.md` or `Title.html`, pictures beside it or
in a folder; the titles and the times of the files say when.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, time
from html import unescape
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ....errors import InvalidArgument
from ....notes.dates import date_in_name, moment_in_value
from .archive import Export, ExportedFile, open_export
from .page_links import PageLinks, linkable
from .record import Record, Skipped, report_errors
from .shared import split_off_heading, strip_blank_lines

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_CREATED = re.compile(
    r"(?im)^(?:created(?: time| at)?|date created|erstellt(?: am)?|créé(?: le)?|creado|creato"
    r"|criado(?: em)?|aangemaakt|создано|创建时间|建立時間|作成日時?|생성 ?일시?)"
    r": *@?(.+?)(?: \(.*)?$"
)
_DATED = re.compile(r"(?im)^(?:date|datum|fecha|data|дата|日期|日付|날짜): *@?(.+?)(?: \(.*)?$")
_TAGS = re.compile(r"(?im)^tags: *(.+)$")
_TITLE = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*# +(.+)|<title>([^<]+)</title>")
_UNSEEN = re.compile(r"(?s)<!--.*?(?:-->|\Z)|<[!?][^>]*(?:>|\Z)")
_BLANK = re.compile(r"&(?:#0*(?:9|10|13|32)|#[xX]0*(?:9|20|[aAdD])|Tab|NewLine);?")
_BLANKS = re.compile(r"([ \t\r\n]{80})[ \t\r\n]++")
"""Long runs of blanks and open tags: parser and converter are quadratic in their length."""
TEXT_BYTES, TAGS = 2_000_000, 20_000
"""A page with more bytes of text (without pictures) or more HTML tags is left out, because it
takes too much memory and time.
"""
_AROUND_PICTURES = "td th h1 h2 h3 h4 h5 h6 span a b strong i em p".split()
_HEAD = 2_000
"""The first bytes or characters of a page, in which its title and properties are looked for."""


def read(path: Path | Export, skipped: Skipped) -> Iterator[Record]:
    """Yields a record for each exported page; links between pages become `[[Title]]`.

    Its key is Notion's id, else its path.
    """
    files = open_export(path, skipped)
    pages = files.names(lambda name: name.endswith((".html", ".md")))
    if not pages:
        raise InvalidArgument(
            f"{path} holds no exported pages (.html, .md).",
            "Give the zip or the folder of the export.",
        )
    of_notion = [name for name in pages if notion_ids(name)]  # any other page is a list of them
    titles: dict[str, str] = {}
    for name in of_notion or pages:
        title = linkable(_read_title(name, files[name]))
        titles |= dict.fromkeys((name, *notion_ids(name)), title)
    for name in of_notion or pages:
        with report_errors(skipped, name):
            yield _Page(name, files, titles).record()


def notion_ids(path: str) -> list[str]:
    """Returns Notion's id in the path of a page as a list of one, or []."""
    return _ID.findall(PurePosixPath(path).name)[-1:]


def _read_title(name: str, file: ExportedFile) -> str:
    with suppress(Exception), file.open() as stream:  # `read` reports the damage
        match = _TITLE.search(stream.read(_HEAD))
        if match:
            return unescape((match[1] or match[2]).decode("utf-8", "replace"))
    return PurePosixPath(name).stem


class _Page:
    """A page that is being read."""

    def __init__(self, name: str, files: Export, titles: dict[str, str]) -> None:
        self.name = name
        self.file = files[name]
        self.title = titles[name]
        self.key = [name, *notion_ids(name)][-1]

        def title_of(path: str) -> str:
            places = [place for place in (path, *notion_ids(path)) if place in titles]
            return titles[places[0]] if places else ""

        self.links = PageLinks(name, files, self.key, title_of)

    def record(self) -> Record:
        data = self.links.set_inline_aside(self.file.read())
        if len(data) > TEXT_BYTES:
            raise ValueError(f"it has more than {TEXT_BYTES:,} bytes of text")
        text = data.decode("utf-8-sig")
        if self.name.endswith(".html"):
            text = html_to_markdown(text)
        title, body = split_off_heading(self.links.rewrite(text).strip())
        title = title or self.title
        tags = _TAGS.search(body[:_HEAD])
        at = self._moment(title, body[:_HEAD])
        return Record(
            key=self.key,
            title=title,
            text=strip_blank_lines(body) or title,
            at=at,
            dated=at is not self.file.at,
            tags=tuple(tag.strip() for tag in tags[1].split(",")) if tags else (),
            pictures=self.links.pictures_in(body),
        )

    def _moment(self, title: str, head: str) -> datetime:
        """The time of the properties, else the day of the title, else the time of the file."""
        for pattern in (_CREATED, _DATED):
            line = pattern.search(head)
            moment = moment_in_value(line[1]) if line else None
            if moment:
                return moment
        named = date_in_name(title)
        return datetime.combine(named.day, time()) if named else self.file.at


def html_to_markdown(html: str) -> str:
    """Converts an HTML page to Markdown with title, properties and text, as Notion's Markdown
    export has them.
    """
    soup = parse_html(html)
    title = "".join(f"# {title.get_text()}" for title in soup.select("h1.page-title"))
    properties = []
    for row in soup.select("table.properties tr"):
        cells = [cell.get_text(", ", strip=True) for cell in row.select("th, td")]
        properties.append(": ".join(cells))
    for box in soup.select("div.checkbox"):
        box.name = "span"
        box.string = "[x]" if "checkbox-on" in box["class"] else "[ ]"
    for hidden in soup.select("table.properties, h1.page-title"):
        hidden.name = "span"
        hidden.string = ""
    return "\n\n".join(filter(None, (title, "\n".join(properties), soup_to_markdown(soup))))


def parse_html(html: str) -> BeautifulSoup:
    """The elements of an HTML page. Raises ValueError for too many."""
    from bs4 import BeautifulSoup

    end = html.rfind(">") + 1
    html = html[:end] + html[end:].replace("<", "&lt;")
    html = _BLANKS.sub(r"\1", _BLANK.sub(" ", _UNSEEN.sub("", html)))
    if html.count("<") > TAGS:
        raise ValueError(f"it has more than {TAGS:,} tags")
    return BeautifulSoup(html, "html.parser")


def soup_to_markdown(soup: BeautifulSoup) -> str:
    """The elements as Markdown, without what no reader sees."""
    from markdownify import MarkdownConverter

    # tags are renamed, not removed: a removal takes time by the number of siblings
    for around in soup.select("a:has(> img)"):
        around.name = "span"
    for hidden in soup.select("head, title, script, style, svg"):
        hidden.name = "span"
        hidden.string = ""
    converter = MarkdownConverter(
        heading_style="ATX", bullets="-", keep_inline_images_in=_AROUND_PICTURES
    )
    return str(converter.convert_soup(soup)).strip()
