"""Counts the entries that pass some filters, and how often they were read."""

from __future__ import annotations

from datetime import datetime

from ..filters import Filters
from .conditions import SOURCE, daily_note_condition, list_conditions
from .index import Index
from .rows import to_microseconds

COUNTABLE = {
    "source": SOURCE,
    "author": """coalesce(e."by", '')""",
    "day": "CASE e.dated WHEN 1 THEN e.date END",
}
"""SQL for the values by which entries are counted."""
USES = ("searches", "nothing_found", "shown", "opened", "saved", "sessions", "tokens")
"""The counts kept for each agent: its searches, those that found nothing close, the entries
that were shown, opened and saved, and the sessions begun with a briefing, with its tokens.
"""
UNREAD_DAYS = 365
"""The age from which on a review asks about an entry that was never opened."""


def count_entries_by(index: Index, filters: Filters, by: str) -> list[tuple[str, int]]:
    """Counts of the entries that `listing` lists, by each value of one of COUNTED, the most
    first.

    Undated entries have no day; "" is the author of an entry without one. By day, the sections
    of one daily note are one entry.
    """
    condition, values = list_conditions(filters)
    one = "e.rowid"
    if by == "day":
        one = f"CASE WHEN {daily_note_condition('e')} THEN -e.source ELSE e.rowid END"
    sql = f"""
        SELECT value, count(DISTINCT one) n FROM (
            SELECT {COUNTABLE[by]} value, {one} one
            FROM entry e WHERE e.id IS NOT NULL {condition}
        ) counted WHERE value IS NOT NULL GROUP BY value ORDER BY n DESC, value"""
    return index.engine.rows(sql, *values)


def read_statistics(
    index: Index, filters: Filters, cutoff: datetime, *, limit: int
) -> tuple[int, int, list[tuple[str, str, int]]]:
    """Returns (the number of entries that were ever opened or a top hit, the number of
    entries from before `cutoff` that never were, the most read entries).

    Of the entries that `listing` lists; the most read are (id, title, reads). Undated and
    pinned entries, and those to which no file gives an id, are in no case from before
    `cutoff`: a review does not ask about them.
    """
    condition, values = list_conditions(filters)
    chosen = f"""
        FROM entry e LEFT JOIN access a ON a.id = e.id WHERE e.id IS NOT NULL {condition}"""
    counts = f"""
        SELECT count(a.id), count(*) FILTER (WHERE a.id IS NULL AND e.dated = 1
            AND e.at < ? AND e.derived = 0 AND e.pin = 0) {chosen}"""
    most = f"""
        SELECT e.id, e.title, a.count {chosen} AND a.count > 0
        ORDER BY a.count DESC, e.at DESC LIMIT ?"""
    [(ever, unread)] = index.engine.rows(counts, to_microseconds(cutoff), *values)
    return ever, unread, index.engine.rows(most, *values, limit)


def agent_counts(index: Index) -> dict[tuple[str, str], dict[str, int]]:
    """The counts of each agent by (Monday of the week, client), the latest first."""
    uses: dict[tuple[str, str], dict[str, int]] = {}
    for week, client, name, count in index.engine.rows(
        "SELECT * FROM use ORDER BY week DESC, client"
    ):
        counts = uses.setdefault((week, client), dict.fromkeys(USES, 0))
        counts[name] = count
    return uses
