"""Two readers of Markdown agree line by line: the one that finds entries, and the one that
shows the page. Each kind in which they differ is a row of KINDS; any other difference fails.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from hypothesis import event, given, settings
from hypothesis import strategies as st
from trials import examples

from synaptic.features.page.flavours import MARKDOWN
from synaptic.notes.blocks import decode_as_latin1, scan_structure

SAVED = "## 09:00 s\n<!-- syn:20261121-aaaabbbb at=2026-11-21T09:00:00+00:00 h2=0 -->"
PREFIXES = (
    *("", "", "", "", "", "", "", "", " ", "  ", "   ", "    ", "      ", "\t"),
    *("- ", "1. ", "10) ", "-   ", "  - ", "- - ", "> ", ">", "> - ", "- > "),
)
PIECES = (
    *("```", "```", "````", "~~~", "~~~~", "```sh", "```markdown", "~~~ md", "``` a`b"),
    *("<!--", "<!--", "-->", "<!-- a -->", "<!-- a", "b -->", "a <!-- b"),
    *("<div>", "</div>", "<pre>", "</pre>", "<?php", "?>"),
    *("# H1", "## H2", "### H3", "#", "##", "#### H4", "#tag", "===", "---", "\\## 10:00"),
    *("## 10:00 x", "## 10:00 x", "## 10:00 x #", SAVED),
    *("text", "text", "", "", "- a", "1. a", "***", "%%", "%% a %%", "$$", "| a |", "| - |"),
)
LINES = st.tuples(st.sampled_from(PREFIXES), st.sampled_from(PIECES)).map("".join)
TEXTS = st.tuples(
    st.lists(LINES, min_size=1, max_size=9).map("\n".join),
    st.sampled_from(["\n", "\n", "\r\n"]),
).map(lambda drawn: drawn[0].replace("\n", drawn[1]))
BLOCKS = {
    "fence": "fence",
    "html_block": "html",
    "code_block": "indented",
    "math_block": "formula",
}
"""By type of a token of the page: what it says of its lines."""


class State(NamedTuple):
    """What a reader says of a line: it is in a "fence" or a "comment", a heading "h1" to "h3",
    or "" for other text. The page also knows "html", "indented" code and "formula". `begun` is
    the line in which the block begins, of a heading -1.
    """

    kind: str = ""
    begun: int = -1


class Difference(NamedTuple):
    """The line `at`, of which the readers say something else, though they agreed above it.
    `ours` and `shown` are their states of each line, `items` the list items of the page, each
    from its first line to the line below it.
    """

    at: int
    lines: list[str]
    ours: list[State]
    shown: list[State]
    items: list[tuple[int, int]]

    @property
    def line(self) -> str:
        return self.lines[self.at]

    @property
    def our(self) -> State:
        return self.ours[self.at]

    @property
    def their(self) -> State:
        return self.shown[self.at]

    @property
    def above(self) -> int:
        """The last line above with any text."""
        return max((at for at in range(self.at) if has_text(self.lines[at])), default=0)

    @property
    def is_ours_longer(self) -> bool:
        """True if a fence or comment that both began goes on for us alone."""
        return 0 <= self.our.begun < self.at and self.shown[self.our.begun] == self.our

    @property
    def is_theirs_longer(self) -> bool:
        """True if a fence or comment that both began goes on for the page alone."""
        is_older = self.their.kind in ("fence", "comment") and self.their.begun < self.at
        return is_older and self.ours[self.above] == self.ours[self.their.begun] == self.their

    @property
    def begins_fence(self) -> bool:
        """True if a fence begins here for us alone."""
        return self.our == State("fence", self.at)

    @property
    def shows_fence(self) -> bool:
        """True if a fence begins here for the page alone."""
        return self.their == State("fence", self.at)


def has_text(line: str) -> bool:
    return line.strip(" \t>") != ""


def is_indented(line: str) -> bool:
    """True for a line at column 4 or right of it."""
    return re.match(r" {4}| {0,3}\t", line) is not None


def stands_in_hidden_text(d: Difference) -> bool:
    """True between a line that begins with `%%` and one that ends with it."""
    bare = [re.sub(r"^[ \t>]*(?:(?:[-*+]|[0-9]+[.)])[ \t>]+)*", "", line) for line in d.lines]
    begins = any(line.startswith("%%") and "%%" not in line[2:] for line in bare[: d.at])
    return begins and any(line.rstrip().endswith("%%") for line in bare[d.at :])


def has_left_item(d: Difference) -> bool:
    """True if the item has ended in which a fence or comment goes on for us."""
    return d.is_ours_longer and any(a <= d.our.begun < b <= d.at for a, b in d.items)


def is_left_over(d: Difference) -> bool:
    """True for a plain fence that begins none for us, below a heading with a time."""
    is_plain = re.fullmatch(r" {0,3}(?:`{3,}|~{3,})", d.line) is not None
    is_below = any(re.match("## (?:09|10):00", line) for line in d.lines[: d.at])
    return d.shows_fence and is_plain and not d.our.kind and is_below


KINDS: dict[str, tuple[str, Callable[[Difference], bool]]] = {
    "saved entry": (
        "An H2 with our comment begins an entry everywhere, so that nothing hides what was saved.",
        lambda d: d.our.kind == "h2" and d.lines[d.at + 1 :][:1] == SAVED.split("\n")[1:],
    ),
    "heading behind marks": (
        "Only a heading in column 0 begins an entry; others belong to their item or quotation.",
        lambda d: d.their.kind in ("h1", "h2", "h3") and re.match("[^#]+#", d.line) is not None,
    ),
    "underlined heading": (
        "Entries begin at the signs `#`, so that text above a rule begins none.",
        lambda d: (
            d.their.kind in ("h1", "h2") and not re.search("(?:^|[ >])#{1,3}( |$)", d.line)
        ),
    ),
    "empty heading": (
        "An H2 or H3 without words has no title.",
        lambda d: d.their.kind in ("h2", "h3") and d.line in ("##", "###"),
    ),
    "HTML": (
        "HTML is text to us, or an open tag would hide the entries below it.",
        lambda d: d.their.kind == "html",
    ),
    "formula": (
        "A formula is text to us, or an open one would hide the entries below it.",
        lambda d: d.their.kind == "formula",
    ),
    "comment of Obsidian": (
        "Text between `%%` and `%%` is found like any other of the user.",
        stands_in_hidden_text,
    ),
    "comment behind marks": (
        "A comment behind the marks of an item or a quotation holds no heading in column 0.",
        lambda d: d.their == State("comment", d.at) and not re.match(" {0,3}<!--", d.line),
    ),
    "fence behind marks": (
        "A fence in a quotation in an item holds no heading in column 0.",
        lambda d: d.shows_fence and re.search(r"[-.)] +>[ >]*(?:```|~~~)", d.line) is not None,
    ),
    "fence in column 4 of a list": (
        "People indent the fences of a list further than the page takes for one.",
        lambda d: d.begins_fence and is_indented(d.line),
    ),
    "item within a paragraph": (
        "A number other than 1 begins an item there for us alone; its fence ends with the item.",
        lambda d: d.begins_fence and d.line.startswith("10) ") and d.above == d.at - 1,
    ),
    "fence in column 4 of an item that may have ended": (
        "Text in column 0 below a quotation or HTML in an item may or may not go on with it.",
        lambda d: d.shows_fence and is_indented(d.line),
    ),
    "open in an item that may have ended": (
        "The same, with a fence or comment that is open to the end of the text for the page.",
        lambda d: (
            d.is_theirs_longer
            and re.match(" {1,3}[`~<]", d.lines[d.their.begun]) is not None
            and d.shown[-1] == d.their
        ),
    ),
    "closed below its item": (
        "Texts were saved with the line that closes a fence or comment below the item.",
        has_left_item,
    ),
    "line that closes nothing": (
        "A line that closed a fence until an entry or the end of an item did hides nothing below.",
        is_left_over,
    ),
    "closed by a quoted line": (
        "Texts were saved with such a line as the end of their fence.",
        lambda d: d.is_theirs_longer and re.match(">[ >]*[`~]", d.lines[d.above]) is not None,
    ),
    "closed by an indented line": (
        "A line closes a fence up to three columns right of it, not of the text around it.",
        lambda d: d.is_theirs_longer and is_indented(d.lines[d.above]),
    ),
}
"""Each kind in which the readers may differ: its reason, and how a line of it is known."""


def read_as_entries(text: str) -> list[State]:
    read = decode_as_latin1(text.encode())
    starts = [0, *(match.end() for match in re.finditer("\n", read))]
    states = [State()] * len(starts)
    structure = scan_structure(read)
    for start, end in structure.opaque:
        begun, last = (bisect_right(starts, at) - 1 for at in (start, max(start, end - 1)))
        kind = "comment" if read[start:end].lstrip(" ").startswith("<!--") else "fence"
        states[begun : last + 1] = [State(kind, begun)] * (last + 1 - begun)
    for mark in structure.marks:
        states[bisect_right(starts, mark.start) - 1] = State(f"h{mark.level}")
        if mark.comment_at >= 0:
            at = bisect_right(starts, mark.comment_at) - 1
            states[at] = State("comment", at)
    return states


def read_as_page(text: str) -> tuple[list[State], list[tuple[int, int]]]:
    """What the page says of each line, and the lines of its list items."""
    states = [State()] * (text.count("\n") + 1)
    items = []
    env = {"until": time.thread_time() + 60, "docId": "", "names": {}}
    for token in MARKDOWN.parse(text, env):
        begun, end = token.map or (0, 0)
        state = State(BLOCKS.get(token.type, ""), begun)
        if token.type == "html_block" and token.content.lstrip().startswith("<!--"):
            state = State("comment", begun)
        if token.type == "heading_open" and token.tag in ("h1", "h2", "h3"):
            state = State(token.tag)
        if token.type == "list_item_open":
            items.append((begun, end))
        elif state.kind:
            states[begun:end] = [state] * (end - begun)
    return states, items


def differences(text: str) -> list[Difference]:
    """Each line in which the readers begin to differ."""
    lines = text.replace("\r", "").split("\n")
    ours = read_as_entries(text)
    shown, items = read_as_page(text)
    found = []
    agreed = True
    for at, line in enumerate(lines):
        if has_text(line):
            theirs = State() if shown[at].kind in ("html", "indented", "formula") else shown[at]
            if agreed and ours[at] != theirs:
                found.append(Difference(at, lines, ours, shown, items))
            agreed = ours[at] == theirs
    return found


def name_kind(difference: Difference) -> str:
    """The kind of a difference, or "" if none is known."""
    return next((name for name, (_, is_one) in KINDS.items() if is_one(difference)), "")


@given(TEXTS)
@settings(max_examples=examples(50_000, 150), deadline=None)
def test_the_readers_differ_in_the_named_kinds_alone(text: str) -> None:
    for difference in differences(text):
        kind = name_kind(difference)
        event(kind)
        assert kind, f"{text!r}: line {difference.at}, {difference.our} and {difference.their}"
