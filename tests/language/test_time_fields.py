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
LAST_EVENING_AT_HALF_PAST_NINE = (
    "yesterday evening 9:30|yesterday 9:30 in the evening|yesterday at 9.30 pm|yesterday 9:30 p.m."
    "|yesterday evening at half past nine|last night half past nine|half past 9 yesterday evening"
    "|gestern Abend 9:30|gestern abends um 9:30|gestern um halb zehn abends|gestern Abend um 9.30"
    "|hier soir à 9h30|hier à neuf heures et demie du soir|ayer a las 9:30 de la noche"
    "|anoche a las nueve y media|ieri sera alle 9:30|ieri alle nove e mezza di sera"
    "|ontem às 9:30 da noite|ontem às nove e meia da noite|gisteravond om half tien"
    "|gisteren 9:30 's avonds|вчера вечером в 9:30|어제 밤 9시 반|昨天晚上9点半|昨晚九点半|昨夜9時半"
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


@pytest.mark.parametrize("text", LAST_EVENING_AT_HALF_PAST_NINE)
def test_a_part_of_the_day_decides_which_half_an_hour_is_of(text: str) -> None:
    assert read_moment(text, NOW, "at").replace(tzinfo=None) == datetime(2026, 11, 20, 21, 30)


PARTS_OF_DAY = {
    "in the morning": lambda hour: hour,
    "in the afternoon": lambda hour: hour % 12 + 12,
    "in the evening": lambda hour: 24 if hour == 12 else hour + 12,
    "at night": lambda hour: hour % 12 + (12 if 6 <= hour < 12 else 24),
}


@given(st.sampled_from([*PARTS_OF_DAY]), st.integers(1, 12), st.integers(0, 59))
def test_each_hour_lies_in_the_part_of_the_day_beside_it(
    part: str, hour: int, minute: int
) -> None:
    """What comes behind midnight is of the next day: last night at 2."""
    text = f"yesterday at {hour}:{minute:02} {part}"
    passed = timedelta(hours=PARTS_OF_DAY[part](hour), minutes=minute)
    moment = read_moment(text, NOW, "at").replace(tzinfo=None)
    assert moment == datetime(2026, 11, 20) + passed


@given(st.sampled_from([*PARTS_OF_DAY]), st.integers(13, 23), st.integers(0, 59))
def test_an_hour_of_24_is_itself(part: str, hour: int, minute: int) -> None:
    moment = read_moment(f"yesterday at {hour}:{minute:02} {part}", NOW, "at")
    assert moment.replace(tzinfo=None) == datetime(2026, 11, 20, hour, minute)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("last night 2:00", datetime(2026, 11, 21, 2)),
        ("heute Nacht um 2", datetime(2026, 11, 21, 2)),
        ("tonight 9:30", datetime(2026, 11, 21, 21, 30)),
        ("yesterday at quarter to one", datetime(2026, 11, 20, 12, 45)),
        ("yesterday 9.30", datetime(2026, 11, 20, 9, 30)),
        ("gestern dreiviertel neun abends", datetime(2026, 11, 20, 20, 45)),
    ],
)
def test_times_of_day_in_words(text: str, moment: datetime) -> None:
    assert read_moment(text, NOW, "at").replace(tzinfo=None) == moment


LENGTHS = {"days": 1, "d": 1, "Tage": 1, "jours": 1, "weeks": 7, "w": 7, "Wochen": 7}


@given(st.integers(1, 90), st.sampled_from([*LENGTHS]), st.sampled_from(["", "+"]))
def test_a_length_lies_ahead_where_a_field_looks_ahead(
    count: int, unit: str, before: str
) -> None:
    text = f"{before}{count} {unit}"
    day = NOW.date() + timedelta(count * LENGTHS[unit])
    for name in ("due", "due by", "expires"):
        assert read_date(text, NOW, name) == str(day)
    if not before:
        assert read_date(text, NOW, "since") == str(
            NOW.date() - timedelta(count * LENGTHS[unit])
        )


@pytest.mark.parametrize(
    "text", ["friday in a week", "a week on friday", "Freitag in einer Woche"]
)
def test_a_weekday_in_a_week_is_a_week_behind_the_next_one(text: str) -> None:
    assert read_date(text, NOW, "due") == "2026-12-04"


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


@pytest.mark.parametrize(
    ("typed", "at_01_20"),
    [
        ("23:10", "2026-11-20 23:10"),
        ("11:10 pm", "2026-11-20 23:10"),
        ("um 23 Uhr", "2026-11-20 23:00"),
        ("01:00", "2026-11-21 01:00"),
        ("13:19", "2026-11-21 13:19"),  # nearer ahead than back
        ("13:21", "2026-11-20 13:21"),
        ("today 23:10", "2026-11-21 23:10"),
        ("23:10 today", "2026-11-21 23:10"),
    ],
)
def test_a_time_of_day_alone_is_the_nearest(typed: str, at_01_20: str) -> None:
    now = datetime(2026, 11, 21, 1, 20).astimezone()
    assert f"{read_moment(typed, now, 'at'):%Y-%m-%d %H:%M}" == at_01_20
