"""Both engines of the index answer alike: the one beside the journal, and the published one.

Rows have other numbers there, so they are compared by file and id; the paths of a published
journal begin with `@platform/`.
"""

from __future__ import annotations

import dataclasses
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from homes import open_home
from postgres import Database, Server
from published import publish, readers, reading, write_mixed
from trials import drawn

from synaptic import Filters, SynapticError, Workspace, find, get, recent, search
from synaptic.filters import Scope
from synaptic.index.embedding import FastEmbedder
from synaptic.index.links import linked_neighbours, links_without_target, referenced_ids
from synaptic.index.lists import (
    list_entry_times,
    list_folded_titles,
    list_paths_with_own_entries,
    map_paths_by_short_id,
)
from synaptic.index.publishing import content_versions
from synaptic.index.rows import Candidate, quantise
from synaptic.index.sqlite_engine import Stems
from synaptic.index.statistics import count_entries_by, read_statistics
from synaptic.language.words import fts5_expression, normalize_for_index
from synaptic.models import ORDERS, STRATEGIES, TYPES, Entry
from synaptic.notes.marks import link_key
from synaptic.render import wire
from synaptic.search.ranking import PRESETS
from synaptic.verbs.brief import brief
from synaptic.verbs.day_lists import entries_of_days
from synaptic.verbs.linked import id_of_name, link_targets, links, unresolved_links
from synaptic.verbs.neighbours import link_graph, linking_sentences
from synaptic.verbs.newest import history, list_pinned
from synaptic.verbs.rules import list_waiting
from synaptic.verbs.to_do import due_tasks, list_due, tasks
from synaptic.workspace.embed import embed_pending
from synaptic.workspace.rule_changes import waiting_preferences
from synaptic.workspace.sync import in_step, read_file

ENTRIES = 120
NAME = "platform"


class Side(NamedTuple):
    """A workspace, and what the numbers of its rows mean: `entries` by (path, own id), `chunks`
    by that and the number of the passage.
    """

    ws: Workspace
    entries: dict[int, tuple[str, str]]
    chunks: dict[int, tuple[str, str, int]]
    rows: dict[tuple[str, str], int]

    @classmethod
    def of(cls, ws: Workspace) -> Side:
        def run(_: object) -> Side:
            engine = ws.index.engine
            rows = engine.rows(
                "SELECT e.rowid, s.path, e.own_id FROM entry e JOIN source s ON s.id = e.source"
            )
            entries = {row: (plain(path), id) for row, path, id in rows}
            found = engine.rows("SELECT rowid, entry, seq FROM chunk")
            chunks = {row: (*entries[entry], seq) for row, entry, seq in found}
            return cls(ws, entries, chunks, {name: row for row, name in entries.items()})

        return in_step(ws, run)

    def ask(self, question: Callable[[Side], Any]) -> Any:
        """The answer in terms that both share; of an error what it says."""
        try:
            return plain(in_step(self.ws, lambda _: question(self)))
        except SynapticError as error:
            return type(error), plain(str(error))

    def named(self, found: list[Candidate]) -> list[tuple[Any, float]]:
        return [(self.chunks[one.chunk_rowid], one.score) for one in found]


def plain(value: Any) -> Any:
    """Paths without the name of the journal; sets sorted; values as plain lists and dicts."""
    if isinstance(value, str):
        return re.sub(rf"(@|%40){NAME}(/|%2F)", "", value).replace("\0", "\ufffd")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value)
        }
    if isinstance(value, dict):
        timed = ("timings", "actual_ms", "ms")
        return {
            repr(plain(key)): plain(each) for key, each in value.items() if key not in timed
        }
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=repr)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(each) for each in value if each != f"@{NAME}"]  # a mark says it
    return value


def near(value: Any) -> Any:
    """Equal to what differs by rounding only."""
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-5, abs=1e-3)
    if isinstance(value, dict):
        return {key: near(each) for key, each in value.items()}
    return list(map(near, value)) if isinstance(value, list) else value


