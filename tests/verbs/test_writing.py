"""Save, update, delete and restore, as a library: what they write, what they refuse, and what
they leave alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import unicodedata
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from homes import Clock, open_home
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trials import examples

from synaptic import Workspace, delete, find, get, recent, restore, save, search, update
from synaptic.errors import InvalidArgument, NotFound, Refused, SynapticError
from synaptic.language.query import build_filters
from synaptic.verbs.changing import open_for_edit
from synaptic.workspace.checkout import checkout_around

DAY = "2026-11-21.md"


def markdown(ws: Workspace) -> dict[str, bytes]:
    """Every file of the journal."""
    return {
        path.name: path.read_bytes() for path in ws.config.journal.rglob("*") if path.is_file()
    }


@given(
    content=st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1).filter(
        lambda text: text.strip(" \t\r\n\xa0\u3000")
    )
)
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_was_saved_reads_back(ws: Workspace, content: str) -> None:
    receipt = save(ws, content, force=True)
    [entry] = get(ws, [receipt.id]).entries
    expected = content.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    expected = expected.replace("\r\n", "\n").replace("\r", "\n")
    assert _bare(entry.content) == _bare(expected)


def _bare(text: str) -> str:
    """Without outer blank lines, and without a fence's end that was missing."""
    return text.strip(" \t\n\xa0\u3000").rstrip("`~").strip(" \t\n\xa0\u3000")


# -- what is refused leaves everything as it was
# ----------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"content": " \n"}, "no text"),
        ({"content": "x", "type": "plan"}, "decision"),
        ({"content": "x", "importance": 11}, "0 to 10"),
        ({"content": "x", "tags": ["!!"]}, "not a tag"),
        ({"content": "x\0y"}, "NUL"),
        ({"content": "x", "title": "a\0b"}, "NUL"),
        ({"content": "x", "tags": ["a\0"]}, "NUL"),
        ({"content": "x", "at": "soonish"}, "yesterday"),
        ({"content": "x", "parent": "zzzzzzzz"}, "zzzzzzzz"),
        ({"content": "x", "supersedes": ["zzzzzzzz"]}, "zzzzzzzz"),
    ],
)
def test_a_save_that_is_refused_writes_nothing(
    ws: Workspace, arguments: dict[str, object], named: str
) -> None:
    save(ws, "Something that was there")
    before = markdown(ws)
    with pytest.raises(SynapticError) as error:
        save(ws, **arguments)  # type: ignore[arg-type]
    assert named in str(error.value)
    assert markdown(ws) == before


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "add_tags"),
        ({"content": "a", "append": "b"}, "not both"),
        ({"content": ""}, "no text"),
        ({"type": "plan"}, "decision"),
        ({"importance": -1}, "0 to 10"),
        ({"add_tags": ["!!"]}, "not a tag"),
        ({"supersedes": ["zzzzzzzz"]}, "zzzzzzzz"),
    ],
)
def test_an_update_that_is_refused_writes_nothing(
    ws: Workspace, arguments: dict[str, object], named: str
) -> None:
    receipt = save(ws, "Something that was there")
    before = markdown(ws)
    with pytest.raises(SynapticError) as error:
        update(ws, receipt.id, **arguments)  # type: ignore[arg-type]
    assert named in str(error.value)
    assert markdown(ws) == before
    assert ws.journal.trashed() == ()


def test_a_missing_id_is_told_by_every_verb(ws: Workspace) -> None:
    for verb in (
        lambda: update(ws, "zzzz", title="x"),
        lambda: delete(ws, "zzzz"),
        lambda: restore(ws, "zzzz"),
    ):
        with pytest.raises(NotFound, match="zzzz"):
            verb()


ALONE = ("## 09:00 Ran gel 412 #lab", "## 09:00\n\nRan gel 412.", "## 09:00 Gel 412\n\nGel 412")
"""Entries whose title is all that they say."""
MORE = (
    "## 09:00 Gel 412\n\nIt ran.",
    "## 09:00\n\n- [ ] Run gel 412",
    "## 09:00\n\nGel 412. It ran.",
)


