"""Sums a field of the entries that pass some filters, or counts these entries, by day, week,
month, tag, project or the value of a field.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import field as member
from dataclasses import replace
from decimal import Decimal
from itertools import chain

from ..errors import InvalidArgument, Sentence, join_sentences, match_valid_name
from ..filters import Filters
from ..models import Entry, Texts, frozen
from ..notes.amounts import HOURS, Amount, read_amount, read_hours_in_text
from ..notes.blocks import without_code
from ..notes.marks import field_name, field_words, fields_of_front_matter, read_properties
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Workspace
from .exports import export

GROUPS = ("day", "week", "month", "type", "tag", "project")
"""What the sums can be grouped by, beside the values of a field."""
ENTRIES = "entries"
"""What stands for the name of a field where entries are counted."""
NOT_READ_SHOWN = 3
"""Values that a notice quotes of those that are no amount."""
FIELDS_SHOWN = 10
"""Fields that an error names."""


@frozen
class Total:
    """The sum of the amounts with one `unit` in one group: a day, a week such as `2026-W47`, a
    month, a tag, a project or a value; "" stands for none. `entries` counts the entries that
    have such an amount.
    """

    group: str
    value: Decimal
    unit: str
    entries: int

    @property
    def text(self) -> str:
        """The sum with its unit, to two decimals: `1,200.5 EUR`."""
        number = Decimal(f"{self.value:.2f}".rstrip("0").rstrip("."))
        text = "{number:,f} {unit}" if self.unit else "{number:,f}"
        return Sentence(text, number=number, unit=self.unit)

    @property
    def entry_count(self) -> str:
        """`1 entry`, or `7 entries`."""
        return _entry_count(self.entries)


@frozen
class Totals:
    """The sums of the field `field`, or the numbers of ENTRIES: `rows` by group, and `all` over
    all entries, one for each unit. An entry with several tags counts in the row of each, and
    once in `all`.
    """

    field: str
    by: str
    rows: tuple[Total, ...]
    all: tuple[Total, ...]
    notices: Texts = member(default=())

    def label(self, total: Total) -> str:
        """The name of a row's group, or that the entries have none: `no project`."""
        return total.group or f"no {'date' if self.by in ('day', 'week', 'month') else self.by}"

    def label_of_all(self, total: Total) -> str:
        """What stands beside a sum over all entries: `in all, 7 entries`."""
        return "in all" if self.field == ENTRIES else f"in all, {total.entry_count}"

    @property
    def sentence(self) -> str:
        """The sums over all entries in a few words: `hours: 12.5 in 7 entries`."""
        sums = [
            Sentence("{sum} in {entries}", sum=total.text, entries=total.entry_count)
            for total in self.all
        ]
        both = join_sentences(sums, "{one} and {other}")
        return Sentence("{name}: {text}", name=self.field, text=both)


def _entry_count(number: int) -> str:
    return Sentence("1 entry" if number == 1 else "{n:,} entries", n=number)


def sum_field(
    ws: Workspace, name: str | None, by: str | None = None, *, filters: Filters | None = None
) -> Totals:
    """The sums of the field `name` over all entries that pass, by one of GROUPS (default:
    month) or by the values of another field; without a name, the numbers of these entries.
    Replaced entries count only if the filters include them.

    Values that are no amount are left out, and a notice quotes some. Raises InvalidArgument if
    no entry that passes has an amount in that field, or none has the field `by`, with the names
    of fields that some have.
    """
    group = field_name(by or "month")
    if group not in GROUPS:
        names = in_step(ws, lambda _: ws.index.field_names())
        if group not in names:
            match_valid_name((*GROUPS, *sorted(names)[:FIELDS_SHOWN]), group, "by")
    entries = export(ws, filters or Filters(), with_text=bool(name))
    totals, fields = sum_entries(
        entries, name, group, hours_in_text=bool(name) and ws.config.hours_in_text
    )
    if name and not totals.all:
        hint = "Write `hours:: 1.5` on a line of its own, or `[hours:: 1.5]` within a text."
        if field_name(name) == HOURS and not ws.config.hours_in_text:
            more = "With `hours_in_text = true` in config.toml, (2h) in a text counts, too."
            hint = join_sentences([Sentence(hint), Sentence(more)])
        raise InvalidArgument(
            "None of these entries has a number in the field {name!r}.",
            hint,
            valid=fields,
            name=field_name(name),
        )
    return totals


def sum_entries(
    entries: Iterable[Entry], name: str | None, by: str, *, hours_in_text: bool = False
) -> tuple[Totals, Texts]:
    """(the sums of the field `name` over these entries, fields that have amounts). Without a
    name entries are counted: of those grouped by a field, those that have it.
    """
    wanted = field_name(name or "")
    by_group, over_all = _Sums(), _Sums()
    fields: set[str] = set()
    not_read: list[str] = []
    within_lines = 0
    counted: set[tuple[str, str, str]] = set()
    for entry in entries:
        groups = _groups_of_entry(entry, by)
        amounts: dict[str, Decimal] = defaultdict(Decimal)
        if not name and (by in GROUPS or any(groups)):
            amounts[""] = Decimal(1)
        for field, text, amount in _amounts_of_entry(entry, counted, hours_in_text):
            if amount:
                fields.add(field)
            if field == wanted and amount:
                amounts[amount.unit] += amount.value
            elif field == wanted:
                not_read.append(text)
        within_lines += bool(wanted) and stands_within_line(entry.content, wanted)
        for unit, value in amounts.items():
            over_all.add("", unit, value)
            for group in groups:
                by_group.add(group, unit, value)
    notices = _notices_of_uncounted(wanted, not_read, within_lines)
    totals = Totals(wanted or ENTRIES, by, by_group.totals(), over_all.totals(), notices)
    return totals, tuple(sorted(fields))[:FIELDS_SHOWN]