def differ(got: Any, expected: Any, at: str = "") -> None:
    """Says where they differ."""
    if isinstance(expected, dict) and isinstance(got, dict):
        assert sorted(got) == sorted(expected), at
        for key, each in expected.items():
            differ(got[key], each, f"{at}/{key}")
    elif isinstance(expected, list) and isinstance(got, list) and len(got) == len(expected):
        for number, each in enumerate(expected):
            differ(got[number], each, f"{at}/{number}")
    else:
        assert got == near(expected), at


class Pair(NamedTuple):
    beside: Side
    published: Side

    def agree(self, question: Callable[[Side], Any], at: str = "") -> Any:
        """The answer that both give; `at` names the question where they differ."""
        expected = self.beside.ask(question)
        differ(self.published.ask(question), expected, at)
        return expected


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    home = tmp_path_factory.mktemp("home")
    write_mixed(home / "journal", ENTRIES)
    with open_home(home, track_access=False, metrics=False) as ws:
        in_step(ws, lambda _: None)
        embed_pending(ws, budget_s=None)
        yield ws


@pytest.fixture(scope="module")
def pair(beside: Workspace, postgres: Server) -> Iterator[Pair]:
    with postgres.database() as database:
        reader = readers(database)
        publish(beside, database.address, NAME)
        with reading(reader, beside.config.home) as published:
            yield Pair(Side.of(beside), Side.of(published))


# -- what each engine owes, against what is counted here


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def side(request: pytest.FixtureRequest, beside: Workspace) -> Side:
    if request.param == "sqlite":
        return Side.of(beside)
    pair: Pair = request.getfixturevalue("pair")
    return pair.published


@pytest.fixture(scope="module")
def stems(beside: Workspace) -> dict[tuple[str, str, int], list[str]]:
    """By passage the stems of its words, read from the files."""

    def run(_: object) -> dict[tuple[str, str, int], list[str]]:
        tokenizer = Stems(True, lambda: beside.index.file.db)
        found = {}
        for path in content_versions(beside.index):
            stamp = beside.journal.stamp(path)
            assert stamp
            for row in read_file(beside, stamp, "").rows:
                for seq, chunk in enumerate(row.chunks()):
                    found[path, row.entry.id, seq] = tokenizer.stems_of_text(
                        normalize_for_index(chunk.words)
                    )
        return found

    return in_step(beside, run)


def times(words: list[str], phrase: list[str], *, beginning: bool = False) -> int:
    """How often the phrase stands there; of a `beginning` the last word is cut short."""
    *whole, last = phrase

    def fits(at: int) -> bool:
        end = words[at + len(whole)]
        return words[at : at + len(whole)] == whole and (
            end.startswith(last) if beginning else end == last
        )

    return sum(fits(at) for at in range(len(words) - len(whole)))


EXPRESSIONS = (
    (["redi"],),
    (["pump"], ["valv"], ["kestrel"]),
    (["redi", "pool"],),
    (["pump", "pump", "pump"], ["garden"]),
    (["東京"], ["記憶"]),
)


@pytest.mark.parametrize("phrases", EXPRESSIONS, ids=str)
def test_words_are_scored_by_bm25(
    side: Side, stems: dict[tuple[str, str, int], list[str]], phrases: tuple[list[str], ...]
) -> None:
    average = sum(map(len, stems.values())) / len(stems)
    scores: Counter[tuple[str, str, int]] = Counter()
    for phrase in phrases:
        counts = {name: times(words, phrase) for name, words in stems.items()}
        held = sum(map(bool, counts.values()))
        assert held
        idf = max(1e-6, math.log((len(stems) - held + 0.5) / (held + 0.5)))
        for name, count in counts.items():
            length = 1.2 * (0.25 + 0.75 * len(stems[name]) / average)
            scores[name] += idf * count * 2.2 / (count + length)  # type: ignore[assignment]
    expected = sorted((score for score in scores.values() if score), reverse=True)
    terms = [fts5_expression(" ".join(phrase)) for phrase in phrases]
    found = in_step(side.ws, lambda _: side.named(side.ws.index.lexical(terms, None, limit=50)))
    assert [-score for _, score in found] == pytest.approx(expected[:50])
    for name, score in found:
        assert scores[name] == pytest.approx(-score)


