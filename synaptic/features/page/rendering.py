"""Renders Markdown notes as HTML that is safe to show in a browser. Pure.

A note runs nothing and loads nothing from elsewhere: its HTML holds TAGS, ATTRIBUTES, CLASSES
and addresses outwards, or of `/to`, `/tag` and `/picture`. Its ids begin with `md-`, as none of
the page does. Its headings stand below those of the page. Formulas and what it embeds are
cleaned apart and put in last.
"""

import re
import secrets
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath
from urllib.parse import quote, unquote
from xml.etree.ElementTree import tostring

import nh3
from latex2mathml.converter import Converter
from markdown_it.token import Token
from markupsafe import Markup, escape

from ...models import Entry, Json
from ...notes.conflicts import find_conflicts, without_conflict_marks
from ...render.fence import clean, one_line
from ...render.present import IsHit, split_heading
from .flavours import (
    BLOCK,
    CALLOUTS,
    MARKDOWN,
    block_link_target,
    html_id_of_part,
    link_label,
    tokens_of_part,
)
from .repeat_words import say_rules
from .translation import mark_text, translate

TAGS = set(
    """a abbr b blockquote br code dd del details div dl dt em h3 h4 h5 h6 hr i img ins kbd
    li mark ol p pre q s
    samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var""".split()
)
MATH_TAGS = set(
    """math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mroot mrow mspace msqrt
    mstyle msub msubsup msup mtable mtd mtext mtr munder munderover""".split()
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
    f"md-{name}" for name in "callout center embed key left named right tag task title".split()
}
OUTSIDE = ("http", "https", "mailto")
HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6"}
RICH_CHARS, RICH_SIGNS = 100_000, 10_000
"""A note with more characters, or with more of `<`, `[` or `)`, is shown as plain text."""
LIMIT_S = 1.0
"""Seconds of processor time after which a note is shown as plain text: 20 KB of `![` would take
20 s.
"""
MATH_CHARS = 1_000
"""A formula with more characters is shown as its source."""
QUOTING = ("embed", "quote")
"""Types of tokens that show another text of the journal (see `flavours`)."""
EMBEDS = 20
"""The most pages and blocks that a note may embed; further ones are shown as links."""
TASKS = {
    " ": mark_text("☐ open"),
    "x": mark_text("☑ done"),
    "/": mark_text("◐ in progress"),
    "-": mark_text("☒ cancelled"),
    ">": mark_text("▷ moved on"),
    "TODO": mark_text("☐ open"),
    "LATER": mark_text("☐ open"),
    "WAITING": mark_text("☐ open"),
    "DOING": mark_text("◐ in progress"),
    "NOW": mark_text("◐ in progress"),
    "DONE": mark_text("☑ done"),
    "CANCELED": mark_text("☒ cancelled"),
    "CANCELLED": mark_text("☒ cancelled"),
}
"""The sign and name of a task's state, by the character in its brackets, or by Logseq's
word.
"""
_VERSIONS = Markup(
    '<div class="beside versions"><div><p class="place">{}</p>{}</div>'
    '<div><p class="place">{}</p>{}</div></div>'
)
Quoted = Mapping[str, Entry]
Quote = Callable[[Sequence[str], str], Quoted]
"""A function (link names, path of the note) that returns the entries to which these links lead,
by name.
"""
_DEEP = re.compile(r"(?m)^(?:[ \t]{90}|(?:[ \t]*(?:>|[*+-][ \t]|\d{1,9}[.)][ \t])){30})")
_WORD = re.compile(r"(\w+)")
_SCHEME = re.compile(r"[\x00-\x20]*([a-zA-Z][a-zA-Z0-9+.-]*):")
_OUR_PAGE = re.compile(
    r"(?i)/tag/(?:[\w/-]|%(?!2[ef])[0-9a-f]{2})+|/search\?[\w&=%+.,:;*~/?@!$'-]*"
)
"""Matches the address of a search, and that of a tag's page without dots, which would lead to
another page: `/tag/%2e%2e/new`.
"""
_TASK = re.compile(r"(?:\[([^\]\n])\]|(TODO|LATER|WAITING|DOING|NOW|DONE|CANCELL?ED)) ")
_SIZE = re.compile(r"(?s)(?:(.*)\|)?(\d{1,4})(?:x\d{1,4})?")
_UNSAFE_MATH = re.compile(r"\\(?:(?:re)?new|provide)command|\\def")
_ITEM = re.compile(r"(?:[-*+]|(\d{1,9}[.)])) ")
_ROW_RULE = re.compile(r"[ \t]*\|?[ \t:|-]*-[ \t:|-]*")


