"""JSON with comments and trailing commas, edited as text: what is not named stays byte for byte.

| text                       | edit               | result                                    |
|----------------------------|--------------------|-------------------------------------------|
| `{"a": 1}`                 | put ("b",) 2       | `{"a": 1, "b": 2}`                        |
| `{"a": 1, /* c */ }`       | put ("b",) 2       | `{"a": 1, "b": 2, /* c */ }`              |
| `{"a": 1 // c ⏎}`          | put ("a", "b") 2   | Unreadable: a is no object                |
| `{"a": 1, "b": 2}`         | drop ("b",)        | `{"a": 1}`                                |
| `{"a": [1]}`               | put ("a", 1) 2     | `{"a": [1, 2]}`                           |
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_STRING = r'"[^"\\\n\r]*(?:\\.[^"\\\n\r]*)*"?'
_COMMENT = re.compile(rf"{_STRING}|//[^\n\r]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|[{{\[]\s*,|,(?=\s*[}}\]])", re.DOTALL)
_BLANK = re.compile(r"\s*")
_INDENTED = re.compile(r'^([ \t]+)"', re.MULTILINE)


Path = Sequence[str | int]
"""Names of members, and indexes of items; the index after the last item appends."""


class Unreadable(Exception):
    """A text that cannot be edited: `line`, counted from 1, and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"{reason} (line {line})")
        self.line = line
        self.reason = reason


class Member(NamedTuple):
    """A name and its value in an object: where the name begins, the value begins and ends, and the comma after it.

    An item of an array is named by its index, and begins where its value does.
    """

    name: str | int
    start: int
    begin: int
    end: int
    comma: int | None


class Object(NamedTuple):
    """An object or an array: where its brackets stand, and its members."""

    start: int
    closing: int
    members: list[Member]


def parse(text: str) -> Any:
    """What the text says; an empty one is an empty object. Raises Unreadable."""
    if not text.strip():
        return {}
    try:
        return json.loads(_without_last_commas(_without_comments(text)), parse_constant=int)  # int of NaN fails
    except RecursionError:
        raise Unreadable(1, "nested too deeply") from None
    except json.JSONDecodeError as error:
        after = error.msg == "Extra data"
        raise Unreadable(error.lineno, "something stands after the end" if after else f"no JSON: {error.msg}") from None
    except ValueError:  # NaN, or thousands of digits
        raise Unreadable(1, "no JSON: a number in it cannot be read") from None


def holder(top: Any, path: Path) -> Any:
    """The object, or array, that holds the last name of the path; objects on the way are made. Raises Unreadable."""
    found: Any = top
    for depth, name in enumerate(path):
        kind: Any = list if isinstance(name, int) else dict
        if not isinstance(found, kind):
            place = ".".join(map(str, path[:depth])) or "the whole of it"
            raise Unreadable(1, f"{place} is no {'array' if isinstance(name, int) else 'object'}")
        if depth + 1 < len(path):
            found = found[name] if isinstance(name, int) else found.setdefault(name, {})
    return found


def put(text: str, path: Path, value: Any) -> str:
    """The text with `value` at `path`. Objects on the way are made, a value that stands there is exchanged.

    Raises Unreadable where that would change something else.
    """
    wanted = parse(text)
    into, last = holder(wanted, path), path[-1]
    if isinstance(last, int):
        into[last : last + 1] = [value]
    else:
        into[last] = value
    if not text.strip():
        return render(wanted) + "\n"
    way = _way(text, path)
    at, member = way[-1]
    if member is None:
        inner = value
        for name in reversed(path[len(way) :]):
            inner = {name: inner}
        new = _insert(text, at, path[len(way) - 1], inner)
    else:
        new = text[: member.begin] + render(value, _indent(text, member.begin), *_style(text)) + text[member.end :]
    if parse(new) != wanted:
        raise Unreadable(1, "it cannot be changed without changing something else")
    return new


def drop(text: str, path: Path) -> str:
    """The text without what stands at `path`, however often; an object that thereby gets empty stays."""
    parse(text)
    while len(way := _way(text, path)) == len(path) and (member := way[-1][1]):
        text = _remove(text, way[-1][0], member)
        if isinstance(path[-1], int):
            break  # the next item has that index now
    return text


