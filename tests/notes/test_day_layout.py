"""The layout of day files is read from their paths."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.notes.dates import date_in_path
from synaptic.notes.day_layout import USUAL, layout_of

OTHERS = ["readme.md", "2025 goals.md", "talks/2025-04-04 Meeting.md", "2025/plan.md"]


@pytest.mark.parametrize("days", [7, 45])
@pytest.mark.parametrize(
    "layout",
    [
        "%Y-%m-%d.md",
        "log/%Y/%Y-%m/%Y-%m-%d.md",
        "journals/%Y_%m_%d.md",
        "area51/v2/%Y.%m.%d.md",
        "%Y/%m/%d.md",
        "%Y/%-m/%-d.md",
        "daily/%d-%m-%Y.md",
        "days/%m-%d-%Y.md",
        "notes/%Y/%B/%d %B %Y.md",
        "diary/%b %-d, %Y.md",
        "diary/%Y%m%d.md",
        "d/%Y-%m-%d %A.md",
    ],
)
def test_the_layout_of_day_files_is_the_one_that_wrote_them(layout: str, days: int) -> None:
    paths = [(date(2025, 4, 1) + timedelta(day)).strftime(layout) for day in range(days)]
    assert layout_of([*OTHERS, *paths]) == layout


def test_two_day_files_are_a_layout_where_their_folder_has_no_others() -> None:
    for names in ("2025-04-01 2025-06-02", "01.04.2025 02.06.2025", "20250401 20250602"):
        days = [f"log/{name}.md" for name in names.split()]
        layout = layout_of([*OTHERS, *days])
        assert date(2025, 4, 1).strftime(layout) == days[0] and "log/%" in layout
        assert layout_of([*OTHERS, *days, "log/plan.md"]) == ""
        assert layout_of([*OTHERS, *days, "talks/2025-04-01.md", *OTHERS[2:3]]) == layout
        assert layout_of([*OTHERS, *days, "a/2025-04-01.md", "a/2025-04-02.md"]) == ""
        assert layout_of(day.replace("log", "Choir 2025") for day in days) == ""
    words = ("boats", "tides", "oars", "nets", "sails")
    assert layout_of(f"posts/2025-04-0{len(word)}-{word}.md" for word in words) == ""


FIRST_OF_JULY = ("2026-07-01", "2026-07-02", "2026-07-03")


@pytest.mark.parametrize(
    ("folder", "layout"),
    [
        ("Choir 2023", ""),
        ("Seat 1204", ""),
        ("1987", ""),
        ("07", ""),
        ("Lesson 07", ""),
        ("Juillet", ""),
        ("2026/W27", ""),
        ("2026/Q3", ""),
        ("KW27", ""),
        ("2026/07-Juli", ""),
        ("Diary 2026", ""),
        ("BIO2031", "BIO2031/%Y-%m-%d.md"),
        ("2026", "%Y/%Y-%m-%d.md"),
        ("log/2026/07", "log/%Y/%m/%Y-%m-%d.md"),
        ("2026/July", "%Y/%B/%Y-%m-%d.md"),
    ],
)
def test_a_number_in_a_folder_is_a_date_only_where_it_can_be_nothing_else(
    folder: str, layout: str
) -> None:
    assert layout_of(f"{folder}/{day}.md" for day in FIRST_OF_JULY) == layout


@pytest.mark.parametrize(
    ("paths", "layout"),
    [
        (["BIO2031/01.07.2026", "BIO2031/02.07.2026", "BIO2031/03.07.2026"], "%d.%m.%Y"),
        (["X1987/2026/07-01", "X1987/2026/07-02", "X1987/2026/07-03"], "%Y/%m-%d"),
        (["X1987/01 07 2026", "X1987/02 07 2026", "X1987/03 07 2026"], "%d %m %Y"),
    ],
)
def test_a_number_that_is_part_of_a_word_stays(paths: list[str], layout: str) -> None:
    expected = f"{paths[0].partition('/')[0]}/{layout}.md"
    assert layout_of(f"{path}.md" for path in paths) == expected


def test_a_folder_of_words_is_yearly_where_two_years_agree() -> None:
    days = [f"Diary 2026/{day}.md" for day in FIRST_OF_JULY]
    assert layout_of([*days, "Diary 2025/2025-12-31.md"]) == "Diary %Y/%Y-%m-%d.md"
    assert layout_of([*days, "Diary 2024/2025-12-31.md"]) == ""
    assert layout_of(day.replace("/2026-", "/") for day in days * 2) == ""


def test_one_file_in_the_wrong_folder_is_enough_to_doubt() -> None:
    days = [f"2026/{day}.md" for day in FIRST_OF_JULY]
    assert layout_of([*days, "2025/2025-12-31.md"]) == "%Y/%Y-%m-%d.md"
    assert layout_of([*days, "2025/2026-06-30.md"]) == ""


FOLDERS = (
    "",
    "daily/",
    "{year}/",
    "{year}/{month:02}/",
    "Diary {year}/",
    "Choir 2023/",
    "BIO2031/",
    "1987/",
    "Lesson {month}/",
    "W{week}/",
)
NAMES = ("{day}", "{day} {day:%A}", "{day:%d.%m.%Y}", "{day:%Y%m%d}")
PLACES = st.tuples(
    st.sampled_from(FOLDERS),
    st.sampled_from(NAMES),
    st.integers(0, 1),
    st.dates(date(2025, 11, 1), date(2026, 8, 31)),
)


def _path(folder: str, name: str, off: int, day: date) -> str:
    """The path of a day's file; `off` years beside the folder of its year."""
    week = day.isocalendar().week
    place = folder.format(year=day.year - off, month=day.month, week=week)
    return f"{place}{name.format(day=day)}.md"


@given(
    st.lists(PLACES, min_size=3, max_size=12).flatmap(
        lambda places: st.tuples(
            st.just(places), st.sampled_from(FOLDERS), st.sampled_from(NAMES)
        )
    )
)
def test_every_dated_file_agrees_with_a_layout(
    drawn: tuple[list[tuple[str, str, int, date]], str, str],
) -> None:
    """Most files have one layout, the others any; some lie in the folder of another year."""
    places, folder, name = drawn
    files = {}
    for at, (other, form, off, day) in enumerate(places):
        place = (other, form, off) if at % 4 == 3 else (folder, name, 0)
        files[_path(*place, day)] = day
    layout = layout_of(files)
    for path, day in files.items():
        named = date_in_path(path, layout or USUAL)
        assert named and named.day == day, layout
    folders = {path.rpartition("/")[0] for path in files}
    new = date(2031, 3, 9).strftime(layout).rpartition("/")[0]
    if new and new not in folders:
        kind = re.sub("[0-9]+", "0", new)
        others = [one for one in folders if re.sub("[0-9]+", "0", one) == kind]
        assert others and (new.replace("/", "").isdigit() or len(others) > 1)
