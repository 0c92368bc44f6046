"""What a user types, and what is made of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.errors import InvalidArgument
from synaptic.filters import KEYS, Filters
from synaptic.language.query import MAX_QUERY, build_filters, parse_query
from synaptic.language.time_fields import read_date
from synaptic.serving.arguments import build_preference

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)  # a Saturday


@given(st.text())
def test_any_text_is_a_valid_query(text: str) -> None:
    parsed = parse_query(text, Filters(), now=NOW)
    assert len(parsed.terms) <= MAX_QUERY


@pytest.mark.parametrize(
    ("typed", "terms", "phrases", "filters"),
    [
        (
            "type:decision tag:db redis",
            ("redis",),
            (),
            Filters(types=("decision",), tags=("db",)),
        ),
        ("tag:db tag:#Ops x", ("x",), (), Filters(tags=("db", "ops"))),
        ("tag:Node.js tag:cafe\u0301 x", ("x",), (), Filters(tags=("node-js", "caf\u00e9"))),
        ("project:CAFE\u0301 x", ("x",), (), Filters(projects=("caf\u00e9",))),
        ('project:"big app" deploy', ("deploy",), (), Filters(projects=("big app",))),
        (
            '"connection pool" size',
            ("connection", "pool", "size"),
            ("connection pool",),
            Filters(),
        ),
        ("since:yesterday", (), (), Filters(since="2026-11-20")),
        (
            'since:"last week" until:"last week" x',
            ("x",),
            (),
            Filters(since="2026-11-09", until="2026-11-15"),
        ),
        (
            "since:q2 until:october x",
            ("x",),
            (),
            Filters(since="2026-04-01", until="2026-10-31"),
        ),
        (
            "http://host:80/x std::vector",
            ("http", "host", "80", "x", "std", "vector"),
            (),
            Filters(),
        ),
        ("what did we do", ("what", "did", "we", "do"), (), Filters()),
        ("what is the plan", ("plan",), (), Filters()),
        ("path:en/ x", ("x",), (), Filters(paths=("en/",))),
        (
            "has:task -has:files x",
            ("x",),
            (),
            Filters(has_tasks=True, without=Filters(has_files=True)),
        ),
        *(
            (f"has:{name} x", ("x",), (), Filters(has_files=True))
            for one in ("file", "attachment", "picture", "image")
            for name in (one, f"{one.title()}s")
        ),
        (
            "x -tag:old -type:note",
            ("x",),
            (),
            Filters(without=Filters(tags=("old",), types=("note",))),
        ),
        ("plug* Über*", ("plug*", "über*"), (), Filters()),
        (
            "sqlite-vec - well-known -5 --flag -x",
            ("sqlite", "vec", "well", "known", "5", "flag", "x"),
            (),
            Filters(),
        ),
        ("a list\n-item", ("list", "item"), (), Filters()),
        ("value NOT NULL", ("value", "null"), (), Filters()),
    ],
)
def test_inline_filters_and_phrases(
    typed: str, terms: tuple[str, ...], phrases: tuple[str, ...], filters: Filters
) -> None:
    parsed = parse_query(typed, Filters(), now=NOW)
    assert (parsed.terms, parsed.phrases, parsed.filters) == (terms, phrases, filters)
    assert parsed.notices == ()


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("redis -kafka", ("kafka",)),
        ('redis -"connection pool" -Kafka', ("connection pool", "Kafka")),
        ("type:note -kafka", ("kafka",)),
        ("-kafka redis -plug*", ("kafka", "plug*")),
    ],
)
def test_a_dash_before_a_word_leaves_it_out_and_says_so(
    typed: str, words: tuple[str, ...]
) -> None:
    parsed = parse_query(typed, Filters(), now=NOW)
    assert parsed.filters.without == Filters(words=words) and "kafka" not in parsed.terms
    assert parsed.phrases == () and parsed.notices[0].startswith("Left out: ")


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("-kafka", "leaves a word out of something else"),
        ("redis OR kafka", "OR is not an operator"),
        ("redis NOT kafka", "`-word`"),
        ("has:teeth x", "has:task, has:body, has:files"),
        ("-since:yesterday x", "`-since:` is not a filter"),
    ],
)
def test_what_looks_like_an_operator_and_is_none_says_so(typed: str, named: str) -> None:
    parsed = parse_query(typed, Filters(), now=NOW)
    assert parsed.filters == Filters() and parsed.terms
    assert len(parsed.notices) == 1 and named in parsed.notices[0]


@pytest.mark.parametrize(
    "typed",
    [
        "src/tides/rows.py:41",
        "rows.py:main",
        "port:8443",
        "weir.local:9090",
        r"C:\Users\Ada",
        "git@host.org:team/repo",
        "user:pass@host",
        "main:run() fails",
        "line:41, column:7.",
        "non-type:decision",
    ],
)
def test_a_path_a_port_or_an_address_is_no_attempt_at_a_filter(typed: str) -> None:
    parsed = parse_query(typed, Filters(), now=NOW)
    assert (parsed.filters, parsed.notices) == (Filters(), ())


@pytest.mark.parametrize(
    "typed", ["status:open bug", "type:plan x", "since:soonish x", "tag:!!! x", "tag:2026 x"]
)
def test_what_is_no_filter_is_searched_as_words_with_a_notice(typed: str) -> None:
    parsed = parse_query(typed, Filters(), now=NOW)
    assert parsed.filters == Filters()
    assert len(parsed.notices) == 1
    assert "searched as" in parsed.notices[0]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2026-11-03", "2026-11-03"),
        ("2026-11-03T23:00", "2026-11-03"),
        ("2026-11-03T23:00+02:00", "2026-11-03"),
        ("today", "2026-11-21"),
        ("Yesterday", "2026-11-20"),
        ("10d", "2026-11-11"),
        ("10 days ago", "2026-11-11"),
        ("last tuesday", "2026-11-17"),
        ("two weeks ago", "2026-11-07"),
        ("0001-01-01", "0001-01-01"),
        ("yesterday 18:00", "2026-11-20"),
        ("2 hours ago", "2026-11-21"),
        ("10 hours ago", "2026-11-20"),
        ("6pm", "2026-11-21"),
        ("yesterday 3:04 PM", "2026-11-20"),
        ("now", "2026-11-21"),
        ("15 min ago", "2026-11-21"),
        ("gestern", "2026-11-20"),
        ("vor 3 Tagen", "2026-11-18"),
        ("la semaine dernière", "2026-11-09"),
        ("上个月", "2026-10-01"),
    ],
)
def test_dates(text: str, date: str) -> None:
    assert read_date(text, now=NOW, name="since") == date


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("last week", "2026-11-09", "2026-11-15"),
        ("Q2", "2026-04-01", "2026-06-30"),
        ("early October", "2026-10-01", "2026-10-10"),
        ("two weeks ago", "2026-11-07", "2026-11-07"),
        ("a few days ago", "2026-11-16", "2026-11-19"),
        ("2w", "2026-11-07", "2026-11-07"),
        ("may", "2026-05-01", "2026-05-31"),
        ("2025", "2025-01-01", "2025-12-31"),
        ("tue", "2026-11-17", "2026-11-17"),
        ("the weekend", "2026-11-21", "2026-11-22"),
        ("  end of\tlast month ", "2026-10-21", "2026-10-31"),
        ("between March and May", "2026-03-01", "2026-05-31"),
        ("before 2025", None, "2024-12-31"),
        ("monday at 5pm", "2026-11-16", "2026-11-16"),
    ],
)
def test_since_takes_the_first_day_of_a_time_and_until_its_last(
    text: str, since: str | None, until: str
) -> None:
    assert read_date(text, now=NOW, name="until") == until
    if since is not None:
        assert read_date(text, now=NOW, name="since") == since
        return
    with pytest.raises(InvalidArgument):
        read_date(text, now=NOW, name="since")


def test_a_time_in_words_without_quotes_is_answered_with_the_quotes() -> None:
    assert (
        'since:"last week"' in parse_query("since:last week x", Filters(), now=NOW).notices[0]
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soonish",
        "2026-13-01",
        "25:00",
        "13pm",
        "2026-11-03 25:00",
        "2026-11-31T00:00",
        "we",
        "x" * 5000,
        "99999999999d",
    ],
)
def test_what_is_no_date_names_examples(text: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        read_date(text, now=NOW, name="since")
    assert "yesterday" in str(error.value)
    assert "early October" in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"type": "plan"}, "decision"),
        ({"tag": "!!!"}, "at least one letter"),
        ({"tag": ["db", "2026"]}, "'2026' is not a tag"),
        ({"days": 3, "since": "today"}, "not both"),
        ({"days": -1}, "0 to 400000"),
        ({"since": "today", "until": "yesterday"}, "later than"),
        ({"min_importance": 11}, "0 to 10"),
        ({"min_importance": 7, "max_importance": 3}, "above"),
    ],
)
def test_wrong_filters_name_what_is_valid(arguments: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        build_filters(now=NOW, **arguments)  # type: ignore[arg-type]
    assert named in str(error.value)


def test_a_decomposed_query_is_read_composed() -> None:
    assert parse_query("the cafe\u0301 plan", Filters(), now=NOW).text == "the caf\u00e9 plan"


def test_what_is_preferred_is_read_as_filters_are() -> None:
    values = {"type": "Decision", "tags": ["Node.js", "c++"], "project": " CAFE\u0301 "}
    filters = build_filters(
        now=NOW, type="Decision", tag=["Node.js", "c++"], project=" CAFE\u0301 "
    )
    assert build_preference(values) == filters
    with pytest.raises(InvalidArgument, match="not a tag"):
        build_preference({"tag": "!!!"})


def test_days_reach_from_then_to_today() -> None:
    filters = build_filters(now=NOW, days=7)
    assert (filters.since, filters.until) == ("2026-11-14", "2026-11-21")


def test_what_is_typed_takes_no_given_filter_back() -> None:
    given = Filters(has_body=False, min_importance=0, types=("note",))
    parsed = parse_query("tag:db type:issue x", given, now=NOW)
    assert parsed.filters == replace(given, tags=("db",))


@pytest.mark.parametrize("key", [key for key in KEYS if ":" in key])
def test_what_an_entry_has_is_named_in_singular_and_plural(key: str) -> None:
    singular = key.removesuffix("s")
    for typed in (singular, f"{singular}s", f"{singular}S"):
        parsed = parse_query(f"{typed} rope", Filters(), now=NOW)
        assert parsed.filters == Filters(**{KEYS[key].field: True}) and not parsed.notices


def test_a_typed_tag_narrows_what_the_filter_passes() -> None:
    given = Filters(tags=("farm", "yard"), types=("note",))
    parsed = parse_query("tag:visit type:issue cow", given, now=NOW)
    assert parsed.filters == Filters(tags=("farm+visit", "yard+visit"), types=("note",))
