"""Questions that ask how often something happened, or when last, in words of somebody who has
not seen the rule.
"""

from __future__ import annotations

import json
from pathlib import Path

from synaptic.language.analysis.asked import event_words

PHRASES = json.loads(
    (Path(__file__).parents[1] / "data" / "how_often.json").read_text(encoding="utf-8")
)


def test_questions_of_how_often_and_when_last_are_told_from_others() -> None:
    read = {one["phrase"]: bool(event_words(one["phrase"])) for one in PHRASES}
    others = [one["phrase"] for one in PHRASES if one["asks"] == "neither"]
    assert not any(read[phrase] for phrase in others)
    assert sum(read.values()) >= 0.75 * (len(PHRASES) - len(others))


def test_a_word_of_an_event_has_its_forms_and_the_rest_says_nothing() -> None:
    assert event_words("how often did I run with Anna?") == [("run", "ran"), ("anna",)]
    assert event_words("when did we last see the dentist") == [("dentist",)]
    assert event_words("how often should I run") == event_words("") == []
