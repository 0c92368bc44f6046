"""What a save is told to be near, what `review` lists, and what `status --use` counts, from
outside.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from forks import ForkedHome as Home
from homes import Clock, open_home
from mcp import Client, types
from outside import TIMEOUT_S

from synaptic import Workspace, get, save, update
from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import FastEmbedder
from synaptic.mcp.server import build_server
from synaptic.serving import worker
from synaptic.serving.worker import Worker
from synaptic.verbs import receipts
from synaptic.verbs.review import answer_finding, review


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A save embeds its text however busy the machine is."""
    monkeypatch.setattr(receipts, "EMBED_BUDGET_S", 60.0)


@pytest.fixture
def known(tmp_path: Path, clock: Clock, model: FastEmbedder) -> Iterator[Workspace]:
    """A journal that is read by the real model."""
    with open_home(tmp_path / "home", clock=clock, embedder=model) as ws:
        yield ws


async def said(client: Client, tool: str, **arguments: object) -> str:
    answer = await client.call_tool(f"context_{tool}", arguments)
    (block,) = answer.content
    assert isinstance(block, types.TextContent) and not answer.is_error, answer
    return block.text


# -- the receipt
# ------------------------------------------------------------------------------------------


POOL = "The pgbouncer pool of the orders database has 40 connections."


def test_a_save_names_what_it_seems_to_replace(known: Workspace) -> None:
    old = save(known, POOL, type="decision")
    for other in (
        "Invoices are numbered by year.",
        "The logo is blue now.",
        "Support answers within a day.",
    ):
        assert save(known, other, type="decision").near == ()
    assert (
        save(
            known,
            "The pgbouncer pool of the orders database was raised today.",
            type="progress",
        ).near
        == ()
    )
    new = "The pgbouncer pool of the orders database has 25 connections now."
    assert save(known, new, type="decision", project="elsewhere").near == ()
    assert [near.id for near in save(known, new, type="decision").near] == [old.id]
    told = save(known, new + " 40 were too many.", type="decision", supersedes=[old.id])
    assert told.near == ()


REJECTING = (
    "{} Rejected: Redis Streams, Kafka (too heavy for 40 jobs a minute).",
    "{} Rejected:\n\n- Redis Streams\n- Kafka, too heavy",
    "{} **Rejected:** Node.js workers, Redis Streams; Kafka.",
    "{} We took it instead of Kafka or Redis Streams, because the operators know it.",
    "{} Chosen over Kafka and Redis Streams for 40 jobs a minute.",
)
QUEUE = "The job queue of the thumbnailer is RabbitMQ."


@pytest.mark.parametrize("text", REJECTING)
def test_what_an_entry_rejected_need_not_be_named_by_what_replaces_it(
    known: Workspace, text: str
) -> None:
    old = save(known, text.format(QUEUE), type="decision")
    new = "The job queue of the thumbnailer is NATS now. RabbitMQ lost jobs at every failover."
    assert [near.id for near in save(known, new, type="decision").near] == [old.id]


def test_two_matters_that_reject_the_same_are_not_taken_for_one(known: Workspace) -> None:
    save(
        known,
        "Invoices for Norway are rendered with WeasyPrint. Rejected: Prince, LaTeX.",
        type="decision",
    )
    other = "Invoices for Poland are rendered with Typst. Rejected: Prince, WeasyPrint."
    assert save(known, other, type="decision").near == ()


def test_a_save_names_the_open_issue_that_it_seems_to_settle(known: Workspace) -> None:
    issue = save(known, "The nightly backup fails when the disk is full.", type="issue")
    save(known, "Invoices are numbered by year.", type="issue")
    (near,) = save(
        known,
        "The nightly backup does not fail any more when the disk is full.",
        type="progress",
    ).near
    assert (near.id, near.settled) == (issue.id, True)
    update(known, issue.id, add_tags=["done"])
    assert (
        save(
            known, "The nightly backup survives it when the disk is full.", type="progress"
        ).near
        == ()
    )


