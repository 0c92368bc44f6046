"""What a save is told to be near, what `review` lists, and what `status --use` counts, from
outside.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from forks import ForkedHome as Home
from homes import Clock, open_home
from mcp import Client, types
from outside import TIMEOUT_S

from synaptic import Workspace, get, recent, save, update
from synaptic.config import DEFAULT_MODEL
from synaptic.errors import SynapticError
from synaptic.index.embedding import FastEmbedder
from synaptic.mcp.server import build_server
from synaptic.models import Near, short_id
from synaptic.plugin import ANSWER_FINDING, REVIEW
from synaptic.search.near import MOST_NEAR
from synaptic.serving import worker
from synaptic.serving.worker import Worker
from synaptic.verbs import receipts
from synaptic.verbs.neighbours import compare_saved
from synaptic.verbs.saving import Marks, save_all


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
SMALLER = "The pgbouncer pool of the orders database has 25 connections now."
OTHERS = (
    "Invoices are numbered by year.",
    "The logo is blue now.",
    "Support answers within a day.",
)
REWORDED = {
    "en": ("Deployments happen on Fridays at noon.", "We no longer ship before the weekend."),
    "de": (
        "Der Müll wird dienstags abgeholt.",
        "Die Tonne kommt ab jetzt mittwochs an die Straße.",
    ),
}
"""By language: an entry, and one that replaces it in other words."""


def ids(entries: tuple[Near, ...]) -> list[str]:
    return [near.id for near in entries]


@pytest.mark.parametrize("language", REWORDED)
def test_a_save_names_earlier_entries_of_any_type_that_are_near_by_meaning(
    known: Workspace, language: str
) -> None:
    before, after = REWORDED[language]
    for other in OTHERS:
        save(known, other, type="decision")
    old = save(known, before, type="reference")
    assert ids(save(known, after, type="progress").near)[0] == old.id


WORDS_IN_COMMON = {
    "en": (
        "The greenhouse door opens at 26 degrees.",
        "Since the basil wilted last August, the gardener wants fresh air early: the door of "
        "the greenhouse opens at 22.",
        (
            "The basil wilted, none since last August.",
            "The gardener wants a week off early in May.",
            "Fresh air for the cellar.",
        ),
    ),
    "de": (
        "Der Kassenschlüssel liegt bei Frau Ahrens im Büro.",
        "Seit dem Umbau im Frühling hat Herr Voss den Kassenschlüssel bei sich, weil das Büro "
        "nun im Keller liegt.",
        (
            "Der Umbau dauert bis Frühling.",
            "Herr Voss hat Urlaub, weil der Keller leer ist.",
            "Nun sind bei uns alle gesund.",
        ),
    ),
}
"""By language: an entry, a later one that shares some rare words, and others that do."""


@pytest.mark.parametrize("language", WORDS_IN_COMMON)
def test_a_save_names_entries_that_share_rare_words_before_there_are_vectors(
    tmp_path: Path, clock: Clock, language: str
) -> None:
    before, after, others = WORDS_IN_COMMON[language]
    unloaded = FastEmbedder(DEFAULT_MODEL, cache=tmp_path)
    with open_home(tmp_path / "home", clock=clock, embedder=unloaded) as ws:
        for other in (*others, *OTHERS):
            save(ws, other)
        old = save(ws, before)
        assert old.id in ids(save(ws, after).near)
        assert save(ws, "Lena plays the cello on Sunday evenings.").near == ()


def test_an_entry_that_is_compared_afterwards_is_not_compared_at_its_save(
    known: Workspace,
) -> None:
    old = save(known, POOL)
    new = save(known, SMALLER, names_near=False)
    assert new.near == ()
    assert ids(compare_saved(known, new)) == [old.id]


@pytest.mark.parametrize(("own", "other"), [("shop", "farm"), ("shop", ""), ("", "shop")])
def test_a_save_names_entries_of_its_own_project_alone(
    known: Workspace, own: str, other: str
) -> None:
    old = save(known, POOL, project=own)
    assert save(known, SMALLER, project=other).near == ()
    assert ids(save(known, SMALLER, project=own).near) == [old.id]


def test_a_save_does_not_name_what_is_linked_or_replaced_already(known: Workspace) -> None:
    old = save(known, POOL)
    new = save(known, SMALLER, supersedes=[old.id])
    assert new.near == ()
    last = save(known, "The pgbouncer pool of the orders database has 60 connections.")
    assert ids(last.near) == [new.id]
    assert ids(save(known, f"{POOL} See above.", parent=last.id).near) == [new.id]


def test_a_retry_names_nothing_and_a_save_names_five_at_most(known: Workspace) -> None:
    sizes = range(10, 17)
    for size in sizes:
        last = save(known, POOL.replace("40", str(size)))
    assert len(last.near) == MOST_NEAR
    retry = save(known, POOL.replace("40", str(sizes[-1])))
    assert retry.id == last.id and retry.near == ()


def test_a_save_names_by_words_while_the_model_is_not_loaded(
    tmp_path: Path, clock: Clock
) -> None:
    unloaded = FastEmbedder(DEFAULT_MODEL, cache=tmp_path)
    with open_home(tmp_path / "home", clock=clock, embedder=unloaded) as ws:
        for other in OTHERS:
            assert save(ws, other).near == ()
        old = save(ws, POOL)
        assert ids(save(ws, SMALLER).near) == [old.id]


def test_a_save_says_of_an_open_issue_that_it_is_open(known: Workspace) -> None:
    issue = save(known, "The nightly backup fails when the disk is full.", type="issue")
    text = "The nightly backup does not fail any more when the disk is full."
    (near,) = save(known, text, type="progress").near
    assert (near.id, near.is_open) == (issue.id, True)
    update(known, issue.id, add_tags=["done"])
    near = save(known, "The nightly backup survives it when the disk is full.").near[-1]
    assert (near.id, near.is_open) == (issue.id, False)


# -- consequences
# -------------------------------------------------------------------------------------------

GATEWAY = "The gateway is gw-mira, port 8443, from 8 to 17."


def test_a_link_names_entries_that_lean_on_the_replaced_one(
    ws: Workspace, clock: Clock
) -> None:
    save(ws, "The port 8443 of gw-mira is open in the firewall.")
    clock.forward(hours=1)
    old = save(ws, GATEWAY)
    clock.forward(hours=1)
    check = save(ws, "The uptime check asks gw-mira at 8443 each minute.")
    mails = save(ws, "The uptime check sends mails to Ida.")
    save(ws, "The lamp at gw-mira is on from 8 to 17.")  # one name alone
    save(ws, "Port 8443 of gw-mira is for the tests of the farm.", project="farm")
    clock.forward(hours=1)
    moved = "The gateway is gw-otto now."
    assert ids(save(ws, moved, supersedes=[old.id]).leaning) == [check.id]
    new = save(ws, f"{moved} It is faster.")
    assert ids(update(ws, new.id, supersedes=[old.id]).leaning) == [check.id]
    assert update(ws, new.id, add_tags=["net"]).leaning == ()  # no new link
    assert save(ws, "Mails go to Ada.", supersedes=[mails.id]).leaning == ()


@pytest.mark.parametrize(
    ("text", "marks"),
    [("As {} says, clients retry once.", {}), ("[[{}]] holds here, too.", {})],
)
def test_an_entry_that_names_the_replaced_one_leans_on_it(
    ws: Workspace, text: str, marks: dict[str, str]
) -> None:
    old = save(ws, GATEWAY)
    leaning = save(ws, text.format(old.id.partition("-")[2]))
    follows = save(ws, "Its certificate is renewed by hand.", parent=old.id)
    told = save(ws, "The gateway is another one.", supersedes=[old.id])
    assert set(ids(told.leaning)) == {leaning.id, follows.id}


# -- several entries, over MCP
# -------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_batch_names_twelve_at_most_and_says_of_which(
    tmp_path: Path, model: FastEmbedder
) -> None:
    async with Client(build_server(Worker(tmp_path / "home", model))) as client:
        await said(client, "save", entries=[{"content": f"{POOL} {n}."} for n in range(6)])
        texts = [{"content": f"{SMALLER} {n}."} for n in range(4)]
        answer = await said(client, "save", entries=texts)
        saved = re.findall(r"^Saved (\w+)", answer, re.MULTILINE)
        named = re.findall(r"^(\w+) is near (\w+) 20", answer, re.MULTILINE)
        assert [new for new, _ in named] == [saved[0]] * 5 + [saved[1]] * 5 + [saved[2]] * 2
        assert not {old for _, old in named} & set(saved)
        assert 'Does it replace one? context_update id="NEW" supersedes=["ID"]' in answer


def test_a_batch_of_several_days_is_saved_and_a_failure_says_what_is(ws: Workspace) -> None:
    texts: list[tuple[str, Marks]] = [
        ("Monday was wet.", {"at": "2026-03-02 09:00"}),
        ("Tuesday was dry.", {"at": "2026-03-03 09:00"}),
    ]
    assert [one.path for one in save_all(ws, texts)] == ["2026-03-02.md", "2026-03-03.md"]
    (ws.config.journal / "2026-03-05.md").mkdir()  # nobody can write this file
    texts = [
        ("Wednesday was wet.", {"at": "2026-03-04 09:00"}),
        ("Thursday was dry.", {"at": "2026-03-05 09:00"}),
    ]
    with pytest.raises(SynapticError) as failed:
        save_all(ws, texts)
    [saved, *_] = recent(ws).entries
    assert saved.content == "Wednesday was wet."
    assert f"Saved before that: {saved.short_id}." in str(failed.value)


@pytest.mark.anyio
async def test_an_agent_reads_the_call_that_says_so(
    tmp_path: Path, model: FastEmbedder
) -> None:
    async with Client(build_server(Worker(tmp_path / "home", model))) as client:
        old = (await said(client, "save", content=POOL, type="decision")).split()[1]
        long = f"{SMALLER[:-1]}, for the {'very ' * 20}old machine."
        new = await said(client, "save", content=long)
        title = "The pgbouncer pool of the orders database has 40…"
        assert re.search(rf"```near\n{old} 20\S+ {title}\n```\n", new)
        assert f'Does it replace one? context_update id="{new.split()[1]}"' in new
        assert not re.search("replaced|the same|repeat", new)
        told = await said(client, "save", content=SMALLER, options={"format": "json"})
        assert old in [near["id"][9:] for near in json.loads(told)["receipts"][0]["near"]]


REPLACES = {
    "whole": 'context_update id="{}" supersedes=["ID"]',
    "short": 'context_more tool="context_update" arguments={{"id": "{}", "supersedes": ["ID"]}}',
}


@pytest.mark.parametrize("tool_list", REPLACES)
def test_the_question_has_the_form_that_the_client_s_list_of_tools_has(
    home: Home, tool_list: str
) -> None:
    with home.server("--tool-list", tool_list) as server:
        old = server.text("save", content=POOL).split()[1]
        answer = server.text("save", content=SMALLER)
        new = answer.split()[1]
        asked = REPLACES[tool_list].format(new)
        assert f"Does it replace one? {asked}" in answer.splitlines()
        change = {"id": new, "supersedes": [old]}
        more = {"tool": "context_update", "arguments": change}
        sent = more if tool_list == "short" else change
        server.portal.call(server.client.call_tool, asked.split()[0], sent)
    assert home.ask("get", old)["entries"][0]["superseded_by"].endswith(new)


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


@pytest.mark.anyio
async def test_a_save_waits_a_moment_for_the_model_to_say_what_it_is_near(
    tmp_path: Path, late: LateModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "FIRST_CALL_S", 60.0)
    threading.Timer(0.2, late.go.set).start()
    async with Client(build_server(Worker(tmp_path / "home", late))) as client:
        old = (await said(client, "save", content=REWORDED["en"][0])).split()[1]
        new = await said(client, "save", content=REWORDED["en"][1])
        assert new.count(old) == 1  # no word of the two is the same
        assert "Does it replace one?" not in await said(client, "recent")


def test_the_json_of_a_save_says_what_is_near_and_what_may_lean(home: Home) -> None:
    old = home.ask("save", POOL)["id"]
    new = home.ask("save", SMALLER)
    assert [near["id"] for near in new["near"]] == [old]
    assert new["near"][0].keys() == {"id", "date", "type", "title", "is_open"}
    leaning = home.ask("save", f"Nightly checks rely on {old[9:]}.")["id"]
    linked = home.ask("update", new["id"], "--supersedes", old)
    assert [near["id"] for near in linked["leaning"]] == [leaning]
    told = home.run("update", linked["id"], "--append", "It holds.").err
    assert "May lean" not in told
    told = home.run("save", "No pool at all.", "--supersedes", old).err
    assert f"May lean on the replaced one: {leaning[9:]} " in told


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


@pytest.mark.needs(feature="upkeep")
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
        ("supersede", f"near:{last}"),
        ("drop", f"open:{issue}"),
        ("keep", f"nothing:{issue}"),
    ):
        told = home.run("review", *wrong)
        assert told.code == 2 and "Valid: " in told.err
    assert home.run("review", "keep", "open:zzzzzzzz").code == 1


@pytest.mark.needs(feature="upkeep")
def test_a_review_lists_near_pairs_only_if_asked_and_remembers_answers(
    known: Workspace,
) -> None:
    for other in OTHERS:
        save(known, other, at="2026-09-01")
    old = save(known, POOL, type="decision", at="2026-10-01")
    new = save(known, SMALLER, type="progress", at="2026-10-09")
    paid = [
        save(known, f"Paid the dentist: {euros} EUR.", at=day, project="home")
        for euros, day in ((31, "2026-09-02"), (753, "2026-10-02"))
    ]
    assert REVIEW.ask_only(known, (), False) == []
    found = REVIEW.ask_only(known, (), True)
    pairs = [[one.entry.id for one in matter.about] for matter in found]
    assert sorted(pairs) == sorted([[old.id, new.id], [one.id for one in paid]])
    assert found[0].answers[0] == "keep"
    assert [matter.about for matter in REVIEW.ask_only(known, ["home"], True)] == [
        matter.about for matter in found if matter.about[0].entry.id == paid[0].id
    ]
    by_first = {matter.about[0].entry.id: matter.key for matter in found}
    assert ANSWER_FINDING.ask_only(known, by_first[paid[0].id], "keep") is None
    assert ANSWER_FINDING.ask_only(known, by_first[old.id], "same") is not None
    assert REVIEW.ask_only(known, (), True) == []
    assert get(known, [new.id]).entries[0].supersedes == (old.id,)
    update(known, paid[0].id, append="In cash.")  # an edit asks again
    assert [matter.key for matter in REVIEW.ask_only(known, (), True)] == [by_first[paid[0].id]]


@pytest.mark.needs(feature="upkeep")
def test_the_command_lists_near_pairs_of_one_minute(home: Home) -> None:
    now = {"SYNAPTIC_NOW": "2026-11-21T10:00:00"}
    old, new = (home.ask("save", text, **now)["id"][9:] for text in REWORDED["en"])
    assert findings(home) == []
    assert findings(home, "near") == [f"near:{old}:{new}"]
    assert f"Kept near:{old}:{new}" in home.run("review", "keep", f"near:{old}:{new}").out
    assert findings(home, "near") == []


@pytest.mark.needs(feature="upkeep")
@pytest.mark.parametrize("former", ["replaced:{old}:{new}", "repeated:{new}:{old}"])
def test_answers_of_former_reviews_stay(known: Workspace, former: str) -> None:
    old = save(known, POOL, at="2026-10-01")
    new = save(known, SMALLER, at="2026-10-09")
    [matter] = REVIEW.ask_only(known, (), True)
    key = former.format(old=short_id(old.id), new=short_id(new.id))
    hashes = {one.entry.short_id: str(one.hash) for one in matter.about}
    state = ":".join(hashes[id] for id in key.split(":")[1:])
    known.config.state.joinpath("review.json").write_text(json.dumps({key: state}))
    assert REVIEW.ask_only(known, (), True) == []


@pytest.mark.needs(feature="upkeep")
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


@pytest.mark.needs(feature="upkeep")
@pytest.mark.needs(feature="vault")
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
    run = home.ask("undo", "--list")["undoable"][0]["run"]
    assert home.run("undo", run, "--yes").code == 0