@pytest.mark.parametrize("block", [*ALONE, *MORE])
@pytest.mark.parametrize("is_form", [False, True])
def test_a_new_title_is_the_text_where_the_title_was_all_of_it(
    ws: Workspace, block: str, is_form: bool
) -> None:
    (ws.config.journal / DAY).write_text(f"# 2026-11-21\n\n{block}\n")
    [old] = find(ws).entries
    content, seen = old.content, None
    if is_form:  # it shows the text, too
        _, seen = open_for_edit(ws, old.id)
    parts = {"content": content} if is_form else {}
    receipt = update(ws, old.id, title="Ran gel 421 of @ida", seen=seen, **parts)
    [new] = get(ws, [old.id]).entries
    assert new.title == "Ran gel 421 of @ida" and new.tags == old.tags
    is_replaced = block in ALONE and not is_form
    assert new.content == (new.title if is_replaced else content)
    assert any("new title is its text" in one for one in receipt.notices) == is_replaced
    assert not (is_replaced and b"412" in markdown(ws)[DAY])


# -- moments
# -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "date", "time"),
    [
        (None, "2026-11-21", "09:30"),
        ("2026-11-03T10:15", "2026-11-03", "10:15"),
        ("2026-11-03", "2026-11-03", "09:30"),
        ("08:05", "2026-11-21", "08:05"),
        ("yesterday", "2026-11-20", "09:30"),
        (datetime(2025, 1, 2, 3, 4), "2025-01-02", "03:04"),
        ("yesterday 18:00", "2026-11-20", "18:00"),
        ("18:00 yesterday", "2026-11-20", "18:00"),
        ("2026-11-03 6pm", "2026-11-03", "18:00"),
        ("2 hours ago", "2026-11-21", "07:30"),
        ("10 hours ago", "2026-11-20", "23:30"),
        ("90 minutes ago", "2026-11-21", "08:00"),
        ("in 2 hours", "2026-11-21", "11:30"),
        ("last tuesday", "2026-11-17", "09:30"),
        ("last week", "2026-11-09", "09:30"),
        ("monday at 5pm", "2026-11-16", "17:00"),
        ("6pm", "2026-11-21", "18:00"),
        ("12am", "2026-11-21", "00:00"),
    ],
)
def test_an_entry_stands_on_its_day(
    ws: Workspace, at: str | None, date: str, time: str
) -> None:
    receipt = save(ws, "Something", at=at)
    assert (receipt.date, receipt.time, receipt.path) == (date, time, f"{date}.md")
    assert receipt.id.startswith(date.replace("-", ""))
    assert [(entry.date, entry.time) for entry in recent(ws).entries] == [(date, time)]


def test_back_dated_entries_stand_in_order_of_time(ws: Workspace) -> None:
    for at in ("2026-11-19T10:00", "2026-11-21T08:00", "2026-11-20T23:59", "2026-11-21T07:00"):
        save(ws, f"At {at}", at=at)
    assert [entry.at.strftime("%dT%H") for entry in recent(ws).entries] == [
        "21T08",
        "21T07",
        "20T23",
        "19T10",
    ]


# -- edits
# ---------------------------------------------------------------------------------------------


def test_an_update_changes_what_was_named_and_keeps_the_rest(ws: Workspace) -> None:
    receipt = save(
        ws,
        "First line.\n\nSecond.",
        type="issue",
        tags=["a"],
        importance=7,
        files=["x.py"],
        by="claude",
    )
    neighbour = save(ws, "Nobody touches me.").id
    update(
        ws, receipt.id, append="Third.", add_tags=["B b"], remove_tags=["#A"], type="decision"
    )
    [entry, other] = get(ws, [receipt.id, neighbour]).entries
    assert entry.content == "First line.\n\nSecond.\n\nThird."
    assert (entry.type, entry.tags, entry.importance, entry.files, entry.by) == (
        "decision",
        ("b-b",),
        7,
        ("x.py",),
        "claude",
    )
    assert other.content == "Nobody touches me."
    assert "Third." in search(ws, "third").hits[0].entry.content