class _Sums:
    """Sums of amounts, and the number of their entries, by group and unit."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
        self.entries: Counter[tuple[str, str]] = Counter()

    def add(self, group: str, unit: str, value: Decimal) -> None:
        """Adds the amount of one more entry."""
        self.values[group, unit] += value
        self.entries[group, unit] += 1

    def totals(self) -> tuple[Total, ...]:
        """The sums by the names of their groups, those without a name last."""
        keys = sorted(self.values, key=lambda key: (not key[0], key))
        return tuple(Total(key[0], self.values[key], key[1], self.entries[key]) for key in keys)


def _amounts_of_entry(
    entry: Entry, counted: set[tuple[str, str, str]], hours_in_text: bool
) -> Iterator[tuple[str, str, Amount | None]]:
    """(field, its value as written, the amount or None) of each field of an entry; with
    `hours_in_text` also the times in its title and text as HOURS.

    Front matter tells of a whole file, so each of its fields counts once: with the first entry
    of the file. `counted` holds (path, field, value) of those before; theirs are added.
    """
    for name, text in fields_of_front_matter(entry):
        field = (entry.there.path, name, text)
        if field not in counted:
            counted.add(field)
            yield name, text, read_amount(text)
    for name, text in _fields_in_text(entry.content):
        yield name, text, read_amount(text)
    if hours_in_text:
        title = "" if entry.content.startswith(entry.title) else entry.title
        for amount in chain.from_iterable(map(read_hours_in_text, (title, entry.content))):
            yield HOURS, "", amount


def _groups_of_entry(entry: Entry, by: str) -> Texts:
    if by == "tag":
        return entry.tags or ("",)
    if by in ("type", "project"):
        return (getattr(entry, by) or "",)
    if by not in GROUPS:
        values = dict.fromkeys(value for name, value in entry.fields if name == by)
        return tuple(values) or ("",)
    if not entry.dated:
        return ("",)
    if by == "week":
        year, week, _ = entry.at.isocalendar()
        return (f"{year}-W{week:02}",)
    return (entry.date if by == "day" else entry.date[:7],)


def stands_within_line(text: str, field: str) -> bool:
    """True if `field::` stands in a text more often than it is a property there."""
    if f"{field}::" not in text.lower():
        return False
    properties = sum(name == field for name, _ in _fields_in_text(text))
    return without_code(text).lower().count(f"{field}::") > properties


def _notices_of_uncounted(field: str, not_read: list[str], within_lines: int) -> Texts:
    notices = []
    if not_read:
        some = ", ".join(f"“{text[:30]}”" for text in dict.fromkeys(not_read[:NOT_READ_SHOWN]))
        text = "1 value is no number and not counted: {some}. Write 1200, 1.2, 1:30 or 12 EUR."
        if not_read[1:]:
            text = (
                "{n:,} values are no number and not counted: {some}. Write 1200, 1.2, 1:30 or "
                "12 EUR."
            )
        notices.append(Sentence(text, n=len(not_read), some=some))
    if within_lines:
        notices.append(
            Sentence(
                "{field}:: within a line is not counted, in {entry_count}: write "
                "[{field}:: 1.5], or a line of its own.",
                field=field,
                entry_count=_entry_count(within_lines),
            )
        )
    return tuple(notices)


MOST_ENTRIES = 500
"""The most entries of a time that a question's sum is read from: a search waits for it."""


def sum_asked(ws: Workspace, query: str, filters: Filters) -> tuple[Totals, Filters] | None:
    """For a question that names a time, as "what did I do for acme last month": (the sums by
    project of all entries of that time, the filters that they pass). A project or tag that the
    question names must be theirs.

    The field is `hours`, or else the first that has amounts. None for another question, without
    amounts, and above MOST_ENTRIES entries.
    """
    # imported late: every list names GROUPS, and few questions come here
    from ..language.analysis.asked import read_question
    from ..search.planner import filter_by_asked_time

    asked = read_question(query, today=ws.today)
    wanted = filter_by_asked_time(filters, asked)
    if wanted == filters:
        return None
    if not (ws.config.hours_in_text or in_step(ws, lambda _: ws.index.field_names())):
        return None

    def find_named(_: SyncReport) -> tuple[int, Filters]:
        facets = ws.index.facets(wanted)
        question = field_words(asked.text)
        projects, tags = (
            tuple(name for name, _ in names if field_words(name) in question)
            for names in (facets.projects, facets.tags)
        )
        named = replace(wanted, projects=wanted.projects or projects)
        if not projects:
            named = replace(named, tags=wanted.tags or tags)
        return ws.index.count_entries(named), named

    number, named = in_step(ws, find_named)
    if number > MOST_ENTRIES:
        return None
    entries = list(export(ws, named))
    totals, fields = sum_entries(
        entries, HOURS, "project", hours_in_text=ws.config.hours_in_text
    )
    if not totals.all and fields:
        totals, _ = sum_entries(entries, fields[0], "project")
    return (totals, named) if totals.all else None


def _fields_in_text(text: str) -> list[tuple[str, str]]:
    """(name, value) of each property in a text, those that are repeated too."""
    return [
        (field_name(name), " ".join(value.split())) for name, value in read_properties(text)
    ]
