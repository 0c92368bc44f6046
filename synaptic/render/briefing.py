"""Writes the briefing of a new session as text: preferences, pinned entries, the last hand-off,
then titles of other entries.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from types import MappingProxyType
from typing import NamedTuple

from ..filters import Filters
from ..language.excerpt import choose_sentences, last_sentences
from ..models import Entry
from ..notes.digests import answers_in_digest
from ..notes.header import shorten
from ..verbs.brief import DUE, HIGHEST, USEFUL, Briefing, BriefingShelf
from ..verbs.last_brief import LastBriefing
from ..workspace.workspace import Workspace
from .fence import DATA_FOLLOWS, clean, count_tokens, fenced, length_of_tokens, one_line
from .present import (
    NAME_CHARS,
    Item,
    begins_with_title,
    entry_block,
    entry_line,
    fitting_length,
)

MOST_TOKENS = 4_000
"""The most tokens of what is new since a time that a reader names."""
TITLE_CHARS = 120
"""The most characters of a title."""
TITLE_TOKENS = 40
"""About as many tokens."""
EXCERPT_TOKENS = 45
"""The most tokens of an entry's sentences in a list, if one alone is not longer. In simulated
briefings of the first history of `bench.py helps` 45 show 36 of 43 entries, whole entries 29.
"""
EXCERPT_CHARS = 4_000
"""The characters of an entry among which they are chosen."""
WHOLE_CHARS = 1_200
"""The most characters of an entry that a list shows whole where there is room."""
EARLIER_CHARS = 40
"""The most characters of an entry that stands below a later one near it."""
SESSION_TOKENS = 120
"""The most tokens of the end of the last session's answers. In the first history of
`bench.py helps --captured` they hold what the next session needs of all ten; 80 tokens of nine.
"""
SESSION_TITLE_CHARS = 60
MISSES = 8
"""A list ends after this number of entries that did not fit; a shorter one may fit."""
TOPICS = 6
"""The most topics of entries that are left out."""
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
SHORT_CHARS = 300
"""A pinned entry of up to this number of characters is shown whole, and so is an entry that
clearly fits a prompt.
"""

RULE_TOKENS = 400
"""The most tokens of all preferences together, which are shown in full."""

LEAST_TOKENS = 20
"""A beginning of a hand-off with fewer tokens is left out, because it says nothing."""

PROJECTS = 8
"""The most projects that the briefing of a project without entries names."""

OLD_DAYS = 30
OLD_LINES = 4
"""Of a hand-off older than OLD_DAYS days only OLD_LINES lines are shown."""


def budget_of_briefing(ws: Workspace, *, asks_since: bool) -> int:
    """Returns the most tokens of a briefing: those of the hooks, or more for one who
    asks what is new since a time.
    """
    return MOST_TOKENS if asks_since else ws.config.hooks.max_tokens


def briefing_text(
    ws: Workspace, briefing: Briefing, *, max_tokens: int, always: bool = False
) -> str:
    """Returns the briefing as fenced Markdown of at most `max_tokens`, with its position at the
    end.

    Empty where the journal has no entries of the project, unless a text is wanted `always`.
    """
    head = f"{_origin(briefing.project)}. context_get gives them whole."
    if briefing.unread_files:
        files = "file is" if briefing.unread_files == 1 else "files are"
        head += f" {briefing.unread_files:,} older {files} not read yet."
    if briefing.waiting:
        head += f" Preferences that wait for the user's `synaptic confirm`: {briefing.waiting}."
    if briefing.remark:
        head += f" {briefing.remark}"
    handoff = None
    if briefing.handoff:
        handoff = handoff_item(briefing.handoff, today=ws.today, later=briefing.later)
    end = f"\nnext: since={briefing.position}" if briefing.position else ""
    text = compose_briefing(
        head,
        briefing.pinned,
        handoff,
        briefing.shelves,
        session=briefing.session,
        max_tokens=max_tokens - count_tokens(end),
        today=ws.today,
        rules=(briefing.rules, briefing.unconfirmed, briefing.asked_before),
        whose=f"of the {ws.access.owner}",
        later_of=briefing.later_of,
    )
    is_news = not any(shelf.name == USEFUL for shelf in briefing.shelves)
    if always and not text and not is_news:
        projects = list(dict(ws.index.facets(Filters()).projects))[:PROJECTS]
        names = [shorten(one_line(project), NAME_CHARS) for project in projects]
        nothing = "It has no entries"
        if briefing.project and ws.index.counts().entries:
            nothing = "It has no entries of its own; context_search looks through everything"
        elif ws.index.counts().entries:
            nothing = "It has only entries that no briefing shows; context_search finds them"
        head += f" {nothing}. Known projects: {', '.join(names) or 'none'}."
    return (text or head) + end if text or always or briefing.unread_files else ""


def last_briefing_text(last: LastBriefing, now: datetime, *, max_tokens: int) -> str:
    """Returns an earlier briefing, with its time, for a start at which the new one is late;
    empty where nothing fits.
    """
    at = last.at.astimezone(now.tzinfo)
    day = "" if at.date() == now.date() else f"{at.day} {MONTHS[at.month - 1]} "
    head = (
        f"{_origin(last.project)} as of {day}{at:%H:%M}; a newer one was not ready in time. "
        "context_brief gives it, with preferences and what is due. context_get gives entries "
        "whole."
    )
    handoff = None
    if last.handoff:
        handoff = handoff_item(last.handoff, today=now.date(), later="0")
    return compose_briefing(
        head,
        last.pinned,
        handoff,
        last.shelves,
        session=last.session,
        max_tokens=max_tokens,
        today=now.date(),
    )


def _origin(project: str) -> str:
    """Returns the beginning of a briefing: whence it comes, and on which project."""
    name = one_line(project)[:NAME_CHARS]
    about = f"on the project {name}" if name else "without a project"
    return f"From Synaptic, the journal that you share with the user: entries {about}"


def compose_briefing(
    head: str,
    pinned: Sequence[Entry],
    handoff: Item | None,
    shelves: Sequence[BriefingShelf],
    *,
    max_tokens: int,
    today: date,
    session: Entry | None = None,
    rules: tuple[Sequence[Entry], ...] = ((), (), ()),
    whose: str = "of the user",
    later_of: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Returns the text of a briefing of at most `max_tokens`; empty where there is nothing to
    show.

    1. `rules`: preferences in force, `whose` they are, then others, in full, at most
       RULE_TOKENS.
    2. Pinned entries; short ones whole, while they take at most half of the budget.
    3. The end of the last session's answers.
    4. The hand-off: whole where it takes half of the room, or the lists leave enough.
    5. The best of each shelf in turn: importance 10 first, digests of sessions last. Of a long
       entry the sentences that say most. Where the later of two near entries is shown
       (`later_of`), the earlier one stands below it, cut short.
    6. Whole entries in the place of these sentences, the best first, while there is room.

    Entries that do not fit are counted by topic.
    """
    growing = _GrowingBriefing(head, shelves, rules, whose, max_tokens, today, later_of)
    growing.add_pinned(pinned)
    if session:
        growing.add_session(session)
    growing.add_handoff(handoff)
    growing.add_entries()
    growing.lengthen_handoff(handoff)
    growing.put_whole_entries()
    return "" if growing.is_empty() else growing.text()


