"""A note or a tag is renamed with all that names it, and nothing else changes; it is one change,
which is finished or taken back.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from counted import counted
from forks import ForkedHome
from homes import Clock, open_home, put
from killed import started, was_killed
from vaults import ends_of_links, files_of, unpack

from synaptic import Workspace
from synaptic.errors import Changed, InvalidArgument, NotFound, SynapticError
from synaptic.features.vault.renaming import plan_note_rename
from synaptic.features.vault.retagging import plan_tag_rename
from synaptic.features.vault.vault_commands import plan_text
from synaptic.filters import Filters
from synaptic.journal import disk
from synaptic.journal.changelog import FileChange
from synaptic.models import Entry
from synaptic.verbs import browse
from synaptic.verbs.changing import update
from synaptic.verbs.removing import restore
from synaptic.verbs.saving import save
from synaptic.workspace.many_edits import EditPlan, finish_edits, make_edits, take_back
from synaptic.workspace.preferences import read_log
from synaptic.workspace.sync import in_step

OLD, NEW = "people/Roger Zelazny.md", "authors/Zelazny (R).md"
FORMS = {
    # links in every form                                 and as they lead to the new name
    b"[[Roger Zelazny]] ![[roger zelazny#Life|him]]": (
        b"[[Zelazny (R)]] ![[Zelazny (R)#Life|him]]"
    ),
    b"[[people/Roger Zelazny#^b1]] [[Roger Zelazny.md]]": (
        b"[[authors/Zelazny (R)#^b1]] [[Zelazny (R).md]]"
    ),
    b"| [[Roger Zelazny\\|a [b]]] |": b"| [[Zelazny (R)\\|a [b]]] |",
    b'[a](../people/Roger%20Zelazny.md#Life "t") [b](<../people/Roger Zelazny.md>)': (
        b'[a](../authors/Zelazny%20%28R%29.md#Life "t") [b](<../authors/Zelazny (R).md>)'
    ),
    b"[![i](../pic.png)](../people/Roger%20Zelazny.md)": (
        b"[![i](../pic.png)](../authors/Zelazny%20%28R%29.md)"
    ),
    b"\r\n[r]: ../people/Roger%20Zelazny.md\r": b"\r\n[r]: ../authors/Zelazny%20%28R%29.md\r",
    b"\n- [ ] ask \xc3\xa9\xff [[Roger Zelazny]] \xf0\x9f\x90\xa6": (
        b"\n- [ ] ask \xc3\xa9\xff [[Zelazny (R)]] \xf0\x9f\x90\xa6"
    ),
    # texts that stay
    b"Roger Zelazny #Roger [x](http://a/Roger%20Zelazny.md) [[Other Zelazny]]": None,
    b"`[[Roger Zelazny]]` ``[a](../people/Roger%20Zelazny.md)``": None,
    b"\n\n```\n[[Roger Zelazny]]\n```\n\n# H\n\n    [[Roger Zelazny]]\n\n": None,
    b"<private>[[Roger Zelazny]]</private> <!-- [[Roger Zelazny]] -->": None,
}


def rename(ws: Workspace, note: str, new: str) -> str:
    return make_edits(ws, plan_note_rename(ws, note, new, confirms=True)).run


def test_links_in_all_forms_follow_and_no_other_byte_changes(ws: Workspace) -> None:
    front = b"\xef\xbb\xbf---\nup: '[[Roger Zelazny]]'\n---\n"
    before = front + b" x ".join(FORMS)
    after = front.replace(b"Roger Zelazny", b"Zelazny (R)")
    after += b" x ".join(new or old for old, new in FORMS.items())
    put(ws, "notes/From.md", before)
    put(ws, "pic.png", "x")
    put(ws, OLD, "[p](../pic.png) [[#Life]] [s](Sub/Amber.md) [[Roger Zelazny]]\n")
    put(ws, "people/Sub/Amber.md", "# Amber\n")
    put(ws, "Off.md", "---\nsynaptic: false\n---\n[[Roger Zelazny]]\n")
    first = files_of(ws.config.journal)
    plan = plan_note_rename(ws, "roger zelazny", NEW)
    assert files_of(ws.config.journal) == first
    why = Counter(stay.why.partition(":")[0] for stay in plan.stays)
    assert why == {"in code or a comment": 4, "in a private passage": 1, "`synaptic": 1}
    assert {line.path for line in plan.lines} == {"notes/From.md", OLD}
    assert not any("private>[[" in line.after for line in plan.lines)
    run = make_edits(ws, plan).run
    assert (ws.config.journal / "notes/From.md").read_bytes() == after
    moved = "[p](../pic.png) [[#Life]] [s](../people/Sub/Amber.md) [[Zelazny (R)]]\n"
    assert (ws.config.journal / NEW).read_text() == moved
    assert take_back(ws, run).stay == ()
    assert files_of(ws.config.journal) == first


def test_pages_of_logseq_follow_with_their_namespace(ws: Workspace) -> None:
    texts = {
        "logseq/config.edn": "{}",
        "pages/tools.md": "alias:: kit\n\n- A page. #tools/Knife\n",
        "pages/tools___Knife.md": "title:: tools/Knife\nis:: [[tools]]\n\n- Sharp.\n",
        "journals/2026_11_20.md": (
            "- tags:: tools, [[x]]\n- [[Tools]] #tools #[[tools/Knife]] #toolset [[kit]]\n"
            "- {{embed [[tools/knife]]}} [k](../pages/tools___Knife.md) ((abc))\n"
        ),
    }
    for name, text in texts.items():
        put(ws, name, text)
    first = files_of(ws.config.journal)
    run = rename(ws, "tools", "My gear")
    after = files_of(ws.config.journal)
    assert after["pages/My gear.md"] == b"alias:: kit\n\n- A page. #[[My gear/Knife]]\n"
    assert after["pages/My gear___Knife.md"] == (
        b"title:: My gear/Knife\nis:: [[My gear]]\n\n- Sharp.\n"
    )
    assert after["journals/2026_11_20.md"].decode() == (
        "- tags:: My gear, [[x]]\n- [[My gear]] #[[My gear]] #[[My gear/Knife]] #toolset "
        "[[kit]]\n- {{embed [[My gear/Knife]]}} [k](../pages/My%20gear___Knife.md) ((abc))\n"
    )
    take_back(ws, run)
    assert files_of(ws.config.journal) == first


@pytest.mark.parametrize("name", ["obsidian", "logseq"])
def test_in_real_vaults_each_link_leads_to_its_note(tmp_path: Path, name: str) -> None:
    """The most linked note, and two others, get names that are hard to write."""
    vault = unpack(name, tmp_path)
    is_logseq = name == "logseq"
    with open_home(tmp_path / "home", journal=vault, clock=Clock()) as ws:
        first = files_of(vault)
        ends = ends_of_links(first, logseq=is_logseq)
        linked = Counter(end for found in ends.values() for end in found if end)
        notes = [note for note, _ in linked.most_common() if note in ends]
        notes = [note for note in notes if not note.startswith(("journals/", "Daily/"))]
        news = ("Ñew näme (1)", "O'Neil & co", "Topic/Sub")
        for note, new in zip((notes[0], notes[7], notes[-1]), news, strict=True):
            plan = plan_note_rename(ws, note, new)
            run = make_edits(ws, plan).run
            now = ends_of_links(files_of(vault), logseq=is_logseq)
            for path, found in ends.items():
                wanted = Counter(plan.moves.get(end, end) for end in found if end)
                assert not wanted - Counter(now[plan.moves.get(path, path)]), (note, path)
            take_back(ws, run)
            assert files_of(vault) == first


def find_at(ws: Workspace, path: str) -> Entry:
    everything = Filters(include_superseded=True)
    [entry] = [one for one in browse.find(ws, filters=everything).entries if one.path == path]
    return entry


def reads_of(ws: Workspace, id: str) -> int:
    ws.index.flush()
    rowid = in_step(ws, lambda _: ws.index.resolve(id)).rowid
    return ws.index.ranking_facts([rowid])[rowid].accesses


def test_what_names_an_entry_without_a_written_id_follows(ws: Workspace) -> None:
    put(ws, OLD, "# A rule\n\nSome words.\n")
    put(ws, "2026-11-20.md", "# 2026-11-20\n\n## 10:00 Ask [[Roger Zelazny]]\n\nx\n")
    note, typed = find_at(ws, OLD), find_at(ws, "2026-11-20.md")
    later = save(ws, "It continues.", parent=note.id, supersedes=[typed.id])
    linking = save(ws, f"See [[{note.short_id}]] and [[{note.id}|it]].")
    update(ws, note.id, append="More.")
    browse.get(ws, [note.id])
    (ws.config.state / "review.json").write_text(f'{{"unread:{note.short_id}": "1"}}')
    first = files_of(ws.config.journal)
    assert reads_of(ws, note.id) == 1
    run = rename(ws, note.id, NEW)
    new, heading = find_at(ws, NEW), find_at(ws, "2026-11-20.md")
    assert new.id != note.id and heading.title == "Ask [[Zelazny (R)]]"
    [entry, link] = browse.get(ws, [later.id, linking.id]).entries
    assert entry.parent == new.id and entry.supersedes == (heading.id,)
    assert link.content == f"See [[{new.short_id}]] and [[{new.id}|it]]."
    assert reads_of(ws, new.id) == 1
    assert new.short_id in (ws.config.state / "review.json").read_text()
    restore(ws, new.id)
    assert b"More." not in (ws.config.journal / NEW).read_bytes()
    restore(ws, new.id)
    take_back(ws, run)
    assert files_of(ws.config.journal) == first
    assert reads_of(ws, note.id) == 1


def test_a_preference_stays_in_force_and_no_agent_changes_it(home: ForkedHome) -> None:
    home.ask("save", "First.")
    (home.journal / "Zelazny.md").write_text("Text.\n")
    id = home.rule("Read [[Zelazny]] first.")
    refused = home.run("rename", "Zelazny", "Roger", "--yes")
    assert refused.code == 1 and "only the user" in refused.err
    assert home.person("rename", "Zelazny", "Roger", keys=b"y\r").code == 0
    [entry] = home.ask("get", id)["entries"]
    assert entry["content"] == "Read [[Roger]] first."
    assert id in read_log(home.state).confirmed
    assert home.ask("doctor")["ok"]


def test_notes_of_two_folders_that_differ_in_capitals_can_be_renamed(ws: Workspace) -> None:
    for path in ("Books/Amber.md", "books/Lilith.md"):
        put(ws, path, "x\n")
    for name, new in (("Amber", "Corwin"), ("Lilith", "Adam")):
        rename(ws, name, new)
    assert {path.name for path in ws.config.journal.rglob("*.md")} == {"Corwin.md", "Adam.md"}


REFUSED: dict[tuple[str, str], str] = {
    ("Roger Zelazny", "AMBER"): "has the name 'AMBER' already",
    ("Roger Zelazny", "books/amber"): "some systems take",
    ("Roger Zelazny", "Books/New"): "books is there already, and some",
    ("Roger Zelazny", "e\u0301t\u00e9"): "some systems take",
    ("Roger Zelazny", "a:b"): "Windows",
    ("Roger Zelazny", "C#"): "Obsidian",
    ("Roger Zelazny", "aux"): "device",
    ("Roger Zelazny", "x."): "at its end",
    ("Roger Zelazny", "../out"): "empty",
    ("Roger Zelazny", ".hidden"): "hidden",
    ("Roger Zelazny", "x" * 300): "bytes",
    ("Roger Zelazny", "2026-01-02"): "day",
    ("Roger Zelazny", "Roger Zelazny"): "already",
    ("Twin", "Other"): "2 notes",
    ("2026-11-20", "Other"): "day",
    ("Nobody", "Other"): "No note",
    ("@vault/Far.md", "Other"): "read in place",
}


def test_names_that_cannot_be_are_refused(tmp_path: Path) -> None:
    sources = {"@vault": tmp_path / "vault"}
    (tmp_path / "vault").mkdir()
    with open_home(
        tmp_path / "home", sources=sources, exclude=("old/**",), clock=Clock()
    ) as ws:
        for name in (OLD, "books/Amber.md", "people/été.md", "a/Twin.md", "b/Twin.md"):
            put(ws, name, "x\n")
        put(ws, "2026-11-20.md", "# 2026-11-20\n\n## 10:00 x\n\ny\n")
        (tmp_path / "vault" / "Far.md").write_text("see [[Roger Zelazny]]\n")
        first = files_of(ws.config.journal)
        for (note, new), words in REFUSED.items():
            with pytest.raises(SynapticError, match=words):
                plan_note_rename(ws, note, new)
        plan = plan_note_rename(ws, "Roger Zelazny", "roger zelazny")
        assert plan.moves == {OLD: "people/roger zelazny.md"}
        put(ws, "Board.canvas", f'{{"nodes": [\n{{"file": "{OLD}"}}]}}')
        put(ws, "old/Left.md", "x\n\n[[Roger Zelazny]]\n")
        first = files_of(ws.config.journal)
        plan = plan_note_rename(ws, "Roger Zelazny", "Roger")
        stays = [(stay.path, stay.line) for stay in plan.stays]
        assert stays == [("@vault/Far.md", 1), ("Board.canvas", 2), ("old/Left.md", 3)]
        shown = plan_text(plan)
        assert "  old/Left.md:3 (in a note that `exclude` leaves out)\n" in shown
        assert "3 links will break: write the new name there in your editor." in shown
        assert files_of(ws.config.journal) == first


def test_a_link_by_name_that_would_lead_elsewhere_is_written_out(ws: Workspace) -> None:
    """Another note of this name is nearer after the move."""
    put(ws, "x/Index.md", "one\n")
    put(ws, "y/deep/Index.md", "two\n")
    put(ws, "y/From.md", "[[Index]] [[x/Index]]\n")
    put(ws, "z/From too.md", "[[Index]]\n")
    run = rename(ws, "y/deep/Index.md", "z/")
    assert (ws.config.journal / "y/From.md").read_text() == "[[z/Index]] [[x/Index]]\n"
    assert (ws.config.journal / "z/From too.md").read_text() == "[[x/Index]]\n"
    take_back(ws, run)
    assert not (ws.config.journal / "z/Index.md").exists()


TAGS = {
    "a.md": (
        "---\ntags: [db, 'Db/Sub', \"#db\", dbs]\n---\n# Head #db\n\n#DB, `#db` #[[db/Two w]]\n"
        "<private>#db</private> é #db <!-- #db -->\n",
        "---\ntags: [Data, 'Data/Sub', \"#Data\", dbs]\n---\n# Head #Data\n\n#Data, `#db` "
        "#[[Data/Two w]]\n<private>#db</private> é #Data <!-- #db -->\n",
    ),
    "b.md": ("---\ntag: x db, db/é\n---\ny\n", "---\ntag: x Data, Data/é\n---\ny\n"),
    "c.md": (
        "tags:: db, [[db]], #db, dbs\n\n- y #dbx\n",
        "tags:: Data, [[Data]], #Data, dbs\n\n- y #dbx\n",
    ),
    "2026-11-20.md": (
        "# 2026-11-20\r\n\r\n## 10:00 decision: Chose #db/lite\r\n\r\nWhy #db.\r\n",
        "# 2026-11-20\r\n\r\n## 10:00 decision: Chose #Data/lite\r\n\r\nWhy #Data.\r\n",
    ),
}


def test_a_tag_of_jrnl_is_renamed_where_it_is_one(tmp_path: Path) -> None:
    text = "Met @ida, a@ida.org, [@ida](http://x/@ida) #ida\n"
    for at_tags, new in ((True, "Met @Eve, a@ida.org"), (False, "Met @ida, a@ida.org")):
        with open_home(tmp_path / f"{at_tags}", at_tags=at_tags, clock=Clock()) as ws:
            put(ws, "a.md", text)
            make_edits(ws, plan_tag_rename(ws, "ida", "Eve"))
            data = (ws.config.journal / "a.md").read_text()
            assert data == f"{new}, [@ida](http://x/@ida) #Eve\n"


def test_a_tag_is_renamed_in_each_form(ws: Workspace) -> None:
    for name, (text, _) in TAGS.items():
        put(ws, name, text)
    first = files_of(ws.config.journal)
    plan = plan_tag_rename(ws, "#db", "Data")
    run = make_edits(ws, plan).run
    wanted = {name: text.encode() for name, (_, text) in TAGS.items()}
    assert files_of(ws.config.journal) == wanted and not plan.stays
    names = dict(in_step(ws, lambda _: ws.index.vocabulary().tags))
    assert names.keys() == {
        "data",
        "data/sub",
        "data/two-w",
        "data/lite",
        "data/é",
        "dbs",
        "x",
    } | {"dbx"}
    take_back(ws, run)
    assert files_of(ws.config.journal) == first


def test_a_tag_gets_other_capitals(ws: Workspace) -> None:
    put(ws, "one.md", "Salt #küche and #Küche.\n")
    put(ws, "two.md", "---\ntags: [küche/Herd]\n---\nBread.\n")
    plan = plan_tag_rename(ws, "#Küche", "#Küche")
    assert not plan.notices
    make_edits(ws, plan)
    assert (ws.config.journal / "one.md").read_text() == "Salt #Küche and #Küche.\n"
    assert "[Küche/Herd]" in (ws.config.journal / "two.md").read_text()
    with pytest.raises(InvalidArgument, match="is called #Küche already"):
        plan_tag_rename(ws, "küche", "Küche")
    with pytest.raises(NotFound):
        plan_tag_rename(ws, "kueche", "Kueche")


def test_files_edited_since_stay_when_a_rename_is_taken_back(ws: Workspace) -> None:
    put(ws, OLD, "x [[Roger Zelazny]]\n")
    put(ws, "one.md", "[[Roger Zelazny]]\n")
    put(ws, "two.md", "[[Roger Zelazny]]\n")
    run = rename(ws, "Roger Zelazny", "Roger")
    put(ws, "two.md", "[[Roger]] and more\n")
    assert take_back(ws, run).stay == ("two.md",)
    assert (ws.config.journal / "one.md").read_text() == "[[Roger Zelazny]]\n"
    assert (ws.config.journal / "two.md").read_text() == "[[Roger]] and more\n"
    assert (ws.config.journal / OLD).read_text() == "x [[Roger Zelazny]]\n"
    put(ws, "two.md", "[[Roger]]\n")
    assert take_back(ws, run).stay == ()
    assert (ws.config.journal / "two.md").read_text() == "[[Roger Zelazny]]\n"


def append(ws: Workspace, name: str, text: str) -> None:
    with (ws.config.journal / name).open("a") as file:
        file.write(text)


def beside_a_program(ws: Workspace, plan: EditPlan, name: str) -> EditPlan:
    """The plan beside a program that appends to this file between each look and each write."""

    def again(path: str) -> EditPlan:
        assert plan.again
        more = plan.again(path)
        if path == name:
            append(ws, name, "again\n")
        return more

    return replace(plan, again=again)


def test_a_rename_goes_on_beside_a_program_that_appends(ws: Workspace) -> None:
    for name in ("one.md", "two.md", "three.md"):
        put(ws, name, "x [[Roger Zelazny]]\n")
    put(ws, OLD, "I am [[Roger Zelazny]]\n")
    plan = plan_note_rename(ws, "Roger Zelazny", NEW)
    append(ws, "one.md", "- [[Roger Zelazny|he]] `[[Roger Zelazny]]`\n")
    append(ws, OLD, "and [[two]], not [[Roger Zelazny]]\n")
    put(ws, "three.md", "nothing any more\n")
    first = files_of(ws.config.journal)
    done = make_edits(ws, plan)
    texts = files_of(ws.config.journal)
    assert done.stay == () and OLD not in texts
    assert texts[NEW] == b"I am [[Zelazny (R)]]\nand [[two]], not [[Zelazny (R)]]\n"
    assert texts["one.md"] == (b"x [[Zelazny (R)]]\n- [[Zelazny (R)|he]] `[[Roger Zelazny]]`\n")
    assert texts["two.md"] == b"x [[Zelazny (R)]]\n"
    assert texts["three.md"] == b"nothing any more\n"
    assert take_back(ws, done.run).stay == ()
    assert files_of(ws.config.journal) == first


def test_an_editor_that_writes_to_one_of_many_files_keeps_its_text(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes after the names were exchanged, to the file that it opened before."""
    for name in ("one.md", "two.md", "three.md"):
        put(ws, name, "x [[Roger Zelazny]]\n")
    put(ws, OLD, "I\n")
    plan = plan_note_rename(ws, "Roger Zelazny", NEW)
    exchange = disk.exchange_names
    with (ws.config.journal / "two.md").open("r+b", buffering=0) as editor:

        def write_on(one: Path, other: Path) -> bool:
            if other.name == "three.md" and not editor.tell():
                editor.write(b"y [[Roger Zelazny]], too\n")
            return exchange(one, other)

        monkeypatch.setattr(disk, "exchange_names", write_on)
        done = make_edits(ws, plan)
    texts = files_of(ws.config.journal)
    assert texts["two.md"] == b"y [[Zelazny (R)]], too\n"
    assert texts["one.md"] == texts["three.md"] == b"x [[Zelazny (R)]]\n"
    assert done.stay == ()


