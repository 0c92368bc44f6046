"""The JSON that a client hands to its hook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class HookCall:
    """The client's name and the fields of its JSON."""

    client: str
    fields: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        return Path(self.text("cwd") or Path.cwd())

    def text(self, name: str) -> str:
        """Returns the text of a field; empty where there is none."""
        value = self.fields.get(name)
        return value if isinstance(value, str) else ""