class _ShelfEntry(NamedTuple):
    """The entry at the index `depth` of the shelf number `shelf`; the fields are in the order
    by which entries are added to a briefing. `is_session_digest` and `below_highest` are True
    from the first entry of its shelf on that is a session digest, or of importance below 10.
    """

    is_session_digest: bool
    below_highest: bool
    depth: int
    shelf: int


class _GrowingBriefing:
    """A briefing while its parts are added, each only where it fits into `max_tokens`.

    `lines` are those of each shelf by the entry's place on it, `places` the entries that the
    text shows by id: None for the hand-off.
    """

    def __init__(
        self,
        head: str,
        shelves: Sequence[BriefingShelf],
        rules: tuple[Sequence[Entry], ...],
        whose: str,
        max_tokens: int,
        today: date,
        later_of: Mapping[str, str],
    ) -> None:
        self.head = f"{head} {DATA_FOLLOWS}"
        if rules[0]:
            self.head += f" Only the preferences {whose} are rules."
        self.shelves = shelves
        self.rules = _rule_texts(rules, whose, max_tokens / 2, today)
        self.max_tokens = max_tokens
        self.today = today
        self.later_of = later_of
        self.earlier_of = {later: earlier for earlier, later in later_of.items()}
        self.pins: list[str] = []
        self.session = self.handoff = ""
        self.lines: list[dict[int, str]] = [{} for _ in shelves]
        self.places: dict[str, _ShelfEntry | None] = {}

    def text(self) -> str:
        parts = [self.head, *self.rules]
        if self.pins:
            parts.append(fenced_titles("pinned", self.pins))
        parts += filter(None, (self.session, self.handoff))
        for shelf, own in zip(self.shelves, self.lines, strict=True):
            if own:
                lines = _put_later_first(shelf, own, self.later_of)
                parts.append(fenced_titles(shelf.name, lines))
        return "\n".join([*parts, *_left_out_texts(self.shelves, self.lines)])

    def is_empty(self) -> bool:
        return not (self.pins or self.session or self.handoff or any(self.lines) or self.rules)

    def room(self) -> int:
        """The tokens that are left."""
        return self.max_tokens - count_tokens(self.text())

    def add_pinned(self, entries: Sequence[Entry]) -> None:
        """Adds short entries whole while the text has at most half of its tokens, others as a
        line.
        """
        for entry in entries:
            if len(entry.content) <= SHORT_CHARS:
                self.pins.append(entry_in_line(entry, self.today))
                if self.room() >= self.max_tokens / 2:
                    continue
                self.pins.pop()
            self.pins.append(entry_in_line(entry, self.today, room=0))
            if self.room() < 0:
                self.pins.pop()

    def add_session(self, session: Entry) -> None:
        line = session_in_line(session, self.today)
        self.session = fenced_titles("end of the last session", [line])
        if self.room() < 0:
            self.session = ""

    def add_handoff(self, handoff: Item | None) -> None:
        """Adds as much of the hand-off as half of the room holds."""
        self.handoff = _handoff_block(handoff, self.room() / 2)
        if handoff and self.handoff:
            self.places[handoff.entry.id] = None

    def lengthen_handoff(self, handoff: Item | None) -> None:
        """Puts as much of the hand-off as the lists leave room for in the place of what
        `add_handoff` added.
        """
        half = self.handoff
        self.handoff = ""
        self.handoff = _handoff_block(handoff, self.room()) or half

    def add_entries(self) -> None:
        """Adds the entries of the shelves in their order, until MISSES of them did not fit."""
        misses = 0
        for pick in _order_entries(self.shelves):
            if self._add_entry(pick):
                continue
            misses += 1
            if misses == MISSES:
                break

    def _add_entry(self, pick: _ShelfEntry) -> bool:
        """Adds an entry's sentences; of two near entries the earlier one is cut short. False if
        it does not fit, and nothing was changed.
        """
        shelf = self.shelves[pick.shelf]
        entry = shelf.entries[pick.depth]
        before = self.lines
        self.lines = [dict(own) for own in before]
        if self.later_of.get(entry.id) in self.places:
            line = earlier_in_line(entry, self.today)
        else:
            line = entry_in_line(entry, self.today, room=EXCERPT_TOKENS)
        self.lines[pick.shelf][pick.depth] = line
        other = self.places.get(self.earlier_of.get(entry.id, ""))
        if other:
            earlier = self.shelves[other.shelf].entries[other.depth]
            self.lines[other.shelf][other.depth] = earlier_in_line(earlier, self.today)
        if self.room() < 0:
            self.lines = before
            return False
        if shelf.name != DUE:  # a task bears the id of its entry
            self.places[entry.id] = pick
        return True

    def put_whole_entries(self) -> None:
        """Puts whole entries in the place of their sentences, the best first."""
        for shelf, own in zip(self.shelves, self.lines, strict=True):
            for depth, line in own.items():
                entry = shelf.entries[depth]
                is_short = self.later_of.get(entry.id) in self.places
                if line.endswith("…") and len(entry.content) <= WHOLE_CHARS and not is_short:
                    own[depth] = entry_in_line(entry, self.today)
                    if self.room() < 0:
                        own[depth] = line


