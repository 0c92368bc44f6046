"""Words are replaced in all texts and titles, where they stand just so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from forks import ForkedHome
from homes import put
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synaptic import Workspace
from synaptic.errors import InvalidArgument, NotFound
from synaptic.features.vault import plan_words
from synaptic.features.vault.rewording import plan_word_change
from synaptic.workspace.many_edits import make_edits, take_back

DAY = """\
# 2026-11-02

## 9:00 decision: Flora is vaccinated #flora
Flora, Floras owner, FLORA and `Flora`. <private>Flora</private> See https://x.org/Flora.

## 10:00 After [[Flora is vaccinated|it]]
dog:: Flora
"""
BECOMES = """\
# 2026-11-02

## 9:00 decision: Flocke is vaccinated #flora
Flocke, Floras owner, FLORA and `Flora`. <private>Flora</private> See https://x.org/Flora.

## 10:00 After [[Flocke is vaccinated|it]]
dog:: Flocke
"""


def text_of(ws: Workspace, path: str) -> str:
    return (ws.config.journal / path).read_text()


def test_whole_words_change_and_each_other_place_is_named(ws: Workspace) -> None:
    put(ws, "2026-11-02.md", DAY)
    put(ws, "Flora.md", "---\naliases: [Flora]\n---\nA dog.\n")
    put(ws, "From.md", "[[Flora]] ![[Flora.png]] [Flora](Flora.md) #Flora\n")
    first = {path: text_of(ws, path) for path in ("2026-11-02.md", "Flora.md", "From.md")}
    plan = plan_word_change(ws, "Flora", "Flocke")
    done = make_edits(ws, plan)
    assert text_of(ws, "2026-11-02.md") == BECOMES
    assert text_of(ws, "Flora.md") == first["Flora.md"]
    assert text_of(ws, "From.md") == "[[Flora]] ![[Flora.png]] [Flocke](Flora.md) #Flora\n"
    assert [(stay.path, stay.line, stay.why) for stay in plan.stays] == [
        ("2026-11-02.md", 3, "in a tag, an address or the name of a file"),
        ("2026-11-02.md", 4, "in a tag, an address or the name of a file"),
        ("2026-11-02.md", 4, "in code or a comment"),
        ("2026-11-02.md", 4, "in other capitals"),
        ("2026-11-02.md", 4, "within a longer word"),
        ("Flora.md", 2, "in front matter"),
        ("From.md", 1, "in a tag, an address or the name of a file"),
    ]
    take_back(ws, done.run)
    assert {path: text_of(ws, path) for path in first} == first


def test_a_tag_with_its_sign_is_renamed_in_place_of_words(ws: Workspace) -> None:
    put(ws, "From.md", "---\ntags: [Flora]\n---\nFlora #flora\n")
    make_edits(ws, plan_words(ws, "#flora", "Flocke", True))
    assert text_of(ws, "From.md") == "---\ntags: [Flocke]\n---\nFlora #Flocke\n"


def test_words_that_stand_nowhere_just_so_are_an_error(ws: Workspace) -> None:
    put(ws, "2026-11-02.md", DAY)
    for words in ("flora", "Flor", "Rex"):
        with pytest.raises(NotFound, match="just so"):
            plan_word_change(ws, words, "x")
    for words, new in (("", "x"), ("Flora", " "), ("Flora", "Flora")):
        with pytest.raises(InvalidArgument, match="differ"):
            plan_word_change(ws, words, new)


WORDS = st.sampled_from(
    ["oak", "Oak", "oaks", "#oak", "[[oak]]", "`oak`", "elm", "\n", "- [ ]"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.lists(WORDS, max_size=8), max_size=3))
def test_what_changes_is_what_the_plan_shows(texts: list[list[str]], ws: Workspace) -> None:
    for number, text in enumerate(texts):
        put(ws, f"n{number}.md", " ".join(["x", *text]) + "\n")
    try:
        plan = plan_word_change(ws, "oak", "ash")
    except NotFound:
        return
    before = {one.path: text_of(ws, one.path) for one in plan.edits}
    done = make_edits(ws, plan)
    for line in plan.lines:
        written = text_of(ws, line.path).split("\n")[line.line - 1]
        assert line.after.strip("…") in " ".join(written.split())
    take_back(ws, done.run)
    assert {path: text_of(ws, path) for path in before} == before


def test_the_terminal_leads_to_it_and_takes_it_back(home: ForkedHome) -> None:
    home.ask("save", "Saw Andromdea.", "--at", "2026-11-02T12:00")
    first = home.files()
    assert (
        'rename --words "Andromdea" "Andromeda"'
        in home.run("rename", "Andromdea", "Andromeda").err
    )
    home.ask("rename", "--words", "Andromdea", "Andromeda", "--yes")
    assert b"Saw Andromeda." in next(iter(home.files().values()))
    home.run("undo")
    assert home.files() == first


def test_a_replaced_secret_is_named_wherever_a_copy_still_has_it(
    home: ForkedHome, tmp_path: Path
) -> None:
    """In the log of changes and in a backup, which may be out of reach."""
    token = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    home.journal.mkdir(parents=True)
    (home.journal / "deploy.md").write_text(f"{'So much before it. ' * 30}{token}\n")
    home.run("backup", str(tmp_path / "stick"))
    [zipped] = (tmp_path / "stick").iterdir()
    told = home.run("rename", "--words", token, "***", "--yes")
    assert "1 line in 1 file changed.\n" in told.out and "would change" not in told.out
    assert f"{zipped}: journal/deploy.md" in told.err and ".state/changes/" in told.err
    assert token not in told.err and "doctor --secrets" in told.err
    shutil.rmtree(home.path / ".state" / "changes")
    found = home.run("doctor", "--secrets")
    assert f"{zipped}: journal/deploy.md:1: GitHub token" in found.out
    zipped.write_bytes(zipped.read_bytes()[:200])
    assert f"The backup {zipped} was not read" in home.run("doctor", "--secrets").out
    zipped.unlink()
    clean = home.run("doctor", "--secrets")
    assert "it is not there now" in clean.out and "No passwords" in clean.out
    assert "still stands" not in home.run("rename", "--words", "before it", "it", "--yes").err
