"""A copy of the package with changes, as somebody who adds to it makes them."""

from __future__ import annotations

import shutil
from pathlib import Path

import synaptic
from synaptic.config import DEFAULT_MODEL

PACKAGE = Path(synaptic.__file__).parent


def package_with(folder: Path, changes: dict[str, dict[str, str]]) -> Path:
    """The folder for PYTHONPATH with a copy, in whose files these texts stand for others. What
    is compiled comes along, with the times of the files.
    """
    copy = folder / "synaptic"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.onnx"))
    model = Path("data") / DEFAULT_MODEL / "model.onnx"
    (copy / model).symlink_to(PACKAGE / model)
    for name, texts in changes.items():
        file = copy / name
        source = file.read_text()
        for old, new in texts.items():
            assert source.count(old) == 1, old
            source = source.replace(old, new)
        file.write_text(source)
    return folder
