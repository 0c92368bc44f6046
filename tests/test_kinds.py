"""The table of entry types is all that a type needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from homes import open_home
from newer import PACKAGE, package_with

from synaptic.kinds import CLOSABLE, CLOSING_TAGS, FOREIGN, KINDS, SYNONYMS
from synaptic.mcp.tools import guidance_text
from synaptic.models import TYPES
from synaptic.search.search import search
from synaptic.verbs.brief import brief
from synaptic.verbs.saving import save

SKILL = PACKAGE.parent / "plugin" / "skills" / "memory" / "SKILL.md"
NEW_TYPE = "question"


@pytest.mark.needs(feature="page")
def test_each_type_has_one_row_and_each_name_one_type() -> None:
    assert tuple(KINDS) == TYPES
    names = [name for kind in KINDS.values() for name in (kind.name, *kind.synonyms)]
    assert len(names) == len(set(names)), "a name means one type"
    foreign = [name for kind in KINDS.values() for name in kind.foreign]
    assert len(foreign) == len(set(foreign))
    assert all(SYNONYMS.get(name, FOREIGN[name]) == FOREIGN[name] for name in FOREIGN)
    css = (PACKAGE / "features" / "page" / "static" / "style.css").read_text()
    tones = {kind.tone for kind in KINDS.values()} - {"grey"}
    assert all(f".tone-{tone} " in css for tone in tones)


def test_agents_are_told_of_each_type_that_has_a_guidance() -> None:
    skill = SKILL.read_text()
    for kind in KINDS.values():
        assert (kind.name in guidance_text()) == bool(kind.guidance)
        assert not kind.guidance or f"`{kind.name}`" in skill


def test_each_closing_tag_ends_each_type_that_can_be_closed(tmp_path: Path) -> None:
    """The briefing and the list of what is open agree on what is over."""
    with open_home(tmp_path) as ws:
        for type in CLOSABLE:
            save(ws, f"The {type} that stays open.", type=type)
            for tag in CLOSING_TAGS:
                save(ws, f"The {type} with the tag {tag}.", type=type, tags=[tag])
        open_titles = {f"The {type} that stays open." for type in CLOSABLE}
        briefing = brief(ws, tmp_path, project="tests")
        briefed = [entry for shelf in briefing.shelves for entry in shelf.entries]
        briefed += [briefing.handoff] if briefing.handoff else []
        assert {entry.title for entry in briefed} == open_titles
        listed = search(ws, "what is left to do").hits
        assert {hit.entry.title for hit in listed} == open_titles


@pytest.mark.slow
def test_a_new_type_is_a_name_and_a_row(tmp_path: Path) -> None:
    """A package with one more type reads it, also in an index that was made before."""
    row = f'    Kind("{NEW_TYPE}", ("ask",), can_close=True, guidance="what nobody knows"),\n'
    note = '    Kind("note", ("memory", "memo")),\n'
    changes = {
        "models.py": {'"note"\n]': f'"note", "{NEW_TYPE}"\n]'},
        "kinds.py": {note: note + row},
    }
    newer = package_with(tmp_path / "newer", changes)
    home = tmp_path / "home"
    (home / "journal").mkdir(parents=True)
    day = home / "journal" / "2026-11-21.md"
    day.write_text(f"## 09:30 {NEW_TYPE}: Who owns the domain?\n\n## 10:00 A note\n")

    def types(package: Path, *words: str) -> list[str]:
        command = [sys.executable, "-m", "synaptic", "--home", str(home), *words, "--json"]
        environ = {**os.environ, "PYTHONPATH": str(package), "PYTHONSAFEPATH": "1"}
        run = subprocess.run(
            command, env=environ, capture_output=True, check=True, cwd=tmp_path
        )
        answer = json.loads(run.stdout)
        return [entry["type"] for entry in answer.get("entries") or answer["hits"]]

    assert types(PACKAGE.parent, "find") == ["note", "note"]
    assert types(newer, "find") == ["note", NEW_TYPE]
    assert types(newer, "search", f"open {NEW_TYPE}s") == [NEW_TYPE]
    assert types(PACKAGE.parent, "find") == ["note", "note"]
