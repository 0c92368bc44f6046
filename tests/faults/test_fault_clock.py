"""Row 9: the clock goes back, changes its zone, or says what no calendar holds; nothing is
lost, the order stays.
"""

from __future__ import annotations

import os
import random
import shutil
import zoneinfo
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from forks import ForkedHome, Forks
from outside import Home, Refusal
from steady import SteadyHome
from trials import Rounds, drawn
from typer.main import get_command

from synaptic.cli.main import whole_program

pytestmark = pytest.mark.fault(row=9)

BERLIN = "Europe/Berlin"
ZONES = ("UTC", "Pacific/Kiritimati", "Pacific/Marquesas", "Asia/Kathmandu")


@pytest.fixture
def home(tmp_path: Path, forks: Forks) -> Home:
    return SteadyHome(tmp_path / "home", {"HOME": str(tmp_path), "TZ": "UTC"}, forks=forks)


def listed(home: Home, order: str, **env: str) -> list[str]:
    """The ids of every entry, page by page."""
    found: list[str] = []
    cursor: tuple[str, ...] = ()
    while True:
        page = home.ask("find", "--order", order, "--limit", "100", *cursor, **env)
        found += [entry["id"] for entry in page["entries"]]
        if not page.get("cursor"):
            assert len(found) == page["total"]
            return found
        cursor = ("--cursor", page["cursor"])


def oldest_first(home: Home, **env: str) -> list[str]:
    """Every id; the other order is its mirror, undated entries last in both; an index made anew
    says the same.
    """
    ids = listed(home, "oldest", **env)
    known = home.ask("find", "--until", "9999-12-31", "--limit", "100", **env)["total"]
    dated, undated = ids[:known], ids[known:]
    assert listed(home, "newest", **env) == dated[::-1] + undated[::-1]
    assert len(set(ids)) == len(ids)
    home.index.unlink()
    assert listed(home, "oldest", **env) == ids
    return ids


def ages(home: Home, query: str, **env: str) -> dict[str, float]:
    """The age in days of what is found, none below 0."""
    answer = home.ask(
        "search", query, "--strategy", "lexical", "--explain", "--limit", "100", **env
    )
    found = {hit["id"]: float(hit["why"]["age_days"]) for hit in answer["hits"]}
    assert all(age >= 0 for age in found.values()), found
    assert all(
        0 <= hit["why"]["decay"] <= 1 and 0 <= hit["score"] <= 1 for hit in answer["hits"]
    )
    return found


def save(home: Home, text: str, *more: str, **env: str) -> str:
    saved = home.ask("save", text, *more, **env)
    assert not saved["queued"], saved
    return str(saved["id"])


def moment(home: Home, id: str, **env: str) -> str:
    entry = home.ask("get", id, **env)["entries"][0]
    assert entry["at"].startswith(entry["date"]), entry
    return str(entry["at"])


# -- back and forth
# -----------------------------------------------------------------------------------------


def test_the_clock_goes_back_by_a_year_between_saves(home: Home) -> None:
    first = save(home, "The first harbour note", SYNAPTIC_NOW="2026-11-21T09:30:00")
    back = save(home, "The second harbour note", SYNAPTIC_NOW="2025-11-21T09:30:00")
    again = save(home, "The first harbour note", SYNAPTIC_NOW="2025-11-21T09:31:00")
    last = save(home, "The last harbour note", SYNAPTIC_NOW="2026-11-22T09:30:00")
    assert oldest_first(home) == [back, *([again] if again != first else []), first, last]
    in_the_past = ages(home, "harbour", SYNAPTIC_NOW="2025-11-21T09:31:00")
    assert in_the_past[first] == in_the_past[last] == 0
    assert ages(home, "harbour", SYNAPTIC_NOW="2026-11-22T09:30:00")[first] == pytest.approx(1)
    journal = b"".join(home.files().values()).decode()
    assert all(journal.count(f"syn:{id}") == 1 for id in (first, back, again, last))