@pytest.mark.anyio
async def test_an_agent_reads_the_call_that_says_so(
    tmp_path: Path, model: FastEmbedder
) -> None:
    async with Client(build_server(Worker(tmp_path / "home", model))) as client:
        old = (await said(client, "save", content=POOL, type="decision")).split()[1]
        new = await said(
            client, "save", content=POOL.replace("has 40", "now has 25"), type="decision"
        )
        assert f" decision: {POOL}" in new
        assert (
            f'Looks replaced? context_update id="{new.split()[1]}" supersedes=["{old}"]' in new
        )


class LateModel(FastEmbedder):
    """The shipped model, which begins to load when it is told to."""

    go: threading.Event

    def load(self) -> None:
        self.go.wait(TIMEOUT_S)
        super().load()


@pytest.fixture
def late(tmp_path: Path) -> Iterator[LateModel]:
    embedder = LateModel(DEFAULT_MODEL, cache=tmp_path)
    embedder.go = threading.Event()
    yield embedder
    embedder.go.set()


async def two_pools(client: Client) -> tuple[str, str]:
    """The answer to the second save, and the call that it should name."""
    old = (await said(client, "save", content=POOL, type="decision")).split()[1]
    new = await said(
        client, "save", content=POOL.replace("has 40", "now has 25"), type="decision"
    )
    return new, f'Looks replaced? context_update id="{new.split()[1]}" supersedes=["{old}"]'


@pytest.mark.anyio
async def test_a_save_waits_a_moment_for_the_model_to_say_what_it_is_near(
    tmp_path: Path, late: LateModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "FIRST_CALL_S", 60.0)
    threading.Timer(0.2, late.go.set).start()
    async with Client(build_server(Worker(tmp_path / "home", late))) as client:
        new, call = await two_pools(client)
        assert new.count(call) == 1
        assert "Looks replaced?" not in await said(client, "recent")


# -- entries that expire
# ------------------------------------------------------------------------------------


def test_an_entry_that_has_expired_stands_behind_what_fits_and_is_never_hidden(
    home: Home,
) -> None:
    day = {"SYNAPTIC_NOW": "2026-11-21T10:00:00"}
    later = {"SYNAPTIC_NOW": "2026-12-05T10:00:00"}
    text = "The staging deploy freeze holds back the staging release."
    other = home.ask("save", "A staging deploy takes nine minutes since the release.", **day)[
        "id"
    ]
    freeze = home.ask("save", text, "--expires", "next friday", **day)["id"]
    asked = ("search", "what about the staging deploy freeze")
    assert [hit["id"] for hit in home.ask(*asked, **day)["hits"]] == [freeze, other]
    found = home.ask(*asked, **later)["hits"]
    assert [hit["id"] for hit in found] == [other, freeze] and found[1][
        "expires"
    ] == "2026-11-27"
    assert home.ask("search", "what holds back freeze", **later)["hits"][0]["id"] == freeze
    assert "expired 2026-11-27" in home.run("recent", **later).out
    assert "expired" not in home.run("recent", SYNAPTIC_NOW="2026-11-27T23:00:00").out
    told = home.run("update", freeze, "--expires", "yesterday", **later)
    assert told.code == 0 and "It has expired already, on 2026-12-04." in told.err
    assert home.run("update", freeze, "--expires", "soon", **later).code == 2
    home.ask("update", freeze, "--expires", "", **later)
    assert [hit["id"] for hit in home.ask(*asked, **later)["hits"]] == [freeze, other]
    assert "expires" not in home.run("get", freeze, **later).out
    home.ask("update", freeze, "--expires", "tomorrow", **later)
    with home.server(**later) as server:
        server.text("update", id=freeze, expires="")
    assert home.ask("get", freeze, **later)["entries"][0]["expires"] is None


# -- the review
# ---------------------------------------------------------------------------------------------

OLD, NEW = "2026-07-01T09:00:00", "2026-11-01T09:00:00"


def findings(home: Home, *flags: str) -> list[str]:
    return [found["finding"] for found in home.ask("review", *flags)["findings"]]