def test_a_tag_in_the_text_stays_and_the_notice_says_so(ws: Workspace) -> None:
    receipt = update(ws, save(ws, "Look at #redis again.\n\nSoon.").id, remove_tags=["redis"])
    assert any("#redis" in notice for notice in receipt.notices)
    assert recent(ws).entries[0].tags == ("redis",)


ODD_TAGS = [
    "node.js",
    "c++",
    "0+A",
    "a+b+a",
    "v2.0",
    "cafe\u0301",
    "Two Words",
    "#DB",
    "a/b/",
    "-x-",
    "\ufb2a",
    "\u0130x",
    "x" * 1_000,
]


def _tagged(ws: Workspace, tag: str) -> list[str]:
    return [
        entry.id for entry in find(ws, filters=build_filters(now=ws.clock(), tag=tag)).entries
    ]


@given(tag=st.one_of(st.sampled_from(ODD_TAGS), st.text(max_size=12)))
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_tag_is_found_and_removed_as_it_was_typed(ws: Workspace, tag: str) -> None:
    try:
        id = save(ws, "Words.", tags=[tag], force=True).id
    except SynapticError:
        with pytest.raises(SynapticError):
            update(ws, save(ws, "Words.", force=True).id, remove_tags=[tag])
        return
    for form in (tag, unicodedata.normalize("NFD", tag), unicodedata.normalize("NFC", tag)):
        assert id in _tagged(ws, form)
    assert update(ws, id, remove_tags=[tag]).notices == ()
    assert id not in _tagged(ws, tag) and get(ws, [id]).entries[0].tags == ()


@pytest.mark.parametrize(
    "typed", ["caf\u00e9", "cafe\u0301", "CAFE\u0301", "caf\u00e9-", "caf\u00e9/"]
)
def test_a_tag_typed_by_hand_is_found_composed_and_decomposed(
    ws: Workspace, typed: str
) -> None:
    (ws.config.journal / DAY).parent.mkdir(parents=True, exist_ok=True)
    (ws.config.journal / DAY).write_text(
        f"## 10:00 By hand #{typed}\n\nMore #{typed}\n", encoding="utf-8"
    )
    [id] = _tagged(ws, "caf\u00e9")
    assert _tagged(ws, "cafe\u0301") == _tagged(ws, typed) == [id]
    assert get(ws, [id]).entries[0].tags == ("caf\u00e9",)
    found = search(ws, "tag:cafe\u0301 hand")
    assert [hit.entry.id for hit in found.hits] == [id] and not found.notices


def test_to_remove_a_tag_that_is_not_there_says_so(ws: Workspace) -> None:
    id = save(ws, "Words.", tags=["a", "area/kitchen"]).id
    [notice] = update(ws, id, remove_tags=["area"], importance=3).notices
    assert "#area" in notice and "#a, #area/kitchen" in notice
    with pytest.raises(InvalidArgument, match="not a tag"):
        update(ws, id, remove_tags=["!!!"])
    assert update(ws, id, add_tags=["Node.js"], remove_tags=["node.js"]).notices == (
        "nothing changed",
    )
    assert get(ws, [id]).entries[0].tags == ("a", "area/kitchen")


@pytest.mark.parametrize(
    "project", ["Stra\u00dfe", "STRASSE", "Cafe\u0301", "CAF\u00c9", "\u01f0 \u1fb4"]
)
def test_projects_compare_without_case_and_composed(ws: Workspace, project: str) -> None:
    id = save(ws, "Words.", project=project).id
    forms = {
        form(project)
        for form in (str, str.upper, str.lower, lambda p: unicodedata.normalize("NFD", p))
    }
    for form in (*forms, f" {project} "):
        filters = build_filters(now=ws.clock(), project=form)
        assert [entry.id for entry in find(ws, filters=filters).entries] == [id]
        assert [entry.id for entry in recent(ws, project=form).entries] == [id]
        assert save(ws, "Words.", project=form).id == id  # a retry


