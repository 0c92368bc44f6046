"""The words that a person types are found: titles, parts of names in code, versions, signs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import Clock, open_home

from synaptic import SearchResult, Workspace, rebuild, save, search, update
from synaptic.index.embedding import FastEmbedder
from synaptic.models import ABSENT

PAGES = {
    "Slow mornings.md": "Tea first. Then a walk to the weir, without a phone.",
    "2026-03-09.md": "# 2026-03-09\n\n## Log\n\nslow mornings, slow mornings, a page on "
    "[[Slow mornings]] and more slow mornings",
    "kiln.md": "---\naliases: [firing plan]\n---\n# Kiln\n\nHeat by 80 degrees an hour.",
    "glaze.md": "# Glazes\n\nA firing plan for glazes: the firing plan says cone six. Firing plan!",
    "窯の使い方.md": "夜に温度を上げる。朝に窓を開ける。",
    "陶芸.md": "# 陶芸\n\n窯の使い方を学ぶ。窯の使い方の本を読む。使い方はここ。",
    "Grünwald.md": "The farm at Grünwald has two barns.",
    "Weir.md": "---\naliases: [QXR]\n---\n# The weir\n\nTen steps down, slippery in autumn.",
    "open issues.md": "The list hangs beside the door of the workshop.",
}


def paths(result: SearchResult) -> list[str]:
    return [hit.entry.path for hit in result.hits]


@pytest.fixture(scope="module")
def pages(model: FastEmbedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with open_home(tmp_path_factory.mktemp("pages"), embedder=model) as ws:
        for name, text in PAGES.items():
            ws.config.journal.mkdir(parents=True, exist_ok=True)
            (ws.config.journal / name).write_text(f"{text}\n", encoding="utf-8")
        save(ws, "The door of the kiln sticks.", type="issue")
        rebuild(ws)
        yield ws


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("slow mornings", "Slow mornings.md"),
        ("Slow mornings?", "Slow mornings.md"),
        ('"Slow mornings"', "Slow mornings.md"),
        ("slow mornings.md", "Slow mornings.md"),
        ("Firing Plan", "kiln.md"),
        ("窯の使い方", "窯の使い方.md"),
        ("陶芸", "陶芸.md"),
        ("open issues", "open issues.md"),
    ],
)
def test_the_page_with_this_title_name_or_alias_is_first(
    pages: Workspace, typed: str, path: str
) -> None:
    assert paths(search(pages, typed))[0] == path
    assert paths(search(pages, typed, limit=1)) == [path]


@pytest.mark.parametrize("typed", ["Gruenwald", "gruenwald", "GRUENWALD"])
def test_a_name_is_found_without_its_umlaut(pages: Workspace, typed: str) -> None:
    found = search(pages, typed)
    assert paths(found)[0] == "Grünwald.md"
    assert not any("No entry holds" in notice for notice in found.notices)


def test_a_name_that_no_text_holds_is_no_doubt(pages: Workspace) -> None:
    found = search(pages, "QXR")
    assert (paths(found), found.notices) == (["Weir.md"], ())


def test_a_filter_counts_beside_a_title(pages: Workspace) -> None:
    assert paths(search(pages, "path:kiln.md slow mornings")) == ["kiln.md"]
    assert paths(search(pages, "path:kiln.md firing plan")) == ["kiln.md"]


def test_equal_titles_keep_their_order_and_a_replaced_one_stays_behind(
    tmp_path: Path, clock: Clock
) -> None:
    def ask(ws: Workspace, **more: bool) -> list[str]:
        return [hit.entry.id for hit in search(ws, "port of the gate", **more).hits]  # type: ignore[arg-type]

    with open_home(tmp_path, clock=clock) as ws:
        ids = []
        for text in ("It is 4711.", "Port of the gate, port of the gate: 4712.", "It is 4713."):
            clock.forward(days=1)
            ids.append(save(ws, text, title="Port of the gate").id)
        clock.forward(days=1)
        save(ws, "Port of the gate and of the gate's port: the port of each gate is a port.")
        usual = ask(ws)
        assert {*usual[:3]} == {*ids}
        clock.forward(days=1)
        later = save(ws, "Nobody uses ports now.", supersedes=[usual[0]]).id
        assert ask(ws)[:2] == usual[1:3]
        from synaptic import build_filters

        filters = build_filters(now=clock(), include_superseded=True)
        hits = search(ws, "port of the gate", filters=filters).hits
        assert [hit.entry.id for hit in hits][:2] == usual[1:3]
        assert usual[0] in [hit.entry.id for hit in hits] and later


CODE = (
    "renderTideTable() skips the first row when MAX_TIDE is odd; see src/tides/tide_rows.py:41."
)


@pytest.fixture(scope="module")
def code(model: FastEmbedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with open_home(tmp_path_factory.mktemp("code"), embedder=model) as ws:
        for text in (
            CODE,
            "The report of the harbour is late.",
            "Builds run on Python v4.21 and on node v18.2.1.",
            "Rule 4 of 21: wash the brushes.",
            "The lamp in the hall is new.",
            "Booked a table for four.",
        ):
            save(ws, text)
        rebuild(ws)
        yield ws


@pytest.mark.parametrize(
    "typed",
    [
        "renderTideTable",
        "RenderTideTable",
        "TideTable",
        "tidetable",
        "renderTide",
        "fetchTideTable",
        "tide_rows.py",
        "where is TideTable used",
        "src/tides/tide_rows.py:41",
    ],
)
def test_a_part_of_a_name_in_code_finds_it(code: Workspace, typed: str) -> None:
    result = search(code, typed)
    assert result.hits[0].entry.content == CODE
    # one sentence says of a word that no entry holds it
    assert sum("No" in notice and "holds" in notice for notice in result.notices) < 2


@pytest.mark.parametrize("typed", [r"quux\frob", "quuxFrobnicate", "weir.local:9090"])
def test_where_no_entry_holds_a_name_the_nearest_are_shown(code: Workspace, typed: str) -> None:
    assert search(code, typed).hits
    assert not search(code, typed, strategy="lexical").hits


def test_a_word_within_another_is_no_part_of_it(code: Workspace) -> None:
    """`port` in `report`: no part begins there."""
    assert not search(code, "eport", strategy="lexical").hits


@pytest.mark.parametrize("typed", ["4.21", "v4.21", "V4.21", '"4.21"', "18.2.1", "18.2"])
def test_a_number_with_dots_is_one_word(code: Workspace, typed: str) -> None:
    result = search(code, typed)
    assert [hit.entry.content[:6] for hit in result.hits] == ["Builds"]
    assert not [notice for notice in result.notices if ABSENT in notice]


def test_another_number_is_another_word(code: Workspace) -> None:
    result = search(code, "4.2", strategy="lexical")
    assert not result.hits and f"{ABSENT}: 4.2." in result.notices


SIGNS = ("🐝 hive two has a new queen", "✔️ hive one fed", "Honey for 12€, ±1", "👩‍🌾 came by")


@pytest.fixture(scope="module")
def signs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with open_home(tmp_path_factory.mktemp("signs")) as ws:
        for text in (*SIGNS, "nothing of note"):
            save(ws, text)
        yield ws


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("🐝", 0),
        ('"🐝"', 0),
        ("all 🐝", 0),
        ("✔", 1),
        ("✔️", 1),
        ("€", 2),
        ('"±"', 2),
        ("👩‍🌾", 3),
    ],
)
def test_a_sign_finds_the_entries_that_hold_it(
    signs: Workspace, typed: str, place: int
) -> None:
    assert [hit.entry.content for hit in search(signs, typed).hits] == [SIGNS[place]]


@pytest.mark.parametrize("typed", ["🦄", '"🦄"', "£", "🦄 🦩"])
def test_a_sign_that_no_entry_holds_finds_nothing_and_says_so(
    signs: Workspace, typed: str
) -> None:
    result = search(signs, typed)
    assert not result.hits
    assert any(notice.startswith(ABSENT) for notice in result.notices)


@pytest.mark.parametrize(
    "question",
    [
        "was I afraid last summer",
        "my fear of the drill, two years ago",
        "did we dance the tango yesterday",
        "I did not panic, unlike last year",
    ],
)
def test_a_time_never_takes_the_answer_away(
    model: FastEmbedder, tmp_path: Path, clock: Clock, question: str
) -> None:
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        for text in (
            "Stayed calm in the dentist's chair and breathed slowly.",
            "The oven is repaired.",
            "Paid the rent.",
            "Planted two pear trees.",
            "Read on the train.",
        ):
            save(ws, text)
            clock.forward(days=7)
        rebuild(ws)
        assert search(ws, question).hits


def test_a_question_for_a_time_alone_lists_what_is_of_it(
    model: FastEmbedder, tmp_path: Path, clock: Clock
) -> None:
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        save(ws, "Planted two pear trees.")
        clock.forward(days=30)
        late = {save(ws, f"Paid the rent of room {room}.").id for room in range(2, 9)}
        clock.forward(days=7)
        rebuild(ws)
        hits = search(ws, "what did I do last week").hits
        assert {hit.entry.id for hit in hits} == late


def test_a_note_without_a_speaker_keeps_its_place_where_a_speaker_is_named(
    model: FastEmbedder, tmp_path: Path, clock: Clock
) -> None:
    scores = []
    note = "Mira tunes the harpsichord on Fridays."
    for speakers in (True, False):
        home = tmp_path / str(speakers)
        with open_home(home, embedder=model, clock=clock, search={"speakers": speakers}) as ws:
            for what in (
                "the tram was late",
                "it rained",
                "see you at four",
                "the tea is cold",
            ):
                save(ws, f"Mira: {what}")
                save(ws, f"Jon: oh, {what}")
            save(ws, note)
            hits = search(ws, "What does Mira tune?", limit=20, explain=True).hits
            scores.append({hit.entry.content: hit.why.combined for hit in hits if hit.why})
    on, off = scores
    for content, score in on.items():
        factor = 0.5 if content.startswith("Jon: ") else 1
        assert score == pytest.approx(off[content] * factor, abs=1e-5)


def test_what_only_the_earlier_fits_stays_first_and_the_later_is_next(
    model: FastEmbedder, tmp_path: Path, clock: Clock
) -> None:
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        save(ws, "The alarm code of the boathouse is 5521.")
        clock.forward(days=90)
        later = save(ws, "From today the panel in the boathouse takes 8043.").id
        for text in ("Paid the rent.", "Planted two pear trees.", "Read on the train."):
            clock.forward(days=1)
            save(ws, text)
        rebuild(ws)
        hits = search(ws, "what is the alarm code of the boathouse").hits
        places = {hit.entry.id: place for place, hit in enumerate(hits)}
        assert places[later] <= 1
        assert not any(hit.outcome for hit in search(ws, "when did I plant trees").hits[:1])


def test_a_definition_stays_before_a_later_one_that_only_sounds_alike(
    model: FastEmbedder, tmp_path: Path, clock: Clock
) -> None:
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        words = ("treecreeper", "nuthatch", "goldcrest", "dunnock")
        for word, text in zip(
            words,
            (
                "a small brown bird that climbs trunks",
                "a small bird that climbs down trunks",
                "the smallest bird of the country",
                "a small brown bird of hedges",
            ),
            strict=True,
        ):
            save(ws, f"{word}: {text}")
            clock.forward(days=3)
        rebuild(ws)
        for word in words:
            first = search(ws, f"what does {word} mean").hits[0].entry.content
            assert first.startswith(f"{word}:")


def test_an_edit_of_the_title_moves_the_page_to_the_front(tmp_path: Path, clock: Clock) -> None:
    with open_home(tmp_path, clock=clock) as ws:
        save(ws, "harvest plan, harvest plan: the harvest plan is a plan for the harvest")
        other = save(ws, "Pears in week 38.", title="Fruit").id
        update(ws, other, title="Harvest plan")
        assert search(ws, "harvest plan").hits[0].entry.id == other
