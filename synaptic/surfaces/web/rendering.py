"""Notes as HTML that a browser may show: Markdown is rendered, and what it may not hold is
taken out. Pure.

A note runs nothing, loads nothing from elsewhere, and names nothing (id, class, style): its
HTML holds TAGS, ATTRIBUTES and addresses outwards, or of `/to` and `/picture`. Its headings
stand below those of the page.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any
from urllib.parse import quote

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup, escape

from ..render.present import clean, headed, one_line

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
_WORD = re.compile(r"\w+")
_SCHEME = re.compile(r"[\x00-\x20]*([a-zA-Z][a-zA-Z0-9+.-]*):")
_TASK = re.compile(r"\[([ xX])\] ")


def render(text: str, path: str) -> Markup:
    """The Markdown of an entry of this file as HTML. Links to notes and pictures lead through
    the server.
    """
    text, as_it_is = clean(text), Markup("<pre>{}</pre>")
    if len(text) > RICH_CHARS or max(map(text.count, "<[")) > RICH_SIGNS or _DEEP.search(text):
        return as_it_is.format(text)
    env = {"path": path, "until": time.thread_time() + LIMIT_S}
    try:
        tokens = _MARKDOWN.parse(text, env)
    except TimeoutError:
        return as_it_is.format(text)
    for token in tokens:
        token.tag = HEADINGS.get(token.tag, token.tag)
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


def plain_heading(title: str, text: str) -> tuple[str, str]:
    """The heading of an entry as plain text, and the Markdown below, without a repetition."""
    heading, below = headed(title, text)
    return one_line(heading) if heading == title else plain(heading), below


def lit(text: str, is_hit: Callable[[str], bool]) -> Markup:
    """Plain text as HTML with the words marked that were sought."""
    parts, end = [], 0
    for word in _WORD.finditer(text):
        if is_hit(word[0].lower()):
            parts += [
                escape(text[end : word.start()]),
                Markup("<mark>{}</mark>").format(word[0]),
            ]
            end = word.end()
    return Markup("").join([*parts, escape(text[end:])])


def _attribute(tag: str, name: str, value: str) -> str | None:
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


def _wiki_link(state: StateInline, silent: bool) -> bool:
    """`[[Page|words]]` and `![[picture.png]]`."""
    start, is_picture = state.pos, state.src.startswith("![[", state.pos)
    begin = start + 3 if is_picture else start + 2
    if (
        not (is_picture or state.src.startswith("[[", start))
        or (end := state.src.find("]]", begin, begin + 400)) < 0
    ):
        return False
    name, _, words = state.src[begin:end].partition("|")
    if not name.strip() or "\n" in name:
        return False
    if not silent:
        if is_picture and re.search(r"\.(png|jpe?g|gif|webp|avif)$", name, re.IGNORECASE):
            token = state.push("image", "img", 0)
            token.attrs, token.content = {"src": name, "alt": ""}, name
            token.children = []
        else:
            state.push("link_open", "a", 1).attrs = {"href": name}
            state.push("text", "", 0).content = words or name
            state.push("link_close", "a", -1)
    state.pos = end + 2
    return True


def _in_time(state: StateInline, silent: bool) -> bool:
    """Never the rule that applies. Raises TimeoutError where the note has had its time."""
    if time.thread_time() > state.env["until"]:
        raise TimeoutError
    return False


class _Renderer(RendererHTML):
    """Leads links and pictures of notes through the server."""

    def link_open(
        self,
        tokens: Sequence[Token],
        at: int,
        options: OptionsDict,
        env: MutableMapping[str, Any],
    ) -> str:
        href = str(tokens[at].attrs.get("href", ""))
        if _scheme(href) not in OUTSIDE and not href.startswith("#"):
            tokens[at].attrs["href"] = (
                f"/to?name={quote(href, safe='')}&from={quote(env['path'], safe='')}"
            )
        return self.renderToken(tokens, at, options, env)

    def image(
        self,
        tokens: Sequence[Token],
        at: int,
        options: OptionsDict,
        env: MutableMapping[str, Any],
    ) -> str:
        token = tokens[at]
        src, words = str(token.attrs.get("src", "")), token.content or "picture"
        if _scheme(src):  # nothing is fetched from elsewhere
            is_linked = tokens[at - 1].type == "link_open"
            return (
                str(escape(words))
                if is_linked
                else f'<a href="{escape(src)}">{escape(words)}</a>'
            )
        place = f"/picture?name={quote(src, safe='')}&from={quote(env['path'], safe='')}"
        return f'<img src="{escape(place)}" alt="{escape(words)}">'

    def text(
        self,
        tokens: Sequence[Token],
        at: int,
        options: OptionsDict,
        env: MutableMapping[str, Any],
    ) -> str:
        text = tokens[at].content
        task = _TASK.match(text) if at == 0 else None
        return (
            f"{'☐' if task[1] == ' ' else '☑'} {escape(text[task.end() :])}"
            if task
            else str(escape(text))
        )


_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": LEVELS}, renderer_cls=_Renderer).enable(
    ["table", "strikethrough"]
)
_MARKDOWN.inline.ruler.before("text", "in_time", _in_time)
_MARKDOWN.inline.ruler.before("image", "wiki_link", _wiki_link)