def render_markdown(text: str, path: str, quoted: Quote | None = None) -> Markup:
    """Renders the Markdown of an entry in the file `path` as safe HTML. Links to notes and
    pictures lead through the server; `quoted` returns the entries that it embeds. The versions
    of a conflict stand beside each other.
    """
    text = clean(text)
    parts = []
    at = 0
    for conflict in find_conflicts(text):
        parts.append(_render_part(text[at : conflict.start], path, quoted))
        mine = _render_part(conflict.mine, path, quoted)
        theirs = _render_part(conflict.theirs, path, quoted)
        names = translate("One version"), translate("The other version")
        parts.append(_VERSIONS.format(names[0], mine, names[1], theirs))
        at = conflict.end
    parts.append(_render_part(text[at:], path, quoted))
    return Markup("").join(parts)


def _render_part(text: str, path: str, quoted: Quote | None) -> Markup:
    """Renders a text that holds no conflict of its own; marks of an inner one are left out."""
    text = without_conflict_marks(text)
    if _is_renderable(text):
        try:
            return _Rendering(path, quoted, time.thread_time() + LIMIT_S).html(text)
        except (TimeoutError, RecursionError):
            pass
    return Markup("<pre>{}</pre>").format(text)


@lru_cache(500)
def link_targets_in(text: str) -> frozenset[str]:
    """Returns the names to which the links and pictures in an entry's HTML lead; empty if it is
    shown as plain text.
    """
    text = clean(text)
    env: Json = {"until": time.thread_time() + LIMIT_S, "docId": "", "names": {}}
    try:
        tokens = MARKDOWN.parse(text, env) if _is_renderable(text) else []
    except (TimeoutError, RecursionError):
        return frozenset()
    names = set(env["names"])
    for token in tokens:
        for child in token.children or ():
            names.add(str(child.attrs.get("href" if child.type == "link_open" else "src", "")))
    return frozenset(names - {""})


def _is_renderable(text: str) -> bool:
    is_short = len(text) <= RICH_CHARS and max(map(text.count, "<[)")) <= RICH_SIGNS
    return is_short and not _DEEP.search(text)


