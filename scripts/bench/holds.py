"""What holds now: notes that a later one makes untrue, and look-alikes that both hold.

Scenarios by blind writers: an earlier note, a later one, three questions each (of the state,
one that takes the earlier note for granted, a task). All notes are saved in order of time.
Everything is chosen on the first set; `--held` asks the set that only reports. With `--small`
each of 24 journals that have just begun stands alone, with 3 to 14 notes.

| row         | links                                                                  |
|-------------|------------------------------------------------------------------------|
| alone       | none                                                                   |
| right agent | each replaced note that the save named is linked                       |
| other agent | 8 of 10 of these, and in 1 of 20 saves the nearest note that is named  |

| column      | share of the questions about replaced notes (`found`: about look-alikes)          |
|-------------|-----------------------------------------------------------------------------------|
| named       | the save of the later note names the earlier one                                  |
| names       | notes that a save names, mean                                                     |
| new there   | the answer shows the later note                                                   |
| old alone   | it shows the earlier one, and not the later                                       |
| good        | the later note comes first, or the earlier one is marked with it                  |
| bad         | the earlier one comes first or alone, without a mark                              |
| found       | it shows the earlier note, which holds                                            |
| first       | and before the other one                                                          |
| tokens      | of the concise answer, mean                                                       |
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from corpus import read

from synaptic import Config, Workspace, open_workspace, save, search, update
from synaptic.index.embedding import FastEmbedder
from synaptic.mcp.answers import answer_tool
from synaptic.mcp.calls import Call
from synaptic.models import SearchResult
from synaptic.render.fence import count_tokens

LINKED, WRONG = 0.8, 0.05
"""The shares of right links and of wrong ones that the other agent makes."""
ASKED_AFTER = timedelta(days=2)
FIRST_DAY = datetime(2025, 1, 1)
OTHERS = (
    "ordered,moved,repaired,checked,cancelled,postponed,finished,measured,upgraded,tested,renamed",
    "gel,antibody,freezer,budget,offer,invoice,printer,server,backup,garden,database,release,"
    "cache,queue,login,report,dashboard,sensor,boiler,roof",
    "before lunch,with the new script,because of the audit,for a customer,after the outage,"
    "with Ida,on the second try,in the cellar,for next month,without the old key",
)
"""What others did, with what, and how: other notes are made of these."""
AGENTS = ("alone", "right agent", "other agent")


@dataclass(frozen=True)
class Scenario:
    """Two notes by their places in the list of all notes, and what is asked about them."""

    earlier: int
    later: int
    kind: str
    replaces: bool
    project: str | None
    questions: Mapping[str, str]


Journal: TypeAlias = tuple[list[dict[str, Any]], list[Scenario]]
"""The notes of a journal in order of time, and its scenarios."""


@dataclass(frozen=True)
class Answered:
    """What an answer shows of the two notes of a scenario."""

    new_there: bool
    old_there: bool
    old_first: bool
    is_marked: bool
    tokens: int


@dataclass(frozen=True)
class Asked:
    """A scenario with the answers to its questions by kind. `named`: the save of the later note
    names the earlier one.
    """

    scenario: Scenario
    answers: Mapping[str, Answered]
    named: bool


@dataclass(frozen=True)
class History:
    """All notes of a set, saved: their ids, and the names that each save gave."""

    ids: Sequence[str]
    named: Sequence[Sequence[str]]


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    embedder = FastEmbedder(arguments.model, cache=scratch / "models")
    embedder.load()
    size = "small_" if arguments.small else ""
    name = f"holds_{size}{'held' if arguments.held else 'dev'}"
    told = read(f"{name}.json")
    journals = read_small_journals(told) if arguments.small else [read_notes(told)]
    rows = []
    for agent in AGENTS:
        asked: list[Asked] = []
        names: list[int] = []
        for number, (notes, scenarios) in enumerate(journals):
            home = scratch / f"{agent.replace(' ', '-')}-{number}"
            history, workspace = save_all(home, embedder, notes, scenarios, agent)
            save_others(workspace, scenarios, arguments.among)
            asked += ask_all(workspace, history, scenarios)
            names += map(len, history.named)
            workspace.close()
        rows.append({"set": name, "agent": agent} | shares(asked, names))
        if arguments.wrong:
            rows += list_wrong(asked, agent)
    return rows


def read_small_journals(told: Mapping[str, Any]) -> list[Journal]:
    """The notes and the scenarios of each journal of a set."""
    journals = []
    for journal in told["journals"]:
        notes = [one | {"project": None} for one in journal["notes"]]
        scenarios = []
        for one in journal["changes"]:
            asked = {kind: one[kind] for kind in ("state", "granted")}
            pair = Scenario(one["earlier"], one["later"], "changed", True, None, asked)
            scenarios.append(pair)
        for one in journal["both_hold"]:
            asked = {"state": one["question"]}
            scenarios.append(Scenario(one["one"], one["other"], "alike", False, None, asked))
        journals.append((notes, scenarios))
    return journals


def read_notes(told: Mapping[str, Any]) -> Journal:
    """The notes of a set in order of time, and its scenarios."""
    notes = [dict(one) for one in told["others"]]
    pairs = []
    for one in told["scenarios"]:
        project = {"project": one["project"]}
        both = one["old"] | project, one["later"] | project
        notes += both
        pairs.append((one, both))
    notes.sort(key=lambda note: datetime.fromisoformat(note["at"]))
    places = {id(note): place for place, note in enumerate(notes)}
    scenarios = [
        Scenario(
            places[id(earlier)],
            places[id(later)],
            one["kind"],
            one["replaces"],
            one["project"],
            one["questions"],
        )
        for one, (earlier, later) in pairs
    ]
    return notes, scenarios


def save_all(
    home: Path,
    embedder: FastEmbedder,
    notes: Sequence[Mapping[str, Any]],
    scenarios: Sequence[Scenario],
    agent: str,
) -> tuple[History, Workspace]:
    """Saves all notes at their times, and lets the agent link what a save names."""
    now = datetime.fromisoformat(notes[0]["at"]).astimezone()
    (home / "journal").mkdir(parents=True)
    config = Config(home=home, journal=home / "journal")
    workspace = open_workspace(config, embedder=embedder, clock=lambda: now)
    chance = random.Random(4)
    replaced = {one.later: one.earlier for one in scenarios if one.replaces}
    ids: list[str] = []
    named: list[list[str]] = []
    for place, note in enumerate(notes):
        now = datetime.fromisoformat(note["at"]).astimezone()
        marks = {"title": note.get("title"), "type": note["type"], "project": note["project"]}
        receipt = save(workspace, note["text"], **marks)
        ids.append(receipt.id)
        named.append([near.id for near in receipt.near])
        linked = links_of_agent(agent, chance, named[-1], ids, replaced.get(place))
        if linked:
            update(workspace, receipt.id, supersedes=linked)
    now += ASKED_AFTER
    return History(ids, named), workspace


def save_others(workspace: Workspace, scenarios: Sequence[Scenario], number: int) -> None:
    """Saves so many made-up notes of 500 days into the projects of the scenarios."""
    chance = random.Random(7)
    projects = sorted({one.project for one in scenarios}, key=str)
    for _ in range(number):
        verbs, things, ways = (chance.choices(words.split(","), k=2) for words in OTHERS)
        halves = [
            f"{verb} the {thing} {way}"
            for verb, thing, way in zip(verbs, things, ways, strict=True)
        ]
        at = FIRST_DAY + timedelta(hours=chance.randrange(12_000))
        text = f"We {halves[0]}, and then {halves[1]}."
        save(workspace, text, project=chance.choice(projects), at=at.isoformat())


def links_of_agent(
    agent: str,
    chance: random.Random,
    named: Sequence[str],
    ids: Sequence[str],
    replaced: int | None,
) -> list[str]:
    """The ids that the agent links after a save which named some; `replaced` is the place of
    the note that is really replaced.
    """
    if agent == "alone" or not named:
        return []
    is_perfect = agent == "right agent"
    old = None if replaced is None else ids[replaced]
    if old in named and (is_perfect or chance.random() < LINKED):
        return [str(old)]
    if not is_perfect and chance.random() < WRONG:
        return [named[0]]
    return []


def ask_all(
    workspace: Workspace, history: History, scenarios: Sequence[Scenario]
) -> Iterator[Asked]:
    """The answers to the questions of each scenario, asked within its project."""
    for one in scenarios:
        config = replace(workspace.config, project=one.project)
        asked = replace(workspace, config=config)
        old, new = history.ids[one.earlier], history.ids[one.later]
        answers = {}
        for kind, query in one.questions.items():
            found = search(asked, query)
            text = answer_tool(asked, "context_search", Call({"query": query}))
            answers[kind] = read_answer(found, old, new, count_tokens(text))
        yield Asked(one, answers, old in history.named[one.later])


def read_answer(found: SearchResult, old: str, new: str, tokens: int) -> Answered:
    """What the answer shows of both notes."""
    ids = [hit.entry.id for hit in found.hits]
    below = [(place, near.id) for place, hit in enumerate(found.hits) for near in hit.later]
    old_at = ids.index(old) if old in ids else None
    new_at = ids.index(new) if new in ids else None
    is_replaced = any(old == near.id for hit in found.hits for near in hit.replaces)
    shows_below = any(id == new for _, id in below)
    is_marked = False
    if old_at is not None:
        is_linked = found.hits[old_at].superseded_by == new
        is_marked = is_linked or (old_at, new) in below
    return Answered(
        new_there=new_at is not None or shows_below,
        old_there=old_at is not None or is_replaced,
        old_first=old_at is not None and (new_at is None or old_at < new_at),
        is_marked=is_marked,
        tokens=tokens,
    )


def shares(asked: Sequence[Asked], names: Sequence[int]) -> dict[str, str]:
    """The row of a set; `names` are the numbers of notes that the saves named."""
    named = [one.named for one in asked if one.scenario.replaces]
    replaced: list[Answered] = []
    alike: list[Answered] = []
    for one in asked:
        (replaced if one.scenario.replaces else alike).extend(one.answers.values())
    tokens = [one.tokens for one in (*replaced, *alike)]
    return {
        "named": _share(named),
        "names": f"{sum(names) / len(names):.2f}",
        "new there": _share([one.new_there for one in replaced]),
        "old alone": _share([one.old_there and not one.new_there for one in replaced]),
        "good": _share([one.new_there and not is_bad(one) for one in replaced]),
        "bad": _share([is_bad(one) for one in replaced]),
        "found": _share([one.old_there for one in alike]),
        "first": _share([one.old_first for one in alike]),
        "tokens": f"{sum(tokens) / len(tokens):.0f}",
    }


def is_bad(one: Answered) -> bool:
    """True if the earlier note comes first or alone, without a mark."""
    return one.old_first and not one.is_marked


def list_wrong(asked: Sequence[Asked], agent: str) -> Iterator[dict[str, Any]]:
    """A row for each bad answer, and for each look-alike that is not found."""
    for one in asked:
        for kind, answered in one.answers.items():
            wrong = is_bad(answered) if one.scenario.replaces else not answered.old_there
            if wrong:
                question = one.scenario.questions[kind]
                yield {"agent": agent, "kind": one.scenario.kind, "question": question}


def _share(values: Sequence[bool]) -> str:
    return f"{sum(values) / len(values):.2f} ({sum(values)}/{len(values)})"
