"""Files of this machine that a person attaches from the terminal: which links take them along,
and what stays where.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from forks import ForkedHome
from hypothesis import given
from hypothesis import strategies as st
from photos import JPEG, PLACE, PNG

from synaptic import Workspace
from synaptic.errors import InvalidArgument, NotFound, Refused, SynapticError
from synaptic.models import EntryType
from synaptic.verbs.attaching import with_attachments
from synaptic.verbs.browse import get
from synaptic.verbs.linked import id_of_name
from synaptic.verbs.local_files import (
    LocalFiles,
    Reach,
    blank_private,
    save_with_files,
    update_with_files,
)

KEPT = "attachments/2026-11-21-"
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """The folder in which a person stands."""
    lab = tmp_path / "lab"
    (lab / "runs").mkdir(parents=True)
    (lab / ".hidden").mkdir()
    for name in ("gel.png", "runs/Blot #3 50%.png", "späte Bande.png", ".hidden/x.png"):
        (lab / name).write_bytes(PNG)
    (lab / "photo.jpeg").write_bytes(JPEG)
    (lab / "list.csv").write_bytes(b"a,b\n")
    (lab / "paper.pdf").write_bytes(b"%PDF-1.7")
    (lab / "run.ipynb").write_bytes(b"{}")
    (lab / "runs" / "No #2.ipynb").write_bytes(b"{}")
    (lab / "Zelazny").write_bytes(b"x")
    (lab / "cut.png").write_bytes(PNG[:-30])
    (lab / "empty.png").write_bytes(b"")
    (lab / "folder.png").mkdir()
    (lab / "gone.png").symlink_to(lab / "nowhere.png")
    os.mkfifo(lab / "pipe.png")
    (lab / "note.md").write_bytes(b"# A note\n")
    (tmp_path / "far.png").write_bytes(PNG + b"far")
    (lab / "out.png").symlink_to(tmp_path / "far.png")
    return lab


def saved(
    ws: Workspace, text: str, lab: Path, *named: str, reach: Reach = "anywhere", **marks: Any
) -> tuple[str, list[str], str]:
    """(text of the entry, attached paths, notices) of a save with local files."""
    local = LocalFiles(lab, reach, tuple(map(Path, named)))
    receipt, paths = save_with_files(ws, text, local, **marks)
    entry = ws.journal.find(receipt.path, receipt.id)[1]
    assert all((ws.config.journal / path).is_file() for path in paths)
    return entry.content, list(paths), " ".join(receipt.notices)


def attached_to(ws: Workspace, id: str) -> Sequence[str]:
    """The paths that `get` names."""
    return with_attachments(ws, get(ws, [id])).attached[id]


def stored(ws: Workspace) -> list[str]:
    return sorted(one.name for one in ws.config.journal.glob("attachments/*"))


LINKS = {
    "![[gel.png]]": f"![gel.png]({KEPT}gel.png)",
    "![[gel.png|300]]": f"![gel.png|300]({KEPT}gel.png)",
    "![[gel.png|The gel|300x200]]": f"![The gel|300x200]({KEPT}gel.png)",
    "![](./gel.png)": f"![]({KEPT}gel.png)",
    "![The gel](gel.png 'cold')": f"![The gel]({KEPT}gel.png 'cold')",
    "![](photo.jpeg)": f"![]({KEPT}photo.jpg)",
    "![[runs/Blot #3 50%.png]]": f"![Blot #3 50%.png]({KEPT}blot-3-50.png)",
    "![](<runs/Blot #3 50%.png>)": f"![]({KEPT}blot-3-50.png)",
    "![](runs/Blot%20%233%2050%25.png)": f"![]({KEPT}blot-3-50.png)",
    "![](runs/../sp%C3%A4te%20Bande.png)": f"![]({KEPT}späte-bande.png)",
    "![a [b] c](gel.png)": f"![a [b] c]({KEPT}gel.png)",
    "![[paper.pdf#page=3|the paper]]": f"[the paper]({KEPT}paper.pdf#page=3)",
    "![[paper.pdf]]": f"[paper.pdf]({KEPT}paper.pdf)",
    "![list](list.csv)": f"![list]({KEPT}list.csv)",
    "![[runs/No #2.ipynb]]": f"[No #2.ipynb]({KEPT}no-2-ipynb.bin)",
    "![[run.ipynb]]": f"[run.ipynb]({KEPT}run-ipynb.bin)",
}
"""A link in a text, and what the journal has in its place."""


@pytest.mark.parametrize("link", LINKS)
def test_a_link_takes_its_file_along(ws: Workspace, lab: Path, link: str) -> None:
    text, paths, _ = saved(ws, f"One.\n\n{link}\n\n{link}", lab, title="x")
    assert text == f"One.\n\n{LINKS[link]}\n\n{LINKS[link]}"
    assert len(paths) == 1 and stored(ws) == [Path(paths[0]).name]
    assert PLACE not in (ws.config.journal / paths[0]).read_bytes()


LEFT = {
    "![[nope.png]]": "`nope.png` was not found in ",
    "![list](gone.csv)": "`gone.csv` was not found in ",
    "![[cut.png]]": "cut off or broken",
    "![[empty.png]]": "is empty",
    "![[folder.png]]": "is a folder",
    "![[gone.png]]": "cannot be read",
    "![[pipe.png]]": "is not a regular file",
    f"![[{TOKEN}.png]]": "[redacted: GitHub token]",
    "`![[gel.png]]`": "",
    "```\n![[gel.png]]\n```": "",
    "    ![[gel.png]]": "",
    "![](https://example.org/gel.png)": "",
    "![](data:image/png;base64,gel.png)": "",
    "[run](run.ipynb)": "",
    "[list](list.csv) [[paper.pdf]] [list](gone.csv)": (
        "Not attached: `list.csv`, to which the text only links; `paper.pdf`, to which the text "
        "only links. "
    ),
    "`[list](list.csv)` [list](folder.png) [list](gone.csv)": "",
    "[[Zelazny]] ![[Zelazny]] ![[v1.2]] ![[note.md]] [note](note.md)": "",
}
"""A link that stays as it is, and what a notice says of it."""


@pytest.mark.parametrize("link", LEFT)
def test_a_link_that_takes_nothing_along_stays_and_is_named(
    ws: Workspace, lab: Path, link: str
) -> None:
    text, paths, notices = saved(ws, f"One.\n\n{link}", lab, title="x", type="note")
    assert text == f"One.\n\n{link}" or TOKEN in link
    assert not paths and not stored(ws) and TOKEN not in notices
    assert (LEFT[link] in notices and "--attach FILE" in notices) if LEFT[link] else not notices


@pytest.mark.parametrize(
    ("link", "name", "written"),
    [
        ("[list](list.csv)", "list.csv", "list.csv"),
        ("[g]: gel.png", "gel.png", "gel.png"),
        ("[b](<runs/Blot #3 50%.png>)", "runs/Blot #3 50%.png", "'runs/Blot #3 50%.png'"),
    ],
)
def test_a_file_that_is_only_linked_is_attached_by_the_command_of_the_notice(
    ws: Workspace, lab: Path, link: str, name: str, written: str
) -> None:
    local = LocalFiles(lab, "anywhere")
    receipt, paths = save_with_files(ws, f"One.\n\n{link}", local)
    assert not paths and f"--attach {written}` attaches it." in " ".join(receipt.notices)
    named = LocalFiles(lab, "anywhere", (Path(name),))
    again, paths = update_with_files(ws, receipt.id, named, {})
    assert len(paths) == 1 and "Not attached" not in " ".join(again.notices)
    assert link not in get(ws, [receipt.id]).entries[0].content
    again = update_with_files(ws, receipt.id, local, {"append": link.replace(name, paths[0])})[
        0
    ]
    assert "Not attached" not in " ".join(again.notices)


def test_all_that_was_not_found_is_in_one_notice(ws: Workspace, lab: Path) -> None:
    _, _, notices = saved(ws, " ".join(f"![[{n}.png]]" for n in range(12)), lab)
    assert notices.count("Not attached: ") == 1 and "`7.png`" in notices
    assert "`8.png`" not in notices and "and 4 more" in notices


def test_what_is_private_takes_nothing_along(ws: Workspace, lab: Path) -> None:
    hidden = "<private>ü ![[list.csv]]</private>"
    text, paths, notices = saved(ws, f"Tea. {hidden} ![[gel.png]]", lab)
    assert paths == [f"{KEPT}gel.png"] and "list" not in text
    assert "Not attached" not in notices


@given(st.text(st.sampled_from("aü\n漢 ")), st.text(st.sampled_from("bß\n")))
def test_blanks_stand_for_what_is_private(shown: str, hidden: str) -> None:
    private = f"<private>{hidden}</private>"
    blank = blank_private(f"{shown}{private}{shown}")
    blanks = re.sub(r"[^\n]", " ", private)
    assert blank == f"{shown}{blanks}{shown}"
    open_ended = f"<private>{hidden}{private}{hidden}"
    blanks = re.sub(r"[^\n]", " ", open_ended)
    assert blank_private(f"{shown}{open_ended}") == f"{shown}{blanks}"


@pytest.mark.parametrize(
    ("link", "reach", "takes"),
    [
        ("![[gel.png]]", "below", True),
        ("![](runs/Blot%20%233%2050%25.png)", "below", True),
        ("![](../far.png)", "below", False),
        ("![](FAR)", "below", False),
        ("![[out.png]]", "below", False),
        ("![[.hidden/x.png]]", "below", False),
        ("![](../far.png)", "anywhere", True),
        ("![](FAR)", "anywhere", True),
        ("![](~/far.png)", "anywhere", True),
        ("![[out.png]]", "anywhere", True),
        ("![[gel.png]]", "nowhere", False),
        ("![](FAR)", "nowhere", False),
    ],
)
def test_who_may_have_a_file_copied_by_a_link(
    ws: Workspace,
    lab: Path,
    link: str,
    reach: Reach,
    takes: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(lab.parent))
    link = link.replace("FAR", str(lab.parent / "far.png"))
    text, paths, notices = saved(ws, link, lab, reach=reach, title="x")
    assert bool(paths) == bool(stored(ws)) == takes
    assert takes or (text == link and "only a person" in notices)


def test_files_that_are_named_are_attached(ws: Workspace, lab: Path) -> None:
    text, paths, notices = saved(ws, "Gel.", lab, "gel.png", str(lab / "paper.pdf"))
    assert text == f"Gel.\n\n![gel.png]({KEPT}gel.png)\n\n[paper.pdf]({KEPT}paper.pdf)"
    assert paths == [f"{KEPT}gel.png", f"{KEPT}paper.pdf"] and "may hold the place" in notices
    text, paths, _ = saved(ws, "", lab, "list.csv", reach="below")
    assert text == f"[list.csv]({KEPT}list.csv)" and id_of_name(ws, "list.csv")
    text, _, _ = saved(ws, "See [[Zelazny]] and [it](run.ipynb).", lab, "Zelazny", "run.ipynb")
    assert text.startswith(f"See [[Zelazny]] and [it]({KEPT}run-ipynb.bin).\n\n[Zelazny](")
    # a name in the text is that file, wherever it lies
    text, paths, notices = saved(ws, "See ![[far.png]].", lab, "../far.png")
    assert text == f"See ![far.png]({KEPT}far.png)." and "Not attached" not in notices


@pytest.mark.parametrize(
    ("name", "reach", "error"),
    [
        ("nope.png", "anywhere", NotFound),
        ("cut.png", "anywhere", InvalidArgument),
        ("folder.png", "anywhere", InvalidArgument),
        ("pipe.png", "anywhere", InvalidArgument),
        ("note.md", "anywhere", InvalidArgument),
        ("gel.png", "nowhere", Refused),
    ],
)
def test_a_named_file_that_cannot_be_attached_stops_the_save(
    ws: Workspace, lab: Path, name: str, reach: Reach, error: type[SynapticError]
) -> None:
    with pytest.raises(error):
        saved(ws, "One ![[list.csv]].", lab, "gel.png", name, reach=reach)
    assert not stored(ws) and not [*ws.config.journal.glob("*.md")]
    assert not (ws.config.state / "unsaved").exists()


def test_a_save_that_fails_leaves_no_file(ws: Workspace, lab: Path) -> None:
    saved(ws, "One ![[gel.png]].", lab)
    for marks in ({"type": "odd"}, {"importance": 77}, {"parent": "20260101-aaaaaaaa"}):
        with pytest.raises(SynapticError):
            saved(ws, "Two ![[gel.png]] ![[list.csv]].", lab, **marks)
    assert stored(ws) == ["2026-11-21-gel.png"]


def test_the_same_file_is_stored_once_and_another_beside_it(ws: Workspace, lab: Path) -> None:
    first = saved(ws, "One ![[gel.png]].", lab)
    again = saved(ws, "One ![[gel.png]].", lab)
    assert again[:2] == first[:2] and "already saved" in again[2]
    (lab / "gel.png").write_bytes(JPEG)
    (lab / "runs" / "photo.jpeg").write_bytes(JPEG.replace(b"tables", b"others"))
    saved(ws, "Two ![[photo.jpeg]] ![[runs/photo.jpeg]].", lab)
    assert stored(ws) == [
        "2026-11-21-gel.png",
        "2026-11-21-photo-2.jpg",
        "2026-11-21-photo.jpg",
    ]


def test_what_lies_in_the_journal_is_not_copied(ws: Workspace, lab: Path) -> None:
    journal = ws.config.journal
    (journal / "trips").mkdir(parents=True)
    (journal / "trips" / "map.png").write_bytes(PNG)
    (journal / "gel.png").write_bytes(JPEG)
    text, paths, notices = saved(ws, "See ![[map.png]] ![[gel.png]].", lab)
    assert text == "See ![[map.png]] ![[gel.png]]." and not paths
    assert "`gel.png` leads to gel.png of the journal, not to" in notices
    text, paths, notices = saved(ws, "Here ![](./map.png).", journal / "trips")
    assert text == "Here ![](trips/map.png)." and paths == ["trips/map.png"]
    assert not notices and not stored(ws)


def test_the_links_of_a_note_in_a_folder_lead_from_there(ws: Workspace, lab: Path) -> None:
    note = ws.config.journal / "trips" / "Ely.md"
    note.parent.mkdir(parents=True)
    note.write_text("# Ely\n\nWe went.\n")
    id = id_of_name(ws, "Ely")
    assert id_of_name(ws, "[[Ely]]") == id_of_name(ws, "[[Ely|the city]]") == id
    assert id
    changes = {"append": "More ![[gel.png]]."}
    update_with_files(ws, id, LocalFiles(lab, "anywhere", (Path("list.csv"),)), changes)
    here = f"More ![gel.png](../{KEPT}gel.png).\n\n[list.csv](../{KEPT}list.csv)\n"
    assert note.read_text() == f"# Ely\n\nWe went.\n\n{here}"
    assert attached_to(ws, id) == (f"{KEPT}gel.png", f"{KEPT}list.csv")


def test_an_update_takes_files_along(ws: Workspace, lab: Path) -> None:
    local = LocalFiles(lab, "anywhere")
    receipt = save_with_files(ws, "Gel ![[late.png]] and `![[late.png]]`.", local).receipt
    (lab / "late.png").write_bytes(PNG)

    def update(*named: str, **changes: str) -> tuple[str, list[str]]:
        files = LocalFiles(lab, "anywhere", tuple(map(Path, named)))
        done = update_with_files(ws, receipt.id, files, changes)
        content = ws.journal.find(done.receipt.path, receipt.id)[1].content
        return content, list(done.paths)

    late = f"![late.png]({KEPT}late.png)"
    filled = f"Gel {late} and `![[late.png]]`."
    assert update("late.png") == (filled, [f"{KEPT}late.png"])
    assert update("late.png")[0] == f"{filled}\n\n{late}"
    text, _ = update("list.csv", append="More ![[gel.png]].")
    more = f"More ![gel.png]({KEPT}gel.png).\n\n[list.csv]({KEPT}list.csv)"
    assert text == f"{filled}\n\n{late}\n\n{more}"
    assert update(content=f"New {late} ![[paper.pdf]].") == (
        f"New {late} [paper.pdf]({KEPT}paper.pdf).",
        [f"{KEPT}paper.pdf"],
    )


@pytest.mark.parametrize(
    ("type", "changes"), [("preference", {}), ("note", {"type": "preference"})]
)
def test_no_file_puts_a_preference_into_force(
    ws: Workspace, lab: Path, type: EntryType, changes: dict[str, str]
) -> None:
    receipt = save_with_files(
        ws, "Never ![[late.png]] again.", LocalFiles(lab, "below"), type=type
    ).receipt
    (lab / "late.png").write_bytes(PNG)
    local = LocalFiles(lab, "anywhere", (Path("late.png"),))
    done = update_with_files(ws, receipt.id, local, changes, confirms=True).receipt
    entry = ws.journal.find(done.path, done.id)[1]
    assert entry.title == "Never ![[late.png]] again."
    assert entry.content == f"![late.png]({KEPT}late.png)"
    assert any("waits" in notice for notice in done.notices)


def test_a_note_with_a_private_passage_only_grows(ws: Workspace, lab: Path) -> None:
    here = LocalFiles(lab, "anywhere")
    receipt = save_with_files(ws, "Gel.\n\nSee ![[late.png]].\n\nThe end.", here).receipt
    file = ws.config.journal / receipt.path
    private = "<private>pin</private> The end."
    file.write_text(file.read_text().replace("The end.", private))
    (lab / "late.png").write_bytes(PNG)
    local = LocalFiles(lab, "anywhere", (Path("late.png"),))
    update_with_files(ws, receipt.id, local, {})
    late = f"![late.png]({KEPT}late.png)"
    assert file.read_text().endswith(f"See ![[late.png]].\n\n{private}\n\n{late}\n")


# -- on the command line


def test_a_person_attaches_and_sees_what_is_attached(home: ForkedHome, lab: Path) -> None:
    now = {"SYNAPTIC_NOW": "2026-11-21T09:31:00"}
    home.folder = lab
    answer = home.person("save", "Gel ![[gel.png]]", "--attach", "list.csv", "--json", **now)
    data = answer.json
    assert data["attached"] == [f"{KEPT}gel.png", f"{KEPT}list.csv"]
    id = data["id"]
    whole = home.run("get", id).out
    for path in data["attached"]:
        assert f"attached: {home.journal / path}" in whole
    [entry] = home.ask("get", id)["entries"]
    assert entry["attached"] == data["attached"]
    opened = home.run("open", id)
    assert opened.out.startswith(f"{home.journal / '2026-11-21.md'}:")
    assert f"Attached: {home.journal / data['attached'][0]}" in opened.err
    assert home.ask("open", id)["attached"] == [
        str(home.journal / path) for path in data["attached"]
    ]
    gone = home.ask("delete", id, "--yes", "--purge")
    assert f"Its files stay: {', '.join(data['attached'])}." in gone["notices"]
    assert all((home.journal / path).is_file() for path in data["attached"])
    # a pipe reaches only what lies below the folder, a person all
    far = str(lab.parent / "far.png")
    text = f"Two ![[photo.jpeg]] ![]({far})"
    piped = home.run("save", "-", "--json", stdin=text, **now).json
    assert piped["attached"] == [f"{KEPT}photo.jpg"]
    assert "only a person" in " ".join(piped["notices"])
    typed = home.person("save", f"Three ![]({far})", "--json", **now).json
    assert typed["attached"] == [f"{KEPT}far.png"]


def test_files_that_the_shell_names_are_no_words(home: ForkedHome, lab: Path) -> None:
    home.folder = lab
    stray = home.run("save", "Gel", "--attach", "gel.png", "list.csv", "photo.jpeg")
    assert stray.code == 2 and "list.csv, photo.jpeg would be words" in stray.err
    assert "--attach gel.png --attach list.csv" in stray.err
    data = home.ask("save", "gel.png", "and", "nope.csv", "--attach", "gel.png")
    assert len(data["attached"]) == 1


def test_an_agent_attaches_nothing(home: ForkedHome, lab: Path) -> None:
    home.folder = lab
    text = f"See ![[gel.png]] and ![]({lab.parent / 'far.png'})."
    answer = home.run("save", text, "--json", CLAUDECODE="1").json
    assert answer["attached"] == [] and "only a person" in " ".join(answer["notices"])
    refused = home.run("save", "x", "--attach", "gel.png", CLAUDECODE="1")
    assert refused.code == 1 and "Only a person attaches files" in refused.err
    with home.server() as server:
        server.call("save", content=f"Over MCP: {text}")
    assert not (home.journal / "attachments").exists()
