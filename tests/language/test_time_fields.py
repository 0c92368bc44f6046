"""All fields that take a time read the same texts, in each language."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.errors import InvalidArgument
from synaptic.language.time_fields import TIME_FIELDS, read_date, read_days, read_moment

NOW = datetime(2026, 11, 21, 9, 30).astimezone()  # a Saturday

TOMORROW = "tomorrow|morgen|demain|mañana|domani|amanhã|завтра|내일|明天|明日".split("|")
DAY_AFTER = (
    "übermorgen|après-demain|pasado mañana|dopodomani|depois de amanhã|overmorgen|послезавтра"
    "|모레|后天|明後日"
).split("|")
NEXT_WEEK = (
    "next week|nächste Woche|la semaine prochaine|la próxima semana|la semana que viene"
    "|la settimana prossima|na próxima semana|volgende week|на следующей неделе|다음 주|下周|来週"
).split("|")
IN_THREE_DAYS = (
    "in 3 days|in 3 Tagen|dans 3 jours|dentro de 3 días|tra 3 giorni|daqui a 3 dias|over 3 dagen"
    "|через 3 дня|3일 후|3天后|3日後"
).split("|")
LAST_EVENING = (
    "yesterday 18:00|yesterday at 6pm|gestern um 18 Uhr|hier à 18h|ayer a las 18:00"
    "|ieri alle 18:00|ontem às 18:00|gisteren om 18 uur|вчера 18:00|вчера в 18:00|어제 18:00"
    "|昨天 18:00|昨日18:00|20.11.2026 18:00|20 November 2026 18:00|2026-11-20 6 pm"
).split("|")
TWO_HOURS_AGO = "2 hours ago|2h|vor 2 Stunden|il y a 2 heures|2 часа назад|2小时前".split("|")


@pytest.mark.parametrize(
    ("texts", "first", "last"),
    [
        (TOMORROW, "2026-11-22", "2026-11-22"),
        (DAY_AFTER, "2026-11-23", "2026-11-23"),
        (NEXT_WEEK, "2026-11-23", "2026-11-29"),
        (IN_THREE_DAYS, "2026-11-24", "2026-11-24"),
        (["2026-W49", "KW 49 2026", "week 49 of 2026"], "2026-11-30", "2026-12-06"),
        (["2026-12", "Dezember 2026", "2026年12月", "12.2026"], "2026-12-01", "2026-12-31"),
        (["2027-Q1", "Q1 2027"], "2027-01-01", "2027-03-31"),
        (["20261203", "2026.12.03", "3 décembre 2026"], "2026-12-03", "2026-12-03"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_each_field_reads_a_day_in_each_language(
    texts: list[str], first: str, last: str
) -> None:
    for text in texts:
        assert tuple(map(str, read_days(text, NOW, "date"))) == (first, last), text
        assert read_date(text, NOW, "since") == first, text
        for name in ("until", "due by", "expires", "as_of"):
            assert read_date(text, NOW, name) == last, (text, name)
        is_week = date.fromisoformat(last) - date.fromisoformat(first) == timedelta(6)
        assert read_date(text, NOW, "due") == (first if is_week else last), text


@pytest.mark.parametrize("text", LAST_EVENING)
def test_a_time_of_day_is_read_in_each_language(text: str) -> None:
    assert read_moment(text, NOW, "at").replace(tzinfo=None) == datetime(2026, 11, 20, 18)
    assert read_date(text, NOW, "since") == "2026-11-20"


@pytest.mark.parametrize("text", TWO_HOURS_AGO)
def test_hours_are_counted_in_each_language(text: str) -> None:
    assert read_moment(text, NOW, "at") == NOW - timedelta(hours=2)


@pytest.mark.parametrize("text", ["heute morgen", "esta mañana", "this morning"])
def test_the_morning_is_not_tomorrow(text: str) -> None:
    assert read_date(text, NOW, "since") == "2026-11-21"


@pytest.mark.parametrize("text", ["2/3", "11/12"])
def test_two_numbers_may_be_either_day_or_month(text: str) -> None:
    for name in TIME_FIELDS:
        with pytest.raises(InvalidArgument):
            read_date(text, NOW, name)


@pytest.mark.parametrize("name", TIME_FIELDS)
def test_an_error_names_what_its_field_takes(name: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        read_date("soonish", NOW, name)
    for example in TIME_FIELDS[name].examples:
        assert example in str(error.value)
        assert read_date(example, NOW, name)


TYPED = st.one_of(
    st.sampled_from([*TOMORROW, *NEXT_WEEK, *LAST_EVENING, "Q2", "2025", "early October"]),
    st.dates(date(1990, 1, 1), date(2099, 12, 30)).map(str),
    st.datetimes(datetime(1990, 1, 1), datetime(2099, 12, 30), timezones=st.timezones()).map(
        datetime.isoformat
    ),
)


@given(TYPED, st.times().map(time.isoformat))
def test_all_fields_agree_on_the_days_of_a_text(text: str, clock: str) -> None:
    first, last = read_days(text, NOW, "date")
    assert read_date(text, NOW, "since") == str(first)
    assert read_date(text, NOW, "until") == read_date(text, NOW, "as_of") == str(last)
    moment = read_moment(text, NOW, "at", clock=time.fromisoformat(clock))
    assert moment.date() == first
