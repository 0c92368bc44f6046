"""Edits JSON: a plain file is formatted anew, one with comments or trailing commas keeps every
byte that need not change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

_INDENTED = re.compile(r'^([ \t]+)"', re.MULTILINE)


class Unreadable(Exception):
    """A text that cannot be edited, with the reason and the line, counted from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"{reason} (line {line})")


def parse(text: str) -> Any:
    """Returns the value of JSON with comments; an empty text is an empty object. Raises
    Unreadable.
    """
    if not text.strip():
        return {}
    try:
        return _parse_plain(text)
    except RecursionError:
        raise Unreadable(1, "nested too deeply") from None
    except ValueError:
        return _value(_model(text).value)


_parse_plain = partial(json.loads, parse_constant=int)  # int("NaN") is refused


def first_comment(text: str) -> int:
    """Returns the line of the first comment or trailing comma; 0 in plain JSON. Raises
    Unreadable.
    """
    parse(text)
    try:
        json.loads(text or "{}")
    except json.JSONDecodeError as error:
        return error.lineno if text.strip() else 0
    return 0


def table(top: Any, path: Sequence[str]) -> dict[str, Any]:
    """Returns the object at this path; makes a missing one. Raises Unreadable where another
    value stands there.
    """
    holder = top
    if path:
        holder = table(top, path[:-1]).setdefault(path[-1], {})
    if not isinstance(holder, dict):
        raise Unreadable(1, f"{'.'.join(path) or 'the whole of it'} is no object")
    return holder


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Returns the text with `value` at `path`. Raises Unreadable."""
    wanted = parse(text)
    table(wanted, path[:-1])[path[-1]] = value
    return rewrite(text, wanted)


def drop(text: str, path: Sequence[str]) -> str:
    """Returns the text without the value at `path`; its object stays. Raises Unreadable."""
    wanted = parse(text)
    holder = table(wanted, path[:-1])
    if path[-1] not in holder:
        return text
    del holder[path[-1]]
    return rewrite(text, wanted)


def rewrite(text: str, wanted: Any) -> str:
    """Returns the text after edits that make its value `wanted`. Raises Unreadable."""
    if parse(text) == wanted:
        return text
    unit = min(_INDENTED.findall(text), key=len, default="  ")
    newline = "\r\n" if "\r\n" in text else "\n"
    if first_comment(text):
        document = _model(text)
        _edit(document.value, wanted, unit, newline)
        new = _dump(document)
    else:
        end = text[len(text.rstrip()) :] if text.strip() else "\n"
        new = json.dumps(wanted, indent=unit, ensure_ascii=False)
        new = new.replace("\n", newline) + end
    if parse(new) != wanted:
        raise Unreadable(1, "it cannot be changed without changing something else")
    return new


def _model(text: str) -> Any:
    """Returns the document with its comments and blanks; JSON5 beyond comments and trailing
    commas is refused.
    """
    from json5.loader import ModelLoader, loads
    from json5.model import Identifier, Infinity, NaN, SingleQuotedString, UnaryOp, walk

    try:
        document = loads(text, loader=ModelLoader())
    except RecursionError:
        raise Unreadable(1, "nested too deeply") from None
    except json.JSONDecodeError as error:
        reason = error.msg.partition("primary error was:")[2] or error.msg
        reason = reason.strip().splitlines()[0].partition(" at: line")[0]
        raise Unreadable(error.lineno or 1, f"no JSON: {reason}") from None
    for node in walk(document):
        positive = isinstance(node, UnaryOp) and node.op == "+"
        if positive or isinstance(node, Identifier | Infinity | NaN | SingleQuotedString):
            raise Unreadable(node.lineno or 1, "no JSON, but JSON5")
    return document


def _value(node: Any) -> Any:
    from json5.loader import DefaultLoader

    return DefaultLoader().load(node)


def _dump(document: Any) -> str:
    from json5.dumper import ModelDumper, dumps

    dumper: Any = ModelDumper()  # no BaseDumper to its types
    return dumps(document, dumper=dumper)


def _edit(node: Any, wanted: Any, unit: str, line: str) -> None:
    """Changes an object or array of the model until its value is `wanted`; `line` is the line
    end and the indentation of its closing bracket.
    """
    goals = wanted if isinstance(wanted, dict) else dict(enumerate(wanted))
    if node.values:
        first = _heads(node)[0]
        first.wsc_before = node.leading_wsc + first.wsc_before
        node.leading_wsc = []
    for number in reversed(range(len(node.values))):
        if isinstance(wanted, dict):
            superfluous = _value(node.keys[number]) not in wanted
        else:
            superfluous = _value(node.values[number]) not in wanted
            superfluous = superfluous and len(node.values) > len(wanted)
        if superfluous:
            _remove(node, number)
    names = _names(node)
    for number, name in enumerate(names):
        old, goal = node.values[number], goals[name]
        value = _value(old)
        if value == goal:
            continue
        if isinstance(value, dict | list) and type(value) is type(goal):
            _edit(old, goal, unit, line + unit)
            continue
        _, new = _member(name, goal, unit, line)
        new.wsc_before, new.wsc_after = old.wsc_before, old.wsc_after
        node.values[number] = new
    for name, goal in goals.items():
        if name not in names:
            _insert(node, *_member(name, goal, unit, line))


def _names(node: Any) -> list[Any]:
    if hasattr(node, "keys"):
        return [_value(key) for key in node.keys]
    return list(range(len(node.values)))


def _member(name: str | int, value: Any, unit: str, line: str) -> tuple[Any, Any]:
    """Returns the first and the last node of a new member on lines of its own."""
    holder = [value] if isinstance(name, int) else {name: value}
    text = json.dumps(holder, indent=unit, ensure_ascii=False).replace("\n", line)
    node = _model(text).value
    head = _heads(node)[0]
    head.wsc_before = node.leading_wsc
    return head, node.values[0]


def _heads(node: Any) -> list[Any]:
    """Returns the nodes with which the members begin."""
    heads: list[Any] = getattr(node, "keys", node.values)
    return heads


def _insert(node: Any, head: Any, value: Any) -> None:
    """Adds a last member; comments and blanks at the end of the holder stay there."""
    last = node.trailing_comma or (node.values[-1] if node.values else None)
    before = last.wsc_after if last else node.leading_wsc
    comments, closing = _split(before)
    head.wsc_before = comments + head.wsc_before
    if last is None:
        node.leading_wsc = []
        if not any("\n" in blank for blank in closing):
            closing = value.wsc_after
    else:
        last.wsc_after = []
    node.values.append(value)
    if head is not value:
        node.keys.append(head)
    value.wsc_after = []
    (node.trailing_comma or value).wsc_after = closing


def _remove(node: Any, number: int) -> None:
    """Takes a member out; comments beside it stay."""
    head, value = _heads(node)[number], node.values.pop(number)
    if head is not value:
        del node.keys[number]
    before, _ = _split(head.wsc_before)
    behind, closing = _split(value.wsc_after)
    if number < len(node.values):
        following = _heads(node)[number]
        following.wsc_before = before + behind + following.wsc_before
        return
    if node.trailing_comma:
        last = node.trailing_comma
        last.wsc_after = before + behind + last.wsc_after
        if not node.values:
            node.trailing_comma = None
            node.leading_wsc = last.wsc_after
    elif node.values:
        node.values[-1].wsc_after += before + behind + closing
    else:
        node.leading_wsc = before + behind + closing
    if not _split(node.leading_wsc)[0]:
        node.leading_wsc = []


def _split(blanks: list[Any]) -> tuple[list[Any], list[Any]]:
    """Returns (comments and blanks, the blanks at the end)."""
    from json5.model import LineComment

    count = len(blanks)
    while count and isinstance(blanks[count - 1], str):
        count -= 1
    comments, end = blanks[:count], blanks[count:]
    if comments and isinstance(comments[-1], LineComment):
        comment = comments[-1]
        if comment.value.endswith("\r"):  # it belongs to the line end
            end = ["\r", *end]
            comment.value = comment.value[:-1]
    return comments, end
