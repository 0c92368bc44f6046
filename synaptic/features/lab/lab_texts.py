"""Evaluations and models as texts for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ...render.fence import one_line
from ...render.terminal import SHOWN, Output, rest
from .evaluate import Evaluation
from .model_switch import Model, Switch


def evaluation_text(found: Evaluation, to: Output) -> str:
    """The figure of each way to search, over which questions, and the first that the default
    does not answer.
    """
    if not found.questions:
        return "No entry of this journal can be made a question."
    lines = [f"{to.paint(f'{way:8}', 'bold')} {mrr:.2f}" for way, mrr in found.mrr.items()]
    lines.append(
        f"\nMean reciprocal rank, ± {found.margin:.2f}: 1 where each entry comes first, 0.5 "
        f"where second."
    )
    lines.append(f"Questions: {found.questions:,}, in {found.seconds:.0f} s.")
    if found.missed:
        lines.append(f"\nNot among the first 20 of a default search: {len(found.missed):,}.")
    for missed in found.missed[:SHOWN]:
        place = to.at(missed.path, missed.line)
        lines.append(f"  {one_line(missed.question)}  {missed.date or 'undated'}  {place}")
    lines += rest(len(found.missed) - SHOWN, "synaptic evaluate --json")
    return "\n".join(lines)


def models_text(found: Sequence[Model]) -> str:
    """A line for each model: name, languages, size, dimensions, marks."""
    lines = []
    for one in found:
        about = "ships" if one.ships else "downloaded" if one.downloaded else ""
        if one.in_use:
            about += ", in use"
        size = f"{one.megabytes:,} MB" if one.megabytes else ""
        name = one_line(one.name)
        dimensions = one.dimensions or ""
        lines.append(
            f"{name:60} {one.languages:19} {size:>8} {dimensions:>6}  {about}".rstrip()
        )
    return "\n".join(lines)


def comparison_text(tried: Switch) -> str:
    """Two lines: the success of the default search with each model."""
    lines = []
    for name, one in ((tried.before, tried.with_before), (tried.model, tried.with_model)):
        if not one:
            return (
                f"Not compared with {tried.before}: it has read too little of this journal, "
                f"or too little can be asked."
            )
        found = one.questions - len(one.missed)
        lines.append(
            f"{one_line(name):60} mean reciprocal rank {one.mrr['default']:.2f} "
            f"± {one.margin:.2f}, {found:,} of {one.questions:,} among the first 20"
        )
    return "\n".join(lines)