def test_saves_while_the_clock_jumps(home: Home, rounds: Rounds) -> None:
    """A save's place follows what the clock said; an edit, a deletion and a restoration find it
    again.
    """
    told: list[tuple[datetime, str]] = []
    for number in rounds(6, 300):
        rng = random.Random(number)
        now = datetime(
            rng.randint(1995, 2040),
            rng.randint(1, 12),
            rng.randint(1, 28),
            rng.randint(0, 23),
            number % 60,
        )
        id = save(home, f"Harbour note number {number}", SYNAPTIC_NOW=now.isoformat())
        told.append((now, id))
        if number % 3 == 2:
            back = str(now.replace(year=now.year - 1).isoformat())
            assert home.ask("delete", id, "--yes", SYNAPTIC_NOW=back)["success"]
            assert home.ask("restore", id, SYNAPTIC_NOW=now.isoformat())["success"]
    assert oldest_first(home) == [id for _, id in sorted(told)]
    assert set(ages(home, "harbour", SYNAPTIC_NOW="2010-01-01")) <= {id for _, id in told}


def test_the_times_of_files_do_not_matter(home: Home) -> None:
    """Files written yesterday, in 1970, before it, or in 2400: what they say is found, and so
    is a later edit.
    """
    dated = save(home, "A dated harbour note", "--at", "2026-11-21T09:31")
    [day_file] = home.journal.glob("*.md")
    undated = home.journal / "undated.md"
    undated.write_text("# Undated\n\nA harbour without a date.\n")
    for seconds in (0, -1, -(10**9), 2**31, 2**33, 13_569_465_600):
        for path in (day_file, undated):
            os.utime(path, (seconds, seconds))
        found = ages(home, "harbour")
        assert dated in found and len(found) == 2
        assert moment(home, dated) == "2026-11-21T09:31:00+00:00"
        undated.write_text(f"# Undated\n\nA harbour without a date, {seconds}.\n")
        os.utime(undated, (seconds, seconds))
        assert len(ages(home, f'"date, {seconds}"'.replace("-", ""))) == 1
        assert set(listed(home, "oldest")) == set(found)


# -- hours that are not there, or there twice
# ------------------------------------------------------------------


def test_the_hour_that_comes_twice(home: Home) -> None:
    """02:30 in summer time is before 02:10 in winter time, whatever the heading says."""
    home.env["TZ"] = BERLIN
    moments = [
        "2026-10-25T01:59:00+02:00",
        "2026-10-25T02:10:00+02:00",
        "2026-10-25T02:30:00+02:00",
        "2026-10-25T02:30:00+01:00",
        "2026-10-25T02:45:00+01:00",
        "2026-10-25T03:00:00+01:00",
    ]
    ids = {
        now: save(home, f"The harbour at {now}", SYNAPTIC_NOW=now)
        for now in random.Random(1).sample(moments, 6)
    }
    assert oldest_first(home) == [ids[now] for now in moments]
    for now in moments:
        assert moment(home, ids[now]) == now
        assert datetime.fromisoformat(
            moment(home, ids[now], TZ="Asia/Kathmandu")
        ) == datetime.fromisoformat(now)
    found = ages(home, "harbour", SYNAPTIC_NOW="2026-10-25T02:30:00+01:00")
    assert (
        found[ids[moments[2]]] == pytest.approx(1 / 24, abs=1e-3)
        and found[ids[moments[-1]]] == 0
    )


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_half_past_two_without_an_offset(home: Home, day: str) -> None:
    """Said by the clock, by `--at`, and typed by hand; of one hour that is not there, and of
    one that is twice.
    """
    home.env["TZ"] = BERLIN
    by_clock = save(home, "The harbour by the clock", SYNAPTIC_NOW=f"{day}T02:30:00")
    by_option = save(
        home,
        "The harbour by the option",
        "--at",
        f"{day}T02:31",
        SYNAPTIC_NOW=f"{day}T12:00:00",
    )
    before, after = (
        save(home, f"A harbour at {hour}", "--at", f"{day}T{hour}")
        for hour in ("01:10", "04:10")
    )
    path = home.journal / f"{day}.md"
    path.write_bytes(path.read_bytes() + b"\n## 02:32 The harbour by hand\n")
    ids = oldest_first(home)
    assert len(ids) == 5 and ids[0] == before and ids[-1] == after
    assert ids.index(by_clock) < ids.index(by_option)
    for id in ids:
        assert moment(home, id).startswith(day)
    assert len(ages(home, "harbour", SYNAPTIC_NOW=f"{day}T02:30:00")) == 5
    day_of = home.ask("find", "--since", day, "--until", day)
    assert day_of["total"] == 5