def test_what_many_files_hold_is_durable_before_any_is_exchanged(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log, each new file, the names, the folder; each is synced once."""
    names = [f"{number}.md" for number in range(5)]
    for name in names:
        put(ws, name, "x #db\n")
    plan = plan_tag_rename(ws, "db", "data")
    steps: list[str] = []
    sync, exchange, append = disk.sync_file, disk.exchange_names, ws.journal.log.append

    def note_sync(fd: int) -> None:
        inode = os.fstat(fd).st_ino
        there = [
            path.name for path in ws.config.journal.iterdir() if path.stat().st_ino == inode
        ]
        steps.extend(["written" for name in there])
        if inode == ws.config.journal.stat().st_ino:
            steps.append("folder")
        sync(fd)

    def note_exchange(one: Path, other: Path) -> bool:
        steps.append("exchanged")
        return exchange(one, other)

    def note_append(*records: FileChange, sync: bool) -> None:
        steps.append(f"{len(records)} logged")
        append(*records, sync=sync)

    monkeypatch.setattr(disk, "sync_file", note_sync)
    monkeypatch.setattr(disk, "exchange_names", note_exchange)
    monkeypatch.setattr(ws.journal.log, "append", note_append)
    make_edits(ws, plan)
    many = ["5 logged", *["written"] * 5, *["exchanged"] * 5, "folder", "folder"]
    assert steps[: len(many)] == many


@pytest.mark.parametrize(("before", "after"), [("one.md", "one.md"), (OLD, NEW)])
def test_a_file_that_changes_each_time_is_named(ws: Workspace, before: str, after: str) -> None:
    for path in ("one.md", "two.md", OLD):
        put(ws, path, "x [[Roger Zelazny]]\n")
    plan = plan_note_rename(ws, "Roger Zelazny", NEW)
    append(ws, before, "before\n")
    done = make_edits(ws, beside_a_program(ws, plan, after))
    texts = files_of(ws.config.journal)
    assert done.stay == (after,) and OLD not in texts
    assert texts[after] == b"x [[Roger Zelazny]]\nbefore\nagain\nagain\n"
    assert texts["two.md"] == b"x [[Zelazny (R)]]\n"
    take_back(ws, done.run)
    texts = files_of(ws.config.journal)
    assert texts["two.md"] == b"x [[Roger Zelazny]]\n" and NEW not in texts
    assert texts[before] == b"x [[Roger Zelazny]]\nbefore\nagain\nagain\n"


def test_a_tag_is_renamed_beside_a_program_that_appends(ws: Workspace) -> None:
    for name in ("one.md", "two.md", "three.md"):
        put(ws, name, "x #db\n")
    plan = plan_tag_rename(ws, "db", "data")
    append(ws, "one.md", "y #db/sql\n")
    append(ws, "two.md", "before\n")
    done = make_edits(ws, beside_a_program(ws, plan, "two.md"))
    texts = files_of(ws.config.journal)
    assert done.stay == ("two.md",)
    assert texts["one.md"] == b"x #data\ny #data/sql\n" and texts["three.md"] == b"x #data\n"
    assert texts["two.md"] == b"x #db\nbefore\nagain\nagain\n"
    more = make_edits(ws, plan_tag_rename(ws, "db", "data"))
    assert (more.stay, more.file_count) == ((), 1)


def test_a_rename_that_could_change_nothing_says_so(ws: Workspace) -> None:
    put(ws, "one.md", "x #db\n")
    plan = plan_tag_rename(ws, "db", "data")
    append(ws, "one.md", "before\n")
    with pytest.raises(Changed, match=r"one\.md is changed again and again"):
        make_edits(ws, beside_a_program(ws, plan, "one.md"))
    assert not list((ws.config.state / "renames").iterdir())
    assert make_edits(ws, plan_tag_rename(ws, "db", "data")).file_count == 1


@pytest.mark.parametrize("step", "run-written replaced batch-written renamed".split())
@pytest.mark.parametrize("kill_in_round", [1, 2])
def test_a_kill_while_a_file_changes_leaves_each_file_old_or_new(
    ws: Workspace, step: str, kill_in_round: int
) -> None:
    for path in ("one.md", "two.md", OLD):
        put(ws, path, "x [[Roger Zelazny]]\n")
    plan = plan_note_rename(ws, "Roger Zelazny", NEW)
    append(ws, "one.md", "y [[Roger Zelazny]]\n")
    before = files_of(ws.config.journal)
    rounds = 1

    def again(path: str) -> EditPlan:
        nonlocal rounds
        rounds += 1
        if rounds == kill_in_round:
            os.environ["SYNAPTIC_FAULT"] = step
        assert plan.again
        return plan.again(path)

    def work() -> None:
        if kill_in_round == 1:
            os.environ["SYNAPTIC_FAULT"] = step
        make_edits(ws, replace(plan, again=again))

    assert was_killed(started(work))
    done = finish_edits(ws)
    assert done and done.stay == (("one.md",) if kill_in_round == 1 else ())
    texts = files_of(ws.config.journal)
    assert OLD not in texts and texts[NEW] == b"x [[Zelazny (R)]]\n"
    assert texts["two.md"] == b"x [[Zelazny (R)]]\n"
    new = before["one.md"].replace(b"Roger Zelazny", b"Zelazny (R)")
    assert texts["one.md"] == (before["one.md"] if kill_in_round == 1 else new)
    assert take_back(ws, done.run).stay == ()
    assert files_of(ws.config.journal) == before


STEPS = """
    locked overwrite-torn run-written logged-torn logged replace-torn replace-written replace-swapped replaced
    batch-written renamed moved noted
"""


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home with a note and links to it, and the id of a rule that has one."""
    folder = tmp_path_factory.mktemp("linked")
    home = ForkedHome(folder / "home", {"HOME": str(folder)})
    home.ask("save", "See [[Roger Zelazny]].", "--at", "2026-11-02T12:00")
    (home.journal / "people").mkdir()
    (home.journal / OLD).write_text("Links to [[Roger Zelazny]].\n")
    return home.path, home.rule("Read [[Roger Zelazny]].")


@pytest.mark.parametrize("step", STEPS.split())
def test_a_kill_leaves_all_as_it_was_or_is_finished(
    home: ForkedHome, linked: tuple[Path, str], step: str
) -> None:
    shutil.copytree(linked[0], home.path)
    id = linked[1]
    first = home.files()
    words = ("rename", "Roger Zelazny", NEW)
    killed = home.person(*words, keys=b"y\r", SYNAPTIC_FAULT=step)
    assert killed.code == -signal.SIGKILL
    if step not in ("locked", "overwrite-torn"):
        assert "is finished now" in home.run("recent").err
        done = home.files()
        assert OLD not in done and b"[[Zelazny (R)]]" in done[NEW]
        assert not any(b"[[Roger" in data for data in done.values())
        assert id in read_log(home.state).confirmed
        run = home.ask("undo", "--list")["undoable"][0]["run"]
        assert home.run("undo", run, SYNAPTIC_FAULT=step).code == -signal.SIGKILL
        assert "is finished now" in home.run("recent").err
        assert not list((home.state / "renames").iterdir())
        assert id in read_log(home.state).confirmed
    else:
        home.ask("recent")
    assert home.files() == first
    assert home.ask("doctor")["ok"]


def test_a_rename_is_shown_made_and_taken_back_in_a_terminal(home: ForkedHome) -> None:
    home.ask("save", "See [[Zelazny]]. #sf", "--at", "2026-11-02T12:00")
    (home.journal / "Zelazny.md").write_text("x\n")
    first = home.files()
    shown = home.run("rename", "Zelazny", "Roger", "--dry-run")
    assert "Zelazny.md -> Roger.md" in shown.out and "+ See [[Roger]]. #sf" in shown.out
    assert home.person("rename", "Zelazny", "Roger", keys=b"n\r").code == 0
    assert home.files() == first
    answer: dict[str, Any] = home.ask("rename", "--yes", "Zelazny", "Roger")
    assert answer["moves"] == [{"from": "Zelazny.md", "to": "Roger.md"}]
    tags = home.ask("tags", "--yes", "--rename", "sf", "scifi", SYNAPTIC_NOW="2030-01-01T12:00")
    shown = home.run("undo", "--list").out
    assert tags["run"] in shown and "rename: Zelazny.md -> Roger.md" in shown
    assert home.run("undo", tags["run"], "--yes").code == 0
    assert home.run("undo", answer["run"], "--yes").code == 0
    assert home.files() == first
    assert home.run("rename", "Zelazny").code == 2


def test_a_project_is_joined_with_another_unless_a_tag_is_called_so(home: ForkedHome) -> None:
    for project, text in (("shopp", "One. #sf"), ("Shopp", "Two."), ("shop", "Three.")):
        home.ask("save", text, "--project", project)
    first = home.files()
    shown = home.run("tags", "--rename", "shopp", "shop", "--dry-run").out
    assert shown == "2 entries would move from project shopp to shop.\n"
    assert home.person("tags", "--rename", "shopp", "shop", keys=b"n\r").code == 0
    assert home.files() == first
    moved = home.ask("tags", "--rename", "shopp", "shop", "--yes")
    assert len(moved["updated"]) == 2
    assert home.ask("find", "--project", "shop")["total"] == 3
    home.ask("undo", moved["undo"])
    assert home.files() == first
    home.ask("save", "Four. #shopp")
    shown = home.run("tags", "--rename", "shopp", "shop", "--dry-run").out
    assert "+ " in shown and "Four. #shop" in shown


def test_a_rename_lists_and_syncs_a_folder_once_however_many_notes_link(tmp_path: Path) -> None:
    works = {}
    for links in (10, 30):
        home = tmp_path / str(links)
        (home / "journal").mkdir(parents=True)
        (home / "journal" / "Beds.md").write_text("# Beds\n\nThree of them.\n")
        for number in range(links):
            (home / "journal" / f"note {number}.md").write_text("It grows in [[Beds]].\n")
        with open_home(home) as ws:
            plan = plan_note_rename(ws, "Beds", "Plots")
            with counted(ws, home) as work:
                done = make_edits(ws, plan)
        assert done.file_count == links
        works[links] = work.files
    assert works[30]["listed"] == works[10]["listed"]
    assert works[30]["looked at"] - works[10]["looked at"] <= 20 * 20
    assert works[30]["synced"] - works[10]["synced"] == 20
