"""Formats entries, hits and findings as compact Markdown for an agent; stored text is fenced,
as data. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from ..language.lexicon import sentence_ends
from ..models import Entry, Hit, Json, Link, SearchResult
from ..models import short_id as short_id
from ..notes.conflicts import with_versions_shown
from ..notes.header import leading_markup, shorten
from ..notes.marks import fields_of_front_matter
from ..search.snippet import cut_snippet
from .fence import clean, count_tokens, fenced, one_line
from .wire import why_json

if TYPE_CHECKING:
    from ..plugin import ReviewFinding
    from ..verbs.browse import Listing
    from ..verbs.link_ends import Links

IsHit = Callable[[str], bool]
"""A function that returns True for a word that the query asked for."""

BRIEF_CHARS = 600
"""Characters that a shortened message keeps at its beginning, and at its end."""
CHANGED_SHOWN = 5
"""The most changed files, or further places of a hit, that are named."""
LINKS_SHOWN = 20
"""The most links, and the most backlinks, of an entry that are named."""
NEIGHBOUR_CHARS = 80
"""Characters of an entry that stands before or after a hit."""
TITLE_CHARS, ALONE_CHARS = 100, 60
"""The most characters of a title in a list, above its text and alone. A title alone is for
choosing what to open: with 100 an answer of 400 tokens says what 20 of 43 tasks need
(helps_dev.json), with 60 what 27 need.
"""
MARKS_CHARS = 300
"""The most characters of the tags and other marks of an entry in a list: more would leave no
room for the entry itself.
"""
NEAR_CHARS = 60
"""The most characters of the title of an entry that is only named, near another."""
SHADES = 4
"""The number of shades for days with entries in a calendar."""
NAME_CHARS = 60
"""The most characters of a tag, a type or a project in counts."""
SNIPPET_CHARS = 240
PAGE_CHARS = 4_000
"""The most characters of a whole file among the entries of a day."""
HEADING_CHARS = 160
"""The most characters of a first line or sentence that is shown as a title."""


class Item(NamedTuple):
    """An entry ready to be shown.

    `text` is its content, or with `partial` a part of it. `remark` are our own words about it,
    `below` lines that name other entries.
    With `detailed` all its marks and its file are shown, at the `line` of a passage, or else of
    the whole entry. `chain` are the entries that replaced
    each other, oldest first.
    """

    entry: Entry
    text: str
    snippet: str = ""
    partial: bool = False
    superseded_by: str | None = None
    remark: str = ""
    below: Sequence[str] = ()
    detailed: bool = False
    links: Links | None = None
    chain: Sequence[Entry] = ()
    line: int = 0


def hit_items(result: SearchResult, *, length: int, detailed: bool = False) -> list[Item]:
    """Returns the hits of a search ready to be shown: with the whole content, or the best
    passage of a content above `length` characters.
    """
    items = []
    above: set[str] = set()
    for hit in result.hits:
        content = hit.entry.content
        text = hit.passage if len(content) > length else content
        # a short list has no room for them: 3 tokens more an answer, and no more entries found
        beside = neighbour_lines(hit) if detailed else []
        score = f"score {hit.score:.2f}" if detailed and not hit.why else ""
        items.append(
            Item(
                entry=hit.entry,
                text="\n".join((text, *beside)),
                snippet=hit.snippet,
                partial=text != content,
                superseded_by=hit.superseded_by,
                remark=" · ".join(filter(None, (score, hit_remark(hit)))),
                below=later_lines(hit, above),
                detailed=detailed,
                line=hit.snippet_line,
            )
        )
        above.add(hit.entry.id)
    return items


def entry_items(listing: Listing, *, length: int | None = None) -> list[Item]:
    """Returns the entries of a listing ready to be shown, each whole or cut to about `length`
    characters.
    """
    items = []
    for entry in map(with_versions_shown, listing.entries):
        content = entry.content
        text = content if length is None else _cut_beginning(content, length)
        items.append(
            Item(
                entry=entry,
                text=text,
                snippet=_cut_beginning(text, SNIPPET_CHARS),
                partial=text != content,
                superseded_by=listing.superseded_by.get(entry.id),
                detailed=True,
                links=listing.links.get(entry.id),
                chain=listing.chains.get(entry.id, ()),
            )
        )
    return items


def _cut_beginning(text: str, length: int) -> str:
    return cut_snippet(text, lambda _: (), length=length)[0]


def split_heading(title: str, text: str) -> tuple[str, str]:
    """Returns the heading of an entry, and the text below it, which does not repeat the
    heading.

    | title       | text                         | heading          | below         |
    |-------------|------------------------------|------------------|---------------|
    | Moved       | Moved. (a line) The rest     | Moved.           | The rest      |
    | We moved t… | We moved to Ely. The rest    | We moved to Ely. | The rest      |
    | We moved t… | We moved to Ely (above 160)  | We moved t…      | …o Ely        |
    | Ely         | We moved.                    | Ely              | We moved.     |
    | Call Ida    | - [ ] Call Ida               | - [ ] Call Ida   |               |
    """
    text = clean(text)
    stem = _stem_of_title(title)
    is_cut = title.endswith("…")
    opening = leading_markup(text)
    if not stem or (opening and not opening.startswith("#")):
        is_all = one_line(text[len(opening) :]) == one_line(title)
        return (one_line(text), "") if is_all else (title, text)
    wanted = stem.replace("**", "")
    first_line = len(text.partition("\n")[0])
    for end in (first_line, *sentence_ends(text[: 2 * HEADING_CHARS]), len(text)):
        heading = text[len(opening) : end].strip()
        stem_of_heading = _stem_of_title(heading.replace("**", ""))
        says_title = stem_of_heading.startswith(wanted) if is_cut else stem_of_heading == wanted
        if says_title and len(heading) <= HEADING_CHARS and not _has_open_markup(heading):
            return heading, text[end:].lstrip()
    if is_cut and text.startswith(stem) and not _has_open_markup(stem):
        return title, f"…{text[len(stem) :]}"
    return title, text


def begins_with_title(title: str, text: str) -> bool:
    """True if a text says the title of its entry first, whatever marks are before it."""
    line = one_line(text)
    return line[len(leading_markup(line)) :].startswith(_stem_of_title(title))


def _stem_of_title(title: str) -> str:
    """Returns the title in one line, without the dots or ellipsis at its end."""
    return one_line(title).rstrip(".… ")


def _has_open_markup(text: str) -> bool:
    """True when emphasis, code or a link is not closed at the end of the text."""
    is_odd = any(text.count(mark) % 2 for mark in "*`")
    return is_odd or text.count("[") != text.count("]")


def fitting_length(text: str, room: int) -> int:
    """Returns the length of a beginning of the text that has at most `room` characters.

    It ends after a line, unless that line ends in the first half of the room.
    """
    if len(text) <= room:
        return len(text)
    return text.rfind("\n", room // 2, room) + 1 or room


def day_page_length(text: str) -> int:
    """Returns the number of characters of a whole file that are shown among the entries of its
    day.
    """
    return fitting_length(text, PAGE_CHARS)


def shade_days(counts: Mapping[str, int]) -> dict[str, int]:
    """Maps each day to a shade from 1 to SHADES: days with equal counts have the same, and a
    quarter of the different counts has each.
    """
    ranked = sorted(set(counts.values()))
    return {
        day: 1 + SHADES * ranked.index(count) // len(ranked) for day, count in counts.items()
    }


def count_that_fit(sizes: Iterable[int], room: int) -> int:
    """Returns how many of the first sizes have a sum of at most `room`."""
    return bisect_right(list(accumulate(sizes)), room)


def list_lines(items: Sequence[Item], room: int) -> list[str]:
    """Returns lines for the first entries that fit into `room` tokens; at least one, because a
    list without an entry has no cursor to continue from. Tags and branches that are gone are
    left out: without them an answer of 600 tokens says an entry more.

    Entries get a title as long as there is room. The rest of the room goes to whole texts, else
    snippets, with the entries that are named below, from the first entry on: that shows more
    answers than a snippet of each (LoCoMo, entries of ten turns: 63 % against 29 %). So no
    entry is left out for one that is only named.
    """
    bare = [item._replace(below=()) for item in items]
    lines = [_list_entry(item, "") for item in bare]
    sizes = [count_tokens(line) + 1 for line in lines]
    lines = lines[: max(1, count_that_fit(sizes, room))]
    left = room - sum(sizes[: len(lines)])
    for at, size in enumerate(sizes[: len(lines)]):
        texts = (items[at].text, items[at].snippet)
        with_lines = [_list_entry(items[at], text) for text in texts]
        without = [_list_entry(bare[at], text) for text in texts]
        for fuller in dict.fromkeys((*with_lines, *without, _list_entry(items[at], ""))):
            added = count_tokens(fuller) + 1 - size
            if added <= left:
                lines[at] = fuller
                left -= added
                break
    return lines


def _list_entry(item: Item, text: str) -> str:
    """Returns an entry as it stands in a list, with `text` below its first line; an ellipsis at
    the end says that the entry is longer.

    All lines but the first are indented, so that none looks like another entry.
    """
    entry = item.entry
    title = one_line(entry.title)
    body = clean(text)
    if not begins_with_title(title, body):
        length = TITLE_CHARS if body else ALONE_CHARS
        body = f"{shorten(title, length)}\n{body}".rstrip()
    body = entry.beside_page(body)
    is_cut = len(text) < len(item.text) and one_line(body) != one_line(item.text)
    if (item.partial or is_cut) and not body.endswith("…"):
        body += " …"
    day = entry.date if entry.dated else "undated"
    stamp = f"{entry.short_id} {day} {entry.type}"
    marks = [mark for mark in entry.marks if not mark.endswith(" gone")]
    about = marks_line(replace(entry, tags=(), marks=tuple(marks)), item.superseded_by)
    if about:
        stamp += f" ({shorten(about, MARKS_CHARS)})"
    below = (item.remark, *item.below)
    lines = [line.rstrip() for line in (*body.split("\n"), *below) if line.strip()]
    return f"{stamp}: " + "\n  ".join(lines)


def entry_line(entry: Entry) -> str:
    """Returns id, date, type, title and marks of an entry as a line."""
    return (
        f"{_entry_stamp(entry)}: {one_line(' · '.join((entry.title_in_lists, *entry.marks)))}"
    )


def entry_block(item: Item) -> str:
    """Returns one entry as a fenced block, which text in the entry cannot close."""
    entry = item.entry
    text = clean(item.text)
    title = one_line(entry.title)
    about = marks_line(entry, item.superseded_by, full=item.detailed)
    if item.detailed and entry.place:
        place = one_line(f"{entry.place.path}:{item.line or entry.place.line}")
        about = " · ".join(filter(None, (about, place)))
    heading = "" if begins_with_title(title, text) else title
    lines = [line for line in (heading, about, item.remark) if line]
    part = ", a part of it" if item.partial else ""
    more = (*item.below, *history_lines(item.chain), *link_lines(item.links))
    body = "\n".join((*lines, text, *more))
    return fenced(f"entry {_entry_stamp(entry)}{part}", body)


VERSION_CHARS = 2_000
"""The most characters of each version of a text in a conflict that a terminal shows."""


def matter_text(matter: ReviewFinding) -> str:
    """Returns a finding of a review: the problem, a line for each entry, and the command that
    answers it.
    """
    subject = "the first" if matter.about[1:] else "it"
    problem = f"{matter.kind}: {subject} {matter.sentence}"
    entries = [entry_line(subject.entry) for subject in matter.about]
    command = f"synaptic review {'|'.join(matter.answers)} {matter.key}"
    versions = []
    names = ("mine, of this machine", "theirs, of the other machine")
    for name, text in zip(names, matter.versions, strict=False):
        versions += [f"{name}:", *(f"  {line}" for line in text[:VERSION_CHARS].split("\n"))]
    return "\n  ".join((problem, *entries, *versions, command))


def clean_json(value: Any) -> Any:
    """Returns the JSON with control and invisible characters removed from every text."""
    if isinstance(value, dict):
        return {clean(name): clean_json(each) for name, each in value.items()}
    if isinstance(value, list):
        return [clean_json(each) for each in value]
    return clean(value) if isinstance(value, str) else value


def shorten_message(text: str) -> str:
    """Returns a message in one line; a long one without its middle."""
    text = one_line(text)
    if len(text) <= 2 * BRIEF_CHARS:
        return text
    return f"{text[:BRIEF_CHARS]} … {text[-BRIEF_CHARS:]}"


def write_result_text(done: str, notices: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Returns the first words of the answer to a change, such as `Saved`, and the other
    notices. A first notice that nothing was written replaces `done`.
    """
    nothing_written = {"already saved": "Already saved as", "nothing changed": "Unchanged:"}
    if notices and notices[0] in nothing_written:
        return nothing_written[notices[0]], notices[1:]
    return done, notices


