"""However long or deep a question is, it is answered or refused, and the index stays as it is."""

from __future__ import annotations

import base64
import contextlib
import json
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import apsw
import pytest
from forks import Forks
from homes import open_home
from outside import Home, Refusal, Server
from steady import SteadyHome

from synaptic import Filters, SynapticError, Workspace, find, save, search
from synaptic.filters import MAX_VALUES
from synaptic.language.query import MAX_PHRASES, MAX_QUERY, build_filters
from synaptic.search.plan import MAX_TERMS
from synaptic.serving.arguments import build_preference

pytestmark = pytest.mark.fault(row=10)

WORDS = "kingfisher report"
PASTED = json.dumps({f"key {number}": f"value {number}" for number in range(700)})
assert len(PASTED) > 13_000


def many(form: str, count: int) -> str:
    return " ".join(form.format(number) for number in range(count))


QUERIES: dict[str, tuple[str, str]] = {
    # name: (query, what a notice says)
    "a pasted JSON": (PASTED, f"{MAX_QUERY:,} characters"),
    "file filters": (f"{WORDS} {many('file:src/{}.py', 250)}", f"first {MAX_VALUES} `file:`"),
    "tag filters": (f"{WORDS} {many('tag:t{}', 300)}", f"first {MAX_VALUES} `tag:`"),
    "project filters": (
        f"{WORDS} project:tests {many('project:{}', 300)}",
        f"first {MAX_VALUES} `project:`",
    ),
    "dates": (f"{WORDS} {many('since:2026-01-{:02d}', 28)}", "first 8 `since:`"),
    "no dates": (f"{WORDS} {many('since:abc{}', 500)}", "first 8 `since:`"),
    "no filters": (
        f"{WORDS} "
        f"{' '.join(map('{0[0]}{0[1]}{0[2]}:open'.format, product('abcdefgh', repeat=3)))}",
        "more notices",
    ),
    "phrases": (many('"kingfisher report {}"', 1_000), f"first {MAX_PHRASES} phrases"),
    "a long phrase": (f'"{many("kingfisher {}", 6_000)}"', f"{MAX_QUERY:,} characters"),
    "words": (f"{WORDS} {many('w{}', 17_000)}", f"{MAX_TERMS} rarest words"),
    "one word": ("k" * 100_000, f"{MAX_QUERY:,} characters"),
    "100 KB": (f"{WORDS} " * 5_600, f"{MAX_QUERY:,} characters"),
    "quotes": ('"' * 100_000, f"{MAX_QUERY:,} characters"),
    "brackets": ("(" * 100_000 + WORDS, f"{MAX_QUERY:,} characters"),
    "signs of FTS5": (f"{WORDS} " + "NEAR( AND NOT * ^ own : " * 400, ""),
    "Chinese": ("会议" * 30_000, f"{MAX_QUERY:,} characters"),
}


@pytest.fixture(scope="module")
def known(
    tmp_path_factory: pytest.TempPathFactory, forks: Forks
) -> Iterator[tuple[Home, Server]]:
    """A home of a few entries, some of which were read, under a server."""
    folder = tmp_path_factory.mktemp("queries")
    home = SteadyHome(folder / "home", {"HOME": str(folder)}, forks)
    with home.server() as server:
        for number in range(3):
            id = server.call(
                "save",
                content=f"A {WORDS} {number}",
                tags=[f"t{number}"],
                files=[f"src/{number}.py"],
            )["id"]
            server.call("get", ids=[id])
        server.call("save", content=f"```json\n{PASTED}\n```\n\n# 会议")
        assert home.ask("find")["total"] == 4
        yield home, server


@contextlib.contextmanager
def as_it_was(index: Path) -> Iterator[None]:
    """The same file holds the same counts of readings afterwards."""
    with index.open("rb") as held:  # so that no other file gets its inode
        before = counts(index)
        assert before
        yield
        assert os.fstat(held.fileno()).st_ino == index.stat().st_ino
        assert dict(counts(index), **before) == counts(index)


def counts(index: Path) -> dict[str, int]:
    with contextlib.closing(apsw.Connection(str(index))) as db:
        return dict(db.execute("SELECT id, 1 FROM access WHERE count > 0").fetchall())


@pytest.mark.sweep
@pytest.mark.parametrize("name", QUERIES)
def test_a_query_of_any_size_is_answered(known: tuple[Home, Server], name: str) -> None:
    home, server = known
    query, said = QUERIES[name]
    with as_it_was(home.index):
        for answer in (
            home.ask("search", query.encode()[:100_000].decode("utf-8", "ignore")),
            server.call("search", query=query),
        ):
            assert any(said in notice for notice in answer["notices"]) or not said, answer[
                "notices"
            ]
            assert sum(map(len, answer["notices"])) < 3_000
            assert answer["hits"], answer
        assert server.call("search", query=WORDS, strategy="lexical")["total"] >= 3


def test_what_was_pasted_finds_the_entry_that_holds_it(known: tuple[Home, Server]) -> None:
    home, server = known
    assert server.call("search", query=PASTED)["total"] == 1
    assert home.ask("search", PASTED)["total"] == 1


