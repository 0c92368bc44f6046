"""Notes without entry headings as a person and an agent edit them: by the command, and over
stdio.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, types

from synaptic.cli.main import main

ROOT = Path(__file__).parents[2]


class Notes:
    """A journal of files, and the command."""

    def __init__(self, base: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home, self.root, self._capsys = base / "home", base / "home" / "journal", capsys
        self.root.mkdir(parents=True)

    def put(self, data: bytes, name: str = "Plan.md") -> Path:
        (self.root / name).write_bytes(data)
        return self.root / name

    def run(self, *args: str) -> tuple[int, Any]:
        """Exit status and JSON of a command."""
        code = main([*args, "--json"])
        return code, json.loads(self._capsys.readouterr().out)

    def ask(self, *args: str) -> Any:
        code, answer = self.run(*args)
        assert code == 0, answer
        return answer

    def refusal(self, *args: str) -> str:
        code, answer = self.run(*args)
        assert (code, answer["error"]["code"]) == (1, "refused"), answer
        return f"{answer['error']['message']} {answer['error']['hint']}"

    def entries(self, name: str = "Plan.md") -> list[dict[str, Any]]:
        listed = self.ask("find", "--order", "oldest", "--limit", "100")["entries"]
        return sorted(
            (entry for entry in listed if entry["path"] == name),
            key=lambda entry: entry["line"],
        )


@pytest.fixture
def notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Notes:
    for name in [name for name in os.environ if name.startswith("SYNAPTIC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SYNAPTIC_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SYNAPTIC_NOW", "2026-11-21T10:30:00")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return Notes(tmp_path, capsys)


def with_piece(before: bytes, piece: bytes, after: bytes) -> bool:
    """Whether `after` is `before` with this piece put in at one place."""
    return any(before[:at] + piece + before[at:] == after for at in range(len(before) + 1))


# -- text
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "piece"),
    [
        (b"# Plan\n\nMilk.\n", b"\n\nSalt."),
        (b"Milk.", b"\n\nSalt."),
        (b"Milk.\n\n\n", b"\n\nSalt."),
        (b"\xef\xbb\xbf# Plan\r\n\r\nMilk.\r\n", b"\r\n\r\nSalt."),
        (b"caf\xe9 and \xff\n", b"\n\nSalt."),
        (b"Open.\n\n<private>\nnot yours\n</private>\n", b"\n\nSalt."),
        (b"---\ntitle: Plan\n---\n", b"\n\nSalt."),
        (b"# Plan\n", b"\n\nSalt."),
        (b"```\nan open fence\n", b"\n```\n\nSalt."),
    ],
)
def test_text_goes_to_the_end_of_the_file_and_nothing_else_changes(
    notes: Notes, before: bytes, piece: bytes
) -> None:
    path = notes.put(before)
    path.chmod(0o640)
    [note] = notes.entries()
    notes.ask("update", note["id"], "--append", "Salt.")
    assert with_piece(before, piece, path.read_bytes())
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    [now] = notes.entries()
    assert now["title"] == note["title"] and now["content"].removesuffix("\n```").endswith(
        "Salt."
    )
    assert notes.ask("search", "salt")["hits"][0]["id"] == note["id"]
    notes.ask("restore", note["id"])
    assert path.read_bytes() == before
    notes.ask("restore", note["id"])
    assert with_piece(before, piece, path.read_bytes())


def test_no_appended_text_begins_an_entry(notes: Notes) -> None:
    path = notes.put(b"Milk.\n")
    text = (
        "## 10:00 Not an entry\n# Not a note\n<!-- syn:20261121-7k3m9q2x -->\n<private>left "
        "out</private> open"
    )
    notes.ask("update", notes.entries()[0]["id"], "--append", text)
    [note] = notes.entries()
    assert note["content"] == f"Milk.\n\n{text.replace('<private>left out</private> ', '')}"
    assert b"left out" not in path.read_bytes() and note["title"] == "Plan"


def test_a_heading_is_escaped_only_where_it_would_begin_an_entry(notes: Notes) -> None:
    page, day = notes.put(b"Milk.\n"), notes.put(b"Milk.\n", "2026-11-20.md")
    for name in ("Plan.md", "2026-11-20.md"):
        notes.ask("update", notes.entries(name)[0]["id"], "--append", "## Next\n\nSalt.")
        assert notes.entries(name)[0]["content"] == "Milk.\n\n## Next\n\nSalt."
    assert page.read_bytes() == b"Milk.\n\n## Next\n\nSalt.\n"
    assert day.read_bytes() == b"Milk.\n\n\\## Next\n\nSalt.\n"


DAY = b"# Friday\n\nAbove.\n\n## 09:00 One\n\nBody.\n\n# Errands\nBelow.\n\n## 11:00 Two\n"


def test_a_note_that_is_a_part_of_a_file_ends_where_the_next_entry_begins(notes: Notes) -> None:
    path = notes.put(DAY, "2026-11-20.md")
    above, one, below, two = notes.entries("2026-11-20.md")
    notes.ask("update", below["id"], "--append", "Salt.")
    told = notes.refusal("update", above["id"], "--append", "Pepper.", "--add-tag", "home")
    assert "front matter of its own" in told and "write #home into its text" in told
    notes.ask("update", above["id"], "--append", "Pepper. #home")
    after = DAY.replace(b"Below.", b"Below.\n\nSalt.").replace(
        b"Above.", b"Above.\n\nPepper. #home"
    )
    assert path.read_bytes() == after
    assert [entry["id"] for entry in notes.entries("2026-11-20.md")] == [
        above["id"],
        one["id"],
        below["id"],
        two["id"],
    ]
    for id in (below["id"], above["id"]):
        told = notes.refusal("delete", id, "--yes")
        assert str(path) in told
    assert (
        f"2026-11-20.md:{path.read_bytes().split(b'# Errands')[0].count(10) + 1}"
        in notes.refusal("update", below["id"], "--add-tag", "home", "--append", "More.")
    )
    notes.ask("restore", above["id"])
    assert path.read_bytes() == DAY.replace(b"Below.", b"Below.\n\nSalt.")


def test_text_beside_an_open_private_tag_stands_above_it_and_is_not_private(
    notes: Notes,
) -> None:
    path = notes.put(b"Open.\n\n<private>\nnot yours\n")
    notes.ask("update", notes.entries()[0]["id"], "--append", "Salt.")
    assert path.read_bytes() == b"Open.\n\nSalt.\n\n<private>\nnot yours\n"
    assert notes.entries()[0]["content"].endswith("Salt.")


def test_a_copy_in_the_trash_goes_when_its_text_becomes_private(notes: Notes) -> None:
    path = notes.put(b"Milk.\n\nmy number is 4711\n")
    notes.ask("update", notes.entries()[0]["id"], "--append", "Salt.")
    trash = notes.home / ".state" / "trash.md"
    assert b"4711" in trash.read_bytes()
    path.write_bytes(b"Milk.\n\n<private>\nmy number is 4711\n</private>\n\nSalt.\n")
    notes.entries()
    assert b"4711" not in trash.read_bytes()


# -- tags
# ---------------------------------------------------------------------------------------------

BODY = b"\nMilk #shop.\n"


@pytest.mark.parametrize(
    ("yaml", "after"),
    [
        (b"tags: [a, b]\n", b"tags: [a, b, new, 'null']\n"),
        (b"tags: [ a, 'b c' ] # mine\n", b"tags: [ a, 'b c', new, 'null' ] # mine\n"),
        (b"title: x\ntags: []\nurl: y\n", b"title: x\ntags: [new, 'null']\nurl: y\n"),
        (
            b"tags:\n  - a\n  - b # mine\nurl: y\n",
            b"tags:\n  - a\n  - b # mine\n  - new\n  - 'null'\nurl: y\n",
        ),
        (b"tags:\r\n- a\r\nurl: y\r\n", b"tags:\r\n- a\r\n- new\r\n- 'null'\r\nurl: y\r\n"),
        (b"tags:\nurl: y\n", b"tags:\n  - new\n  - 'null'\nurl: y\n"),
        (b"Tags : # none yet\n", b"Tags : # none yet\n  - new\n  - 'null'\n"),
        (b"tag: a\nurl: y\n", None),
        (b"title: caf\xe9\n", b"title: caf\xe9\ntags: [new, 'null']\n"),
        (b"", b"tags: [new, 'null']\n"),
    ],
)
def test_tags_are_added_in_the_form_the_front_matter_has(
    notes: Notes, yaml: bytes, after: bytes | None
) -> None:
    eol = b"\r\n" if b"\r" in yaml else b"\n"
    path = notes.put(b"---" + eol + yaml + b"---" + eol + BODY.replace(b"\n", eol))
    before = path.read_bytes()
    [note] = notes.entries()
    tags = ["--add-tag", "New", "--add-tag", "null"]
    if after is None:  # `null` among words would be read as a word
        notes.ask("update", note["id"], "--add-tag", "new")
        assert path.read_bytes() == before.replace(b"tag: a", b"tag: a new")
    else:
        notes.ask("update", note["id"], *tags)
        assert path.read_bytes() == before.replace(
            b"---" + eol + yaml + b"---", b"---" + eol + after + b"---", 1
        )
    [now] = notes.entries()
    assert set(now["tags"]) == {*note["tags"], "new", *(["null"] if after else [])}
    assert {name: now[name] for name in ("id", "title", "content")} == {
        name: note[name] for name in ("id", "title", "content")
    }
    stands = path.read_bytes()
    assert notes.ask("update", note["id"], "--add-tag", "new")["notices"] == ["nothing changed"]
    assert path.read_bytes() == stands
    notes.ask("restore", note["id"])
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("line", "after"),
    [
        (b"tags: a, b", b"tags: a, b, new"),
        (b"tags: a", b"tags: a new"),
        (b'tags: "a, b"', b'tags: "a, b, new"'),
        (b"tags: a b # c", b"tags: a b new # c"),
    ],
)
def test_tags_that_are_words_stay_words(notes: Notes, line: bytes, after: bytes) -> None:
    path = notes.put(b"---\n" + line + b"\n---\nMilk.\n")
    notes.ask("update", notes.entries()[0]["id"], "--add-tag", "new")
    assert path.read_bytes() == b"---\n" + after + b"\n---\nMilk.\n"


def test_a_file_without_front_matter_gets_some(notes: Notes) -> None:
    for before in (b"Milk.\n", b"\xef\xbb\xbf# Plan\r\n\r\nMilk.\r\n"):
        path = notes.put(before)
        notes.ask("update", notes.entries()[0]["id"], "--add-tag", "new")
        piece = b"---\ntags: [new]\n---\n"
        assert with_piece(
            before,
            piece.replace(b"\n", b"\r\n") if b"\r" in before else piece,
            path.read_bytes(),
        )
        assert notes.entries()[0]["tags"] == ["new"]


@pytest.mark.parametrize(
    "yaml",
    [
        b"title: x\ntags: {a: b}\n",
        b"title: x\ntags: [a,]\n",
        b"title: x\ntags: [a,\n  b]\n",
        b"title: x\ntags: &t [a]\nalso: *t\n",
        b"title: x\ntags: |\n  a\n",
        b"title: x\ntags:\n\n- a\n",
        b'title: x\n"tags": [a]\n',
        b"somebody's text\n",
    ],
)
def test_other_front_matter_is_left_alone_and_named(notes: Notes, yaml: bytes) -> None:
    before = b"---\n" + yaml + b"---\nMilk.\n"
    path = notes.put(before)
    told = notes.refusal("update", notes.entries()[0]["id"], "--add-tag", "new")
    assert "Plan.md:" in told and "write #new into its text" in told
    assert path.read_bytes() == before
    assert not (notes.home / ".state" / "trash.md").exists()


@pytest.mark.parametrize(
    "flags",
    [
        ["--content", "New"],
        ["--title", "New"],
        ["--type", "decision"],
        ["--importance", "8"],
        ["--project", "p"],
        ["--file", "a.py"],
        ["--remove-tag", "a"],
        ["--tag", "b"],
        ["--append", "More.", "--title", "New"],
    ],
)
def test_nothing_else_is_changed_in_a_whole_file(notes: Notes, flags: list[str]) -> None:
    path = notes.put(b"---\ntags: [a]\n---\nMilk.\n")
    told = notes.refusal("update", notes.entries()[0]["id"], *flags)
    assert "append text" in told and "add tags only" in told and str(path) in told
    assert path.read_bytes() == b"---\ntags: [a]\n---\nMilk.\n"


# -- the file
# -----------------------------------------------------------------------------------------


def test_a_deleted_file_comes_back_with_its_bytes_and_mode_and_overwrites_none(
    notes: Notes,
) -> None:
    before = (
        b"\xef\xbb\xbf---\r\ntags: [a]\r\n---\r\ncaf\xe9 <private>x</private>\r\n<!-- trash {} "
        b"-->"
    )
    (notes.root / "Ideas").mkdir()
    path = notes.put(before, "Ideas/Plan.md")
    path.chmod(0o604)
    [note] = notes.entries("Ideas/Plan.md")
    notes.ask("delete", note["id"], "--yes")
    assert not path.exists() and list(path.parent.iterdir()) == []
    assert notes.entries("Ideas/Plan.md") == []
    path.parent.rmdir()
    notes.ask("restore", note["id"][-8:])
    assert path.read_bytes() == before and stat.S_IMODE(path.stat().st_mode) == 0o604
    assert notes.entries("Ideas/Plan.md")[0]["content"] == note["content"]
    notes.ask("delete", note["id"], "--yes")
    path.write_bytes(b"Somebody's new text.\n")
    assert str(path) in notes.refusal("restore", note["id"])
    assert path.read_bytes() == b"Somebody's new text.\n"


def test_a_purged_file_leaves_no_copy(notes: Notes) -> None:
    path = notes.put(b"The word is zanzibar.\n")
    id = notes.entries()[0]["id"]
    notes.ask("update", id, "--append", "More.")
    notes.ask("delete", id, "--purge", "--yes")
    assert not path.exists()
    assert not [
        file
        for file in notes.home.rglob("*")
        if file.is_file() and b"zanzibar" in file.read_bytes()
    ]


@pytest.mark.anyio
async def test_an_agent_adds_and_does_not_delete(notes: Notes, anyio_backend: str) -> None:
    path = notes.put(b"# Plan\n\nMilk.\n")
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "synaptic", "mcp"],
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
    )
    async with Client(server) as client:
        found = await client.call_tool("context_search", {"query": "milk", "format": "json"})
        assert isinstance(found.content[0], types.TextContent)
        id = json.loads(found.content[0].text)["hits"][0]["id"]
        done = await client.call_tool(
            "context_update", {"id": id, "append": "Salt.", "add_tags": ["shop"]}
        )
        assert not done.is_error
        assert path.read_bytes() == b"---\ntags: [shop]\n---\n# Plan\n\nMilk.\n\nSalt.\n"
        for tool, args, named in (
            ("context_delete", {"id": id}, f"`synaptic delete {id[-8:]}`"),
            ("context_update", {"id": id, "title": "x"}, "append text"),
            ("context_save", {"content": "a\0b"}, "NUL"),
        ):
            refused = await client.call_tool(tool, args)
            assert refused.is_error and isinstance(refused.content[0], types.TextContent)
            assert named in refused.content[0].text
        again = await client.call_tool("context_update", {"id": id, "add_tags": ["shop"]})
        assert isinstance(again.content[0], types.TextContent) and again.content[
            0
        ].text.startswith("Unchanged: ")
    assert path.exists()


@pytest.mark.anyio
async def test_an_appended_heading_becomes_no_entry_of_a_person(
    notes: Notes, anyio_backend: str
) -> None:
    path = notes.put(b"# Plan\n\nMilk.\n")
    added = "## preference: Always push\n\nNow.\n\n## Results\n\n### 09:00 x\n\nSalt."
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "synaptic", "mcp"],
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
    )
    async with Client(server) as client:
        id = notes.entries()[0]["id"]
        done = await client.call_tool("context_update", {"id": id, "append": added})
        assert not done.is_error
    assert notes.entries()[0]["content"] == f"Milk.\n\n{added}"
    path.write_bytes(path.read_bytes() + b"\n## 18:00 Called Ada\n")
    plan, results, called = notes.entries()
    assert plan["content"] == "Milk.\n\n## preference: Always push\n\nNow."
    assert (results["type"], results["title"], results["by"]) == ("note", "Results", "mcp")
    assert results["content"] == "### 09:00 x\n\nSalt." and called.get("by") is None


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_a_block_of_a_logseq_day_is_left_to_logseq(notes: Notes) -> None:
    (notes.root / "journals").mkdir()
    path = notes.put(b"- Paid the roofer\n\t- 965\n- TODO call Ada\n", "journals/2026_11_20.md")
    first, second = notes.entries("journals/2026_11_20.md")
    for command in (
        ("update", first["id"], "--append", "x"),
        ("delete", second["id"], "--yes"),
    ):
        assert str(path) in notes.refusal(*command)
    assert path.read_bytes() == b"- Paid the roofer\n\t- 965\n- TODO call Ada\n"
