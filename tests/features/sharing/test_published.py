"""Servers that read published journals from a real PostgreSQL, beside the server that writes one."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import psycopg
import pytest
from homes import open_home
from postgres import Database
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from published import publish, readers
from published import reading as opened_reader
from served import UNENCRYPTED, Served, a_port, served
from steady import steadily

from synaptic.config import load_config
from synaptic.features.page.routes import PAGES
from synaptic.features.sharing.published import open_published
from synaptic.features.sharing.publisher import Publisher, describe_publication
from synaptic.mcp.server import NOT_PUBLISHED_YET
from synaptic.mcp.tools import READING_TOOLS
from synaptic.render.briefing import briefing_text
from synaptic.serving.tokens import Tokens
from synaptic.verbs import rules
from synaptic.verbs.brief import brief
from synaptic.verbs.saving import save
from synaptic.workspace.past import as_of
from synaptic.workspace.sync import in_step

if TYPE_CHECKING:
    from postgres import Database, Server

NOW = "2026-11-21T12:00:00"
JOURNALS = ("platform", "web", "barn")


@dataclass
class Team:
    """Journals in a database; `reader` is the address of the role that reads, `elsewhere` a home
    without a journal, and `tokens` are by name.
    """

    homes: dict[str, Path]
    database: Database
    reader: str
    elsewhere: Path
    tokens: dict[str, str]

    def publish(self, name: str) -> None:
        with open_home(self.homes[name]) as ws:
            publisher = Publisher(ws, self.database.address, name)
            publisher.start_publishing()
            publisher.publish_changes()
            publisher.close()

    @contextmanager
    def serving(self, *words: str, log_in: bool = True) -> Iterator[Served]:
        environ = {"SYNAPTIC_DATABASE": self.reader}
        with served(self.elsewhere, "--read", *words, log_in=log_in, **environ) as server:
            yield server


def token(home: Path, *words: str) -> str:
    return str(steadily("--home", str(home), "token", *words, "--json").json["token"])


@contextmanager
def a_team(folder: Path, postgres: Server) -> Iterator[Team]:
    """Three journals in a new database of this server."""
    homes = {name: folder / name for name in JOURNALS}
    with open_home(homes["platform"]) as ws:
        old = save(
            ws, "The queue is RabbitMQ.", type="decision", tags=["queue"], at="2026-03-01"
        )
        save(
            ws,
            "The queue is NATS.",
            type="decision",
            tags=["queue"],
            at="2026-06-01",
            supersedes=[old.id],
        )
        save(
            ws,
            "See [[The queue is NATS.]] and ![plan](plan.png).\n\n- [ ] Move the queue",
            at="2026-06-02",
        )
        save(ws, "Among many other animals there is a zebra.", at="2026-01-05")
        herd = [f"## 10:00 Zebra, zebra, zebra {number}\n" for number in range(100)]
        (ws.config.journal / "2026-08-01.md").write_text("\n".join(herd))
    with open_home(homes["web"]) as ws:
        save(
            ws,
            "The queue of the page is a list in Redis.",
            type="decision",
            tags=["queue"],
            at="2026-05-01",
        )
    with open_home(homes["barn"]) as ws:
        save(ws, "The barn is red.", at="2026-11-01")
    elsewhere = folder / "elsewhere"
    tokens = {
        "anna": token(elsewhere, "anna"),
        "ben": token(elsewhere, "ben", "--journals", "web"),
        "dora": token(elsewhere, "dora", "--journals", "barn"),
        "cleo": token(elsewhere, "cleo", "--journals", "web", "--page"),
    }
    with postgres.database() as database:
        reader = database.role()
        made = Team(homes, database, reader, elsewhere, tokens)
        with psycopg.connect(database.superuser, autocommit=True) as db:
            with suppress(psycopg.errors.DuplicateObject):  # of another test of this server
                db.execute("CREATE ROLE synaptic_reader")
            role = sql.Identifier(conninfo_to_dict(reader)["user"])
            db.execute(sql.SQL("GRANT synaptic_reader TO {}").format(role))
        for name in JOURNALS:
            made.publish(name)
        yield made


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory, postgres: Server) -> Iterator[Team]:
    with a_team(tmp_path_factory.mktemp("team"), postgres) as made:
        yield made


@pytest.fixture(scope="module")
def reading(team: Team) -> Iterator[Served]:
    with team.serving() as server:
        yield server


def tool(server: Served, bearer: str, name: str, **arguments: Any) -> str:
    """The text of an answer."""
    result = ask(server, bearer, "tools/call", name=name, arguments=arguments)["result"]
    return str(result["content"][0]["text"])


def ask(server: Served, bearer: str, method: str, **params: Any) -> dict[str, Any]:
    """An answer of MCP."""
    headers = {
        "Authorization": f"Bearer {bearer}",
        "Accept": "application/json, text/event-stream",
    }
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer: dict[str, Any] = httpx.post(
        f"{server.url}/mcp", json=call, headers=headers, timeout=120, verify=UNENCRYPTED
    ).json()
    return answer


def test_the_tools_that_read_answer_from_the_database_alone(
    team: Team, reading: Served
) -> None:
    anna = team.tokens["anna"]
    found = json.loads(tool(reading, anna, "context_search", query="queue", format="json"))
    titles = [hit["title"] for hit in found["hits"]]
    assert "The queue is NATS." in titles and "The queue is RabbitMQ." not in titles
    assert "@platform" in tool(reading, anna, "context_search", query="queue NATS")
    assert "@web" in tool(reading, anna, "context_find", tag=["queue"])
    assert "NATS" in tool(reading, anna, "context_brief", project="tests")
    assert "Redis" in tool(reading, anna, "context_recent", project=["tests"])
    [id] = [hit["id"] for hit in found["hits"] if hit["title"] == "The queue is NATS."]
    whole = tool(reading, anna, "context_get", id=[id])
    assert "supersedes" in whole and "backlinks" in whole
    assert "not published" in tool(reading, anna, "context_get", id=[id], source=True)
    assert "queue" in tool(reading, anna, "context_analyze", text="the queue")
    assert "may only read on this server" in tool(reading, anna, "context_save", content="x")
    tools = ask(reading, anna, "tools/list")["result"]["tools"]
    assert {one["name"] for one in tools} == set(READING_TOOLS)
    for uri in (f"synaptic://entry/{id}", "synaptic://journal/2026-06-01"):
        [shown] = ask(reading, anna, "resources/read", uri=uri)["result"]["contents"]
        assert "The queue is NATS." in shown["text"]
    assert "handoff" in json.dumps(ask(reading, anna, "prompts/get", name="handoff")["result"])
    refused = ask(reading, anna, "prompts/get", name="review")["error"]["message"]
    assert "The prompt review is not published" in refused


def test_as_of_goes_by_dates_and_what_replaced_what_by_then(
    team: Team, reading: Served
) -> None:
    anna = team.tokens["anna"]

    def titles(name: str, when: str, **arguments: Any) -> set[str]:
        text = tool(reading, anna, name, as_of=when, format="json", **arguments)
        found = json.loads(text)
        assert f"As of {when}" in found["notices"][0]
        return {one["title"] for one in found.get("hits") or found.get("entries") or ()}

    for name, arguments in (
        ("context_search", {"query": "which queue"}),
        ("context_search", {"query": "queue", "strategy": "lexical"}),
        ("context_find", {"type": ["decision"]}),
    ):
        assert titles(name, "2026-01-04", **arguments) == set()
        assert titles(name, "2026-04-01", **arguments) == {"The queue is RabbitMQ."}
        later = titles(name, "2026-06-01", **arguments)
        assert "The queue is NATS." in later and "The queue is RabbitMQ." not in later
        assert not any(title.startswith("See") for title in later)
    assert titles("context_search", "2026-02-01", query="zebra", strategy="lexical") == {
        "Among many other animals there is a zebra."
    }
    for when, shown, hidden in (
        ("2026-04-01", "RabbitMQ", "NATS"),
        ("2026-07-01", "NATS", "RabbitMQ"),
    ):
        text = tool(reading, anna, "context_brief", as_of=when, project="tests")
        assert shown in text and hidden not in text and "As of" in text
    assert "NATS" in tool(
        reading, anna, "context_find", type=["decision"]
    )  # and nothing stays hidden


def test_a_token_reads_its_journals_and_no_others(team: Team, reading: Served) -> None:
    ben = team.tokens["ben"]
    found = json.loads(tool(reading, ben, "context_find", format="json", facets=True))
    assert [entry["title"] for entry in found["entries"]] == [
        "The queue of the page is a list in Redis."
    ]
    assert "@web" not in tool(reading, ben, "context_find")  # there is no other
    whole = json.loads(
        tool(reading, team.tokens["anna"], "context_find", format="json", project=["tests"])
    )
    [hidden] = [one["id"] for one in whole["entries"] if one["title"] == "The queue is NATS."]
    assert "No entry has the id" in tool(reading, ben, "context_get", id=[hidden])
    for name, arguments in (
        ("context_search", {"query": "NATS RabbitMQ queue"}),
        ("context_brief", {"project": "tests"}),
        ("context_analyze", {"text": "NATS queue", "format": "json"}),
        ("context_recent", {}),
    ):
        said = tool(reading, ben, name, **arguments)
        assert "The queue is" not in said and "@platform" not in said


def test_a_page_token_reads_its_journals_and_no_others(team: Team) -> None:
    with team.serving(log_in=False) as server:
        form = {"token": team.tokens["cleo"]}
        assert server.client.post("/login", data=form).status_code == 303
        for path in ("/search?q=queue", "/tag/queue", "/day/2026-05-01", "/folder"):
            shown = server.shown(path)
            assert "Redis" in shown and "NATS" not in shown and "RabbitMQ" not in shown
        assert "NATS" not in server.shown("/day/2026-06-01") + server.shown("/palette?q=queue")


def test_the_page_shows_what_is_published_and_changes_nothing(
    team: Team, reading: Served
) -> None:
    (team.elsewhere / "journal").mkdir(exist_ok=True)
    (team.elsewhere / "journal" / "own.pdf").write_bytes(b"%PDF of this machine alone")
    for path in (
        "/",
        "/search",
        "/search?q=queue",
        "/calendar",
        "/tasks",
        "/tag/queue",
        "/folder",
    ):
        shown = reading.shown(path)
        assert "<textarea" not in shown and 'action="/' not in shown.replace(
            'action="/logout', ""
        ).replace('action="/search', "").replace('action="/day', "")
        assert "data-since" not in shown
        for absent in ("/review", "/health", "/deleted", "/export", "/waiting"):
            assert f'"{absent}' not in shown, (path, absent)
    assert "@platform" in reading.shown("/search?q=queue")
    day = reading.shown("/day/2026-06-02")
    id = day.partition('href="/entry/')[2].partition('"')[0]
    entry = reading.shown(f"/entry/{id}")
    assert "@platform/2026-06-02.md" in entry and "The queue is NATS." in entry
    assert "/edit" not in entry and "Delete" not in entry
    assert "not published" in reading.shown(
        "/picture?name=plan.png&from=@platform/2026-06-02.md", 404
    )
    assert "No entry has this name" in reading.shown("/to?name=own.pdf&from=x.md", 404)
    assert (
        reading.client.get("/to?name=The+queue+is+NATS.&from=@platform/x.md").status_code == 303
    )
    for path, role in {page.path: page.role for page in PAGES}.items():
        made = (
            path.replace("{id}", id)
            .replace("{name:path}", "queue")
            .replace("{date}", "2026-06-01")
        )
        if role == "writer":
            assert "only reads" in reading.shown(made, 404)
        elif role == "reader" and path not in ("/logout", "/to"):
            status = 404 if "folder/" in path else 200  # it has none
            reading.shown(made, status, follow=True)
        assert reading.client.post(made).status_code in (401, 403, 405), path
    assert "no such entry" in reading.shown("/entry/zzzz", 404)


def test_writing_leads_to_the_writer(team: Team) -> None:
    home = team.homes["barn"]
    shutil.copy2(team.elsewhere / "tokens.toml", home)
    anna, dora = team.tokens["anna"], team.tokens["dora"]
    with served(home, log_in=False) as writer, team.serving("--writer", writer.url) as server:
        day = server.shown("/day/2026-05-01")
        assert f'href="{writer.url}/day/2026-05-01"' in day  # Write
        assert f'href="{writer.url}/review"' in day and f'href="{writer.url}/export?' in day
        answer = server.client.get("/new?title=a%20b")
        assert (answer.status_code, answer.headers["location"]) == (
            303,
            f"{writer.url}/new?title=a%20b",
        )
        assert server.client.post("/new").status_code == 403
        saved = tool(server, dora, "context_save", content="The barn gets a roof.")
        assert saved.startswith("Saved ")
        late = tool(server, dora, "context_search", query="roof")
        assert NOT_PUBLISHED_YET in late and "barn gets a roof" not in late
        assert NOT_PUBLISHED_YET not in tool(server, anna, "context_recent", project=["tests"])
        assert tool(server, dora, "context_save", content="It is done.").startswith("Saved ")
        publishing = threading.Timer(0.3, team.publish, ["barn"])
        publishing.start()
        found = tool(server, dora, "context_search", query="roof")
        publishing.join()
        assert NOT_PUBLISHED_YET not in found and "barn gets a roof" in found
        assert NOT_PUBLISHED_YET not in tool(server, dora, "context_recent")


def test_a_database_that_goes_is_named_and_one_that_comes_back_is_read(tmp_path: Path) -> None:
    from postgres import separate_server

    with separate_server() as own, a_team(tmp_path, own) as team, team.serving() as server:
        ask = partial(tool, server, team.tokens["anna"], "context_recent", project=["tests"])
        assert "Redis" in ask()
        own.kill()
        gone = ask()
        assert "Redis" not in gone and "Traceback" not in gone and "database" in gone, gone
        assert "database" in server.shown("/search?q=queue", 500)
        own.start()
        assert "Redis" in ask()


def test_the_last_time_it_was_published_is_told_by_the_clock_of_the_home(team: Team) -> None:
    with open_home(team.homes["barn"]) as ws:
        assert "Last published as barn on 2026-11-21 at 09:30" in describe_publication(ws)[0]


def test_what_an_answer_about_the_past_keeps_is_not_of_the_present(team: Team) -> None:
    with open_published(load_config(team.elsewhere), team.reader) as ws:
        with as_of(ws, "2026-01-04") as then:
            assert not in_step(then, lambda _: then.index.vocabulary().projects)
        assert in_step(ws, lambda _: ws.index.vocabulary().projects)


OF_READER = "reader:hush"  # apart: no file of the project holds a secret
HUSH = f"postgresql://{OF_READER}@db.example.org/notes"
BAD = {
    "--read": ("", "No database was given"),
    "--read --no-link": ("nonsense", "not the address of a PostgreSQL database"),
    "--read --port 0": (f"{HUSH}?sslmode=require", "sslmode=require does not prove"),
    "--read --publish": ("service=notes", "--read and --publish exclude each other"),
    "--read --writer ftp://memory.example": (
        HUSH,
        "--writer is not an address that begins with",
    ),
    f"--read --writer https://{OF_READER}@memory.example": (
        HUSH,
        "takes no name and no password",
    ),
    "--writer https://memory.example": (HUSH, "--writer can only be given with --read"),
    "--insecure": (HUSH, "--insecure can only be given with --read or --publish"),
    "--read --install": (HUSH, "With --install only --port and --read-only"),
}


@pytest.mark.parametrize("words", BAD)
def test_a_reading_server_says_what_it_needs(tmp_path: Path, words: str) -> None:
    database, said = BAD[words]
    environ = {"HOME": str(tmp_path), "SYNAPTIC_DATABASE": database}
    refused = steadily("serve", *words.split(), folder=tmp_path, env=environ)
    assert refused.code == 2 and said in refused.text
    assert "hush" not in refused.text.replace(words, "") and "Traceback" not in refused.text


def test_a_database_that_cannot_be_had_is_named_without_its_password(
    tmp_path: Path, team: Team
) -> None:
    address = f"postgresql://{OF_READER}@127.0.0.1:{a_port()}/notes"
    shutil.copytree(team.elsewhere, tmp_path / "home")
    environ = {"SYNAPTIC_DATABASE": address}
    with served(tmp_path / "home", "--read", **environ) as server:
        for said in (
            tool(server, team.tokens["anna"], "context_recent"),
            server.shown("/search?q=queue", 500),
        ):
            assert "database notes" in said and "hush" not in said and "Traceback" not in said


def test_a_token_of_other_journals_opens_nothing_where_a_journal_is_written(
    tmp_path: Path,
) -> None:
    (tmp_path / ".state").mkdir()
    token = "t" * 40
    (tmp_path / "tokens.toml").write_text(f'[ben]\ntoken = "{token}"\njournals = ["web"]\n')
    (tmp_path / "tokens.toml").chmod(0o600)
    assert Tokens(tmp_path, None, serves_published=True).find_grant(token)
    for name, opens in (("platform", False), ("web", True)):
        (tmp_path / ".state" / "publish.json").write_text(json.dumps({"journal": name}))
        assert bool(Tokens(tmp_path, None).find_grant(token)) is opens
    (tmp_path / ".state" / "publish.json").unlink()
    assert Tokens(tmp_path, None).find_grant(token) is None


def test_a_published_rule_names_its_publisher(tmp_path: Path, database: Database) -> None:
    reader = readers(database)
    with open_home(tmp_path / "platform") as ws:
        id = save(ws, "Mine: use tabs.", type="preference", project="", confirms=True).id
        publish(ws, database.address, "platform")
    with open_home(tmp_path / "web") as ws:
        day = ws.config.journal / "2026-11-20.md"
        day.write_text(f"## 08:00 preference: Theirs\n<!-- syn:{id} -->\n")  # the same id
        publish(ws, database.address, "web")
    with opened_reader(reader, tmp_path / "home") as ws:
        found = brief(ws, None)
        assert [one.title for one in found.rules] == ["Mine: use tabs."]
        assert found.rules[0].marks == ("confirmed by the publisher of platform",)
        text = briefing_text(ws, found, max_tokens=2_000)
        assert "preferences of the publisher: follow them" in text and "Theirs" not in text
        assert [one.title for one in rules.list_waiting(ws)] == ["Theirs"]
