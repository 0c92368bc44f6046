"""What other programs' memories become: what the programs wrote themselves
(tests/data/memories), and damaged ones.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from forks import ForkedHome as Home

from synaptic.errors import InvalidArgument
from synaptic.features.importing.readers.record import Record, find_reader

DATA = Path(__file__).parents[2] / "data" / "memories"
SOURCES = (
    "claude-code-memory",
    "server-memory",
    "basic-memory",
    "claude-mem",
    "mcp-memory-service",
    "openclaw",
)


class Read:
    """What a reader yields of a place: records by title, and what it skips."""

    def __init__(self, source: str, path: Path) -> None:
        self.skipped: list[tuple[str, str]] = []
        self.all = list(
            find_reader(source).read(path, lambda where, why: self.skipped.append((where, why)))
        )
        assert len({record.key for record in self.all}) == len(self.all)

    def __getitem__(self, title: str) -> Record:
        (record,) = (record for record in self.all if record.title == title)
        return record


def database(path: Path, sql: str) -> Path:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(sql)
    return path


def found(source: str, home: Path, environ: Mapping[str, str] = {}) -> list[Path]:
    return find_reader(source).find(home, environ)


def put(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_an_entity_of_server_memory_is_an_entry_with_its_relations_as_links() -> None:
    read = Read("server-memory", DATA / "server-memory.jsonl")
    assert read["Ledger"].text == (
        "- Double-entry bookkeeping in Rust\n- Amounts are integers of the smallest unit\n"
        "- Rounds half to even (#money)\n\n- stores_data_in [[Postgres 17]]"
    )
    assert read["Ledger"].tags == ("project",)
    assert read["Ada"].text.endswith("- maintains [[Ledger]]")
    assert read["Postgres 17"].text == "Postgres 17"
    assert not read.skipped


def test_damaged_lines_of_server_memory_are_named_and_what_forks_write_is_read(
    tmp_path: Path,
) -> None:
    lines = [
        {"type": "entity", "name": "Ada", "observations": [{"content": "likes tea"}]},
        {
            "type": "entity",
            "name": "Bo",
            "entityType": "Decision",
            "observations": ["a sentence"],
        },
        {
            "type": "entity",
            "name": "Bo",
            "entityType": "2026",
            "observations": ["two\nlines", "a sentence"],
        },
        {"type": "relation", "from": "Ada", "to": "Bo", "relationType": "knows"},
        {"type": "relation", "from": "Ada", "to": "Bo", "relationType": "knows"},
        {"type": "relation", "from": "Nobody's", "to": "Bo"},
        {"type": "hologram", "name": "x"},
        ["no object"],
    ]
    bad = b'\n{"type":"entity","name":"\xff"}\n\n{"type":"entity","na'
    path = put(
        tmp_path / "memory.jsonl", b"\n".join(json.dumps(line).encode() for line in lines) + bad
    )
    read = Read("server-memory", tmp_path)
    assert [where.removeprefix(f"{path}:") for where, _ in read.skipped] == [
        "7",
        "8",
        "9",
        "11",
    ]
    assert read["Ada"].text == "- likes tea\n\n- knows [[Bo]]"
    assert read["Bo"].text == "- a sentence\n- two\n  lines"
    assert (read["Bo"].type, read["Bo"].tags) == ("decision", ("tag-2026",))
    assert read["Nobody's"].text == "- relates_to [[Bo]]"


def test_whole_objects_on_a_damaged_line_of_server_memory_are_read(tmp_path: Path) -> None:
    def entity(name: str, *observations: object) -> str:
        return json.dumps({"type": "entity", "name": name, "observations": observations})

    relation = '{"type":"relation","from":"Kiln","to":"Glaze","relationType":"melts"}'
    lines = [
        entity("Kiln", "fires at 1,240 C") + entity("Glaze"),
        entity("Clay", {"content": 'says {"type":"entity"}'}) + relation + "\0\0",
        '{"type":"relation","from":"Kiln","to":"Gla' + entity("Wheel", "turns"),
        entity("Sieve") + '{"type":"entity","name":"Bat',
        '{"type":"entity"} , ' + entity("Ware") + " behind it",
        '{"type":"entity","na' + relation[5:] + entity("Cone"),
    ]
    path = put(tmp_path / "memory.jsonl", "\n".join(lines) + "\n")
    read = Read("server-memory", path)
    assert {record.key for record in read.all} == {
        "Kiln", "Glaze", "Clay", "Wheel", "Sieve", "Ware", "Cone",
    }  # fmt: skip
    assert read["Kiln"].text == "- fires at 1,240 C\n\n- melts [[Glaze]]"
    assert read["Clay"].text == '- says {"type":"entity"}'
    places = [where.removeprefix(f"{path}:") for where, _ in read.skipped]
    assert places == ["3", "4", "5", "5", "6"]


def test_the_notes_of_basic_memory_keep_observations_and_relations() -> None:
    read = Read("basic-memory", DATA / "basic-memory")
    methods, origins = read["Coffee Brewing Methods"], read["Coffee Bean Origins"]
    assert methods.tags == ("coffee", "brewing")
    assert (
        "- [method] Pour over brings out more of the flavour #brewing (since May)\n"
        in methods.text
    )
    assert "- relates_to [[Coffee Bean Origins]]\n" in methods.text
    assert methods.text.endswith("\n\npermalink:: main/coffee/coffee-brewing-methods")
    assert origins.tags == ("guide",)
    assert "- [decision] We buy washed Yirgacheffe from now on #beans" in origins.text


def test_claude_mem_gives_observations_and_hand_offs(tmp_path: Path) -> None:
    database(tmp_path / "claude-mem.db", (DATA / "claude-mem.sql").read_text())
    read = Read("claude-mem", tmp_path)
    fixed, decision = (
        read["Totals differed by a cent"],
        read["Amounts are integers of the smallest unit"],
    )
    assert (fixed.type, fixed.tags) == ("progress", ("bugfix", "problem-solution", "gotcha"))
    assert (fixed.at, fixed.project) == (datetime(2026, 11, 20, 23, 30, tzinfo=UTC), "ledger")
    assert fixed.files == ("src/report.rs",)
    assert fixed.text == (
        "Each line was rounded before the sum\n\nThe report rounded each line. It now sums "
        "integers and rounds once."
        "\n\n- round_half_even() is called once, on the sum\n- Test: tests/rounding.rs\n\n"
        "files_read:: src/report.rs, src/money.rs"
    )
    assert (decision.type, decision.tags) == ("decision", ("why-it-exists",))
    (summary,) = (record for record in read.all if record.type == "handoff")
    assert summary.text.startswith(
        "Find why the totals differ by a cent\n\n**Investigated:** src/report.rs"
    )
    assert "**Next steps:** Round tax the same way" in summary.text
    assert len(read.all) == 3


def test_an_older_claude_mem_database_lacks_columns_and_holds_an_observation_twice(
    tmp_path: Path,
) -> None:
    path = database(
        tmp_path / "old.db",
        "CREATE TABLE observations (id INTEGER, project TEXT, text TEXT, type TEXT, "
        "created_at TEXT);"
        "INSERT INTO observations VALUES (1, 'p', 'The port is 8080.', 'discovery', "
        "'2025-08-01T10:00:00.000Z'),"
        "(2, 'p', 'The port is 8080.', 'discovery', '2025-08-01T10:05:00.000Z'),"
        "(3, 'p', NULL, 'change', '2025-08-02'), (4, 'p', 'Never dated.', 'change', 'someday'),"
        "(5, 'p', CAST(x'ff41' AS TEXT), 'change', '2025-08-02T12:00:00');",
    )
    read = Read("claude-mem", path)
    assert [(record.text, record.type) for record in read.all] == [
        ("The port is 8080.", "insight"),
        ("\ufffdA", "progress"),
    ]
    assert read.all[1].at == datetime(2025, 8, 2, 12, tzinfo=UTC)
    assert [where.partition(": ")[2] for where, _ in read.skipped] == [
        "observations-3",
        "observations-4",
    ]


def test_mcp_memory_service_gives_what_was_not_deleted_with_its_graph_as_links(
    tmp_path: Path,
) -> None:
    database(tmp_path / "sqlite_vec.db", (DATA / "mcp-memory-service.sql").read_text())
    read = Read("mcp-memory-service", tmp_path)
    branch, reviews = (
        read["We deploy from the release branch only."],
        read["A release needs two reviews."],
    )
    assert (branch.type, branch.tags) == ("decision", ("deploy", "proj-ledger"))
    assert branch.text == "We deploy from the release branch only.\n\nsource:: planning"
    assert branch.at == datetime(2026, 11, 21, 23, 33, 20, 250000, tzinfo=UTC)
    assert (reviews.type, reviews.tags) == ("insight", ("learning", "deploy", "tag-2026"))
    assert "\n- supports [[We deploy from the release branch only.]]\n" in reviews.text
    assert len(read.all) == 2


def test_an_older_mcp_memory_service_database_has_no_graph_and_no_deletions(
    tmp_path: Path,
) -> None:
    path = database(
        tmp_path / "old.db",
        "CREATE TABLE memories (content_hash, content, tags, memory_type, metadata, "
        "created_at_iso);"
        "INSERT INTO memories VALUES"
        "('a', 'Use just.', '[\"build tools\", \"\"]', 'error', '{torn', "
        "'2025-01-02T03:04:05'),"
        "('b', '', '', NULL, NULL, '2025-01-02');",
    )
    read = Read("mcp-memory-service", path)
    assert [(one.text, one.tags, one.type) for one in read.all] == [
        ("Use just.", ("error", "build-tools"), "issue")
    ]
    assert read.all[0].at == datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert read.skipped == [(f"{path}: b", "it has no text")]


def test_a_memory_is_dated_by_its_front_matter_its_name_or_its_file(tmp_path: Path) -> None:
    put(tmp_path / "a.md", "---\ntitle: A\ncreated: 1772638200000\n---\nTides.\n")
    put(tmp_path / "2026-03-05 B.md", "Ebb.\n")
    put(tmp_path / "c.md", "+++\ntitle = 'C'\ndate = 2026-03-06\n+++\nFlood.\n")
    read = Read("claude-code-memory", tmp_path)
    days = {title: read[title].at.date().isoformat() for title in ("A", "2026-03-05 B", "C")}
    assert list(days.values()) == ["2026-03-04", "2026-03-05", "2026-03-06"]


def test_claude_codes_notes_are_of_the_folder_that_their_folder_is_named_by(
    tmp_path: Path,
) -> None:
    projects = tmp_path / ".claude" / "projects"
    here = tmp_path / "src" / "my-ledger"
    put(here / "CLAUDE.md", "# CLAUDE.md\n\nUse just.\n")
    there = (
        projects / str(here).replace("/", "-").replace("_", "-").replace(".", "-") / "memory"
    )
    put(
        there / "feedback.md",
        "---\nname: no-mocks\ndescription: Use a database\nmetadata: \n  node_type: "
        "memory\n  type: feedback\n"
        "  modified: 2026-07-30T07:40:18.191Z\n---\nNo mocks.\n",
    )
    put(
        there / "torn.md",
        "---\nname: no YAML\ndescription: this: is none\ntype: user\n---\nLikes tea.\n",
    )
    put(there / "MEMORY.md", "# Memory\n\n- [No mocks](feedback.md) — a real database\n")
    gone = projects / "-srv-old-app"
    put(gone / "memory" / "MEMORY.md", "# What we know\n\n- The port is 8080\n")
    put(
        projects / "-nowhere-shop" / "memory" / "tax.md",
        b"---\ntype: reference\n---\n\xef\xbb\xbfTax is 7 %.\r\n",
    )
    put(projects / "-nowhere-shop" / "memory" / "bad.md", b"\xff\xfe\x00")
    places = found("claude-code-memory", tmp_path)
    assert places == sorted([there, gone / "memory", projects / "-nowhere-shop" / "memory"])
    read = {place: Read("claude-code-memory", place) for place in places}
    note = read[there]["no-mocks"]
    assert (note.folder, note.tags) == (str(here), ("feedback",))
    assert note.at == datetime(2026, 7, 30, 7, 40, 18, 191000, tzinfo=UTC)
    assert note.text == (
        "No mocks.\n\ndescription:: Use a database\nnode_type:: memory\ntype:: feedback"
    )
    torn = read[there]["no YAML"]
    assert (torn.tags, "this: is none" in torn.text, "Likes tea." in torn.text) == (
        ("user",),
        True,
        True,
    )
    assert [where for where, _ in read[there].skipped] == [str(there / "MEMORY.md")]
    known = read[gone / "memory"]["What we know"]
    assert (known.project, known.folder, known.text) == (None, None, "- The port is 8080")
    tax = read[projects / "-nowhere-shop" / "memory"]["tax"]
    assert (tax.project, tax.folder, tax.type) == (None, None, "reference")
    assert len(read[projects / "-nowhere-shop" / "memory"].skipped) == 1
    rules = Read("claude-code-memory", here / "CLAUDE.md")["CLAUDE.md of my-ledger"]
    assert (rules.type, rules.folder, rules.text) == ("reference", str(here), "Use just.")


def test_the_days_of_openclaw_are_days(tmp_path: Path) -> None:
    work = tmp_path / ".openclaw" / "workspace"
    put(work / "MEMORY.md", "# Long-term\n\n- Ada prefers tea\n")
    put(work / "SOUL.md", "# Who you are\n")
    put(work / "memory" / "2026-11-21.md", "# 2026-11-21\n\n## Call\n\nThey want 3 %.\n")
    put(work / "memory" / "2026-11-19-vendor-pitch.md", "Pitch at noon.\n")
    put(
        work / "memory" / "2026-11-20-1430.md",
        "# Session: 2026-11-20 14:30:00 America/New_York\n\n- **Source**: telegram\n",
    )
    put(work / "memory" / ".dreams" / "state.md", "no memory")
    put(work / "memory" / "2026-13-45.md", "No such day.\n")
    put(work / "skills" / "tea.md", b"\xff")
    put(
        work / "DREAMS.md",
        "# Dream Diary\n\n<!-- openclaw:dreaming:diary:start -->\nTea again.\n",
    )
    os.utime(work / "MEMORY.md", (1.7e9, 1.7e9))
    assert found("openclaw", tmp_path) == [work]
    read = Read("openclaw", work)
    assert {record.title: record.text for record in read.all} == {
        "Long-term": "- Ada prefers tea",
        "2026-11-21": "## Call\n\nThey want 3 %.",
        "2026-11-19-vendor-pitch": "Pitch at noon.",
        "Session: 2026-11-20 14:30:00 America/New_York": "- **Source**: telegram",
        "Dream Diary": "Tea again.",
        "2026-13-45": "No such day.",
    }
    assert not read.skipped
    assert read["2026-11-21"].at == datetime(2026, 11, 21)
    assert read["2026-11-19-vendor-pitch"].at == datetime(2026, 11, 19)
    session = read["Session: 2026-11-20 14:30:00 America/New_York"]
    assert session.at == datetime(2026, 11, 20, 14, 30)
    assert read["Long-term"].at.timestamp() == 1.7e9


def test_places_are_found_where_the_environment_names_them(tmp_path: Path) -> None:
    graph = put(tmp_path / "elsewhere" / "graph.jsonl", "")
    env = {"MEMORY_FILE_PATH": "~/elsewhere/graph.jsonl", "MCP_MEMORY_SQLITE_PATH": "~/none.db"}
    mem = put(tmp_path / "data" / "claude-mem.db", "")
    coffee = put(tmp_path / "coffee" / "a.md", "a").parent
    put(
        tmp_path / ".basic-memory" / "config.json",
        json.dumps({"projects": {"main": {"path": str(coffee)}, "x": "/none"}}),
    )
    assert found("server-memory", tmp_path, env) == [graph]
    assert Read("server-memory", graph).all == []
    assert found("claude-mem", tmp_path, {"CLAUDE_MEM_DATA_DIR": str(mem.parent)}) == [
        mem.parent
    ]
    assert found("basic-memory", tmp_path) == [coffee]
    assert [found(source, tmp_path / "nobody") for source in SOURCES] == [[]] * len(SOURCES)


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_not_of_the_program_is_refused_with_the_next_step(
    source: str, tmp_path: Path
) -> None:
    stranger = database(
        tmp_path / "photos.db",
        "CREATE TABLE memories (id INTEGER, picture BLOB); CREATE TABLE observations (a);",
    )
    (tmp_path / "empty").mkdir()
    paths = [tmp_path / "empty", put(tmp_path / "letter.txt", "Dear Ada"), stranger]
    for path in (
        paths if source == "server-memory" else [*paths, put(tmp_path / "empty.db", "")]
    ):
        with pytest.raises(InvalidArgument, match=str(path)) as refused:
            Read(source, path)
        assert refused.value.hint.startswith("Give ")


def test_imported_memories_link_to_each_other_are_searched_and_follow_their_source(
    home: Home, tmp_path: Path
) -> None:
    graph = put(tmp_path / "memory.jsonl", (DATA / "server-memory.jsonl").read_bytes())
    database(tmp_path / "sqlite_vec.db", (DATA / "mcp-memory-service.sql").read_text())
    database(tmp_path / "claude-mem.db", (DATA / "claude-mem.sql").read_text())
    places = {"server-memory": graph, "basic-memory": DATA / "basic-memory"}
    places |= {"mcp-memory-service": tmp_path / "sqlite_vec.db", "claude-mem": tmp_path}
    assert [
        home.ask("import", "--yes", source, str(place))["new"]
        for source, place in places.items()
    ] == [3, 2, 2, 3]
    assert [
        home.ask("import", "--yes", source, str(place))["new"]
        for source, place in places.items()
    ] == [0] * 4
    linked = home.ask("links", "Ledger")
    assert [link["title"] for link in linked["links"]] == ["Postgres 17"]
    [backlink] = linked["backlinks"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d > Ada", backlink["title"])
    assert [
        link["title"]
        for link in home.ask("links", "We deploy from the release branch only.")["backlinks"]
    ] == ["2026-11-22 > A release needs two reviews."]
    hits = home.ask("search", "washed beans", "--strategy", "lexical")["hits"]
    assert hits[0]["title"] == "Coffee Bean Origins"
    graph.write_text(
        graph.read_text().replace("Reviews every migration", "Reviews every release")
    )
    assert home.ask("import", "--yes", "server-memory", str(graph))["grown"] == 1
    hits = home.ask("search", "reviews every release", "--strategy", "lexical")["hits"]
    assert hits[0]["title"] == "Ada" and "release" in hits[0]["content"]