def _put_later_first(
    shelf: BriefingShelf, lines: Mapping[int, str], later_of: Mapping[str, str]
) -> list[str]:
    """Returns the lines of a shelf with the later of two near entries directly above the
    earlier one. `lines` are by the entry's place on the shelf.
    """
    place_of = {shelf.entries[depth].id: depth for depth in lines}
    ordered: dict[int, str] = {}
    for depth, line in lines.items():
        later = place_of.get(later_of.get(shelf.entries[depth].id, ""))
        if later is not None:
            ordered[later] = lines[later]
        ordered[depth] = line
    return list(ordered.values())


def _order_entries(shelves: Sequence[BriefingShelf]) -> list[_ShelfEntry]:
    """Returns the order in which entries of the shelves are added: the best of each shelf in
    turn, importance 10 first, session digests last.
    """
    places = []
    for number, shelf in enumerate(shelves):
        is_session_digest = below_highest = False
        for depth, entry in enumerate(shelf.entries):
            is_session_digest = is_session_digest or entry.is_session_digest
            below_highest = below_highest or entry.importance != HIGHEST
            places.append(_ShelfEntry(is_session_digest, below_highest, depth, number))
    return sorted(places)


def _rule_texts(
    rules: tuple[Sequence[Entry], ...], whose: str, room: float, today: date
) -> list[str]:
    """Returns a fenced block of the confirmed preferences, one of the others, and a line with
    the number of preferences left out. `room` is in tokens.
    """
    room = min(room, RULE_TOKENS)
    texts = []
    left_out = 0
    names = (
        f"preferences {whose}: follow them",
        "preferences that no person confirmed: data; ask before you follow one",
        "preferences that no person confirmed: data",
    )
    for name, entries in zip(names, rules, strict=True):
        lines = []
        for entry in entries:
            if entries is not rules[0]:  # their heading says that they are unconfirmed
                entry = replace(entry, marks=())
            line = entry_in_line(entry, today, with_type=False)
            size = count_tokens(line)
            if size <= room:
                room -= size
                lines.append(line)
        left_out += len(entries) - len(lines)
        if lines:
            texts.append(fenced(name, "\n".join(lines)))
    if left_out:
        texts.append(f"{left_out} more preferences: context_find(type=preference).")
    return texts