# -- other zones
# ------------------------------------------------------------------------------------------------


def test_zones_between_saves_and_searches(home: Home, rounds: Rounds) -> None:
    """Each save in a zone of its own, read in the next; what was saved keeps its instant and
    its local time.
    """
    others = sorted(zoneinfo.available_timezones() - set(ZONES))
    zones = [*ZONES, *random.Random(1).sample(others, len(others))]
    told: dict[str, datetime] = {}
    said: dict[str, str] = {}
    for number in rounds(len(ZONES), len(zones)):
        now = datetime(
            2026,
            11,
            20 + number % 3,
            12,
            number // 60,
            number % 60,
            tzinfo=zoneinfo.ZoneInfo("UTC"),
        )
        id = save(
            home,
            f"The harbour of {zones[number]}",
            TZ=zones[number],
            SYNAPTIC_NOW=now.isoformat(),
        )
        told[id] = now
        elsewhere = zones[(number + 1) % len(zones)]
        said[id] = moment(home, id, TZ=elsewhere)
        assert datetime.fromisoformat(said[id]) == now
        ages(home, "harbour", TZ=elsewhere, SYNAPTIC_NOW=now.isoformat())
    order = sorted(told, key=told.__getitem__)
    for zone in ("Pacific/Marquesas", "Pacific/Kiritimati"):
        assert oldest_first(home, TZ=zone) == order
        entries = home.ask("find", "--limit", "100", TZ=zone)["entries"]
        assert all(entry["at"] == said[entry["id"]] for entry in entries)


def test_a_server_in_another_zone(home: Home) -> None:
    """It runs on while somebody types, and saves, in another zone; both sides see one order."""
    with home.server(TZ="Pacific/Kiritimati") as server:
        one = server.call("save", content="The harbour from the east")["id"]
        two = save(home, "The harbour from the west", TZ="Pacific/Marquesas")
        three = server.call("save", content="The harbour from the east again")["id"]
        there = server.call("find", order="oldest")["entries"]
        assert [entry["id"] for entry in there] == listed(
            home, "oldest", TZ="Pacific/Marquesas"
        )
        moments = [datetime.fromisoformat(entry["at"]) for entry in there]
        assert moments == sorted(moments)
        assert {entry["id"] for entry in there} == {one, two, three}
        found = server.call("search", query="harbour", strategy="lexical", explain=True)
        assert {hit["id"] for hit in found["hits"]} == {one, two, three}
        assert all(hit["why"]["age_days"] >= 0 for hit in found["hits"])
        with pytest.raises(Refusal, match="at"):
            server.call("save", content="late", at="2026-02-30")


# -- far dates, and dates that are none
# --------------------------------------------------------------------------

ENDS = (
    "0001-01-01T00:00",
    "0001-01-01T23:59",
    "0999-12-31T12:00",
    "1969-12-31T23:59",
    "2038-01-19T03:14",
    "2999-06-01T09:00",
    "9999-12-31T00:00",
    "9999-12-31T23:59",
)


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Marquesas"])
def test_the_ends_of_the_calendar(home: Home, zone: str) -> None:
    """A save at either end is kept, found and sorted, or refused by name; so it is in any zone."""
    home.env["TZ"] = zone
    kept: list[str] = []
    for at in (
        random.Random(1).sample(ENDS, len(ENDS))
        if zone == "UTC"
        else (ENDS[0], ENDS[-1], ENDS[4])
    ):
        answer = home.run("save", f"The harbour at {at}", "--at", at, "--json")
        if answer.code == 0:
            kept.append(answer.json["id"])
        else:
            assert answer.json["error"]["message"] and at[:4] in answer.text, answer
    assert len(kept) >= (len(ENDS) if zone == "UTC" else 1)
    entries = {id: home.ask("get", id)["entries"][0] for id in kept[:3]}
    assert all(entry["content"].endswith(entry["at"][:16]) for entry in entries.values())
    order = oldest_first(home)
    assert set(order) == set(kept)
    by_name = sorted(home.entries(), key=lambda entry: str(entry["at"])[:16])
    assert [entry["id"] for entry in by_name] == order
    assert set(ages(home, "harbour")) == set(kept)
    for other in ("Pacific/Kiritimati", "Pacific/Marquesas"):
        assert listed(home, "oldest", TZ=other) == order
        assert set(ages(home, "harbour", TZ=other)) == set(kept)


