"""Fits the curves by which the hook of a prompt speaks (`synaptic/render/prompt_entries.py`).

All prompts of both histories of `bench.py helps`, each with and without `--crowded`, are asked by
meaning and by words alone, and so are the questions that nothing answers. It is right to speak
if one of the first two hits helps that the session's briefing did not show. A curve is a
logistic regression with a ridge, over the signs of the first of these hits.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from corpus import read
from fit import regression, rounded
from helps import Bench, read_crowd

from synaptic.hooks.prompt import PROMPT_CHARS
from synaptic.hooks.seen import seen_ids
from synaptic.models import Hit
from synaptic.render.prompt_entries import SignsOfHelp, search_for_prompt, signs_of_help

HISTORIES = ("helps_dev.json", "helps_held.json")


class Asked(NamedTuple):
    """A prompt that was asked: its number among all of the sessions, and its unseen hits."""

    number: int
    by_meaning: bool
    hits: list[Hit]


class Example(NamedTuple):
    """The signs of the first hit of a prompt, and whether it is right to speak."""

    by_meaning: bool
    signs: SignsOfHelp
    is_right: bool


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    examples: list[Example] = []
    for name in HISTORIES:
        for is_crowded in (False, True):
            folder = scratch / f"{name}-{is_crowded}"
            folder.mkdir()
            examples += find_examples(folder, read(name), is_crowded)
    rows = []
    for name, by_meaning in (("BY_MEANING", True), ("BY_WORDS", False)):
        own = [example for example in examples if example.by_meaning == by_meaning]
        truth = np.array([float(example.is_right) for example in own])
        signs = np.array([list(example.signs) for example in own])
        weights = rounded(regression(signs, truth, np.ones(len(own))))
        rows.append({"curve": name, "prompts": len(own)} | SignsOfHelp(*weights)._asdict())
    return rows


def find_examples(
    scratch: Path, history: Mapping[str, Any], is_crowded: bool
) -> Iterator[Example]:
    bench = AskingBench(scratch, history, read_crowd(history) if is_crowded else [])
    bench.live()
    for task in history["nothing"]:
        bench.prompt(task)
    helpful = {
        (truth["session"], truth["prompt"]): {bench.ids[key] for key in truth["helps"]}
        for truth in history["prompt_truth"]
    }
    places = [(prompt.session, prompt.number) for prompt in bench.prompts]
    for asked in bench.asked:
        place = places[asked.number] if asked.number < len(places) else None
        ids = {hit.entry.short_id for hit in asked.hits[:2]}
        is_right = place is not None and not ids.isdisjoint(helpful.get(place, ()))
        signs = signs_of_help(asked.hits[0])
        yield Example(asked.by_meaning, signs, is_right)


@dataclass
class AskingBench(Bench):
    """A home whose prompts are asked, and answered with nothing."""

    asked: list[Asked] = field(default_factory=list)

    def _answer_prompt(self, message: dict[str, Any]) -> str:
        prompt = re.sub('[":]', " ", message["prompt"][:PROMPT_CHARS])
        seen = seen_ids(self.config, message["session_id"])
        for by_meaning in (True, False):
            result = search_for_prompt(
                self.workspace, prompt, Path(message["cwd"]), by_meaning=by_meaning
            )
            hits = list(result.hits) if result else []
            unseen = [hit for hit in hits if hit.entry.short_id not in seen]
            if unseen:
                self.asked.append(Asked(len(self.prompts), by_meaning, unseen))
        return ""