PARAMETERS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    # name: (tool, what it is asked, what the command is asked)
    "tags": ("find", {"tags": [f"t{n}" for n in range(2_000)]}, ("--tag", "t{}")),
    "files": (
        "search",
        {"query": WORDS, "file": [f"src/{n}.py" for n in range(2_000)]},
        ("--file", "src/{}.py"),
    ),
    "projects": ("find", {"project": [f"p{n}" for n in range(40_000)]}, ("--project", "p{}")),
    "a long tag": ("find", {"tags": ["t" * 100_000]}, ()),
    "preferred tags": (
        "search",
        {"query": WORDS, "prefer": {"tags": [f"t{n}" for n in range(2_000)]}},
        (),
    ),
    "sub-queries": (
        "search",
        {"query": WORDS, "sub_queries": [f"report {n}" for n in range(500)]},
        (),
    ),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_beyond_its_bound_is_an_error_that_names_it(
    known: tuple[Home, Server], name: str
) -> None:
    home, server = known
    tool, arguments, flag = PARAMETERS[name]
    with as_it_was(home.index):
        with pytest.raises(
            Refusal, match=r"(values|characters)\. Valid: up to 1[0-9,]+ (values|characters)"
        ):
            server.call(tool, **arguments)
        if flag:
            given = [part for n in range(300) for part in (flag[0], flag[1].format(n))]
            answer = home.run(
                tool, *([arguments["query"]] if "query" in arguments else []), *given, "--json"
            )
            assert answer.code != 0 and "up to 100 values" in answer.json["error"]["valid"], (
                answer
            )


def test_values_up_to_the_bound_all_count(ws: Workspace) -> None:
    ids = {
        save(ws, f"{WORDS} {n}", tags=[f"t{n}/x"], files=[f"src/{n}.py"], project=f"p{n}").id
        for n in range(3)
    }
    now = ws.clock()
    for given in (
        {"tag": [f"t{n}" for n in range(MAX_VALUES)]},
        {"file": [f"{n}.py" for n in range(MAX_VALUES)]},
        {"project": [f"P{n}" for n in range(MAX_VALUES)]},
    ):
        filters = build_filters(now=now, **given)  # type: ignore[arg-type]
        assert {entry.id for entry in find(ws, filters=filters).entries} == ids
        assert {hit.entry.id for hit in search(ws, WORDS, filters=filters).hits} == ids
        assert find(ws, filters=filters, facets=True).total == 3
    prefer = build_preference({"tags": [f"t{n}" for n in range(MAX_VALUES)]})
    assert all(
        hit.why and "prefer tags" in hit.why.matched_filters
        for hit in search(ws, WORDS, prefer=prefer, explain=True).hits
    )


def test_lists_that_no_bound_holds_are_one_value_to_sqlite(ws: Workspace) -> None:
    """From the library, where filters are not built from what somebody typed."""
    for number in range(3):
        save(
            ws,
            f"{WORDS} {number}",
            tags=[f"t{number}"],
            files=[f"src/{number}.py"],
            project=f"p{number}",
        )
    names = range(40_000)
    for filters in (
        Filters(tags=tuple(f"t{n}" for n in names)),
        Filters(projects=tuple(f"p{n}" for n in names)),
        Filters(files=tuple(f"src/{n}.py" for n in names)),
    ):
        assert search(ws, WORDS, filters=filters).total == find(ws, filters=filters).total == 3
        assert search(ws, WORDS, prefer=filters).total == 3
    assert search(ws, WORDS, within=list(names), explain=True).total == 3


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb", "\0"])
def test_what_is_no_character_is_searched_as_one(ws: Workspace, text: str) -> None:
    save(ws, f"A {WORDS}", tags=["t0"])
    assert search(ws, f"{WORDS} {text} tag:t0").total == 1
    for query in (f'{WORDS} "{text}"', f"{WORDS} tag:{text}", f"{WORDS} file:{text}x"):
        search(ws, query)
    tags = () if text == "\0" else f"{text}x"  # a tag with a NUL is refused
    assert find(
        ws, filters=build_filters(now=ws.clock(), tag=tags, file=text, project=text)
    ).total in (0, 1)


@pytest.mark.parametrize(
    "position",
    [["newest", 10**30, "a", 1], ["newest", 1, "\ud800", 1], ["newest", 1e999, "a", 1]],
)
def test_a_cursor_that_nobody_gave_is_an_error(ws: Workspace, position: list[Any]) -> None:
    with pytest.raises(SynapticError, match="cursor is not valid"):
        find(ws, cursor=base64.urlsafe_b64encode(json.dumps(position).encode()).decode())


def test_what_sqlite_refuses_twice_is_reported_and_the_index_stays(tmp_path: Path) -> None:
    """A sound index is not made anew, whatever SQLite says of a question."""
    with open_home(tmp_path / "home") as ws:
        save(ws, f"A {WORDS}")
        ws.index.counters.record_reads([search(ws, WORDS).hits[0].entry.id], 1)
        assert ws.index.flush()
        with as_it_was(ws.index.file.path):
            usual = ws.index.file.db.limit(apsw.SQLITE_LIMIT_VARIABLE_NUMBER, 2)
            with pytest.raises(
                SynapticError, match=r"sound, but SQLite refuses this: .*variable"
            ):
                search(
                    ws, WORDS, filters=Filters(tags=("a",), files=("b",), projects=("tests",))
                )
            ws.index.file.db.limit(apsw.SQLITE_LIMIT_VARIABLE_NUMBER, usual)
            assert search(ws, WORDS).total == 1
