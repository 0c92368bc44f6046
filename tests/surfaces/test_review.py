"""What a save is told to be near, what `review` lists, and what `status --use` counts, from outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from forks import ForkedHome as Home
from homes import Clock, open_home
from mcp import Client, types

from synaptic import Workspace, save, update
from synaptic.index.embedding import FastEmbedder
from synaptic.surfaces.mcp.server import build_server


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


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


# -- the receipt ------------------------------------------------------------------------------------------


POOL = "The pgbouncer pool of the orders database has 40 connections."


def test_a_save_names_what_it_seems_to_replace(known: Workspace) -> None:
    old = save(known, POOL, type="decision")
    for other in ("Invoices are numbered by year.", "The logo is blue now.", "Support answers within a day."):
        assert save(known, other, type="decision").near == ()
    assert save(known, "The pgbouncer pool of the orders database was raised today.", type="progress").near == ()
    new = "The pgbouncer pool of the orders database has 25 connections now."
    assert save(known, new, type="decision", project="elsewhere").near == ()
    assert [near.id for near in save(known, new, type="decision").near] == [old.id]
    told = save(known, new + " 40 were too many.", type="decision", supersedes=[old.id])
    assert told.near == ()


def test_a_save_names_the_open_issue_that_it_seems_to_settle(known: Workspace) -> None:
    issue = save(known, "The nightly backup fails when the disk is full.", type="issue")
    save(known, "Invoices are numbered by year.", type="issue")
    (near,) = save(known, "The nightly backup does not fail any more when the disk is full.", type="progress").near
    assert (near.id, near.settled) == (issue.id, True)
    update(known, issue.id, add_tags=["done"])
    assert save(known, "The nightly backup survives it when the disk is full.", type="progress").near == ()


@pytest.mark.anyio
async def test_an_agent_reads_the_call_that_says_so(tmp_path: Path, model: FastEmbedder) -> None:
    async with Client(build_server(tmp_path / "home", embedder=model)) as client:
        old = (await said(client, "save", content=POOL, type="decision")).split()[1]
        new = await said(client, "save", content=POOL.replace("has 40", "now has 25"), type="decision")
        assert f" decision: {POOL}" in new
        assert f'Looks replaced? context_update id="{new.split()[1]}" supersedes=["{old}"]' in new


# -- entries that expire ------------------------------------------------------------------------------------


def test_an_entry_that_has_expired_stands_behind_what_fits_and_is_never_hidden(home: Home) -> None:
    day = {"SYNAPTIC_NOW": "2026-11-21T10:00:00"}
    later = {"SYNAPTIC_NOW": "2026-12-05T10:00:00"}
    text = "The staging deploy freeze holds back the staging release."
    other = home.ask("save", "A staging deploy takes nine minutes since the release.", **day)["id"]
    freeze = home.ask("save", text, "--expires", "next friday", **day)["id"]
    asked = ("search", "what about the staging deploy freeze")
    assert [hit["id"] for hit in home.ask(*asked, **day)["hits"]] == [freeze, other]
    found = home.ask(*asked, **later)["hits"]
    assert [hit["id"] for hit in found] == [other, freeze] and found[1]["expires"] == "2026-11-27"
    assert home.ask("search", "what holds back freeze", **later)["hits"][0]["id"] == freeze
    assert "expired 2026-11-27" in home.run("recent", **later).out
    assert "expired" not in home.run("recent", SYNAPTIC_NOW="2026-11-27T23:00:00").out
    told = home.run("update", freeze, "--expires", "yesterday", **later)
    assert told.code == 0 and "It has expired already, on 2026-12-04." in told.err
    assert home.run("update", freeze, "--expires", "soon", **later).code == 2
    home.ask("update", freeze, "--expires", "", **later)
    assert [hit["id"] for hit in home.ask(*asked, **later)["hits"]] == [freeze, other]
    assert "expires" not in home.run("get", freeze, **later).out