def render(value: Any, indent: str = "", unit: str = "  ", newline: str = "\n") -> str:
    """The value as JSON: objects over several lines, everything else on one."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + unit
    members = (inner + _member(name, each, inner, unit, newline) for name, each in value.items())
    return "{" + newline + f",{newline}".join(members) + newline + indent + "}"


def _member(name: str | int, value: Any, indent: str, unit: str, newline: str) -> str:
    shown = render(value, indent, unit, newline)
    return shown if isinstance(name, int) else f"{json.dumps(name, ensure_ascii=False)}: {shown}"


# -- reading ------------------------------------------------------------------------------------------


def _without_comments(text: str) -> str:
    """The text with blanks in the place of its comments: every offset stays."""

    def blank(found: re.Match[str]) -> str:
        open_ended = found[0].startswith("/*") and not found[0].endswith("*/", 2)
        return found[0] if found[0][0] == '"' or open_ended else re.sub(r"[^\n\r]", " ", found[0])

    return _COMMENT.sub(blank, text)


def _without_last_commas(bare: str) -> str:
    return _LAST_COMMA.sub(lambda found: " " if found[0] == "," else found[0], bare)


def _way(text: str, path: Path) -> list[tuple[Object, Member | None]]:
    """The objects on the way, as far as they are there, each with the member that leads on, if it has it.

    The text is one that `parse` can read.
    """
    bare = _without_comments(text)
    plain = _without_last_commas(bare)
    way: list[tuple[Object, Member | None]] = []
    at = _skip(plain, 0)
    for name in path:
        if plain[at] != ("[" if isinstance(name, int) else "{"):
            break
        into = _object(bare, plain, at)
        member = next((member for member in reversed(into.members) if member.name == name), None)  # the last one counts
        way.append((into, member))
        if member is None:
            break
        at = member.begin
    return way


def _object(bare: str, plain: str, start: int) -> Object:
    """The object or array that begins there, in a text without comments, and without last commas in `plain`."""
    decode = json.JSONDecoder().raw_decode
    members: list[Member] = []
    at = _skip(plain, start + 1)
    while plain[at] not in "}]":
        name, begin = len(members), at
        if plain[start] == "{":
            name, end_of_name = decode(plain, at)
            begin = _skip(plain, _skip(plain, end_of_name) + 1)
        end = decode(plain, begin)[1]
        after = _skip(bare, end)
        comma = after if bare[after] == "," else None
        members.append(Member(name, at, begin, end, comma))
        at = _skip(plain, after if comma is None else comma + 1)
    return Object(start, at, members)


def _skip(text: str, at: int) -> int:
    """Where the blanks that begin there end."""
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end()


# -- writing ------------------------------------------------------------------------------------------


def _insert(text: str, into: Object, name: str | int, value: Any) -> str:
    """The text with a new last member in the object; comments that stand at its end stay in front of it."""
    unit, newline = _style(text)
    tail = len(text[: into.closing].rstrip())
    if not into.members:
        outer = _indent(text, into.start)
        shown = newline + outer + unit + _member(name, value, outer + unit, unit, newline)
        between = text[tail : into.closing]
        rest = between if "\n" in between and tail > into.start + 1 else newline + outer
        return text[:tail] + shown + rest + text[into.closing :]
    last = into.members[-1]
    comma, own = ("", ",") if last.comma is not None else (",", "")
    if not _begins_line(text, last.start):
        tight = text[last.begin - 1] == ":"
        after = last.end if last.comma is None else last.comma + 1
        told = [value] if isinstance(name, int) else {name: value}
        shown = json.dumps(told, ensure_ascii=False, separators=(",", ":") if tight else None)[1:-1]
        return f"{text[:after]}{comma}{'' if tight else ' '}{shown}{own}{text[after:]}"
    indent = _indent(text, last.start)
    shown = newline + indent + _member(name, value, indent, unit, newline) + own
    return text[: last.end] + comma + text[last.end : tail] + shown + text[tail:]


def _remove(text: str, of: Object, member: Member) -> str:
    """The text without this member, its comma, and the blanks in front of it."""
    end = member.end if member.comma is None else member.comma + 1
    begin = len(text[: member.start].rstrip())
    rest = text[end:].partition("\n")[0].strip()
    if rest and not rest.startswith(("}", "]", "//", "/*")) and _begins_line(text, member.start):
        begin = member.start  # another one stands on the same line
    head, tail = text[:begin], text[end:]
    number = of.members.index(member)
    if member.comma is None and number:
        before = of.members[number - 1].comma
        assert before is not None
        head = head[:before] + head[before + 1 :]
    if len(of.members) == 1 and not head[of.start + 1 :].strip() and tail.lstrip()[:1] in ("}", "]"):
        return head[: of.start + 1] + tail.lstrip()
    return head + tail


def _style(text: str) -> tuple[str, str]:
    """(one step of indentation, the line's end) as this text has them."""
    unit = min(_INDENTED.findall(text), key=len, default="  ")
    return unit, "\r\n" if "\r\n" in text else "\n"


def _indent(text: str, at: int) -> str:
    """The blanks at the beginning of the line in which `at` is."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _begins_line(text: str, at: int) -> bool:
    return "\n" in text[:at] and not text[text.rfind("\n", 0, at) + 1 : at].strip()
