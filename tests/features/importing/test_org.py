"""Org files as Markdown: entries by their days, tasks, links, code."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from linear import is_linear

from synaptic.features.importing.readers.org import read_org

CHANGED = date(2026, 3, 1)
LINES: dict[str, tuple[str, str]] = {
    "bold": ("A *bold* word.", "A **bold** word."),
    "slanted": ("/Slanted/, not /usr/bin/env.", "*Slanted*, not /usr/bin/env."),
    "code": ("=a*b*c= and ~x_y~", "`a*b*c` and `x_y`"),
    "struck": ("+gone+ but C++ stays", "~~gone~~ but C++ stays"),
    "sums": ("2*3*4 and a/b/c", "2*3*4 and a/b/c"),
    "link": ("[[https://a.org/x][A page]]", "[A page](https://a.org/x)"),
    "bare link": ("[[https://a.org/x]]", "<https://a.org/x>"),
    "heading link": ("[[*Ideas][see there]]", "see there"),
    "id": ("[[id:1234-ab][Ida]]", "Ida"),
    "file": ("[[file:notes/b.org::*X][b]]", "[b](<notes/b.org>)"),
    "picture": ("[[./my gel.png]]", "![](<./my gel.png>)"),
    "active stamp": ("Due <2026-01-05 Mon>.", "Due 2026-01-05."),
    "stamp": ("At [2026-01-05 Mon 10:00] sharp", "At 2026-01-05 10:00 sharp"),
    "repeated": ("<2026-01-05 Mon +1w>", "2026-01-05 +1w"),
    "no stamp": ("[2026] and <b>", "[2026] and <b>"),
    "box": ("- [X] done\n- [-] half\n+ [ ] open", "- [x] done\n- [ ] half\n- [ ] open"),
    "term": ("- valve :: lets it out", "- **valve**: lets it out"),
    "numbers": ("1) one\n2) two", "1) one\n2) two"),
    "table": ("| a | b |\n|---+---|\n| 1 | 2 |", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
    "code block": ("#+begin_src python\n,* a\n* b\n#+end_src", "```python\n* a\n* b\n```"),
    "open block": ("#+BEGIN_EXAMPLE\nx", "```\nx\n```"),
    "quote": ("#+begin_quote\nTo be.\n#+end_quote", "> To be."),
    "fixed": (": a\n: b\nc", "```\na\nb\n```\nc"),
    "note": ("A word[fn:1].", "A word[^1]."),
    "comment": ("# mind the gap", "mind the gap"),
    "setting": ("#+STARTUP: overview\nText", "Text"),
    "drawer": (":LOGBOOK:\nCLOCK: x\n:END:", "CLOCK: x"),
}
HEADS: dict[str, tuple[str, datetime | None, str]] = {
    "own property": (
        "* Ida\n:PROPERTIES:\n:CREATED: [2026-01-05 Mon 10:00]\n:END:\n",
        datetime(2026, 1, 5, 10),
        "Ida",
    ),
    "stamp in the heading": ("* Ida [2026-01-05 Mon 10:00]\n", datetime(2026, 1, 5, 10), "Ida"),
    "stamp below": ("* Ida\n[2026-01-05 Mon]\n", datetime(2026, 1, 5), "Ida"),
    "active stamp": ("* <2026-01-05 Mon> Ida\n", datetime(2026, 1, 5), "Ida"),
    "day": ("*** 2026-01-05 Monday\n", datetime(2026, 1, 5), ""),
    "appointment": ("* Ida <2026-12-05 Sat>\n", None, ""),
    "deadline": ("* TODO Ida\nDEADLINE: <2026-01-05 Mon>\n", None, ""),
    "no day": ("* Ida [2026-13-45 Mon]\n", None, ""),
}
TASKS: dict[str, str] = {
    "* TODO [#A] Call Ida :phone:\nDEADLINE: <2026-01-07 Wed>": "- [ ] Call Ida ⏫ 📅 2026-01-07 #phone",
    "* DONE Call Ida\nCLOSED: [2026-01-07 Wed 09:00]": "- [x] Call Ida CLOSED: [2026-01-07 Wed 09:00]",
    "* CANCELLED Call Ida": "- [-] Call Ida",
    "* WAITING Call Ida": "- [ ] WAITING Call Ida",
    "#+TODO: CHASE | GIVEN\n* CHASE Call Ida": "- [ ] CHASE Call Ida",
    "* TODO Water\nSCHEDULED: <2026-01-07 Wed +1w>": "- [ ] Water SCHEDULED: <2026-01-07 Wed +1w>",
    "* TODO Call\nAsk her.": "- [ ] Call\n\n  Ask her.",
}


@pytest.mark.parametrize("name", LINES)
def test_a_line_becomes_markdown(name: str) -> None:
    org, markdown = LINES[name]
    [entry] = read_org(org, CHANGED)
    assert entry.text == markdown


@pytest.mark.parametrize("name", HEADS)
def test_a_heading_with_its_day_begins_an_entry(name: str) -> None:
    org, at, title = HEADS[name]
    [entry] = read_org(f"{org}Text.\n", CHANGED)
    assert (entry.at, entry.title) == (at, title)
    assert "Text." in entry.text and (at or "Ida" in entry.text)


@pytest.mark.parametrize("org", TASKS)
def test_a_state_becomes_a_task(org: str) -> None:
    [entry] = read_org(org, CHANGED)
    assert entry.text == TASKS[org]


def test_a_tree_of_days_gives_an_entry_a_day_and_one_for_the_rest() -> None:
    text = (
        "#+title: Log\n#+filetags: :work:\nBefore.\n* 2026\n** 2026-01 January\n"
        "*** 2026-01-05 Monday\nTea.\n**** Lunch :food:\nSoup.\n"
        "**** Met Ida [2026-01-05 Mon 13:00] :people:\n:PROPERTIES:\n:Place: Café\n:END:\nShe laughed.\n"
        "* Ideas\nA boat.\n"
    )
    rest, day, met = read_org(text, CHANGED)
    assert (rest.title, rest.text, rest.tags) == (
        "Log",
        "Before.\n\n## Ideas\n\nA boat.",
        ("work",),
    )
    assert day.text == "Tea.\n\n## Lunch #food\n\nSoup."
    assert (met.title, met.text, met.tags) == ("Met Ida", "She laughed.", ("work", "people"))
    assert met.fields == (("place", "Café"),) and met.at == datetime(2026, 1, 5, 13)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "sign",
    ["*", "* a\n", "[[", "#+begin_src\n", "=a", ":a:\n", "<2026-01-05", "/", "- [", "|a"],
)
def test_a_long_run_takes_time_by_its_length(sign: str) -> None:
    read_org("* TODO a", CHANGED)  # what the first reading imports
    texts = [sign * 40_000, sign * 10_000]
    assert is_linear(lambda text: read_org(text, CHANGED), *texts, least_s=0.05, calls=2)
