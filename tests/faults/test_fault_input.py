"""Whatever is put in: no traceback, no crash, no changed file, and a message that says what is
valid.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
from forks import ForkedHome, Forks, forked
from homes import open_home
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outside import Home, Refusal, Server
from steady import steadily
from trials import Rounds

from synaptic import Filters, SynapticError, Workspace, find, save, search, status
from synaptic.language.query import parse_query
from synaptic.language.words import fts5_expression
from synaptic.notes.markdown import parse_entries

pytestmark = pytest.mark.fault(row=10)

KNOWN = "## 08:00 The known entry\nabout kingfishers\n"

# -- journal files
# --------------------------------------------------------------------------------------------

FILES: dict[str, tuple[bytes, str]] = {
    # name: (bytes, a word that must be found; "" where there is none)
    "empty": (b"", ""),
    "blanks": (b" \n\t\n  \n", ""),
    "one newline": (b"\n", ""),
    "bom": (b"\xef\xbb\xbf## 09:00 A\notter\n", "otter"),
    "bom alone": (b"\xef\xbb\xbf", ""),
    "crlf": (b"# Day\r\n\r\n## 09:00 A\r\notter\r\n", "otter"),
    "lone cr": (b"# Day\r\r## 09:00 A\rotter\r", "otter"),
    "mixed line ends": (b"## 09:00 A\r\notter\n\r## 10:00 B\rheron\n", "heron"),
    "vt ff nel ls": ("## 09:00 A\x0b\x0c\x85\u2028otter\u2029\n".encode(), "otter"),
    "nul": (b"## 09:00 A\0\nan \0 otter\n", "otter"),
    "only nul": (b"\0" * 1000, ""),
    "latin-1": ("## 09:00 Caf\xe9\notter fr\xe8re\n".encode("latin-1"), "otter"),
    "broken utf-8": (b"## 09:00 A\xff\xfe\xfd\notter \xc3\x28\n", "otter"),
    "surrogates in utf-8": (b"## 09:00 A\xed\xa0\x80\notter\n", "otter"),
    "utf-16 le": ("\ufeff## 09:00 A\notter\n".encode("utf-16-le"), ""),
    "utf-16 be": ("\ufeff## 09:00 A\notter\n".encode("utf-16-be"), ""),
    "heading in a fence": (b"## 09:00 A\n```\n## 10:00 otter\n```\n", "otter"),
    "heading in a tilde fence": (b"## 09:00 A\n~~~\n## 10:00 otter\n~~~\n", "otter"),
    "open fence, save below": (
        b"## 09:00 A\n```\nx\n\n## 10:00 B\n<!-- syn:20261120-aaaaaaaa -->\n\notter\n",
        "otter",
    ),
    "open fence at the end": (b"## 09:00 A\n```\notter\n", "otter"),
    "comment like an entry": (b"## 09:00 A\n<!--\n## 10:00 hidden\n-->\notter\n", "otter"),
    "open comment": (b"## 09:00 A\n<!-- never closed\n\notter\n", ""),
    "front matter like an entry": (
        b"---\ntitle: x\n## 10:00 y\n---\n\n## 09:00 otter\n",
        "otter",
    ),
    "broken yaml": (b"---\ntags: [a, b\n---\n## 09:00 otter\n", "otter"),
    "recursive yaml": (b"---\na: &a [*a]\ntags: *a\n---\n## 09:00 otter\n", "otter"),
    "yaml bomb": (
        b"---\na: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\ntags: *c\n---\n## 09:00 "
        b"otter\n",
        "otter",
    ),
    "yaml object": (
        b"---\ntags: !!python/object/apply:os.system [ls]\n---\n## 09:00 otter\n",
        "otter",
    ),
    "yaml date of no year": (b"---\ndate: 0000-00-00\n---\n# A\notter\n", "otter"),
    "yaml tags of numbers": (b"---\ntags: [1, 2.5, null, {a: b}]\n---\n# A\notter\n", "otter"),
    "front matter without end": (b"---\ntags: [a]\n\n## 09:00 otter\n", "otter"),
    "ids twice in a file": (
        b"## 09:00 A\n<!-- syn:20261120-aaaaaaaa -->\n\nheron\n\n## 10:00 B\n<!-- "
        b"syn:20261120-aaaaaaaa -->\n\notter\n",
        "otter",
    ),
    "bad id": (b"## 09:00 A\n<!-- syn:nonsense at=never importance=99 -->\n\notter\n", "otter"),
    "comment without end": (b"## 09:00 A\n<!-- syn:20261120-aaaaaaaa\n\notter\n", "otter"),
    "percent signs in a comment": (
        b"## 09:00 A\n<!-- syn:20261120-aaaaaaaa files=%ZZ,%,%2 -->\n\notter\n",
        "otter",
    ),
    "keys twice": (b"## 09:00 A\n<!-- syn:20261120-aaaaaaaa by=a by=b -->\n\notter\n", "otter"),
    "supersedes itself": (
        b"## 09:00 A\n<!-- syn:20261120-aaaaaaaa supersedes=20261120-aaaaaaaa -->\n\notter\n",
        "otter",
    ),
    "supersedes in a ring": (
        b"## 09:00 A\n<!-- syn:20261120-aaaaaaaa supersedes=20261120-bbbbbbbb -->\n\notter\n\n"
        b"## 10:00 B\n<!-- syn:20261120-bbbbbbbb supersedes=20261120-aaaaaaaa -->\n\nheron\n",
        "heron",
    ),
    "its own parent": (
        b"## 09:00 A\n<!-- syn:20261120-aaaaaaaa parent=20261120-aaaaaaaa -->\n\notter\n",
        "otter",
    ),
    "torn tail": (b"## 09:00 A\notter\n\n## 10:0", "otter"),
    "torn comment": (b"## 09:00 A\n<!-- syn:2026", ""),
    "torn character": ("## 09:00 A\notter \N{SNOWMAN}".encode()[:-1], "otter"),
    "impossible times": (b"## 24:00 A\n## 9:60 B\n## 99:99 C\notter\n", "otter"),
    "time alone": (b"## 09:00\n\n## 09:00\notter\n", "otter"),
    "conflict marks": (
        b"## 09:00 A\n<<<<<<< ours\notter\n=======\nheron\n>>>>>>> theirs\n",
        "otter",
    ),
    "endless line": (b"## 09:00 A\n" + b"x" * 200_000 + b" otter\n", "otter"),
    "deep quotes": (b"## 09:00 A\n" + b"> " * 5_000 + b"otter\n", "otter"),
    "deep lists": (
        b"## 09:00 A\n" + b"".join(b" " * n + b"- x\n" for n in range(300)) + b"\notter\n",
        "otter",
    ),
    "brackets": (b"## 09:00 A\n" + b"[" * 20_000 + b" otter\n", "otter"),
    "back ticks": (b"## 09:00 A\n" + b"` `` ``` " * 5_000 + b"\notter\n", "otter"),
    "hashes": (b"## 09:00 " + b"#" * 10_000 + b" otter\n", "otter"),
    "many tags": (
        b"## 09:00 A " + b" ".join(b"#t%d" % n for n in range(2_000)) + b"\notter\n",
        "otter",
    ),
    "escapes": (b"## 09:00 A\n\\## 10:00 not\n\\<!-- syn:x -->\notter\n", "otter"),
    "rtl and zero width": (
        "## 09:00 \u202eA\u200b\u2066\n\u200fotter\u200b\n".encode(),
        "otter",
    ),
    "ansi": (b"## 09:00 \x1b[31mA\x1b]0;x\x07\notter\n", "otter"),
    "kept out": (b"---\nsynaptic: false\n---\n## 09:00 otter\n", ""),
}


@pytest.fixture
def zoo(tmp_path: Path) -> Iterator[Workspace]:
    with open_home(tmp_path / "home") as ws:
        (ws.config.journal / "2026-11-19.md").write_text(KNOWN)
        yield ws


@pytest.mark.parametrize("name", FILES)
def test_any_file_is_read_as_far_as_it_goes(zoo: Workspace, name: str) -> None:
    data, word = FILES[name]
    place = zoo.config.journal / "2026-11-20.md"
    place.write_bytes(data)
    assert (
        search(zoo, "kingfishers", strategy="lexical").hits[0].entry.title == "The known entry"
    )
    if word:
        hits = search(zoo, word, strategy="lexical").hits
        assert {hit.entry.place.path for hit in hits if hit.entry.place} == {place.name}
    assert find(zoo, limit=100).total >= 1 and status(zoo).files >= 1
    if name.startswith("utf-16"):
        with pytest.raises(SynapticError, match="Convert it to UTF-8"):
            save(zoo, "Saved beside it.", at="2026-11-20T12:00")
        assert place.read_bytes() == data
        return
    saved = save(zoo, "Saved beside it.", at="2026-11-20T12:00")  # joins that very file
    assert saved.path == place.name and place.read_bytes().startswith(
        data[:-1] if name == "lone cr" else data
    )
    assert search(zoo, "beside", strategy="lexical").total >= (name != "kept out")


def test_what_is_no_file_is_passed_by(zoo: Workspace, tmp_path: Path) -> None:
    journal = zoo.config.journal
    os.mkfifo(journal / "fifo.md")
    (journal / "folder.md").mkdir()
    (journal / "loop.md").symlink_to("loop.md")
    (journal / "ring").symlink_to(journal)
    (journal / "null.md").symlink_to("/dev/null")
    outside = tmp_path / "secret.md"
    outside.write_text("## 09:00 Outside\notter\n")
    (journal / "out.md").symlink_to(outside)
    (journal / "gone.md").symlink_to(tmp_path / "nowhere.md")
    (journal / "folder.md" / "inner.md").write_text("## 09:00 Inside\nheron\n")
    assert [
        search(zoo, word, strategy="lexical").total
        for word in ("otter", "heron", "kingfishers")
    ] == [0, 1, 1]
    assert status(zoo).files == 2


def test_very_many_headings_and_a_very_long_entry(zoo: Workspace) -> None:
    """No statement names each entry of a file: SQLite takes fewer values than it may have."""
    zoo.index.file.db.limit(apsw.SQLITE_LIMIT_VARIABLE_NUMBER, 1_000)
    many = "".join(
        f"## {n // 60 % 24:02d}:{n % 60:02d} Heading number {n}\n" for n in range(2_000)
    )
    (zoo.config.journal / "2026-11-18.md").write_text(many)
    assert search(zoo, '"number 1999"', strategy="lexical").total == 1
    paragraph = "The quick brown fox jumps over the lazy dog near the river bank.\n" * 5 + "\n"
    long = "## 09:00 Long\n" + paragraph * (1_100_000 // len(paragraph)) + "\nzebrafinch\n"
    (zoo.config.journal / "2026-11-17.md").write_text(long)
    assert [hit.entry.title for hit in search(zoo, "zebrafinch", strategy="lexical").hits] == [
        "Long"
    ]
    assert status(zoo).entries == 2_002


# -- queries
# --------------------------------------------------------------------------------------------------

QUERIES = [
    "",
    " ",
    "\t\n",
    '"',
    '""',
    '" "',
    "'",
    "''",
    '"unclosed',
    "NEAR(",
    "NEAR(a b, 5)",
    "a NEAR b",
    "AND",
    "OR",
    "NOT",
    "a AND",
    "a NOT b",
    "col:",
    "col:x",
    "title:fox",
    "text : fox",
    "{title tags}: fox",
    "^fox",
    "fox*",
    "*",
    "+",
    "-",
    "(",
    ")",
    "()",
    "^*+-()",
    "fox + dog",
    "; DROP TABLE entry; --",
    "%",
    "_",
    "\\",
    "/",
    "fox\0dog",
    "the and of",
    "the",
    "😀",
    "😀😀 🎉",
    "東京",
    "東",
    "مرحبا",
    "שלום",
    "\u202efox",
    "\u200b",
    "\ud800",
    "fox \udfff",
    "a" * 10_000,
    "fox " * 5_000,
    "type:",
    "type:nonsense",
    "type:decision",
    "tag:",
    'tag:"two words"',
    "since:",
    "since:never",
    "since:2026-13-45",
    "until:0001-01-01",
    "since:9999-12-31",
    "project:x type:y",
    "::::",
    "http://a:80/b?c=d#e",
    "C++ C# .NET",
    "1e309",
    "-1",
    "٣",
    "²",
    "ﬁ",
    "İ",
    "ß",
]


@pytest.mark.parametrize("strategy", ["lexical", "semantic", "hybrid"])
def test_any_query_is_answered(zoo: Workspace, strategy: str) -> None:
    save(zoo, "The quick brown fox and the dog.")
    for query in QUERIES:
        found = search(zoo, query, strategy=strategy)
        assert 0 <= len(found.hits) <= 20 and all(0 <= hit.score <= 1 for hit in found.hits), (
            query
        )
    found = search(zoo, "fox " * 125_000 + "x" * 500_000, strategy=strategy)  # 1 MB
    assert (
        found.total >= 1
        and "Only the first 10,000 characters of the query were read." in found.notices
    )


PIECES = [
    *QUERIES[:-1],
    "fox",
    "kingfisher",
    "AND",
    '"',
    "(",
    ")",
    "*",
    ":",
    "-",
    "tag:a",
    "since:",
    "東",
    "\0",
    "\ud83d",
]


def test_fuzzed_queries(zoo: Workspace, rounds: Rounds) -> None:
    save(zoo, "The quick brown fox and the dog.")
    now = zoo.clock()
    search(zoo, "fox", strategy="lexical")
    for number in rounds(2_000, 2_000_000):
        choose = random.Random(number)
        some = (choose.choice(PIECES)[:40] for _ in range(choose.randrange(1, 6)))
        query = choose.choice(("", " ")).join(some)
        if choose.random() < 0.2:
            query = "".join(
                chr(choose.choice((choose.randrange(128), choose.randrange(0x110000))))
                for _ in query
            )
        parsed = parse_query(query.encode("utf-8", "replace").decode(), Filters(), now=now)
        if parsed.terms:
            holding = replace(parsed.filters, all_words=parsed.phrases)
            zoo.index.lexical(
                [fts5_expression(term) for term in parsed.terms],
                zoo.index.passing_chunks(holding, None),
                limit=5,
            )
        if number % 200 == 0:
            search(zoo, query, strategy="lexical")


LINES = [
    "## 09:00 A",
    "## 10:30 decision: B #tag",
    "##",
    "# H",
    "### 09:00",
    "```",
    "~~~~",
    "<!--",
    "-->",
    "---",
    "text",
    "",
    "#",
    "<!-- syn:20261120-aaaaaaaa -->",
    "<!-- syn:20261120-aaaaaaaa at=2026-11-20T09:00:00+01:00 by=x -->",
    "- [ ] x #t",
    "<!-- syn:",
    "    indented",
    "\t",
    "tags: [a",
    "> quote",
    "<<<<<<< HEAD",
    "=======",
    ">>>>>>> x",
    "\\## 09:00",
    "[[Page|alias]]",
    "`code`",
    "## 24:00",
    "\x00",
    "é",
    "東京",
    "\u2028",
    "\ufeff",
    "| a | b |",
    "## 9:31 am x",
]


def fuzzed_file(choose: random.Random) -> bytes:
    ends = choose.choice((["\n"], ["\r\n"], ["\n", "\r\n", "\r"]))
    text = "".join(
        choose.choice(LINES) + choose.choice(ends) for _ in range(choose.randrange(1, 25))
    )
    data = text.encode()
    if choose.random() < 0.3:
        at = choose.randrange(len(data) + 1)
        data = (
            data[:at]
            + bytes(choose.randrange(256) for _ in range(choose.randrange(4)))
            + data[at:]
        )
    return data[: choose.randrange(len(data))] if choose.random() < 0.1 else data


def test_fuzzed_files(zoo: Workspace, rounds: Rounds) -> None:
    zone = zoo.clock()
    for number in rounds(1_500, 200_000):
        data = fuzzed_file(random.Random(number))
        parsed = parse_entries(data, "2026-11-20.md", mtime=zone, day_file="%Y-%m-%d.md")
        ends = [0, *(entry.place.end for entry in parsed.entries if entry.place)]
        starts = [entry.place.start for entry in parsed.entries if entry.place]
        assert all(end <= start for end, start in zip(ends, starts, strict=False)), (
            "entries stand apart, in order"
        )
        assert len({entry.id for entry in parsed.entries}) == len(parsed.entries)
        if number % 10 == 0:
            path = zoo.config.journal / f"{number % 400}.md"
            path.write_bytes(data)
            if number % 100 == 0:
                assert (
                    search(zoo, "kingfishers", strategy="lexical").hits[0].entry.title
                    == "The known entry"
                )
                assert path.read_bytes() == data
    assert zoo.index.file.check() is None and zoo.index.file.check(whole=True) is None


@pytest.mark.slow
@given(st.binary(max_size=400) | st.text().map(lambda text: text.encode("utf-8", "replace")))
@settings(max_examples=1_000_000, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_bytes_are_read(data: bytes) -> None:
    parse_entries(data, "x.md", mtime=open_clock(), day_file="%Y-%m-%d.md")


def open_clock() -> Any:
    from homes import Clock

    return Clock()()


# -- the command line
# -----------------------------------------------------------------------------------------

COMMANDS: list[tuple[list[str], int, str]] = [
    # (arguments, exit status, what the message names)
    (["nonsense"], 2, "search"),
    (["search", "fox", "--limit", "0"], 2, "1 to 100"),
    (["search", "fox", "--limit", "-1"], 2, "1 to 100"),
    (["search", "fox", "--limit", "1000000000"], 2, "1 to 100"),
    (["search", "fox", "--limit", "many"], 2, "integer"),
    (["search", "fox", "--limit", "1.5"], 2, "integer"),
    (["search", "fox", "--strategy", "magic"], 2, "hybrid"),
    (["search", "fox", "--type", "meeting"], 2, "decision"),
    (["search", "fox", "--since", "never"], 2, "yesterday"),
    (["search", "fox", "--since", "2026-02-30"], 2, "2026-11-03"),
    (["search", "fox", "--since", "2026-11-02", "--until", "2026-11-01"], 2, "later"),
    (["search", "fox", "--days", "-3"], 2, "0 to"),
    (["search", "fox", "--days", "3", "--since", "today"], 2, "not both"),
    (["search", "fox", "--min-importance", "11"], 2, "0 to 10"),
    (["search", "fox", "--min-importance", "7", "--max-importance", "3"], 2, "above"),
    (["search", "fox", "--nonsense"], 2, "--limit"),
    (["search", "--", "--limit"], 0, ""),
    (["search", ""], 0, ""),
    (["search", "\udcff"], 0, ""),
    (["recent", "--limit", "0"], 2, "1 to 100"),
    (["find", "--limit", "101"], 2, "1 to 100"),
    (["find", "--order", "sideways"], 2, "newest"),
    (["find", "--cursor", "garbage"], 2, "cursor"),
    (["find", "--around", "zzzzzzzz"], 1, "zzzzzzzz"),
    (["find", "--parent", "zzzzzzzz"], 1, "zzzzzzzz"),
    (["get"], 2, "ID"),
    (["get", "zzzzzzzz"], 1, "zzzzzzzz"),
    (["get", ""], 1, "id"),
    (["get", "../../etc/passwd"], 1, "passwd"),
    (["get", "*"], 1, "*"),
    (["update", "zzzzzzzz", "--content", "x"], 1, "zzzzzzzz"),
    (["update", "zzzzzzzz"], 2, "content"),
    (["delete", "zzzzzzzz", "--yes"], 1, "zzzzzzzz"),
    (["restore", "zzzzzzzz"], 1, "zzzzzzzz"),
    (["doctor", "--restore", "zzzzzzzz"], 1, "zzzzzzzz"),
    (["doctor", "--dismiss", "zzzzzzzz"], 1, "zzzzzzzz"),
    (["doctor", "--fix", "--dismiss", "x"], 2, "Only one of"),
    (["save", ""], 2, "text"),
    (["save", "  \n "], 2, "text"),
    (["save", "x", "--type", "meeting"], 2, "handoff"),
    (["save", "x", "--importance", "-1"], 2, "0 to 10"),
    (["save", "x", "--importance", "nan"], 2, "integer"),
    (["save", "x", "--at", "soonish"], 2, "yesterday"),
    (["save", "x", "--at", "2026-13-01"], 2, "2026-11-03"),
    (["save", "x", "--supersedes", "zzzzzzzz"], 1, "zzzzzzzz"),
    (["save", "x", "--parent", "zzzzzzzz"], 1, "zzzzzzzz"),
    (["save", "two words tagged", "--tag", "two words"], 0, ""),
    (["init", "--journal", "/nowhere/at/all"], 1, "Create it"),
    (["edit", "zzzzzzzz"], 1, "zzzzzzzz"),
]


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Home:
    base = tmp_path_factory.mktemp("busy")
    home = ForkedHome(base / "home", {"HOME": str(base)}, forks)
    home.ask("save", "The quick brown fox.")
    return home


@pytest.mark.needs(feature="importing")
@pytest.mark.parametrize(
    ("args", "code", "names"),
    COMMANDS,
    ids=[" ".join(c[0])[:40].encode("ascii", "replace").decode() for c in COMMANDS],
)
def test_a_wrong_command_is_told_what_is_valid(
    busy: Home, args: list[str], code: int, names: str
) -> None:
    before = busy.files()
    answer = steadily(*args, env=busy.environment())
    assert answer.code == code and "Traceback" not in answer.text
    assert names in answer.text
    if code:
        assert busy.files() == before
        flags = args[: args.index("--")] if "--" in args else args
        said = steadily(*flags, "--json", env=busy.environment()).json
        assert said["success"] is False and set(said["error"]) == {
            "code",
            "message",
            "valid",
            "hint",
        }
        assert said["error"]["valid"] or said["error"]["hint"]


# -- configuration and environment
# ----------------------------------------------------------------------------

CONFIGS: list[tuple[bytes, str]] = [
    (b"nonsense = 1\n", "day_file"),
    (b"journal = [\n", "config.toml"),
    (b"\xff\xfe\x00", "config.toml"),
    (b"journal = 5\n", "journal"),
    (b"threads = 'many'\n", "threads"),
    (b"threads = -1\n", "threads"),
    (b"exclude = 'x'\n", "exclude"),
    (b"day_file = 'notes.md'\n", "day_file"),
    (b"day_file = '../%Y-%m-%d.md'\n", "day_file"),
    (b"model = 'no-such-model'\n", ""),
    (b"[search]\nk = -1\n", "k"),
    (b"[search]\nk = nan\n", "k"),
    (b"[search]\nhalf_life_days = 0\n", "half_life_days"),
    (b"[search]\ndecay_floor = 2\n", "decay_floor"),
    (b"[search]\nweights = {lexical = -1.0}\n", "weights"),
    (b"[search]\nweights = {lexical = inf}\n", "weights"),
    (b"[search]\nweights = {lexical = 0.0, semantic = 0.0}\n", "weights"),
    (b"[search]\nweights = {nonsense = 1.0}\n", "lexical"),
    (b"[search]\nnonsense = 1\n", "half_life_days"),
]


@pytest.mark.parametrize(("toml", "names"), CONFIGS)
def test_a_wrong_config_is_named_with_its_key(tmp_path: Path, toml: bytes, names: str) -> None:
    home = Home(tmp_path / "home", {"HOME": str(tmp_path)})
    steadily("save", "The quick brown fox.", env=home.environment())
    (home.path / "config.toml").write_bytes(toml)
    answer = steadily("search", "fox", env=home.environment())
    assert "Traceback" not in answer.text and names in answer.text
    assert answer.code == (1 if names else 0)
    assert (home.path / "config.toml").read_bytes() == toml


@pytest.mark.parametrize(
    ("env", "names"),
    [
        ({"SYNAPTIC_NOW": "yesterday"}, "SYNAPTIC_NOW"),
        ({"SYNAPTIC_NOW": "99999-01-01"}, "SYNAPTIC_NOW"),
        ({"SYNAPTIC_JOURNAL": "/nowhere/at/all"}, "/nowhere/at/all"),
        ({"SYNAPTIC_HOME": "/dev/null/home"}, "/dev/null/home"),
    ],
)
def test_a_wrong_environment_is_named(busy: Home, env: dict[str, str], names: str) -> None:
    answer = busy.run("save", "x y z", **env)
    assert answer.code == 1 and names in answer.err and "Traceback" not in answer.text


def test_without_a_home_of_its_own(busy: Home) -> None:
    env = {name: value for name, value in busy.environment().items() if name != "HOME"}
    answer = forked("search", "fox", env=env)
    assert answer.code == 0 and "fox" in answer.out


def test_a_config_that_may_not_be_read(home: Home) -> None:
    (home.path / "config.toml").mkdir(parents=True)
    answer = home.run("recent")
    assert answer.code == 1 and "config.toml" in answer.err and "Traceback" not in answer.text


# -- tools
# ----------------------------------------------------------------------------------------------------

CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("search", {}, "query"),
    ("search", {"query": "x", "limit": 0}, "1 to 100"),
    ("search", {"query": "x", "limit": -1}, "1 to 100"),
    ("search", {"query": "x", "limit": 10**9}, "1 to 100"),
    ("search", {"query": "x", "nonsense": 1}, "min_importance"),
    ("search", {"query": ["a", "b"]}, "query"),
    ("search", {"query": "x", "type": "meeting"}, "decision"),
    ("search", {"query": "x", "since": "never"}, "yesterday"),
    ("search", {"query": "x", "days": "soon"}, "days"),
    ("search", {"query": "x", "strategy": "magic"}, "hybrid"),
    ("search", {"query": "x", "max_tokens": -5}, "100 to"),
    ("find", {"order": "sideways"}, "newest"),
    ("find", {"cursor": "garbage"}, "cursor"),
    ("find", {"around": "zzzzzzzz"}, "zzzzzzzz"),
    ("get", {}, "id"),
    ("get", {"ids": []}, "id"),
    ("get", {"ids": [1, 2]}, "1"),
    ("get", {"ids": "x" * 100_000}, "id"),
    ("recent", {"limit": 1000}, "1 to 100"),
    ("save", {}, "content"),
    ("save", {"content": ""}, "text"),
    ("save", {"content": "x", "importance": 99}, "0 to 10"),
    ("save", {"content": "x", "tags": {"a": 1}}, "tag"),
    ("save", {"content": "x", "at": "soonish"}, "yesterday"),
    ("save", {"content": "x", "supersedes": "zzzzzzzz"}, "zzzzzzzz"),
    ("update", {"id": "zzzzzzzz", "content": "x"}, "zzzzzzzz"),
    ("update", {"content": "x"}, "id"),
    ("delete", {"id": ""}, "id"),
    ("nonsense", {}, "context_search"),
]


@pytest.fixture(scope="module")
def server(busy: Home) -> Iterator[Server]:
    with busy.server() as server:
        yield server


@pytest.mark.parametrize(("tool", "arguments", "names"), CALLS)
def test_a_wrong_call_is_told_what_is_valid(
    busy: Home, server: Server, tool: str, arguments: dict[str, Any], names: str
) -> None:
    before = busy.files()
    with pytest.raises(Refusal) as refused:
        server.call(tool, **arguments)
    assert (
        names in str(refused.value)
        and "Traceback" not in str(refused.value)
        and len(str(refused.value)) < 1_000
    )
    assert busy.files() == before


def test_what_a_model_may_send_by_the_megabyte(server: Server) -> None:
    for query in ('"' * 1_000_000, "東" * 300_000, "NEAR(" * 200_000):
        assert server.call("search", query=query)["mode"]
    saved = server.call("save", content="w " * 499_999 + "ww")
    (entry,) = server.call("get", ids=saved["id"])["entries"]
    assert len(entry["content"]) + entry["left"] == 1_000_000
    (rest,) = server.call("get", ids=saved["id"], offset=900_000)["entries"]
    assert len(rest["content"]) == 100_000 and "left" not in rest
    assert server.call("search", query="fox")["total"] >= 1


# -- supersedes
# -----------------------------------------------------------------------------------------------


def test_entries_that_supersede_each_other_are_both_found(zoo: Workspace) -> None:
    one = save(zoo, "The walrus decision, first.").id
    two = save(zoo, "The walrus decision, second.", supersedes=[one]).id
    (day,) = zoo.config.journal.glob("2026-11-21.md")
    day.write_text(day.read_text().replace(f"syn:{one}", f"syn:{one} supersedes={two}"))
    shown = {hit.entry.id for hit in search(zoo, "walrus").hits}
    assert two in shown
    with pytest.raises(SynapticError, match="itself"):
        from synaptic import update

        update(zoo, two, supersedes=[two])
    shutil.rmtree(zoo.config.journal)
