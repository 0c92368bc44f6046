"""What the words of a question show: named patterns of `data/words/questions.toml`; `decide.py` draws the conclusions.

Patterns see the question on one line in lower case, without the words that only ask to be told; patterns in `WRITTEN`
see it as it was written.
"""

from __future__ import annotations

from ..lexicon import DAY_NAMES, MONTHS, STOP_WORDS, Words

QUESTIONS = Words("questions")

FEATURES, WRITTEN = QUESTIONS.patterns("features"), QUESTIONS.patterns("written")

NO_NAMES = STOP_WORDS.union(MONTHS, DAY_NAMES, QUESTIONS.small_talk)
"""Words that name nobody and nothing, even with a capital."""
