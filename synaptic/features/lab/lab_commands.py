"""The commands `evaluate` and `model`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from ...cli import flags as f
from ...cli.flags import argument, option
from ...cli.program import command
from ...cli.replies import check_can_ask, empty_journal_text, output_for_workspace, print_answer
from ...errors import InvalidArgument
from ...render import terminal, wire
from ...workspace.workspace import Workspace
from .lab_texts import comparison_text, evaluation_text, models_text


@command("evaluate", option(int | None, "questions", "1 to 300 questions. [default: 300]"))
def _evaluate(ws: Workspace, **choices: Any) -> None:
    """Measure how well a search finds your own entries.

    It asks up to 300 of their titles in a copy of the journal that lacks these titles, and
    counts how far up each entry comes.

    Example: synaptic evaluate --questions 100
    """
    from .evaluate import evaluate  # only this command needs it

    _end_like_control_c()
    evaluation = evaluate(ws, progress=terminal.build_progress_report(), **choices)
    text = evaluation_text(evaluation, output_for_workspace(ws))
    print_answer(wire.as_json(evaluation), empty_journal_text(ws) or text, evaluation.notices)


def _end_like_control_c() -> None:
    """Makes SIGTERM and SIGHUP end the command as Ctrl-C does, so that the temporary index is
    deleted.
    """
    import signal

    for name in ("SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name, signal.SIGINT), signal.default_int_handler)


@command(
    "model",
    argument(
        list[str] | None,
        "words",
        "use NAME",
        "The model to use from now on: a name of the list, or a folder.",
    ),
    f.YES,
)
def _model(ws: Workspace, yes: bool, words: Sequence[str] = ()) -> None:
    """List the models that find notes by meaning, or use another.

    `use` loads it, compares the two on your own notes, and asks.

    Example: synaptic model use BAAI/bge-small-en-v1.5
    """
    from . import model_switch  # only this command needs it

    if not words:
        offers = model_switch.models(ws)
        return print_answer({"models": wire.as_json(offers)}, models_text(offers))
    if len(words) != 2 or words[0] != "use":
        raise InvalidArgument(
            f"`synaptic model {' '.join(words)}` is not a command.",
            valid=("model", "model use NAME|FOLDER"),
        )
    check_can_ask("model use", yes=yes)

    def agree(tried: model_switch.Switch) -> bool:
        terminal.say(comparison_text(tried))
        return yes or typer.confirm(f"Use {tried.model}?", default=True, err=True)

    _end_like_control_c()
    done = model_switch.use(
        ws, words[1], agree=agree, progress=terminal.build_progress_report()
    )
    text = f"In use: {done.model if done.kept else done.before}."
    if done.kept and done.before != done.model:
        text += f" `synaptic model use {done.before}` goes back at once."
    return print_answer(wire.as_json(done), text, done.notices)