class _Rendering:
    """One rendering of a note. Cleaned pieces of HTML wait in `kept`; each place is marked by
    the random `key`.
    """

    def __init__(self, path: str, quoted: Quote | None, until: float) -> None:
        self.path = path
        self.until = until
        self.quoted = quoted
        self.entries: Quoted = {}
        self.pieces: list[str] = []
        self.key = secrets.token_hex(16)

    def html(self, text: str, part: str = "") -> Markup:
        """Renders the text, or only its heading or block `part`; empty if the text has no such
        part.
        """
        # one page shows many notes, each with a footnote 1
        note = zlib.crc32(f"{self.path} {text}".encode())
        env: Json = {"until": self.until, "docId": f"{note:x}", "names": {}}
        tokens: Sequence[Token] = MARKDOWN.parse(text, env)
        if part:
            tokens = tokens_of_part(tokens, part)
        if self.quoted and env["names"]:
            self.entries = self.quoted(list(env["names"])[:EMBEDS], self.path)
        for number, token in enumerate(tokens):
            is_item = number > 1 and tokens[number - 2].type == "list_item_open"
            self._shape(token, is_item=is_item)
        html = nh3.clean(
            MARKDOWN.renderer.render(tokens, MARKDOWN.options, env),
            tags=TAGS,
            attributes=ATTRIBUTES,
            url_schemes=set(OUTSIDE),
            link_rel="noopener noreferrer nofollow",
            attribute_filter=_allowed_attribute_value,
        )
        html = clean(html).replace("<p></p>", "")  # an entity may say something invisible
        put_in = re.compile(rf"{self.key}:(\d+);")
        return Markup(put_in.sub(lambda match: self.pieces[int(match[1])], html))

    def _shape(self, token: Token, *, is_item: bool) -> None:
        """Adapts a block's tokens to the page: heading levels, and links and pictures through
        the server.
        """
        token.tag = HEADINGS.get(token.tag, token.tag)
        side = str(token.attrs.pop("style", ""))
        if side:
            token.attrs["class"] = side.replace("text-align:", "md-")
        if not self.quoted:  # the note in which it stands may have the same ids
            token.attrs.pop("id", None)
        if token.type == "math_block":
            self._put(token, "<p>{}</p>", _latex_to_mathml(token.content, "block"))
        before = ""
        for child in token.children or ():
            if child.type == "link_open":
                child.attrs["href"] = self._target(str(child.attrs.get("href", "")))
            elif child.type == "image":
                self._show_picture(child, is_linked=before == "link_open")
            elif child.type.startswith("math"):
                display = "block" if child.markup == "$$" else "inline"
                self._put(child, "{}", _latex_to_mathml(child.content, display))
            elif child.type in QUOTING:
                self._embed(child)
            elif is_item and not before:
                _replace_task_brackets(child)
            before = child.type

    def _put(self, token: Token, frame: str, html: Markup) -> None:
        """Replaces a token by HTML that is already clean."""
        token.type = "html_inline"
        token.content = frame.format(f"{self.key}:{len(self.pieces)};")
        self.pieces.append(html)

    def _target(self, href: str) -> str:
        block = BLOCK.fullmatch(href)
        if block:
            href = block_link_target(block[1])
        if href.startswith("#"):
            return f"#{html_id_of_part(href)}"
        if _url_scheme(href) in OUTSIDE or _OUR_PAGE.fullmatch(href):
            return href
        name, bar, words = href.partition("|")  # as Dendron writes a link
        behind = f"&behind={quote(words, safe='')}" if bar else ""
        return self._address("/to", name) + behind

    def _show_picture(self, token: Token, *, is_linked: bool) -> None:
        src = str(token.attrs.get("src", ""))
        size = _SIZE.fullmatch(token.content)
        words = size[1] if size else token.content.partition("|")[0]
        words = escape(words or PurePath(unquote(src)).name)  # shown where it is missing
        width = token.attrs.get("width", size[2] if size else "")
        if _url_scheme(src) in ("", "draft"):
            place = escape(self._address("/picture", src))
            token.content = f'<img src="{place}" alt="{words}" width="{width}">'
        elif is_linked:  # nothing is fetched from elsewhere
            token.content = words
        else:
            token.content = f'<a href="{escape(src)}">{words}</a>'
        token.type = "html_inline"

    def _embed(self, token: Token) -> None:
        """Replaces an embedding token by the text to which it leads: a whole page or block, or
        a link with the block's words. If that does not exist, by a link with its name.
        """
        name = token.content
        page, _, part = name.partition("#")
        is_block = name == block_link_target(page)
        title = link_label(page if part.startswith("^") else name)
        html = Markup("")
        entry = self.entries.get(name)
        if entry and _is_renderable(clean(entry.content)):
            path = entry.path
            html = _Rendering(path, None, self.until).html(clean(entry.content), part)
            title = PurePath(path).stem if is_block else title
        if html.startswith("<li"):
            html = Markup("<ul>{}</ul>").format(html)
        if token.type == "quote" and html:
            lines = [Markup(line).striptags() for line in re.split("<[uo]l>|</p>", html)]
            title = next(filter(None, lines), page)
        link = Markup('<a href="{}">{}</a>').format(self._address("/to", name), title)
        if is_block and not html:
            link = escape(f"(({page}))")
        if token.type == "quote" or not html:
            self._put(token, "{}", link)
        else:
            titled = Markup('<p class="md-title">{}</p>{}').format(link, html)
            self._put(token, '<div class="md-embed">{}</div>', titled)

    def _address(self, route: str, name: str) -> str:
        return f"{route}?name={quote(name, safe='')}&from={quote(self.path, safe='')}"


