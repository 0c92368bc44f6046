"""A conflict of a sync is a question that a person answers, on a terminal or on the page."""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path

import pytest
from forks import ForkedHome, Forks
from hubs import DAY, NOON, Machines, day, elsewhere
from playwright.sync_api import expect
from served import AXE, WCAG, browsing, driving, logged_in, served

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")


@pytest.fixture
def machines(tmp_path: Path, forks: Forks) -> Machines:
    return Machines(tmp_path, forks)


def in_conflict(machines: Machines, *marks: str) -> tuple[ForkedHome, ForkedHome, str]:
    """Two machines that changed one entry; the laptop merged. Returns its id, too."""
    made, entry = made_in_conflict(machines.forks, *marks)
    machines.become(made)
    return machines.new("desk"), machines.new("laptop"), entry


@functools.cache
def made_in_conflict(forks: Forks, *marks: str) -> tuple[Machines, str]:
    machines = elsewhere(forks)
    desk, laptop = machines.shared("desk", "laptop")
    desk.ask("sync")
    entry = str(desk.ask("search", "first desk")["hits"][0]["id"])
    desk.ask("update", entry, "--content", "We meet at noon.", *marks)
    laptop.ask("update", entry, "--content", "We meet at one.")
    desk.ask("sync")
    answer = laptop.run("sync")
    assert "`synaptic review` asks which to keep" in answer.out + answer.err
    assert desk.ask("sync")["conflicts"] == [DAY]  # it is told, too, and once
    assert desk.ask("sync")["conflicts"] == []
    assert day(desk) == day(laptop) and "<<<<<<<" in day(desk)
    return machines, entry


def finding(home: ForkedHome) -> dict[str, object]:
    [found] = [one for one in home.ask("review")["findings"] if one["kind"] == "conflict"]
    return dict(found)


def test_each_machine_calls_its_own_text_mine(machines: Machines) -> None:
    desk, laptop, _ = in_conflict(machines)
    assert finding(desk)["versions"] == ["We meet at noon.", "We meet at one."]
    assert finding(laptop)["versions"] == ["We meet at one.", "We meet at noon."]
    text = desk.run("review").out
    mine, theirs = "  mine, of this machine:\n", "  theirs, of the other machine:\n"
    assert f"{mine}    We meet at noon.\n{theirs}    We meet at one." in text
    assert "<<<<<<<" not in text
    # the file says the same to both, so it names neither machine
    assert "<<<<<<< first version" in day(desk) and "ours" not in day(desk)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("answer", "texts"),
    [
        ("mine", ["We meet at noon."]),
        ("theirs", ["We meet at one."]),
        ("both", ["We meet at one.", "We meet at noon."]),
    ],
)
def test_an_answer_keeps_what_was_chosen_and_reaches_the_other_machine(
    machines: Machines, answer: str, texts: list[str]
) -> None:
    desk, laptop, entry = in_conflict(machines)
    before = day(desk)
    key = str(finding(desk)["finding"])
    refused = desk.run("review", answer, key, AI_AGENT="1")
    assert refused.code == 1 and "Only a person" in refused.err and day(desk) == before
    desk.ask("review", answer, key)
    assert desk.ask("get", entry)["entries"][0]["content"] == "\n\n".join(texts)
    assert not any(mark in day(desk) for mark in ("<<<", "===", ">>>"))
    assert desk.ask("review")["total"] == 0 and desk.run("doctor").code == 0
    desk.ask("sync")
    laptop.ask("sync")
    assert day(laptop) == day(desk)
    assert laptop.run("doctor").code == 0  # the text that went was chosen against
    desk.ask("restore", entry)
    assert day(desk) == before


@pytest.mark.sweep
@pytest.mark.parametrize("chooser", ["desk", "laptop"])
def test_a_text_that_was_chosen_against_is_not_missed(machines: Machines, chooser: str) -> None:
    desk, laptop = homes = machines.shared("desk", "laptop")
    base = "We meet on Friday at noon, in the yard behind the old mill."
    saved = desk.ask("save", base, "--title", "Meeting")
    for home in homes:
        home.ask("sync")
    desk.ask("update", saved["id"], "--content", base.replace("noon", "one"))
    laptop.ask("update", saved["id"], "--content", "Nobody can come; all is put off.")
    for home in (*homes, desk):
        home.ask("sync")
    home, other = homes if chooser == "desk" else homes[::-1]
    home.ask("review", "mine" if chooser == "desk" else "theirs", str(finding(home)["finding"]))
    home.ask("sync")
    other.ask("sync")
    assert day(desk) == day(laptop) and "at one" in day(desk)
    assert [one.run("doctor").code for one in homes] == [0, 0]


