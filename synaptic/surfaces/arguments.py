"""What a user gave, by name, as the verbs take it."""

from __future__ import annotations

import inspect
from datetime import datetime
from typing import Any

from ..language.query import build_filters
from ..models import Filters

_FILTERS = frozenset(inspect.signature(build_filters).parameters) - {"now"}


def take_filters(given: dict[str, Any], now: datetime) -> Filters:
    """The filters among the arguments, which it takes out. Raises InvalidArgument."""
    if "tags" in given:
        given["tag"] = given.pop("tags")
    return build_filters(now=now, **{name: given.pop(name) for name in _FILTERS & given.keys()})
