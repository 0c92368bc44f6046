"""Three invented histories of 110 sessions of coding agents in three repositories: does an agent
that does a task get the entry that helps, before the one that was replaced?

Histories, tasks and the truth about prompts are by three writers who had not seen the program.
Everything is chosen on the first two, of which `--held` asks the second; `--third` asks the
one that only reports. Each entry is saved by the tool, at its time, in a real checkout on its
branch. With `--crowded` the entries of two other teams stand in the same three projects, so
that a journal holds about 500. With `--captured` ten sessions leave a transcript, of which a
digest is made, and the briefing of the next session is asked for what only this digest says.

| way | what the agent reads |
|---|---|
| brief | the text of the hook at the start of a session |
| brief and prompt | this, and the text of the prompt hook for the task |
| user's words, agent's words | one answer of `context_search` |
| flat file | the end of the repository's MEMORY.md: a line for each entry, newest last |
| ripgrep | the lines of that file that hold a word of the task, the rarest word first |
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from importlib import import_module
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

from corpus import read
from repositories import ROOM, _greps, _make_files

from synaptic import open_workspace
from synaptic.config import Config, load_config
from synaptic.features.importing.import_runs import digest_noted_sessions
from synaptic.hooks.captured import note_ended_session
from synaptic.hooks.hooks import answer_session_start
from synaptic.hooks.prompt import answer_prompt
from synaptic.hooks.seen import ids_in_text
from synaptic.index.embedding import FastEmbedder
from synaptic.mcp.answers import answer_tool
from synaptic.mcp.calls import Call
from synaptic.render.fence import count_tokens
from synaptic.render.prompt_entries import entries_for_prompt
from synaptic.workspace import workspace as workspace_module

History = Mapping[str, Any]

CROWD = 247
"""Entries of other teams in a crowded journal: with the 249 of the first history 496."""
FLAT_LINES, FLAT_BYTES = 200, 25_000
"""The end of MEMORY.md that is read: about as much as clients read of such a file."""
IMPORTANCE = {"low": 3, "medium": 5, "high": 8, "critical": 10}
"""The numbers that the tool takes for the words of the histories."""
WORKTREES = {"authority-merge"}
"""Branches that are checked out in a worktree of their own."""
DEFAULT_BRANCH = "main"
_ENTRY = re.compile(r"^(?=\w{8}\b)", re.MULTILINE)
"""The place before each entry of an answer."""
_REPLACED = re.compile(r"(?:superseded|replaced) by")
_DOUBT = re.compile(r"no close match|No entry holds|Nothing found|Nothing fits", re.IGNORECASE)
GRADES = ("right", "right, stale below", "stale first", "nothing")


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    history = read(f"helps_{_name_history(arguments)}.json")
    os.environ["TZ"] = "UTC"  # of the histories' times
    if sys.platform != "win32":
        time.tzset()
    bench = Bench(scratch, history, read_crowd(history) if arguments.crowded else [])
    bench.captured = history["digests"] if arguments.captured else []
    bench.live()
    rows = []
    if arguments.captured:
        rows.append(_digest_row(bench.captured, bench.next_briefings, arguments.wrong))
    for name, answer in bench.ways().items():
        texts = [answer(task) for task in history["tasks"]]
        rows.append(_task_row(name, history["tasks"], texts, bench.ids))
        if arguments.wrong:
            _print_wrong(name, history["tasks"], texts, bench.ids)
    unanswered = history["nothing"]
    answers = [bench.search(task, task["task"]) for task in unanswered]
    prompted = [bench.prompt(task) for task in unanswered]
    rows.append(
        {
            "that nothing answers": len(unanswered),
            "search without a doubt": sum(not _DOUBT.search(text) for text in answers),
            "prompt hook speaks": sum(map(bool, prompted)),
            "entries": len(bench.ids),
        }
    )
    return [*rows, *_prompt_rows(history, bench.prompts, bench.ids)]


def _name_history(arguments: argparse.Namespace) -> str:
    if arguments.third:
        return "third"
    return "held" if arguments.held else "dev"


def count_o200k(text: str) -> int:
    """The tokens of a text as o200k has them, else by Synaptic's own count."""
    return len(ENCODER.encode(text)) if ENCODER else count_tokens(text)