def test_a_review_lists_what_time_has_passed_by_and_remembers_what_is_kept(home: Home) -> None:
    def saved(text: str, at: str, *marks: str) -> str:
        return str(
            home.ask("save", text, "--at", at, "--project", "shop", *marks)["id"]
        ).partition("-")[2]

    issue = saved("The nightly backup fails when the disk is full.", OLD, "--type", "issue")
    saved("The kettle leaks.", NEW, "--type", "issue")
    first = saved("Login is half done.", OLD, "--type", "handoff")
    last = saved("Login is done, tests are missing.", NEW, "--type", "handoff")
    unread = saved("Invoices are numbered by year.", "2025-01-01T09:00:00", "--type", "insight")
    saved("Soup again.", "2025-01-02T09:00:00")  # a diary is not asked about
    freeze = saved(
        "Freeze of the staging machine.", OLD, "--expires", "2026-07-03", "--tag", "pin"
    )
    both = {f"proposed:{freeze}", f"expired:{freeze}"}
    others = {f"open:{issue}", f"handed-on:{first}:{last}", f"unread:{unread}"}
    assert set(findings(home)) == both | others
    assert findings(home, "--project", "other") == []
    assert set(findings(home, "--project", "*")) == both | others
    assert (
        len(findings(home, "--limit", "2")) == 2
        and home.ask("review", "--limit", "2")["total"] == 5
    )

    assert f"Kept open:{issue}" in home.run("review", "keep", f"open:{issue}").out
    assert f"open:{issue}" not in findings(home)
    home.ask("update", issue, "--append", "It failed again.")
    assert f"open:{issue}" in findings(home)  # an edit asks again
    home.ask("review", "close", f"open:{issue}")
    home.ask("review", "supersede", f"handed-on:{first}:{last}")
    assert home.run("review", "pin", f"proposed:{freeze}", CLAUDECODE="1").code == 1
    home.ask("review", "pin", f"proposed:{freeze}")
    assert (
        f"proposed:{freeze}" not in findings(home)
        and home.ask("get", freeze)["entries"][0]["pin"]
    )
    home.ask("review", "delete", f"expired:{freeze}")
    assert findings(home) == [f"unread:{unread}"]
    assert (
        home.ask("get", last)["entries"][0]["supersedes"]
        == home.ask("get", first)["entries"][0]["id"].split()
    )
    home.ask("get", unread)
    assert findings(home) == []
    assert home.run("review").out == "Nothing to review.\n"
    for wrong in (
        ("keep",),
        ("merge", f"repeated:{last}"),
        ("drop", f"open:{issue}"),
        ("keep", f"nothing:{issue}"),
    ):
        told = home.run("review", *wrong)
        assert told.code == 2 and "Valid: " in told.err
    assert home.run("review", "keep", "open:zzzzzzzz").code == 1


def test_a_review_finds_what_repeats_and_what_is_replaced_and_merges(known: Workspace) -> None:
    for other in (
        "Invoices are numbered by year.",
        "The logo is blue now.",
        "Support answers within a day.",
    ):
        save(known, other, type="decision")
    old = save(known, POOL, type="decision", at="2026-10-01")
    new = save(known, POOL.replace("has 40", "now has 25"), type="decision", at="2026-10-09")
    note = save(known, "The heating costs 80 euro a month.", type="insight", at="2026-10-01")
    again = save(known, "The heating costs 80 euro a month!", type="insight", at="2026-10-02")
    found = {matter.kind: matter for matter in review(known)}
    about = {kind: [one.entry.id for one in matter.about] for kind, matter in found.items()}
    assert about == {"replaced": [old.id, new.id], "repeated": [again.id, note.id]}
    answer_finding(known, found["repeated"].key, "merge")
    (kept,) = get(known, [note.id]).entries
    assert (
        kept.content
        == "The heating costs 80 euro a month.\n\nThe heating costs 80 euro a month!"
    )
    assert [matter.kind for matter in review(known)] == ["replaced"]


def test_notes_of_a_diary_are_not_compared(known: Workspace) -> None:
    """A diary has no project and says alike things day by day: nothing of it is replaced."""
    for euros, day in ((31, "2026-09-01"), (753, "2026-10-01"), (753, "2026-11-01")):
        save(known, f"Paid the dentist: {euros} EUR.", at=day, project="")
    assert review(known) == []
    for euros, day in ((31, "2026-09-02"), (753, "2026-10-02")):
        save(known, f"The dentist costs {euros} EUR.", at=day, type="insight")
    assert [matter.kind for matter in review(known)] == ["replaced"]


