"""Reads YAML front matter, adds tags to it, and reads the date in a file's name. Knows nothing
of entries.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from ..models import Pairs, Texts

if TYPE_CHECKING:
    import yaml

_FENCED = re.compile(r"(?ms)---[ \t]*\r?\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*\r?(?:\n|\Z)")
_LONGEST = 64 * 1024
_DEEPEST = 100
"""Levels of nested brackets that are read. libyaml's time for each character grows with their
depth.
"""
_NESTS = re.compile(r"[\[\]{}]")
_TAGS = re.compile(
    rb"(?im)^(?P<key>tags?)[ \t]*:(?:(?:[ \t]*\[(?P<list>[^\]\r\n]*)\]|[ \t]+(?P<quote>[\"']?)"
    rb"(?P<words>[^\s\"'#\[\]{}&*!|>%@`](?:[^\"'#\r\n]*[^\"'#\s])?)(?P=quote))?"
    rb"[ \t]*(?:(?<=[ \t])#.*)?\r?\n(?P<items>(?:[ \t]*-(?:[ \t].*)?\r?\n)*)|.*\n)"
)
"""The line of `tags`: a list, or words, or nothing and items in the lines below; `items` is
None for anything else.
"""
MONTHS = (
    "january february march april may june july august september october november december"
).split()
CENTURY = "(?P<year>19[0-9]{2}|20[0-9]{2}|2100)"
MONTH = (
    "(?P<name>(?i:" + "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS) + r"|sept))\.?"
)
_DAY = "(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_ALONE = r"(?<![^\W_])(?<!\.)%s(?!\.?[^\W_])"
_DATES_IN_NAME = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?<![0-9])(?P<year>[0-9]{4})(?P<mark>[-_])(?P<month>[0-9]{2})(?P=mark)"
        r"(?P<day>[0-9]{2})(?![0-9])",
        r"(?<![0-9])(?P<year>(?:19|20)[0-9]{2})(?P<month>[0-9]{2})(?P<day>[0-9]{2})(?![0-9])",
        _ALONE % rf"{MONTH} {_DAY},? {CENTURY}",
        _ALONE % rf"{_DAY}\.? {MONTH},? {CENTURY}",
        _ALONE % rf"(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.{CENTURY}",
    )
)
DAY_PAGES = (_DATES_IN_NAME[0], _DATES_IN_NAME[2])
"""The names that Logseq and Obsidian give the page of a day."""
_DATE_OF_FOLDERS = re.compile(
    rf"(?:\A|/){CENTURY}/(?P<month>[0-9]{{1,2}})/(?P<day>[0-9]{{1,2}})\Z"
)
_DATE_IN_TEXT = re.compile(
    r"(?<![0-9])(?P<year>[0-9]{4})[-/.](?P<month>[0-9]{1,2})[-/.](?P<day>[0-9]{1,2})(?![0-9])"
)


class FrontMatter(NamedTuple):
    """The keys that Synaptic reads. `created_at` may be naive. `fields` are all (key, value),
    those keys included.
    """

    title: str | None = None
    tags: Texts = ()
    aliases: Texts = ()
    created_at: datetime | None = None
    excluded: bool = False
    fields: Pairs = ()


def front_matter_end(text: str, start: int) -> re.Match[str] | None:
    """The block that opens `text` at `start`, with its group `yaml`; None without one."""
    return _FENCED.match(text, start, start + _LONGEST)


def read_front_matter(text: str) -> FrontMatter | None:
    """The front matter in the YAML `text`; None if it is not a mapping but text between two
    rules.

    Reads events and builds no objects, so aliases, recursion and odd types cost nothing. Raises
    yaml.YAMLError.
    """
    import yaml  # slow, and few files have front matter

    depth = deepest = 0
    for bracket in _NESTS.findall(text):  # those in quotes count too
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > _DEEPEST:
        raise yaml.MarkedYAMLError(problem=f"more than {_DEEPEST} brackets within brackets")
    fields = _top_level(text)
    if fields is None:
        return None
    tags = []
    for key in ("tags", "tag"):
        value = fields.get(key, [])  # plain text may name several
        tags += value.replace(",", " ").split() if isinstance(value, str) else value
    moments = map(_read_date, _values_of_keys(fields, "date", "created"))
    switches = map(str.lower, _values_of_keys(fields, "synaptic"))
    pairs = []
    for key in fields:
        pairs += [(key, value) for value in _values_of_keys(fields, key)]
    return FrontMatter(
        title=" ".join(" ".join(_values_of_keys(fields, "title")).split()) or None,
        tags=tuple(tags),
        aliases=tuple(_values_of_keys(fields, "aliases", "alias")),
        created_at=next(filter(None, moments), None),
        excluded=not {"false", "no", "off"}.isdisjoint(switches),
        fields=tuple(pairs),
    )


def add_tags(data: bytes, tags: Sequence[str], eol: bytes) -> bytes:
    """The file's bytes with these tags added to its front matter; it gets a block, or a line in
    it, if it has none.

    All other bytes stay. Whether the result says what is meant is for the caller to read: not
    all YAML can be edited.
    """
    import yaml

    named = [yaml.safe_dump(tag, allow_unicode=True).split("\n")[0].encode() for tag in tags]
    line = b"tags: [%b]" % b", ".join(named) + eol
    begin = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    block = front_matter_end(data.decode("latin-1"), begin)
    if not block:
        return b"".join([data[:begin], b"---", eol, line, b"---", eol, data[begin:]])
    start, stop = block.span("yaml")
    lines = _TAGS.finditer(data[:stop], start)
    present = max(lines, key=lambda line: len(line["key"]), default=None)  # `tags` before `tag`
    if not present:
        return data[:stop] + line + data[stop:]
    if present["items"] is None:
        return data
    group = "words" if present["list"] is None else "list"
    if present[group] is None:
        at = present.end()
        last = re.search(rb"([ \t]*-[ \t]+).*\n\Z", present["items"])
        before = last[1] if last else b"  - "
        new = b"".join(before + tag + eol for tag in named)
    else:
        items = present[group].rstrip()
        at = present.start(group) + len(items)
        between = b", " if group == "list" or b"," in items else b" "
        new = between.join([items, *named] if items else named)[len(items) :]
    return data[:at] + new + data[at:]


def _values_of_keys(fields: dict[str, str | list[str]], *keys: str) -> list[str]:
    values = []
    for key in keys:
        value = fields.get(key, "")
        values += [value] if isinstance(value, str) else value
    return list(filter(None, values))


def _top_level(text: str) -> dict[str, str | list[str]] | None:
    """Scalars and lists of scalars by their lower-case key. Deeper values are left out."""
    import yaml

    nodes: list[str | list[str]] = []  # keys and values in turn
    depth = 0
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.DocumentEndEvent):
            break
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if not isinstance(event, yaml.NodeEvent):
            continue
        if depth == 0 and not isinstance(event, yaml.MappingStartEvent):
            # an empty block has no keys; a scalar or a list is somebody's text
            return {} if isinstance(event, yaml.ScalarEvent) and not event.value else None
        value = _scalar(event)
        if depth == 1:
            nodes.append([] if isinstance(event, yaml.SequenceStartEvent) else value)
        elif depth == 2 and isinstance(nodes[-1], list):
            nodes[-1].append(value)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
    fields: dict[str, str | list[str]] = {}
    for key, values in zip(nodes[::2], nodes[1::2], strict=False):
        if isinstance(key, str):
            fields.setdefault(key.lower(), values)
    return fields


def _scalar(event: yaml.NodeEvent) -> str:
    """A scalar's text as written; "" for null and for anything else."""
    from yaml import ScalarEvent

    if not isinstance(event, ScalarEvent):
        return ""
    value = event.value
    return "" if event.style in (None, "") and value.lower() in ("~", "null") else value


