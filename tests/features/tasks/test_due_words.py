"""A new task says its day by its words; what only looks like a day stays as it is typed."""

from __future__ import annotations

import json
from datetime import date, datetime
from itertools import product

import pytest
from steady import SteadyHome

from synaptic.features.tasks.due_words import split_due_words, write_days
from synaptic.language.time_fields import read_date
from synaptic.notes.due_marks import find_due_mark

NOW = datetime(2026, 11, 29, 15).astimezone()  # a Sunday
FRIDAY = date(2026, 12, 4)


@pytest.mark.parametrize(
    ("typed", "task", "day"),
    [
        ("Write the bill by friday", "Write the bill", FRIDAY),
        ("Rechnung schreiben bis Freitag", "Rechnung schreiben", FRIDAY),
        ("Milch am 4.12.", "Milch", FRIDAY),
        ("Milch fällig Freitag", "Milch", FRIDAY),
        ("due:freitag Milch kaufen", "Milch kaufen", FRIDAY),
        ("Milch Fällig: 4. Dezember, Brot", "Milch Brot", FRIDAY),
        ("Milk due next week", "Milk", date(2026, 11, 30)),
        ("Call Ida in 3 days", "Call Ida", date(2026, 12, 2)),
        ("Tea due:friday 5pm", "Tea 5pm", FRIDAY),
        ("Call Ida tomorrow", "Call Ida", date(2026, 11, 30)),
        ("Zahnarzt anrufen morgen", "Zahnarzt anrufen", date(2026, 11, 30)),
        ("Einkaufen heute", "Einkaufen", NOW.date()),
        ("Stoffmuster bestellen Freitag", "Stoffmuster bestellen", FRIDAY),
        ("Stoffmuster bestellen für Freitag", "Stoffmuster bestellen", FRIDAY),
        ("Freitag: Stoffmuster bestellen", "Stoffmuster bestellen", FRIDAY),
        ("order cloth for friday", "order cloth", FRIDAY),
        ("Kuchen für morgen", "Kuchen", date(2026, 11, 30)),
        ("Tomorrow: order cloth", "order cloth", date(2026, 11, 30)),
        ("歯医者 明日", "歯医者", date(2026, 11, 30)),
        ("Steuer bis Ende Januar", "Steuer", date(2027, 1, 31)),
    ],
)
def test_the_day_is_taken_out_of_the_words(typed: str, task: str, day: date) -> None:
    assert split_due_words(typed, NOW) == (task, day)


@pytest.mark.parametrize(
    "typed",
    [
        "Fotos vom 4.12.",
        "Sort the photos of friday",
        "Am Morgen laufen",
        "Run am Morgen",
        "Tea on friday 5pm",
        "Plan 2027",
        "Black Friday",
        "Buy a lamp on Black Friday",
        "Mail of friday",
        "Note: friday is closed",
        "Laufen jeden Morgen",
        "Yoga jeden morgen",
        "Read the news of today",
        "tomorrow",
        "Urlaub im Januar",
        "Die Rechnung ist fällig",
        "Overdue in May",
        "Notes since monday",
        "Fix what broke on 2026-11-03",
        "by friday",
        "Rest 3 days",
        "Ruhen 3 Tage",
        "",
    ],
)
def test_what_says_no_day_stays(typed: str) -> None:
    assert split_due_words(typed, NOW) is None


FORMS = (
    "Call Bob due:{}",
    "Call Bob due: {} #work ^bob",
    "Call Bob due:: {}",
    "Call [due:: {}] Bob",
    "Call Bob (due {}), twice",
    "Call @due({}) Bob",
    "Call Bob due {}",
    "due by {}",
    "Call Bob 📅 {} 🔁 every week",
    "Call Bob\n  due:: {}\n",
)
DAYS = ("friday", "next week", "tomorrow", "in 3 days", "4.12.", "freitag", "Dec 4")


@pytest.mark.parametrize(("form", "said"), [*product(FORMS, DAYS)])
@pytest.mark.parametrize("box", ["- [ ] ", "  * [ ] ", "> - ", "- TODO "])
def test_a_saved_task_is_due_on_the_day_of_its_words_and_nothing_else_changes(
    form: str, said: str, box: str
) -> None:
    if box == "> - ":
        box += "[ ] "
    around = "Ask about `- [ ] x due:friday`.\n\n{}\n\nRent is due:friday.\n"
    text = around.format(box + form.format(said))
    day = read_date(said, NOW, "due")
    written, [(words, on)] = write_days(text, NOW)
    assert str(on) == day and said in words
    assert written == around.format(box + form.format(day))
    mark = find_due_mark(written.partition("\n\n")[2])
    assert mark and mark.day == day
    assert write_days(written, NOW) == (written, [])
    assert write_days(text, NOW, before=text) == (text, [])


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] Call Bob due:2026-12-04",
        "- [ ] Call Bob due 27.11.2026",
        "- [ ] Call Bob 📅 2026-12-04 due:friday",
        "- [ ] Due to rain on friday",
        "- [ ] Ask what is due: rent or power",
        "- [ ] Payments due may be late",
        "- [ ] Call Bob on friday",
        "- [ ] Read `due:friday`",
        "```\n- [ ] Call Bob due:friday\n```",
        "Call Bob due:friday",
        "- Call Bob due:friday",
    ],
)
def test_a_text_that_says_no_day_of_a_task_in_words_is_saved_as_it_is(text: str) -> None:
    assert write_days(text, NOW) == (text, [])


def test_a_task_is_due_by_its_words_however_it_is_saved(home: SteadyHome) -> None:
    now = {"SYNAPTIC_NOW": "2026-11-29T15:00:00"}
    said = "“due:friday” is written as 2026-12-04."
    saved = home.run("save", "- [ ] Call Bob due:friday", **now)
    assert said in saved.err
    updated = home.run(
        "update", saved.out.split()[2], "--append", "- [ ] Call Ann due:monday", **now
    )
    assert "“due:monday” is written as 2026-11-30." in updated.err
    due = json.loads(home.run("due", "--json", **now).out)["entries"]
    assert [(one["title"], one["due"]) for one in due] == [
        ("Call Ann", "2026-11-30"),
        ("Call Bob", "2026-12-04"),
    ]


def test_a_task_that_says_how_often_is_told_the_sign_and_its_tick_names_the_next_day(
    home: SteadyHome,
) -> None:
    now = {"SYNAPTIC_NOW": "2026-11-29T15:00:00"}
    said = "A task repeats if 🔁 stands before its rule: `🔁 every month`."
    task = "- [ ] Pay the fee {}every month due:2026-11-30"
    saved = home.run("save", task.format(""), **now)
    assert said in saved.err
    id = saved.out.split()[2]
    assert said not in home.run("update", id, "--append", "Paid by card.", **now).err
    assert said not in home.run("update", id, "--content", task.format("🔁 "), **now).err
    assert "due again on Wednesday, 2026-12-30: Pay" in home.run("tick", "pay", **now).out
    [task_left] = json.loads(home.run("tasks", "--json", **now).out)["tasks"]
    assert task_left["due"] == "2026-12-30"
