"""Reads the Markdown of Obsidian and Logseq: the parser, and its rules beside the libraries'.
Pure.

| written                           | becomes                                              |
|-----------------------------------|------------------------------------------------------|
| `> [!tip]- Title`                 | a callout of a type of CALLOUTS, here a folded one   |
| `==word==`, `^^word^^`            | `mark`                                               |
| `%%comment%%`                     | nothing                                              |
| `#tag`, `#[[two words]]`          | a link to the tag                                    |
| `[[Page#Part\\|words]]`            | a link to what it names                              |
| `![[Page]]`, `{{embed [[Page]]}}` | a token `embed` with the name                        |
| `((uuid))`                        | a token `quote` with the name                        |
| `name:: value`                    | the name, set apart                                  |
| ` ^id`, `id:: uuid`, headings     | the `id` of the block (see `anchor`)                 |
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

from ...notes.blocks import LOGSEQ_OWN, TAG, WIKI_TAG, slug_tag

LEVELS = 100
"""Of lists (two each) and quotes within each other: markdown-it drops the text below."""
CALLOUTS = {
    name: names.split()[0]
    for names in (
        "note",
        "abstract summary tldr",
        "info",
        "todo",
        "tip hint important",
        "success check done",
        "question help faq",
        "warning caution attention",
        "failure fail missing",
        "danger error",
        "bug",
        "example",
        "quote cite",
    )
    for name in names.split()
}
PICTURE = re.compile(r"\.(png|jpe?g|gif|webp|avif)$", re.IGNORECASE)
_UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
BLOCK = re.compile(rf"\(\(({_UUID})\)\)")
_QUOTED = re.compile(
    rf"\{{\{{embed +(?:{BLOCK.pattern}|\[\[([^\[\]\n]{{1,400}})\]\]) *\}}\}}|{BLOCK.pattern}"
)
_WIKI = re.compile(r"(!?)\[\[(?!\s*(?:\||]]))([^|\n]{1,400}?)(?:\|(.{0,400}?))?]]", re.DOTALL)
_CALLOUT = re.compile(r"\[!([\w -]{1,40})(?:\|[^\]\n]*)?\]([+-]?)[ \t]*([^\n]*)\n?")
_PROPERTY = re.compile(r"([^\W\d_][\w./-]{0,40})::[ \t]+(?=\S)")
_OWN_PROPERTY = re.compile(rf"[ \t]*{LOGSEQ_OWN}::[ \t]*(.*)")
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)[ \t]*$")
_NOT_SLUG = re.compile(r"[^\w]+")


def anchor(part: str) -> str:
    """The id of what stands behind the last `#` of a link: `Warm cups` -> `warm-cups`, `^pot`
    -> `^pot`.
    """
    name = part.rpartition("#")[2].strip()
    return name if name.startswith("^") else _NOT_SLUG.sub("-", name.lower()).strip("-")


def part_of(
    tokens: Sequence[Token],
    part: str,
) -> Sequence[Token]:
    """The tokens of the block with this id, or of this heading and all below it."""
    ids = [token.attrs.get("id") for token in tokens]
    if anchor(part) not in ids:
        return ()
    start = ids.index(anchor(part))
    first = tokens[start]
    for end, token in enumerate(tokens[start + 1 :], start + 1):
        if first.type == "heading_open":
            if token.type == "heading_open" and token.tag <= first.tag:
                return tokens[start:end]
        elif token.level <= first.level:
            return tokens[start : end + 1]
    return tokens[start:]


def _callouts(state: StateCore) -> None:
    """Makes callouts of the quotations that begin with a type; with a sign behind it they
    fold.
    """
    shaped: list[Token] = []
    tags: list[str] = []
    closing = ""
    for token in state.tokens:
        if token.type == "blockquote_open":
            tags.append(token.tag)
        elif token.type == "blockquote_close":
            token.tag = tags.pop()
        elif token.type == "paragraph_close" and closing:
            token.tag, closing = closing, ""
        shaped.append(token)
        is_first = [one.type for one in shaped[-3:-1]] == ["blockquote_open", "paragraph_open"]
        found = _CALLOUT.match(token.content) if token.type == "inline" and is_first else None
        if not found:
            continue
        kind, fold, title = found.groups()
        around, opening = shaped[-3:-1]
        tags[-1] = around.tag = "details" if fold else "div"
        around.attrs = {"class": f"md-callout md-{CALLOUTS.get(kind.lower(), 'note')}"}
        if fold == "+":
            around.attrs["open"] = ""
        below = token.content[found.end() :]
        token.content = title or kind.capitalize()
        closing = opening.tag = "summary" if fold else "p"
        opening.attrs = {"class": "md-title"}
        if below:
            rest = Token("inline", "", 0, content=below, level=token.level, children=[])
            level = opening.level
            shaped.append(Token("paragraph_close", closing, -1, block=True, level=level))
            shaped.append(Token("paragraph_open", "p", 1, block=True, level=level))
            shaped.append(rest)
            closing = ""
    state.tokens = shaped


def _anchors(state: StateCore) -> None:
    """Gives headings and named blocks their ids, and takes out what is not shown."""
    before: dict[int, Token] = {}  # by level: the block beside
    last: dict[int, Token] = {}
    for number, token in enumerate(state.tokens):
        if token.nesting > 0:
            last.pop(token.level + 1, None)
        if token.type != "inline":
            if token.nesting >= 0:
                before[token.level] = last.get(token.level, token)
                last[token.level] = token
            continue
        opening = state.tokens[number - 1]
        if opening.type == "heading_open":
            opening.attrs["id"] = anchor(token.content)
        token.content, name = _without_own(token.content)
        item = state.tokens[number - 2]
        named = item if item.type == "list_item_open" else opening
        if not token.content:
            opening.hidden = state.tokens[number + 1].hidden = True
            named = before[opening.level] if named is opening else item
        if name:
            named.attrs["id"] = f"^{name}"


def _without_own(text: str) -> tuple[str, str]:
    """(the lines that are shown, the name of their block)."""
    name = ""
    lines = []
    in_drawer = False
    for line in text.split("\n"):
        own = _OWN_PROPERTY.fullmatch(line)
        if own and line.lstrip().startswith("id::"):
            name = own[1]
        if line.strip() == ":LOGBOOK:" and ":END:" in text:
            in_drawer = True
        if not own and not in_drawer:
            lines.append(line)
        if line.strip() == ":END:":
            in_drawer = False
    found = _BLOCK_ID.search(lines[-1]) if lines else None
    if found:
        name = found[1]
        lines[-1] = lines[-1][: found.start()]
    return "\n".join(lines).strip(), name


def _comment_block(
    state: StateBlock,
    start: int,
    end: int,
    silent: bool,
) -> bool:
    """`%%` to a line that ends with `%%`."""
    _check_time(state.env)
    first = state.getLines(start, start + 1, 0, False).strip()
    if not first.startswith("%%") or "%%" in first[2:]:
        return False
    for line in range(start + 1, end):
        if state.src[state.bMarks[line] : state.eMarks[line]].rstrip().endswith("%%"):
            state.line = start if silent else line + 1
            return True
    return False


def _comment(
    state: StateInline,
    silent: bool,
) -> bool:
    """`%%words%%`; `100%%` begins none."""
    start = state.pos
    if not state.src.startswith("%%", start) or state.src[start - 1 : start].isalnum():
        return False
    end = state.src.find("%%", start + 2, state.posMax)
    if end > start + 2:
        state.pos = end + 2
    return state.pos > start


def _highlight(
    state: StateInline,
    silent: bool,
) -> bool:
    start, last = state.pos + 2, state.posMax
    sign = state.src[state.pos : start]
    end = state.src.find(sign, start, last) if sign in ("==", "^^") else -1
    inner = state.src[start : max(start, end)]
    if not inner or inner != inner.strip():
        return False
    if not silent:
        state.push("mark_open", "mark", 1)
        state.pos, state.posMax = start, end
        state.md.inline.tokenize(state)
        state.push("mark_close", "mark", -1)
    state.pos, state.posMax = end + 2, last
    return True


def _wiki_link(
    state: StateInline,
    silent: bool,
) -> bool:
    found = _WIKI.match(state.src, state.pos)
    if not found:
        return False
    state.pos = found.end()
    if silent:
        return True
    mark, name, words = found.groups()
    if mark and PICTURE.search(name):
        token = state.push("image", "img", 0)
        token.attrs = {"src": name}
        token.content = f"{name}|{words or ''}"
        token.children = []
    elif mark:
        state.push("embed", "", 0).content = name
    else:
        _link(state, name, words or name.lstrip("#").replace("#", " > "))
    return True


def _link(
    state: StateInline,
    href: str,
    words: str,
    kind: str = "",
) -> None:
    state.push("link_open", "a", 1).attrs = {"href": href} | ({"class": kind} if kind else {})
    state.push("text", "", 0).content = words
    state.push("link_close", "a", -1)


def _quoted(
    state: StateInline,
    silent: bool,
) -> bool:
    found = _QUOTED.match(state.src, state.pos)
    if not found:
        return False
    state.pos = found.end()
    if not silent:
        embedded, page, block = found.groups()
        token = state.push("quote" if block else "embed", "", 0)
        token.content = page or named_block(block or embedded)
    return True


def named_block(uuid: str) -> str:
    """The name by which a link leads to a block of Logseq."""
    return f"{uuid}#^{uuid}"


def _tag(
    state: StateInline,
    silent: bool,
) -> bool:
    if state.linkLevel:
        return False
    found = WIKI_TAG.match(state.src, state.pos) or TAG.match(state.src, state.pos)
    slug = slug_tag(found[1]) if found else ""
    if not found or not slug:
        return False
    state.pos = found.end()
    if not silent:
        _link(state, f"/tag/{quote(slug)}", f"#{found[1]}", "md-tag")
    return True


def _property(
    state: StateInline,
    silent: bool,
) -> bool:
    """`name:: value` at the beginning of a line."""
    is_start = not state.tokens or state.tokens[-1].type in ("softbreak", "hardbreak")
    found = None
    if is_start and not state.pending.strip() and not silent:
        found = _PROPERTY.match(state.src, state.pos)
    if not found:
        return False
    state.push("key_open", "span", 1).attrs = {"class": "md-key"}
    state.push("text", "", 0).content = found[1]
    state.push("key_close", "span", -1)
    state.pending = " "
    state.pos = found.end()
    return True


def _in_time(
    state: StateInline,
    silent: bool,
) -> bool:
    """Never the rule that applies."""
    _check_time(state.env)
    return False


def _check_time(env: dict[str, float]) -> None:
    """Raises TimeoutError where the note has had its time."""
    if time.thread_time() > env["until"]:
        raise TimeoutError


MARKDOWN = MarkdownIt("commonmark", {"maxNesting": LEVELS, "breaks": True})
MARKDOWN.enable(["table", "strikethrough"]).use(footnote_plugin).use(gfm_autolink_plugin)
MARKDOWN.use(
    dollarmath_plugin,
    allow_labels=False,
    allow_space=False,
    allow_digits=False,
    double_inline=True,
)
MARKDOWN.core.ruler.after("block", "callouts", _callouts)
MARKDOWN.core.ruler.after("callouts", "anchors", _anchors)
MARKDOWN.block.ruler.before("table", "comment", _comment_block, {"alt": ["paragraph"]})
MARKDOWN.inline.add_terminator_char("(")
MARKDOWN.inline.ruler.before("text", "in_time", _in_time)
MARKDOWN.inline.ruler.before("text", "property", _property)
for name, rule in (
    ("wiki_link", _wiki_link),
    ("comment", _comment),
    ("highlight", _highlight),
    ("tag", _tag),
    ("quoted", _quoted),
):
    MARKDOWN.inline.ruler.before("image", name, rule)