def _load_encoder() -> Any:
    try:
        return import_module("bpe_openai").get_encoding("o200k_base")
    except ImportError:  # it holds its own tables; tiktoken would fetch them
        return None


ENCODER = _load_encoder()
TOKENS = "tokens (o200k)" if ENCODER else "tokens (own count)"


# -- the history
# ------------------------------------------------------------------------------


@dataclass
class Prompt:
    """The text of the hook for a prompt of a session; for its first prompt also the briefing."""

    session: str
    number: int
    text: str
    briefing: str


@dataclass
class Bench:
    """A home in which the sessions of a history happen one after the other."""

    scratch: Path
    history: History
    crowd: Sequence[Mapping[str, Any]]
    ids: dict[str, str] = field(default_factory=dict)
    """The short id of each entry by its key."""
    lines: dict[str, list[str]] = field(default_factory=dict)
    """The lines of MEMORY.md by repository."""
    prompts: list[Prompt] = field(default_factory=list)
    captured: Sequence[Mapping[str, Any]] = ()
    """What an agent answered last in some sessions, and what the next one must know of it."""
    next_briefings: dict[str, str] = field(default_factory=dict)
    """The briefing of the session that begins after a captured one, by the captured one."""

    def __post_init__(self) -> None:
        self.home = self.scratch / "home"
        self.home.mkdir()
        # as `setup` writes it
        (self.home / "config.toml").write_text("[hooks]\nuser_prompt = true\n")
        self.config = load_config(self.home)
        self.embedder = FastEmbedder(self.config.model, cache=self.scratch / "models")

    def live(self) -> None:
        """Runs the sessions: the briefing, the prompts, then the saves."""
        self.embedder.load()
        # one model for all
        workspace_module.FastEmbedder = lambda *_, **__: self.embedder  # type: ignore
        for repository in self.history["repositories"]:
            folder = self.scratch / repository["name"]
            commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q"]
            _git(self.scratch, "init", "-q", "-b", DEFAULT_BRANCH, str(folder))
            # a root of its own: by it the program knows a repository
            _git(folder, *commit, "--allow-empty", "-m", f"Begin {repository['name']}")
        self.workspace = open_workspace(self.config, clock=lambda: self.now)
        for session in self._sessions():
            self._live_session(session)

    def _sessions(self) -> list[Mapping[str, Any]]:
        return sorted([*self.history["sessions"], *self.crowd], key=lambda each: each["at"])

    def _live_session(self, session: Mapping[str, Any]) -> None:
        self.set_clock(session["at"])
        folder = self.check_out(session["repository"], session["branch"])
        if session["prompts"]:
            message = {"client": session["client"], "session_id": session["id"]}
            message["cwd"] = str(folder)
            briefing = answer_session_start(self.config, dict(message))
            for number, prompt in enumerate(session["prompts"]):
                text = self._answer_prompt({**message, "prompt": prompt})
                self.prompts.append(Prompt(session["id"], number, text, briefing))
                for item in self.captured:
                    is_next = item["repository"] == session["repository"]
                    if is_next and item["at"] == session["at"] and not number:
                        self.next_briefings[item["session"]] = briefing
                briefing = ""
        for saved in session["saves"]:
            self.now += timedelta(minutes=1)
            self._save(session, folder, saved)
        for item in self.captured:
            if item["session"] == session["id"]:
                self._capture(session, folder, item["captured"])

    def _capture(self, session: Mapping[str, Any], folder: Path, answer: str) -> None:
        """Ends a session in which `answer` came last, as Claude Code ends one, and makes its
        digest.
        """
        lines = []
        for number, prompt in enumerate(session["prompts"]):
            edit: dict[str, Any] = {"type": "tool_use", "id": f"t{number}", "name": "Edit"}
            edit["input"] = {"file_path": f"{folder}/CHANGES.md"}
            blocks = [edit]
            if number == len(session["prompts"]) - 1:
                blocks.append({"type": "text", "text": answer})
            lines.append(("user", prompt, number))
            lines.append(("assistant", blocks, number))
        begin = datetime.fromisoformat(session["at"]).replace(tzinfo=UTC)
        transcript = self.scratch / "transcripts" / f"{session['id']}-0-0-0-0.jsonl"
        transcript.parent.mkdir(exist_ok=True)
        with transcript.open("w", encoding="utf-8") as file:
            for place, (role, content, number) in enumerate(lines):
                line = {
                    "type": role,
                    "uuid": f"{session['id']}-{place}",
                    "timestamp": (begin + timedelta(minutes=number)).isoformat(),
                    "cwd": str(folder),
                    "gitBranch": session["branch"],
                    "message": {"content": content},
                }
                file.write(f"{json.dumps(line)}\n")
        ended = json.dumps({"transcript_path": str(transcript)}).encode()
        note_ended_session(str(self.home), "claude-code", ended)
        digest_noted_sessions(self.workspace)

    def _save(self, session: Mapping[str, Any], folder: Path, saved: Mapping[str, Any]) -> None:
        _make_files(folder, [self._as_folder(name) for name in saved.get("files", ())])
        arguments: dict[str, Any] = {"content": saved["text"], "type": saved["type"]}
        if saved.get("importance"):
            arguments["importance"] = IMPORTANCE[saved["importance"]]
        arguments["file"] = saved.get("files", [])
        # a number alone is no tag; an agent would save once more without it
        arguments["tag"] = [tag for tag in saved.get("tags", ()) if not tag.isdigit()]
        if saved.get("supersedes"):
            arguments["supersedes"] = [self.ids[key] for key in saved["supersedes"]]
        answer = self.call("context_save", arguments, folder, session["client"])
        self.ids[saved["id"]] = answer.split()[1]
        line = f"- {session['at'][:10]} {saved['type']}: {' '.join(saved['text'].split())}"
        self.lines.setdefault(session["repository"], []).append(line)

    def _answer_prompt(self, message: dict[str, Any]) -> str:
        """The text of the prompt hook, which asks as it asks a running server."""

        def ask(_: Config, question: dict[str, Any], __: float) -> dict[str, Any]:
            folder = Path(question["folder"])
            entries = entries_for_prompt(
                self.workspace, question["prompt"], folder, question["seen"], by_meaning=True
            )
            return entries._asdict()

        return answer_prompt(self.config, message, ask)

    @cached_property
    def _folders(self) -> set[Path]:
        """The folders in which files of the history lie."""
        saves = chain.from_iterable(session["saves"] for session in self._sessions())
        names = chain.from_iterable(saved.get("files", ()) for saved in saves)
        return set(chain.from_iterable(Path(name).parents for name in names))

    def _as_folder(self, name: str) -> str:
        """The name of a file, with a slash if it is a folder."""
        return f"{name}/" if Path(name) in self._folders else name

    def call(self, tool: str, arguments: dict[str, Any], folder: Path, client: str) -> str:
        """The answer of an MCP tool to a client that works in `folder`."""
        with chdir(folder):
            return answer_tool(self.workspace, tool, Call(arguments, client=client))

    def set_clock(self, at: str) -> None:
        self.now = datetime.fromisoformat(at).replace(tzinfo=UTC)
        os.environ["SYNAPTIC_NOW"] = self.now.isoformat()

    def check_out(self, repository: str, branch: str) -> Path:
        """The folder in which this branch of a repository is checked out."""
        folder = self.scratch / repository
        if branch in WORKTREES:
            worktree = self.scratch / f"{repository}-{branch}"
            if not worktree.exists():
                _git(folder, "worktree", "add", "-q", "-b", branch, str(worktree))
            return worktree
        _git(folder, "symbolic-ref", "HEAD", f"refs/heads/{branch}")
        return folder

    # -- the ways

    def ways(self) -> dict[str, Callable[[Mapping[str, Any]], str]]:
        """For each way to remember: the text that an agent reads who does a task."""
        return {
            "brief": self.brief,
            "brief and prompt": lambda task: f"{self.brief(task)}\n{self.prompt(task)}",
            "user's words": lambda task: self.search(task, task["task"]),
            "agent's words": lambda task: self.search(task, task["agent_query"]),
            "flat file": lambda task: _file_end(self.lines[task["repository"]]),
            "ripgrep": self._grep,
        }

    def brief(self, task: Mapping[str, Any]) -> str:
        return answer_session_start(self.config, self._message(task))

    def prompt(self, task: Mapping[str, Any]) -> str:
        """The text of the prompt hook in the session of the last briefing for this task."""
        return self._answer_prompt(self._message(task) | {"prompt": task["task"]})

    def search(self, task: Mapping[str, Any], query: str) -> str:
        return self.call("context_search", {"query": query}, self._begin(task), "claude-code")

    def _message(self, task: Mapping[str, Any]) -> dict[str, Any]:
        session = f"{task['at']}-{task['repository']}"
        return {"client": "claude-code", "session_id": session, "cwd": str(self._begin(task))}

    def _begin(self, task: Mapping[str, Any]) -> Path:
        self.set_clock(task["at"])
        return self.check_out(task["repository"], task.get("branch", DEFAULT_BRANCH))

    def _grep(self, task: Mapping[str, Any]) -> str:
        lines = [(line, line) for line in self.lines[task["repository"]]]
        matches = dict.fromkeys(chain.from_iterable(_greps(task["task"], lines)))
        return "\n".join(_first_of([line for line, _ in matches], ROOM))


