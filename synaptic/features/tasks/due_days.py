"""Writes another day into a task, in the form of its note. Pure.

| a task                         | with the day 2026-12-03         | without a day |
|--------------------------------|---------------------------------|---------------|
| `Call 📅 2026-11-27 ^a`        | `Call 📅 2026-12-03 ^a`         | `Call ^a`     |
| `Call [due:: 27.11.2026] now`  | `Call [due:: 03.12.2026] now`   | `Call now`    |
| `Call due [[Nov 27th, 2026]]`  | `Call due [[Dec 3rd, 2026]]`    | `Call`        |
| `DEADLINE: <2026-11-27 Fri>`   | `DEADLINE: <2026-12-03 Thu>`    | no such line  |
| `SCHEDULED: <2026-11-27 +1w>`  | `SCHEDULED: <2026-12-03 +1w>`   | no such line  |
| `Call ^a`                      | `Call due:2026-12-03 ^a`        | `Call ^a`     |
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from ...notes.blocks import without_code
from ...notes.day_forms import with_day, write_day_like
from ...notes.due_marks import DueMark, cut_block, find_due_mark
from ...notes.marks import task_blocks
from ...notes.recurring import REPEAT_SIGN

_BULLET = re.compile(r"\ufeff?(?P<before>[ \t>]*)(?P<bullet>[-*+]|[0-9]{1,9}[.)])")
_BLOCK_NAME = re.compile(r"(?:[ \t]+\^[\w-]+)?[ \t]*\Z")  # in Obsidian
_LINE_ENDS = re.compile(r"(\r\n|\r|\n)")


class DueStyle(NamedTuple):
    """The form in which a task says its day: what stands before the date, an example of a date,
    and what stands behind it.
    """

    before: str
    example: str
    behind: str

    @property
    def is_stamp(self) -> bool:
        """True for `SCHEDULED: <...>` of Logseq, which stands on the line below a task."""
        return self.before.endswith("<")

    def write(self, day: date) -> str:
        """The mark of a task that is due on this day."""
        written = f"{day} {day:%a}" if self.is_stamp else write_day_like(self.example, day)
        return f"{self.before}{written}{self.behind}"


OBSIDIAN = DueStyle("📅 ", "2026-11-30", "")
PLAIN = DueStyle("due:", "2026-11-30", "")
"""The form where no task of a journal has a day."""


def choose_style(styles: Iterable[DueStyle]) -> DueStyle | None:
    """The form that most marks have, the first of several; None without one."""
    examples: dict[tuple[str, str], DueStyle] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for style in styles:
        form = style.before, style.behind
        examples.setdefault(form, style)
        counts[form] += 1
    for form, _ in counts.most_common(1):
        return examples[form]
    return None


def with_due_day(block: str, day: date | None, style: DueStyle, line_end: str) -> str:
    """The text of a task, which begins with its line, with another day, or with none for None.

    A day that it has moves in its own form. A task without one gets its day in this style, at
    the end of its line, or below it with this `line_end`.
    """
    mark = _find_mark(block)
    if day and mark:
        return with_day(mark, block, day)
    if day:
        return _add_mark(block, day, style, line_end)
    while mark:
        block = _remove_mark(mark, block)
        mark = _find_mark(block)
    return block


def _style_of(mark: DueMark, text: str) -> DueStyle:
    """The form of this mark, which stands in `text`."""
    before = text[mark.start : mark.date_start].lstrip()
    return DueStyle(before, text[mark.date_start : mark.date_end], mark.behind)


def _find_mark(block: str) -> DueMark | None:
    plain = block.replace("\r\n", " \n").replace("\r", "\n")  # with the same offsets
    return find_due_mark(cut_block(without_code(plain), 0))


def _add_mark(block: str, day: date, style: DueStyle, line_end: str) -> str:
    """Adds a day in this style, to a task with 🔁 in that of the plugin that reads the sign."""
    pieces = _LINE_ENDS.split(block, maxsplit=1)
    line = pieces[0]
    style = OBSIDIAN if REPEAT_SIGN in line else style
    if style.is_stamp:
        end = pieces[1] if pieces[1:] else line_end
        pieces[1:1] = [end, _indent_below(line) + style.write(day)]
    else:
        pieces[0] = _append_mark(line, style.write(day))
    return "".join(pieces)


def _remove_mark(mark: DueMark, block: str) -> str:
    """Removes a mark, and its line with the line end above if that has nothing else."""
    before = _LINE_ENDS.split(block[: mark.start])
    behind = _LINE_ENDS.split(block[mark.end :])
    if before[1:] and not (before[-1] + behind[0]).strip(" \t>"):
        del before[-2:], behind[0]
    return "".join([*before, *behind])


def _indent_below(line: str) -> str:
    """The blanks, and signs of a quotation, with which the text below an item begins."""
    bullet = _BULLET.match(line)
    return bullet["before"] + " " * (len(bullet["bullet"]) + 1) if bullet else ""


def _append_mark(line: str, mark: str) -> str:
    """The line of a task with a mark before the name of its block and blanks at its end."""
    name = _BLOCK_NAME.search(line)
    at = name.start() if name else len(line)
    return f"{line[:at]} {mark}{line[at:]}"


def find_due_styles(text: str) -> list[DueStyle]:
    """The form in which each task of an entry that has a day writes it, in order; `text` is the
    entry's body line by line.
    """
    styles = []
    for _, block in task_blocks(text):
        mark = find_due_mark(block)
        if mark:
            styles.append(_style_of(mark, block))
    return styles
