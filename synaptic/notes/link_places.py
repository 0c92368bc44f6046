"""Finds each link of a note with its place, says to which file it leads, and writes its target
anew. Pure.

| written                            | form     | the target                         |
|------------------------------------|----------|------------------------------------|
| `[[Zelazny#Amber\\|him]]`, `![[…]]` | wiki     | `Zelazny`                          |
| `[him](../people/Roger%20Z.md#x)`  | markdown | `../people/Roger%20Z.md`           |
| `[him]: <Roger Z.md>`              | markdown | `Roger Z.md`                       |
| `#Zelazny` in a graph of Logseq    | tag      | `Zelazny`                          |
| `tags:: Zelazny, sf` there         | item     | `Zelazny`                          |

A target leads to a file by the rule of Obsidian (`rank_path`): a name in the same upper and
lower case first, then the path from the root, then the paths that end with it, those below the
folder of the link first and the shortest first. A Markdown link is tried from its own folder
before. In a graph of Logseq `[[…]]` names a page first. Dendron writes `[[him|zelazny]]`: the
target stands behind the label.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Literal, NamedTuple
from urllib.parse import quote, unquote

from .blocks import (
    LIST_ITEM,
    LONE_CR,
    MASK,
    TAG,
    blank_out,
    decode_as_latin1,
    eol_at,
    scan_structure,
    without_code_and_comments,
)
from .frontmatter import match_front_matter
from .link_names import name_key, rank_path
from .marks import PAGE_PROPERTIES, find_name_behind_label
from .privacy import mask_private

Form = Literal["wiki", "markdown", "tag", "item", "title"]

_WIKI = re.compile(
    r"\[\[(?P<target>[^\[\]|\n]*)(?:\|(?P<words>(?:[^\[\]\n]|\[[^\[\]\n]*\])*))?\]\]"
)
_MARKDOWN = re.compile(
    r"\]\([ \t]*(?:<(?P<angled>[^<>\n]*)>"
    # atomic groups: possessive quantifiers of a group fail before Python 3.11.5 (gh-106052)
    r"|(?P<bare>(?>(?:[^\s()<>\"]|\([^()\n]*\))+)"
    r"(?>(?:[ \t]+(?![\"'])(?:[^\s()<>\"]|\([^()\n]*\))+)*)))"
    r"(?>(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?)[ \t]*+\)"
)
_DEFINITION = re.compile(
    r"(?m)^ {0,3}\[(?!\^)[^\[\]\n]+\]:[ \t]*(?:<(?P<angled>[^<>\n]*)>|(?P<bare>[^\s<>]+))"
)
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_TAG_ITEMS = re.compile(r"(?im)^[ \t>]*(?:[-*+][ \t]+)?tags?::[ \t]+(?P<items>[^\n]*)")
_TITLE = re.compile(r"(?im)^[ \t]*(?:-[ \t]+)?title::[ \t]+(?P<title>(?>\S+(?:[ \t]+\S+)*))")
_FRONT_TITLE = re.compile(
    r"(?im)^title:[ \t]+(?:(?P<quote>[\"'])(?P<quoted>[^\"'\n]+)(?P=quote)"
    r"|(?P<title>[^\s\"'|>\[{&*!%@`](?>\S*(?:[ \t]+\S+)*)))[ \t]*+\r?$"
)
_LABEL_CHARS = 500
"""The longest label of a Markdown link before which a `!` is looked for."""
_NOTE_END = ".md"
_TRIPLE_BAR = "___"


class NoteText(NamedTuple):
    """The text of a file: `raw` with blanks for private bytes, `plain` also without code and
    comments. Both have one character for each character of the file outside private passages,
    and equal offsets. `body` is the offset behind the front matter.
    """

    raw: str
    plain: str
    body: int


class LinkPlace(NamedTuple):
    """A link: the span of its target in a `NoteText`, and the target as it is written. A
    Markdown link may be `angled`: in angle brackets. `behind` is the name behind the bar of a
    wikilink, where it may be the target.
    """

    form: Form
    start: int
    end: int
    target: str
    angled: bool = False
    behind: LinkPlace | None = None


class WrittenLink(NamedTuple):
    """A wikilink or Markdown link as it is written, without a scheme: the span of all that
    changes if it becomes another Markdown link; its target with what stands behind a `#`; the
    words behind the bar of a wikilink; and True if it shows the target where it stands.

    The span of a Markdown link is that of its target, with the angle brackets around it.
    """

    form: Form
    start: int
    end: int
    target: str
    words: str
    embeds: bool


class Splice(NamedTuple):
    """A piece of a file that is to be replaced: byte offset, the former and the new text."""

    at: int
    former: str
    new: str


def read_note_text(data: bytes) -> NoteText:
    """The text of a file for `find_written_links`, and the places in it."""
    masked = mask_private(data) if b"rivate" in data.lower() else data
    if MASK in masked:
        masked = masked.replace(MASK, b" ")
    raw = LONE_CR.sub("\n", masked.decode("utf-8", "surrogateescape"))
    begin = 1 if raw.startswith("\ufeff") else 0
    front = match_front_matter(raw, begin)
    body = front.end() if front else begin
    plain = raw
    if "[" in raw or "#" in raw or "::" in raw:
        plain = without_code_and_comments(raw, body)
    return NoteText(raw, plain, body)


def byte_offsets(text: str, offsets: Iterable[int]) -> dict[int, int]:
    """The byte offset of each of these character offsets."""
    places = {}
    at = size = 0
    for offset in sorted(set(offsets)):
        size += len(text[at:offset].encode("utf-8", "surrogateescape"))
        at = offset
        places[offset] = size
    return places


def replace_pieces(data: bytes, pieces: Sequence[Splice]) -> bytes:
    """The bytes with each piece replaced; the pieces are in order of their offsets in `data`.
    Raises ValueError if the bytes have another text there.
    """
    parts = []
    at = 0
    for piece in pieces:
        replaced = piece.former.encode("utf-8", "surrogateescape")
        end = piece.at + len(replaced)
        if data[piece.at : end] != replaced or piece.at < at:
            raise ValueError(f"the text at {piece.at} is not {piece.former!r}")
        parts += [data[at : piece.at], piece.new.encode("utf-8", "surrogateescape")]
        at = end
    return b"".join([*parts, data[at:]])


def reverse_pieces(pieces: Sequence[Splice]) -> tuple[Splice, ...]:
    """The pieces that take `replace_pieces` back."""
    back = []
    shift = 0
    for at, replaced, written in pieces:
        back.append(Splice(at + shift, written, replaced))
        sizes = [len(text.encode("utf-8", "surrogateescape")) for text in (replaced, written)]
        shift += sizes[1] - sizes[0]
    return tuple(back)


def find_link_places(text: str, *, in_graph: bool = False) -> list[LinkPlace]:
    """The links in a text, in order. `in_graph`: also the tags and the items of `tags::` that
    name pages of Logseq.
    """
    links: list[LinkPlace] = []
    spans: list[tuple[int, int]] = []
    for form, match, group in _match_links(text):
        if form == "markdown":
            links += _parse_link(form, match, group)
            continue
        spans.append(match.span())
        links += (_with_name_behind(link, match) for link in _parse_link(form, match, group))
    if in_graph:
        links += _find_page_tags(blank_out(text, spans))
    return sorted(links, key=attrgetter("start"))


def find_written_links(text: str) -> list[WrittenLink]:
    """The wikilinks and Markdown links in a text, in order."""
    links = []
    for form, match, group in _match_links(text):
        start, end = match.span(group)
        words = ""
        label = match.start()
        if form == "wiki":
            start, end = match.span()
            words = match["words"] or ""
        else:
            label = _start_of_label(text, label)
            if group == "angled":
                start, end = start - 1, end + 1
        embeds = text.endswith("!", 0, label)
        if form == "wiki" and embeds:
            start -= 1
        target = match[group].rstrip("\\ \t" if form == "wiki" else " \t").lstrip(" \t")
        links.append(WrittenLink(form, start, end, target, words, embeds))
    return sorted(links, key=attrgetter("start"))


def _start_of_label(text: str, end: int) -> int:
    """The offset of the `[` of a Markdown link whose label ends at the `]` at `end`; 0 if there
    is none within _LABEL_CHARS.
    """
    depth = 0
    for at in range(end, max(-1, end - _LABEL_CHARS), -1):
        depth += {"]": 1, "[": -1}.get(text[at], 0)
        if not depth:
            return at
    return 0


def _match_links(text: str) -> Iterator[tuple[Form, re.Match[str], str]]:
    """Yields each wikilink, and each Markdown link without a scheme, as (form, match, the name
    of the group with its target).
    """
    for match in _WIKI.finditer(text) if "[[" in text else ():
        yield "wiki", match, "target"
    if "](" in text or "]:" in text:
        for pattern in (_MARKDOWN, _DEFINITION):
            for match in pattern.finditer(text):
                group = "bare" if match["angled"] is None else "angled"
                if not _SCHEME.match(match[group]):
                    yield "markdown", match, group


def _parse_link(form: Form, match: re.Match[str], group: str) -> Iterator[LinkPlace]:
    """Yields the link of a match, whose target and heading are a group of it; none for a link
    within its own note.
    """
    written = match[group].partition("#")[0]
    if form == "wiki":
        written = written.rstrip("\\ \t")
    target = written.strip(" \t")
    start = match.start(group) + len(written) - len(written.lstrip(" \t"))
    if target:
        yield LinkPlace(form, start, start + len(target), target, group == "angled")


def _with_name_behind(link: LinkPlace, match: re.Match[str]) -> LinkPlace:
    """The link with the name behind its label, as Dendron writes it."""
    span = find_name_behind_label(match["words"] or "")
    if not span:
        return link
    start, end = (match.start("words") + offset for offset in span)
    return link._replace(behind=LinkPlace("wiki", start, end, match.string[start:end]))


def _find_page_tags(text: str) -> Iterator[LinkPlace]:
    for line in _TAG_ITEMS.finditer(text):
        for item in LIST_ITEM.finditer(text, *line.span("items")):
            word = (item[2] or "").strip(" \t\r")
            if word and "#" not in word:
                start = text.index(word, item.start())
                yield LinkPlace("item", start, start + len(word), word)
    for match in TAG.finditer(text):
        yield LinkPlace("tag", *match.span(1), match[1])


def find_titles(text: NoteText) -> list[LinkPlace]:
    """The titles that name a page of Logseq: in its front matter and its first properties."""
    front = _FRONT_TITLE.search(text.raw, 0, text.body)
    properties = PAGE_PROPERTIES.match(text.raw, text.body)
    named = _TITLE.search(text.raw, text.body, properties.end()) if properties else None
    places = []
    if front:
        group = "quoted" if front["quote"] else "title"
        places.append(LinkPlace("title", *front.span(group), front[group]))
    if named:
        places.append(LinkPlace("title", *named.span("title"), named["title"]))
    return places


def splices_of_ids(data: bytes, text: NoteText, ids: Mapping[str, str]) -> list[Splice]:
    """The changes by which comments and links follow entries that get another id."""
    splices = []
    latin = decode_as_latin1(mask_private(data))
    front = match_front_matter(latin, 3 if data.startswith(b"\xef\xbb\xbf") else 0)
    marks = scan_structure(latin, front.end() if front else 0).marks
    for mark in marks:
        if mark.comment_at < 0:
            continue
        comment = latin[mark.comment_at : eol_at(latin, mark.comment_at)]
        for word in re.finditer(r"(?<=[ \t])(?:parent|supersedes)=([^\s>]+)", comment):
            for id in re.finditer(r"[0-9]{8}-[0-9a-z]{8}", word[1]):
                if id[0] in ids:
                    at = mark.comment_at + word.start(1) + id.start()
                    splices.append(Splice(at, id[0], ids[id[0]]))
    names = dict(ids) | {old_id[9:]: new_id[9:] for old_id, new_id in ids.items()}
    links = [link for link in find_link_places(text.plain) if link.target in names]
    offsets = byte_offsets(text.raw, [link.start for link in links])
    splices += [Splice(offsets[link.start], link.target, names[link.target]) for link in links]
    return splices


# -- where a link leads


def page_key(page: str) -> str:
    """The form in which Logseq compares names of pages."""
    return name_key(page).strip("/ ")


def page_of_path(path: str) -> str:
    """The name that Logseq reads from the name of a page's file."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return unquote(stem.replace(_TRIPLE_BAR, "/"))


