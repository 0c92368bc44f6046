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
| `[[tag:name]]`                    | a link to the tag                                    |
| `${...}`                          | its own text: SilverBullet runs it                   |
| `name:: value`                    | the name, set apart                                  |
| ` ^id`, `id:: uuid`, headings     | the `id` of the block (see `html_id_of_part`)        |
| `    - x` right below a heading   | a list, also at the start of a text                  |
"""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, list_block
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

from ...journal.shelf import is_attachment
from ...notes.blocks import LOGSEQ_OWN, TAG, WIKI_TAG, iter_expressions, slug_tag, tag_of_link
from ...notes.marks import name_behind_label
from .repeat_words import say_rules

LEVELS = 100
"""The most levels of nested lists (which count two each) and quotes: markdown-it drops the text
below.
"""
TYPES = """\
note
abstract summary tldr
info
todo
tip hint important
success check done
question help faq
warning caution attention
failure fail missing
danger error
bug
example
quote cite"""
"""The types of callouts; the first name in a line stands for its synonyms."""
CALLOUTS = {name: row.split()[0] for row in TYPES.split("\n") for name in row.split()}
BLOCK = re.compile(r"\(\(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)\)")
_PICTURE = re.compile(r"(?i)\.(png|jpe?g|gif|webp|avif)$")
_CALLOUT = re.compile(r"\[!([\w -]{1,40})(?:\|[^\]\n]*)?\]([+-]?)[ \t]*([^\n]*)\n?")
_BLOCK_NAME = re.compile(
    r"(?m)^[ \t]*id::[ \t]+(\S+)[ \t]*$|(?<![^ \t\n])\^([A-Za-z0-9-]+)\s*\Z"
)
_HIDDEN = re.compile(
    rf"(?m)^[ \t]*{LOGSEQ_OWN}::.*\n?|^[ \t]*:LOGBOOK:\n(?:[ \t]*CLOCK:.*\n)*[ \t]*:END:"
    r"|(?<![^ \t\n])\^[A-Za-z0-9-]+\s*\Z"
)
_NOT_SLUG = re.compile(r"[^\w]+")
Inline = Callable[[StateInline, re.Match[str]], None]


def html_id_of_part(part: str) -> str:
    """Returns the HTML id for the part of a link behind the last `#`: `Warm cups` ->
    `warm-cups`, `^pot` -> `^pot`.
    """
    name = part.rpartition("#")[2].strip()
    return name if name.startswith("^") else _NOT_SLUG.sub("-", name.lower()).strip("-")


def part_of_target(target: str) -> str:
    """Returns the HTML id for the part to which a target leads; "" for a whole note. The part
    may stand behind the bar, as in Dendron's `label|tea.green#cups`.
    """
    name, _, words = target.partition("|")
    written = name if "#" in name else words
    return html_id_of_part(written) if "#" in written else ""


def link_label(name: str) -> str:
    """Returns the text of a link without words of its own, as Obsidian shows it: `Tea#Cups` ->
    `Tea > Cups`.
    """
    return name.lstrip("#").replace("#", " > ")


def block_link_target(uuid: str) -> str:
    """Returns the link target of a Logseq block with this UUID."""
    return f"{uuid}#^{uuid}"


def tokens_of_part(tokens: Sequence[Token], part: str) -> Sequence[Token]:
    """Returns the tokens of the block with the id `part`, or of this heading and everything
    below it.
    """
    ids = [token.attrs.get("id") for token in tokens]
    if html_id_of_part(part) not in ids:
        return ()
    start = ids.index(html_id_of_part(part))
    first = tokens[start]
    block = tokens[start:]
    for end, token in enumerate(block[1:], 1):
        is_heading = token.type == "heading_open" and token.tag <= first.tag
        if token.level <= first.level and (is_heading or first.type != "heading_open"):
            block = block[: end if is_heading else end + first.nesting]
            break
    return block


def _end_last_line(state: StateCore) -> None:
    """Ends the last line: markdown-it-py 4.3 reads beyond a text that ends within a quotation
    (`> - <pre>`, then `>`).
    """
    state.src += "\n"


def _make_callouts(state: StateCore) -> None:
    """Turns quotations that begin with a type such as `[!tip]` into callouts; with a `+` or `-`
    behind it they can be folded.
    """
    shaped = []
    tags = []
    closing = ""
    for token in state.tokens:
        shaped.append(token)
        if token.type == "blockquote_open":
            tags.append(token.tag)
        elif token.type == "blockquote_close":
            token.tag = tags.pop()
        elif token.type == "paragraph_close" and closing:
            token.tag = closing
            closing = ""
        is_first = [one.type for one in shaped[-3:-1]] == ["blockquote_open", "paragraph_open"]
        callout = _CALLOUT.match(token.content) if is_first else None
        if not callout:
            continue
        kind, fold, title = callout.groups()
        around, opening = shaped[-3:-1]
        tags[-1] = around.tag = "details" if fold else "div"
        around.attrs = {"class": f"md-callout md-{CALLOUTS.get(kind.lower(), 'note')}"}
        if fold == "+":
            around.attrs["open"] = ""
        closing = opening.tag = "summary" if fold else "p"
        opening.attrs = {"class": "md-title md-named" if title else "md-title"}
        below = token.content[callout.end() :]
        token.content = title or kind.capitalize()
        if below:
            shaped.append(Token("paragraph_close", closing, -1))
            shaped.append(Token("paragraph_open", "p", 1, level=opening.level))
            shaped.append(Token("inline", "", 0, content=below, children=[]))
            closing = ""
    state.tokens = shaped


def _add_html_ids(state: StateCore) -> None:
    """Gives headings and named blocks their HTML ids, and removes text that is never shown."""
    tokens = state.tokens
    for number, token in enumerate(tokens):
        if token.type != "inline":
            continue
        opening = tokens[number - 1]
        if opening.type == "heading_open":
            opening.attrs["id"] = html_id_of_part(token.content)
        name = _BLOCK_NAME.search(token.content)
        token.content = _HIDDEN.sub("", token.content).strip()
        before = number - 2
        if not token.content:
            opening.hidden = tokens[number + 1].hidden = True
            while before > 0 and (
                tokens[before].level > opening.level or tokens[before].nesting < 0
            ):
                before -= 1
        is_item = tokens[before].type == "list_item_open"
        if name:
            named = opening if token.content and not is_item else tokens[before]
            named.attrs["id"] = f"^{name[1] or name[2]}"


def _parse_comment_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parses a comment block from a line with `%%` to a line that ends with `%%`."""
    _check_time_limit(state.env)
    first = state.getLines(start, start + 1, 0, False).strip()
    if not first.startswith("%%") or "%%" in first[2:]:
        return False
    for line in range(start + 1, end):
        if state.src[state.bMarks[line] : state.eMarks[line]].rstrip().endswith("%%"):
            state.line = line + 1
            return True
    return False