@pytest.mark.parametrize("word", ["redis", "running", "東京", "pump", "xyzzy"])
def test_a_word_is_counted_in_passages(
    side: Side, stems: dict[tuple[str, str, int], list[str]], word: str
) -> None:
    index = side.ws.index

    def run(_: object) -> None:
        stem = index.stem(word)
        assert stem
        held = {name for name, words in stems.items() if stem in words}
        term = fts5_expression(word)
        assert index.engine.frequencies([term]) == (len(stems), {term: len(held)})
        assert {side.chunks[row] for row in index.chunks_with_stem(stem, limit=9_999)} == held
        holding = Filters(all_words=(word,), include_superseded=True)
        assert bool(index.list_rows(holding, order="newest", limit=1)) == bool(held)
        assert dict(index.stems_like(stem)).get(stem, 0) == len(held)

    in_step(side.ws, run)


@pytest.mark.parametrize(
    "name", ["none", "type decision", "tag db", "since", "project nothing"]
)
def test_the_nearest_vectors_are_the_nearest(side: Side, name: str) -> None:
    index = side.ws.index
    filters = Filters(projects=("nothing",)) if name == "project nothing" else FILTERS[name]

    def run(_: object) -> None:
        passing = index.passing_chunks(filters, None)
        wanted = index.filter_entries(filters, list(side.entries))
        asked = quantise(side.ws.embedder.embed_query("the valve of the pump").vector)
        question = np.frombuffer(asked, np.int8).astype(int)
        apart = {}
        for row, vector in index.vectors(list(side.chunks)).items():
            if side.rows[side.chunks[row][:2]] in wanted:
                apart[row] = int(((np.frombuffer(vector, np.int8) - question) ** 2).sum())
        vector = side.ws.embedder.embed_query("the valve of the pump").vector
        found = index.semantic(vector, passing, limit=25)
        assert [apart[one.chunk_rowid] for one in found] == sorted(apart.values())[:25]
        assert all(one.entry_rowid in wanted for one in found)

    in_step(side.ws, run)


HOLDS: dict[str, Callable[[Entry], bool]] = {
    "type decision": lambda entry: entry.type == "decision",
    "tag db": lambda entry: any(tag == "db" or tag.startswith("db/") for tag in entry.tags),
    "project web": lambda entry: (entry.project or "").casefold() == "web",
    "since": lambda entry: entry.dated and entry.date >= "2025-12-20",
    "between": lambda entry: entry.dated and "2025-11-25" <= entry.date <= "2025-12-05",
    "important": lambda entry: (5 if entry.importance is None else entry.importance) >= 6,
    "body": lambda entry: entry.has_body,
    "no files": lambda entry: not (entry.files or re.search("png|pdf", entry.content)),
    "sources": lambda entry: entry.via in ("mcp", "import:jrnl"),
    "sessions": lambda entry: entry.is_session_digest,
    "path notes/": lambda entry: "notes/" in entry.there.path,
    "path /notes/": lambda entry: plain(entry.there.path).startswith("notes/"),
}


def test_a_filter_says_what_it_means(side: Side) -> None:
    index = side.ws.index

    def run(_: object) -> None:
        known = index.entries(list(side.entries))
        for name, holds in HOLDS.items():
            expected = {row for row, one in known.items() if holds(one.entry)}
            assert expected, name
            assert index.filter_entries(FILTERS[name], list(known)) == expected, name
            every = replace(FILTERS[name], include_superseded=True)
            total = index.count_entries(every)
            rows = index.list_rows(every, order="newest", limit=-1)
            assert (total, set(rows)) == (len(expected), expected), name
            dated = [known[row].entry.at for row in rows if known[row].entry.dated]
            assert dated == sorted(dated, reverse=True), name

    in_step(side.ws, run)


def test_values_are_kept_until_the_index_changes(side: Side) -> None:
    engine = side.ws.index.engine
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return len(made)

    def run(_: object) -> None:
        assert engine.cached("a test", make) == engine.cached("a test", make) == 1
        assert engine.meta("nothing") is None and engine.meta("dimensions") == 32
        chunks = engine.spread_chunks(40)
        assert len(set(chunks)) == len(chunks) == 40 and set(chunks) <= set(side.chunks)
        assert set(engine.spread_chunks(9_999)) == set(side.ws.index.vectors(list(side.chunks)))
        assert engine.value("SELECT rowid FROM entry WHERE own_id = ?", "none") is None
        assert engine.size() > 1_000

    in_step(side.ws, run)
    side.ws.index.engine.close()
    in_step(side.ws, lambda _: engine.rows("SELECT 1"))  # opens again