class LinkTargets:
    """The files of a folder, to which links may lead. `pages` maps the files of a graph of
    Logseq to the names of their pages.
    """

    def __init__(self, files: Iterable[str], pages: Mapping[str, str] | None = None) -> None:
        self._paths: dict[str, list[str]] = {}
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(files):
            key = name_key(path)
            self._paths.setdefault(key, []).append(path)
            self._by_name.setdefault(posixpath.basename(key), []).append(path)
        self.pages = pages or {}
        self._by_page: dict[str, list[str]] = {}
        for path, page in self.pages.items():
            self._by_page.setdefault(page_key(page), []).append(path)

    def resolve(self, form: Form, target: str, source: str) -> str | None:
        """The file to which a link in the file `source` leads; None for a broken one."""
        if form != "markdown":
            pages = self._by_page.get(page_key(target), [])
            if pages or form != "wiki":
                exact = [path for path in pages if self.pages[path] == target]
                return next(iter(exact or pages), None)
            return self._by_rule(target, source)
        return self.find_beside(target, source) or self._by_rule(unquote(target), source)

    def find_beside(self, target: str, source: str) -> str | None:
        """The file to which a Markdown link leads from its own folder."""
        plain = unquote(target)
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(source), plain))
        return None if plain.startswith("/") else self._whole(beside)

    def _whole(self, path: str) -> str | None:
        """The file of this path, with or without its ending."""
        for written in (path, path + _NOTE_END):
            fitting = self._paths.get(name_key(written))
            if fitting:
                return min(fitting, key=lambda path: rank_path(path, written, ""))
        return None

    def _by_rule(self, target: str, source: str) -> str | None:
        """The file to which a link leads by Obsidian's rule alone."""
        folder = posixpath.dirname(source)
        if target.startswith(("./", "../")):
            return self._whole(posixpath.normpath(posixpath.join(folder, target)))
        name = target.lstrip("/")
        for written in (name, name + _NOTE_END):
            end = f"/{name_key(written)}"
            same_name = self._by_name.get(posixpath.basename(end), ())
            fitting = [path for path in same_name if f"/{name_key(path)}".endswith(end)]
            if fitting:
                return min(fitting, key=lambda path: rank_path(path, written, folder))
        return None

    def write_target(self, link: LinkPlace, path: str, source: str, written: _Written) -> str:
        """The target that leads from the file `source` to `path`, in the form of the link
        `link`, which was `written` so.
        """
        if link.form == "title" or (link.form != "markdown" and written.names_page):
            return _page_in_form(link.form, self.pages.get(path) or page_of_path(path))
        ways = list(_ways_to(path, source, written))
        encoded = [_in_form(link, way) for way in ways]
        for target in encoded:
            plain = unquote(target) if link.form == "markdown" else target
            ends = {self.resolve(link.form, target, source), self._by_rule(plain, source)}
            if ends == {path}:
                return target
        for target in encoded:
            if self.resolve(link.form, target, source) == path:
                return target
        return encoded[-1]


