"""The catalogues of the page: finds its texts, brings them into `page.pot` and into the `.po` of
each language, and compiles these.

    .venv/bin/python scripts/translate.py

It names each text that has no translation yet.

A text is found in a template by `_()`, `pgettext()` and `{% trans %}`, in Python by `translate`,
`translate_in`, `translate_count` and `mark_text`, and in the tables of the core that the page shows.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from environment import ROOT

from synaptic.features.page.site import TEMPLATES
from synaptic.features.page.translation import CATALOGUES, LOCALES
from synaptic.features.upkeep.findings import FINDINGS
from synaptic.filters import FILTERS
from synaptic.index.counters import USES
from synaptic.models import TYPES
from synaptic.verbs.to_do import DUE_GROUPS
from synaptic.verbs.totals import GROUPS

PAGE = ROOT / "synaptic" / "features" / "page"
TEMPLATE = CATALOGUES / "page.pot"
KEYWORDS = {
    "translate": None,
    "mark_text": None,
    "translate_in": ((1, "c"), 2),
    "translate_count": (1, 2),
}
UNCHANGED = datetime(2026, 1, 1, tzinfo=UTC)
"""The date in each header: a catalogue without a change stays as it is."""
HEADER: dict[str, Any] = {
    "project": "Synaptic",
    "version": "page",
    "header_comment": "# The texts of the page of Synaptic, see scripts/translate.py.",
    "copyright_holder": "Synaptic contributors",
    "msgid_bugs_address": "see CONTRIBUTING.md",
    "last_translator": "Synaptic contributors",
    "language_team": "Synaptic contributors",
    "creation_date": UNCHANGED,
    "revision_date": UNCHANGED,
    "fuzzy": False,
}
Found = tuple[str, str | tuple[str, ...], str | None]
"""The file in which a text was found, the text or its forms for one and many, its context."""


def find_texts() -> Catalog:
    """Returns a catalogue of all texts of the page."""
    catalogue = Catalog(**HEADER)
    for place, text, context in [*_in_templates(), *_in_python(), *_in_the_core()]:
        catalogue.add(text, locations=[(place, 0)], context=context)
    return catalogue


def _in_templates() -> Iterator[Found]:
    for path in sorted((PAGE / "templates").glob("*.html")):
        place = path.relative_to(ROOT).as_posix()
        source = path.read_text(encoding="utf-8")
        for _, function, texts in TEMPLATES.extract_translations(source):  # type: ignore[attr-defined]
            parts = (texts,) if isinstance(texts, str) else texts or ()
            stated = tuple(part for part in parts if part)
            if function == "pgettext" and stated:
                yield place, stated[1], stated[0]
            elif stated:  # one text, or its forms for one and for many
                yield place, stated if stated[1:] else stated[0], None


def _in_python() -> Iterator[Found]:
    for path in sorted(PAGE.glob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        with path.open("rb") as file:
            for _, texts, _, context in extract("python", file, KEYWORDS):
                yield place, texts, context


def _in_the_core() -> Iterator[Found]:
    labels = [row.label for row in FILTERS.values() if row.page]
    uses = [name.replace("_", " ").capitalize() for name in USES]
    sentences = [finding[0] for finding in FINDINGS.values()]
    headings = [f"{begin} {rest}" for rest in sentences for begin in ("The first", "This")]
    types = [name for name in TYPES if name != "handoff"]
    small = [label.lower() for label in labels]
    for text in (*labels, *small, *types, *DUE_GROUPS, *GROUPS, *uses, *headings):
        yield "synaptic", text, None


def render_po(catalogue: Catalog) -> bytes:
    """Returns the bytes of a catalogue as a `.po` file."""
    file = io.BytesIO()
    write_po(file, catalogue, width=96, include_lineno=False)
    return file.getvalue()


def render_mo(catalogue: Catalog) -> bytes:
    """Returns the bytes of a catalogue as a `.mo` file."""
    file = io.BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def update_catalogue(language: str, texts: Catalog) -> Catalog:
    """Returns the catalogue of a language with exactly these texts, and its translations of
    them.
    """
    path = CATALOGUES / language / "LC_MESSAGES" / "page.po"
    before = {}
    if path.exists():
        for message in read_po(io.BytesIO(path.read_bytes()), locale=language):
            before[message.context, message.id] = message.string
    catalogue = Catalog(locale=language, **HEADER)
    for message in texts:
        if message.id:
            string = before.get((message.context, message.id))
            catalogue.add(
                message.id, string, locations=message.locations, context=message.context
            )
    return catalogue


def missing_texts(catalogue: Catalog) -> list[str]:
    """Returns the texts that have no translation."""
    return [
        str(message.id)
        for message in catalogue
        if message.id and not (message.string and all(_forms(message.string)))
    ]


def _forms(string: object) -> tuple[object, ...]:
    return string if isinstance(string, tuple | list) else (string,)  # type: ignore[return-value]


def main() -> int:
    """Returns 1 if a text has no translation."""
    texts = find_texts()
    files = {TEMPLATE: render_po(texts)}
    lacks = False
    for language in LOCALES.keys() - {"en"}:
        catalogue = update_catalogue(language, texts)
        path = CATALOGUES / language / "LC_MESSAGES" / "page.po"
        files |= {path: render_po(catalogue), path.with_suffix(".mo"): render_mo(catalogue)}
        for text in missing_texts(catalogue):
            lacks = True
            print(f"{language}: {text}")
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return int(lacks)


if __name__ == "__main__":
    sys.exit(main())