def test_updates_are_undone_one_after_the_other(ws: Workspace) -> None:
    id = save(ws, "one").id
    update(ws, id, content="two")
    update(ws, id, content="three")
    restore(ws, id)
    assert get(ws, [id]).entries[0].content == "two"
    delete(ws, id)
    assert search(ws, "two").hits == ()
    restore(ws, id[-8:])
    assert get(ws, [id]).entries[0].content == "two"
    assert [hit.entry.id for hit in search(ws, "two").hits] == [id]


def test_a_deleted_entry_is_found_no_more(ws: Workspace) -> None:
    save(ws, "Before it")
    doomed = save(ws, "A pangolin crossed the road")
    assert search(ws, "pangolin", strategy="lexical", limit=5).total == 1
    delete(ws, doomed.id)
    assert search(ws, "pangolin", strategy="lexical").total == 0


TYPED = [
    "## 3 things",
    "## 6pm dinner",
    "## 2026 goals",
    r"\# no heading",
    "### part",
    "- [ ] a task  ",
    "word",
    "",
    "`x`",
]


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@given(st.lists(st.sampled_from(TYPED), min_size=1, max_size=8))
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=examples(30, 20),
    deadline=None,
)
def test_what_an_edit_leaves_stays_byte_for_byte(
    ws: Workspace, eol: str, lines: list[str]
) -> None:
    path = ws.config.journal / "2026-11-20.md"
    typed = eol.join(["## 09:30 Meeting", "We met.", *lines, "The end.", ""])
    path.write_bytes(typed.encode())
    (entry,) = (one for one in find(ws, limit=20).entries if one.title == "Meeting")
    update(ws, entry.id, append="more\n## 4 things")
    now = path.read_bytes().decode()
    added = eol.join(["", "", "more", r"\## 4 things"])
    assert now.count(added) == 1 and now.startswith(
        f"## 09:30 Meeting{eol}<!-- syn:{entry.id} -->{eol}We met."
    )
    assert now.replace(added, "").replace(f"<!-- syn:{entry.id} -->{eol}", "") == typed
    path.unlink()


@pytest.mark.parametrize(
    ("typed", "type", "title"),
    [
        (
            "Decision: order from the second supplier",
            "decision",
            "order from the second supplier",
        ),
        ("decision: order", "decision", "order"),
        ("**Bug:** the pump leaks", "issue", "the pump leaks"),
        ("__Issue__: the pump leaks\n\nSince May.", "issue", "the pump leaks"),
        ("Entscheidung: wir segeln", "decision", "wir segeln"),
        ("Entschieden: wir segeln", "decision", "wir segeln"),
        ("Décidé : la voile", "decision", "la voile"),
        ("Problem: die Pumpe leckt", "issue", "die Pumpe leckt"),
        ("Décision : on part", "decision", "on part"),
        ("Decisión: nos vamos", "decision", "nos vamos"),
        ("Decisione: andiamo", "decision", "andiamo"),
        ("Decisão: vamos", "decision", "vamos"),
        ("Besluit: we gaan", "decision", "we gaan"),
        ("Решение: едем", "decision", "едем"),
        ("결정: 간다", "decision", "간다"),
        ("决定：用 SQLite", "decision", "用 SQLite"),
        ("決定:\n船で行く", "decision", "船で行く"),
        ("Note: buy milk", "note", "Note: buy milk"),
        ("Time: ten o'clock", "note", "Time: ten o'clock"),
        ("decision:vector", "note", "decision:vector"),
        ("Decision:", "note", "Decision:"),
    ],
)
def test_a_text_may_begin_with_its_type(
    ws: Workspace, typed: str, type: str, title: str
) -> None:
    [entry] = get(ws, [save(ws, typed).id]).entries
    assert (entry.type, entry.title) == (type, title)
    [named] = get(ws, [save(ws, "Said below.", title=typed.split("\n")[0]).id]).entries
    assert named.type == type or "\n" in typed
    [given] = get(ws, [save(ws, typed, type="insight").id]).entries
    assert given.type == "insight" and typed[:2].strip("*_") in given.title


# -- saved twice
# ----------------------------------------------------------------------------------------


