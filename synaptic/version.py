"""The version of the installed package. It imports nothing that takes time."""

import os
import sys
from contextlib import suppress


def installed_version() -> str:
    """Returns the version of the installed package, "" if it is not installed. It is read from
    the name of a folder, because `importlib.metadata` is slow.
    """
    for place in sys.path:
        with suppress(OSError):
            for name in os.listdir(place or "."):  # noqa: PTH208 - pathlib is slow to import
                if name.startswith("synaptic_journal-") and name.endswith(".dist-info"):
                    return name.removesuffix(".dist-info").rpartition("-")[2]
    return ""
