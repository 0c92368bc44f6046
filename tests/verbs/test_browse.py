"""Timelines, pages, facets and ids: what needs no ranking is exact."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from homes import Clock, open_home
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trials import examples

from synaptic import (
    Entry,
    Workspace,
    build_filters,
    delete,
    find,
    get,
    recent,
    save,
    search,
    status,
)
from synaptic.errors import Ambiguous, InvalidArgument, NotFound
from synaptic.filters import Filters
from synaptic.models import ORDERS
from synaptic.workspace.embed import embed_pending
from synaptic.workspace.sync import sync_index

TYPES = ("decision", "note", "issue", "note", "reference")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Sixty entries of many kinds, some of them in one second, some of them typed by hand."""
    clock = Clock()
    with open_home(tmp_path_factory.mktemp("home"), clock=clock) as ws:
        for number in range(50):
            clock.forward(hours=number % 3 * 5)
            save(
                ws,
                f"Entry {number}" if number % 4 else f"Entry {number}.\n\nWith a body.",
                type=TYPES[number % 5],
                tags=["odd"] if number % 2 else ["even", f"by/{number % 3}"],
                importance=None if number % 7 == 0 else number % 11,
                project=("Web", "web", "Shop")[number % 3],
                files=[f"src/{number % 5}.py"] if number % 3 else [],
            )
        day = "".join(f"## 1{number}:00 Typed {number} #hand\n\n" for number in range(10))
        (ws.config.journal / "2026-11-01.md").write_text(f"# 2026-11-01\n\n{day}")
        sync_index(ws)
        embed_pending(ws, budget_s=None)
        yield ws


def everything(ws: Workspace) -> list[Entry]:
    return list(find(ws, order="oldest", limit=100).entries)


def pages(ws: Workspace, limit: int, **more: object) -> list[Entry]:
    """What turning page after page shows."""
    shown: list[Entry] = []
    cursor = None
    while True:
        page = find(ws, limit=limit, cursor=cursor, **more)  # type: ignore[arg-type]
        assert len(page.entries) <= limit
        shown += page.entries
        assert len(shown) <= 60, "the pages overlap"
        if (cursor := page.cursor) is None:
            return shown


@given(
    limit=st.integers(1, 100),
    order=st.sampled_from(["newest", "oldest"]),
    tag=st.sampled_from([None, "odd", "by"]),
)
@settings(max_examples=10, deadline=None)
def test_pages_joined_are_the_whole_list(
    shelf: Workspace, limit: int, order: str, tag: str | None
) -> None:
    filters = build_filters(now=shelf.clock(), tag=tag or ())
    whole = find(shelf, filters=filters, order=order, limit=100)
    assert whole.cursor is None and whole.total == len(whole.entries)
    assert pages(shelf, limit, order=order, filters=filters) == list(whole.entries)


