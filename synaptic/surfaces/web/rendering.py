"""Notes as HTML that a browser may show: Markdown is rendered, and what it may not hold is
taken out. Pure.

A note runs nothing, loads nothing from elsewhere, and names nothing (id, class, style): its
HTML holds TAGS, ATTRIBUTES and addresses outwards, or of `/to` and `/picture`. Its headings
stand below those of the page.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from urllib.parse import quote

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup, escape

from ..render.fence import clean, one_line
from ..render.present import IsHit, headed

TAGS = set(
    "a abbr b blockquote br code dd del details div dl dt em h3 h4 h5 h6 hr i img ins kbd "
    "li mark ol p pre q s "
    "samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var".split()
)
ATTRIBUTES = {"a": {"href"}, "img": {"src", "alt"}, "ol": {"start"}, "*": {"title"}}
OUTSIDE = ("http", "https", "mailto")
HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6"}
RICH_CHARS, RICH_SIGNS = 100_000, 10_000
"""A longer note is shown as plain text, and one with more of `<` or of `[`."""
LIMIT_S = 1.0
"""Seconds of processor time after which a note is shown as plain text: 20 KB of `![` would take
20.
"""
LEVELS = 100
"""Of lists (two each) and quotes within each other: markdown-it drops the text below, and _DEEP
finds it before.
"""
_DEEP = re.compile(
    r"^(?:[ \t]{90}|(?:[ \t]*(?:>|[*+-][ \t]|\d{1,9}[.)][ \t])){30})", re.MULTILINE
)
_WORD = re.compile(r"(\w+)")
_SCHEME = re.compile(r"[\x00-\x20]*([a-zA-Z][a-zA-Z0-9+.-]*):")
_WIKI = re.compile(r"(!?)\[\[(?!\s*(?:\||]]))([^|\n]{1,400}?)(?:\|(.{0,400}?))?]]", re.DOTALL)
_PICTURE = re.compile(r"\.(png|jpe?g|gif|webp|avif)$", re.IGNORECASE)
_TASK = re.compile(r"\A\[([ xX])\] ")


def render(
    text: str,
    path: str,
) -> Markup:
    """The Markdown of an entry of this file as HTML. Links to notes and pictures lead through
    the server.
    """
    text = clean(text)
    as_it_is = Markup("<pre>{}</pre>")
    if len(text) > RICH_CHARS or max(map(text.count, "<[")) > RICH_SIGNS or _DEEP.search(text):
        return as_it_is.format(text)
    env = {"path": path, "until": time.thread_time() + LIMIT_S}
    try:
        tokens = _MARKDOWN.parse(text, env)
    except TimeoutError:
        return as_it_is.format(text)
    for token in tokens:
        token.tag = HEADINGS.get(token.tag, token.tag)
        _lead_here(token.children or (), path)
    cleaned = nh3.clean(
        _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, env),
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=set(OUTSIDE),
        link_rel="noopener noreferrer nofollow",
        attribute_filter=_attribute,
    )
    return Markup(clean(cleaned))  # an entity may have said something invisible


def plain(text: str) -> str:
    """The words of a piece of Markdown, within a line."""
    return render(text, "").striptags()


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
    of the journal.
    """
    if name == "src":
        return value if value.startswith("/picture?") else None
    if name == "href":
        return value if _scheme(value) in OUTSIDE or value.startswith(("/to?", "#")) else None
    return value


def _scheme(address: str) -> str:
    """`http` of `HTTP://x`; empty without one."""
    match = _SCHEME.match(address)
    return match[1].lower() if match else ""


def _wiki_link(
    state: StateInline,
    silent: bool,
) -> bool:
    """`[[Page|words]]` and `![[picture.png]]`."""
    found = _WIKI.match(state.src, state.pos)
    if not found:
        return False
    state.pos = found.end()
    if silent:
        return True
    mark, name, words = found.groups()
    if mark and _PICTURE.search(name):
        token = state.push("image", "img", 0)
        token.attrs = {"src": name}
        token.content = name
        token.children = []
    else:
        state.push("link_open", "a", 1).attrs = {"href": name}
        state.push("text", "", 0).content = words or name
        state.push("link_close", "a", -1)
    return True


def _in_time(
    state: StateInline,
    silent: bool,
) -> bool:
    """Never the rule that applies. Raises TimeoutError where the note has had its time."""
    if time.thread_time() > state.env["until"]:
        raise TimeoutError
    return False


def _lead_here(
    children: Sequence[Token],
    path: str,
) -> None:
    """Leads links and pictures of a note in the file `path` through the server."""
    before = ""
    for number, token in enumerate(children):
        if token.type == "link_open":
            href = str(token.attrs.get("href", ""))
            if _scheme(href) not in OUTSIDE and not href.startswith("#"):
                token.attrs["href"] = _address("/to", href, path)
        elif token.type == "image":
            src = str(token.attrs.get("src", ""))
            words = escape(token.content or "picture")
            if not _scheme(src):
                place = escape(_address("/picture", src, path))
                token.content = f'<img src="{place}" alt="{words}">'
            elif before == "link_open":  # nothing is fetched from elsewhere
                token.content = words
            else:
                token.content = f'<a href="{escape(src)}">{words}</a>'
            token.type = "html_inline"
        elif token.type == "text" and number == 0:
            token.content = _TASK.sub(
                lambda task: "☐ " if task[1] == " " else "☑ ", token.content
            )
        before = token.type


def _address(
    place: str,
    name: str,
    path: str,
) -> str:
    return f"{place}?name={quote(name, safe='')}&from={quote(path, safe='')}"


_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": LEVELS}).enable(["table", "strikethrough"])
_MARKDOWN.inline.ruler.before("text", "in_time", _in_time)
_MARKDOWN.inline.ruler.before("image", "wiki_link", _wiki_link)