# -- what both answer alike


QUERIES = (
    "redis pool timeout",
    "which valve leaks in the garden",
    "Anna refund",
    "pre-commit",
    "node.js C++",
    "東京",
    "東京 記憶",
    "記",
    "日誌を書いた",
    "ประชุม",
    "งบประมาณ",
    "مفتاح",
    "كتاب",
    "Ubergabe strasse",
    "Straße Übergabe",
    "studies running",
    "it's O'Brien",
    "café naive",
    "3.14 v2.1.0",
    "rediss pooll",
    "kestral",
    "wether umbrela",
    "plugh xyzzy",
    "pu* tim*",
    '"redis pool"',
    '"pump pump pump"',
    '"the pump leaks" garden',
    '"page of pumps"',
    '"quote" \\ DROP TABLE',
    "100% under_score $1",
    "''; | ! <-> :*",
    "tag:db redis",
    "tag:db/redis -redis",
    "#db pump",
    "tag:köln rain",
    "-tag:db redis",
    "type:decision pump",
    "-type:note invoice",
    "project:web redis",
    "-project:web redis",
    "project:käse lunch",
    "project:100%_sure train",
    "file:src/store.py redis",
    "file:store.py pool",
    'file:"docs/a b.md" pool',
    "file:src/ pool",
    "-file:src/ pool",
    "path:notes/ pump",
    "path:/notes/ pump",
    "path:/2026-11-20 kestrel",
    "path:Garden tomato",
    "path:sub/ garden",
    "path:*.md twin",
    "path:Äpfel apfelmus",
    "path:äpfel apfelmus",
    'path:"100%_sure" sure',
    "-path:notes/ kestrel",
    "since:2025-12-20 redis",
    "until:2025-12-01 redis",
    "since:2025-12-01 until:2025-12-24 redis",
    "has:task call",
    "-has:task call",
    "has:body redis",
    "has:files redis",
    "status:open redis",
    "owner:Anna meeting",
    "owner:ben garden",
    "words -redis pump",
    '-"redis pool" redis',
    "what did we decide about redis yesterday",
    "last week",
    "the newest decision",
    "open issues",
    "how often did Anna meet Ben",
    "leap day with Anna",
    "Kestrel OR umbrella AND NOT rain",
    "pump " * 40,
    "",
    " ",
    "?",
    "the of and",
    "a",
    "\x00",
    "a\x00b redis",
    "redis \ud800 pool",
)


def kind_of(query: str) -> str:
    """Its first condition, else the first of its scripts and signs; mere words have none."""
    conditions = re.findall(r"-?\b[a-z]+:", query)
    scripts = {unicodedata.name(one, "none").split()[0] for one in query if not one.isascii()}
    signs = {one for one in query if one.isascii() and not one.isalpha()} - {" "}
    return (conditions or sorted(scripts | signs) or [""])[0]


@pytest.mark.sweep("query", by=kind_of)
@pytest.mark.parametrize("query", QUERIES)
def test_a_search_finds_the_same(pair: Pair, query: str) -> None:
    pair.agree(lambda side: wire.search_json(search(side.ws, query, explain=True)))


ABOUT = ("redis pool timeout in Prague", "-tag:db kestrel 東京 pump")
WAYS: dict[str, dict[str, Any]] = {
    **{strategy: {"strategy": strategy} for strategy in STRATEGIES},
    **{preset: {"preset": preset} for preset in PRESETS},
    **{f"by {order}": {"order": order} for order in ORDERS},
    "weights": {"weights": {"lexical": 1, "recency": 0.5}},
    "min similarity": {"min_similarity": 0.3},
    "limit": {"limit": 100},
    "parts": {"sub_queries": ["redis", "lunch with Ben"]},
    "only fitting": {"only_fitting": True},
    "prefer": {"prefer": Filters(types=("decision",), projects=("web",))},
    "every project": {"filters": Filters(projects=("*",))},
}


def option_of(way: str) -> str:
    return " ".join(WAYS[way])