@pytest.fixture(scope="module")
def half_dated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Seven undated notes, which changed before, between and after the days of five dated ones."""
    clock = Clock()
    with open_home(tmp_path_factory.mktemp("home"), clock=clock) as ws:
        (ws.config.journal / "deep").mkdir(parents=True)
        for number in range(7):
            note = ws.config.journal / ("deep" if number % 2 else "") / f"Page {number}.md"
            note.write_text(f"The page {number} about bread.\n")
            os.utime(
                note, (moment := datetime(2026, 11, 15 + number // 2, 12).timestamp(), moment)
            )
        for day in range(14, 19):
            (ws.config.journal / f"2026-11-{day}.md").write_text(
                f"## 10:00 Bread of the {day}th\n"
            )
        yield ws


@given(limit=st.integers(1, 13), order=st.sampled_from(["newest", "oldest"]))
@settings(max_examples=20, deadline=None)
def test_undated_entries_come_last_on_any_page(
    half_dated: Workspace, limit: int, order: str
) -> None:
    shown = pages(half_dated, limit, order=order)
    assert [entry.date for entry in shown[:5]] == sorted(
        (f"2026-11-{day}" for day in range(14, 19)), reverse=order == "newest"
    )
    assert [entry.dated for entry in shown] == [True] * 5 + [False] * 7
    assert len({entry.id for entry in shown}) == 12


def test_undated_entries_pass_no_filter_by_date(half_dated: Workspace) -> None:
    for bounds in ({"since": "2026-11-01"}, {"until": "2026-11-30"}, {"days": 30}):
        filters = build_filters(now=half_dated.clock(), **bounds)
        assert [entry.dated for entry in find(half_dated, filters=filters).entries] == [
            True
        ] * 5
        assert all(
            hit.entry.dated
            for hit in search(half_dated, "bread", filters=filters, limit=20).hits
        )
    assert not any(
        entry.date == "2026-11-15" and not entry.dated
        for entry in recent(half_dated, limit=5).entries
    )
    assert recent(half_dated, "page", limit=10).total
    assert {
        hit.entry.dated
        for hit in search(half_dated, "notes of 15 November 2026", limit=20).hits
    } == {True}
    assert [entry.dated for entry in find(half_dated, "bread", order="oldest").entries] == [
        True
    ] * 5 + [False] * 7
    months = find(half_dated, facets=True).facets
    assert months is not None and months.months == (("2026-11", 5),)


def test_around_an_entry_with_a_date_stand_others_with_one(half_dated: Workspace) -> None:
    for centre in find(half_dated, limit=12).entries:
        around = find(half_dated, around=centre.id, limit=12).entries
        assert centre in around and {entry.dated for entry in around} == {centre.dated}


def test_the_orders(shelf: Workspace) -> None:
    oldest = everything(shelf)
    assert len(oldest) == 60
    instants = [entry.at for entry in oldest]
    assert instants == sorted(instants)
    newest = list(find(shelf, limit=100).entries)
    assert newest == oldest[::-1]
    by_importance = list(find(shelf, order="importance", limit=100).entries)
    weight = lambda entry: 5 if entry.importance is None else entry.importance  # noqa: E731
    assert by_importance == sorted(newest, key=weight, reverse=True)
    with pytest.raises(InvalidArgument) as error:
        find(shelf, order="loudest")
    assert all(order in str(error.value) for order in ORDERS)


@pytest.mark.parametrize("order", ORDERS)
def test_with_a_query_the_best_come_in_this_order(shelf: Workspace, order: str) -> None:
    best = find(shelf, '"typed"', order=order, limit=10).entries
    assert {entry.tags for entry in best} == {("hand",)}
    found = find(shelf, "entry", order=order, limit=10).entries
    if order in ("newest", "oldest"):
        moments = [entry.at for entry in found]
        assert moments == sorted(moments, reverse=order == "newest")
    if order == "importance":
        weights = [5 if entry.importance is None else entry.importance for entry in found]
        assert weights == sorted(weights, reverse=True)


def test_in_an_order_of_time_all_that_hold_the_words_are_listed(
    ws: Workspace, clock: Clock
) -> None:
    saved = []
    for number in range(130):  # more than a search looks at; the first fit best
        clock.forward(minutes=1)
        text = ("Seminar.", "The seminar room.", "A long day without.")[number % 3]
        saved.append(save(ws, f"{text}{' It went on and on.' * (number // 20)}", force=True).id)
    holders = [id for number, id in enumerate(saved) if number % 3 < 2]
    page = find(ws, "the seminar", order="newest", limit=50)
    rest = find(ws, "the seminar", order="newest", limit=50, cursor=page.cursor)
    assert [one.id for one in (*page.entries, *rest.entries)] == holders[::-1]
    assert page.total == len(holders) and not rest.cursor
    rooms = saved[1::3]
    for query in ("room seminar", '"seminar room"', "sem* room", "seminar -long room"):
        assert [one.id for one in find(ws, query, order="oldest", limit=5).entries] == rooms[:5]
    # what none holds is searched, and so is a time
    assert find(ws, "seminars today", order="oldest", limit=1).total
    assert find(ws, "the semnar", order="newest", limit=1).entries


def test_old_pages_stay_right_while_entries_arrive(ws: Workspace, clock: Clock) -> None:
    def save_one(text: str) -> str:
        clock.forward(minutes=1)
        return save(ws, text).id

    first = [save_one(f"entry {number}") for number in range(5)]
    page = find(ws, order="oldest", limit=3)
    later = save_one("arrived meanwhile")
    (ws.config.journal / "2026-11-01.md").write_text("## 10:00 Typed into the past\n")
    rest = find(ws, order="oldest", limit=10, cursor=page.cursor)
    assert [entry.id for entry in (*page.entries, *rest.entries)] == [*first, later]


@pytest.mark.parametrize(
    "cursor", ["x", "bnVsbA", "W10", "WyJuZXdlc3QiLCAieCIsIDEsIDJd", "é", "[" * 5000]
)
def test_a_made_up_cursor_is_told(shelf: Workspace, cursor: str) -> None:
    with pytest.raises(InvalidArgument, match="cursor"):
        find(shelf, cursor=cursor)


def test_a_cursor_goes_on_behind_an_entry_that_was_deleted_meanwhile(ws: Workspace) -> None:
    for number in range(8):
        save(ws, f"Entry {number}.", force=True)
    page = find(ws, limit=3)
    following = find(ws, limit=3, cursor=page.cursor).entries
    delete(ws, page.entries[-1].id)
    assert find(ws, limit=3, cursor=page.cursor).entries == following


def test_a_cursor_belongs_to_its_order(shelf: Workspace) -> None:
    cursor = find(shelf, limit=5).cursor
    with pytest.raises(InvalidArgument, match="newest"):
        find(shelf, order="oldest", cursor=cursor)
    for more in ({"cursor": cursor}, {"around": "abcd"}):
        with pytest.raises(InvalidArgument, match="without a query"):
            find(shelf, "entry", **more)  # type: ignore[arg-type]


@given(place=st.integers(0, 59), limit=st.integers(1, 100))
@settings(max_examples=30, deadline=None)
def test_around_an_entry_stand_its_neighbours_in_time(
    shelf: Workspace, place: int, limit: int
) -> None:
    oldest = everything(shelf)
    shown = list(find(shelf, around=oldest[place].id, limit=limit).entries)
    assert len(shown) == min(limit, 60)
    start = oldest.index(shown[0])
    assert shown == oldest[start : start + limit]
    assert oldest[place] in shown
    if limit <= place < 60 - limit:
        assert abs(shown.index(oldest[place]) - (limit - 1) // 2) <= 1


def test_around_counts_only_what_passes_the_filters(shelf: Workspace) -> None:
    oldest = everything(shelf)
    centre = oldest[30]
    wanted = [entry for entry in oldest if entry.type == "decision" or entry == centre]
    listing = find(
        shelf,
        around=centre.id,
        filters=build_filters(now=shelf.clock(), type="decision"),
        limit=100,
    )
    assert list(listing.entries) == wanted


@given(
    tag=st.sampled_from([(), "odd", "by", "by/1", "none"]),
    kind=st.sampled_from([(), "note", ["issue", "decision"]]),
)
@settings(max_examples=15, deadline=None)
def test_facets_count_what_passes_the_filters(shelf: Workspace, tag: str, kind: str) -> None:
    filters = build_filters(now=shelf.clock(), tag=tag, type=kind)
    passing = find(shelf, filters=filters, limit=100).entries
    facets = find(shelf, filters=filters, facets=True, limit=1).facets
    assert facets is not None
    assert dict(facets.types) == Counter(entry.type for entry in passing)
    assert dict(facets.tags) == Counter(tag for entry in passing for tag in entry.tags)
    projects = Counter((entry.project or "").casefold() for entry in passing if entry.project)
    assert {name.casefold(): count for name, count in facets.projects} == projects
    for counts in (facets.types, facets.tags, facets.projects):
        assert [count for _, count in counts] == sorted(
            (count for _, count in counts), reverse=True
        )


@pytest.mark.parametrize("has_body", [None, True, False])
@pytest.mark.parametrize("has_files", [None, True, False])
def test_entries_with_and_without_body_and_files(
    shelf: Workspace, has_body: bool | None, has_files: bool | None
) -> None:
    filters = Filters(has_body=has_body, has_files=has_files)
    expected = [
        entry
        for entry in everything(shelf)
        if has_body in (None, entry.content != entry.title)
        and has_files in (None, bool(entry.files))
    ]
    assert list(find(shelf, filters=filters, order="oldest", limit=100).entries) == expected


# -- recent
# -------------------------------------------------------------------------------------------


def test_recent_is_newest_first_in_a_project(shelf: Workspace) -> None:
    newest = everything(shelf)[::-1]
    assert list(recent(shelf, limit=7).entries) == newest[:7]
    web = [entry for entry in newest if (entry.project or "").casefold() == "web"]
    listing = recent(shelf, project="WEB", limit=100)
    assert list(listing.entries) == web and listing.total == len(web)
    assert {entry.project for entry in recent(shelf, "entry", project="shop").entries} == {
        "Shop"
    }


@given(
    st.text(max_size=40)
    | st.sampled_from(['"', "tag:", 'type:"', "a OR", "NEAR(", "*", "{x}: y", "\0", "-a", "'"])
)
@settings(
    max_examples=examples(80, 30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_text_can_be_asked_for(shelf: Workspace, query: str) -> None:
    assert len(recent(shelf, query).entries) <= 10
    assert len(find(shelf, query, facets=True).entries) <= 20
    assert len(find(shelf, query, order="newest").entries) <= 20


# -- ids
# ----------------------------------------------------------------------------------------------


def test_get_answers_in_the_order_asked_for_and_names_what_is_missing(shelf: Workspace) -> None:
    one, two = everything(shelf)[3], everything(shelf)[40]
    listing = get(shelf, [two.short_id, one.id, f" {two.id.upper()} ", "zzzzzzzz"])
    assert [entry.id for entry in listing.entries] == [two.id, one.id]
    [notice] = listing.notices
    assert "zzzzzzzz" in notice


@pytest.mark.parametrize(
    "id",
    ["", "abc", "zzzzzzzz", "20261121-", "*", "????", "%%%%", "x" * 10_000, "日本日本", "\0"],
)
def test_an_id_that_fits_nothing_is_told(shelf: Workspace, id: str) -> None:
    with pytest.raises(NotFound, match="synaptic recent"):
        get(shelf, [id])


def test_an_ambiguous_id_names_those_it_fits(ws: Workspace) -> None:
    ids = [f"2026112{n}-abcd{n}000" for n in range(2)]
    for id in ids:
        (ws.config.journal / f"{id}.md").write_text(f"## 10:00 Entry\n<!-- syn:{id} -->\n")
    with pytest.raises(Ambiguous) as error:
        get(ws, ["abcd"])
    assert all(id in str(error.value) for id in ids)
    assert get(ws, ["abcd1"]).entries[0].id == ids[1]
    assert get(ws, ["20261121-abcd"]).entries[0].id == ids[1]


def test_status_counts_what_there_is(shelf: Workspace) -> None:
    told = status(shelf)
    assert (told.entries, told.pending_vectors, told.queued, told.issues) == (60, 0, 0, ())
    assert told.files == len({entry.place.path for entry in everything(shelf) if entry.place})
    assert told.index_bytes > 10_000
    assert datetime.fromisoformat("2026-11-01").date() == everything(shelf)[0].at.date()


def test_status_tells_counts_and_how_long_calls_took(tmp_path: Path, clock: Clock) -> None:
    with open_home(tmp_path, clock=clock) as ws:
        save(ws, "Chose SQLite.", type="decision", tags=["db"], project="web")
        clock.forward(days=31)
        for _ in range(1_000):  # searches long ago, which give way to those that follow
            ws.index.counters.record_call("search", {"total": 0.5, "long ago": 0.5}, "lexical")
        for number in range(10):
            if number < 3:
                save(ws, f"Entry {number}", tags=["db"])
            search(ws, "sqlite")
        ws.index.flush()
        now = status(ws)
        assert now.facets.types == (("note", 3), ("decision", 1))
        assert now.facets.tags == (("db", 4),) and ("web", 1) in now.facets.projects
        assert now.months == (("2026-12", 3), ("2026-11", 1))
        assert (now.figures["search"]["calls"], now.figures["save"]["calls"]) == (1_000, 4)
        search_ms = now.figures["search"]["stages"]
        assert {"embed", "lexical", "semantic", "rank", "read", "total"} <= set(search_ms)
        assert 0 < search_ms["total"]["p50"] <= search_ms["total"]["p95"]
        assert search_ms["total"]["p50"] == 0.5, "the first 1,000 are still most of them"
        assert {"journal", "index", "total"} == set(now.figures["save"]["stages"])
    with open_home(tmp_path, metrics=False, track_access=False) as ws:
        before = status(ws).figures
        search(ws, "sqlite")
        assert ws.index.flush() and status(ws).figures == before


@pytest.mark.parametrize("tags", ["hay+barn", "Barn+hay", "barn+#hay+barn"])
def test_tags_are_asked_for_together_or_each(ws: Workspace, tags: str) -> None:
    """In a list and in a query; a list of either says so, and how to ask for both."""
    for title, own in (("Both", ["hay", "barn/old"]), ("Hay", ["hay"]), ("Barn", ["barn"])):
        save(ws, f"{title} of the farm.", title=title, tags=own)
    both = find(ws, filters=build_filters(tag=[tags], now=ws.clock()))
    assert [entry.title for entry in both.entries] == ["Both"]
    assert both.notices == ()
    assert [hit.entry.title for hit in search(ws, f"farm tag:{tags}").hits] == ["Both"]
    either = find(ws, filters=build_filters(tag=["hay", "barn"], now=ws.clock()))
    assert {entry.title for entry in either.entries} == {"Both", "Hay", "Barn"}
    [notice] = either.notices
    assert "any of" in notice and "hay+barn" in notice