@pytest.mark.parametrize("answer", ["mine", "theirs"])
def test_a_heading_goes_with_its_version(machines: Machines, answer: str) -> None:
    _, laptop, entry = in_conflict(machines, "--title", "Lunch", "--add-tag", "ely")
    laptop.ask("review", answer, str(finding(laptop)["finding"]))
    kept = laptop.ask("get", entry)["entries"][0]
    if answer == "mine":
        assert kept["content"] == "We meet at one." and kept["tags"] == []
    else:
        assert (kept["title"], kept["tags"]) == ("Lunch", ["ely"])
        assert kept["content"] == "We meet at noon."
    assert day(laptop).count(f"syn:{entry}") == 1 and "\\" not in day(laptop)


def versions_of_sentence(
    machines: Machines, desk_marks: list[str], laptop_marks: list[str]
) -> tuple[ForkedHome, ForkedHome, str]:
    """Two machines that changed an entry which is a heading alone; the laptop merged."""
    desk, laptop = machines.shared("desk", "laptop")
    saved = desk.ask("save", "Chose Stripe", "--type", "decision", "--project", "acme")
    desk.ask("sync")
    laptop.ask("sync")
    desk.ask("update", saved["id"], *desk_marks)
    laptop.ask("update", saved["id"], *laptop_marks)
    desk.ask("sync")
    laptop.run("sync")
    desk.ask("sync")
    assert day(desk) == day(laptop)
    return desk, laptop, str(saved["id"])


FROM_DESK = ["--content", "Chose Adyen from desk", "--add-tag", "pay"]
FROM_LAPTOP = ["--content", "Chose Mollie from laptop"]


def test_both_versions_of_one_sentence_are_whole_and_both_stay_entries(
    machines: Machines,
) -> None:
    desk, laptop, entry = versions_of_sentence(machines, FROM_DESK, FROM_LAPTOP)
    before = day(desk)
    desk_text = "## 12:00 decision: Chose Adyen from desk #pay"
    laptop_text = "## 12:00 decision: Chose Mollie from laptop"
    assert finding(desk)["versions"] == [desk_text, laptop_text]
    assert finding(laptop)["versions"] == [laptop_text, desk_text]
    content = desk.ask("get", entry)["entries"][0]["content"]
    assert desk_text in content and laptop_text in content
    with served(desk.path, **NOON) as server:
        for path in (f"/entry/{entry}", "/review"):
            sides = server.shown(path)
            assert sides.count("Mollie from laptop") > 1 and "Adyen from desk" in sides, path
    key = str(finding(desk)["finding"])
    for answer, title in (("mine", "Adyen from desk"), ("theirs", "Mollie from laptop")):
        desk.ask("review", answer, key)
        one = desk.ask("get", entry)["entries"][0]
        assert one["title"] == one["content"] == f"Chose {title}"
        assert "\\" not in day(desk)
        desk.ask("restore", entry)
        assert day(desk) == before
    receipt = desk.ask("review", "both", key)
    hits = desk.ask("find", "--type", "decision")["entries"]
    assert {one["title"]: (one["project"], one["tags"], one["by"]) for one in hits} == {
        "Chose Mollie from laptop": ("acme", [], "person"),
        "Chose Adyen from desk": ("acme", ["pay"], "person"),
    }
    assert not desk.ask("review")["findings"] and desk.run("doctor").code == 0
    desk.ask("review", "undo", receipt["undo"])
    assert day(desk) == before


def test_versions_that_differ_in_their_marks_alone_show_them(machines: Machines) -> None:
    marks = (["--project", "north"], ["--project", "south"])
    desk, _, _ = versions_of_sentence(machines, *marks)
    assert ["north" in str(one) for one in finding(desk)["versions"]] == [True, False]
    assert "project=south" in desk.run("review").out


def test_the_page_shows_two_versions(machines: Machines) -> None:
    desk, _, entry = in_conflict(machines)
    with served(desk.path, **NOON) as server:
        for path in ("/", f"/entry/{entry}", "/search?q=noon", "/review", f"/print?id={entry}"):
            text = re.sub("</?mark>", "", server.shown(path))
            assert "We meet at noon." in text and "We meet at one." in text, path
            assert "<<<<<<<" not in text and ">>>>>>>" not in text and "=====" not in text