def read_crowd(history: History) -> list[dict[str, Any]]:
    """The entries of two other teams as sessions without prompts: each of their repositories
    becomes one of the history's, and their days fall into its months. Hand-offs are left out, and
    what they say of what they replace.
    """
    entries = []
    for name in ("repositories.json", "repositories_two.json"):
        team = read(name)["entries"]
        own = [repository["name"] for repository in history["repositories"]]
        places = dict(zip(dict.fromkeys(entry["project"] for entry in team), own, strict=True))
        entries += [
            (f"{name}-{entry['id']}", places[entry["project"]], entry)
            for entry in team
            if entry["type"] != "handoff"
        ]
    first, last = (
        datetime.fromisoformat(history["sessions"][place]["at"]) for place in (0, -1)
    )
    step = (last - first) / CROWD
    sessions = []
    for number, (key, repository, entry) in enumerate(_evenly(entries, CROWD)):
        text = f"{entry['title'].rstrip('.')}. {entry['text']}"
        save = {"id": key, "type": entry["type"], "text": text, "files": entry["files"]}
        sessions.append(
            {
                "id": key,
                "at": (first + number * step).isoformat(timespec="seconds"),
                "repository": repository,
                "branch": DEFAULT_BRANCH,
                "client": "claude-code",
                "prompts": [],
                "saves": [save],
            }
        )
    return sessions