def build_term_test(terms: Sequence[str], stem: Callable[[str], str | None]) -> IsHit:
    """Returns a function that is True for a lower-case word that has the stem of one of the
    `terms`, or begins with a term that ends in `*`.
    """
    stem = cache(stem)
    sought = {stem(term) for term in terms} - {None}
    begun = tuple(term[:-1] for term in terms if term.endswith("*"))
    return lambda word: stem(word) in sought or word.startswith(begun)


def hit_remark(hit: Hit) -> str:
    """Returns a line with the other files that hold a hit's text, what became of it, and the
    reasons for its rank if they were asked for.
    """
    places = [f"{one_line(place.path)}:{place.line}" for place in hit.also]
    parts = [f"also in {join_first(places, CHANGED_SHOWN)}"] if places else []
    if hit.outcome:
        parts.append(one_line(hit.outcome))
    if hit.why:
        parts.append(f"score {hit.score:.2f}, {_value_text(why_json(hit.why))}")
    return " · ".join(parts)


def later_lines(hit: Hit, above: Collection[str]) -> list[str]:
    """Returns a line for each entry in whose place a hit stands, and for each later entry near
    it: `later, 2026-11-20: We moved the shop to AWS Fargate (jmtj9adx)`. Of a hit whose id is
    in `above` no title is repeated: `later, 2026-11-20: above (jmtj9adx)`.
    """
    named = [("replaces", one) for one in hit.replaces]
    named += [("later", one) for one in hit.later]
    lines = []
    for word, one in named:
        title = "above" if one.id in above else shorten(one_line(one.title), NEAR_CHARS)
        lines.append(f"{word}, {one.date}: {title} ({short_id(one.id)})")
    return lines


