"""The time that a text names: what is found, what is left alone, and that no text breaks it."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.language.analysis.asked import read_question
from synaptic.language.timephrase.find import TimeRange, find_time, is_recent
from synaptic.language.timephrase.table import When
from synaptic.language.timephrase.typed import read_time, read_typed

DATA = Path(__file__).parents[1] / "data"
TODAY = date(2026, 11, 21)  # a Saturday


def labelled(name: str) -> list[dict[str, Any]]:
    return json.loads((DATA / name).read_text("utf-8"))


def day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def is_right(case: dict[str, Any]) -> bool:
    """True if range, phrase and the text that is left are all as the label says."""
    today = datetime.fromisoformat(case["now"]).date() if "now" in case else TODAY
    found = find_time(case["text"], today=today)
    if case["phrase"] is None:
        return found is None
    return found == (
        TimeRange(day(case["start"]), day(case["end"]), case["phrase"]),
        case["rest"],
    )


@pytest.mark.parametrize(
    ("name", "share", "told"),
    [("time_phrases", 0.94, True), ("time_phrases_held", 0.85, False)],
)
def test_labelled_texts(name: str, share: float, told: bool) -> None:
    """Of the texts held apart while the rules were written only the number is told, so that
    they stay apart.
    """
    cases = labelled(f"{name}.json")
    wrong = [case["text"] for case in cases if not is_right(case)]
    if told and wrong:
        print("wrong:", *wrong, sep="\n  ")
    right, number = len(cases) - len(wrong), len(cases)
    del wrong, cases
    assert number >= 40
    assert right >= share * number


@pytest.mark.parametrize(
    ("name", "today", "share", "told"),
    [
        ("time_nouns", date(2026, 11, 18), 0.98, True),
        ("time_nouns_held", date(2026, 10, 15), 0.8, False),
    ],
)
def test_a_time_in_the_name_of_a_thing_limits_nothing(
    name: str, today: date, share: float, told: bool
) -> None:
    """Questions in six languages; of those held apart only the number is told."""
    cases = labelled(f"{name}.json")
    wrong = []
    for case in cases:
        found = read_question(case["question"], today=today).time_range
        since, until = day(case["since"]), day(case["until"])
        last = found and found.end and found.end + timedelta(1)
        if (found and found.start, last) != (since, until):
            wrong.append(case["question"])
    if told and wrong:
        print("wrong:", *wrong, sep="\n  ")
    right, number = len(cases) - len(wrong), len(cases)
    del wrong, cases
    assert number >= 60
    assert right >= share * number


def found_range(text: str, *, today: date = TODAY) -> tuple[str | None, str | None, str] | None:
    found = find_time(text, today=today)
    if found is None:
        return None
    start, end = found[0].start, found[0].end
    return start and start.isoformat(), end and end.isoformat(), found[0].phrase


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("yesterday", "2026-11-20", "2026-11-20"),
        ("the day before yesterday", "2026-11-19", "2026-11-19"),
        ("the day after tomorrow", "2026-11-23", "2026-11-23"),
        ("last night", "2026-11-20", "2026-11-20"),
        ("this morning", "2026-11-21", "2026-11-21"),
        ("last weekend", "2026-11-14", "2026-11-15"),
        ("a few days ago", "2026-11-16", "2026-11-19"),
        ("a couple of weeks ago", "2026-11-07", "2026-11-07"),
        ("in 3 days", "2026-11-24", "2026-11-24"),
        ("past 10 days", "2026-11-11", "2026-11-21"),
        ("over the last three months", "2026-08-21", "2026-11-21"),
        ("within the last 24 hours", "2026-11-20", "2026-11-21"),
        ("in the past year", "2025-11-21", "2026-11-21"),
        ("the week before last", "2026-11-02", "2026-11-08"),
        ("next Saturday", "2026-11-28", "2026-11-28"),
        ("this Tuesday", "2026-11-17", "2026-11-17"),
        ("last quarter", "2026-07-01", "2026-09-30"),
        ("next year", "2027-01-01", "2027-12-31"),
        ("since last week", "2026-11-09", "2026-11-21"),
        ("after today", "2026-11-22", None),
        ("since tomorrow", "2026-11-22", None),
    ],
)
def test_what_is_counted_from_today(text: str, start: str | None, end: str | None) -> None:
    assert found_range(text) == (start, end, text)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("Nov. 3", "2026-11-03", "2026-11-03"),
        ("Tuesday, November 3rd, 2025", "2025-11-03", "2025-11-03"),
        ("11/03/2025", "2025-11-03", "2025-11-03"),
        ("13/03/2025", "2025-03-13", "2025-03-13"),
        ("3.11.2025", "2025-11-03", "2025-11-03"),
        ("2025-11-03T10:15:00+01:00", "2025-11-03", "2025-11-03"),
        ("feb 29", "2024-02-29", "2024-02-29"),
        ("2025-06", "2025-06-01", "2025-06-30"),
        ("in mid-June", "2026-06-11", "2026-06-20"),
        ("late February 2024", "2024-02-21", "2024-02-29"),
        ("beginning of 2025", "2025-01-01", "2025-12-31"),
        ("the week of March 3", "2026-03-02", "2026-03-08"),
        ("Q3 2025", "2025-07-01", "2025-09-30"),
        ("second quarter of 2025", "2025-04-01", "2025-06-30"),
        ("last autumn", "2025-09-01", "2025-11-30"),
        ("last November", "2025-11-01", "2025-11-30"),
        ("next March", "2027-03-01", "2027-03-31"),
    ],
)
def test_what_the_calendar_names(text: str, start: str, end: str) -> None:
    assert found_range(text) == (start, end, text)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("between March and May 2025", "2025-03-01", "2025-05-31"),
        ("between March and May", "2026-03-01", "2026-05-31"),
        ("between November and February 2025", "2024-11-01", "2025-02-28"),
        ("from Dec 2024 to Feb", "2024-12-01", "2025-02-28"),
        ("March-May 2025", "2025-03-01", "2025-05-31"),
        ("from early March to mid May 2025", "2025-03-01", "2025-05-20"),
        ("Nov 3-7", "2026-11-03", "2026-11-07"),
        ("3 to 7 November", "2026-11-03", "2026-11-07"),
        ("2025-01-03 - 2025-02-10", "2025-01-03", "2025-02-10"),
        ("from 2025-02-10 to 2025-01-03", "2025-01-03", "2025-02-10"),
        ("between Q1 and Q3 2025", "2025-01-01", "2025-09-30"),
        ("from 2023 to 2025", "2023-01-01", "2025-12-31"),
        ("from Monday to Wednesday", "2026-11-16", "2026-11-18"),
        ("from last Monday to yesterday", "2026-11-16", "2026-11-20"),
    ],
)
def test_from_one_time_to_another(text: str, start: str, end: str) -> None:
    assert found_range(text) == (start, end, text)


@pytest.mark.parametrize(
    "text",
    [
        "may the force be with you",
        "this may fail",
        "since may be it was cached",
        "may 3 users log in",
        "ask June about the invoice",
        "march of the penguins",
        "a second screen",
        "the sun sat low",
        "mon repos wifi password",
        "spring boot upgrade in spring boot 3",
        "fall detection",
        "the 3rd attempt, on the 3rd attempt",
        "every Monday",
        "on Mondays and on Friday mornings",
        "Monday to Friday office hours",
        "Black Friday sales",
        "Monday standup",
        "in 2024 rows",
        "chunks of 2048",
        "reduced by 2000",
        "from 2000 to 3000",
        "between 2000 and 2024 rows",
        "from the 1994 paper",
        "1.2.3 and 3.11 and 3.11.25",
        "version 2024.11.03",
        "log-2025-11-03.md",
        "/notes/2025-11-03/x",
        "on Feb 30",
        "2025-13",
        "2025-02-30",
        "after the 30s timeout",
        "how many emails in a day",
        "years ago",
        "last second changes",
        "the last 5 commits",
        "end of file",
        "within 3 days",
        "christmas tree",
        "yesterday_count",
        "today.md",
        "",
        " ",
    ],
)
def test_what_names_no_time(text: str) -> None:
    assert find_time(text, today=TODAY) is None


@pytest.mark.parametrize(
    ("text", "phrase", "rest"),
    [
        ("last week, what broke?", "last week", "what broke?"),
        ("what,  last week , broke", "last week", "what, broke"),
        ("the standup (last week) notes", "last week", "the standup notes"),
        ("yesterday's standup", "yesterday's", "standup"),
        ("Last year’s goals", "Last year’s", "goals"),
        ("what did Ravi work on this year", "this year", "what did Ravi work on"),
        ("who logged in yesterday", "yesterday", "who logged in"),
        ("in 2024.", "in 2024", ""),
        ("November 2024 notes", "November 2024", "notes"),
        ("in 2024 customers left", "in 2024", "customers left"),
        ("what broke\nlast\tweek", "last\tweek", "what broke"),
    ],
)
def test_the_phrase_is_cut_as_it_stands(text: str, phrase: str, rest: str) -> None:
    found = find_time(text, today=TODAY)
    assert found is not None
    assert (found[0].phrase, found[1]) == (phrase, rest)


def test_of_two_times_the_first_counts() -> None:
    assert found_range("moved from last week to next week, see 2024-01-02") == (
        "2026-11-09",
        "2026-11-29",
        "from last week to next week",
    )
    assert found_range("yesterday and last month") == ("2026-11-20", "2026-11-20", "yesterday")
    assert found_range("November standups last week") == (
        "2026-11-01",
        "2026-11-30",
        "November",
    )


@pytest.mark.parametrize(
    ("text", "today", "start", "end"),
    [
        ("last month", date(2024, 3, 31), "2024-02-01", "2024-02-29"),
        ("a month ago", date(2024, 3, 31), "2024-02-29", "2024-02-29"),
        ("a year ago", date(2024, 2, 29), "2023-02-28", "2023-02-28"),
        ("last quarter", date(2026, 1, 1), "2025-10-01", "2025-12-31"),
        ("last winter", date(2026, 1, 10), "2024-12-01", "2025-02-28"),
        ("this winter", date(2026, 1, 10), "2025-12-01", "2026-02-28"),
        ("last weekend", date(2026, 11, 22), "2026-11-14", "2026-11-15"),
        ("last weekend", date(2026, 11, 23), "2026-11-21", "2026-11-22"),
        ("on the 31st", date(2026, 3, 1), "2026-01-31", "2026-01-31"),
        ("week 53 of 2026", date(2026, 2, 1), "2026-12-28", "2027-01-03"),
        ("on Saturday", date(2026, 11, 21), "2026-11-21", "2026-11-21"),
        ("last Saturday", date(2026, 11, 21), "2026-11-14", "2026-11-14"),
    ],
)
def test_other_days(text: str, today: date, start: str | None, end: str | None) -> None:
    assert found_range(text, today=today) == ((start, end, text) if start else None)


@pytest.mark.parametrize(
    "text",
    [
        "recent changes",
        "the latest benchmark",
        "newest notes",
        "most recent deploy",
        "last decision on redis",
        "our last  3 decisions",
        "when did I last see the dentist?",
        "the last time the boiler was serviced",
        "who is our log vendor these days",
        "where do we stand with the migration",
        "how heavy is Mimi now?",
    ],
)
def test_what_asks_for_the_newest(text: str) -> None:
    assert is_recent(text)
    assert find_time(text, today=TODAY) is None


@pytest.mark.parametrize(
    "text",
    [
        "did Ada read it recently",
        "now and then",
        "last name",
        "last week",
        "last but not least",
        "redis:latest",
        "npm i x@latest",
        "recent.json",
        "",
    ],
)
def test_what_does_not_ask_for_the_newest(text: str) -> None:
    assert not is_recent(text)


FILLERS = ["pool size", "what broke", "notes about redis", "invoices", "the parser"]
PHRASES = [
    "last week",
    "since Monday",
    "in 2024",
    "on the 3rd",
    "3 days ago",
    "2025-11-03",
    "between March and May 2025",
]
VOCABULARY = """
the of in on at since until before after between and from to - – , . ' s last next this past
early mid late end beginning first second third week weekend month quarter year day days ago a
few couple 0 3 31 99 999999 2024 2100 9999 3rd 31st Monday sun may March Dec spring winter Q2
h1 90s christmas new year's easter today now 2025-11-03 2025-13 9999-12-31 0001-01-01 2025-W53
99/99/9999 30.02.2024 decades fortnight yesterday
""".split()
ANY_TEXT = st.text() | st.lists(st.sampled_from(VOCABULARY), max_size=12).map(" ".join)


@given(ANY_TEXT, st.dates() | st.sampled_from([date.min, date.max, TODAY]))
def test_any_text_on_any_day(text: str, today: date) -> None:
    is_recent(text)
    found = find_time(text, today=today)
    if found is None:
        return
    time_range, rest = found
    assert time_range.phrase
    assert time_range.phrase in text
    assert rest == " ".join(rest.split())
    assert time_range.start or time_range.end
    if time_range.start and time_range.end:
        assert time_range.start <= time_range.end


@given(ANY_TEXT, st.dates() | st.sampled_from([date.min, date.max, TODAY]))
def test_any_text_may_stand_where_a_time_is_expected(text: str, today: date) -> None:
    found = read_time(text, When(today))
    if found is not None:
        assert found.start or found.end
        assert not (found.start and found.end) or found.start <= found.end


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_time_alone_is_the_time_that_it_is_in_a_text(phrase: str) -> None:
    found, alone = (
        find_time(f"notes {phrase}", today=TODAY),
        read_time(phrase.lower(), When(TODAY)),
    )
    assert found is not None and alone is not None
    assert (alone.start, alone.end) == (found[0].start, found[0].end)


@given(
    st.sampled_from("this last next".split()),
    st.sampled_from(["Tuesday", "week", "month", "year"]),
    st.dates(date(2, 1, 1), date(9990, 1, 1)),
)
def test_a_note_looks_around_and_a_question_back(which: str, unit: str, today: date) -> None:
    asked = read_time(f"{which} {unit}", When(today))
    noted = read_time(f"{which} {unit}", When(today, around=True))
    assert asked is not None and noted is not None and noted.start is not None
    if (which, unit) == ("this", "Tuesday"):
        assert noted.start >= today
    else:
        assert asked == noted


@pytest.mark.parametrize(
    "text", ["", "notes", "notes last week", "last week's notes", "the", "12", "every Monday"]
)
def test_a_time_alone_is_nothing_else(text: str) -> None:
    assert read_time(text, When(TODAY)) is None


@given(st.sampled_from(FILLERS), st.sampled_from(PHRASES), st.sampled_from(FILLERS))
def test_what_is_left_is_the_text_around_the_phrase(
    before: str, phrase: str, after: str
) -> None:
    found = find_time(f"{before} {phrase}: {after}", today=TODAY)
    assert found is not None
    assert found[0].phrase == phrase
    assert phrase not in found[1]
    assert find_time(found[1], today=TODAY) is None


@given(st.integers(1, 3000), st.dates(date(1900, 1, 1), date(2100, 12, 31)))
def test_days_ago_are_counted_back(days: int, today: date) -> None:
    found = find_time(f"logs of {days} days ago", today=today)
    assert found is not None
    assert found[0].start == found[0].end == today - timedelta(days=days)


@given(
    st.dates(date(1900, 1, 1), date(2100, 12, 31)),
    st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%b %d, %Y", "%d.%m.%Y"]),
)
def test_every_written_date_is_that_day(meant: date, form: str) -> None:
    found = find_time(f"notes on {meant.strftime(form)}", today=TODAY)
    assert found is not None
    assert found[0].start == found[0].end == meant


@pytest.mark.parametrize(
    "piece",
    [
        "last ",
        "the ",
        "early ",
        "from 3 ",
        "between March and ",
        "first week of ",
        "1",
        "'s ",
        " ",
        "May ",
    ],
)
def test_long_texts_are_read_at_their_beginning(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    assert find_time("x" * 3000 + " last week", today=TODAY) is None
    assert find_time(f"x {text} last week", today=TODAY) == find_time(f"x {text}", today=TODAY)
    found = find_time(f"last week: {text}", today=TODAY)
    assert found is not None
    assert found[0].phrase == "last week"


@pytest.mark.parametrize(
    ("question", "phrase", "start", "end"),
    [
        ("что я делал на прошлой неделе", "на прошлой неделе", "2026-11-09", "2026-11-15"),
        ("итоги прошлой недели", "прошлой недели", "2026-11-09", "2026-11-15"),
        ("что решили с прошлой недели", "с прошлой недели", "2026-11-09", "2026-11-21"),
        ("что было на позапрошлой неделе", "на позапрошлой неделе", "2026-11-02", "2026-11-08"),
        ("какой насос купили в марте?", "в марте", "2026-03-01", "2026-03-31"),
        (
            "в марте прошлого года болел зуб",
            "в марте прошлого года",
            "2025-03-01",
            "2025-03-31",
        ),
        ("между мартом и маем", "между мартом и маем", "2026-03-01", "2026-05-31"),
        ("с января по март", "с января по март", "2026-01-01", "2026-03-31"),
        ("что сломалось в начале мая", "в начале мая", "2026-05-01", "2026-05-10"),
        ("счёт от 3 апреля 2025 года", "3 апреля 2025 года", "2025-04-03", "2025-04-03"),
        ("что было в 2025 году", "в 2025 году", "2025-01-01", "2025-12-31"),
        ("с кем я говорил во вторник", "во вторник", "2026-11-17", "2026-11-17"),
        ("звонок в прошлую пятницу", "в прошлую пятницу", "2026-11-20", "2026-11-20"),
        ("что мы решили вчера вечером", "вчера вечером", "2026-11-20", "2026-11-20"),
        ("две недели назад", "две недели назад", "2026-11-07", "2026-11-07"),
        ("год назад", "год назад", "2025-11-21", "2025-11-21"),
        ("пять дней назад", "пять дней назад", "2026-11-16", "2026-11-16"),
        ("за последние три дня", "за последние три дня", "2026-11-18", "2026-11-21"),
        ("прошлым летом", "прошлым летом", "2026-06-01", "2026-08-31"),
        ("где мы были весной", "весной", "2026-03-01", "2026-05-31"),
        ("куда ездили на выходных", "на выходных", "2026-11-21", "2026-11-22"),
        ("после 10 октября", "после 10 октября", "2026-10-11", "2026-11-21"),
        ("지난주에 뭐 했지", "지난주에", "2026-11-09", "2026-11-15"),
        ("지난 주에 결정한 것", "지난 주에", "2026-11-09", "2026-11-15"),
        ("이번 달에 한 일", "이번 달에", "2026-11-01", "2026-11-30"),
        ("3월에 산 펌프", "3월에", "2026-03-01", "2026-03-31"),
        ("2025년 4월 3일 계산서", "2025년 4월 3일", "2025-04-03", "2025-04-03"),
        ("2025년에는 어디 갔지", "2025년에는", "2025-01-01", "2025-12-31"),
        ("작년 3월에 산 자전거", "작년 3월에", "2025-03-01", "2025-03-31"),
        ("어제 회의에서 결정한 것", "어제", "2026-11-20", "2026-11-20"),
        ("지난주 월요일 통화", "지난주 월요일", "2026-11-09", "2026-11-09"),
        ("지난 금요일에 만난 사람", "지난 금요일에", "2026-11-20", "2026-11-20"),
        ("3일 전에 고친 오류", "3일 전에", "2026-11-18", "2026-11-18"),
        ("두 달 전", "두 달 전", "2026-09-21", "2026-09-21"),
        ("일주일전", "일주일전", "2026-11-14", "2026-11-14"),
        ("최근 3일 기록", "최근 3일", "2026-11-18", "2026-11-21"),
        ("3월부터 5월까지", "3월부터 5월까지", "2026-03-01", "2026-05-31"),
        ("지난주부터", "지난주부터", "2026-11-09", "2026-11-21"),
        ("10월 12일 이후", "10월 12일 이후", "2026-10-12", "2026-11-21"),
        ("3월 초에", "3월 초에", "2026-03-01", "2026-03-10"),
        ("지난 여름에", "지난 여름에", "2026-06-01", "2026-08-31"),
    ],
)
def test_times_in_russian_and_korean_questions(
    question: str, phrase: str, start: str, end: str
) -> None:
    asked = read_question(question, today=TODAY)
    assert asked.time_range == TimeRange(day(start), day(end), phrase)


@pytest.mark.parametrize(
    "question",
    [
        "настройка среды разработки",
        "что сказала Марта",
        "планы на лето",
        "планы на март",
        "встреча на пятницу",
        "подарок на день рождения",
        "한번 써 봄",
        "주 서버 설정",
        "이번 일의 원인",
        "하루 일과",
    ],
)
def test_russian_and_korean_words_that_only_look_like_times(question: str) -> None:
    assert read_question(question, today=TODAY).time_range is None


@pytest.mark.parametrize(
    ("question", "phrase", "start", "end"),
    [
        ("seit letzter Woche", "seit letzter Woche", "2026-11-09", "2026-11-21"),
        ("im März letzten Jahres", "im März letzten Jahres", "2025-03-01", "2025-03-31"),
        ("in March last year", "in March last year", "2025-03-01", "2025-03-31"),
        ("in spring of this year", "in spring of this year", "2026-03-01", "2026-05-31"),
    ],
)
def test_a_time_of_a_year_beside_this_one(
    question: str, phrase: str, start: str, end: str
) -> None:
    asked = read_question(question, today=TODAY)
    assert asked.time_range == TimeRange(day(start), day(end), phrase)


@pytest.mark.parametrize(
    "typed", ["прошлая неделя", "на прошлой неделе", "지난주", "지난 주에"]
)
def test_a_typed_week_in_russian_and_korean(typed: str) -> None:
    now = datetime(2026, 11, 21, 9, 30)
    assert read_typed(typed, now=now) == (
        datetime(2026, 11, 9, 9, 30),
        datetime(2026, 11, 15, 9, 30),
    )


@pytest.mark.parametrize(
    "typed",
    [
        *("end of month", "End of the Month", "Ende des Monats", "Monatsende"),
        *("fin du mois", "fin de mes", "fine mese", "eind maand"),
    ],
)
def test_a_part_of_a_month_without_a_name_is_of_the_present_one(typed: str) -> None:
    now = datetime(2026, 11, 21, 9, 30)
    span = datetime(2026, 11, 21, 9, 30), datetime(2026, 11, 30, 9, 30)
    assert read_typed(typed, now=now, ahead=True) == span