@pytest.mark.sweep("way", by=option_of)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("query", ABOUT)
def test_a_search_of_any_kind_finds_the_same(pair: Pair, query: str, way: str) -> None:
    options = {"explain": True} | WAYS[way]
    pair.agree(lambda side: wire.search_json(search(side.ws, query, **options)))


FILTERS: dict[str, Filters] = {
    "none": Filters(),
    "superseded": Filters(include_superseded=True),
    **{f"type {type}": Filters(types=(type,)) for type in TYPES},
    **{
        f"tag {tag}": Filters(tags=(tag,))
        for tag in (
            "db",
            "db/redis",
            "area",
            "köln",
            "東京",
            "a_b",
            "nothing",
            "d%",
            "db+area",
            "db+db/redis",
        )
    },
    **{
        f"project {key}": Filters(projects=(key,))
        for key in ("web", "käse", "100%_sure", "shop", "none", "")
    },
    **{
        f"file {path}": Filters(files=(path,))
        for path in (
            "src/store.py",
            "store.py",
            "src/",
            "docs",
            "a b.md",
            "src/50%_off.ts",
            "/",
        )
    },
    **{
        f"path {path}": Filters(paths=(path,))
        for path in (
            *("notes/", "/notes/", "Garden", "garden.md", "/Garden", "sub/", "*.md", "/*.md"),
            *("2026-11-2?", "notes/*/", "100%_sure", "it's*", "äpfel*", "Äpfel & Birnen"),
            *("日本語*", "ไทย", "/", "*", "_", "@*/x"),
        )
    },
    **{
        f"words {words}": Filters(words=words)
        for words in (
            ("redis",),
            ("red*", "東京"),
            ("redis pool",),
            ("o'brien",),
            ("\\",),
            ("",),
        )
    },
    **{
        f"all words {words}": Filters(all_words=words)
        for words in (("redis",), ("red*", "pump"), ("redis pool", "東京"), ("", "pump"))
    },
    "since": Filters(since="2025-12-20"),
    "until": Filters(until="2025-12-20"),
    "between": Filters(since="2025-11-25", until="2025-12-05"),
    "far": Filters(since="9999-12-31"),
    "early": Filters(until="0001-01-01"),
    "important": Filters(min_importance=6),
    "unimportant": Filters(max_importance=4),
    "body": Filters(has_body=True),
    "no body": Filters(has_body=False),
    "files": Filters(has_files=True),
    "no files": Filters(has_files=False),
    "tasks": Filters(has_tasks=True),
    "no tasks": Filters(has_tasks=False),
    "where": Filters(where=(("status", "open"),)),
    "where two": Filters(where=(("owner", "anna"), ("status", "closed"))),
    "links": Filters(links_to="Garden"),
    "links to a page": Filters(links_to="page of pumps"),
    "links nowhere": Filters(links_to="nowhere"),
    "sources": Filters(sources=("mcp", "import:jrnl")),
    "by hand": Filters(sources=("by hand",)),
    "sessions": Filters(sessions=True),
    "scope": Filters(scope=Scope("web", frozenset("r"), frozenset("m"), frozenset("p"))),
    "scope by name": Filters(scope=Scope("web", by_name=True, with_none=True)),
    "without": Filters(without=Filters(types=("note",), tags=("db",), paths=("notes/",))),
    "without dates": Filters(without=Filters(since="2025-12-01", until="2025-12-31")),
    "without words": Filters(without=Filters(words=("redis", "pump"), sessions=True)),
    "all at once": Filters(
        types=("decision", "note"),
        tags=("db",),
        since="2025-11-01",
        has_body=True,
        max_importance=9,
    ),
}


def passing_entries(side: Side, filters: Filters) -> Any:
    return {
        side.entries[row] for row in side.ws.index.filter_entries(filters, list(side.entries))
    }


def listed(order: str, side: Side, filters: Filters) -> Any:
    total = side.ws.index.count_entries(filters)
    rows = side.ws.index.list_rows(filters, order=order, limit=40)
    return total, [side.entries[row] for row in rows]


def due_entries(side: Side, filters: Filters) -> Any:
    return {side.entries[row] for row in side.ws.index.due(filters, "2026-11-15")}


