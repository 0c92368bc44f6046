"""Notes as HTML that a browser may show: Markdown is rendered, and what it may not hold is
taken out. Pure.

A note runs nothing and loads nothing from elsewhere: its HTML holds TAGS, ATTRIBUTES, CLASSES
and addresses outwards, or of `/to`, `/tag` and `/picture`. Its ids begin with `md-`, as none of
the page does. Its headings stand below those of the page. Formulas and what it embeds are
cleaned apart and put in last.
"""

from __future__ import annotations

import re
import secrets
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import tostring

import nh3
from latex2mathml.converter import Converter
from markdown_it.token import Token
from markupsafe import Markup, escape

from ..render.fence import clean, one_line
from ..render.present import IsHit, headed
from .flavours import BLOCK, CALLOUTS, MARKDOWN, anchor, named_block, part_of

TAGS = set(
    "a abbr b blockquote br code dd del details div dl dt em h3 h4 h5 h6 hr i img ins kbd "
    "li mark ol p pre q s "
    "samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var".split()
)
MATH_TAGS = set(
    "math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mroot mrow mspace msqrt "
    "mstyle msub msubsup msup mtable mtd mtext mtr munder munderover".split()
)
ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt", "width"},
    "ol": {"start"},
    "details": {"open"},
    "*": {"title", "id", "class"},
}
MATH_ATTRIBUTES = {"math": {"display"}, "mo": {"stretchy", "form"}, "mtd": {"columnalign"}}
CLASSES = {f"md-{name}" for name in CALLOUTS.values()} | {
    f"md-{name}" for name in "callout center embed key left right tag task title".split()
}
OUTSIDE = ("http", "https", "mailto")
HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6"}
RICH_CHARS, RICH_SIGNS = 100_000, 10_000
"""A longer note is shown as plain text, and one with more of `<`, of `[` or of `)`."""
LIMIT_S = 1.0
"""Seconds of processor time after which a note is shown as plain text: 20 KB of `![` would take
20.
"""
MATH_CHARS = 1_000
"""A longer formula is shown as it is written."""
EMBEDS = 20
"""Pages and blocks that a note may show; further ones are links."""
TASKS = {
    "[ ]": ("☐", "open"),
    "[x]": ("☑", "done"),
    "[X]": ("☑", "done"),
    "[/]": ("◐", "in progress"),
    "[-]": ("☒", "cancelled"),
    "[>]": ("▷", "moved on"),
    "TODO": ("☐", "open"),
    "LATER": ("☐", "open"),
    "WAITING": ("☐", "open"),
    "DOING": ("◐", "in progress"),
    "NOW": ("◐", "in progress"),
    "IN-PROGRESS": ("◐", "in progress"),
    "DONE": ("☑", "done"),
    "CANCELED": ("☒", "cancelled"),
    "CANCELLED": ("☒", "cancelled"),
}
Quoted = Mapping[str, tuple[str, str]]
Quote = Callable[[Sequence[str], str], Quoted]
"""(file, text) of the entries with these names, as a note in this file means them."""
_DEEP = re.compile(
    r"^(?:[ \t]{90}|(?:[ \t]*(?:>|[*+-][ \t]|\d{1,9}[.)][ \t])){30})", re.MULTILINE
)
_WORD = re.compile(r"(\w+)")
_SCHEME = re.compile(r"[\x00-\x20]*([a-zA-Z][a-zA-Z0-9+.-]*):")
_TAG_PAGE = re.compile(r"/tag/(?:[\w/-]|%(?!2[ef])[0-9a-f]{2})+", re.IGNORECASE)
"""Without dots, which would lead elsewhere: `/tag/%2e%2e/new`."""
_TASK = re.compile(r"(\[[^\]\n]\]|[A-Z-]{3,11}) ")
_SIZE = re.compile(r"(?:(.*)\|)?(\d{1,4})(?:x\d{1,4})?", re.DOTALL)
_LOGSEQ_SIZE = re.compile(r"\{:(?:height \d+, )?:width (\d{1,4})[^}\n]{0,40}\}")
_UNSAFE_MATH = re.compile(r"\\(?:(?:re)?new|provide)command|\\def")
_ROW_RULE = re.compile(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*")


def render(
    text: str,
    path: str,
    quoted: Quote = lambda names, path: {},
) -> Markup:
    """The Markdown of an entry of this file as HTML. Links to notes and pictures lead through
    the server, and what it embeds stands in it.
    """
    text = clean(text)
    if _is_rich(text):
        try:
            return _Page(path, quoted, time.thread_time() + LIMIT_S).html(text)
        except (TimeoutError, RecursionError):
            pass
    return Markup("<pre>{}</pre>").format(text)


def _is_rich(text: str) -> bool:
    is_short = len(text) <= RICH_CHARS and max(map(text.count, "<[)")) <= RICH_SIGNS
    return is_short and not _DEEP.search(text)


class _Page:
    """A note on its way to HTML. What is put in last stands in `kept`; its place is marked by
    `key`, which no text can know.
    """

    def __init__(
        self,
        path: str,
        quoted: Quote,
        until: float,
    ) -> None:
        self.path = path
        self.until = until
        self._ask = quoted
        self._quoted: Quoted = {}
        self._kept: list[str] = []
        self._key = secrets.token_hex(16)

    def html(
        self,
        text: str,
        part: str = "",
    ) -> Markup:
        """The text, or a part of it; empty where it has no such part."""
        # one page shows many notes, each with a footnote 1
        env: dict[str, Any] = {
            "until": self.until,
            "docId": f"{zlib.crc32(f'{self.path} {text}'.encode()):x}",
        }
        tokens: Sequence[Token] = MARKDOWN.parse(text, env)
        if part:
            tokens = part_of(tokens, part)
        names = [
            child.content
            for token in tokens
            for child in token.children or ()
            if child.type in ("embed", "quote")
        ]
        if names:
            self._quoted = self._ask(list(dict.fromkeys(names))[:EMBEDS], self.path)
        for number, token in enumerate(tokens):
            token.tag = HEADINGS.get(token.tag, token.tag)
            side = str(token.attrs.pop("style", ""))
            if side:
                token.attrs["class"] = side.replace("text-align:", "md-")
            if token.type == "math_block":
                self._put(token, "<p>{}</p>", _math(token.content, "block"))
            elif token.children and tokens[number - 2].type == "list_item_open":
                _show_task(token.children[0])
            self._lead_here(token.children or ())
        return self._cleaned(MARKDOWN.renderer.render(tokens, MARKDOWN.options, env))

    def _cleaned(self, html: str) -> Markup:
        cleaned = nh3.clean(
            html,
            tags=TAGS,
            attributes=ATTRIBUTES,
            url_schemes=set(OUTSIDE),
            link_rel="noopener noreferrer nofollow",
            attribute_filter=_attribute,
        )
        shown = clean(cleaned).replace(
            "<p></p>", ""
        )  # an entity may have said something invisible
        return Markup(
            re.sub(rf"{self._key}:(\d+);", lambda found: self._kept[int(found[1])], shown)
        )

    def _put(
        self,
        token: Token,
        frame: str,
        html: Markup,
    ) -> None:
        """Shows this HTML, which is clean, in place of the token."""
        token.type = "html_inline"
        token.content = frame.format(f"{self._key}:{len(self._kept)};")
        self._kept.append(html)

    def _lead_here(self, children: Sequence[Token]) -> None:
        """Leads links and pictures through the server, and puts in formulas and quotations."""
        before = ""
        for number, token in enumerate(children):
            if token.type == "link_open":
                token.attrs["href"] = self._target(str(token.attrs.get("href", "")))
            elif token.type == "image":
                behind = children[number + 1] if number + 1 < len(children) else None
                self._show_picture(token, behind, is_linked=before == "link_open")
            elif token.type.startswith("math"):
                display = "block" if token.markup == "$$" else "inline"
                self._put(token, "{}", _math(token.content, display))
            elif token.type in ("embed", "quote"):
                self._embed(token)
            before = token.type

    def _target(self, href: str) -> str:
        block = BLOCK.fullmatch(href)
        if block:
            href = named_block(block[1])
        if href.startswith("#"):
            return f"#{anchor(href)}"
        if _scheme(href) in OUTSIDE or _TAG_PAGE.fullmatch(href):
            return href
        return self._address("/to", href)

    def _show_picture(
        self,
        token: Token,
        behind: Token | None,
        *,
        is_linked: bool,
    ) -> None:
        src = str(token.attrs.get("src", ""))
        size = _SIZE.fullmatch(token.content)
        words = escape((size[1] if size else token.content.partition("|")[0]) or "picture")
        width = size[2] if size else ""
        given = _LOGSEQ_SIZE.match(behind.content) if behind and behind.type == "text" else None
        if behind and given:
            width = given[1]
            behind.content = behind.content[given.end() :]
        if not _scheme(src):
            place = escape(self._address("/picture", src))
            width = width and f' width="{width}"'
            token.content = f'<img src="{place}" alt="{words}"{width}>'
        elif is_linked:  # nothing is fetched from elsewhere
            token.content = words
        else:
            token.content = f'<a href="{escape(src)}">{words}</a>'
        token.type = "html_inline"

    def _embed(self, token: Token) -> None:
        """Shows the text of what a token names: a page or block whole, or a reference to a
        block as a link of its words. What is not there is a link by its name.
        """
        name = token.content
        words, _, part = name.partition("#")
        path, text = self._quoted.get(name, ("", ""))
        shown = Markup("")
        if text and _is_rich(clean(text)):
            inner = _Page(path, lambda names, path: {}, self.until)
            shown = inner.html(clean(text), part)
        link = Markup('<a href="{}">{}</a>')
        place = self._address("/to", name)
        if token.type == "quote" and shown:
            first = re.split("<[uo]l>|</p>", shown.partition(">")[2])[0]
            self._put(token, "{}", link.format(place, Markup(first).striptags()))
        elif shown:
            title = Markup('<p class="md-title">{}</p>').format(link.format(place, words))
            self._put(token, '<div class="md-embed">{}</div>', title + shown)
        else:
            self._put(token, "{}", link.format(place, name.replace("#", " > ")))

    def _address(
        self,
        place: str,
        name: str,
    ) -> str:
        return f"{place}?name={quote(name, safe='')}&from={quote(self.path, safe='')}"


def _show_task(first: Token) -> None:
    """Shows the state of a task as a sign."""
    found = _TASK.match(first.content) if first.type == "text" else None
    if not found:
        return
    state = found[1]
    unknown = ("☑", f"done: {state[1]}") if state.startswith("[") else None
    known = TASKS.get(state, unknown)
    if known:
        sign, name = known
        rest = first.content[found.end() :]
        shown = Markup('<span class="md-task" title="{}">{}</span> {}')
        first.type = "html_inline"
        first.content = shown.format(name, sign, rest)


def _math(
    latex: str,
    display: str,
) -> Markup:
    """A formula as MathML; as code where it cannot be read."""
    try:
        if len(latex) > MATH_CHARS or _UNSAFE_MATH.search(latex):
            raise ValueError
        tree = Converter(display=display).convert_to_element(latex.strip())
        if any(len(one) < 2 for one in (*tree.iter("mfrac"), *tree.iter("msup"))):
            raise ValueError
        mathml = tostring(tree, encoding="unicode").replace("&amp;#x", "&#x")
    except Exception:  # the library's have no base of their own, and it runs out of tokens too
        return Markup("<code>{}</code>").format(latex)
    return Markup(nh3.clean(mathml, tags=MATH_TAGS, attributes=MATH_ATTRIBUTES))


def plain(text: str) -> str:
    """The words of a piece of Markdown, within a line."""
    return render(text, "").striptags()


def plain_lines(text: str) -> str:
    """The words of a piece of Markdown, line for line; cells of a table with dots between."""
    shown = []
    for line in text.split("\n"):
        line = line.strip()
        if line.startswith("```") or _ROW_RULE.fullmatch(line):
            continue
        if line.startswith("|"):
            line = line.strip("|").replace("|", " · ")
        words = plain(line)
        if words:
            shown.append(f"• {words}" if line[:2] in ("- ", "* ", "+ ") else words)
    return "\n".join(shown)


def plain_heading(
    title: str,
    text: str,
) -> tuple[str, str]:
    """The heading of an entry as plain text, and the Markdown below, without a repetition."""
    heading, below = headed(title, text)
    return one_line(heading) if heading == title else plain(heading), below


def lit(
    text: str,
    is_hit: IsHit,
) -> Markup:
    """Plain text as HTML with the words marked that were sought."""
    parts = []
    for piece in _WORD.split(text):
        shown = escape(piece)
        if is_hit(piece.lower()):
            shown = Markup("<mark>{}</mark>").format(shown)
        parts.append(shown)
    return Markup("").join(parts)


def _attribute(
    tag: str,
    name: str,
    value: str,
) -> str | None:
    """The value of an attribute that may stay: a link outwards or to a page of ours, a picture
    of the journal, a class of CLASSES, and an id behind `md-`.
    """
    if name == "src":
        return value if value.startswith("/picture?") else None
    if name == "width":
        return value if value.isdecimal() else None
    if name == "id" or (name == "href" and value.startswith("#")):
        mark = "#" if name == "href" else ""
        return f"{mark}md-{value.removeprefix(mark).removeprefix('md-')}"
    if name == "href":
        is_ours = value.startswith("/to?") or _TAG_PAGE.fullmatch(value)
        return value if is_ours or _scheme(value) in OUTSIDE else None
    if name == "class":
        return " ".join(CLASSES.intersection(value.split())) or None
    return value


def _scheme(address: str) -> str:
    """`http` of `HTTP://x`; empty without one."""
    match = _SCHEME.match(address)
    return match[1].lower() if match else ""