def test_a_repeated_save_answers_with_the_first_and_writes_nothing(
    ws: Workspace, clock: Clock
) -> None:
    mine: dict[str, Any] = {
        "tags": ["ops", "two words"],
        "by": "claude",
        "project": "Web",
        "files": ["a.py", "b c.py"],
    }
    first = save(ws, "Deployed.\n\nAll green.", importance=7, title="A `title` #here", **mine)
    before = markdown(ws)
    clock.forward(minutes=10)
    again = save(
        ws, "\nDeployed.\n\nAll green.\n\n", importance=7, title="A `title` #here", **mine
    )
    assert (again.id, again.path, "already saved" in again.notices) == (
        first.id,
        first.path,
        True,
    )
    for blanks in (" ", "\t", "  \n", "\u3000"):
        ends = f"Deployed.\n\nAll green.{blanks}"
        repeated = save(ws, ends, importance=7, title="A `title` #here", **mine)
        assert repeated.id == first.id
    assert any("force" in notice for notice in again.notices)
    assert markdown(ws) == before
    clock.forward(seconds=1)
    assert (
        save(ws, "Deployed.\n\nAll green.", importance=7, title="A `title` #here", **mine).id
        != first.id
    )


@pytest.mark.parametrize(
    "other",
    [
        {"title": "Another"},
        {"type": "decision"},
        {"tags": ["dev"]},
        {"tags": []},
        {"importance": 5},
        {"supersedes": True},
        {"project": "api"},
        {"files": ["b.py"]},
        {"parent": True},
        {"by": "codex"},
        {"by": None},
        {"at": "2026-11-21T09:30"},
        {"force": True},
    ],
    ids=str,
)
def test_what_differs_in_one_mark_is_no_repetition(
    ws: Workspace, other: dict[str, Any]
) -> None:
    older = save(ws, "Older").id
    mine: dict[str, Any] = {
        "title": "Deploy",
        "tags": ["ops"],
        "project": "web",
        "files": ["a.py"],
        "by": "claude",
    }
    first = save(ws, "Deployed.\n\nAll green.", **mine)
    others = {"supersedes": [older], "parent": older}
    again = save(
        ws,
        "Deployed.\n\nAll green.",
        **mine | {key: others.get(key, each) for key, each in other.items()},
    )
    assert again.id != first.id and "already saved" not in again.notices
    assert {entry.id for entry in recent(ws).entries} >= {first.id, again.id}


def test_what_a_person_typed_or_retyped_is_no_repetition(ws: Workspace) -> None:
    day = ws.config.journal / DAY
    day.write_text("## 09:30 Deployed\n")
    first = save(ws, "Deployed", project=None)
    assert "already saved" not in first.notices
    day.write_text(day.read_text().replace("## 09:30 Deployed", "## 09:30 issue: Deployed"))
    assert "already saved" not in save(ws, "Deployed").notices


def test_what_was_deleted_may_be_saved_again(ws: Workspace) -> None:
    first = save(ws, "Deployed")
    delete(ws, first.id)
    assert save(ws, "Deployed").id != first.id


# -- purge
# ---------------------------------------------------------------------------------------------


def test_what_is_purged_is_in_no_file_though_it_was_edited_and_another_program_looks_on(
    ws: Workspace,
) -> None:
    (ws.config.journal / DAY).write_text(
        "## 09:00 Lunch\n\n## 09:10 The quixotical secret\n\n## 09:20 Dinner\n"
    )
    id = next(entry.id for entry in recent(ws).entries if "secret" in entry.title)
    update(ws, id, content="The quixotical secret, longer.\n\nMore quixotical words.")
    with open_home(ws.config.home) as other:
        assert search(other, "quixotical").total
        delete(ws, id, purge=True)
        assert search(other, "quixotical", strategy="lexical").total == 0
    assert [entry.title for entry in recent(ws).entries] == ["Dinner", "Lunch"]
    for path in ws.config.home.rglob("*"):
        assert not path.is_file() or b"quixotic" not in path.read_bytes().lower(), path
    with pytest.raises(NotFound):
        restore(ws, id)