def nearest(limit: int | None, side: Side, filters: Filters) -> Any:
    index = side.ws.index
    passing = index.passing_chunks(filters, None)
    if limit is None and not passing:
        return []
    meant = side.ws.embedder.embed_query("redis").vector
    return side.named(index.semantic(meant, passing, limit=limit))


def matching_words(side: Side, filters: Filters) -> Any:
    index = side.ws.index
    passing = index.passing_chunks(filters, None)
    return side.named(
        index.lexical([fts5_expression("redis"), fts5_expression("pump")], passing, limit=20)
    )


FILTERED: dict[str, Callable[[Side, Filters], Any]] = {
    **{f"by {order}": partial(listed, order) for order in ORDERS},
    "facets": lambda side, filters: side.ws.index.facets(filters),
    **{
        f"count by {by}": lambda side, filters, by=by: count_entries_by(
            side.ws.index, filters, by
        )
        for by in ("source", "author", "day")
    },
    "due": due_entries,
    "near": partial(nearest, 20),
    "all near": partial(nearest, None),
    "words": matching_words,
}
"""Questions that take a filter."""


@pytest.mark.sweep
def test_each_filter_lets_the_same_pass(pair: Pair) -> None:
    """Each filter with one of these questions; a soak asks all."""
    parents = pair.agree(
        lambda side: side.ws.index.engine.column(
            "SELECT parent FROM entry WHERE parent IS NOT NULL ORDER BY parent"
        )
    )
    cases = FILTERS | {
        "parent": Filters(parent=parents[0]),
        "ids": Filters(ids=(parents[0], "none")),
    }
    tried = {name for filters in cases.values() for name in filters.active_values()}
    assert tried == {field.name for field in dataclasses.fields(Filters)}
    for name, filters in cases.items():
        pair.agree(lambda side, filters=filters: passing_entries(side, filters), at=name)
        for question, ask in drawn(f"filter {name}", FILTERED.items()):
            pair.agree(
                lambda side, ask=ask, filters=filters: ask(side, filters),
                at=f"{name}, {question}",
            )


TERMS = (
    *("redis", "Redis", "running", "pre-commit", "node.js", "東京", "東", "記憶 日誌", "ประชุม"),
    *("مفتاح", "straße", "red*", "redis pool", "pump pump pump", "pump pump", "'", '"', "\\"),
    *("o'brien", "nothing", "xyzzy", "", " ", "?", "3.14", "a" * 30_000, "a" * 1_000, "nul"),
    *("t299", "köln", "e\u0301", "the", "v2.1.0", "don't"),
)


def test_words_are_known_alike(pair: Pair) -> None:
    terms = [fts5_expression(term) for term in TERMS]

    def ask(side: Side) -> Any:
        index = side.ws.index
        told: dict[str, Any] = {}
        for term in TERMS:
            stem = index.stem(term)
            told[term] = [
                stem,
                sorted(index.stems_like(stem)) if stem else None,
                {side.chunks[row] for row in index.chunks_with_stem(stem, limit=9_999)}
                if stem
                else None,
                side.named(index.lexical([fts5_expression(term)], None, limit=60)),
            ]
        told["any"] = side.named(index.lexical(terms, None, limit=50))
        for phrases in (["redis", "pump"], ["東京"], ["page of pumps", "leaks"], ["xyzzy"]):
            passing = index.passing_chunks(Filters(all_words=tuple(phrases)), None)
            told[f"{phrases}"] = side.named(
                index.lexical([fts5_expression("pump")], passing, limit=9)
            )
        return told

    pair.agree(ask)