def neighbour_lines(hit: Hit) -> list[str]:
    """Returns a line for each entry that stands before or after a hit in its file: its time and
    the beginning of its text.
    """
    lines = []
    for entry in hit.beside:
        name = "before" if entry.there.line < hit.entry.there.line else "after"
        begins = entry.content.startswith(entry.title)
        whole = entry.content if begins else f"{entry.title}: {entry.content}"
        text = one_line(_cut_beginning(whole, NEIGHBOUR_CHARS))
        lines.append(f"{name}, {entry.time if entry.timed else entry.date}: {text}")
    return lines


def marks_line(entry: Entry, superseded_by: str | None, *, full: bool = False) -> str:
    """Returns the tags and other marks of an entry in a line, as `#db · importance 8 · by
    claude`; rare marks only with `full`.
    """
    pairs: list[tuple[str, object]] = [
        ("", " ".join(f"#{tag}" for tag in entry.tags)),
        ("superseded by", superseded_by and short_id(superseded_by)),
    ]
    simple = ("importance", "project", "branch", "parent", "expires", "due", "by", "via")
    below = (*simple, "expired") if full else ()
    pairs += [("", mark) for mark in entry.marks if mark.split()[0] not in below]
    if full:
        pairs += [(name, getattr(entry, name)) for name in simple]
        reach = "for its project" if entry.project else "for all"
        pairs += [
            ("source", not (entry.via or "").startswith("import:") and entry.source),
            ("pinned", entry.pin and reach),
            ("files", _file_list(entry, entry.files)),
            ("supersedes", ", ".join(entry.supersedes)),
            *fields_of_front_matter(entry),
        ]
    else:
        pairs.append(("files", _file_list(entry, entry.changed_files[:CHANGED_SHOWN])))
    parts = [f"{name} {value}" for name, value in pairs if value not in (None, "", False)]
    return one_line(" · ".join(parts))


