"""The journal as its own benchmark: which questions are drawn, what the index they are asked of
holds, what is left.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embedders import HashingEmbedder
from homes import open_home

from synaptic import Workspace, rebuild
from synaptic.errors import InvalidArgument
from synaptic.features.lab import evaluate as module
from synaptic.features.lab.evaluate import Evaluation, evaluate
from synaptic.index.embedding import FastEmbedder

TEXT = (
    "The harbour was quiet in the early morning, and we counted the boats before breakfast "
    "was served."
)
NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen"
).split()


@pytest.fixture(autouse=True)
def temp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, which is empty."""
    folder = tmp_path / "temp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Workspace]]:
    """What is searched for, and where; filled by `evaluate`."""
    seen: list[tuple[str, Workspace]] = []
    search = module.search

    def spy(ws: Workspace, text: str, **given: Any) -> Any:
        if given["strategy"] == "lexical":
            seen.append((text, ws))
        return search(ws, text, **given)

    monkeypatch.setattr(module, "search", spy)
    return seen


def write(ws: Workspace, files: dict[str, str]) -> None:
    for path, text in files.items():
        file = ws.config.journal / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def notes(ws: Workspace, count: int = len(NUMBERS)) -> None:
    """A day of entries, each with a title of its own."""
    blocks = [
        f"## 09:{n:02d} The zebra{number} plan\n\n{TEXT} Then came {number} and "
        f"{NUMBERS[n - 1]} of them.\n"
        for n, number in enumerate(NUMBERS[:count])
    ]
    write(ws, {"2026-11-20.md": "# 2026-11-20\n\n" + "\n".join(blocks)})


