"""The next day of a task that repeats, in the forms of Obsidian Tasks and Logseq. Most rows
are examples of the plugin's documentation.
"""

import re
from collections import Counter
from datetime import date, datetime

import pytest

from synaptic.notes import recurring
from synaptic.notes.recurring import (
    CannotRepeat,
    moved_stamps,
    next_occurrence,
    reason_not_to_move,
    with_logbook,
)

TODAY = date(2022, 2, 13)


@pytest.mark.parametrize(
    ("words", "after"),
    [
        ("take 🔁 every Sunday 📅 2021-04-25", "take 🔁 every Sunday 📅 2021-05-02"),
        ("empty due:2021-04-25 🔁 every week", "empty due:2021-05-02 🔁 every week"),
        ("empty [due:: 2021-04-25] 🔁 every week", "empty [due:: 2021-05-02] 🔁 every week"),
        ("sweep 🔁 every week ⏳ 2021-02-06", "sweep 🔁 every week ⏳ 2021-02-13"),
        (
            "sweep 🔁 every week when done ⏳ 2021-02-06",
            "sweep 🔁 every week when done ⏳ 2022-02-20",
        ),
        (
            "mow 🔁 every 2 weeks ⏳ 2021-10-28 📅 2021-10-30",
            "mow 🔁 every 2 weeks ⏳ 2021-11-11 📅 2021-11-13",
        ),
        (
            "both 🛫 2022-02-01 ⏳ 2022-02-03 🔁 every day",
            "both 🛫 2022-02-02 ⏳ 2022-02-04 🔁 every day",
        ),
        ("no date 🔁 every day", "no date 🔁 every day"),
        (
            "tied 🔁 every day 🆔 ab1 ⛔ x1,y2 ➕ 2022-01-01 📅 2022-02-13 ^name",
            "tied 🔁 every day ➕ 2022-02-13 📅 2022-02-14",
        ),
        (
            "keep #tag 🔼 🔁 every day 📅 2022-02-13 #more",
            "keep #tag 🔼 🔁 every day 📅 2022-02-14 #more",
        ),
    ],
)
def test_the_next_task_has_the_dates_moved(words: str, after: str) -> None:
    assert next_occurrence(words, TODAY) == after


@pytest.mark.parametrize(
    ("rule", "start", "days"),
    [
        ("every month on the last", "2022-01-31", "2022-02-28 2022-03-31 2022-04-30"),
        ("every month", "2021-10-31", "2021-11-30 2021-12-30 2022-01-30 2022-02-28 2022-03-28"),
        (
            "every month on the 31st",
            "2022-01-31",
            "2022-03-31 2022-05-31 2022-07-31 2022-08-31",
        ),
        ("every 3 months", "2022-01-31", "2022-04-30 2022-07-30"),
        ("every year", "2024-02-29", "2025-02-28"),
        ("every weekday", "2022-02-11", "2022-02-14 2022-02-15"),
        ("every week on Tuesday, Friday", "2022-02-08", "2022-02-11 2022-02-15"),
        ("every 3 weeks on Friday", "2022-02-11", "2022-03-04"),
        ("every 2 weeks on Monday and Thursday", "2022-02-07", "2022-02-10 2022-02-21"),
        ("every month on the last Friday", "2022-02-01", "2022-02-25 2022-03-25"),
        ("every month on the 2nd last Friday", "2022-02-01", "2022-02-18 2022-03-18"),
        ("every 6 months on the 2nd Wednesday", "2022-02-09", "2022-08-10"),
        ("every January on the 15th", "2022-01-15", "2023-01-15"),
        ("every February on the last", "2023-02-28", "2024-02-29"),
        (
            "every April and December on the 1st and 24th",
            "2022-04-01",
            "2022-04-24 2022-12-01 2022-12-24 2023-04-01",
        ),
    ],
)
def test_a_rule_gives_its_days(rule: str, start: str, days: str) -> None:
    words = f"x 🔁 {rule} 📅 {start}"
    for day in days.split():
        words = next_occurrence(words, TODAY)
        assert words == f"x 🔁 {rule} 📅 {day}"


FORMS_OF_DUE = (
    "due:{}",
    "due: {}",
    "due::{}",
    "Due {}",
    "due by {}",
    "[due:: {}]",
    "(due:: {})",
    "@due({})",
    "due [[{}]]",
    "📅 {}",
    "📆{}",
    "🗓️ {}",
    "⏳ {}",
    "🛫 {}",
)
FORMS_OF_DATE = ("%Y-%m-%d", "%d.%m.%Y", "%B %d, %Y")