def _read_date(value: str) -> datetime | None:
    """The moment that a front matter value names; midnight if it names only a day."""
    value = value.strip()
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        pass
    for match in _DATE_IN_TEXT.finditer(value):
        day = day_named(match.groupdict())
        if day:
            return datetime.combine(day, time())
    return None


def date_in_path(path: str, day_file: str) -> date | None:
    """The date in a file's path: read by the pattern `day_file`, else found anywhere in the
    stem, or as its folders.

    | stem                                       | date       |
    |--------------------------------------------|------------|
    | `2026-11-21`, `2026_11_21`                 | 2026-11-21 |
    | `20261121 Meeting`                         | 2026-11-21 |
    | `November 21, 2026`, `Nov 21st, 2026`      | 2026-11-21 |
    | `21 November 2026`, `21.11.2026 Meeting`   | 2026-11-21 |
    | `2026/11/21`                               | 2026-11-21 |
    | `2026-02-30`, `ticket 123456`, `v1.2.2026` | none       |
    """
    try:
        return datetime.strptime(
            path, day_file.replace("%-", "%")
        ).date()  # `%-d` is for writing only
    except (ValueError, re.error, KeyError, OverflowError):
        pass
    pure = PurePosixPath(path)
    matches: list[re.Match[str]] = []
    for pattern in _DATES_IN_NAME:
        matches += pattern.finditer(pure.stem)
    matches += _DATE_OF_FOLDERS.finditer((pure.parent / pure.stem).as_posix())
    for match in matches:
        day = day_named(match.groupdict())
        if day:
            return day
    return None


def day_named(groups: dict[str, str | Any]) -> date | None:
    """The day of the groups `year`, `month` or else `name`, and `day`; None if there is no such
    day.
    """
    try:
        month = groups.get("month")
        if month is None:
            names = [name[:3] for name in MONTHS]
            month = names.index(groups["name"][:3].lower()) + 1
        return date(int(groups["year"]), int(month), int(groups["day"]))
    except ValueError:
        return None