def link_text(link: Link) -> str:
    """Returns the title and id of the entry at the other end of a link: `Ely (7k3m9q2x)`."""
    id = short_id(link.id) if link.id else "no entry"
    return f"{one_line(link.title or link.text)} ({id})"


def link_lines(linked: Links | None) -> list[str]:
    """Returns a line of the links of an entry and one of its backlinks; no line where there are
    none.
    """
    if not linked:
        return []
    lines = []
    for name, links in (("links", linked.links), ("backlinks", linked.backlinks)):
        ends = list(dict.fromkeys(map(link_text, links)))
        if ends:
            lines.append(f"{name}: {join_first(ends, LINKS_SHOWN)}")
    return lines


def history_lines(chain: Sequence[Entry]) -> list[str]:
    """Returns a line of the entries that replaced each other; no line where there are none."""
    steps = [
        f"{entry.short_id} {entry.date} {one_line(entry.title_in_lists)}" for entry in chain
    ]
    return [f"history: {' → '.join(steps)}"] if steps else []


def join_first(names: Sequence[str], most: int) -> str:
    """Returns the first `most` names, and the number of the others: `a, b, and 7 more`."""
    text = ", ".join(names[:most])
    more = len(names) - most
    return f"{text}, and {more:,} more" if more > 0 else text


