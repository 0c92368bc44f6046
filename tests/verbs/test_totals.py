"""Sums of a field: every amount once, and what is not counted is said."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from homes import Clock, open_home

from synaptic import Workspace, save
from synaptic.errors import InvalidArgument
from synaptic.filters import Filters
from synaptic.verbs.totals import Totals, sum_field


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with open_home(tmp_path_factory.mktemp("home"), clock=Clock()) as ws:
        for text, project, at, tags in (
            (
                "Calls.\n\nhours:: 2\nhours:: 2\ncost:: 12,50 EUR",
                "acme",
                "2026-10-05",
                ["a", "b"],
            ),
            ("The form (1:30).\n\n- hours:: 1:30\n- cost:: 20 USD", "acme", "2026-10-12", []),
            ("Zoo [hours:: three], and hours:: 9 in a line.", "zoo", "2026-11-02", ["a"]),
            ("Zoo again.\n\nhours:: 0.25", "", "2026-11-03", ["a"]),
        ):
            save(ws, text, project=project, at=f"{at}T10:00", tags=tags)
        (ws.config.journal / "2026-11-04.md").write_text(
            "---\nhours: 8\n---\n\n## 09:00\n\nMorning at the zoo.\n\n## 14:00\n\nNoon.\n"
        )
        yield ws


def rows(totals: Totals) -> list[tuple[str, str]]:
    return [(totals.label(row), row.text) for row in totals.rows]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("month", [("2026-10", "5.5"), ("2026-11", "8.25")]),
        ("week", [("2026-W41", "4"), ("2026-W42", "1.5"), ("2026-W45", "8.25")]),
        ("project", [("acme", "5.5"), ("no project", "8.25")]),
        ("tag", [("a", "4.25"), ("b", "4"), ("no tag", "9.5")]),
    ],
)
def test_every_amount_counts_once_in_its_groups(
    work: Workspace, by: str, expected: list[tuple[str, str]]
) -> None:
    totals = sum_field(work, "Hours", by)
    assert rows(totals) == expected
    # the front matter of a file counts once, not with each of its entries
    assert totals.sentence == "hours: 13.75 in 4 entries"
    assert "“three”" in totals.notices[0] and "[hours:: 1.5]" in totals.notices[1]


def test_entries_are_counted_by_any_field(work: Workspace) -> None:
    counts = sum_field(work, None, "type")
    assert (rows(counts), counts.notices) == ([("note", "6")], ())
    assert rows(sum_field(work, None, "tag")) == [("a", "3"), ("b", "1"), ("no tag", "3")]
    # only entries that have the field count by its values, each once, front matter with each
    by_hours = sum_field(work, None, "Hours")
    assert rows(by_hours) == [
        ("0.25", "1"),
        ("1:30", "1"),
        ("2", "1"),
        ("8", "2"),
        ("three", "1"),
    ]
    assert by_hours.label_of_all(by_hours.all[0]) == "in all" and by_hours.all[0].value == 6
    # sums keep those without it
    assert rows(sum_field(work, "hours", "cost")) == [
        ("12,50 EUR", "4"),
        ("20 USD", "1.5"),
        ("no cost", "8.25"),
    ]
    assert not sum_field(work, None, filters=Filters(since="2027-01-01")).rows
    with pytest.raises(InvalidArgument) as error:
        sum_field(work, None, "costs")
    assert error.value.valid[-2:] == ("cost", "hours")


def test_units_are_never_mixed(work: Workspace) -> None:
    totals = sum_field(work, "cost", filters=Filters(since="2026-10-01"))
    assert rows(totals) == [("2026-10", "12.5 EUR"), ("2026-10", "20 USD")]
    assert [total.text for total in totals.all] == ["12.5 EUR", "20 USD"]


def test_times_in_a_text_count_where_the_setting_says_so(work: Workspace) -> None:
    with_times = replace(work, config=replace(work.config, hours_in_text=True))
    assert (
        sum_field(with_times, "hours", filters=Filters(until="2026-10-31")).all[0].text == "7"
    )


def test_a_field_without_amounts_is_an_error_that_names_those_with_some(
    work: Workspace,
) -> None:
    with pytest.raises(InvalidArgument) as error:
        sum_field(work, "km")
    assert list(error.value.valid) == ["cost", "hours"]