def state(ws: Workspace) -> dict[str, tuple[bytes, int]]:
    """Bytes and modification time of every file of the home."""
    files = (
        path
        for path in ws.config.home.rglob("*")
        if path.is_file() and not path.name.endswith("-shm")
    )
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.mark.parametrize(
    "files",
    [
        {
            "2026-11-20.md": f"## 09:00 decision: Xylophone plans for zanzibar "
            f"#db\n\n{TEXT}\n\n## 10:00 Other\n"
        },
        {
            "2026-11-20.md": f"## 09:00 Xylophone plans for zanzibar\n\nXylophone plans "
            f"for zanzibar. {TEXT}\n"
        },
        {
            "2026-11-20.md": f"## 09:00 Xylophone plans…\n\nXylophone plans in parts, so "
            f"it seems. {TEXT}\n"
        },
        {"2026-11-20.md": f"## 09:00\n\nXylophone plans for\nzanzibar. {TEXT}\n"},
        {"page.md": f"# Xylophone **plans** (draft)\n\n{TEXT}\n"},
        {"page.md": f"---\ntitle: Xylophone plans\n---\n{TEXT}\n"},
        {"page.md": f"---\ntitle: Xylophone plans\n---\n# Xylophone plans\n\n{TEXT}\n"},
        {"Xylophone plans.md": f"{TEXT}\n"},
        {"area/Xylophone___plans.md": f"{TEXT}\n"},
        {"2026-11-20 Xylophone plans.md": f"{TEXT}\n"},
        {"Xylophone plans.md": f"{TEXT}\n", "hub.md": "# Hub\n\nSee [[Xylophone plans]]."},
        {"Грядка.md": f"# Вечерний ксилофон\n\n{TEXT}\n"},
        {"yoga.md": f"# 木琴計画書\n\n{TEXT}\n"},
    ],
    ids=lambda files: "+".join(files),
)
def test_what_is_asked_is_in_no_passage(
    ws: Workspace,
    asked: list[tuple[str, Workspace]],
    files: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(ws, files)
    rare = (
        "xylophone"
        if "ylophone" in str(files)
        else "ксилофон"
        if "ксил" in str(files)
        else "木琴"
    )
    held: list[int] = []
    monkeypatch.setattr(
        module,
        "embed_pending",
        lambda copy, **_: held.append(copy.index.document_counts([rare])[1][rare]),
    )
    found = evaluate(ws)
    assert any(rare in text.lower() for text, _ in asked)
    assert held == [0]
    assert found.questions == 1


def test_what_else_the_entry_says_stays(
    ws: Workspace, asked: list[tuple[str, Workspace]]
) -> None:
    write(
        ws,
        {
            "page.md": f"# Harbour boats\n\n{TEXT}\n\nThe harbour boats came "
            f"back.\n\n```\n# Harbour boats\n```\n"
        },
    )
    assert evaluate(ws).mrr == {"words": 1.0, "meaning": 1.0, "default": 1.0}
    assert [text for text, _ in asked] == ["Harbour boats"]


@pytest.mark.parametrize(
    "files",
    [
        {
            "page.md": f"# Notes\n\n{TEXT}\n\n## TODO\n\n## Next steps\n\n## Monday "
            f"2026-11-20\n\n## 3 March\n"
        },
        {"page.md": "# Xylophone plans\n\nToo short.\n"},
        {"page.md": f"# Other\n\n{TEXT}\n\n```\n## Xylophone plans\n```\n"},
        {"page.md": f"# Other\n\n{TEXT}\n\n[the manual of it](https://example.org/page)\n"},
        {
            "one.md": f"# Xylophone plans\n\n{TEXT}\n",
            "two.md": f"# xylophone plans!\n\n{TEXT}\n",
        },
        {"one.md": f"---\nsynaptic: false\n---\n# Xylophone plans\n\n{TEXT}\n"},
        {"one.md": f"# One\n\n<private>\n\n## Xylophone plans\n\n</private>\n\n{TEXT}\n"},
    ],
)
def test_no_question(ws: Workspace, files: dict[str, str]) -> None:
    """Words that say little, nothing below them, code, links that lead out, words of two
    entries, private text.
    """
    write(ws, files)
    assert evaluate(ws).questions == 0


def test_a_superseded_entry_is_not_asked(ws: Workspace) -> None:
    old = f"## 09:00 Xylophone plans\n<!-- syn:20261120-aaaaaaaa -->\n\n{TEXT}\n"
    new = (
        f"## 10:00 Zanzibar ferries\n<!-- syn:20261120-bbbbbbbb supersedes=20261120-aaaaaaaa "
        f"-->\n\n{TEXT}\n"
    )
    write(ws, {"2026-11-20.md": f"{old}\n{new}"})
    assert evaluate(ws).questions == 1


def test_nothing_of_the_home_changes_and_nothing_is_left(ws: Workspace, temp: Path) -> None:
    notes(ws)
    write(
        ws,
        {
            "Fresh mango salad.md": TEXT,
            "private.md": f"# Yoga mats\n\n<private>secret</private> {TEXT}\n",
        },
    )
    rebuild(ws)
    ws.close()
    before = state(ws)
    assert evaluate(ws).questions == len(NUMBERS) + 2
    ws.close()
    assert state(ws) == before
    assert list(temp.iterdir()) == []


def test_an_interrupted_run_leaves_nothing(ws: Workspace, temp: Path) -> None:
    notes(ws)
    rebuild(ws)
    ws.close()
    before, told = state(ws), []

    def interrupt(at: str) -> Callable[[str, int, int], None]:
        def progress(phase: str, done: int, total: int) -> None:
            told.append((phase, [path.name for path in temp.iterdir()]))
            if phase == at and done == total:
                raise KeyboardInterrupt

        return progress

    with pytest.raises(KeyboardInterrupt):
        evaluate(ws, progress=interrupt("embedding"))
    assert told[-1][0] == "embedding" and len(told[-1][1]) == 1
    assert list(temp.iterdir()) == []
    ws.close()
    assert state(ws) == before


def test_the_same_journal_gives_the_same_questions_and_a_new_entry_changes_few(
    ws: Workspace, asked: list[tuple[str, Workspace]]
) -> None:
    def questions() -> list[str]:
        asked.clear()
        evaluate(ws, questions=12)
        return [text for text, _ in asked]

    notes(ws)
    first = questions()
    assert len(first) == 12 and questions() == first
    write(ws, {"another.md": f"# Xylophone plans\n\n{TEXT}\n"})
    assert len({*first} & {*questions()}) >= 11


def test_only_what_changed_is_embedded(tmp_path: Path) -> None:
    embedded: list[str] = []

    class Counting(HashingEmbedder):
        def embed_passage(self, text: str) -> Any:
            embedded.append(text)
            return super().embed_passage(text)

    with open_home(tmp_path / "home", embedder=Counting()) as ws:
        notes(ws)
        rebuild(ws)
        embedded.clear()
        evaluate(ws, questions=5)
        assert len([text for text in embedded if TEXT[:20] in text]) == 5


def test_few_questions_are_too_few_to_tell(ws: Workspace) -> None:
    notes(ws, 9)
    assert "too few" in evaluate(ws).notices[0]
    notes(ws, 10)
    assert evaluate(ws).notices == ()


@pytest.mark.parametrize("questions", [0, 301])
def test_a_number_of_questions_that_is_none(ws: Workspace, questions: int) -> None:
    with pytest.raises(InvalidArgument):
        evaluate(ws, questions=questions)


def test_what_the_default_misses_is_named_where_it_stands(ws: Workspace) -> None:
    notes(ws)
    write(ws, {"page.md": f"# Xylophone plans\n\n{TEXT.replace('harbour', 'port')}\n"})
    for n in range(25):
        write(
            ws,
            {f"decoy{n}.md": f"# Decoy\n\nPlans, plans, more plans of xylophones: number {n}."},
        )
    found: Evaluation = evaluate(ws)
    [missed] = [missed for missed in found.missed if missed.path == "page.md"]
    assert (missed.question, missed.date, missed.line) == ("Xylophone plans", None, 1)


def test_meaning_finds_what_words_do_not(tmp_path: Path, model: FastEmbedder) -> None:
    told = {
        "Fixing my bicycle": "The front wheel wobbled, so I tightened the spokes and put "
        "fresh oil on the chain today.",
        "Visiting the dentist": "A tooth hurt for days; she drilled, filled the hole and "
        "told me to floss more often.",
        "Booking a flight": "The airline wanted far too much for Lisbon in May, and the "
        "seats at the window were gone.",
        "Baking sourdough": "The starter needs flour and water each evening; a hot oven "
        "makes the crust crisp.",
    }
    with open_home(tmp_path / "home", embedder=model) as ws:
        write(
            ws,
            {
                f"{n}.md": f"# {title}\n\n{text}\n"
                for n, (title, text) in enumerate(told.items())
            },
        )
        found = evaluate(ws)
    assert found.questions == 4
    assert found.mrr["words"] < 0.3
    assert found.mrr["meaning"] == found.mrr["default"] == 1.0
