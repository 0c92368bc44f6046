"""Counts the entries about an event, for questions that ask how often it happened, or when it
last happened.
"""

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from ..errors import join_sentences
from ..filters import Filters
from ..language.analysis.asked import event_words
from ..models import NOTHING_CLOSE, Counts, Entry, SearchResult
from ..workspace.readback import read_entries
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .planner import filter_by_asked_time, read_question_of_journal

NEWEST = 5
MONTHS = 12
"""Entries and months that an answer names. By eye."""
EVER = "0001-01-01"
"""A day before every date: as a filter it leaves out undated entries."""


class Happened(NamedTuple):
    """The entries that contain all `words` of an event: their number, the newest ones first,
    and their number by month, the newest month first.
    """

    words: str
    total: int
    newest: tuple[Entry, ...]
    months: Counts

    @property
    def line(self) -> str:
        """The counts and dates in one line of text."""
        number = f"{self.total:,} {'entry' if self.total == 1 else 'entries'}"
        dates = ", ".join(dict.fromkeys(entry.date for entry in self.newest))
        months = ", ".join(f"{month} {count}" for month, count in self.months[:MONTHS])
        return f"{number} with {self.words}, the newest of {dates}; by month: {months}."


def count_events_and_clean_notices(
    ws: Workspace, query: str, filters: Filters, result: SearchResult
) -> tuple[Happened | None, SearchResult]:
    """(the counted entries or None, the search result). If entries were counted, the notice
    that nothing is close is removed from the result.
    """
    counted = count_events(ws, query, filters)
    if counted:
        others = [notice for notice in result.notices if not notice.startswith(NOTHING_CLOSE)]
        result = replace(result, notices=tuple(others))
    return counted, result


def count_events(ws: Workspace, query: str, filters: Filters) -> Happened | None:
    """Counts the dated entries that contain every word of the event in any of its forms. None
    if the query does not ask about an event, or no entry does.
    """
    asked = read_question_of_journal(ws, query, today=ws.clock().date())
    sought = event_words(asked.text)
    if not sought:
        return None
    if not (filters.since or filters.until):
        filters = filter_by_asked_time(filters, asked)

    def run(_: object) -> Happened | None:
        lists = []
        for forms in sought:
            wanted = replace(filters, words=forms, since=filters.since or EVER)
            lists.append(ws.index.list_rows(wanted, order="newest", limit=-1))
        common = set(lists[0]).intersection(*lists)
        rows = [row for row in lists[0] if row in common]
        if not rows:
            return None
        stored = ws.index.entries(rows)
        return Happened(
            join_sentences([f"“{forms[0]}”" for forms in sought], "{one} and {other}"),
            len(rows),
            tuple(read_entries(ws, rows[:NEWEST]).values()),
            tuple(Counter(stored[row].entry.date[:7] for row in rows).items()),
        )

    return in_step(ws, run)
