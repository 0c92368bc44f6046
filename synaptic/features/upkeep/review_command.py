"""The command `review`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress

import typer

from ...cli import flags as f
from ...cli.flags import argument
from ...cli.program import command
from ...cli.replies import IN_JSON, output_for_workspace, print_answer, print_receipt
from ...errors import InvalidArgument, SynapticError, check_range
from ...language.query import MAX_LIMIT
from ...plugin import ReviewFinding
from ...render import terminal, wire
from ...render.present import matter_text
from ...render.terminal import emit
from ...serving.arguments import agent_name, is_person
from ...verbs.settling import UNDO_CHOICE, SettledReceipt
from ...workspace.workspace import Workspace
from .findings import carry_out_answer, list_findings, list_near_pairs

NEAR = "near"
"""The word behind `review` that asks for pairs of entries that are near each other."""


@command(
    "review",
    argument(
        list[str] | None,
        "words",
        "ANSWER FINDING",
        "An answer and a finding from the list: keep open:7k3m9q2x, or keep 7k3m9q2x.",
    ),
    f.PROJECT,
    f.LIMIT,
)
def review_findings(
    ws: Workspace, limit: int, project: Sequence[str] = (), words: Sequence[str] = ()
) -> None:
    """List entries that are out of date or need an answer, and the answers to each.

    On a terminal it asks about one finding after the other. Nothing changes without an answer.
    `synaptic review near` lists pairs of entries that are near each other.

    Example: synaptic review --project billing
    """
    asks_for_near = list(words) == [NEAR]
    if words and len(words) != 2 and not asks_for_near:
        raise InvalidArgument(
            f"`review {' '.join(words)}` is not an answer and a finding.",
            valid=("review", f"review {NEAR}", "review ANSWER FINDING"),
            hint="`synaptic review` lists findings and their answers.",
        )
    if words and not asks_for_near:
        return _settle_finding(ws, *words)
    check_range("limit", limit, 1, MAX_LIMIT)
    find = list_findings
    if asks_for_near:
        find = list_near_pairs
        with suppress(SynapticError):  # without the model, entries that have vectors
            ws.embedder.load()
    findings = find(ws, project=project)
    first = findings[:limit]
    left = len(findings) - limit
    more = f"{left:,} more; `--limit {MAX_LIMIT}` shows more of them." if left > 0 else ""
    if not IN_JSON.get() and terminal.is_terminal(sys.stdin, sys.stdout):
        _ask_about_findings(ws, first)
        return terminal.say(more or "That is all.")
    data = {"total": len(findings), "findings": list(map(wire.finding_json, first))}
    text = "\n\n".join(map(matter_text, first)) or "Nothing to review."
    return print_answer(data, text, [more] if more else [])


def _settle_finding(ws: Workspace, choice: str, key: str) -> None:
    """Carries out the person's choice for the finding `key` of a review, and prints the
    result.
    """
    receipt = carry_out_answer(
        ws, key, choice, by_person=not agent_name(), confirms=is_person()
    )
    if not receipt:
        return print_answer({"success": True, "kept": key}, f"Kept {key}")
    if isinstance(receipt, SettledReceipt) or choice == UNDO_CHOICE:
        file = output_for_workspace(ws).full_path(receipt.path)
        text = f"Both versions stand in {file} again."
        if isinstance(receipt, SettledReceipt):
            text = f"Settled in {file}. `synaptic review undo {receipt.undo}` takes it back."
        data = {"success": True} | wire.as_json(receipt)
        return print_answer(data, text, receipt.notices)
    done = "Deleted" if choice == "delete" else "Updated"
    return print_receipt(ws, done, receipt)


def _ask_about_findings(ws: Workspace, findings: Sequence[ReviewFinding]) -> None:
    """Shows a person each finding of a review and carries out the choice; `quit` ends the
    questions.
    """
    for matter in findings:
        emit(matter_text(matter))
        choices = (*matter.answers, "skip", "quit")
        question = f"One of {', '.join(choices)}"
        choice = ""
        while choice not in choices:
            terminal.drop_typed_keys()
            typed = typer.prompt(question, default="skip", err=True).strip().lower()
            fitting = [name for name in choices if name.startswith(typed)]
            choice = fitting[0] if typed and fitting else ""
        if choice == "quit":
            return
        try:
            if choice != "skip":
                _settle_finding(ws, choice, matter.key)
        except SynapticError as error:  # an answer before may have deleted it
            terminal.say_error(error)