def test_rows_are_read_alike(pair: Pair) -> None:
    names = sorted(pair.beside.rows)
    assert names == sorted(pair.published.rows)

    def ask(side: Side) -> Any:
        index = side.ws.index
        rows = [side.rows[name] for name in names]
        some = rows[::3]
        passages = index.passages(sorted(side.chunks))
        meant = index.first_vectors(rows)
        codes = index.token_codes(rows)
        keys = [link_key(name) for name in ("Garden", "Page of pumps", "nowhere", "2026-11-21")]
        return {
            "entries": {
                side.entries[row]: one._replace(rowid=0)
                if hasattr(one, "_replace")
                else dataclasses.replace(one, rowid=0)
                for row, one in index.entries(rows).items()
            },
            "standings": {
                side.entries[row]: one._replace(rowid=0)
                for row, one in index.ranking_facts(rows).items()
            },
            "passages": {
                side.chunks[row]: (one.start, one.end, one.hash)
                for row, one in passages.items()
            },
            "vectors": {
                side.chunks[row]: one for row, one in index.vectors(list(side.chunks)).items()
            },
            "meanings": {side.entries[row]: one for row, one in meant.items()},
            "codes": sorted((side.entries[row], one) for row, one in codes),
            "beside": sorted(
                (side.entries[row], [side.entries[one] for one in beside])
                for row, beside in index.neighbours_in_file(rows, Filters()).items()
            ),
            "superseded": index.superseded_by([id for _, id in names]),
            "chains": {
                side.entries[row]: [side.entries[one] for one in index.replacement_chain(row)]
                for row in some
            },
            "named": {
                key: [side.entries[one] for one in found]
                for key, found in index.entries_by_name_key(keys).items()
            },
            "linking": sorted(
                (side.entries[row], key) for row, key in index.incoming_links(rows[:50], keys)
            ),
            "joined": {
                side.entries[row]: [
                    side.entries[one] for one in linked_neighbours(index, row, 8)
                ]
                for row in rows
            },
            "unnamed": sorted(
                (side.entries[row], key) for row, key in links_without_target(index)
            ),
            "calendar": [
                (
                    *index.days_around(day, day, limit=9)[:2],
                    [side.entries[one] for one in index.days_around(day, day, limit=9)[2]],
                )
                for day in (
                    "2025-11-21",
                    "2026-11-21",
                    "2024-02-29",
                    "0001-01-01",
                    "9999-12-31",
                )
            ],
            "moments": sorted(list_entry_times(index)),
            "standing": map_paths_by_short_id(index),
            "named by others": referenced_ids(index, [id for _, id in names]),
            "titles": index.titles([id for _, id in names[::5]]),
            "folded": [
                (side.entries[row], title, path)
                for row, title, path in list_folded_titles(index, str.casefold)
            ],
            "same content": sorted(
                [
                    side.entries[row]
                    for row in sorted(index.dated_with_content(hash), key=side.entries.get)
                ]
                for (hash,) in index.engine.rows("SELECT DISTINCT content_hash FROM entry")
            ),
            "vocabulary": index.vocabulary(),
            "fields": index.field_names(),
            "pinned": [
                [side.entries[row] for row in index.pinned_entries(Scope(key, by_name=True))]
                for key in ("", "web", "shop", "no")
            ],
            "counts": index.counts()._replace(bytes=0),
            "paths": sorted(index.paths()),
            "in force": sorted(list_paths_with_own_entries(index)),
            "dated": index.git_dates_by_file(),
            "changed": {side.entries[row] for row in index.changed_since(3)},
            "latest": index.latest_change(),
            "reads": read_statistics(
                index, Filters(), datetime(2026, 1, 1).astimezone(), limit=9
            ),
            "sample": sorted(map(bytes, index.sample_passages()[0])),
            "meta": [index.meta(key) for key in ("model", "dimensions", "usual")],
        }

    pair.agree(ask)


