"""What is changed in a note."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MAX_LENGTH = 20_000
"""Characters of a note that are looked at; what follows stays as it is."""


@dataclass(frozen=True, slots=True)
class Change:
    """`was`, which stands at the offset `start` of the text, reads `now`."""

    was: str
    now: str
    kind: Literal["time", "coreference"]
    start: int