@pytest.mark.anyio
async def test_an_agent_is_given_the_findings(tmp_path: Path, model: FastEmbedder) -> None:
    async with Client(build_server(Worker(tmp_path / "home", model))) as client:
        old = (
            await said(
                client, "save", content="A kettle leaks.", type="issue", at=OLD, project="shop"
            )
        ).split()[1]
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert prompts == {"handoff", "review"}
        (message,) = (await client.get_prompt("review", {"project": "shop"})).messages
        assert isinstance(message.content, types.TextContent)
        assert f"keep open:{old}" in message.content.text
        assert f"{old} 2026-07-01 09:00 issue: A kettle leaks." in message.content.text


# -- what agents did
# ----------------------------------------------------------------------------------------


def test_status_counts_what_agents_were_shown_and_keeps_no_text(home: Home) -> None:
    home.path.mkdir()
    (home.path / "config.toml").write_text('project = "tests"\n')
    home.ask("save", "Redis has eight gigabytes.", "--type", "decision")
    assert home.run("status", "--use").out == "No agent has asked yet.\n"
    now = {"SYNAPTIC_NOW": "2026-11-21T10:00:00"}  # a Saturday
    with home.server(**now) as server:
        server.text("search", query="redis cache")
        server.text("search", query="zanzibar quokka", tags="none")
        saved = server.text("save", content="Postgres holds the orders.").split()[1]
        server.text("get", ids=saved)
        server.text("save", content="What was counted before is written with this.")
    told = home.run(
        "hook",
        "session-start",
        stdin=json.dumps({"cwd": str(home.path), "session_id": "1"}),
        **now,
    )
    home.run("search", "redis cache", **now)  # by a person
    assert told.out
    rows = {row.pop("client"): row for row in home.ask("status", "--use", **now)["use"]}
    assert len(rows) == 2
    hook, agent = rows.pop("hook"), rows.popitem()[1]
    assert agent == {
        "week": "2026-11-16",
        "searches": 2,
        "nothing_found": 1,
        "shown": agent["shown"],
        "opened": 1,
        "saved": agent["saved"],
        "sessions": 0,
        "tokens": 0,
    }
    assert agent["shown"] >= 1 and agent["saved"] >= 1
    assert hook["sessions"] == 1 and hook["tokens"] > 20
    home.run("rebuild-index", "--fresh")
    assert "2026-11-16 hook    sessions 1, tokens " in home.run("status", "--use").out
    assert b"quokka" not in (home.path / ".state" / "index.db").read_bytes()


def test_a_note_moved_by_hand_is_named_and_its_links_are_mended(home: Home) -> None:
    """Renamed, moved to another folder, and moved before Synaptic ever saw it."""
    for name in ("people", "old"):
        (home.journal / name).mkdir(parents=True)
    (home.journal / "people/Ida.md").write_text("Ida likes tea.\n")
    (home.journal / "old/Tea.md").write_text("Green.\n")
    links = "[[Ida|she]] [i](people/Ida.md) [t](old/Tea.md) [s](never/Seen.md) [[gone]]\n"
    (home.journal / "From.md").write_text(links)
    (home.journal / "Seen.md").write_text("Seen.\n")
    assert [key.partition(":")[0] for key in findings(home)] == ["moved"]
    (home.journal / "people/Ida.md").rename(home.journal / "Ada.md")
    (home.journal / "old/Tea.md").rename(home.journal / "people/Tea.md")
    for _ in range(3):
        home.ask("review", "mend", findings(home)[0])
    assert findings(home) == []
    assert (home.journal / "From.md").read_text() == (
        "[[Ada|she]] [i](Ada.md) [t](people/Tea.md) [s](Seen.md) [[gone]]\n"
    )
    [run, *_] = sorted(path.name for path in (home.state / "renames").iterdir())
    assert home.run("rename", "--undo", run, "--yes").code == 0
