"""Notes as they read by themselves: dates for relative times, names for pronouns."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.language.normalize import (
    MAX_LENGTH,
    Change,
    normalize,
    resolve_pronouns,
    resolve_relative_times,
)

DATA = Path(__file__).parents[1] / "data"
ON = date(2026, 11, 21)  # a Saturday

WORDS = st.sampled_from(
    """yesterday Yesterday today tonight tomorrow last next this week weekend month year Tuesday friday 3 two a days
    weeks ago in on the day before after of for from now night Anna Tom Alex Redis Kestrel Postgres 16 config.yaml
    `parse()` he she it He She It her his its they Their them the The Finance team Millers said met moved is was rained
    and when to , . ! " ' ( ) [x](y) https://a.b ``` <!-- --> - # > May Will I we and or / 's ’s 999999999""".split()
)
GAPS = st.sampled_from([" ", " ", " ", " ", "\n", "\n\n", "", "  "])
NOTES = st.one_of(
    st.lists(st.tuples(WORDS, GAPS), max_size=40).map(
        lambda pieces: "".join(word + gap for word, gap in pieces)
    ),
    st.text(max_size=200),
)
DAYS = st.dates()


def made(text: str, changes: tuple[Change, ...]) -> str:
    for change in sorted(changes, key=lambda change: -change.start):
        text = text[: change.start] + change.now + text[change.start + len(change.was) :]
    return text


def times(text: str, on: date = ON) -> str:
    return made(text, resolve_relative_times(text, on=on))


def names(text: str) -> str:
    return made(text, resolve_pronouns(text))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Yesterday we met Tom.", "2026-11-20 we met Tom."),
        ("Today's call was moved to tonight", "2026-11-21's call was moved to 2026-11-21"),
        ("tomorrow, this morning, last night", "2026-11-22, 2026-11-21, 2026-11-20"),
        ("the day before yesterday", "2026-11-19"),
        ("3 days ago, two weeks ago", "2026-11-18, 2026-11-07"),
        ("It ships in 3 days.", "It ships 2026-11-24."),
        ("Last Tuesday we met, next Friday again", "2026-11-17 we met, 2026-11-27 again"),
        ("last saturday", "2026-11-14"),
        ("this Tuesday", "2026-11-24"),
        ("two months ago, ends in two years", "2026-09, ends 2028"),
        ("last week", "2026-11-09 to 2026-11-15"),
        ("this week, next week", "2026-11-16 to 2026-11-22, 2026-11-23 to 2026-11-29"),
        ("this weekend", "2026-11-21 to 2026-11-22"),
        ("last weekend", "2026-11-14 to 2026-11-15"),
        ("last month, this month, next month", "2026-10, 2026-11, 2026-12"),
        ("last year, this year, next year", "2025, 2026, 2027"),
        ("- yesterday\n- **Tomorrow**: ship", "- 2026-11-20\n- **2026-11-22**: ship"),
        ("Shipped TODAY", "Shipped 2026-11-21"),
        ("wrapped last\nweek in a line", "wrapped 2026-11-09 to 2026-11-15 in a line"),
    ],
)
def test_relative_times_become_dates(text: str, read: str) -> None:
    assert times(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-03 and on Tuesday, in June",
        "It ran for 3 days and took two weeks; we were done in 3 days.",
        "every day, these days, some day, 2 days later, the other day",
        "the last week of May, last Friday of the month, the next day",
        "`yesterday` in\n```\ntoday\n```\nand [last week](notes.md), see today.md",
        'She sang "Yesterday" and read USA Today',
        "https://example.org/today and #today and <!-- yesterday -->",
        "more than 3 days ago, half a year ago, 2-3 weeks ago, two or three days ago, 1.5 "
        "weeks ago",
        "",
    ],
)
def test_what_is_no_relative_time_stays(text: str) -> None:
    assert resolve_relative_times(text, on=ON) == ()


def test_the_weekend_of_a_sunday_is_the_one_it_belongs_to() -> None:
    assert times("this weekend", date(2026, 11, 22)) == "2026-11-21 to 2026-11-22"
    assert times("last weekend", date(2026, 11, 23)) == "2026-11-21 to 2026-11-22"


def test_months_turn_the_year() -> None:
    assert times("last month", date(2026, 1, 31)) == "2025-12"
    assert times("next month", date(2026, 12, 31)) == "2027-01"
    assert times("last year", date(2024, 2, 29)) == "2023"


