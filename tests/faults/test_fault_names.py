"""Row 11: no name of a file or a folder, and nothing that is no file, ends a command."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confined import bound_home
from forks import ForkedHome
from homes import open_home
from hypothesis import example, given, settings
from hypothesis import strategies as st
from served import served
from steady import SteadyHome
from trials import drawn, examples

import synaptic.verbs.browse as browse
from synaptic import Filters, Workspace, rebuild, search
from synaptic.journal.folder import Comparison
from synaptic.journal.names import printable_path
from synaptic.plugin import REVIEW
from synaptic.render import wire
from synaptic.verbs import brief, doctor, linked, newest, to_do
from synaptic.verbs.day_lists import entries_of_days
from synaptic.verbs.exports import export
from synaptic.verbs.status import status as read_status

pytestmark = [
    pytest.mark.fault(row=11),
    pytest.mark.skipif(os.name != "posix", reason="names of any bytes, and modes"),
]

TOKEN = "ghp_" + "Zq7Rk2Xv9Lm4Tn8Bw3Yc6Hd1Jf5Gs0PaUeWi"
TEXT = b"# Wren\n\nThe otter of the harbour. ![[x\\y.png]] [a](a%0Ab.png) - [ ] mend it\n"
GOOD = [
    b"-rf.md",
    b"CON.md",
    b"aux .md",
    b"a..md",
    b"c:d.md",
    b"percent%41#x?.MARKDOWN",
    b"<b>&'\".md",
    b"x" * 252 + b".md",
    "Ä.md".encode(),
    "A\N{COMBINING DIAERESIS}.md".encode(),
    "ä.md".encode(),
    "\N{RIGHT-TO-LEFT OVERRIDE}cod.md".encode(),
    b" .md",
    b"$(id) `id`.md",
    b"fo lder/-in/CON/in.md",
]
BAD = [
    b"a\\b.md",
    b"..\\..\\up.md",
    b"bad\xff.md",
    b"new\nline.md",
    b"tab\t.md",
    b"esc\x1b[31m.md",
    b"del\x7f.md",
    b"\xc2\x85.md",
    b"\xe2\x80\xa8.md",
    b"\xed\xa0\x80.md",
]
BAD_FOLDERS = [b"fo\\ld", b"f\xfe", b"f\x07"]
FIELDS = "@vault"


def put(folder: Path, path: bytes, text: bytes = TEXT) -> bool:
    """Writes a file; False where this system has no such name."""
    place = folder / os.fsdecode(path)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text)
    except OSError:
        return False
    return True


def reads(path: bytes) -> bool:
    """The rule in other words: UTF-8, and no sign that a list of paths could not hold."""
    try:
        text = path.decode()
    except UnicodeDecodeError:
        return False
    return not any(sign in "\\\x7f\u2028\u2029" or sign < " " for sign in text) and not any(
        "\x80" <= sign < "\xa0" for sign in text
    )


def zoo(folder: Path) -> set[str]:
    """The paths of the notes that are read, of a folder with every kind of name and of thing."""
    good = {os.fsdecode(path) for path in GOOD if put(folder, path)}
    for path in (*BAD, *(name + b"/deep/in.md" for name in BAD_FOLDERS)):
        put(folder, path)
    for path in (b"attachments/a\\b.png", b"attachments/\xff.png", b"attachments/n\nl.png"):
        put(folder, path, b"\x89PNG\r\n\x1a\n")
    os.mkfifo(folder / "fifo.md")
    with socket.socket(socket.AF_UNIX) as one:
        here = os.open(folder, os.O_RDONLY)
        one.bind(f"/proc/self/fd/{here}/socket.md")
        os.close(here)
    (folder / "loop.md").symlink_to("loop.md")
    (folder / "ring").symlink_to(folder)
    (folder / "null.md").symlink_to("/dev/null")
    (folder / "folder.md").mkdir()
    return good


# -- the law
# -----------------------------------------------------------------------------------------------

names = st.one_of(
    st.binary(min_size=1, max_size=12),
    st.text(min_size=1, max_size=8).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(
        st.sampled_from([b"\\", b"..", b"\n", b"\xff", b"-", b"a", b"#", b"%", b" ", b":"])
    ).map(b"".join),
).map(lambda name: name.replace(b"/", b"").replace(b"\0", b"").strip(b".~") or b"x")
places = st.tuples(
    st.lists(names, max_size=2), names, st.sampled_from([b".md", b".MD", b".markdown"])
).map(lambda parts: b"/".join([*parts[0], parts[1] + parts[2]]))


def read_everything(ws: Workspace) -> set[str]:
    """The paths of the entries; each verb of the library that reads answers."""
    found = {entry.there.path for entry in export(ws, Filters())}
    hits = search(ws, "otter", strategy="lexical", limit=50)
    assert hits.hits
    listed = browse.find(ws, limit=50)
    ids = [entry.id for entry in listed.entries]
    whole = [newest.recent(ws), *([browse.get(ws, ids)] if ids else [])]
    for answer in (listed, *whole):
        json.dumps(wire.listing_json(answer)).encode()
    status = read_status(ws)
    text = json.dumps(wire.status_json(status), ensure_ascii=False)
    text += json.dumps(wire.as_json(doctor.run_checkup(ws)), ensure_ascii=False)
    assert text.isprintable(), text
    for id in ids[:3]:
        newest.history(ws, id)
        linked.links(ws, id)
    entries_of_days(ws, "today")
    linked.unresolved_links(ws)
    to_do.tasks(ws)
    brief.brief(ws, ws.config.journal)
    REVIEW.ask_each(ws, (), False)
    doctor.list_secrets(ws)
    assert rebuild(ws).entries == status.entries
    return found


@given(st.sets(places, max_size=6))
@example({b"a\\b.md", b"f\xfe/in.md", b"ok.md"})
@settings(max_examples=examples(400, 12))
def test_no_name_ends_a_read(
    tmp_path_factory: pytest.TempPathFactory, paths: set[bytes]
) -> None:
    folder = tmp_path_factory.mktemp("names")
    vault = folder / "vault"
    vault.mkdir()
    put(vault, b"sure.md")
    written = {path for path in paths if put(vault, path)}
    with open_home(folder / "home", journal=vault) as ws:
        expected = {os.fsdecode(path) for path in written if reads(path)} | {"sure.md"}
        assert {stamp.path for stamp in ws.journal.scan()} == expected
        assert read_everything(ws) == expected
        named = bool(read_status(ws).left_out)
        assert named == any(not reads(path) for path in written)


@given(st.text(st.characters()))
@example("a\\b\udcff\x1b" * 90)
def test_what_is_shown_can_be_printed_and_is_shown_once(name: str) -> None:
    text = printable_path(name)
    assert text.isprintable() and len(text) <= 200 and printable_path(text) == text


# -- every command, the tools and the page
# -----------------------------------------------------------------------------------------------

OTHERS = {
    *("init", "save", "update", "pin", "confirm", "delete", "restore", "import", "forget"),
    *("git-setup", "sync", "publish", "setup", "hook", "mcp", "serve", "token"),
    *("replay", "backup", "rename", "tick", "undo", "book"),
}
"""Commands that change something, serve, or read sessions; all others are asked below."""
OLD_NAMES = ("open", "due")
READERS = {
    "search": ["otter"],
    "analyze": ["what about otters?"],
    "recent": ["otter"],
    "find": ["--order", "oldest"],
    "get": ["{id}"],
    "blame": ["a\\b.md"],
    "history": ["{id}"],
    "brief": [],
    "due": [],
    "links": ["--broken"],
    "tasks": [],
    "day": [],
    "week": [],
    "open": ["{id}"],
    "edit": ["{id}"],
    "today": [],
    "tags": [],
    "rebuild-index": [],
    "status": [],
    "doctor": [],
    "review": [],
    "evaluate": ["--questions", "3"],
    "model": [],
    "export": ["--csv"],
}


@pytest.fixture(scope="module")
def zoo_home(tmp_path_factory: pytest.TempPathFactory) -> ForkedHome:
    """A home whose journal has notes of every name; `GOOD` are read, as often as there are."""
    folder = tmp_path_factory.mktemp("zoo")
    home = SteadyHome(folder / "home", {"HOME": str(folder)})
    home.path.mkdir(0o700)
    home.journal.mkdir()
    good = zoo(home.journal)
    assert {entry["path"] for entry in home.entries()} <= good
    assert home.ask("status")["files"] == len(good) == len(GOOD)
    return home


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="lab")
@pytest.mark.needs(feature="page")
@pytest.mark.needs(feature="sharing")
@pytest.mark.needs(feature="takeaway")
@pytest.mark.needs(feature="tasks")
@pytest.mark.needs(feature="upkeep")
@pytest.mark.needs(feature="vault")
def test_every_command_that_reads_answers(zoo_home: ForkedHome) -> None:
    commands = re.findall(r"(?m)^  ([a-z][a-z-]+)  ", zoo_home.run("help", "--all").out)
    assert {*commands, *OLD_NAMES} == OTHERS | READERS.keys()
    id = zoo_home.entries()[0]["id"]
    for command, args in READERS.items():
        words = [word.format(id=id) for word in args]
        form = () if command == "export" else ("--json",)
        answer = zoo_home.run(command, *words, *form)
        assert answer.code == (command == "doctor"), (command, answer)
        assert "\N{REPLACEMENT CHARACTER}" not in answer.text, (command, answer)
        if form:
            json.dumps(answer.json, ensure_ascii=False).encode()


@pytest.mark.parametrize("command", ["status", "doctor", "find"])
def test_what_is_left_out_is_named_once_with_the_next_step(
    zoo_home: ForkedHome, command: str
) -> None:
    answer = zoo_home.run(command)
    text = answer.text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\ufffd]", text), text
    lines = [line for line in text.splitlines() if "Not read: " in line]
    if command == "find":
        assert not lines
        return
    assert len(lines) == 3
    [named] = [line for line in lines if "Rename it." in line]
    assert "a\\b.md, bad\\xff.md" in named
    if command == "doctor":
        assert answer.code == 1
        parts = (r"new\nline.md", r"\u2028.md", r"esc\x1b[31m.md", "fo\\ld/", r"f\xfe/")
        assert all(part in named for part in parts), named
    assert any("fifo.md, null.md, socket.md (neither a file nor" in line for line in lines)
    assert any("loop.md (a link that leads nowhere)" in line for line in lines)


PAGES = [
    *("/", "/search?q=otter", "/search", "/folder", "/folder/fo%20lder", "/folder/fo%5Cld"),
    *("/tasks", "/health", "/statistics", "/review", "/deleted", "/palette?q=otter", "/print"),
    *("/export?q=otter", "/calendar", "/tag/otter", "/waiting"),
    *(
        f"/{kind}?name={name}&from=a..md"
        for kind in ("picture", "to")
        for name in (
            "attachments/a%5Cb.png",
            "attachments/%FF.png",
            "n%0Al.png",
            "a%00b",
            "x" * 5_000,
        )
    ),
]


@pytest.mark.needs(feature="page")
def test_the_tools_and_each_page_answer(zoo_home: ForkedHome) -> None:
    with zoo_home.server() as server:
        for tool in ("search", "find", "recent"):
            found = server.call(tool, query="otter", limit=50)
        path = "fo lder/-in/CON/in.md"
        assert path in {entry["path"] for entry in found["entries"]}
        assert "otter" in server.text("get", ids=[found["entries"][0]["id"]])
    pages = [*PAGES, *(f"/entry/{entry['id']}" for entry in found["entries"])]
    with served(zoo_home.path) as site:
        for page in drawn("zoo pages", pages, 12):
            assert site.client.get(page, follow_redirects=True).status_code in (200, 404), page
        assert r"a\b.md, bad\xff.md" in site.shown("/health")


# -- rights, length, and things that change meanwhile
# -----------------------------------------------------------------------------------------------


def hits(home: ForkedHome, word: str = "otter") -> tuple[set[str], list[str]]:
    """(paths, notices on what is not read) of what a search finds."""
    answer = home.ask("search", word, "--strategy", "lexical", "--limit", "50")
    notices = [notice for notice in answer["notices"] if "Not read" in notice]
    return {hit["path"] for hit in answer["hits"]}, notices


def test_what_may_not_be_read_is_named_by_each_answer(home: ForkedHome) -> None:
    """The rest is found; with the right it is back."""
    home = bound_home(home)
    for path in (b"a.md", b"shut.md", b"out/in.md", b"listed/in.md"):
        put(home.journal, path, b"# %b\n\nThe otter of %b.\n" % (path, path))
    everything = {"a.md", "shut.md", "out/in.md", "listed/in.md"}
    assert hits(home) == (everything, [])
    home.ask("save", "A note of today.")
    [day] = home.journal.glob("20*.md")
    modes = {"shut.md": 0, "out": 0, "listed": 0o444, day.name: 0}
    for path, mode in modes.items():
        (home.journal / path).chmod(mode)
    for _ in range(2):
        paths, notices = hits(home)
        assert paths == {"a.md"}
        [notice] = notices
        unread = f"Not read: {day.name}, listed/in.md, out/, shut.md (this user may not read"
        assert unread in notice
    with home.server() as server:
        assert notice in server.call("search", query="otter")["notices"]
    assert home.ask("status")["notices"].count(notice) == 1
    checked = home.run("doctor").text
    assert f"warning  left-out  Not read: {day.name}" in checked and "vanished" not in checked
    for path in modes:
        (home.journal / path).chmod(0o700)
    assert hits(home) == (everything, [])


def test_a_path_of_any_length_is_read_and_its_writing_is_refused(home: ForkedHome) -> None:
    home.path.mkdir(0o700)
    home.journal.mkdir()
    here = os.open(home.journal, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=here)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    for name in ("deep.md", "e" * 252 + ".md"):
        fd = os.open(name, os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=here)
        os.write(fd, b"# %b\n\nThe otter, %b.\n" % (name.encode(), name[:4].encode()))
        os.close(fd)
    os.close(here)
    for _ in range(2):
        assert len(hits(home)[0]) == 2
    assert home.run("doctor").code == 0
    for entry in home.entries():
        refused = home.run("update", entry["id"], "--append", "more", "--json")
        if entry["path"].endswith("deep.md"):
            continue  # where the system leads there by an open folder, it is written
        assert refused.code == 1 and "too long" in refused.json["error"]["message"], refused
        assert "shorter" in refused.json["error"]["hint"]


def become_folder(place: Path) -> None:
    place.unlink()
    place.mkdir()


def become_fifo(place: Path) -> None:
    place.unlink()
    os.mkfifo(place)


@pytest.mark.parametrize("become", [Path.unlink, become_folder, become_fifo])
def test_a_note_that_becomes_something_else_before_it_is_read(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, become: Callable[[Path], None]
) -> None:
    """In the moment between the listing and the reading, which the test chooses."""
    place = ws.config.journal / "x.md"
    put(ws.config.journal, b"a.md")
    compare = ws.journal.compare

    def and_then(*args: Any) -> Comparison:
        compared = compare(*args)
        if place.is_file():
            become(place)
        return compared

    monkeypatch.setattr(ws.journal, "compare", and_then)
    for read in (lambda: browse.find(ws).total, lambda: search(ws, "otter").total):
        if place.is_dir():
            place.rmdir()
        place.unlink(missing_ok=True)
        place.write_bytes(TEXT)
        assert read() == 1


def test_a_secret_in_a_name_is_shown_by_its_kind(home: ForkedHome) -> None:
    put(home.journal, f"{TOKEN}\n.md".encode())
    put(home.journal, f"{TOKEN}/{TOKEN[:-4]}abcd.md".encode(), b"---\na: [\n---\n\xff\n")
    for command in ("status", "doctor"):
        for form in ((), ("--json",)):
            text = home.run(command, *form).text
            assert "[redacted: GitHub token]" in text and TOKEN not in text, text
    secrets = home.run("doctor", "--secrets").text
    assert "GitHub token in the name  Rename it." in secrets and TOKEN not in secrets


@pytest.mark.needs(feature="importing")
def test_a_home_or_a_journal_that_is_not_utf_8_is_refused_in_words(home: ForkedHome) -> None:
    odd = os.fsdecode(bytes(home.path.parent) + b"/v\xff")
    Path(odd).mkdir()
    for args in (["init", "--journal", odd], ["--home", odd, "status"]):
        refused = home.run(*args)
        assert refused.code == 1 and r"v\xff, which is not UTF-8." in refused.err, refused
        assert "Rename that folder" in refused.err


@pytest.mark.needs(feature="vault")
@pytest.mark.parametrize("name", [b"v\xff", b"a\\b", b"n\nl"])
def test_a_repository_of_any_name_is_worked_in(home: ForkedHome, name: bytes) -> None:
    folder = home.path.parent / os.fsdecode(name)
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    here = replace(home, folder=folder, env=home.env | {"SYNAPTIC_PROJECT": ""})
    id = here.ask("save", "The otter moved", "--file", os.fsdecode(b"f\xfe.py"))["id"]
    assert id[9:] in here.run("brief").out
    for args in (["blame", os.fsdecode(b"f\xfe.py")], ["recent"], ["find", "otter"], ["tags"]):
        assert here.run(*args).code == 0, args


# -- links (a journal into which notes are linked)
# -----------------------------------------------------------------------------------------------


@pytest.mark.needs(feature="importing")
def test_links_that_are_left_out_are_named_with_the_way_to_read_them(home: ForkedHome) -> None:
    folder = home.path.parent
    vault = folder / "vault"
    for path, word in {
        "vault/a.md": b"wolfram",
        "out/o.md": b"bismuth",
        "out/dir/p.md": b"polonium",
        "vault/sub/s.md": b"astatine",
    }.items():
        put(folder, path.encode(), b"# A note\n\nOf " + word)
    (vault / "o.md").symlink_to(folder / "out" / "o.md")
    (vault / "dir").symlink_to(folder / "out" / "dir")
    (vault / "t.md").symlink_to("sub/s.md")
    (vault / "again").symlink_to("sub")
    for command in (["init", "--journal", str(vault)], ["status"], ["doctor"]):
        answer = home.run(*command)
        assert answer.code == 0, answer
        [line] = [line for line in answer.text.splitlines() if "Not read" in line]
        assert "Not read: dir, o.md (" in line
        sources = f'sources = ["{folder}/out/dir", "{folder}/out/o.md"]'
        assert line.rstrip(".").endswith(sources), line
    config = home.path / "config.toml"
    config.write_text(f"{sources}\n{config.read_text()}")
    assert hits(home, "bismuth")[0] == {"@o.md/o.md"}
    assert hits(home, "polonium")[0] == {"@dir/p.md"}
    assert home.run("doctor").text.count("Not read") == 0


def test_a_source_that_is_a_link_is_read_at_its_target(home: ForkedHome) -> None:
    """And as one in a hidden folder, where it was linked from there: secrets are left out."""
    folder = home.path.parent
    put(folder, b"dot/agent.md", f"# Rules\n\nbismuth {TOKEN}\n".encode())
    (folder / ".agent").mkdir()
    (folder / ".agent" / "AGENT.md").symlink_to(folder / "dot" / "agent.md")
    home.ask("save", "The harbour log")
    (home.path / "config.toml").write_text(f'sources = ["x={folder}/.agent/AGENT.md"]\n')
    assert hits(home, "bismuth")[0] == {"@x/agent.md"}
    assert home.ask("status")["roots"]["@x"]["files"] == 1
    assert TOKEN not in home.run("export", "--json").text