def _file_list(entry: Entry, files: Sequence[str]) -> str:
    changed = entry.changed_files
    names = [f"{path} (changed since)" if path in changed else path for path in files]
    return ", ".join(names)


def _entry_stamp(entry: Entry) -> str:
    """Returns id, date, time and type of an entry: `7k3m9q2x 2026-11-21 09:31 decision`."""
    when = entry.date if entry.dated else "undated"
    if entry.dated and entry.timed:
        when += f" {entry.time}"
    return f"{entry.short_id} {when} {entry.type}"


def outline_text(data: Json) -> str:
    """Returns JSON as text for people: a line for each field that is not empty, and for each
    object of a list.
    """
    return "\n".join(_outline_lines(data))


def _outline_lines(data: Json) -> list[str]:
    lines = []
    for name, value in data.items():
        label = f"{name.replace('_', ' '):18}"
        if isinstance(value, dict) and any(map(_is_table, value.values())):
            lines += [label.rstrip(), *(f"  {line}" for line in _outline_lines(value))]
        elif _is_table(value):
            lines += [f"{label} {_value_text(value[0])}"]
            lines += [f"{'':18} {_value_text(each)}" for each in value[1:]]
        elif value:
            lines.append(f"{label} {_value_text(value)}")
    return lines


def _is_table(value: object) -> TypeGuard[Sequence[Json]]:
    """True for a list of objects that has some."""
    return isinstance(value, list | tuple) and any(isinstance(each, dict) for each in value)


def _value_text(value: object) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(map(_value_text, value))
    if not isinstance(value, dict):
        return one_line(str(value))
    return ", ".join(
        f"{name.replace('_', ' ')} {_value_text(inner)}"
        for name, inner in value.items()
        if inner
    )
