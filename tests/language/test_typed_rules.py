"""Sentences in which a person says what shall hold from now on, and others that only look so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from synaptic.language.typed_rules import find_typed_rules

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize(
    "sentence",
    [
        "Please never catch bare Exception in this repo",
        "from now on commit messages begin with the ticket",
        "never use floats for money again",
        "don't ever push to main",
        "always run `just check` before you commit",
        "ask me before you add any dependency",
        "Whenever you change the schema, bump its version.",
        "rule: due dates are in the library's own time zone",
        "all amounts in cents please, always",
        "ab jetzt bitte alle Texte auf Englisch",
    ],
)
def test_a_rule_is_the_sentence_as_it_was_typed(sentence: str) -> None:
    assert find_typed_rules(sentence) == [sentence]
    assert find_typed_rules(f"Thanks, that works. {sentence}") == [sentence]


@pytest.mark.parametrize(
    "request_text",
    [
        "ok never mind, how slow is it really",
        "it hangs and never returns",
        "I always forget how the tests are started",
        "should we never use floats?",
        'The guide says "never use floats".',
        "the linter says: never use var here",
        "Here is their guide:\nNever use tabs.\nAlways sign your commits.",
        "> never use tabs\nwhy did they write this",
        "why is this red\n```\nnever call this twice\n```",
        "fails at start\nWARNING: never run as root\nERROR: always the same",
        "review this\n" + "Some line of a document.\n" * 9 + "Never use tabs.",
        "fix the test that always fails",
        "don't restart it now",
        "we never got an answer from them",
        "never " + "so very long a rule " * 20,
    ],
)
def test_what_is_asked_quoted_pasted_or_reported_is_no_rule(request_text: str) -> None:
    assert find_typed_rules(request_text) == []


def test_sentences_that_belong_together_are_one_rule() -> None:
    rules = find_typed_rules("Never commit secrets. Also never log them. Now fix the test.")
    assert rules == ["Never commit secrets. Also never log them."]


def test_few_proposals_in_a_history_are_false() -> None:
    """The rules of helps_dev.json, by the words that its tasks need, and what else is found."""
    history = json.loads((DATA / "helps_dev.json").read_text("utf-8"))
    found = []
    for session in history["sessions"]:
        for prompt in session["prompts"]:
            found += find_typed_rules(prompt)
    signs = ("fixtures", "migration", "cents", "LIB-123", "error", "dependency", "utc", "kiosk")
    for sign in signs:
        assert [sentence for sentence in found if sign in sentence], sign
    assert len(found) <= len(signs) + len(history["sessions"]) / 20