@pytest.mark.parametrize("now", ["0001-01-01T00:00:00", "9999-12-31T23:59:59"])
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Marquesas"])
def test_now_at_an_end_of_the_calendar(home: Home, now: str, zone: str) -> None:
    """Whatever counts back or on from today ends with the calendar; a clock that is none is
    named.
    """
    known = save(home, "A harbour note of any day", "--at", "2026-11-21T09:31", TZ="UTC")
    home.env |= {"TZ": zone, "SYNAPTIC_NOW": now}
    commands: list[tuple[str, ...]] = [
        ("save", "A harbour note of now"),
        ("search", "harbour", "--strategy", "lexical"),
    ]
    if zone == "UTC":
        commands += [
            ("find", "--since", "10 days ago"),
            ("find", "--until", "tomorrow"),
            ("recent",),
            ("doctor",),
        ]
        commands += [
            ("search", "harbour last week", "--strategy", "lexical"),
            ("search", "harbour", "--days", "400"),
        ]
    for command in commands:
        answer = home.run(*command, "--json")
        if answer.code and command[0] != "doctor":
            assert answer.json["error"]["message"], (command, answer)
            assert "SYNAPTIC_NOW" in answer.text or "date" in answer.text, (command, answer)
    del home.env["SYNAPTIC_NOW"]
    assert known in oldest_first(home)


NO_DATES = (
    "2026-02-30",
    "2025-02-29",
    "2026-13-01",
    "2026-00-10",
    "2026-11-00",
    "0000-00-00",
    "0000-01-01",
    "9999-99-99",
    "10000-01-01",
    "2026-11-21-22",
)


def test_impossible_dates_of_files_and_in_them(home: Home) -> None:
    """They are read as files without a date, or as what is possible of it; every entry is
    found, and none moves.
    """
    shutil.rmtree(home.journal, ignore_errors=True)
    home.journal.mkdir(parents=True)
    for number, name in enumerate(NO_DATES):
        comment = f"<!-- syn:{name[:4]}1121-{number:08d} at={name}T09:31:00+99:00 -->\n"
        text = (
            f"# {name}\n\n## 09:31 The harbour of {name}\n{comment}\nBody {number}.\n\n## "
            f"25:99 No "
            f"time\n"
        )
        (home.journal / f"{name}.md").write_text(text)
        (home.journal / f"page-{number}.md").write_text(
            f"---\ndate: {name}\n---\n\n# Page {number}\n\nA harbour.\n"
        )
    ends = (
        "0001-01-01T00:00:00+14:00",
        "0001-01-01T00:00:00-12:00",
        "9999-12-31T23:59:59-12:00",
        "2026-11-21T24:00:00",
    )
    for number, at in enumerate(ends):
        text = (
            f"## {at[11:16].replace('24', '23')} The harbour at {at}\n<!-- "
            f"syn:20261121-abcd000{number} at={at} -->\n"
        )
        (home.journal / f"{at[:10]} {number}.md").write_text(f"{text}\nBody.\n")
        (home.journal / f"{at[:10]}.md").write_text(
            "## 00:00 The harbour by hand\n\n## 23:59 The harbour at night\n"
        )
    before = home.files()
    ids = oldest_first(home)
    found = ages(home, "harbour")
    assert len(found) == 2 * len(NO_DATES) + len(ends) + 2 * len({at[:10] for at in ends})
    assert set(found) <= set(ids)
    for zone in ("Pacific/Kiritimati", "Pacific/Marquesas"):
        assert len(listed(home, "oldest", TZ=zone)) == len(ids)
        assert len(ages(home, "harbour", TZ=zone, SYNAPTIC_NOW="2026-11-21T00:00:00")) == len(
            found
        )
    home.run("doctor")
    assert home.files() == before


