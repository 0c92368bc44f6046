"""Answers as of an earlier day, against what was answered on that day."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from forks import ForkedHome
from homes import Clock
from trials import drawn

from synaptic import Workspace, as_of, delete, find, get, restore, save, search, update
from synaptic.errors import InvalidArgument, NotFound, Refused
from synaptic.filters import Filters
from synaptic.verbs.brief import brief
from synaptic.workspace.past import DELETED, OF_TODAY

DAYS = 30
WORD = re.compile(r"\bword\d+")
EVERYTHING = Filters(include_superseded=True)


class Said(NamedTuple):
    """What an answer says of an entry."""

    title: str
    content: str
    tags: tuple[str, ...]
    type: str
    superseded_by: str | None


@pytest.fixture
def old(ws: Workspace, clock: Clock) -> Workspace:
    """A workspace whose clock stands in spring, and whose trash goes by it."""
    clock.now = datetime(2026, 4, 1, 9, 30).astimezone()
    ws.journal.clock = clock
    return ws


def told(ws: Workspace) -> dict[str, Said]:
    listing = find(ws, filters=EVERYTHING, limit=100)
    assert listing.total == len(listing.entries)
    said = {}
    for entry in listing.entries:
        later = listing.superseded_by.get(entry.id)
        said[entry.id] = Said(entry.title, entry.content, entry.tags, entry.type, later)
    return said


def live(ws: Workspace, random: Random, day: int, ids: list[str], purged: set[str]) -> None:
    """One of the things that happen to a journal, or two."""
    new = save(
        ws,
        f"Plan {day} is to use tool{day}.\n\nIt costs {day} coins, word{day}.",
        type=random.choice(("decision", "note", "issue")),
        tags=[f"t{day % 3}"],
        supersedes=[random.choice(ids)] if ids and day % 4 == 0 else (),
        project=random.choice(("tests", "other")),
    ).id
    if len(ids) > 2:
        changed = random.choice(ids)
        if day % 2:
            update(ws, changed, content=f"Now tool{day} is meant.\n\nSaid on day {day}.")
        elif day % 3:
            update(ws, changed, append=f"Added on day {day}.", add_tags=["more"])
        if day % 7 == 6:
            restore(ws, changed)
        if day % 9 == 5:
            gone = ids.pop(random.randrange(len(ids)))
            delete(ws, gone)
        if day in (11, 23):
            gone = new if day == 11 else ids.pop()
            delete(ws, gone, purge=True)
            purged.add(gone)
            if gone == new:
                return
    ids.append(new)


@pytest.mark.sweep
def test_each_day_answers_as_it_did(old: Workspace, clock: Clock) -> None:
    random = Random(29)
    ids: list[str] = []
    purged: set[str] = set()
    then: dict[str, dict[str, Said]] = {}
    for day in range(DAYS):
        live(old, random, day, ids, purged)
        then[clock.now.date().isoformat()] = told(old)
        clock.forward(days=1)
    now = told(old)
    right = 0
    days = drawn("days", then.items(), 10)
    for date, said in days:
        expected = {}
        for id, one in said.items():
            if one.superseded_by in purged:
                one = one._replace(superseded_by=None)
            if id not in now:
                one = one._replace(content=one.title, tags=())
            if id not in purged:
                expected[id] = one
        with as_of(old, date) as past:
            assert told(past) == expected, date
            in_force = (id for id, one in expected.items() if not one.superseded_by)
            [sought, *_] = (id for id in in_force if WORD.search(expected[id].content))
            word = WORD.findall(expected[sought].content)[0]
            first = search(past, word, strategy="lexical").hits[0]
            assert first.entry.id == sought, date
        right += 1
    assert right == len(days)
    assert told(old) == now  # nothing was changed by looking back


def test_a_replaced_decision_is_in_force_before(old: Workspace, clock: Clock) -> None:
    first = save(old, "We stream changes with Debezium.", type="decision").id
    clock.forward(days=10)
    second = save(old, "We poll the table instead.", type="decision", supersedes=[first]).id
    clock.forward(days=10)
    with as_of(old, "2026-04-05") as past:
        [hit] = search(past, "Debezium").hits
        assert (hit.entry.id, hit.superseded_by) == (first, None)
        with pytest.raises(NotFound):
            get(past, [second])
        briefing = brief(past, Path.cwd())
        assert [e.id for shelf in briefing.shelves for e in shelf.entries] == [first]
        with pytest.raises(Refused):
            save(past, "The past is changed.")
    with as_of(old, "2026-04-11") as past:
        assert get(past, [first]).superseded_by == {first: second}
    with as_of(old, None) as present:
        assert present is old


def test_a_moment_within_a_day(old: Workspace, clock: Clock) -> None:
    id = save(old, "The limit is 10.\n\nFor now.").id
    clock.forward(hours=2)
    update(old, id, content="The limit is 20.")
    clock.forward(hours=2)
    times = {"10:00": 10, "2026-04-01T12:00": 20, "2 hours ago": 20, "vor 2 Stunden": 20}
    for when, limit in (times | {"2026-04": 20, "this week": 20}).items():
        with as_of(old, when) as past:
            assert f"is {limit}" in get(past, [id]).entries[0].content, when


def test_deleted_entries_show_their_title_to_writers_alone(
    old: Workspace, clock: Clock
) -> None:
    id = save(old, "The fax is gone.\n\nIts number was 5551234.", tags=["office"]).id
    clock.forward(days=1)
    delete(old, id)
    clock.forward(days=1)
    with as_of(old, "2026-04-01") as past:
        listing = get(past, [id])
        assert listing.entries[0].content == "The fax is gone"
        assert listing.entries[0].marks == (DELETED,)
        assert "1 deleted since" in listing.notices[0]
        assert "5551234" not in str(search(past, "fax number 5551234").hits)
    with as_of(old, "2026-04-01", may_write=False) as past:
        assert find(past).entries == ()
    with as_of(old, "2026-04-02") as past:
        assert find(past).entries == ()


def test_what_was_purged_is_nowhere(old: Workspace, clock: Clock) -> None:
    id = save(old, "The first text is about Vilnius.").id
    clock.forward(days=1)
    update(old, id, content="The second text is about Tartu.")
    clock.forward(days=1)
    delete(old, id, purge=True)
    for day in ("2026-04-01", "2026-04-02"):
        with as_of(old, day) as past:
            assert find(past).entries == ()


def test_secrets_of_today_are_not_shown(old: Workspace, clock: Clock) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    id = save(old, "The deploy needs a token.\n\nIt lies in the vault.").id
    path = old.config.journal / "2026-04-01.md"
    path.write_text(path.read_text().replace("It lies in the vault", f"It is {secret}"))
    clock.forward(days=1)
    update(old, id, content="The deploy needs no token.")
    clock.forward(days=1)
    assert secret in old.journal.trash.path.read_text()
    with as_of(old, "2026-04-01") as past:
        content = get(past, [id]).entries[0].content
        assert content.startswith("The deploy needs a token")
        assert secret not in content


def test_private_in_any_version_is_never_shown(old: Workspace, clock: Clock) -> None:
    shown_first = save(old, "The door.\n\nThe code is 1234.").id
    hidden_first = save(old, "The safe.\n\nThe word is plum.", force=True).id
    path = old.config.journal / "2026-04-01.md"
    text = path.read_text()
    hidden = "<private>The word is plum.</private>"
    path.write_text(text.replace("The word is plum.", hidden))
    clock.forward(days=1)
    update(old, hidden_first, append="A line.")
    update(old, shown_first, append="Another line.")
    clock.forward(days=1)
    text = path.read_text()
    path.write_text(text.replace("The code is 1234.", "<private>The code is 1234.</private>"))
    clock.forward(days=1)
    for day in ("2026-04-01", "2026-04-02", "2026-04-03"):
        with as_of(old, day) as past:
            everything = str(find(past).entries) + str(search(past, "code word 1234 plum").hits)
            assert "1234" not in everything, day
            assert "plum" not in everything, day


def test_text_made_public_stays_hidden_before(old: Workspace, clock: Clock) -> None:
    id = save(old, "The safe.\n\nThe word is here.").id
    path = old.config.journal / "2026-04-01.md"
    hidden = "<private>The word is plum.</private> The rest."
    path.write_text(path.read_text().replace("The word is here.", hidden))
    clock.forward(days=1)
    update(old, id, append="More.")
    path.write_text(path.read_text().replace(hidden, "The word is plum. The rest."))
    clock.forward(days=1)
    for day in ("2026-04-01", "2026-04-02"):
        with as_of(old, day) as past:
            assert "plum" not in str(find(past).entries), day


def test_an_edit_by_hand_is_told(old: Workspace, clock: Clock) -> None:
    id = save(old, "The limit is 10.\n\nFor now.").id
    path = old.config.journal / "2026-04-01.md"
    at_save = clock.now.timestamp()
    os.utime(path, (at_save, at_save))
    clock.forward(days=3)
    with as_of(old, "2026-04-02") as past:
        assert get(past, [id]).entries[0].marks == ()
    path.write_text(path.read_text().replace("is 10", "is 30"))
    with as_of(old, "2026-04-02") as past:
        assert get(past, [id]).entries[0].marks == (OF_TODAY,)


def test_what_is_no_time_of_the_past(old: Workspace) -> None:
    for when in ("2030-01-01", "in 3 days", "soonish", "-"):
        with pytest.raises(InvalidArgument) as error, as_of(old, when):
            pass
        assert error.value.valid


def test_on_the_command_line(home: ForkedHome) -> None:
    def run(*args: str) -> Any:
        return home.run(*args, "--json").json

    first = run("save", "We use Debezium.", "--type", "decision", "--at", "2026-04-01")["id"]
    run("save", "We poll.", "--supersedes", first, "--at", "2026-04-10")
    day = ("--as-of", "2026-04-05")
    found = run("search", "Debezium", *day)
    assert [hit["superseded_by"] for hit in found["hits"]] == [None]
    assert any(notice.startswith("As of 2026-04-05 23:59") for notice in found["notices"])
    assert run("find", *day)["total"] == 1
    [then] = run("get", first, *day)["entries"]
    assert then["superseded_by"] is None
    assert run("find", "--as-of", "soonish")["error"]["valid"]