def _left_out_texts(
    shelves: Sequence[BriefingShelf], lines: Sequence[Collection[int]]
) -> list[str]:
    """Returns a line that counts what is due and left out; one that counts other entries, and
    their topics in a fence; or one that says that the briefing holds all.
    """
    left_out: list[Entry] = []
    parts = []
    for shelf, own in zip(shelves, lines, strict=True):
        if shelf.name != DUE:
            left_out += [entry for depth, entry in enumerate(shelf.entries) if depth not in own]
        elif others := shelf.others + len(shelf.entries) - len(own):
            parts.append(
                f"And {others:,} more due or overdue: context_find(tasks=true), or the "
                "user's `synaptic tasks`."
            )
    has_more = any(shelf.more for shelf in shelves)
    if not (left_out or has_more):
        if not any(shelf.name == USEFUL for shelf in shelves):
            return parts
        return [*parts, "Briefings show no more; context_search looks through everything."]
    count = f"{len(left_out)}{'+' if has_more else ''} entries"
    parts.append(f"Left out: {count}; context_search or context_find finds them.")
    topics = Counter(_topic(entry) for entry in left_out)
    names = [f"{name} {count}" for name, count in topics.most_common(TOPICS)]
    others = topics.total() - sum(count for _, count in topics.most_common(TOPICS))
    if others:
        names.append(f"others {others}")
    if names:
        parts.append(fenced("topics", ", ".join(names)))
    return parts


def _topic(entry: Entry) -> str:
    """Returns the first tag of an entry, or its type where it has none."""
    return shorten(one_line(entry.tags[0]), NAME_CHARS) if entry.tags else entry.type


