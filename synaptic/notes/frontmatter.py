"""Reads front matter in YAML or TOML. Knows nothing of entries."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import TYPE_CHECKING, NamedTuple

from ..models import Pairs, Texts
from .dates import moment_in_value

if TYPE_CHECKING:
    import yaml

Values = dict[str, str | list[str]]
"""Texts, and lists of texts, by their keys in lower case."""
_FENCED = re.compile(
    r"(?ms)(?:(?P<yaml>---)|\+\+\+)[ \t]*\r?\n(?P<fields>.*?)"
    r"^(?(yaml)(?:---|\.\.\.)|\+\+\+)[ \t]*\r?(?:\n|\Z)"
)
_LONGEST = 64 * 1024
DEEPEST = 100
"""Levels of nested brackets that are read. libyaml's time for each character grows with their
depth.
"""
BRACKETS = re.compile(r"[\[\]{}]")
_KEY = r"(?P<indent>[ \t]*)(?P<key>[^\W\d_][\w .-]{0,40}?)[ \t]*"
_YAML_LINE = re.compile(_KEY + r":(?P<value>[ \t].*|\r?\Z)")
_TOML_LINE = re.compile(_KEY + r"=(?P<value>.*)")
_ITEM_LINE = re.compile(r"[ \t]*-[ \t]+(.*)")
_TAG_WORD = re.compile(r"\[\[[^\[\]\n]+\]\]|[^\s,]+")
"""One of several tags in a plain text; TiddlyWiki writes `[[a tag]] another`."""
_CREATED = ("date", "created", "created_at", "created at", "date created", "created time")
"""Keys whose value is the day on which a note was written."""


class FrontMatter(NamedTuple):
    """The values that Synaptic reads from front matter. `created_at` may have no zone. `fields`
    are all (key, value) pairs, also nested ones. `problem` is (line, reason) if some lines
    could not be read.
    """

    title: str | None = None
    tags: Texts = ()
    aliases: Texts = ()
    created_at: datetime | None = None
    excluded: bool = False
    fields: Pairs = ()
    problem: tuple[int, str] | None = None


def match_front_matter(text: str, start: int) -> re.Match[str] | None:
    """Matches the front matter that begins at the offset `start`: the group `fields` is its
    text, `yaml` is set for YAML. None without front matter.
    """
    return _FENCED.match(text, start, start + _LONGEST)


def read_front_matter(text: str, *, is_toml: bool = False) -> FrontMatter | None:
    """Parses the text of front matter; None if it is not a mapping, but ordinary text between
    two rules.

    If the whole cannot be read, its lines `key: value` are; `problem` says why. Without such
    lines there are no `fields`.
    """
    values: Values | None
    problem = None
    try:
        values, nested = _read_toml(text) if is_toml else _read_yaml(text)
    except _Unreadable as error:
        problem = error.line, error.reason
        values, nested = _read_lines(text, is_toml=is_toml)
    if values is None:
        return None
    return _build_front_matter(values, nested)._replace(problem=problem)


def _build_front_matter(values: Values, nested: Values) -> FrontMatter:
    """Builds a `FrontMatter` from the values at the top level and the nested ones.

    A memory of an agent has `name` and `description` in place of a title; its `type`, also
    within `metadata`, is a tag.
    """
    tags: list[str] = []
    for key in ("tags", "tag"):
        value = values.get(key) or nested.get(key, [])  # plain text may name several
        tags += _TAG_WORD.findall(value) if isinstance(value, str) else value
    titles = _values_of_keys(values, "title")
    if not titles and values.keys() >= {"name", "description"}:
        titles = _values_of_keys(values, "name")
        tags += _values_of_keys(nested | values, "type")
    moments = map(moment_in_value, _values_of_keys(values, *_CREATED))
    switches = map(str.lower, _values_of_keys(values, "synaptic"))
    pairs = []
    for each in (values, nested):
        for key in each:
            pairs += [(key, value) for value in _values_of_keys(each, key)]
    return FrontMatter(
        title=" ".join(" ".join(titles).split()) or None,
        tags=tuple(tags),
        aliases=tuple(_values_of_keys(values, "aliases", "alias")),
        created_at=next(filter(None, moments), None),
        excluded=not {"false", "no", "off"}.isdisjoint(switches),
        fields=tuple(pairs),
    )


class _Unreadable(ValueError):
    """Raised for front matter that cannot be parsed, with the line (from 0) and the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def _values_of_keys(fields: Values, *keys: str) -> list[str]:
    values = []
    for key in keys:
        value = fields.get(key, "")
        values += [value] if isinstance(value, str) else value
    return list(filter(None, values))