@pytest.mark.parametrize(
    "at",
    [
        *NO_DATES[:-1],
        "2026-11-21T25:00",
        "2026-11-21T09:60",
        "2026-11-21T09:31+99:00",
        "-1",
        "9e9",
    ],
)
def test_impossible_moments_are_refused_by_name(one_server: Any, at: str) -> None:
    server, home = one_server
    before = home.files()
    with pytest.raises(Refusal) as refusal:
        server.call("save", content="never", at=at)
    assert at in str(refusal.value) or "at" in str(refusal.value)
    with pytest.raises(Refusal) as refusal:
        server.call("find", since=at)
    assert at in str(refusal.value) or "since" in str(refusal.value)
    assert home.files() == before


@pytest.fixture(scope="module")
def one_server(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Any:
    folder = tmp_path_factory.mktemp("clock")
    home = ForkedHome(folder / "home", {"HOME": str(folder), "TZ": "UTC"}, forks)
    with home.server() as server:
        server.call("save", content="The harbour")
        yield server, home


def test_dates_in_the_future(home: Home) -> None:
    """They are the newest, of age 0, and neither hidden nor in front of what fits better."""
    home.env["SYNAPTIC_NOW"] = "2026-11-21T09:30:00"
    past = save(
        home, "The harbour was dredged, the harbour was deep", "--at", "2026-11-01T09:31"
    )
    future = save(
        home,
        "A note of later that names the harbour beside many other things",
        "--at",
        "2030-01-01T09:31",
    )
    tomorrow = save(home, "Tomorrow there is the meeting at the harbour", "--at", "2026-11-22")
    assert oldest_first(home) == [past, tomorrow, future]
    found = ages(home, "harbour")
    assert found[future] == found[tomorrow] == 0 and found[past] == pytest.approx(20, abs=0.1)
    assert next(iter(found)) == past
    assert home.ask("recent")["entries"][0]["id"] == future
    week = [
        entry["id"]
        for entry in home.ask("find", "--since", "2026-11-15", "--until", "2026-11-21")[
            "entries"
        ]
    ]
    assert week == []


# -- every verb at the ends of the calendar
# --------------------------------------------------------------------------

EDGES = ("0001-01-01", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00")
TIMES = {"--at", "--since", "--until", "--due", "--expires", "--as-of"}
GIVEN = {
    "save": ("A harbour note",),
    "search": ("harbour", "--strategy", "lexical"),
    "find": (),
    "get": ("ID",),
    "history": ("ID",),
    "update": ("ID",),
    "brief": (),
    "due": (),
    "tasks": (),
    "import": ("jrnl", str(Path(__file__).parents[1] / "data" / "exports" / "jrnl")),
    "replay": (),
    "evaluate": (),
    "export": (),
    "tick": ("call", "Ida"),
}
"""What each command with an option of TIMES needs beside it."""
ALONE = ("recent", "due", "tasks", "day", "week", "tags", "status", "review", "brief", "export")


def test_every_command_at_the_ends_of_the_calendar(home: Home) -> None:
    """A time at either end is read, or refused in words; none is a defect."""
    near_an_end = [save(home, f"Harbour {at}", "--at", at) for at in (EDGES[0], EDGES[-1])]
    save(home, "Errands\n\n- [ ] call Ida")
    calls: list[tuple[str, ...]] = [(command,) for command in ALONE]
    for name, command in get_command(whole_program()).commands.items():  # type: ignore[attr-defined]
        flags = TIMES.intersection(*[{flag for one in command.params for flag in one.opts}])
        for flag in sorted(flags):
            given = [near_an_end[0] if arg == "ID" else arg for arg in GIVEN[name]]
            calls += [(name, *given, flag, at) for at in EDGES]
    calls += [(name, at) for name in ("day", "week") for at in EDGES]
    for call in drawn("ends of the calendar", calls, 30):
        answer = home.run(*call)
        assert answer.code in (0, 1, 2) and "defect" not in answer.text, (call, answer)
    for now in ("0001-01-01T00:00:00", "9999-12-31T23:59:59"):
        answer = home.run("recent", SYNAPTIC_NOW=now)
        assert answer.code == 1 and "Valid: the years 1000 to 8999" in answer.text, answer
