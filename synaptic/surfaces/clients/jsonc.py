"""JSON with comments and trailing commas, edited as text: what is not named stays byte for byte.

| text                       | edit               | result                                    |
|----------------------------|--------------------|-------------------------------------------|
| `{"a": 1}`                 | put ("b",) 2       | `{"a": 1, "b": 2}`                        |
| `{"a": 1, /* c */ }`       | put ("b",) 2       | `{"a": 1, "b": 2, /* c */ }`              |
| `{"a": 1 // c ⏎}`          | put ("a", "b") 2   | Unreadable: a is no object                |
| `{"a": 1, "b": 2}`         | drop ("b",)        | `{"a": 1}`                                |
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

_TOKEN = re.compile(
    r"""(?P<blank> \s+ | //[^\n\r]* | /\*.*?\*/ )
      | (?P<string> "[^"\\\n\r]*(?:\\.[^"\\\n\r]*)*" )
      | (?P<mark> [{}\[\],:] )
      | (?P<word> -?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)? | true | false | null )""",
    re.VERBOSE | re.DOTALL,
)
_INDENTED = re.compile(r'^([ \t]+)"', re.MULTILINE)


class Unreadable(Exception):
    """A text that cannot be edited: `line`, counted from 1, and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"{reason} (line {line})")
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands; `members` are those of an object."""

    start: int
    end: int
    data: Any
    members: tuple[Member, ...] = ()

    def last(self, name: str) -> Member | None:
        """The member of this name that counts: of several it is the last."""
        return next((member for member in reversed(self.members) if member.name == name), None)


@dataclass(frozen=True, slots=True)
class Member:
    """A name and a value; `start` is where the name begins, `comma` where the comma after it is."""

    name: str
    start: int
    node: Node
    comma: int | None


def parse(text: str) -> Any:
    """What the text says; an empty one is an empty object. Raises Unreadable."""
    if not text.strip():
        return {}
    try:
        return json.loads(text, parse_constant=int)  # int of NaN fails: it is no JSON
    except (ValueError, RecursionError):  # comments, most likely
        return _parse(text).data


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with `value` at `path`. Objects on the way are made, a value that stands there is exchanged."""
    if not text.strip():
        return render(_nested(path, value)) + "\n"
    node = _parse(text)
    for depth, name in enumerate(path):
        if not isinstance(node.data, dict):
            raise Unreadable(_line(text, node.start), f"{'.'.join(path[:depth]) or 'the whole'} is no object")
        member = node.last(name)
        if member is None:
            return _insert(text, node, name, _nested(path[depth + 1 :], value))
        node = member.node
    shown = render(value, _indent(text, node.start), *_style(text))
    return text[: node.start] + shown + text[node.end :]


def drop(text: str, path: Sequence[str]) -> str:
    """The text without what stands at `path`, however often; an object that thereby gets empty stays."""
    while True:
        node = _parse(text)
        for name in path[:-1]:
            member = node.last(name)
            if member is None:
                return text
            node = member.node
        member = node.last(path[-1])
        if member is None:
            return text
        text = _remove(text, node, member)


def render(value: Any, indent: str = "", unit: str = "  ", newline: str = "\n") -> str:
    """The value as JSON: objects over several lines, everything else on one."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + unit
    members = (f"{inner}{_name(name)}: {render(each, inner, unit, newline)}" for name, each in value.items())
    return "{" + newline + f",{newline}".join(members) + newline + indent + "}"


# -- reading ------------------------------------------------------------------------------------------


class _Token(NamedTuple):
    kind: str
    start: int
    end: int
    text: str


def _parse(text: str) -> Node:
    tokens = _Tokens(text)
    try:
        node, at = _value(text, tokens, 0)
    except RecursionError:
        raise Unreadable(1, "nested too deeply") from None
    if tokens[at].kind != "end":
        raise Unreadable(_line(text, tokens[at].start), "something stands after the end")
    return node


class _Tokens:
    """The tokens of a text by number, each read when it is asked for: what stands behind an error costs nothing."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._read: list[_Token] = []
        self._at = 0

    def __getitem__(self, number: int) -> _Token:
        while number >= len(self._read):
            self._read.append(self._next())
        return self._read[number]

    def _next(self) -> _Token:
        text = self._text
        while (at := self._at) < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise Unreadable(_line(text, at), f"{text[at : at + 12].splitlines()[0]!r} is no JSON")
            self._at = match.end()
            if match.lastgroup != "blank":
                return _Token(str(match.lastgroup), at, self._at, match[0])
        return _Token("end", at, at, "")