def _read_yaml(text: str) -> tuple[Values | None, Values]:
    """(values at the top level, nested values); the first is None if the text is not a mapping.

    Reads events and builds no objects, so aliases, recursion and odd types cost nothing. Raises
    _Unreadable.
    """
    import yaml  # slow, and few files have front matter

    depth = deepest = 0
    for bracket in BRACKETS.findall(text):  # those in quotes count too
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > DEEPEST:
        raise _Unreadable(0, f"more than {DEEPEST} brackets within brackets")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _values_of_events(yaml.parse(text, Loader=loader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        if any(sign in (getattr(error, "context", None) or "") for sign in ("quoted", "flow")):
            mark = getattr(error, "context_mark", mark)  # the quote or bracket that stays open
        reason = getattr(error, "problem", None) or "unreadable"
        raise _Unreadable(mark.line if mark else 0, reason) from error


@dataclass
class _Node:
    """A mapping or list of YAML that is being read. Without `values` or `items` its content is
    ignored. `key` is the key whose value comes next.
    """

    is_mapping: bool
    values: Values | None = None
    items: list[str] | None = None
    key: str | None = None


def _values_of_events(events: Iterable[yaml.Event]) -> tuple[Values | None, Values]:
    import yaml

    values: Values = {}
    nested: Values = {}
    path: list[_Node] = []
    for event in events:
        if isinstance(event, yaml.DocumentEndEvent):
            break
        if isinstance(event, yaml.CollectionEndEvent):
            path.pop()
        if not isinstance(event, yaml.NodeEvent):
            continue
        if path:
            node = _read_node(event, path[-1], nested)
        elif isinstance(event, yaml.MappingStartEvent):
            node = _Node(True, values)
        else:  # an empty block has no keys; a scalar or a list is somebody's text
            is_empty = isinstance(event, yaml.ScalarEvent) and not event.value
            return ({} if is_empty else None), {}
        if isinstance(event, yaml.CollectionStartEvent):
            path.append(node)
    return values, nested


def _read_node(event: yaml.NodeEvent, parent: _Node, nested: Values) -> _Node:
    """Stores the text of an event in its parent, as a key, a value or an item, and returns the
    node for the event's own content.
    """
    import yaml

    node = _Node(isinstance(event, yaml.MappingStartEvent))
    text = _scalar_text(event)
    if not parent.is_mapping:
        if parent.items is not None:
            parent.items.append(text)
    elif parent.key is None:
        parent.key = text.lower()
    else:
        key = parent.key
        parent.key = None
        if key and parent.values is not None and key not in parent.values:
            node.values = nested
            node.items = []
            is_list = isinstance(event, yaml.SequenceStartEvent)
            parent.values[key] = node.items if is_list else text
    return node


def _scalar_text(event: yaml.NodeEvent) -> str:
    """The text of a scalar as written; "" for null and for mappings and lists."""
    from yaml import ScalarEvent

    if not isinstance(event, ScalarEvent):
        return ""
    value = event.value
    return "" if event.style in (None, "") and value.lower() in ("~", "null") else value


def _read_toml(text: str) -> tuple[Values, Values]:
    """(values at the top level, values in tables). Raises _Unreadable."""
    try:
        table = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        line = re.search("at line ([0-9]+)", str(error))
        raise _Unreadable(int(line[1]) - 1 if line else 0, str(error)) from error
    values: Values = {}
    nested: Values = {}
    tables = [(table, values)]
    while tables:
        table, target = tables.pop()
        for key, value in table.items():
            if isinstance(value, dict):
                tables.append((value, nested))
            elif isinstance(value, list):
                target.setdefault(key.lower(), list(map(_toml_text, value)))
            else:
                target.setdefault(key.lower(), _toml_text(value))
    return values, nested


def _toml_text(value: object) -> str:
    """A TOML scalar as text; "" for any other value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value) if isinstance(value, str | int | float) else ""


def _read_lines(text: str, *, is_toml: bool) -> tuple[Values, Values]:
    """(values, values of indented lines) from lines `key: value` and lists below a key, for
    front matter that cannot be parsed; both empty if most lines are ordinary text.
    """
    pattern = _TOML_LINE if is_toml else _YAML_LINE
    values: Values = {}
    nested: Values = {}
    items: list[str] = []
    holds_more = False  # the key above has no value in its line
    strange = 0
    for line in text.split("\n"):
        field = pattern.match(line)
        item = _ITEM_LINE.match(line)
        if field:
            is_nested = bool(field["indent"]) and holds_more
            items = []
            value = _line_value(field["value"], items)
            (nested if is_nested else values).setdefault(field["key"].lower(), value)
            holds_more = is_nested or value is items
        elif item:
            items.append(_strip_quotes(item[1]))
        elif line.strip() and line[0] not in "# \t":
            strange += 1
    return (values, nested) if len(values) > strange else ({}, {})


def _line_value(written: str, items: list[str]) -> str | list[str]:
    """The value of a line: a text, the list in brackets, or the `items` of the lines below."""
    written = written.strip()
    if not written or written in ("|", ">"):
        return items
    if written.startswith("[") and not written.startswith("[["):
        in_brackets = written[1:].partition("]")[0].split(",")
        return list(filter(None, map(_strip_quotes, in_brackets)))
    return _strip_quotes(written)


def _strip_quotes(written: str) -> str:
    return written.strip(" \t\r").strip("\"'")