class _Written(NamedTuple):
    """How a target was written: the name of a page; a path from the folder of the link or from
    the root, or the last steps of one; with so many steps; with the ending of the file.
    """

    names_page: bool
    beside: bool
    from_root: bool
    dotted: str
    steps: int
    with_end: bool


def how_written(link: LinkPlace, path: str, source: str, before: LinkTargets) -> _Written:
    """How `link`, in the file `source`, names the file `path`."""
    plain = unquote(link.target) if link.form == "markdown" else link.target
    key = name_key(plain)
    end = posixpath.splitext(path)[1].lower()
    with_end = bool(end) and key.endswith(end)
    names_page = link.form != "markdown" and path in before.pages and not with_end
    names_page = names_page and page_key(before.pages[path]) == page_key(plain)
    beside = posixpath.normpath(posixpath.join(name_key(posixpath.dirname(source)), key))
    whole = name_key(path)
    is_beside = beside in (whole, posixpath.splitext(whole)[0])
    is_root = key in (whole, posixpath.splitext(whole)[0])
    dotted = re.match(r"(?:\./|\.\./|/)?", plain)
    assert dotted
    steps = len([step for step in plain.split("/") if step not in ("", ".", "..")])
    relative = is_beside and (link.form == "markdown" or not is_root)
    from_root = is_root and steps > 1
    return _Written(names_page, relative, from_root, dotted[0], steps, with_end)


