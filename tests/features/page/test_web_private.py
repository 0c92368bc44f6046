"""Private passages that the owner writes on the page: kept in the note, shown to the owner alone,
and in nothing else.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from homes import open_home
from served import Served, served, served_to_token

from synaptic import find, get, save, search
from synaptic.errors import Refused
from synaptic.filters import Filters
from synaptic.verbs.brief import brief
from synaptic.verbs.exports import export
from synaptic.verbs.private_passages import Passages, keeping_passages

NOW = {"SYNAPTIC_NOW": "2026-11-24T10:00:00", "TZ": "UTC"}
WORD, ASKED = "zorquil", "quetzal"
"""A word that no answer may have, and one beside it that is asked for."""
LONG = (
    f"Saw the doctor about the knee. #med\n\n<private>\n{ASKED} {WORD} one\n\n## 09:30 {WORD} two\n"
    f"#{WORD}tag [{WORD}]({WORD}.pdf)\n</private>\n\nIt heals <private>{WORD} four</private> now."
)
TEXTS = {
    "in a sentence": (f"Met <private>{ASKED} {WORD}</private> about the results.", ""),
    "in several lines": (LONG, ""),
    "all but the title": (f"<private>all of {WORD}\nand more</private>", "Therapy"),
    "first": (f"<private>{WORD}</private>\n\nThe knee heals. It does.", ""),
    "over a line end": (f"Said <private>{WORD}\nagain</private> today.", ""),
    "in the title": ("The knee heals.", f"Met <private>{ASKED} {WORD}</private>"),
    "behind a date": (f"yesterday 5pm: met <private>{WORD}</private> again", ""),
    "in a task": (f"- [ ] Call <private>{WORD}</private> due:friday", ""),
    "with a fence": (f"Kept <private>\n```\n{WORD}\n```\n</private> safe.", ""),
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def server(home: Path) -> Iterator[Served]:
    with served(home, **NOW) as found:
        yield found


def passages_in(text: str) -> list[str]:
    return re.findall(r"(?s)<private>.*?</private>", text)


def journal_text(home: Path) -> str:
    return "\n".join(note.read_text("utf-8") for note in (home / "journal").rglob("*.md"))


def saved(server: Served, content: str, title: str = "") -> str:
    """The address of the entry that the form made."""
    answer = server.post("/new", content=content, title=title)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"].partition("?")[0]


def form_of(page: httpx.Response) -> dict[str, str]:
    found = {}
    for name in ("text", "content"):
        box = re.search(rf'(?s)<textarea id="{name}"[^>]*>\n(.*?)</textarea>', page.text)
        found |= {name: html.unescape(box[1])} if box else {}
    seen = re.search(r'name="seen" value="([^"]*)"', page.text)
    return found | ({"seen": seen[1]} if seen else {})


def given_away(server: Served, address: str) -> Iterator[tuple[str, bytes]]:
    """All that a copy, a list or a search of the page gives, with the name of its way."""
    id = address.rpartition("/")[2]
    for way in (
        *("/", "/day/2026-11-24", "/day/2026-11-23", "/tasks", "/calendar", "/statistics"),
        *("/search?q=knee", f"/search?q={ASKED}", "/search", "/folder", "/review", "/health"),
        *(f"/palette?q={ASKED}", f"/complete?q={ASKED}", "/print", f"/print?id={id}"),
        *("/book/file", f"/book/file?id={id}", f"/book?id={id}"),
    ):
        answer = server.client.get(way, follow_redirects=True)
        yield (
            way,
            answer.content.replace(f"q={WORD}".encode(), b"").replace(
                f'value="{WORD}"'.encode(), b""
            ),
        )
    for way in ("/export", f"/export?id={id}"):
        with zipfile.ZipFile(io.BytesIO(server.client.get(way).content)) as archive:
            yield way, b"".join(map(archive.read, archive.namelist()))


@pytest.mark.parametrize("name", TEXTS)
def test_a_passage_stays_in_the_note_and_reaches_nothing_else(
    server: Served, home: Path, name: str
) -> None:
    content, title = TEXTS[name]
    address = saved(server, content, title)
    said = server.client.get("/").text
    assert "What is private stays in your note" in said and WORD not in said
    written = journal_text(home)
    assert passages_in(written) == passages_in(f"{title}\n{content}")
    assert not re.search("[\U000f0000-\U000ffffd]", written)

    shown = server.client.get(address).text
    assert WORD in shown.partition("With its private passages")[2]
    assert WORD not in shown.partition("With its private passages")[0]
    for way, data in given_away(server, address):
        assert WORD.encode() not in data, way
    for file in (path for path in home.rglob("*") if path.is_file()):
        if file.suffix != ".md" or ".state" in file.parts:
            assert WORD.encode() not in file.read_bytes(), file
    with open_home(home) as ws:
        found = [str(find(ws, limit=9)), str(get(ws, [address.rpartition("/")[2]]))]
        found += [str(search(ws, "knee doctor results")), str(search(ws, ASKED))]
        found += [str([*export(ws, Filters())]), str(brief(ws, home))]
        assert not [text for text in found if WORD in text]


def test_the_owner_edits_a_note_with_its_passages(server: Served, home: Path) -> None:
    address = saved(server, LONG)
    id = address.rpartition("/")[2]
    saved(server, "An entry below it.")
    page = server.client.get(f"{address}/edit", follow_redirects=True)
    form = form_of(page)
    assert passages_in(form["text"]) == passages_in(LONG)
    form["text"] = (
        form["text"].replace(f"{WORD} four", f"{WORD} five").replace("heals", "healed")
    )
    at = str(page.url).removeprefix(server.url)
    assert server.post(at, **form).status_code == 303
    now = LONG.replace("four", "five").replace("heals", "healed")
    assert passages_in(journal_text(home)) == passages_in(now)
    assert "It healed <private>" in journal_text(home)

    form = form_of(server.client.get(at))
    open_tag = {**form, "text": form["text"].replace(f"{WORD} five</private>", WORD)}
    refused = server.post(at, **open_tag)
    assert refused.status_code == 403 and "is not closed" in refused.text
    assert form_of(refused)["text"] == open_tag["text"]
    assert passages_in(journal_text(home)) == passages_in(now)

    form["text"] = re.sub(r"(?s)<private>.*?</private>", "", form["text"])
    server.post(at, **form)
    assert passages_in(journal_text(home)) == []
    assert "With its private passages" not in server.client.get(f"/entry/{id}").text


def test_a_passage_is_added_to_an_entry_by_its_form(server: Served, home: Path) -> None:
    address = saved(server, "The knee heals. It does so well.\n\nSlowly.")
    page = server.client.get(f"{address}/edit")
    form = form_of(page)
    form["content"] = f"{form['content']}\n\n<private>{WORD}</private> says so."
    assert server.post(f"{address}/edit", **form).status_code == 303
    assert f"Slowly.\n\n<private>{WORD}</private> says so.\n" in journal_text(home)
    more = f"And <private>{WORD} again</private>."
    assert server.post(f"{address}/edit", append=more).status_code == 303
    assert f"<private>{WORD}</private> says so.\n\n{more}" in journal_text(home)
    for way, data in given_away(server, address):
        assert WORD.encode() not in data, way


def test_one_undo_takes_the_entry_back_with_its_passages(server: Served, home: Path) -> None:
    saved(server, "Stays.")
    before = journal_text(home)
    saved(server, LONG)
    run = re.search(r'name="run" value="([^"]+)"', server.client.get("/").text)
    assert run
    server.post("/undo", run=run[1])
    assert journal_text(home) == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"<private>{WORD}</private>", "All of the text is private"),
        (f"Met <private>{WORD} about it.", "is never closed"),
        (f"Met <private>\n```\n{WORD}\n</private>\n\nlast\n```", "is never closed"),
    ],
)
def test_what_cannot_be_kept_private_is_refused_with_the_text_in_the_form(
    server: Served, home: Path, content: str, said: str
) -> None:
    refused = server.post("/new", content=content)
    assert refused.status_code == 400 and said in refused.text
    assert form_of(refused)["content"] == content
    assert WORD not in journal_text(home)


def test_tags_in_code_are_text(server: Served, home: Path) -> None:
    saved(server, "Write `<private>x</private>` around it.")
    assert "`<private>x</private>`" in journal_text(home)


def test_nobody_but_the_owner_sees_or_writes_passages(home: Path) -> None:
    with served(home, **NOW) as owner:
        address = saved(owner, LONG)
    before = journal_text(home)
    with served(home, "--read-only", **NOW) as reading:
        assert WORD not in reading.client.get(address).text
    with served_to_token(home, **NOW) as ida:
        assert WORD not in ida.client.get(address).text
        at = f"/edit?path=2026-11-24.md&id={address.rpartition('/')[2]}"
        for way in (at, "/edit?path=2026-11-24.md"):
            answer = ida.client.get(way)
            assert answer.status_code == 403 and WORD not in answer.text
        assert WORD not in ida.client.get(f"{address}/edit").text
        typed = "Mine is <private>the word</private> here."
        refused = ida.post("/new", content=typed)
        assert refused.status_code == 403 and form_of(refused)["content"] == typed
        assert journal_text(home) == before


def test_a_passage_that_would_not_be_private_is_not_saved(tmp_path: Path) -> None:
    passages = Passages()
    public = passages.set_aside(f"Met <private>{WORD}</private> again.")
    [mark] = passages.by_mark
    passages.by_mark[mark] = WORD  # as if a fence made text of its tags
    with open_home(tmp_path / "home") as ws:
        save(ws, "Stays.")
        before = journal_text(tmp_path / "home")

        def write() -> tuple[str, None]:
            return save(ws, public).id, None

        with pytest.raises(Refused, match="would not be private"):
            keeping_passages(ws, "save", passages, write)
        assert journal_text(tmp_path / "home") == before
        assert find(ws, limit=1).total == 1