def _evenly(items: Sequence[Any], count: int) -> Iterator[Any]:
    """`count` of the items, at equal distances."""
    for number in range(count):
        yield items[number * len(items) // count]


def _file_end(lines: Sequence[str]) -> str:
    """The last lines of a file that a client reads."""
    end: list[str] = []
    size = 0
    for line in reversed(lines[-FLAT_LINES:]):
        size += len(line.encode()) + 1
        if size > FLAT_BYTES:
            break
        end.insert(0, line)
    return "\n".join(end)


def _first_of(lines: Sequence[str], room: int) -> Iterator[str]:
    """The first lines that have `room` tokens together."""
    for line in lines:
        room -= count_o200k(line)
        if room < 0:
            return
        yield line


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


# -- what the texts are worth
# ------------------------------------------------------------------------------


def grade(task: Mapping[str, Any], text: str, ids: Mapping[str, str]) -> str:
    """One of GRADES. `right`: all that `must` be read is there. A replaced sentence does not
    count as read where its entry is marked as replaced, or with a later entry that answers.
    """
    answers = "|".join(ids[key] for key in task["answers"])
    marked = re.compile(rf"{_REPLACED.pattern}|later, [\d-]+: [^()]*\((?:{answers})\)")
    right = ""
    stale = ""
    for part in _ENTRY.split(text):
        part = " ".join(part.split())
        right += f"{part}\n"
        stale += f"{' ' * len(part) if marked.search(part) else part}\n"
    places = [right.find(words) for words in task["must"]]
    stale_places = [stale.find(words) for words in task["stale_says"] if words in stale]
    if -1 in places:
        return "stale first" if stale_places else "nothing"
    if not stale_places:
        return "right"
    return "stale first" if min(stale_places) < max(places) else "right, stale below"


def _task_row(
    name: str, tasks: Sequence[Mapping[str, Any]], texts: Sequence[str], ids: Mapping[str, str]
) -> dict[str, Any]:
    grades = [grade(task, text, ids) for task, text in zip(tasks, texts, strict=True)]
    named = 0
    for task, text, each in zip(tasks, texts, grades, strict=True):
        named += each == "nothing" and any(ids[key] in text for key in task["answers"])
    tokens = sorted(map(count_o200k, texts))
    row: dict[str, Any] = {"way": name, "tasks": len(tasks)}
    row |= {each: grades.count(each) for each in GRADES}
    row["of these named"] = named
    return row | {TOKENS: round(median(tokens)), "most": tokens[-1]}


def _digest_row(
    items: Sequence[Mapping[str, Any]], briefings: Mapping[str, str], wrong: bool
) -> dict[str, Any]:
    """How many captured sessions the next briefing tells whole, and how many in part."""
    counts: Counter[str] = Counter()
    for item in items:
        text = " ".join(briefings[item["session"]].split())
        present = sum(words in text for words in item["must"])
        grade = "none"
        if present:
            grade = "right" if present == len(item["must"]) else "in part"
        counts[grade] += 1
        if wrong and grade != "right":
            print(f"- digest of {item['session']}: {grade}: {item['task']}\n  {item['must']}")
            print(f"{item['captured']}\n{briefings[item['session']]}\n")
    tokens = [count_o200k(briefings[item["session"]]) for item in items]
    return {
        "digests": len(items),
        "right": counts["right"],
        "in part": counts["in part"],
        f"brief, {TOKENS}": round(median(tokens)),
        "most": max(tokens),
    }


def _print_wrong(
    name: str, tasks: Sequence[Mapping[str, Any]], texts: Sequence[str], ids: Mapping[str, str]
) -> None:
    for number, (task, text) in enumerate(zip(tasks, texts, strict=True)):
        graded = grade(task, text, ids)
        if graded != "right":
            place = f"{task['repository']}, {task['branch']}"
            print(f"- {name} {number}: {graded}: {task['task']} ({place})")
            print(f"  {task['answers']} {task['must']} {task['stale_says']}\n{text}\n")


def _prompt_rows(
    history: History, prompts: Sequence[Prompt], ids: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The prompts of all sessions: those that an earlier entry helps, and the others. The hook
    is needed where the session has not seen such an entry whole; it is wrong where it speaks
    and shows none.
    """
    helps = {
        (truth["session"], truth["prompt"]): truth["helps"] for truth in history["prompt_truth"]
    }
    briefings: dict[str, str] = {}
    counts: Counter[str] = Counter()
    hook_tokens: Counter[str] = Counter()
    seen: dict[str, str] = {}
    for prompt in prompts:
        briefings.setdefault(prompt.session, prompt.briefing)
        before = seen.setdefault(prompt.session, prompt.briefing)
        seen[prompt.session] = f"{before}\n{prompt.text}"
        hook_tokens[prompt.session] += count_o200k(prompt.text)
        helping = [ids[key] for key in helps.get((prompt.session, prompt.number), ())]
        if not helping:
            counts["others"] += 1
            counts["speaks"] += bool(prompt.text)
            continue
        counts["needed"] += not set(helping) & set(ids_in_text(before))
        is_shown = any(id in prompt.text for id in helping)
        counts["shows others"] += bool(prompt.text) and not is_shown
        is_briefed = any(id in briefings[prompt.session] for id in helping)
        counts["shown"] += is_shown
        counts["shown, not in the brief"] += is_shown and not is_briefed
        counts["in brief"] += is_briefed
        counts["either"] += is_shown or is_briefed
        counts["silent"] += not prompt.text
    by_prompts = {
        "prompts that an entry helps": len(helps),
        "shown by the hook": counts["shown"],
        "in the brief": counts["in brief"],
        "either": counts["either"],
        "hook silent": counts["silent"],
        "other prompts": counts["others"],
        "hook speaks": counts["speaks"],
        "hook needed": counts["needed"],
        "right of these": counts["shown"],
        "hook wrong": counts["speaks"] + counts["shows others"],
    }
    briefs = [count_o200k(text) for text in briefings.values()]
    sessions = {
        "sessions": len(briefs),
        f"brief, {TOKENS}": round(median(briefs)),
        "most of a brief": max(briefs),
        "prompt hook, mean": round(sum(hook_tokens.values()) / len(briefs)),
        "most of a session": max(hook_tokens.values()),
    }
    return [by_prompts, sessions]
