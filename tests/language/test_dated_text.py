"""The date with which a text begins, as people write it in jrnl."""

from datetime import datetime

import pytest

from synaptic.language.timephrase.typed import find_unread_time, split_date

NOW = datetime(2026, 11, 21, 9, 30).astimezone()


@pytest.mark.parametrize(
    ("text", "moment", "rest"),
    [
        ("yesterday 5pm: called Ida", "2026-11-20 17:00", "called Ida"),
        ("Yesterday: rain: all day", "2026-11-20 09:30", "rain: all day"),
        ("monday at 18:00: choir\n\nWe sang.", "2026-11-16 18:00", "choir\n\nWe sang."),
        ("2026-11-03: voted", "2026-11-03 09:30", "voted"),
        ("08:15: the train was late", "2026-11-21 08:15", "the train was late"),
        ("gestern 17:00: Ida angerufen", "2026-11-20 17:00", "Ida angerufen"),
        ("gestern 17 Uhr: Ida angerufen", "2026-11-20 17:00", "Ida angerufen"),
        ("2 hours ago: lunch", "2026-11-21 07:30", "lunch"),
        ("Gestern, 18 Uhr: Sauna", "2026-11-20 18:00", "Sauna"),
        ("yesterday, 6pm: sauna", "2026-11-20 18:00", "sauna"),
        ("gestern Abend: Spaghetti", "2026-11-20 19:00", "Spaghetti"),
        ("last night: no sleep", "2026-11-20 22:00", "no sleep"),
        ("hier soir: des pâtes", "2026-11-20 19:00", "des pâtes"),
        ("heute morgen: gejoggt", "2026-11-21 08:00", "gejoggt"),
        ("letzten Montag um 8: Arzt", "2026-11-16 08:00", "Arzt"),
        ("on monday at 8: choir", "2026-11-16 08:00", "choir"),
        ("heute früh um 7: gelaufen", "2026-11-21 07:00", "gelaufen"),
        ("ayer a las 9: la voz", "2026-11-20 09:00", "la voz"),
        ("19.11.: Arzt", "2026-11-19 09:30", "Arzt"),
        ("17.3.: Arzt", "2026-03-17 09:30", "Arzt"),
        ("21.11.: Arzt", "2026-11-21 09:30", "Arzt"),
        ("24.12.: Gans", "2025-12-24 09:30", "Gans"),
        ("yesterday evening 9:30: tea", "2026-11-20 21:30", "tea"),
        ("yesterday evening at half past nine: a fox", "2026-11-20 21:30", "a fox"),
        ("yesterday at 9.30 pm: tea", "2026-11-20 21:30", "tea"),
        ("last night half past nine: tea", "2026-11-20 21:30", "tea"),
    ],
)
def test_a_text_begins_with_its_date(text: str, moment: str, rest: str) -> None:
    dated = split_date(text, NOW)
    assert dated and (f"{dated.moment:%Y-%m-%d %H:%M}", dated.rest) == (moment, rest)


@pytest.mark.parametrize(
    "text",
    [
        "May: she called",
        "last week: nothing but rain",
        "3 days: too long for a ferry",
        "1st: buy milk",
        "1/2: half of it is done",
        "1.2.: the second part of chapter one",
        "32.11.: no day",
        "Note: yesterday was long",
        "yesterday:",
        "yesterday:nothing",
        "yesterday\n5pm: called Ida",
        "https://example.org: down",
        "std::vector: grows",
        "1.20: released",
        "midi: a keyboard",
    ],
)
def test_other_texts_stay_whole(text: str) -> None:
    assert split_date(text, NOW) is None
    assert not find_unread_time(text, NOW)


@pytest.mark.parametrize(
    "phrase",
    ["yesterday evening around ten or so", "gestern Abend gegen zehnish", "monday 9:30ish"],
)
def test_a_beginning_that_is_like_a_time_is_named(phrase: str) -> None:
    text = f"{phrase}: saw a fox"
    assert split_date(text, NOW) is None and find_unread_time(text, NOW) == phrase


@pytest.mark.parametrize(
    "text", ["Monday standup: slow", "today 3 things: tea", "Friday: rain"]
)
def test_a_beginning_without_a_time_of_day_is_not_named(text: str) -> None:
    assert not find_unread_time(text, NOW)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("tomorrow: dentist", "2026-11-22"),
        ("morgen 10 Uhr: Zahnarzt", "2026-11-22"),
        ("18:00: the concert begins", "2026-11-21"),
        ("2027-01-01: party", "2027-01-01"),
    ],
)
def test_a_day_to_come_is_no_day_of_a_note(text: str, day: str) -> None:
    dated = split_date(text, NOW)
    assert dated and dated.is_ahead and f"{dated.moment:%Y-%m-%d}" == day