def _parse_indented_list(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parses indented list items at the start of a text, below a heading or below such a list
    as a list: Logseq indents the blocks below a heading that has no bullet.
    """
    above = state.tokens[-1].type if state.tokens else "heading_close"
    if above not in ("heading_close", "bullet_list_close", "ordered_list_close"):
        return False
    if not state.is_code_block(start):
        return False
    margin = state.blkIndent
    state.blkIndent = state.sCount[start]
    is_list = list_block(state, start, end, silent)
    state.blkIndent = margin
    return is_list


def _parse_highlight(state: StateInline, match: re.Match[str]) -> None:
    after = state.pos, state.posMax
    state.push("mark_open", "mark", 1)
    state.pos, state.posMax = match.span(2)
    state.md.inline.tokenize(state)
    state.push("mark_close", "mark", -1)
    state.pos, state.posMax = after


def _parse_wiki_link(state: StateInline, match: re.Match[str]) -> None:
    mark, name, words = match.groups("")
    tag = tag_of_link(name.strip())
    if tag:
        _push_link(state, f"/tag/{quote(slug_tag(tag))}", words or f"#{tag}", "md-tag")
    elif not mark:
        may_name = name_behind_label(words) and not is_attachment(name.partition("#")[0])
        target = f"{name}|{words}" if may_name else name
        _push_link(state, target, words or link_label(name))
    elif _PICTURE.search(name):
        token = state.push("image", "img", 0)
        token.attrs = {"src": name}
        token.content = f"{name}|{words}"
        token.children = []
    else:
        _push_name(state, "embed", name)


def _show_expression(state: StateInline, match: re.Match[str]) -> None:
    """Shows `${...}` of SilverBullet as the text that it is."""
    ends = state.env.setdefault("ends of expressions", {})  # by text: found once
    if state.src not in ends:
        ends[state.src] = dict(iter_expressions(state.src))
    end = ends[state.src].get(match.start(), 0)
    state.pos = end if 0 < end <= state.posMax else match.end()
    state.pending += state.src[match.start() : state.pos]


def _push_link(state: StateInline, href: str, words: str, kind: str = "") -> None:
    state.push("link_open", "a", 1).attrs = {"href": href, "class": kind}
    state.push("text", "", 0).content = words
    state.push("link_close", "a", -1)


def _parse_block_reference(state: StateInline, match: re.Match[str]) -> None:
    """Parses `((uuid))`, and `{{embed ...}}` with a block or a page."""
    kind = "embed" if match[1] else "quote"
    _push_name(state, kind, match[2] or block_link_target(match[3]))


def _push_name(state: StateInline, kind: str, name: str) -> None:
    state.push(kind, "", 0).content = name
    state.env["names"][name] = None


def _parse_tag(state: StateInline, match: re.Match[str]) -> None:
    slug = slug_tag(match[1] or match[2])
    words = f"#{match[1] or match[2]}"
    if slug and not state.linkLevel:
        _push_link(state, f"/tag/{quote(slug)}", words, "md-tag")
    else:
        state.push("text", "", 0).content = words


def _parse_property(state: StateInline, match: re.Match[str]) -> None:
    state.push("key_open", "span", 1).attrs = {"class": "md-key"}
    state.push("text", "", 0).content = match[1]
    state.push("key_close", "span", -1)
    state.pending = " "


def _set_picture_width(state: StateInline, match: re.Match[str]) -> None:
    if state.tokens[-1].type == "image":
        state.tokens[-1].attrs["width"] = match[1]


RULES: tuple[tuple[str, Inline], ...] = (
    (r"\$\{", _show_expression),
    (r"(!?)\[\[(?!\s*(?:\||]]))([^|\n]{1,400}?)(?:\|(.{0,400}?))?]]", _parse_wiki_link),
    (rf"{WIKI_TAG.pattern}|{TAG.pattern}", _parse_tag),
    (
        rf"(\{{\{{embed )(?:\[\[([^\[\]\n]{{1,400}})\]\]|{BLOCK.pattern})\}}\}}",
        _parse_block_reference,
    ),
    (rf"()(){BLOCK.pattern}", _parse_block_reference),
    (r"(?<!\w)%%(?!%).+?%%", lambda state, match: None),
    (r"(==|\^\^)(?=\S)((?:(?!\1).)+)(?<=\S)\1", _parse_highlight),
    (r"(?<![^\n])([^\W\d_][\w./-]{0,40})::[ \t]+(?=\S)", _parse_property),
    (r"(?<=\))\{:(?:height \d+, )?:width (\d{1,4})[^}\n]{0,40}\}", _set_picture_width),
)
"""The inline rules as (pattern, function that makes tokens of a match), in the order in which
they are tried.
"""


def _make_inline_rule(pattern: str, show: Inline) -> Callable[[StateInline, bool], bool]:
    compiled = re.compile(pattern, re.DOTALL)

    def apply(state: StateInline, silent: bool) -> bool:
        match = compiled.match(state.src, state.pos, state.posMax)
        if match:
            state.pos = match.end()
            if not silent:
                show(state, match)
        return bool(match)

    return apply


def _check_time_limit(env: Mapping[str, float]) -> bool:
    """Returns False; raises TimeoutError once the rendering of the note exceeds its time
    limit.
    """
    if time.thread_time() > env["until"]:
        raise TimeoutError
    return False


def _say_rules(state: StateCore) -> None:
    """Shows how often a task repeats in the language of the reader."""
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "text":
                child.content = say_rules(child.content)


MARKDOWN = MarkdownIt("commonmark", {"maxNesting": LEVELS, "breaks": True})
MARKDOWN.enable(["table", "strikethrough"]).use(footnote_plugin).use(gfm_autolink_plugin)
MARKDOWN.use(
    dollarmath_plugin,
    allow_labels=False,
    allow_space=False,
    allow_digits=False,
    double_inline=True,
)
MARKDOWN.core.ruler.after("normalize", "last_line", _end_last_line)
MARKDOWN.core.ruler.after("block", "callouts", _make_callouts)
MARKDOWN.core.ruler.after("callouts", "anchors", _add_html_ids)
MARKDOWN.block.ruler.before("table", "comment", _parse_comment_block, {"alt": ["paragraph"]})
MARKDOWN.block.ruler.before("code", "indented_list", _parse_indented_list)
MARKDOWN.inline.add_terminator_char("(")
MARKDOWN.inline.ruler.before("text", "in_time", lambda state, _: _check_time_limit(state.env))
MARKDOWN.core.ruler.push("repeats", _say_rules)
for pattern, show in RULES:
    next_one = "text" if show is _parse_property else "image"  # letters begin it
    MARKDOWN.inline.ruler.before(next_one, show.__name__, _make_inline_rule(pattern, show))
