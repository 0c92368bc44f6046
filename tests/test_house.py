"""Names of modules."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import synaptic

PACKAGE = Path(synaptic.__file__).parent


def test_no_two_modules_have_one_name() -> None:
    names = Counter(path.stem for path in PACKAGE.rglob("*.py") if path.stem[:2] != "__")
    assert [name for name, count in names.items() if count > 1] == []
