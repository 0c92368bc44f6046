"""Makes a book of entries as one Markdown file, with its pictures in a folder beside it.

Each entry stands below a heading of its own, with its day; headings of its text are deeper.
What is picked, in which order, and what is private or empty is as in the book of HTML.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from posixpath import basename, splitext
from urllib.parse import quote

from ...journal.shelf import FileListing, ServableFiles, files_by_name, linked_files
from ...models import Entry
from ...notes.blocks import without_code
from ...notes.link_places import LinkPlace
from ...notes.picture_kinds import is_picture_name
from ...notes.privacy import escape_tags
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .attachments import open_attachments
from .book import EDGES, RENDERED, Ask, BookStyle, Piece, Plan, Progress, contents, run_steps
from .book_entries import BookEntry, make_entries, read_with_text
from .book_pictures import shrink_picture
from .day_texts import heading_and_text
from .exporting import make_unique_name

DEEPER = 2
"""The levels by which headings of a text go below that of its entry."""
_HEADING = re.compile(r"(?m)^(?P<before> {0,3})(?P<signs>#{1,6})(?=[ \t])")
_UNDERLINED = re.compile(
    r"(?m)^(?P<words> {0,3}[^\s#>|*+-][^|\n]*)\n {0,3}(?:(?P<first>=+)|-+)[ \t]*$"
)


def markdown_pieces(
    plan: Plan, style: BookStyle, ask: Ask, progress: Progress, file: Path
) -> Iterator[Piece]:
    """Yields the Markdown of a book that becomes this file, with the pictures of each piece."""
    yield f"# {style.title}\n", {}
    ids = [id for month in contents(plan, style) for _, some in month.days for id in some]
    look = partial(
        write_entries,
        tokens=plan.selection.tokens,
        edge=EDGES[style.photos],
        file=file,
        copies={},
    )
    for _, entry in run_steps(look, ids, RENDERED, ask):
        progress.done += 1
        if entry:
            progress.lost |= dict.fromkeys(entry.lost)
            yield f"\n{entry.text}", entry.files


def picture_folder_of_book(file: Path) -> str:
    """The name of the folder of the pictures of a book that is this file."""
    return f"{file.stem}-pictures"


def write_entries(
    ws: Workspace,
    *,
    ids: Sequence[str],
    tokens: Path,
    edge: int,
    file: Path,
    copies: dict[str, str],
) -> list[BookEntry | None]:
    """Returns the first of these entries as Markdown, as many as STEP_S and STEP_BYTES allow,
    at least one; None for one that is gone. `copies` maps a picture to its copy, once made.
    """
    entries = in_step(ws, lambda _: read_with_text(ws, ids))
    shelf = open_attachments(ws, tokens)
    listing = cache(files_by_name)

    def write(id: str) -> BookEntry | None:
        entry = entries.get(id)
        if not entry:
            return None
        heading, below = heading_and_text(entry)
        when = f"{entry.date} {entry.time if entry.timed else ''}" if entry.dated else ""
        title = " ".join(filter(None, (when.strip(), heading)))
        marks = [f"#{tag}" for tag in entry.tags if f"#{tag}" not in entry.content]
        if entry.due:
            marks.append(f"due:{entry.due}")
        writing = _Writing(ws, shelf, listing, edge, file, copies)
        text = _with_deeper_headings(writing.rewrite(entry, below)).strip("\n")
        parts = [f"## {title or entry.title_in_lists}", " ".join(marks), text]
        whole = "\n\n".join(filter(None, parts))
        return BookEntry(f"{whole}\n", writing.files, tuple(writing.lost))

    return make_entries(ids, write)


class _Writing:
    """The text of one entry for a file elsewhere: its links to files lead there."""

    def __init__(
        self,
        ws: Workspace,
        shelf: ServableFiles,
        listing: FileListing,
        edge: int,
        file: Path,
        copies: dict[str, str],
    ) -> None:
        self.ws = ws
        self.shelf = shelf
        self.listing = listing
        self.edge = edge
        self.file = file
        self.copies = copies
        self.files: dict[str, bytes] = {}
        self.lost: list[str] = []

    def rewrite(self, entry: Entry, below: str) -> str:
        """The text `below` the heading of an entry. A picture is copied without its metadata;
        a link to any other file leads to that.
        """
        text = ""
        at = 0
        entry = replace(entry, content=below)
        for link, place in linked_files(self.shelf, entry, self.listing):
            if link.start >= at:
                start, end, new = self._link(below, link, place)
                text += escape_tags(below[at:start]) + new
                at = end
        return text + escape_tags(below[at:])

    def _link(self, content: str, link: LinkPlace, place: str) -> tuple[int, int, str]:
        """(start, end, text in their place) of a link to a file."""
        to = self._copy_picture(place) if is_picture_name(place) else ""
        if not to:
            try:
                to = os.path.relpath(self.ws.journal.place(place), self.file.parent)
            except ValueError:  # on another drive of Windows
                to = str(self.ws.journal.place(place))
            to = Path(to).as_posix()
        end = content.find("]]", link.end) + 2
        opened = content.rfind("[[", 0, link.start)
        if link.form != "wiki" or end < 2 or opened < 0:
            return link.start, link.end, to if link.angled else quote(to)
        is_shown = content[opened - 1 : opened] == "!"
        words = splitext(basename(place))[0]
        return opened - is_shown, end, f"{'!' * is_shown}[{words}]({quote(to)})"

    def _copy_picture(self, place: str) -> str:
        """The path of the copy of a picture; "" if it cannot be read."""
        if place in self.copies:
            return self.copies[place]
        opened = self.shelf.open(place)
        picture = shrink_picture(opened and opened[1], self.edge)
        if not picture:
            self.lost.append(place)
            return ""
        taken = {basename(copy).casefold() for copy in self.copies.values()}
        name = make_unique_name(f"{splitext(basename(place))[0]}.{picture.suffix}", taken)
        self.copies[place] = path = f"{picture_folder_of_book(self.file)}/{name}"
        self.files[path] = picture.data
        return path


def _with_deeper_headings(text: str) -> str:
    """The text with its headings below that of its entry; code stays."""
    plain = without_code(text)
    spans = []
    for match in _UNDERLINED.finditer(plain):
        words = text[match.start("words") : match.end("words")].strip()
        level = (1 if match["first"] else 2) + DEEPER
        spans.append((match.start(), match.end(), f"{'#' * level} {words}"))
    for match in _HEADING.finditer(plain):
        level = min(6, len(match["signs"]) + DEEPER)
        spans.append((match.start("signs"), match.end("signs"), "#" * level))
    for start, end, new in sorted(spans, reverse=True):
        text = text[:start] + new + text[end:]
    return text
