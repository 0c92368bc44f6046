"""JSON with comments and trailing commas, edited as text: what does not have to change stays
byte for byte.

| text                       | wanted                    | result                                    |
|----------------------------|---------------------------|-------------------------------------------|
| `{"a": 1}`                 | `{"a": 1, "b": 2}`        | `{"a": 1, "b": 2}`                        |
| `{"a": 1, /* c */ }`       | `{"a": 1, "b": 2}`        | `{"a": 1, "b": 2, /* c */ }`              |
| `{"a": 1, "b": 2}`         | `{"a": 1}`                | `{"a": 1}`                                |
| `{"a": [1] /* c */}`       | `{"a": [1, 2]}`           | `{"a": [1, 2] /* c */}`                   |
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


class Unreadable(Exception):
    """A text that cannot be edited, why, and the line, counted from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"{reason} (line {line})")


class Member(NamedTuple):
    """A name and its value in an object: where the name begins, the value begins and ends, and
    the comma after it.

    An item of an array is named by its index, and begins where its value does.
    """

    name: str | int
    value: Any
    start: int
    begin: int
    end: int
    comma: int | None


def parse(text: str) -> Any:
    """What the text says; an empty one is an empty object. Raises Unreadable."""
    if not text.strip():
        return {}
    try:
        return json.loads(
            _without_last_commas(_without_comments(text)), parse_constant=int
        )  # int of NaN fails
    except RecursionError:
        raise Unreadable(1, "nested too deeply") from None
    except json.JSONDecodeError as error:
        after = error.msg == "Extra data"
        raise Unreadable(
            error.lineno, "something stands after the end" if after else f"no JSON: {error.msg}"
        ) from None
    except ValueError:  # NaN, or thousands of digits
        raise Unreadable(1, "no JSON: a number in it cannot be read") from None


def relaxed(text: str) -> int:
    """The line of the first comment, or of what follows a comma too many; 0 in plain JSON.
    Raises Unreadable.
    """
    parse(text)
    try:
        json.loads(text or "{}")
    except json.JSONDecodeError as error:
        return error.lineno if text.strip() else 0
    return 0


def table(top: Any, path: Sequence[str]) -> dict[str, Any]:
    """The object at this path, made where there is none. Raises Unreadable where something else
    stands there.
    """
    found = table(top, path[:-1]).setdefault(path[-1], {}) if path else top
    if not isinstance(found, dict):
        raise Unreadable(1, f"{'.'.join(path) or 'the whole of it'} is no object")
    return found


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with `value` at `path`. Raises Unreadable."""
    wanted = parse(text)
    table(wanted, path[:-1])[path[-1]] = value
    return rewrite(text, wanted)


def drop(text: str, path: Sequence[str]) -> str:
    """The text without what stands at `path`; an object that thereby gets empty stays. Raises
    Unreadable.
    """
    wanted = parse(text)
    holder = table(wanted, path[:-1])
    if path[-1] not in holder:
        return text
    del holder[path[-1]]
    return rewrite(text, wanted)


def rewrite(text: str, wanted: Any) -> str:
    """The text, edited until it says `wanted`. What is new comes last. Raises Unreadable where
    that cannot be.
    """
    if not text.strip():
        return render(wanted) + "\n" if wanted else text
    for _ in range(1_000):  # edits, more than any change takes
        if parse(text) == wanted:
            return text
        text = _nearer(text, _skip(_without_comments(text), 0), wanted)
    raise Unreadable(1, "it cannot be changed without changing something else")


def render(value: Any, indent: str = "", unit: str = "  ", newline: str = "\n") -> str:
    """The value as JSON: objects over several lines, everything else on one."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + unit
    members = (
        inner + _member(name, each, inner, unit, newline) for name, each in value.items()
    )
    return "{" + newline + f",{newline}".join(members) + newline + indent + "}"


def _member(name: str | int, value: Any, indent: str, unit: str, newline: str) -> str:
    shown = render(value, indent, unit, newline)
    return (
        shown if isinstance(name, int) else f"{json.dumps(name, ensure_ascii=False)}: {shown}"
    )


# -- reading
# ------------------------------------------------------------------------------------------


def _without_comments(text: str) -> str:
    """The text with blanks in the place of its comments: every offset stays."""

    def blank(found: re.Match[str]) -> str:
        open_ended = found[0].startswith("/*") and not found[0].endswith("*/", 2)
        return (
            found[0] if found[0][0] == '"' or open_ended else re.sub(r"[^\n\r]", " ", found[0])
        )

    return _COMMENT.sub(blank, text)


