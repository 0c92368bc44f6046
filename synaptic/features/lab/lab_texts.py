"""Evaluations and models as texts for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ...render.fence import one_line
from ...render.terminal import MOST_FINDINGS, Output, more_lines
from .evaluate import Evaluation
from .model_switch import Model, Switch


def evaluation_text(evaluation: Evaluation, to: Output) -> str:
    """Formats an evaluation for the terminal: the figure of each search method, the number of
    queries, and the first ones that failed.
    """
    if not evaluation.questions:
        return "No entry of this journal can be made a question."
    lines = [f"{to.paint(f'{way:8}', 'bold')} {mrr:.2f}" for way, mrr in evaluation.mrr.items()]
    lines.append(
        f"\nMean reciprocal rank, ± {evaluation.margin:.2f}: 1 where each entry comes first, "
        f"0.5 where second."
    )
    lines.append(f"Questions: {evaluation.questions:,}, in {evaluation.seconds:.0f} s.")
    if evaluation.missed:
        lines.append(
            f"\nNot among the first 20 of a default search: {len(evaluation.missed):,}."
        )
    for missed in evaluation.missed[:MOST_FINDINGS]:
        place = to.link(missed.path, missed.line)
        lines.append(f"  {one_line(missed.question)}  {missed.date or 'undated'}  {place}")
    lines += more_lines(len(evaluation.missed) - MOST_FINDINGS, "synaptic evaluate --json")
    return "\n".join(lines)


def models_text(offers: Sequence[Model]) -> str:
    """Formats a line for each model: name, languages, size, dimensions, remarks."""
    lines = []
    for model in offers:
        about = "ships" if model.ships else "downloaded" if model.downloaded else ""
        if model.in_use:
            about += ", in use"
        size = f"{model.megabytes:,} MB" if model.megabytes else ""
        name = one_line(model.name)
        dimensions = model.dimensions or ""
        lines.append(
            f"{name:60} {model.languages:19} {size:>8} {dimensions:>6}  {about}".rstrip()
        )
    return "\n".join(lines)


def comparison_text(tried: Switch) -> str:
    """Formats two lines: the success of the default search with each of the two models."""
    lines = []
    for name, evaluation in (
        (tried.before, tried.with_before),
        (tried.model, tried.with_model),
    ):
        if not evaluation:
            return (
                f"Not compared with {tried.before}: it has read too little of this journal, "
                f"or too little can be asked."
            )
        answered = evaluation.questions - len(evaluation.missed)
        lines.append(
            f"{one_line(name):60} mean reciprocal rank {evaluation.mrr['default']:.2f} "
            f"± {evaluation.margin:.2f}, {answered:,} of {evaluation.questions:,} "
            "among the first 20"
        )
    return "\n".join(lines)
