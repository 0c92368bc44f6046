"""Edits values in JSON that may have comments and trailing commas; all other bytes stay
unchanged.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

_STRING = r'("(?:\\.|[^"\\\n])*")'
_COMMENT = re.compile(rf"(?s)\A\ufeff|{_STRING}|//[^\n]*|/\*.*?(?:\*/|\Z)")
_LAST_COMMA = re.compile(rf"(?s){_STRING}|,(?=\s*[}}\]])")
_COMMA = re.compile(r"\s*,")
_SEPARATORS = re.compile(r"[\s:,]*")
_INDENTED = re.compile(r'(?m)^([ \t]+)"')
_DECODER = json.JSONDecoder(parse_constant=int)  # int("NaN") is refused

Names = Sequence[str]
"""The path to a value: the names of the objects around it, and its own name."""

Members = dict[str, tuple[int, int, int]]
"""By name of a member of an object: the offsets of its name, of its value, and of its end."""


def parse(text: str) -> Any:
    """Returns the value of JSON with comments; {} for an empty text. Raises ValueError or
    RecursionError.
    """
    return _DECODER.decode(blank_comments(text).strip() or "{}")


def blank_comments(text: str) -> str:
    """Returns the text with blanks in place of comments and trailing commas, so that offsets
    stay the same.
    """
    text = _COMMENT.sub(_replace_with_blanks, text)
    return _LAST_COMMA.sub(_replace_with_blanks, text)


def put(text: str, path: Names, value: Any) -> str:
    """Returns the text with `value` at `path`; a member that is new becomes the first of its
    object. Raises what `parse` does, and TypeError or AttributeError where a value on the path
    is not an object.
    """
    if not text.strip():
        text = "{}\n"
    wanted = parse(text)
    _parent_object(wanted, path)[path[-1]] = value
    bare = blank_comments(text)
    depth, at, members = _find_parent_object(bare, path)
    for name in reversed(path[depth + 1 :]):
        value = {name: value}
    unit = min(_INDENTED.findall(text), key=len, default="  ")
    line = "\n" + unit * depth
    added = json.dumps(value, indent=unit, ensure_ascii=False)
    added = added.replace("\n", line + unit)
    begin = end = at + 1
    if path[depth] in members:
        _, begin, end = members[path[depth]]
        if text[begin:end] != bare[begin:end]:
            raise ValueError(
                f"the comments in {'.'.join(path)} would be lost, so remove them first"
            )
    else:
        added = f"{line}{unit}{json.dumps(path[depth])}: {added}"
        if members:
            added += ","
        elif text[begin] == "}":
            added += line
    return _check_json(text[:begin] + added + text[end:], wanted)


def drop(text: str, path: Names) -> str:
    """Returns the text without the value at `path`, and without objects that this leaves empty.
    Raises what `put` does.
    """
    wanted = parse(text)
    holder = _parent_object(wanted, path)
    if path[-1] not in holder:
        return text
    bare = blank_comments(text)
    commas = _COMMENT.sub(_replace_with_blanks, text)
    _, at, members = _find_parent_object(bare, path)
    begin, _, end = members[path[-1]]
    close = _skip_separators(bare, end)
    alone = len(holder) == 1
    plainly = text[at:close] == bare[at:close]
    if alone and plainly and len(path) > 1:
        return drop(text, path[:-1])
    del holder[path[-1]]
    before = text[:begin].rstrip()
    after = text[end:]
    if commas[len(before) - 1].isspace():  # a comment
        before = text[:begin]
    comma = _COMMA.match(commas, end)
    if comma:
        index = comma.end()
        after = text[end : index - 1] + text[index:]
    elif not alone:
        index = commas.rindex(",", 0, begin)
        before = text[:index] + before[index + 1 :]
    return _check_json(before + after, wanted)


def _parent_object(top: Any, path: Names) -> Any:
    """Returns the object that holds, or is to hold, the last name of the path; adds missing
    objects.
    """
    for name in path[:-1]:
        top = top.setdefault(name, {})
    return top


def _find_parent_object(bare: str, path: Names) -> tuple[int, int, Members]:
    """Returns the innermost object on the path that exists: how many names lead to it, the
    offset of its bracket, and its members. `bare` is the text without comments.
    """
    at = _skip_separators(bare, 0)
    members = _find_members(bare, at)
    depth = 0
    while depth < len(path) - 1 and path[depth] in members:
        _, at, _ = members[path[depth]]
        members = _find_members(bare, at)
        depth += 1
    return depth, at, members


def _find_members(bare: str, at: int) -> Members:
    """Returns the offsets of the members of the object whose bracket is at offset `at`."""
    members = {}
    at = _skip_separators(bare, at + 1)
    while bare[at] != "}":
        name, colon = _DECODER.raw_decode(bare, at)
        begin = _skip_separators(bare, colon)
        _, end = _DECODER.raw_decode(bare, begin)
        members[name] = at, begin, end
        at = _skip_separators(bare, end)
    return members


def _skip_separators(bare: str, at: int) -> int:
    """Returns the offset of the next name, value or bracket after blanks, colons and commas."""
    blanks = _SEPARATORS.match(bare, at)
    return blanks.end() if blanks else at


def _replace_with_blanks(match: re.Match[str]) -> str:
    """Returns a matched string unchanged, a matched comment or comma as blanks and line
    ends.
    """
    return match[1] or re.sub(r"[^\r\n]", " ", match[0])


def _check_json(new: str, wanted: Any) -> str:
    """Returns the new text if its value is `wanted`. Raises ValueError if the edit changed
    anything else.
    """
    if parse(new) != wanted:
        raise ValueError("it cannot be edited without changing other settings")
    return new
