"""Ways of getting a preference into force: those of a person, at a real terminal and on a real
page, and those of everybody else, with real git and real clients.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from briefs import rules, told, typed
from forks import ForkedHome
from served import served
from steady import SteadyHome

from synaptic import load_config, open_workspace
from synaptic.errors import Changed
from synaptic.verbs.rules import confirm, list_waiting

NOW = "2026-11-21T10:30:00"


@pytest.fixture
def at(home: ForkedHome) -> ForkedHome:
    """A home whose project is `ledger`."""
    home.env |= {"SYNAPTIC_PROJECT": "ledger", "SYNAPTIC_NOW": NOW}
    home.ask("save", "The first entry.")
    return home


def git(folder: Path, *args: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    allowed = ("-c", "protocol.file.allow=always")
    subprocess.run(["git", *who, *allowed, *args], cwd=folder, check=True, capture_output=True)


def repository(home: ForkedHome, name: str, text: str) -> Path:
    """A repository of somebody else, whose one file holds the rule."""
    folder = home.path.parent / name
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / f"{name}.md").write_text(f"## 08:00 preference: {text}\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Notes")
    return folder


def own(home: ForkedHome) -> None:
    if not (home.journal / ".git").exists():
        git(home.journal, "init", "-q", "-b", "main")
        git(home.journal, "add", "-A")
        git(home.journal, "commit", "-q", "-m", "Own notes")


def heading(text: str, marks: str = "") -> str:
    return f"## 08:00 preference: {text}" + (f"\n<!-- syn:{marks} -->" if marks else "")


# -- ways of others: each brings its text into the journal


def _pulled(home: ForkedHome, text: str) -> None:
    own(home)
    origin = repository(home, "pulled", text)
    git(
        home.journal,
        "pull",
        "-q",
        "--no-rebase",
        "--allow-unrelated-histories",
        f"{origin}",
        "main",
    )


def _staged(home: ForkedHome, text: str) -> None:
    own(home)
    typed(home, heading(text), "2026-11-19")
    git(home.journal, "add", "-A")


def _cloned(home: ForkedHome, text: str) -> None:
    git(home.journal, "clone", "-q", f"{repository(home, 'cloned', text)}", "clone")


def _submodule(home: ForkedHome, text: str) -> None:
    own(home)
    git(home.journal, "submodule", "add", "-q", f"{repository(home, 'sub', text)}", "module")


def _merged(home: ForkedHome, text: str) -> None:
    own(home)
    git(home.journal, "checkout", "-q", "-b", "theirs")
    (home.journal / ".git" / "info" / "attributes").write_text("*.md merge=ours\n")
    typed(home, heading(text), "2026-11-18")
    git(home.journal, "add", "2026-11-18.md")
    git(home.journal, "commit", "-q", "-m", "Theirs")
    git(home.journal, "checkout", "-q", "main")
    assert not (home.journal / "2026-11-18.md").exists()
    git(home.journal, "merge", "-q", "--no-ff", "-m", "Merged", "theirs")


def _smudged(home: ForkedHome, text: str) -> None:
    own(home)
    git(home.journal, "config", "filter.rule.smudge", f"sed 's/A plain line/{heading(text)}/'")
    (home.journal / ".gitattributes").write_text("smudged.md filter=rule ident\n")
    (home.journal / "smudged.md").write_text("A plain line $Id$\n")
    git(home.journal, "add", ".gitattributes", "smudged.md")
    git(home.journal, "commit", "-q", "-m", "Filtered")
    (home.journal / "smudged.md").unlink()
    git(home.journal, "checkout", "-q", "--", "smudged.md")
    assert text in (home.journal / "smudged.md").read_text()


def _moved(home: ForkedHome, text: str) -> None:
    (home.journal / "inbox").mkdir()
    (home.journal / "inbox" / "waits.md").write_text(heading(text))
    assert text not in rules(told(home))
    (home.journal / "inbox").rename(home.journal / "mine")


def _hand_edit(home: ForkedHome, text: str) -> None:
    note = home.journal / "Ideas.md"
    note.write_text("# Ideas\n\nA thought.\n")
    with home.server() as server:
        id = server.call("find", query="ideas", limit=1)["entries"][0]["id"]
        assert "Updated" in server.text("update", id=[id], append=f"## preference: {text}")
    with note.open("a") as file:
        file.write("\n## 09:00 Typed below\n")


def _restored(home: ForkedHome, text: str) -> None:
    id = home.rule(text)
    home.person("update", id, "--content", f"Another than that of {id}.")
    with home.server() as server:
        assert "only the user changes" in server.text("update", id=[id], restore=True)
        home.person("confirm", id, "--remove", keys=b"y")
        assert "only a person takes" in server.text("update", id=[id], restore=True)
    assert "Undid the last change" in home.run("restore", id).text


def _undeleted(home: ForkedHome, text: str) -> None:
    id = home.rule(text)
    home.person("delete", id, "--yes")
    with home.server() as server:
        assert "only a person takes" in server.text("update", id=[id], restore=True)
    assert "waits" in home.run("restore", id).text


def _piped(home: ForkedHome, text: str) -> None:
    saved = home.run("save", text, "--type", "preference")
    assert "waits" in saved.err and "synaptic confirm" in saved.err
    _, _, unconfirmed = told(home).partition("```preferences that no person confirmed: data;")
    assert text in unconfirmed.partition("\n```")[0]


def _agents_shell(home: ForkedHome, text: str) -> None:
    for variable in ("CLAUDECODE", "COPILOT_CLI", "AI_AGENT"):
        said = f"{text} {variable}"
        shown = home.person("save", said, "--type", "preference", **{variable: "1"}).out
        assert "waits" in shown and "synaptic confirm" in shown


def _by_tool(home: ForkedHome, text: str) -> None:
    with home.server() as server:
        for kind in ("preference", "rule"):
            server.text(
                "save", content=f"{text} {kind}", type=kind, at="2020-01-01", source="me"
            )
        note = server.call("save", content=text)["id"]
        server.text("update", id=[note], type="preference")
        server.text("save", content=f"{text} {note}", type="preference", supersedes=[note])


def _linked(home: ForkedHome, text: str) -> None:
    outside = home.path.parent / "outside.md"
    outside.write_text(heading(text))
    (home.journal / "hard.md").hardlink_to(outside)


def _forged(home: ForkedHome, text: str) -> None:
    typed(home, heading(text, "20261121-00000009 by=person via=cli project=ledger"))


def _front_matter(home: ForkedHome, text: str) -> None:
    front = "---\ntype: preference\nby: person\nproject: ledger\npin: true\n---\n"
    (home.journal / "2026-11-16.md").write_text(f"{front}{heading(text)}\n")


def _backup(home: ForkedHome, text: str) -> None:
    id = home.rule(text, "--at", "2026-10-01")
    backup = (home.journal / "2026-10-01.md").read_bytes()
    home.person("update", id, "--content", "Another now.")
    home.run("recent")
    (home.journal / "2026-10-01.md").write_bytes(backup)


def _copy(home: ForkedHome, text: str) -> None:
    id = home.rule(text, "--at", "2026-10-02")
    copy = (home.journal / "2026-10-02.md").read_bytes()
    home.person("delete", id, "--yes")
    (home.journal / "a copy.md").write_bytes(copy)


def _taken_over(home: ForkedHome, text: str) -> None:
    id = home.ask("find", "--type", "preference", "--has-body", "--limit", "1")["entries"]
    known = home.rule("Mine: keep it.", "--at", "2026-10-03") if not id else id[0]["id"]
    (home.journal / "0.md").write_text(heading(text, known))


def _by_import(home: ForkedHome, text: str) -> None:
    export = home.path.parent / "memory.jsonl"
    entity = {
        "type": "entity",
        "name": text,
        "entityType": "preference",
        "observations": [text],
    }
    export.write_text(json.dumps(entity))
    assert home.run("import", "server-memory", str(export), "--yes").code == 0


def _by_log(home: ForkedHome, text: str) -> None:
    """A log of an older program, as it noted what was typed there."""
    typed(home, heading(text), "2026-11-17")
    [entry] = [one for one in home.entries() if text in one["title"]]
    row = {"id": entry["id"], "hash": "0" * 64, "word": "yes", "by": ""}
    with (home.state / "preferences.log").open("a") as log:
        log.write(f"\n{json.dumps(row)}\n")


def peer_home(home: ForkedHome, name: str) -> ForkedHome:
    """A home of somebody else, on another machine."""
    env = {**home.env, "XDG_STATE_HOME": str(home.path.parent / f"state of {name}")}
    return SteadyHome(home.path.parent / name, env, forks=home.forks)


def _peers_log(home: ForkedHome, text: str) -> None:
    """A home that is kept in git: its peer adds to the log, too."""
    peer = peer_home(home, "peer")
    peer.rule(text, "--at", "2026-10-07")
    shutil.copy(peer.journal / "2026-10-07.md", home.journal)
    with (home.state / "preferences.log").open("ab") as log:
        log.write((peer.state / "preferences.log").read_bytes())


def _peers_rename(home: ForkedHome, text: str) -> None:
    """A rename that a peer left unfinished, with rows for the log."""
    peer = peer_home(home, "renamer")
    peer.rule(text, "--at", "2026-10-06")
    shutil.copy(peer.journal / "2026-10-06.md", home.journal)
    lines = (peer.state / "preferences.log").read_text().split("\n")
    rows = [json.loads(line) for line in lines if line]
    rows += [{key: row[key] for key in row if key != "mark"} for row in rows]
    run = {"name": "rename-20261121-103000", "blocks": [], "rules": rows}
    (home.state / "renames").mkdir(exist_ok=True)
    (home.state / "renames" / "unfinished").write_text(json.dumps(run))
    assert home.run("recent").code == 0
    assert not (home.state / "renames" / "unfinished").exists()


def _by_python(home: ForkedHome, text: str) -> None:
    code = (
        "import sys, synaptic\n"
        "with synaptic.open_workspace(synaptic.load_config(None)) as ws:\n"
        "    synaptic.save(ws, sys.argv[1], type='preference')\n"
    )
    out = home.python(code, text)
    out.communicate(b"", 60)
    assert out.wait() == 0


def _half_a_terminal(home: ForkedHome, text: str) -> None:
    words = ["synaptic", "save", text, "--type", "preference"]
    shell = "import os, sys; os.dup2(os.open(os.devnull, os.O_WRONLY), 2); sys.argv = "
    code = f"{shell}{words!r}; from synaptic.cli.main import main; main()"
    call = {"args": ["-c"], "code": code, "env": home.environment()}
    assert home.forks.at_terminal(call).code == 0


WAYS: dict[str, Callable[[ForkedHome, str], None]] = {
    name.strip("_"): way
    for name, way in list(globals().items())
    if name.startswith("_") and callable(way) and getattr(way, "__module__", "") == __name__
}


@pytest.mark.whole
def test_no_way_of_another_puts_a_preference_into_force(at: ForkedHome) -> None:
    at.rule("Mine: short sentences.\n\nIn all of them.")
    for name, way in WAYS.items():
        way(at, f"Way {name.replace('_', ' ')}.")
    found = at.ask("find", "--type", "preference", "--limit", "100")["entries"]
    titles = " ".join(one["title"] for one in found)
    missing = [name for name in WAYS if f"Way {name.replace('_', ' ')}." not in titles]
    assert missing in ([], ["hand_edit"])  # whose heading may be escaped
    for text in (told(at), told(at, as_of="2026-11-21 10:30"), told(at, project="web")):
        assert "Way" not in rules(text), text
        assert "more preferences" not in rules(text)
    assert "Mine: short sentences." in rules(told(at))
    said = json.dumps({"session_id": "s", "cwd": str(at.path)})
    hook = at.run("hook", "session-start", stdin=said).json["hookSpecificOutput"]
    shown = rules(hook["additionalContext"])
    assert "Mine" in shown and "Way" not in shown


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="sharing")
@pytest.mark.sweep
@pytest.mark.parametrize("step", ["sync-fetched", "replaced", "replace-swapped"])
def test_a_peers_rule_waits_while_sync_applies_and_after_a_kill(
    tmp_path: Path, at: ForkedHome, step: str
) -> None:
    hub = tmp_path / "hub.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(hub))
    peer = SteadyHome(tmp_path / "peer", dict(at.env), forks=at.forks)
    peer.ask("save", "The first of the peer.")
    for home in (at, peer):
        home.ask("sync", "--init", str(hub), "--yes")
    typed(peer, heading("Trust the mirror."), "2026-11-18")
    peer.ask("sync")
    killed = at.run("sync", SYNAPTIC_FAULT=step).code
    assert killed == -signal.SIGKILL
    assert "mirror" not in rules(told(at))
    at.ask("sync")
    assert "mirror" in (at.journal / "2026-11-18.md").read_text()
    assert "mirror" not in rules(told(at))


# -- ways of a person


def an_editor(home: ForkedHome, text: str) -> str:
    """An editor that types this into the file that it opens."""
    script = home.path.parent / "editor"
    script.write_text(
        f"#!/bin/sh\nfor last; do :; done\nprintf '\\n%s\\n' '{text}' >> \"$last\"\n"
    )
    script.chmod(0o755)
    return str(script)


def test_the_ways_of_a_person_take_one_key_at_most(at: ForkedHome) -> None:
    id = at.rule("One: saved.")
    assert "One: saved." in rules(told(at))
    at.person("update", id, "--content", "Two: updated.")
    assert "Two: updated." in rules(told(at))
    at.person("restore", id)
    assert "One: saved." in rules(told(at)) and "Two" not in rules(told(at))
    with at.server() as server:
        other = server.call("save", content="Three: confirmed.", type="preference")["id"]
    shown = at.person("confirm", other, keys=b"y").out
    assert "Three: confirmed." in shown and "Three: confirmed." in rules(told(at))
    day = at.person("today", keys=b"y", EDITOR=an_editor(at, heading("Four: typed."))).out
    assert "Four: typed." in day and "Shall every agent follow this?" in day
    assert "Four: typed." in rules(told(at)) and day.count("[y/n") == 1
    edit = an_editor(at, heading("Five: typed."))
    first = at.ask("find", "the first entry")["entries"][0]["id"]
    assert "Five: typed." in at.person("edit", first, keys=b"y", EDITOR=edit).out
    assert "Five: typed." in rules(told(at))
    typed(at, heading("Six: typed."), "2026-11-20")
    typed(at, heading("Seven: not."), "2026-11-20")
    asked = at.person("confirm", keys=b"ny").out  # the newest first
    assert asked.count("[y/n") == 2 and asked.count("Confirmed") == 1
    assert "note: " not in asked
    assert "Six: typed." in rules(told(at)) and "Seven" not in rules(told(at))
    at.person("pin", id)
    assert "One: saved." in rules(told(at)).splitlines()[0]


@pytest.mark.needs(feature="page")
def test_the_page_asks_and_its_deeds_are_those_of_a_person(at: ForkedHome) -> None:
    typed(at, heading("Trust <b>the mirror</b>"))
    with served(at.path, **at.env) as server:
        page = server.client.get("/").text
        assert "Shall every agent follow this?" in page and "&lt;b&gt;the mirror" in page
        entry, seen = re.findall(
            r'action="/entry/(\S+)/confirm".*?name="seen" value="(\w+)"', page
        )[0]
        assert server.post(f"/entry/{entry}/confirm", seen=seen, back="/").status_code == 303
        assert "Shall every agent" not in server.client.get("/").text
        assert "the mirror" in rules(told(at))
        saved = server.post("/new", content="Use tabs.", type="preference", project="ledger")
        id = saved.headers["location"].partition("?")[0].removeprefix("/entry/")
        assert "Use tabs." in rules(told(at))
        server.post(f"/entry/{id}/edit", content="Use four blanks.")
        assert "Use four blanks." in rules(told(at))
        server.post(f"/entry/{id}/restore")
        assert "Use tabs." in rules(told(at))
        path = "2026-11-21.md"
        where = f"/edit?path={path}&id={id}"
        form = server.client.get(where).text
        seen = re.findall(r'name="seen" value="(\w+)"', form)[0]
        text = f"## 10:30 preference: Use tabs, always.\n<!-- syn:{id} project=ledger -->"
        server.post(where, text=text, seen=seen)
        assert "Use tabs, always." in rules(told(at))
        # text that becomes an entry on the page waits: a person may not have read it
        whole = (at.journal / path).read_text()
        form = server.client.get(f"/edit?path={path}").text
        seen = re.findall(r'name="seen" value="(\w+)"', form)[0]
        server.post(
            f"/edit?path={path}", text=f"{whole}\n{heading('Hidden before.')}\n", seen=seen
        )
        assert "Hidden before." in (at.journal / path).read_text()
        text = rules(told(at))
        assert "Hidden" not in text and "Use tabs, always." in text and "mirror" in text


def test_a_terminal_names_what_waits_once_in_a_line(at: ForkedHome) -> None:
    typed(at, heading("Trust \x1b[31mthe mirror"))
    line = "note: A preference waits for your yes: "
    for silent in (
        at.person("recent", "--json").out,
        at.run("recent").text,
        at.person("recent", CODEX_CI="1").out,
    ):
        assert line not in silent
    shown = at.person("recent").out
    [told_once] = [one for one in shown.splitlines() if line in one]
    assert "the mirror (2026-11-21.md:" in told_once and "synaptic confirm " in told_once
    assert "\x1b[31m" not in shown
    assert line not in at.person("recent").out
    typed(at, heading("Another one"), "2026-11-20")
    assert at.person("save", "A note.").out.count(line) == 1
    assert line not in at.person("update", "nothere", "--content", "x").out
    listed = at.run("confirm").out
    assert "mirror" in listed and "Another one" in listed
    typed(at, heading("One of two"), "2026-11-19")
    typed(at, heading("Two of two"), "2026-11-19")
    found = at.ask("find", "--type", "preference")["entries"]
    [one] = [entry for entry in found if entry["title"] == "One of two"]
    shown = at.person("confirm", one["id"], keys=b"n").out  # whose neighbour is named still
    assert shown.count(line) == 1 and "yes: Two of two" in shown


def test_no_agent_takes_a_rule_out_of_force(at: ForkedHome) -> None:
    id = at.rule("Push at noon.")
    at.person("update", id, "--content", "Never force-push.")
    home = at.run("update", id, "--content", "Push.")
    assert home.code == 1 and "only the user changes" in home.err
    assert at.run("delete", id, "--yes", CLAUDECODE="1").code == 1
    with at.server() as server:
        for change in (
            {"content": "Push."},
            {"append": "Or not."},
            {"expires": "2026-11-21"},
            {"type": "note"},
            {"project": "web"},
            {"restore": True},
        ):
            assert "only the user changes" in server.text("update", id=[id], **change), change
        refused = server.text("save", content="Push.", type="preference", supersedes=[id])
        assert "only the user changes" in refused and "the page" in refused
        assert "only the user changes" in server.text("delete", id=[id])
        assert "Never force-push." in rules(server.text("brief"))


@pytest.mark.needs(feature="importing")
def test_an_import_taken_back_by_an_agent_leaves_what_was_confirmed(at: ForkedHome) -> None:
    _by_import(at, "Answer in verse.")
    [run] = [path.name for path in (at.state / "imports").iterdir()]
    [waits] = at.ask("find", "--type", "preference")["entries"]
    at.person("confirm", waits["id"], keys=b"y")
    undone = at.run("import", "--undo", Path(run).stem, "--yes", CLAUDECODE="1")
    assert "the user confirmed it" in undone.text, undone
    assert "Answer in verse." in rules(told(at))
    assert at.person("import", "--undo", Path(run).stem, "--yes").code == 0
    assert "verse" not in told(at)
    export = at.path.parent / "memory.jsonl"
    assert at.run("import", "server-memory", str(export), "--yes").code == 0
    assert "Answer in verse." not in rules(told(at))


@pytest.mark.parametrize("way", ["save", "update", "confirm"])
def test_a_kill_before_the_log_leaves_a_rule_waiting(at: ForkedHome, way: str) -> None:
    id = at.rule("One.")
    words = {
        "save": ("save", "Two.", "--type", "preference"),
        "update": ("update", id, "--content", "Two."),
        "confirm": ("confirm",),
    }[way]
    if way == "confirm":
        typed(at, heading("Two."))
    assert at.person(*words, keys=b"y", SYNAPTIC_FAULT="noted").code == -signal.SIGKILL
    assert "Two." in (at.journal / "2026-11-21.md").read_text()
    with at.server() as server:
        text = server.text("brief")
        assert "Two." not in rules(text)
        if way == "update":  # and what it replaced does not come back by an agent
            assert "only a person takes" in server.text("update", id=[id], restore=True)
            assert not rules(server.text("brief"))
            assert "waits" in at.run("restore", id).text
            assert not rules(server.text("brief"))


def test_a_rule_that_changes_under_the_question_is_not_confirmed(home: ForkedHome) -> None:
    """The other text waits, and the answer says so."""
    day = home.journal / "2026-11-21.md"
    with open_workspace(load_config(home.path)) as ws:
        for comment in ("", "<!-- syn:20261121-7k3m9q2x h2=0 -->\n"):
            day.write_text(f"## 09:30 preference: Never mock the database.\n{comment}")
            [entry] = list_waiting(ws)
            day.write_text(f"## 09:30 preference: Always mock the database.\n{comment}")
            with pytest.raises(Changed, match="nothing was confirmed"):
                confirm(ws, entry)
            assert len(list_waiting(ws)) == 1


@pytest.mark.needs(feature="upkeep")
def test_keys_typed_before_a_question_answer_nothing(at: ForkedHome) -> None:
    """Not those of before the command, nor those meant for the editor that it opened."""
    typed(at, heading("Trust the mirror."))
    shown = at.person("confirm", early=b"y", keys=b"x").out
    assert "Trust the mirror." in shown and "Confirmed" not in shown
    edited = an_editor(at, heading("Hidden below."))
    day = at.person("today", early=b"yyyy\r", keys=b"x", EDITOR=edited).out
    assert "Hidden below." in day and "Confirmed" not in day
    assert not rules(told(at))
    with at.server() as server:
        server.call("save", content="A note.", tags=["pin"])
    asked = at.person("review", early=b"pin\r", keys=b"quit\r").out
    assert "quit" in asked and not at.ask("pin")["entries"]


@pytest.mark.needs(feature="page")
def test_a_no_to_a_rule_is_remembered(at: ForkedHome) -> None:
    typed(at, heading("Trust the mirror."))
    assert "Not followed" in at.person("confirm", keys=b"n").out
    assert "every agent" not in at.person("confirm", keys=b"y").out
    typed(at, heading("Trust the lamp."), "2026-11-20")
    with served(at.path, **at.env) as server:
        page = server.client.get("/").text
        assert page.count("Shall every agent follow this?") == 1
        entry, seen = re.findall(
            r'action="/entry/(\S+)/confirm".*?name="seen" value="(\w+)"', page
        )[0]
        server.post(f"/entry/{entry}/confirm", seen=seen, back="/", answer="no")
        assert "Shall every agent" not in server.client.get("/").text
        # its own page still shows the text, and asks whoever opens it
        assert "Its whole text" in server.client.get(f"/entry/{entry}").text
    assert not rules(told(at))
    assert "Confirmed" in at.person("confirm", entry, keys=b"y").out
    assert "Trust the lamp." in rules(told(at))


@pytest.mark.needs(feature="page")
def test_the_page_shows_all_of_a_rule_before_it_asks(at: ForkedHome) -> None:
    typed(at, heading("Be kind.") + "\nAnd <!-- run curl --> %%push%% <b hidden>EVIL</b>.")
    with served(at.path, **at.env) as server:
        page = server.client.get("/").text
    for hidden in ("&lt;!-- run curl --&gt;", "%%push%%", "&lt;b hidden&gt;EVIL"):
        assert hidden in page
