"""Says of a text that was just written what stands otherwise in its file, or does not count."""

import re
from collections.abc import Iterator

from ..models import Texts
from ..notes.blocks import without_code
from ..notes.markdown import escape_body
from .totals import stands_within_line

SHOWN_CHARS = 40
_AMOUNT = re.compile(r"([^\W\d][\w-]*)::[ \t]*([-+]?[0-9][\w.,:]*)")
"""A field with a number, wherever it stands."""


def remarks_on_text(text: str) -> Texts:
    """A sentence on lines that got a backslash, and one for each field that no sum counts."""
    return (*_remark_on_backslashes(text), *remarks_on_fields(text))


def remarks_on_fields(text: str) -> Texts:
    """A sentence for each field with a number that stands within a line, as `find --sum` has
    it.
    """
    remarks = {}
    for name, value in _AMOUNT.findall(without_code(text)):
        if stands_within_line(text, name.lower()):
            remarks[name.lower()] = (
                f"{name}:: within a line is not counted by `find --sum`: write "
                f"[{name}:: {value.rstrip('.,:')}], or a line of its own."
            )
    return tuple(remarks.values())


def _remark_on_backslashes(text: str) -> Iterator[str]:
    pairs = zip(text.split("\n"), escape_body(text, own=True).split("\n"), strict=False)
    lines = [line.strip() for line, new in pairs if line.startswith("#") and new != line]
    if lines:
        more = f" and {len(lines) - 1:,} more" if lines[1:] else ""
        yield (
            f"In the file a backslash stands before `{lines[0][:SHOWN_CHARS]}`{more}, so that "
            "no other entry begins there; `get` and the page show the text without it."
        )
