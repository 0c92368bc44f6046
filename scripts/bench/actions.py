"""The tool calls in which the hooks speak: labelled calls of three repositories, each in a session of
its own.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Any

from corpus import read

from synaptic import open_workspace, save
from synaptic.config import load_config
from synaptic.hooks.action import entries_after_failure, entries_before_edit
from synaptic.workspace.preferences import confirm_shown_text, read_all_preferences
from synaptic.workspace.sync import in_step

EDITS = ("Edit", "Write")


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    told = read("tool_calls.json")
    code = scratch / "code"
    names = _write(scratch / "home", code, told["entries"])
    config = load_config(scratch / "home")
    rows: list[dict[str, Any]] = [
        {"calls": half, "right, of the marked": 0, "marked": 0, "speaks": 0, "ordinary": 0}
        for half in ("even, mended on", "odd, held")
    ]
    for number, call in enumerate(told["calls"]):
        said = {"session_id": str(number), "cwd": str(code), "error": call["error"]}
        text = ""
        if call["tool"] in EDITS:
            given = {"file_path": str(code / call["file"])}
            text = entries_before_edit(config, {**said, "tool_input": given})
        elif call["tool"] == "Bash" and call["error"]:
            text = entries_after_failure(config, said)
        shown = {names[id] for id in re.findall(r"^(\w{8}) \d{4}-", text, re.MULTILINE)}
        row = rows[number % 2]
        if call["entry_ids"]:
            row["marked"] += 1
            row["right, of the marked"] += bool(shown & set(call["entry_ids"]))
        else:
            row["ordinary"] += 1
            row["speaks"] += bool(shown)
        if arguments.wrong and number % 2 == 0 and shown != set(call["entry_ids"]):
            print(number, call, shown, sep="\n  ")
    return rows


def _write(home: Path, code: Path, entries: list[dict[str, Any]]) -> dict[str, str]:
    """Saves the entries, each in the project of its files; their labels by the ends of their
    ids.
    """
    names = {}
    with open_workspace(load_config(home)) as ws:
        for entry in entries:
            projects = {path.partition("/")[0] for path in entry["files"]}
            for project in projects:
                (code / project / ".git").mkdir(parents=True, exist_ok=True)
                (code / project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
            receipt = save(
                ws,
                entry["text"],
                title=entry["title"],
                type=entry["type"],
                files=entry["files"],
                project=projects.pop() if len(projects) == 1 else None,
            )
            names[receipt.id[9:]] = entry["id"]
        in_step(ws, lambda _: None)
        for rule in read_all_preferences(ws):
            confirm_shown_text(ws, rule.path, rule)
    return names