def _value(text: str, tokens: _Tokens, at: int) -> tuple[Node, int]:
    token = tokens[at]
    if token.text == "{":
        return _object(text, tokens, at)
    if token.text == "[":
        return _array(text, tokens, at)
    if token.kind in ("string", "word"):
        return Node(token.start, token.end, _scalar(text, token)), at + 1
    raise Unreadable(_line(text, token.start), "a value is missing")


def _object(text: str, tokens: _Tokens, at: int) -> tuple[Node, int]:
    start = tokens[at].start
    members: list[Member] = []
    at += 1
    while tokens[at].text != "}" or tokens[at].kind != "mark":
        name = tokens[at]
        if name.kind != "string":
            raise Unreadable(_line(text, name.start), "a name in quotes or a } is missing")
        if tokens[at + 1].text != ":":
            raise Unreadable(_line(text, name.end), "a colon is missing")
        node, at = _value(text, tokens, at + 2)
        comma = _comma(text, tokens[at], "}")
        members.append(Member(_scalar(text, name), name.start, node, comma))
        at += comma is not None
    return Node(start, tokens[at].end, {m.name: m.node.data for m in members}, tuple(members)), at + 1


def _array(text: str, tokens: _Tokens, at: int) -> tuple[Node, int]:
    start, data = tokens[at].start, []
    at += 1
    while tokens[at].text != "]" or tokens[at].kind != "mark":
        node, at = _value(text, tokens, at)
        data.append(node.data)
        at += _comma(text, tokens[at], "]") is not None
    return Node(start, tokens[at].end, data), at + 1


def _comma(text: str, token: _Token, closing: str) -> int | None:
    """Where the comma is; None at the closing bracket."""
    if token.kind == "mark" and token.text == ",":
        return token.start
    if token.kind == "mark" and token.text == closing:
        return None
    raise Unreadable(_line(text, token.start), f"a comma or a {closing} is missing")


def _scalar(text: str, token: _Token) -> Any:
    try:
        return json.loads(token.text)
    except ValueError:
        raise Unreadable(_line(text, token.start), f"{token.text[:20]} is no JSON") from None


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


# -- writing ------------------------------------------------------------------------------------------


def _insert(text: str, node: Node, name: str, value: Any) -> str:
    """The text with a new last member in the object; comments that stand at its end stay in front of it."""
    unit, newline = _style(text)
    closing = node.end - 1
    tail = len(text[:closing].rstrip())
    if not node.members:
        outer = _indent(text, node.start)
        shown = f"{newline}{outer}{unit}{_name(name)}: {render(value, outer + unit, unit, newline)}"
        rest = text[tail:closing] if "\n" in text[tail:closing] and tail > node.start + 1 else newline + outer
        return text[:tail] + shown + rest + text[closing:]
    last = node.members[-1]
    comma, own = ("", ",") if last.comma is not None else (",", "")
    if not _begins_line(text, last.start):
        tight = text[last.node.start - 1] == ":"
        after = last.node.end if last.comma is None else last.comma + 1
        shown = json.dumps({name: value}, ensure_ascii=False, separators=(",", ":") if tight else None)[1:-1]
        return f"{text[:after]}{comma}{'' if tight else ' '}{shown}{own}{text[after:]}"
    indent = _indent(text, last.start)
    shown = f"{newline}{indent}{_name(name)}: {render(value, indent, unit, newline)}{own}"
    return text[: last.node.end] + comma + text[last.node.end : tail] + shown + text[tail:]


def _remove(text: str, node: Node, member: Member) -> str:
    """The text without this member, its comma, and the blanks in front of it."""
    end = member.node.end if member.comma is None else member.comma + 1
    begin = len(text[: member.start].rstrip())
    rest = text[end:].partition("\n")[0].strip()
    if rest and not rest.startswith(("}", "//", "/*")) and _begins_line(text, member.start):
        begin = member.start  # another one stands on the same line
    head, tail = text[:begin], text[end:]
    number = node.members.index(member)
    if member.comma is None and number:
        before = node.members[number - 1].comma
        assert before is not None
        head = head[:before] + head[before + 1 :]
    if len(node.members) == 1 and not head[node.start + 1 :].strip() and tail.lstrip().startswith("}"):
        return head[: node.start + 1] + tail.lstrip()
    return head + tail


def _nested(path: Sequence[str], value: Any) -> Any:
    for name in reversed(path):
        value = {name: value}
    return value


def _name(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


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