NAMES = (
    *("kkkk", "syn:20251120-kkkkkkkk", "20261121-twintwin", "twintwin", "twin", "TWIN", "no"),
    *("%", "____", "", " ", "\x00", "Garden", "garden", "beet", "Page of pumps", "nowhere"),
    *(
        "notes/Garden.md",
        "2026-11-20",
        "Äpfel",
        "日本語ノート",
        "notes/sub/Deep.md",
        "2025-11-21",
    ),
    *("'", "\\", "a" * 300),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_leads_to_the_same(pair: Pair, name: str) -> None:
    pair.agree(lambda side: wire.listing_json(get(side.ws, [name])))
    pair.agree(lambda side: links(side.ws, name))
    pair.agree(lambda side: id_of_name(side.ws, name))
    pair.agree(lambda side: [entry.id for entry in history(side.ws, name).entries])
    pair.agree(
        lambda side: link_targets(side.ws, [name, "../Garden.md", "x"], "notes/sub/Deep.md")
    )


@pytest.mark.sweep
def test_every_entry_is_whole(pair: Pair) -> None:
    ids = drawn("whole entries", [stored[1] for stored in pair.beside.rows], 60)
    for first in range(0, len(ids), 100):
        part = ids[first : first + 100]
        answer = pair.agree(lambda side, part=part: wire.listing_json(get(side.ws, part)))
        assert answer["'entries'"]

    def around(side: Side) -> Any:
        told = []
        for id in ids[::15]:
            graph = link_graph(side.ws, id)
            beside = [[side.entries[row] for row in column] for column in graph.columns]
            told.append(
                (beside, linking_sentences(side.ws, links(side.ws, id).backlinks).values())
            )
        return [(columns, list(said)) for columns, said in told]

    pair.agree(around)


VERBS: dict[str, Callable[[Workspace], Any]] = {
    "recent": lambda ws: wire.listing_json(recent(ws, limit=100)),
    "recent of one": lambda ws: wire.listing_json(recent(ws, project="web")),
    "recent asked": lambda ws: wire.listing_json(recent(ws, "redis pool")),
    "find": lambda ws: wire.listing_json(find(ws, facets=True, limit=100)),
    "find asked": lambda ws: wire.listing_json(find(ws, "redis pump", facets=True)),
    **{
        f"find by {order}": lambda ws, order=order: wire.listing_json(find(ws, order=order))
        for order in ORDERS
    },
    "pinned": lambda ws: wire.listing_json(list_pinned(ws)),
    "tasks": lambda ws: tasks(ws),
    "tasks done": lambda ws: tasks(ws, done=True),
    "tasks due": lambda ws: tasks(ws, due="2026-11-30"),
    "due": lambda ws: list_due(ws),
    "due soon": lambda ws: list_due(ws, "2026-11-15"),
    "due tasks": lambda ws: due_tasks(ws),
    "broken links": lambda ws: unresolved_links(ws),
    "waiting": lambda ws: list_waiting(ws),
    "not in force": lambda ws: waiting_preferences(ws),
    **{
        f"days {day} {week}": lambda ws, day=day, week=week: wire.days_json(
            entries_of_days(ws, day, week=week)
        )
        for day in (
            "2025-11-21",
            "2026-11-19",
            "2026-11-20",
            "today",
            "2024-02-29",
            "1999-01-01",
        )
        for week in (False, True)
    },
    **{
        f"brief {project}": lambda ws, project=project: brief(ws, None, project=project)
        for project in (None, "web", "Käse", "nothing")
    },
    "brief since": lambda ws: brief(ws, None, "2025-12-01", project="web"),
}


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_answers_alike(pair: Pair, name: str) -> None:
    pair.agree(lambda side: VERBS[name](side.ws))


def test_page_after_page_shows_the_same(pair: Pair) -> None:
    def pages(side: Side) -> Any:
        told: list[list[str]] = []
        cursor = None
        while not told or cursor:
            page = find(side.ws, limit=23, cursor=cursor)
            told.append([entry.id for entry in page.entries])
            cursor = page.cursor
        return told

    assert sum(map(len, pair.agree(pages))) > 80


@pytest.mark.sweep
def test_meaning_finds_the_same(
    tmp_path: Path, database: Database, model: FastEmbedder
) -> None:
    """With the model that ships, whose tokens are compared, too."""
    write_mixed(tmp_path / "journal", 12)
    for note in (tmp_path / "journal" / "notes").glob("*.md"):
        note.write_bytes(note.read_bytes()[:4_000])  # the model takes its time for each word
    reader = readers(database)
    with open_home(tmp_path, embedder=model, track_access=False, metrics=False) as ws:
        publish(ws, database.address, NAME)
        with reading(reader, tmp_path, embedder=model) as published:
            pair = Pair(Side.of(ws), Side.of(published))
            about = (*QUERIES[:6], *QUERIES[18:24], "where does water come out")
            for query in drawn("meaning", about, 4):
                for strategy in ("auto", "semantic", "smart"):
                    ask = partial(_searched, query, strategy)
                    pair.agree(ask)


def _searched(query: str, strategy: str, side: Side) -> Any:
    return wire.search_json(search(side.ws, query, strategy=strategy, explain=True))