def _without_last_commas(bare: str) -> str:
    return _LAST_COMMA.sub(lambda found: " " if found[0] == "," else found[0], bare)


def _members(text: str, start: int) -> tuple[list[Member], int]:
    """What the object or array that begins there holds, and where its closing bracket is."""
    bare = _without_comments(text)
    plain = _without_last_commas(bare)
    decode = json.JSONDecoder().raw_decode
    members: list[Member] = []
    at = _skip(plain, start + 1)
    while plain[at] not in "}]":
        name, begin = len(members), at
        if plain[start] == "{":
            name, end_of_name = decode(plain, at)
            begin = _skip(plain, _skip(plain, end_of_name) + 1)
        value, end = decode(plain, begin)
        after = _skip(bare, end)
        comma = after if bare[after] == "," else None
        members.append(Member(name, value, at, begin, end, comma))
        at = _skip(plain, after if comma is None else comma + 1)
    return members, at


def _skip(text: str, at: int) -> int:
    """Where the blanks that begin there end."""
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end()


# -- writing
# ------------------------------------------------------------------------------------------


def _nearer(text: str, start: int, wanted: Any) -> str:
    """The text after one edit of the object or array that begins there, which is not yet as
    `wanted`.
    """
    members, closing = _members(text, start)
    last = {
        member.name: member for member in members
    }  # of several members of one name the last counts
    goal = wanted if isinstance(wanted, dict) else dict(enumerate(wanted))
    fewer = isinstance(wanted, list) and len(members) > len(wanted)
    for name, member in last.items():
        if name not in goal or (fewer and member.value != goal[name]):
            return _remove(text, start, members, member)
        if member.value == goal[name]:
            continue
        if isinstance(member.value, dict | list) and type(member.value) is type(goal[name]):
            return _nearer(text, member.begin, goal[name])
        return (
            text[: member.begin]
            + render(goal[name], _indent(text, member.begin), *_style(text))
            + text[member.end :]
        )
    name = next(name for name in goal if name not in last)
    return _insert(text, start, closing, members, name, goal[name])


def _insert(
    text: str, start: int, closing: int, members: Sequence[Member], name: str | int, value: Any
) -> str:
    """The text with a new last member between the brackets; comments that stand at their end
    stay in front of it.
    """
    unit, newline = _style(text)
    tail = len(text[:closing].rstrip())
    if not members:
        outer = _indent(text, start)
        shown = newline + outer + unit + _member(name, value, outer + unit, unit, newline)
        between = text[tail:closing]
        rest = between if "\n" in between and tail > start + 1 else newline + outer
        return text[:tail] + shown + rest + text[closing:]
    last = members[-1]
    comma, own = ("", ",") if last.comma is not None else (",", "")
    if not _begins_line(text, last.start):
        tight = text[last.begin - 1] == ":"
        after = last.end if last.comma is None else last.comma + 1
        told = [value] if isinstance(name, int) else {name: value}
        shown = json.dumps(told, ensure_ascii=False, separators=(",", ":") if tight else None)[
            1:-1
        ]
        return f"{text[:after]}{comma}{'' if tight else ' '}{shown}{own}{text[after:]}"
    indent = _indent(text, last.start)
    shown = newline + indent + _member(name, value, indent, unit, newline) + own
    return text[: last.end] + comma + text[last.end : tail] + shown + text[tail:]


def _remove(text: str, start: int, members: Sequence[Member], member: Member) -> str:
    """The text without this member, its comma, and the blanks in front of it."""
    end = member.end if member.comma is None else member.comma + 1
    begin = len(text[: member.start].rstrip())
    rest = text[end:].partition("\n")[0].strip()
    if (
        rest
        and not rest.startswith(("}", "]", "//", "/*"))
        and _begins_line(text, member.start)
    ):
        begin = member.start  # another one stands on the same line
    head, tail = text[:begin], text[end:]
    number = members.index(member)
    if member.comma is None and number:
        before = members[number - 1].comma
        assert before is not None
        head = head[:before] + head[before + 1 :]
    if len(members) == 1 and not head[start + 1 :].strip() and tail.lstrip()[:1] in ("}", "]"):
        return head[: start + 1] + tail.lstrip()
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
