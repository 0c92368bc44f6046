"""One moment has one day, wherever it is written: in front matter, behind `--at`, in the export
of another program.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.language.time_fields import read_date
from synaptic.models import Entry
from synaptic.notes.reading import parse_entries
from synaptic.verbs.changing import read_new_moment
from synaptic.verbs.saving import parse_moment

ZONES = ("America/Los_Angeles", "Europe/Berlin", "Asia/Kathmandu", "UTC", "Pacific/Auckland")


@contextmanager
def owner_in(zone: str) -> Iterator[None]:
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TZ", zone)
            time.tzset()
            yield
    finally:
        time.tzset()


def is_compact_time(digits: str) -> bool:
    """True for `204808020000`: milliseconds of 1976, and midnight of a day of 2048."""
    try:
        datetime.strptime(digits, "%Y%m%d%H%M")
    except ValueError:
        return False
    return len(digits) == 12


def note(fields: str, path: str = "Walk.md") -> Entry:
    data = f"---\n{fields}\n---\nAlong the canal.\n".encode()
    [entry] = parse_entries(data, path, mtime=datetime(2026, 1, 2, tzinfo=UTC)).entries
    return entry


@given(
    st.datetimes(datetime(1975, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)),
    st.sampled_from(ZONES),
)
def test_an_instant_is_filed_on_its_owners_day_by_every_field(at: datetime, zone: str) -> None:
    at = at.replace(microsecond=0)
    seconds = int(at.timestamp())
    written = [
        f"{at:%Y-%m-%dT%H:%M:%S}Z",
        f"{at:%Y-%m-%d %H:%M:%S}Z",
        f"{at:%Y-%m-%dT%H:%M:%S}.000Z",
        f"{at:%Y-%m-%dT%H:%M:%S}+00:00",
        f"{at:%Y-%m-%d %H:%M:%S} UTC",
        format_datetime(at, usegmt=True),
        f"{at:%Y%m%d%H%M%S}000",
        str(seconds),
    ]
    milliseconds = str(seconds * 1000)
    if not is_compact_time(milliseconds):
        written.append(milliseconds)
    with owner_in(zone):
        now = datetime.now().astimezone()
        local = at.astimezone()
        older = note("date: 1970-02-03")
        moments = []
        for text in written:
            moments += [note(f"{key}: {text}").at for key in ("date", "created", "created_at")]
            moments.append(parse_moment(text, now))
            assert read_new_moment(older, text, now).date() == local.date()
            assert (
                read_date(text, now, "since")
                == read_date(text, now, "due")
                == str(local.date())
            )
        for moment in moments:
            assert moment.isoformat() == local.isoformat()


@given(
    st.datetimes(datetime(1975, 1, 1), datetime(2090, 1, 1)),
    st.integers(-11 * 60, 13 * 60).filter(bool),
    st.sampled_from(ZONES),
)
def test_another_offset_keeps_its_own_day(at: datetime, minutes: int, zone: str) -> None:
    there = at.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=minutes)))
    with owner_in(zone):
        now = datetime.now().astimezone()
        text = there.isoformat()
        assert parse_moment(text, now).isoformat() == text
        assert note(f"created: {text}").at.isoformat() == text
        assert read_date(text, now, "since") == str(there.date())


@pytest.mark.parametrize("zone", ZONES)
def test_a_time_without_a_zone_is_the_owners(zone: str) -> None:
    with owner_in(zone):
        now = datetime.now().astimezone()
        expected = datetime(2026, 3, 4, 23, 30).astimezone().isoformat()
        for text in ("2026-03-04 23:30", "2026-03-04T23:30", "202603042330", "4.3.2026 23:30"):
            assert note(f"date: {text}").at.isoformat() == expected
            assert parse_moment(text, now).isoformat() == expected


def test_a_stamp_in_utc_gives_the_time_of_a_note_that_is_named_by_its_day() -> None:
    with owner_in("America/Los_Angeles"):
        entry = note("created: 2026-03-05T03:11:20Z", "2026-03-04 Walk.md")
    assert f"{entry.at:%Y-%m-%d %H:%M}" == "2026-03-04 19:11"


def test_fields_of_tiddlywiki_are_read() -> None:
    with owner_in("Asia/Tokyo"):
        entry = note("tags: [[tide table]] boat\ncreated: 20260304183045678")
    assert f"{entry.at:%Y-%m-%d %H:%M:%S}" == "2026-03-05 03:30:45"
    assert entry.tags == ("tide-table", "boat")
