"""Dates in names of files and in values, in the languages that Synaptic understands."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from synaptic.models import Entry
from synaptic.notes.dates import (
    DAYS,
    PERIODS,
    Form,
    calendar_names,
    date_in_name,
    date_in_path,
    moment_in_value,
)
from synaptic.notes.marks import link_key
from synaptic.notes.reading import parse_entries

PLUS_ONE = timezone(timedelta(hours=1))
DAY = date(2026, 3, 4)


def named(name: str) -> date | None:
    read = date_in_name(name)
    return read.day if read else None


def entries(text: str, path: str) -> tuple[Entry, ...]:
    return parse_entries(text.encode(), path, mtime=datetime(2026, 1, 2, tzinfo=UTC)).entries


@pytest.mark.parametrize("form", DAYS, ids=lambda form: form.example)
def test_each_form_of_a_day_reads_its_example_in_names_and_values(form: Form) -> None:
    read = date_in_name(form.example)
    assert read and read.day == date(2026, 11, 21) and read.is_day
    assert moment_in_value(form.example) == datetime(2026, 11, 21)


@pytest.mark.parametrize(
    ("form", "first"),
    list(
        zip(
            PERIODS,
            [date(2026, 11, 16)] * 5 + [date(2026, 11, 1)] * 5 + [date(2026, 10, 1)],
            strict=True,
        )
    ),
    ids=lambda value: value.example if isinstance(value, Form) else "",
)
def test_each_form_of_a_period_reads_the_first_day_of_its_example(
    form: Form, first: date
) -> None:
    read = date_in_name(form.example)
    assert read and (read.day, read.is_day) == (first, False)
    assert moment_in_value(form.example) == datetime(first.year, first.month, first.day)


def test_every_name_of_a_month_is_read_in_names_and_values() -> None:
    months = calendar_names("months")
    assert months.keys() == {"en", "de", "fr", "es", "it", "pt", "nl", "ru"}
    for names in months.values():
        assert len(names) == 12
        for number, forms in enumerate(names, 1):
            for name in forms:
                day = date(2026, number, 3)
                assert named(f"3 {name} 2026") == named(f"3. {name.title()} 2026") == day
                assert named(f"2026-{name.title()}") == named(f"{name} 2026")
                assert named(f"2026-{name}") == day.replace(day=1)
                assert moment_in_value(f"{name.title()} 3, 2026") == datetime(2026, number, 3)


@pytest.mark.parametrize(
    "name",
    [
        "4. März 2026",
        "4 mars 2026",
        "4 de marzo de 2026",
        "4 marzo 2026",
        "4 de março de 2026",
        "4 maart 2026",
        "4 марта 2026 г.",
        "2026年3月4日",
        "2026年03月04日 星期三",
        "2026年3月4日（水）",
        "2026년 3월 4일 수요일",
        "2026. 3. 4.",
        "Wed, 4th Mar 2026",
        "mercredi 4 mars 2026",
        "2026-03-04 Mittwoch",
        "04.03.2026",
        "2026.03.04",
        "2026-3-4",
        "2026 03 04",
    ],
)
def test_a_day_file_of_any_language_holds_entries_of_its_day(name: str) -> None:
    first, second = entries("## Call\nIda\n\n## Tea\nGreen\n", f"{name}.md")
    assert (first.title, first.date, first.date_source) == ("Call", "2026-03-04", "file")
    assert (second.title, second.date) == ("Tea", "2026-03-04")
    assert link_key(name.removesuffix(" г.")) == link_key("2026-03-04")


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2024-W01", "2024-01-01"),
        ("2026-W10 Review", "2026-03-02"),
        ("2026-03", "2026-03-01"),
        ("2026-03 (March)", "2026-03-01"),
        ("Март 2026", "2026-03-01"),
        ("2026년 3월", "2026-03-01"),
        ("2026년 3월 1주차", "2026-03-02"),
        ("2026年第10周", "2026-03-02"),
        ("KW 10 2026", "2026-03-02"),
        ("202603041530 Tides", "2026-03-04"),
        ("daily.journal.2026.03.04", "2026-03-04"),
    ],
)
def test_a_week_a_month_and_a_titled_note_stay_one_note_with_a_date(
    name: str, day: str
) -> None:
    [note] = entries("## Call\nIda\n\n## Tea\nGreen\n", f"{name}.md")
    assert (note.date, note.date_source) == (day, "file")


@pytest.mark.parametrize(
    "name",
    [
        "02-03-2026",  # day or month first?
        "2026",
        "2026-13",
        "2026-W54",
        "2026-03 Budget",
        "report-2026-03",
        "PyCharm 2026.1.2",
        "2026.11.21.3",
        "10.2026.11.21",
        "1742121600123",
        "3 jui 2026",  # June or July?
        "3 Dinge 2026",
        "2026年3",
    ],
)
def test_a_name_that_may_mean_something_else_has_no_date(name: str) -> None:
    assert date_in_name(name) is None


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("2026-03", "2026-03-01"),
        ("2026-03-04 Trip", "2026-03-04"),
        ("02-03-2026", "2026-03-02"),
    ],
)
def test_a_page_of_more_or_less_than_a_day_is_not_the_page_of_the_day(
    name: str, others: str
) -> None:
    assert link_key(name) != link_key(others)


def test_the_pattern_of_day_files_comes_first() -> None:
    read = date_in_path("days/02-03-2026.md", "days/%d-%m-%Y.md")
    assert read and (read.day, read.is_day) == (date(2026, 3, 2), True)


@pytest.mark.parametrize(
    ("path", "day_file", "day"),
    [
        ("Choir 2023/2026-03-04.md", "Choir %Y/2026-%m-%d.md", "2026-03-04"),
        ("1987/04.03.2026.md", "%Y/%d.%m.2026.md", "2026-03-04"),
        ("2026/03-04.md", "%Y/%m-%d.md", "2026-03-04"),
        ("03.04.2026.md", "%m.%d.%Y.md", "2026-03-04"),
    ],
)
def test_a_folder_does_not_overrule_a_name_that_is_a_day(
    path: str, day_file: str, day: str
) -> None:
    read = date_in_path(path, day_file)
    assert read and (str(read.day), read.is_day) == (day, True)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("1742121600123", datetime(2025, 3, 16, 10, 40, 0, 123000, UTC)),
        ("1611215400", datetime(2021, 1, 21, 7, 50, tzinfo=UTC)),
        ("1611215400.5", datetime(2021, 1, 21, 7, 50, 0, 500000, UTC)),
        ("1754061234567890", datetime(2025, 8, 1, 15, 13, 54, 567890, UTC)),
        ("99999999999", None),
        ("4", None),
        ("20260304", datetime(2026, 3, 4)),
        ("202603041530", datetime(2026, 3, 4, 15, 30)),
        ("2026-03-04T15:30:00Z", datetime(2026, 3, 4, 15, 30, tzinfo=UTC)),
        ("2026/3/4 15:30", datetime(2026, 3, 4, 15, 30)),
        ("[[2026-03-04]]", datetime(2026, 3, 4)),
        ("March 4, 2026", datetime(2026, 3, 4)),
        ("March 4, 2026 3:30 PM", datetime(2026, 3, 4, 15, 30)),
        ("Wednesday, March 4th 2026, 12:05:09 am", datetime(2026, 3, 4, 0, 5, 9)),
        ("Wed, 04 Mar 2026 15:30:00 +0100", datetime(2026, 3, 4, 15, 30, tzinfo=PLUS_ONE)),
        ("4. März 2026 um 15:30 Uhr", datetime(2026, 3, 4, 15, 30)),
        ("4 марта 2026, 15:30", datetime(2026, 3, 4, 15, 30)),
        ("2026年3月4日 15:30", datetime(2026, 3, 4, 15, 30)),
        ("2026-03", datetime(2026, 3, 1)),
        ("21/10/2026", datetime(2026, 10, 21)),
        ("03/04/2026", None),
        ("soon", None),
    ],
)
def test_a_value_names_a_moment(value: str, moment: datetime | None) -> None:
    assert moment_in_value(value) == moment


def test_no_number_is_a_day_before_1970() -> None:
    for digits in (*range(1, 8), *range(9, 20)):
        for first in "123456789":
            moment = moment_in_value(first + "7" * (digits - 1))
            assert moment is None or moment.year >= 1970
