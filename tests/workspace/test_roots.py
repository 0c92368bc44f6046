"""Folders that are read in place, and the sessions of the home, beside the journal."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from journals import home_journal, numbered
from outside import Home, Refusal

from synaptic.config import load_config
from synaptic.errors import ConfigError, Refused
from synaptic.features.importing.known_entries import digest_path
from synaptic.journal.journal import Journal

NOTES = {
    "Daily/2026-11-20.md": "# 2026-11-20\n\n## 09:30 Called the harbour master\nHis permit "
    "is due. See [[Crane]].\n",
    "Projects/Crane.md": "---\ntags: [harbour]\n---\n# Crane\n\nIt lifts forty tons; its "
    "permit is K-17.\n",
    "Templates/Crane.md": "# Crane template\n\nThe permit of a crane.\n",
}


@pytest.fixture
def vault(home: Home, tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        (tmp_path / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "vault" / name).write_text(text)
    configure(home, 'sources = ["~/vault"]', 'exclude = ["Templates/**"]')
    home.run("save", "The crane permit went to the town hall.")
    return tmp_path / "vault"


def configure(home: Home, *lines: str) -> None:
    home.path.mkdir(mode=0o700, exist_ok=True)
    (home.path / "config.toml").write_text("\n".join(lines))


def held(folder: Path) -> dict[str, object]:
    """Every name in the folder, with the time of its last change and its bytes."""
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mtime_ns,
            path.is_file() and path.read_bytes(),
        )
        for path in [folder, *folder.rglob("*")]
    }


@pytest.mark.needs(feature="upkeep")
def test_a_vault_is_searched_where_it_lies_and_stays_as_it_is(home: Home, vault: Path) -> None:
    before, day = held(vault), vault / "Daily" / "2026-11-20.md"
    hits = {hit["path"]: hit for hit in home.ask("search", "crane permit")["hits"]}
    assert (
        hits.keys() >= {"@vault/Daily/2026-11-20.md", "@vault/Projects/Crane.md"}
        and len(hits) == 3
    )
    assert hits["@vault/Daily/2026-11-20.md"]["date"] == "2026-11-20"
    (call,) = home.ask("find", "--path", "@vault/Daily")["entries"]
    crane = hits["@vault/Projects/Crane.md"]["id"]
    assert home.ask("get", crane)["entries"][0]["backlinks"][0]["id"] == call["id"]
    assert home.run("open", call["id"]).out.strip() == f"{day}:3"
    assert f"{day}:4" in home.run("search", "harbour master").out
    roots = home.ask("status")["roots"]
    assert roots["@vault"] == {"folder": str(vault), "files": 2}

    refused = f"{day}:3 is read in place from {vault}."
    for words in (
        "update ID --append More.",
        "update ID --add-tag x",
        "delete ID --yes",
        "delete ID --purge --yes",
    ):
        for agent in ({}, {"CLAUDECODE": "1"}):
            answer = home.run(*words.replace("ID", call["id"]).split(), **agent)
            assert answer.code != 0 and refused in answer.err, answer
    assert (
        f"{vault / 'Projects/Crane.md'}:4 is read"
        in home.run("delete", crane, "--yes", CLAUDECODE="1").err
    )
    home.ask("save", "The permit came.", "--supersedes", call["id"], "--parent", crane)
    with home.server() as server:
        (entry,) = server.call("get", ids=[crane])["entries"]
        assert "forty tons" in entry["content"] and entry["path"] == "@vault/Projects/Crane.md"
        with pytest.raises(Refusal, match="read in place"):
            server.call("update", id=crane, append="More.")

    synced = home.entries()
    home.run("rebuild-index")
    assert home.entries() == synced and home.run("doctor", "--fix").code == 0
    day.write_text(day.read_text() + "\n## 11:00 Lunch with the harbour master\n")
    assert len(home.ask("find", "--path", "@vault/Daily")["entries"]) == 1, (
        "the other one is superseded"
    )
    day.unlink()
    assert not home.ask("find", "--path", "@vault/Daily")["entries"]
    after = held(vault)
    assert {name: after[name] for name in after if "Daily" not in name} == {
        name: before[name] for name in before if "Daily" not in name
    }


def test_a_source_that_is_missing_is_named_and_hinders_nothing(home: Home, vault: Path) -> None:
    everything = home.entries()
    vault.rename(vault.with_name("away"))
    for verb in ("search", "find"):
        found = home.ask(verb, "permit")
        assert [entry["path"][0] for entry in found.get("hits") or found["entries"]] == ["2"]
        (notice,) = found["notices"]
        assert f"@vault ({vault})" in notice
    assert notice in home.ask("status")["notices"]
    doctor = home.run("doctor")
    assert doctor.code == 1 and f"@vault ({vault})" in doctor.out and "Mount it" in doctor.out
    assert home.run("save", "The journal goes on.").code == 0
    vault.with_name("away").rename(vault)
    assert [entry for entry in home.entries() if "goes on" not in entry["title"]] == everything
    assert home.run("doctor").code == 0


def test_sessions_are_written_like_the_journal(home: Home) -> None:
    home.run("save", "The day before.")
    journal, day = home_journal(home.path), home.path / "sessions" / "2026-11-21.md"
    assert digest_path(journal, "sessions", numbered(1).at) == "@sessions/2026-11-21.md"
    for n in (1, 2):
        path = journal.append(numbered(n), path="@sessions/2026-11-21.md")
        assert path == "@sessions/2026-11-21.md"
    assert (
        stat.S_IMODE(day.parent.stat().st_mode) == 0o700
        and stat.S_IMODE(day.stat().st_mode) == 0o600
    )
    saved, id = day.read_bytes(), numbered(1).id
    assert (
        saved.startswith(b"# 2026-11-21\n")
        and home.ask("status")["roots"]["@sessions"]["files"] == 1
    )
    assert str(day) in home.run("update", id, "--title", "Another").out
    assert home.run("restore", id).code == 0 and day.read_bytes() == saved
    assert home.run("delete", id, "--yes").code == 0 and id.encode() not in day.read_bytes()
    assert home.run("restore", id).code == 0 and day.read_bytes() == saved
    head, _, last = saved.rpartition(b"## ")
    day.write_bytes(head)
    lost = numbered(2).id
    assert f"doctor --restore {lost}" in home.run("doctor").out
    assert home.run("doctor", "--restore", lost).code == 0 and last in day.read_bytes()
    synced = home.entries()
    assert [entry["path"] for entry in synced].count("@sessions/2026-11-21.md") == 2
    home.run("rebuild-index")
    assert home.entries() == synced and home.run("doctor").code == 0
    configure(home, 'capture_into = "journal"', 'day_file = "days/%Y-%m-%d.md"')
    config = load_config(home.path)
    assert (
        digest_path(Journal(config), config.capture_into, numbered(1).at)
        == "days/2026-11-21.md"
    )


def test_every_file_is_read_once_and_by_one_name(home: Home, vault: Path) -> None:
    """The journal and a second source lie in the first; the journal has a folder with the name
    of a root.
    """
    day_file = 'day_file = "log %d of %m in %Y.md"'
    configure(
        home,
        'sources = ["~/vault", "work=~/vault/Projects"]',
        'journal = "~/vault/Mine"',
        day_file,
    )
    (vault / "log 19 of 11 in 2026.md").write_text("## Standup\nNothing new.\n")
    for name in ("@work", "@other"):
        (vault / "Mine" / name).mkdir(parents=True)
        (vault / "Mine" / name / "Note.md").write_text(f"# Of {name}\n")
    home.run("save", "In the vault's own folder.", SYNAPTIC_NOW="2026-11-21T09:30:00")
    assert sorted(entry["path"] for entry in home.entries()) == [
        "@other/Note.md",
        "@vault/Daily/2026-11-20.md",
        "@vault/Templates/Crane.md",
        "@vault/log 19 of 11 in 2026.md",
        "@work/Crane.md",
        "log 21 of 11 in 2026.md",
    ]
    assert [entry["date"] for entry in home.ask("find", "Standup")["entries"]][:1] == [
        "2026-11-19"
    ]
    assert f"{vault / 'Mine' / '@work'} is not read" in home.run("doctor").out
    with pytest.raises(Refused, match="read in place"):
        home_journal(home.path, sources={"@work": vault}).append(
            numbered(1), path="@work/Crane.md"
        )


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        (["~/vault", "~/other/vault"], 'sources = ["NAME='),
        (["~/Sessions"], "two folders have the name @Sessions"),
        (["~/vault", "again=~/other/../vault"], "is given twice"),
        (["notes=~/home/journal"], "is given twice"),
        ("~/vault", "a list of folders"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: object, said: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.toml").write_text(f"sources = {json.dumps(sources)}")
    with pytest.raises(ConfigError) as error:
        load_config(tmp_path / "home")
    assert said in str(error.value)