@pytest.mark.parametrize("form", FORMS_OF_DUE)
@pytest.mark.parametrize(
    "order", ["x {due} 🔁 {rule}", "x 🔁 {rule} {due}", "🔁 {rule} {due} #x"]
)
def test_each_form_of_a_day_moves_before_and_behind_the_rule(form: str, order: str) -> None:
    for written in FORMS_OF_DATE[: 1 if form[0] in "🛫" else None]:
        words, after = (
            order.format(due=form.format(f"{day:{written}}"), rule="every month")
            for day in (date(2026, 10, 11), date(2026, 11, 11))
        )
        assert reason_not_to_move(words) == "", words
        assert next_occurrence(words, TODAY) == after


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("x 🔁 every blue moon 📅 2022-02-13", "its rule `every blue moon` is not one"),
        ("x 🔁 📅 2022-02-13", "its rule behind 🔁 is not understood"),
        ("x 🔁 every day 📅 2024-02-30", "2024-02-30 is not in the calendar"),
        ("x 🔁 every day 🏁 delete 📅 2024-02-20", "its plugin deletes it"),
        ("x [repeat:: every day] [due:: 2024-02-20]", "Dataview"),
        ("x 🔁 every day for 3 times 📅 2024-02-20", "is not one"),
        ("x\nSCHEDULED: <2022-02-13 So +1w>", "not in Logseq's form"),
        ("x\nSCHEDULED: <2022-02-31 Sun +1w>", "not in the calendar"),
    ],
)
def test_what_is_not_understood_says_why(words: str, reason: str) -> None:
    assert reason in reason_not_to_move(words)


NOW = datetime(2026, 11, 27, 10, 5)


@pytest.mark.parametrize(
    ("stamp", "after"),
    [
        ("2026-11-01 Sun +1w", "2026-11-08 Sun +1w"),
        ("2026-11-01 Sun ++1w", "2026-11-29 Sun ++1w"),
        ("2026-11-01 Sun .+1w", "2026-12-04 Fri .+1w"),
        ("2026-12-01 Tue +1m", "2027-01-01 Fri +1m"),
        ("2027-01-31 Sun +1m", "2027-02-28 Sun +1m"),
        ("2024-02-29 Thu +1y", "2025-02-28 Fri +1y"),
        ("2026-11-26 Thu 08:00 ++1d", "2026-11-28 Sat 08:00 ++1d"),
        ("2026-11-26 Thu 08:00 .+2d", "2026-11-29 Sun 10:05 .+2d"),
        ("2026-11-27 Fri 08:00 +12h", "2026-11-27 Fri 20:00 +12h"),
    ],
)
def test_logseqs_date_moves(stamp: str, after: str) -> None:
    block = f"- TODO x\n  DEADLINE: <2026-11-29 Sun>\n  SCHEDULED: <{stamp}>\n"
    assert moved_stamps(block, NOW) == block.replace(stamp, after)


def _moment_of(block: str) -> datetime:
    day, _, time, _ = block.partition("<")[2].split()
    return datetime.fromisoformat(f"{day} {time}")


@pytest.mark.parametrize("number", [1, 5, 12])
@pytest.mark.parametrize("unit", "hdwmy")
def test_the_next_of_many_dates_is_that_of_single_steps(number: int, unit: str) -> None:
    """And a date of long ago takes no more steps than one of last week."""
    days = "2019-01-28 2019-10-31 2020-02-29" if unit in "my" else "2026-11-18 2026-11-26"
    for day in days.split():
        name = f"{datetime.fromisoformat(day):%a}"
        stamp = f"{day} {name} 10:05 +{number}{unit}"
        block = f"- TODO x\n  SCHEDULED: <{stamp}>"
        singly = moved_stamps(block, NOW)
        while _moment_of(singly) <= NOW:
            singly = moved_stamps(singly, NOW)
        at_once = moved_stamps(block.replace(" +", " ++"), NOW)
        assert at_once == singly.replace(" +", " ++")


def test_the_steps_to_a_far_day_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each task is asked for its next day when its file is read."""
    steps = Counter[str]()
    real = recurring._moment_after

    def counted(moment: datetime, repeater: re.Match[str], *at_once: int) -> datetime:
        steps[repeater[0]] += 1
        return real(moment, repeater, *at_once)

    monkeypatch.setattr(recurring, "_moment_after", counted)
    for unit in "hdwmy":
        assert reason_not_to_move(f"x\nSCHEDULED: <1200-01-01 Sat ++1{unit}>") == ""
    assert len(steps) == 5 and max(steps.values()) <= 4, steps


def test_a_date_that_stays_is_refused_and_a_logbook_grows() -> None:
    with pytest.raises(CannotRepeat, match="still to come"):
        moved_stamps("- TODO x\n  SCHEDULED: <2026-12-01 Tue .+1w>", NOW)
    block = "- TODO x\n  :LOGBOOK:\n  CLOCK: [a]--[b]\n  :END:\n"
    row = '  * State "DONE" from "TODO" [2026-11-27 Fri 10:05]\n'
    assert with_logbook(block, NOW, "\n") == block.replace("  :END:", f"{row}  :END:")
    assert with_logbook("- TODO x\n", NOW, "\n") == "- TODO x\n"
