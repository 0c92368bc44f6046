"""Turns a text of Emacs' Org mode into Markdown: an entry for each heading with a day of its
own, and one for the rest.

| Org                                                  | becomes                            |
|------------------------------------------------------|------------------------------------|
| `* TODO [#A] Call Ida :phone:`                       | `- [ ] Call Ida ⏫ #phone`          |
| `DEADLINE: <2026-01-07 Wed>` below it, `SCHEDULED:`  | `📅 2026-01-07` in that line, `⏳`  |
| `* Dinner [2026-01-05 Mon 10:00]`, also in the line  | an entry of that time              |
| below, or as the property CREATED                    |                                    |
| `* <2026-01-05 Mon> Dinner`, `* 2026-01-05 Monday`   | an entry of that day               |
| the same in angles, later than the file's last change | an appointment: no entry of its day |
| a drawer of properties                               | `name:: value`                     |
| `[[target][label]]`, `=code=`, `#+begin_src python`  | `[label](target)`, code, a fence   |

A heading below a dated one belongs to its entry, unless it is dated itself.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time

from ....notes.dates import moment_in_value
from .dated_parts import read_head

_HEADING = re.compile(r"(\*+)[ \t]+(.*?)[ \t]*\Z")
_TAGS = re.compile(r"(?:\A|[ \t]+):((?:[\w@#%-]{1,100}:){1,50})\Z")
_PRIORITY = re.compile(r"\[#([A-Za-z0-9])\][ \t]*")
_SIGNS = {"A": "⏫", "B": "🔼", "C": "🔽"}
_KEYWORD = re.compile(r"[ \t]*#\+([\w-]+):[ \t]*(.*)\Z")
_STATES = re.compile(r"[^\s|(]+(?=\(|[ \t|]|\Z)|\|")
_DONE = ("DONE", "CANCELLED", "CANCELED", "KILL")
_OPEN = ("TODO", "NEXT", "STARTED", "DOING", "WAITING", "WAIT", "HOLD", "IN-PROGRESS")
_STAMP = re.compile(r"([<\[])(\d{4}-\d\d-\d\d)([^<>\[\]\n]{0,60})[>\]]")
_CLOCK = re.compile(r"[ \t](\d{1,2}:\d\d)")
_REPEATED = re.compile(r"\d:\d\d|[.+-]\+?\d+[hdwmy]")
_PLANNED = re.compile(r"(SCHEDULED|DEADLINE|CLOSED):[ \t]*([<\[][^<>\[\]\n]{1,80}[>\]])")
_PLAN_SIGNS = {"DEADLINE": "📅", "SCHEDULED": "⏳", "CLOSED": "✅"}
_PROPERTY = re.compile(r"[ \t]*:([\w@-]{1,100}\+?):[ \t]*(.*?)[ \t]*\Z")
_OF_ORG = ("id", "created", "custom_id", "visibility", "columns", "ordered", "category")
"""Properties by which Org itself works."""
_DRAWER = re.compile(r"[ \t]*:[\w-]{1,100}:[ \t]*\Z")
_PERIOD = re.compile(r"\d{4}(?:-\d\d)?(?:[ \t]+[^\W\d_]+)?\Z")
_BEGIN = re.compile(r"(?i)[ \t]*#\+begin_(\w+)[ \t]*(\S*)")
_END = re.compile(r"(?i)[ \t]*#\+end_(\w+)[ \t]*\Z")
_ESCAPED = re.compile(r"\A([ \t]*),(?=\*|,|#\+)")
_ITEM = re.compile(r"([ \t]*)([-+]|\d{1,9}[.)]|(?<=[ \t])\*)[ \t]+(?:\[@\d+\][ \t]*)?(.*)\Z")
_BOX = re.compile(r"\[([ xX-])\][ \t]+")
_TERM = re.compile(r"([^\n]{1,200}?)[ \t]+::(?:[ \t]+|\Z)")
_RULE = re.compile(r"[ \t]*\|-[-+|]*\Z")
_INLINE = re.compile(
    r"\[\[(?P<target>[^\[\]\n]{1,2000})\](?:\[(?P<label>[^\[\]\n]{0,1000})\])?\]"
    r"|(?P<stamp>[<\[]\d{4}-\d\d-\d\d[^<>\[\]\n]{0,60}[>\]])"
    r"|\[fn:(?P<note>[\w-]{1,60})\]"
    r"|(?<![^\s\-('\"{])(?P<mark>[*/=~+])(?P<words>[^\s](?:[^\n]{0,300}?[^\s])?)(?P=mark)"
    r"(?![^\s\-.,;:!?'\")}\]\[])"
)
MOST_BLOCK_LINES = 10_000
"""The longest block in which a line with a star is code; beyond it begins a heading."""
_MARKDOWN = {"*": "**", "/": "*", "+": "~~"}
_FILE = re.compile(r"(?i)\A(?:file(?:\+\w+)?:|(?=\.{1,2}/)|(?=[^:\s]+\.\w{1,8}(?:::|\Z)))")


@dataclass
class OrgEntry:
    """The Markdown of one entry; `at` is None for the rest of the file."""

    at: datetime | None
    title: str = ""
    tags: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    blocks: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n\n".join(filter(None, self.blocks))


@dataclass
class _Section:
    """A heading with the lines below it, up to the next heading."""

    level: int = 0
    state: str = ""
    sign: str = ""
    title: str = ""
    tags: tuple[str, ...] = ()
    plans: list[tuple[str, str]] = field(default_factory=list)
    properties: list[tuple[str, str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    is_leaf: bool = True

    @property
    def fields(self) -> tuple[tuple[str, str], ...]:
        pairs = [(name.lower(), value) for name, value in self.properties]
        return tuple(pair for pair in pairs if pair[0] not in _OF_ORG)


def read_org(text: str, changed: date) -> list[OrgEntry]:
    """Returns the entries of an Org file, the rest of it first. `changed` is the day of the
    file's last change.
    """
    keywords, sections = _split_sections(text)
    values = dict(reversed(keywords))
    file_tags = tuple(filter(None, re.split(r"[:\s]+", values.get("filetags", ""))))
    rest = OrgEntry(moment_in_value(values.get("date", "")), _inline(values.get("title", "")))
    rest.tags = file_tags
    rest.fields = sections[0].fields
    entries = [rest]
    above: list[tuple[_Section, OrgEntry, int]] = [(sections[0], rest, 0)]
    rest.blocks.append(_body(sections[0].lines))
    for section in sections[1:]:
        while above[-1][0].level >= section.level:
            above.pop()
        _, entry, base = above[-1]
        at = _take_day(section, changed)
        if at:
            base = section.level
            tags = [tag for one, *_ in above for tag in one.tags]
            every = dict.fromkeys((*file_tags, *tags, *section.tags))
            entry = OrgEntry(at, _inline(section.title), tuple(every), section.fields)
            entries.append(entry)
            entry.blocks.append(_task(section, "") if section.state else _plans(section))
        elif section.title or section.state:
            entry.blocks += _heading_blocks(section, min(section.level - base + 1, 6))
        entry.blocks.append(_section_body(section, is_entry=bool(at)))
        above.append((section, entry, base))
    return [entry for entry in entries if entry.text or entry.fields or entry.title]


def _split_sections(text: str) -> tuple[list[tuple[str, str]], list[_Section]]:
    """Returns the keywords of the file, `#+title: x`, and its sections, the one before the
    first heading first.
    """
    lines = text.split("\n")
    keywords = []
    for line in lines:
        keyword = _KEYWORD.match(line)
        if keyword:
            keywords.append((keyword[1].lower(), keyword[2].strip()))
    states = _read_states(keywords)
    sections = [_Section()]
    within_block = 0
    for number, line in enumerate(lines):
        begin = _BEGIN.match(line) if number >= within_block else None
        if begin:
            within_block = _find_block_end(lines, number, begin[1].lower())
        heading = _HEADING.match(line) if number >= within_block else None
        if heading:
            level = len(heading[1])
            sections[-1].is_leaf = sections[-1].level >= level
            sections.append(_read_heading(level, heading[2], states))
        else:
            sections[-1].lines.append(line)
    for section in sections:
        _take_plans_and_properties(section)
    return keywords, sections


def _find_block_end(lines: Sequence[str], start: int, kind: str) -> int:
    """The number of the line behind the block that begins here; 0 if it has no end."""
    for number in range(start + 1, min(len(lines), start + MOST_BLOCK_LINES)):
        end = _END.match(lines[number])
        if end and end[1].lower() == kind:
            return number + 1
        if _BEGIN.match(lines[number]):
            return 0
    return 0


def _read_states(keywords: Sequence[tuple[str, str]]) -> set[str]:
    states = {*_OPEN, *_DONE}
    for name, value in keywords:
        if name in ("todo", "seq_todo", "typ_todo"):
            states.update(_STATES.findall(value))
    return states - {"|"}


def _read_heading(level: int, text: str, states: set[str]) -> _Section:
    section = _Section(level)
    tags = _TAGS.search(text)
    if tags:
        section.tags = tuple(tags[1].strip(":").split(":"))
        text = text[: tags.start()].rstrip()
    word, _, rest = text.partition(" ")
    if word in states:
        section.state = word
        text = rest.lstrip()
    priority = _PRIORITY.match(text)
    if priority:
        section.sign = _SIGNS.get(priority[1].upper(), "")
        text = text[priority.end() :]
    section.title = text
    return section


def _take_plans_and_properties(section: _Section) -> None:
    """Takes the line of planning and the drawer of properties out of the lines of a section."""
    lines = section.lines
    if section.level and lines and _PLANNED.match(lines[0].strip()):
        section.plans = _PLANNED.findall(lines.pop(0))
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if lines and lines[first].strip().upper() == ":PROPERTIES:":
        for number in range(first + 1, len(lines)):
            pair = _PROPERTY.match(lines[number])
            if not pair:
                return
            if pair[1].upper() == "END":
                del lines[first : number + 1]
                return
            section.properties.append((pair[1], pair[2]))


def _take_day(section: _Section, changed: date) -> datetime | None:
    """Returns the moment at which a heading says that it was written, and takes it out of the
    title or of the first line.
    """
    created = dict(section.properties).get("CREATED", "")
    stamps = [*_STAMP.finditer(section.title)]
    for stamp in stamps:
        at = _moment_of_stamp(stamp)
        if at and (stamp[1] == "[" or at.date() <= changed):
            before, behind = section.title[: stamp.start()], section.title[stamp.end() :]
            section.title = " ".join(f"{before} {behind}".split()).strip(" -–—:")
            return at
    in_drawer = _STAMP.search(created)
    if in_drawer:
        return _moment_of_stamp(in_drawer)
    head = read_head(section.title, is_heading=True) if not stamps else None
    if head:
        section.title = head.title
        return head.at
    first = next((line.strip() for line in section.lines if line.strip()), "")
    alone = _STAMP.fullmatch(first)
    if alone and alone[1] == "[":
        section.lines = section.lines[section.lines.index(_first_line(section.lines)) + 1 :]
        return _moment_of_stamp(alone)
    return None


def _first_line(lines: Sequence[str]) -> str:
    return next(line for line in lines if line.strip())


def _moment_of_stamp(stamp: re.Match[str]) -> datetime | None:
    try:
        day = date.fromisoformat(stamp[2])
        clock = _CLOCK.search(stamp[3])
        return datetime.combine(day, time.fromisoformat(clock[1].zfill(5)) if clock else time())
    except ValueError:  # 2026-13-45
        return None


def _show_stamp(stamp: str) -> str:
    """`2026-01-05 10:00` for `<2026-01-05 Mon 10:00>`; a repeater stays."""
    match = _STAMP.fullmatch(stamp)
    parts = match[3].split() if match else []
    rest = [part for part in parts if not part.rstrip(".").isalpha()]
    return " ".join([match[2], *rest]) if match else stamp


def _heading_blocks(section: _Section, level: int) -> list[str]:
    """The heading of a section within an entry; of a task the line of the task."""
    tags = "".join(f" #{tag}" for tag in section.tags)
    if section.state and section.is_leaf:
        return []
    is_period = not (section.state or section.tags) and _PERIOD.match(section.title)
    if is_period and not any(map(str.strip, section.lines)):
        return []  # the year or month of a tree of days
    heading = f"{'#' * level} {_inline(section.title)}{tags}"
    return [heading, _task(section, "") if section.state else _plans(section)]


def _section_body(section: _Section, *, is_entry: bool) -> str:
    """The text below a heading; below a task it stands within its item."""
    body = _body(section.lines)
    if not is_entry:
        fields = "\n".join(f"{name}:: {value}" for name, value in section.fields)
        body = "\n\n".join(filter(None, (fields, body)))
    if not section.state or is_entry or not section.is_leaf:
        return body
    tags = "".join(f" #{tag}" for tag in section.tags)
    lines = [f"  {line}".rstrip() for line in body.split("\n")] if body else []
    return "\n".join([_task(section, tags), *([""] if lines else []), *lines])


def _task(section: _Section, tags: str) -> str:
    box = "x" if section.state in _DONE else " "
    if section.state in _DONE[1:]:
        box = "-"
    word = "" if section.state in ("TODO", *_DONE) else section.state
    plans = []
    for kind, stamp in section.plans:
        if _REPEATED.search(stamp[11:]):
            plans.append(f"{kind}: {stamp}")
        else:
            plans.append(f"{_PLAN_SIGNS[kind]} {stamp[1:11]}")
    words = [f"- [{box}]", word, _inline(section.title), section.sign, *plans]
    return " ".join(filter(None, words)) + tags


def _plans(section: _Section) -> str:
    return ", ".join(f"{kind.title()}: {_show_stamp(stamp)}" for kind, stamp in section.plans)


def _body(lines: Sequence[str]) -> str:
    """The lines of a section as Markdown."""
    return "\n".join(_markdown_lines(lines)).strip("\n")


def _markdown_lines(lines: Sequence[str]) -> Iterator[str]:
    kind = ""
    fence = ""
    is_fixed = False
    is_in_list = False
    is_in_table = False
    fence_marks = "````" if any("```" in line for line in lines) else "```"
    for line in lines:
        is_fixed_now = not kind and bool(re.match(r"[ \t]*:(?:[ \t]|\Z)", line))
        if is_fixed_now != is_fixed:
            yield "```"
        is_fixed = is_fixed_now
        if is_fixed:
            yield line.lstrip()[2:]
            continue
        if kind:
            end = _END.match(line)
            if end and end[1].lower() == kind:
                if fence:
                    yield fence
                kind = ""
            elif fence:
                yield _ESCAPED.sub(r"\1", line)
            else:
                yield ("> " if kind == "quote" else "") + _inline(line.strip())
            continue
        begin = _BEGIN.match(line)
        if begin:
            kind = begin[1].lower()
            fence = fence_marks if kind in ("src", "example", "export", "comment") else ""
            if fence:
                yield f"{fence}{begin[2] if kind == 'src' else ''}"
            continue
        is_row = line.lstrip().startswith("|")
        if is_row and _RULE.match(line) and not is_in_table:
            continue  # the line above a table
        item = _ITEM.match(line)
        if item or not line[:1].isspace():
            is_in_list = bool(item)
        text = _markdown_line(line, item)
        if text is None:
            continue
        yield text if is_in_list else text.lstrip(" \t")
        if is_row and not is_in_table:
            yield "|" + " --- |" * (line.strip().strip("|").count("|") + 1)
        is_in_table = is_row
    if kind and fence:
        yield fence
    if is_fixed:
        yield "```"


def _markdown_line(line: str, item: re.Match[str] | None) -> str | None:
    """One line as Markdown; None for a line that says nothing to a reader."""
    keyword = _KEYWORD.match(line)
    if keyword:
        return _inline(keyword[2]) if keyword[1].lower() == "caption" else None
    if _DRAWER.match(line) or _RULE.match(line):
        return None
    if re.match(r"[ \t]*#(?:[ \t]|\Z)", line):  # a comment
        return line.strip()[2:]
    if re.match(r"-{5,}[ \t]*\Z", line):
        return "\n---"
    if not item:
        return _inline(line.removesuffix("\\\\").rstrip())
    indent, bullet, text = item.groups()
    box = _BOX.match(text)
    mark = f"[{'x' if box[1] in 'xX' else ' '}] " if box else ""
    text = text[box.end() :] if box else text
    term = _TERM.match(text)
    if term:
        text = f"*{term[1]}*: {text[term.end() :]}"
    bullet = "-" if bullet in "+*" else bullet
    return f"{indent}{bullet} {mark}{_inline(text)}"


def _inline(text: str) -> str:
    """The text with its links, stamps, notes and emphasis as Markdown has them."""
    return _INLINE.sub(_inline_part, text)


def _inline_part(part: re.Match[str]) -> str:
    if part["target"]:
        return _link(part["target"], part["label"] or "")
    if part["stamp"]:
        return _show_stamp(part["stamp"])
    if part["note"]:
        return f"[^{part['note']}]"
    mark, words = part["mark"], part["words"]
    if mark in "=~":
        return words if "`" in words else f"`{words}`"
    if mark == "/" and "/" in words:  # a path
        return part[0]
    return f"{_MARKDOWN[mark]}{_inline(words)}{_MARKDOWN[mark]}"


def _link(target: str, label: str) -> str:
    """A link as Markdown: to a heading or an id of Org only its words."""
    words = _inline(label) if label != target else ""
    if target.startswith(("*", "#", "id:")) or (not label and ":" not in target[:12]):
        path = _FILE.match(target)
        if not path:
            return words or target.lstrip("*#")
    file = _FILE.match(target)
    if file:
        target = target[file.end() :].partition("::")[0]
        is_shown = not words and re.search(
            r"(?i)\.(?:png|jpe?g|gif|webp|avif|hei[cf])\Z", target
        )
        words = words or target.rpartition("/")[2]
        return f"{'!' if is_shown else ''}[{'' if is_shown else words}](<{target}>)"
    return f"[{words}]({target})" if words else f"<{target}>"
