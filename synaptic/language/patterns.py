"""Regular expressions that are compiled when they are first needed, so that an import costs nothing."""

from __future__ import annotations

import re
from functools import cache


@cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, compiled once; unlike the cache of `re`, this one never drops it for others."""
    return re.compile(pattern, flags)
