"""How a briefing shows entries that are near each other."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from synaptic.models import Entry
from synaptic.render.briefing import compose_briefing, handoff_item
from synaptic.verbs.brief import DUE, USEFUL, BriefingShelf

MOMENT = datetime(2026, 11, 20, 9, 30).astimezone()
OLD = "Tokens live 15 minutes, by `auth.ttl` in the gateway, and nobody may raise that."
NEW = "Tokens live an hour now."


def entry(number: int, content: str, **marks: Any) -> Entry:
    """An entry that is `number` days old."""
    at = MOMENT - timedelta(days=number)
    id = f"20261120-0000000{number}"
    return Entry(id=id, at=at, title=content, content=content, **marks)


def lines(*shelves: BriefingShelf, later_of: dict[str, str], **more: Any) -> list[str]:
    text = compose_briefing(
        "Head.",
        (),
        more.get("handoff"),
        shelves,
        max_tokens=more.get("max_tokens", 900),
        today=MOMENT.date(),
        later_of=later_of,
    )
    return [line for line in text.splitlines() if line.startswith("0000000")]


def test_the_later_of_two_near_entries_stands_above_the_earlier_one_cut_short() -> None:
    old, new, other = entry(5, OLD), entry(2, NEW), entry(1, "The pump leaks.")
    pair = {old.id: new.id}
    useful = BriefingShelf(USEFUL, (old, other, new))
    first, second, third = lines(useful, later_of=pair)
    assert first.endswith(NEW) and third.endswith("The pump leaks.")
    assert second == "00000005 15 Nov note: Tokens live 15 minutes, by `auth.ttl` …"
    whole = lines(useful, later_of={})
    assert whole[0].endswith(OLD)
    news = BriefingShelf("new since", (new,))
    apart = lines(news, BriefingShelf(USEFUL, (old, other)), later_of=pair)
    assert apart[0].endswith(NEW) and "nobody may" not in " ".join(apart) and len(apart) == 3


def test_an_earlier_entry_is_whole_where_the_later_one_is_not_shown() -> None:
    old, new = entry(5, OLD), entry(2, f"{NEW} {'It took long. ' * 60}")
    [line] = lines(BriefingShelf(USEFUL, (old, new)), later_of={old.id: new.id}, max_tokens=100)
    assert line.endswith(OLD)


def test_the_handoff_is_the_later_one_but_a_due_task_is_not() -> None:
    old, new = entry(5, OLD), entry(2, NEW, type="handoff")
    useful = BriefingShelf(USEFUL, (old,))
    handoff = handoff_item(new, today=MOMENT.date(), later="0")
    [short] = lines(useful, later_of={old.id: new.id}, handoff=handoff)
    assert short.endswith("`auth.ttl` …")
    task = BriefingShelf(DUE, (new,))
    assert lines(task, useful, later_of={old.id: new.id})[1].endswith(OLD)