def test_what_lies_outside_of_the_calendar_stays() -> None:
    assert (
        times("yesterday, last year, 9999 years ago", date.min)
        == "yesterday, last year, 9999 years ago"
    )
    assert (
        times("tomorrow, this weekend, next year", date.max)
        == "tomorrow, this weekend, next year"
    )


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Anna is ill. She called.", "Anna is ill. Anna called."),
        ("Tom lost his key, so I gave him mine.", "Tom lost Tom's key, so I gave Tom mine."),
        ("Anna met Tom. He liked her report.", "Anna met Tom. Tom liked Anna's report."),
        ("I asked Anna about Rome; ask her again.", "I asked Anna about Rome; ask Anna again."),
        ("Dr. Lee called. She is out.", "Dr. Lee called. Dr. Lee is out."),
        (
            "Anna Berg joined. Anna wrote a plan. She left.",
            "Anna Berg joined. Anna wrote a plan. Anna Berg left.",
        ),
        ("Our client Anna called; she wants more.", "Our client Anna called; Anna wants more."),
        ("We moved to Redis. It is fast.", "We moved to Redis. Redis is fast."),
        (
            "We opened config.yaml and it was empty.",
            "We opened config.yaml and config.yaml was empty.",
        ),
        (
            "`parse()` broke. It raised ValueError.",
            "`parse()` broke. `parse()` raised ValueError.",
        ),
        (
            "Upgraded Grafana. Its charts are new.",
            "Upgraded Grafana. Grafana's charts are new.",
        ),
        (
            "The script `rotate.sh` runs. It is old.",
            "The script `rotate.sh` runs. `rotate.sh` is old.",
        ),
    ],
)
def test_a_pronoun_that_can_mean_one_name_reads_that_name(text: str, read: str) -> None:
    assert names(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "Tom met Max. He left.",
        "Tom met Alex. He left.",
        "Tom is here. She left.",
        "When he came, Tom left.",
        "Anna met her at the station.",
        'Tom said: "he is late", and `he` in code, and [his page](x.md).',
        "Mark the date. Will we go? He said so.",
        "Anna asked whether he or she pays.",
        "Redis crashed. He was angry.",
        "Emailed Siemens about the valve. He said six weeks.",
        "We run Redis and Postgres. It is slow.",
        "Redis and Kestrel are here. It is slow.",
        "It is old, said Tom of Redis.",
        "We moved to Redis. It rained. It is clear that it takes long. It was late.",
        "We moved to Redis. Lunch was good. It was cheap.",
        "The Finance team met. They left.",
        "It is what it is.",
        "",
    ],
)
def test_a_pronoun_that_could_mean_more_stays(text: str) -> None:
    assert resolve_pronouns(text) == ()


def test_both_parts_in_one_note() -> None:
    plain, changes = normalize("Anna called yesterday. She was late.", on=ON)
    assert plain == "Anna called 2026-11-20. Anna was late."
    assert changes == (
        Change("yesterday", "2026-11-20", "time", 12),
        Change("She", "Anna", "coreference", 23),
    )


def test_only_the_start_of_a_very_long_note_is_read() -> None:
    text = "yesterday " * (MAX_LENGTH // 10 + 5)
    assert normalize(text, on=ON)[0].endswith("2026-11-20 " + "yesterday " * 5)


@pytest.mark.parametrize(
    "piece",
    [
        '"',
        "[",
        "`",
        "` ",
        "a.",
        "a/",
        "'a ",
        "<!--",
        "“",
        "in 3 ",
        "Anna he ",
        "Kestrel it is ",
        "A. ",
        "\n> ",
        "a@",
        " ",
    ],
)
def test_hostile_text_is_read_too(piece: str) -> None:
    text = piece * (MAX_LENGTH // len(piece))
    plain, changes = normalize(text, on=ON)
    assert plain == made(text, changes)


@given(NOTES, DAYS)
def test_any_note_is_read_and_its_changes_make_the_text(text: str, on: date) -> None:
    plain, changes = normalize(text, on=on)
    at = 0
    for change in changes:
        assert change.start >= at
        assert text[change.start : change.start + len(change.was)] == change.was != ""
        at = change.start + len(change.was)
    assert plain == made(text, changes)


@given(NOTES, st.dates(date.min + timedelta(days=4000), date.max - timedelta(days=4000)))
def test_an_anchored_note_stays_as_it_is(text: str, on: date) -> None:
    once = times(text, on)
    assert times(once, on) == once


# --- the labelled cases; those at odd places were never looked at while the rules were written
# ---


def _cases(name: str, half: int) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    assert len(cases) >= 60
    return cases[half::2]


def _is_read_well(name: str, case: dict[str, Any]) -> bool:
    """Whether exactly the labelled changes are made, each at the labelled place."""
    text = case["text"]
    if name == "anchoring":
        wanted = [(change["from"], change["to"]) for change in case["changes"]]
        return [
            (c.was, c.now)
            for c in resolve_relative_times(text, on=date.fromisoformat(case["at"]))
        ] == wanted
    labelled = {
        (_place(text, change), change["from"], change["to"]) for change in case["changes"]
    }
    return {(c.start, c.was, c.now) for c in resolve_pronouns(text)} == labelled


def _place(text: str, change: dict[str, Any]) -> int:
    """Where the word stands that the label means: its first, second, ... occurrence."""
    found = [place.start() for place in re.finditer(rf"\b{re.escape(change['from'])}\b", text)]
    return found[change["occurrence"] - 1]


def _wrong_where_nothing_may_change(name: str) -> list[str]:
    cases = [case for half in (0, 1) for case in _cases(name, half) if not case["changes"]]
    assert len(cases) >= 15
    return [case["text"] for case in cases if not _is_read_well(name, case)]


@pytest.mark.parametrize(
    ("name", "half", "share"),
    [
        ("anchoring", 0, 0.9),
        ("anchoring", 1, 0.85),
        ("coreference", 0, 0.85),
        ("coreference", 1, 0.8),
    ],
)
def test_labelled_notes_read_as_labelled(name: str, half: int, share: float) -> None:
    cases = _cases(name, half)
    assert sum(_is_read_well(name, case) for case in cases) / len(cases) >= share


@pytest.mark.parametrize("name", ["anchoring", "coreference"])
def test_what_may_not_change_hardly_ever_does(name: str) -> None:
    assert len(_wrong_where_nothing_may_change(name)) <= 3
