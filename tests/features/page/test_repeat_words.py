"""How often a task repeats is shown in the language of the reader; its note keeps the rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import Served, served

from synaptic.features.page.repeat_words import say_rules
from synaptic.features.page.translation import speaking
from synaptic.features.tasks.rule_words import read_rule

RULES = {
    "every day": ("jeden Tag", "毎日"),
    "every 2 weeks": ("alle 2 Wochen", "2週間ごと"),
    "every year": ("jedes Jahr", "毎年"),
    "every weekday": ("jeden Werktag", "平日は毎日"),
    "every Monday and Friday": ("jeden Montag und Freitag", "毎週月曜日、金曜日"),
    "every 2 weeks on Monday": ("alle 2 Wochen am Montag", "2週間ごとの月曜日"),
    "every month on the 10th": ("jeden Monat am 10.", "毎月10日"),
    "every 3 months on the 1st": ("alle 3 Monate am 1.", "3か月ごと1日"),
    "every month on the last": ("jeden Monat am letzten Tag", "毎月末日"),
    "every month on the 2nd Friday": ("jeden Monat am 2. Freitag", "毎月第2金曜日"),
    "every month on the last Friday": ("jeden Monat am letzten Freitag", "毎月最後の金曜日"),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_said_by_words_that_mean_it(rule: str) -> None:
    german, japanese = RULES[rule]
    text = f"Tax 🔁 {rule} 📅 2026-12-10"
    with speaking("de_DE"):
        assert say_rules(text) == f"Tax 🔁 {german} 📅 2026-12-10"
        assert say_rules(f"🔁 {rule} when done") == f"🔁 {german} nach dem Erledigen"
    with speaking("ja_JP"):
        assert say_rules(text) == f"Tax 🔁 {japanese} 📅 2026-12-10"
    assert say_rules(text) == text and read_rule(german) == rule


@pytest.mark.parametrize(
    "text", ["every day counts", "🔁 every blue moon", "🔁 every day or so"]
)
def test_what_is_no_rule_stays_as_it_was_written(text: str) -> None:
    with speaking("de_DE"):
        assert say_rules(text) == text


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "home", SYNAPTIC_NOW="2026-11-24T10:00:00") as found:
        yield found


def test_a_page_says_a_rule_in_its_language_and_the_note_keeps_it(
    server: Served, tmp_path: Path
) -> None:
    german = {"Accept-Language": "de"}
    form = {"csrf": server.csrf(), "task": "Umsatzsteuer jeden Monat am 10."}
    sent = server.client.post("/new", data=form, headers=german)
    entry = sent.headers["location"].partition("?")[0]
    told = server.shown(entry, **german)
    note = next((tmp_path / "home" / "journal").glob("*.md"))
    assert "🔁 every month on the 10th" in note.read_text("utf-8")
    for shown in (told, *(server.shown(path, **german) for path in ("/", "/tasks", entry))):
        seen = re.sub('value="[^"]*"', "", shown)  # what a form sends is the note's own
        assert "jeden Monat am 10." in seen and "every month" not in seen
    assert "every month on the 10th" in server.shown(f"{entry}/edit", **german)
    assert "every month on the 10th" in server.shown("/tasks", **{"Accept-Language": "en"})