# -- projects
# ------------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> None:
    identity = {
        f"GIT_{who}_{what}": "someone"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    subprocess.run(
        ["git", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        env=os.environ | identity | {"GIT_CONFIG_GLOBAL": os.devnull},
    )


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_a_worktree_belongs_to_the_project_of_its_repository(tmp_path: Path) -> None:
    repository = tmp_path / "ledger"
    (repository / "src" / "deep").mkdir(parents=True)
    git(repository, "init", "--quiet")
    git(repository, "commit", "--quiet", "--allow-empty", "-m", "start")
    git(repository, "worktree", "add", "--quiet", str(tmp_path / "elsewhere" / "fix-rounding"))
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "store.git")
    git(tmp_path / "store.git", "worktree", "add", "--quiet", str(tmp_path / "checkout"))
    for place, name in (
        (repository, "ledger"),
        (repository / "src" / "deep", "ledger"),
        (tmp_path / "elsewhere" / "fix-rounding", "ledger"),
        (tmp_path / "checkout", "store"),
    ):
        found = checkout_around(place)
        assert found and found.project == name
    assert checkout_around(tmp_path / "elsewhere") is None


def test_a_project_is_the_argument_else_the_setting_else_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ledger" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "ledger")
    for setting, argument, expected in (
        (None, None, "ledger"),
        ("shop", None, "shop"),
        ("shop", "web", "web"),
    ):
        with open_home(tmp_path / f"home-{expected}", project=setting) as ws:
            save(ws, "Something", project=argument)
            assert [entry.project for entry in recent(ws).entries] == [expected]


def test_a_deleted_working_directory_has_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    with open_home(tmp_path / "home", project=None) as ws:
        gone.rmdir()
        save(ws, "Saved from nowhere")
        assert [entry.project for entry in recent(ws).entries] == [None]
        monkeypatch.chdir(tmp_path)


def test_a_derived_id_stays_when_its_heading_changes_once_it_was_named(ws: Workspace) -> None:
    path = ws.config.journal / DAY
    path.write_text("## 08:00 By hand\n\ntext\n\n## 08:30 Another\n\nmore\n")
    older = next(entry for entry in recent(ws).entries if entry.title == "By hand")
    newer = save(ws, "It is different now", supersedes=[older.short_id])
    assert path.read_bytes().startswith(
        f"## 08:00 By hand\n<!-- syn:{older.id} -->\n\ntext\n\n## 08:30 Another\n\nmore\n".encode()
    )
    path.write_bytes(path.read_bytes().replace(b"By hand", b"By hand, reworded"))
    [entry] = get(ws, [older.id]).entries
    assert entry.title == "By hand, reworded"
    assert get(ws, [older.id]).superseded_by == {older.id: newer.id}
    assert entry.at + timedelta(minutes=30) in [other.at for other in recent(ws).entries]


def test_an_agent_that_calls_itself_person_replaces_no_pinned_entry(ws: Workspace) -> None:
    pinned = save(ws, "Answer in British English.", pin=True)
    with pytest.raises(Refused, match="pinned"):
        save(
            ws,
            "Answer in French.",
            supersedes=[pinned.id],
            by="person",
            via="mcp",
            by_person=False,
        )
    assert save(ws, "Answer in Welsh.", supersedes=[pinned.id]).id


def test_what_is_superseded_is_hidden_whatever_the_times_say(
    ws: Workspace, clock: Clock
) -> None:
    """But of entries in a circle those stay that no later one supersedes."""
    old = save(ws, "We use MySQL")
    earlier = save(ws, "We use Postgres", supersedes=[old.id], at="2026-11-01")
    assert get(ws, [old.id]).superseded_by == {old.id: earlier.id}
    assert [entry.id for entry in find(ws).entries] == [earlier.id]

    clock.forward(hours=1)
    one, two, three = (save(ws, text) for text in ("One", "Two", "Three"))
    for new, replaced in ((one, three), (two, one), (three, two)):
        update(ws, new.id, supersedes=[replaced.id])
    assert [entry.id for entry in find(ws).entries] == [three.id, earlier.id]