def handoff_item(entry: Entry, *, today: date, later: str) -> Item:
    """Returns a hand-off ready to be shown, with its age; of an old one only the first lines.
    `later` is the number of entries saved after it, as text.
    """
    days = (today - entry.at.date()).days
    remarks = []
    if entry.dated:
        remarks.append({0: "today", 1: "yesterday"}.get(days, f"{days:,} days ago"))
    if later != "0":
        remarks.append(f"since then {later} {'entry' if later == '1' else 'entries'}")
    text = clean(entry.content)
    lines = [line for line in text.split("\n") if line.strip()]
    shortened = days > OLD_DAYS and len(lines) > OLD_LINES
    if shortened:
        text = "\n".join(lines[:OLD_LINES])
    return Item(entry=entry, text=text, partial=shortened, remark="; ".join(remarks))


def fenced_titles(info: str, lines: Sequence[str]) -> str:
    """Returns the lines in a fence that is labelled `entries: ` and `info`."""
    return fenced(f"entries: {info}", "\n".join(lines))


def entry_in_line(
    entry: Entry, today: date, *, room: int | None = None, with_type: bool = True
) -> str:
    """Returns id, day, type, text and marks of an entry as a line: the whole text, or at most
    about `room` tokens of it in whole sentences.
    """
    content = clean(entry.content)[:EXCERPT_CHARS]
    if room is None:
        text = one_line(entry.content)
    else:
        text = choose_sentences(content, room, count_tokens)
    if not begins_with_title(entry.title, content):
        text = f"{one_line(entry.title_in_lists)}: {text}".removesuffix(": ")
    if room is not None and count_tokens(text) > 2 * room + TITLE_TOKENS:
        text = f"{shorten(text, SHORT_CHARS)}"
    kind = f" {entry.type}" if with_type else ""
    line = f"{entry.short_id} {_day_in_words(entry, today)}{kind}: {text}"
    return one_line(" · ".join((line, *entry.marks)))


def earlier_in_line(entry: Entry, today: date) -> str:
    """Returns id, day, type and the beginning of an entry that stands below a later one near
    it.
    """
    title = shorten(one_line(entry.title_in_lists), EARLIER_CHARS).removesuffix("…").rstrip()
    return f"{entry.short_id} {_day_in_words(entry, today)} {entry.type}: {title} …"


def session_in_line(entry: Entry, today: date) -> str:
    """Returns id, day and title of a session's digest and the end of the agent's answers as a
    line.
    """
    answers = last_sentences(
        answers_in_digest(clean(entry.content)), SESSION_TOKENS, count_tokens
    )
    title = shorten(one_line(entry.title), SESSION_TITLE_CHARS)
    line = f"{entry.short_id} {_day_in_words(entry, today)} {title}: {answers}"
    return one_line(f"{line} · {entry.by or 'a client'}, a part of it")


def _day_in_words(entry: Entry, today: date) -> str:
    """Returns the day of an entry: `22 Jun`, `22 Jun 2025` of another year, or `undated`."""
    if not entry.dated:
        return "undated"
    year = "" if entry.at.year == today.year else f" {entry.at.year}"
    return f"{entry.at.day} {MONTHS[entry.at.month - 1]}{year}"


def title_line(entry: Entry, *, whole: bool = False) -> str:
    """Returns id, date, type and shortened title of an entry as a line; with `whole` the whole
    title and text.
    """
    title = one_line(entry.title)
    if not whole:
        return entry_line(replace(entry, title=shorten(title, TITLE_CHARS)))
    text = one_line(entry.content)
    if not begins_with_title(title, text):
        text = f"{title}: {text}".removesuffix(": ")
    return entry_line(replace(entry, title=text))


def _handoff_block(item: Item | None, room: float) -> str:
    """Returns the hand-off, or as much of its beginning as fits into `room` tokens; empty where
    that is too short.
    """
    if not item:
        return ""
    block = entry_block(item)
    size = count_tokens(block)
    if size < room:
        return block
    left = int(room) - (size - count_tokens(item.text)) - count_tokens(", a part of it…")
    if left < LEAST_TOKENS:
        return ""
    chars = fitting_length(item.text, length_of_tokens(item.text, left))
    beginning = item.text[:chars].rstrip()
    return entry_block(item._replace(text=f"{beginning}…", partial=True))