def _replace_task_brackets(first: Token) -> None:
    """Replaces the brackets at the beginning of a list item by the sign of the task's state."""
    match = _TASK.match(first.content)
    if match and first.type == "text":
        state = match[2] or match[1].lower()
        sign, _, name = _describe_state(state).partition(" ")
        frame = Markup('<span class="md-task" title="{}">{}</span> {}')
        first.type = "html_inline"
        first.content = frame.format(name, sign, first.content[match.end() :])


def _describe_state(state: str) -> str:
    """Returns the sign and name of a task's state."""
    if state in TASKS:
        return translate(TASKS[state])
    return translate("☑ done: %(state)s", state=state)


def _latex_to_mathml(latex: str, display: str) -> Markup:
    """Converts a LaTeX formula to MathML; shows it as code if it is invalid."""
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


def markdown_to_line(text: str) -> str:
    """Returns the text of a piece of Markdown in one line."""
    return render_markdown(text, "").striptags()


def plain_lines(text: str) -> str:
    """Returns the text of a piece of Markdown line by line; the cells of a table are separated
    by dots.
    """
    lines = []
    for row in without_conflict_marks(text).split("\n"):
        row = row.strip()
        if row.startswith("```") or _ROW_RULE.fullmatch(row):
            continue
        if row.startswith("|"):
            row = row.strip("|").replace("|", " · ")
        words = markdown_to_line(row)
        item = _ITEM.match(row)
        if item:
            words = f"{item[1] or '•'} {words}"
        if words:
            lines.append(words)
    return "\n".join(lines)


def plain_heading(title: str, text: str) -> tuple[str, str]:
    """Returns (the heading of an entry as plain text, the Markdown below it without a
    repetition of the heading).
    """
    heading, below = split_heading(title, text)
    plain = say_rules(one_line(heading)) if heading == title else markdown_to_line(heading)
    return plain, below


def mark_hits(text: str, is_hit: IsHit) -> Markup:
    """Returns plain text as HTML with the words marked for which `is_hit` is True."""
    parts = []
    for piece in _WORD.split(text):
        word = escape(piece)
        if is_hit(piece.lower()):
            word = Markup("<mark>{}</mark>").format(word)
        parts.append(word)
    return Markup("").join(parts)


def _allowed_attribute_value(tag: str, name: str, value: str) -> str | None:
    """Returns the value of an HTML attribute if it is allowed, else None: a link to the web or
    to our pages, a picture of the journal, a class of CLASSES, or an id behind `md-`.
    """
    if name == "src":
        return value if value.startswith("/picture?") else None
    if name == "width":
        return value if value.isdecimal() else None
    if name == "id" or (name == "href" and value.startswith("#")):
        mark = "#" if name == "href" else ""
        return f"{mark}md-{value.removeprefix(mark).removeprefix('md-')}"
    if name == "href":
        is_ours = value.startswith("/to?") or _OUR_PAGE.fullmatch(value)
        return value if is_ours or _url_scheme(value) in OUTSIDE else None
    if name == "class":
        return " ".join(word for word in value.split() if word in CLASSES) or None
    return value


def _url_scheme(address: str) -> str:
    """Returns the scheme of an address: `http` of `HTTP://x`; empty without one."""
    match = _SCHEME.match(address)
    return match[1].lower() if match else ""