def _ways_to(path: str, source: str, written: _Written) -> Iterator[str]:
    """Yields the targets that may lead from `source` to `path`, the one written like the old
    one first.
    """
    end = posixpath.splitext(path)[1]
    bare = path if written.with_end or end.lower() != _NOTE_END else path[: -len(end)]
    parts = bare.split("/")
    relative = posixpath.relpath(bare, posixpath.dirname(source) or ".")
    if written.dotted == "/":
        yield f"/{bare}"
    elif written.dotted or written.beside:
        dot = "./" if written.dotted == "./" and not relative.startswith("../") else ""
        yield dot + relative
        if not relative.startswith("../"):
            yield f"./{relative}"
    elif written.steps < len(parts) and not written.from_root:
        yield "/".join(parts[-written.steps :])
    yield bare
    yield relative if relative.startswith("../") else f"./{relative}"
    yield f"/{bare}"


def _in_form(link: LinkPlace, way: str) -> str:
    """The path as a target of this form; in a Markdown link percent-encoded like the old."""
    if link.form != "markdown":
        return way
    written = link.target
    if link.angled or (" " in written and "%" not in written):
        return way.replace("%", "%25")
    if re.search("(?i)%[89a-f]", written):  # letters that are not ASCII were encoded
        return quote(way, safe="/!$&'*+,;=:@~.-_")
    return re.sub(r"[ %()<>#?\"^|\\]", lambda sign: f"%{ord(sign[0]):02X}", way)


def _page_in_form(form: Form, page: str) -> str:
    """The name of a page as the target of a link of this form."""
    if form == "tag" and TAG.fullmatch(f"#{page}") is None:
        return f"[[{page}]]"
    if form == "item" and "," in page:
        return f"[[{page}]]"
    return page