@pytest.mark.slow
def test_a_person_chooses_between_two_versions_on_the_page(machines: Machines) -> None:
    desk, _, entry = in_conflict(machines)
    before = day(desk)
    with (
        served(desk.path, **NOON) as server,
        driving() as playwright,
        browsing(playwright) as browser,
    ):
        page = logged_in(browser, server).new_page()
        page.goto(f"/entry/{entry}")
        page.get_by_role("link", name="Choose between the two versions").click()
        expect(page.locator("#review-waits")).to_have_text("1")
        page.evaluate(AXE.read_text("utf-8"))
        rules = {"runOnly": {"type": "tag", "values": WCAG}}
        assert page.evaluate("(rules) => axe.run(rules).then((r) => r.violations)", rules) == []
        mine = page.get_by_role("region", name="Mine, of this computer")
        expect(mine).to_contain_text("We meet at noon.")
        page.get_by_role("button", name="Keep theirs").click()
        expect(page.get_by_role("status")).to_contain_text("Kept the version of the other")
        assert "noon" not in day(desk) and "<<<" not in day(desk)
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("status")).to_contain_text("Restored")
        assert day(desk) == before
        page.goto("/review")
        page.get_by_role("button", name="Keep both").click()
        expect(page.get_by_role("heading", name="Nothing to review")).to_be_visible()
        page.goto("/")
        both = page.get_by_role("article").filter(has_text="noon")
        expect(both).to_contain_text(re.compile(r"We meet at one\.\s*We meet at noon\."))


STEPS = "settled trash-torn trashed overwrite-torn replace-written replace-swapped replaced"


def whole_file_conflict(machines: Machines) -> tuple[ForkedHome, str]:
    """A machine that merged a day with a private heading, which no merge by entries may touch,
    and the finding.
    """
    made, found = made_whole_file_conflict(machines.forks)
    machines.become(made)
    return machines.new("laptop"), found


@functools.cache
def made_whole_file_conflict(forks: Forks) -> tuple[Machines, str]:
    machines = elsewhere(forks)
    desk, laptop = machines.shared("desk", "laptop")
    desk.ask("sync")
    file = next(desk.journal.glob("*.md"))
    base = day(desk)
    for home, words in ((desk, "Green tea."), (laptop, "Black tea.")):
        text = f"{base}\n## 10:00 Tea\n{words}\n<private>\n## 11:00 {words}\n</private>\n"
        (home.journal / file.name).write_text(text)
    desk.ask("sync")
    laptop.run("sync")
    assert day(laptop).startswith("<<<<<<<") and "11:00" not in str(finding(laptop))
    return machines, str(finding(laptop)["finding"])


@pytest.mark.sweep
@pytest.mark.parametrize("answer", ["mine", "theirs", "both"])
def test_a_kill_in_a_choice_of_a_whole_file_or_in_its_undo_loses_nothing(
    machines: Machines, answer: str
) -> None:
    home, key = whole_file_conflict(machines)
    before = day(home)
    for step in STEPS.split():
        home.run("review", answer, key, SYNAPTIC_FAULT=step)
        assert day(home) == before or "<<<" not in day(home)
        if day(home) == before:
            home.ask("review", answer, key)
        after = day(home)
        texts = after + (home.path / ".state" / "trash.md").read_text()
        assert "Green tea." in texts and "Black tea." in texts and "<<<" not in after
        assert ("Green" in after, "Black" in after) == {
            "mine": (False, True),
            "theirs": (True, False),
            "both": (True, True),
        }[answer]
        home.run("review", "undo", key, SYNAPTIC_FAULT=step)
        assert day(home) in (before, after)
        if day(home) == after:
            assert "Both versions stand" in home.run("review", "undo", key).out
        assert day(home) == before


@pytest.mark.slow
def test_a_choice_of_a_whole_file_is_undone_on_the_page(machines: Machines) -> None:
    home, _ = whole_file_conflict(machines)
    before = day(home)
    with served(home.path) as server, driving() as playwright, browsing(playwright) as browser:
        page = logged_in(browser, server).new_page()
        page.goto("/review")
        page.get_by_role("button", name="Keep both").click()
        expect(page.get_by_role("status")).to_contain_text("Kept both versions")
        assert "Green" in day(home) and "Black" in day(home) and "<<<" not in day(home)
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("status")).to_contain_text("Both versions stand there again")
        assert day(home) == before


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("one", "other", "again"),
    [
        ("mine", "mine", ("We meet at noon.", "We meet at one.")),
        ("theirs", "theirs", ("We meet at noon.", "We meet at one.")),
        ("mine", "theirs", ()),
        ("mine", "both", ("We meet at noon.", "We meet at one.")),
    ],
)
def test_two_machines_that_settle_one_conflict_lose_no_text(
    machines: Machines, one: str, other: str, again: tuple[str, ...]
) -> None:
    desk, laptop, _ = in_conflict(machines)
    desk.ask("review", one, str(finding(desk)["finding"]))
    laptop.ask("review", other, str(finding(laptop)["finding"]))
    for home in (desk, laptop, desk):
        home.ask("sync")
    assert day(desk) == day(laptop)
    text = day(desk)
    assert "We meet at noon." in text
    for words in again:
        assert words in text
    assert ("<<<<<<<" in text) == bool(again)
    if again:
        for home in (desk, laptop):
            assert finding(home)["kind"] == "conflict"
