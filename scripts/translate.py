"""The catalogues of the page: finds its texts, brings them into `page.pot` and into the `.po` of
each language, and compiles these.

    .venv/bin/python scripts/translate.py

It names each text that has no translation yet.

A text is found in a template by `_()`, `pgettext()` and `{% trans %}`, in Python by `translate`,
`translate_in`, `translate_count` and `mark_text`. Of the rest of the package the page says the
sentences: what `Sentence`, an error, a finding of `doctor` and a fault of a note are made of, and
some tables.
"""

from __future__ import annotations

import ast
import io
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from environment import ROOT

from synaptic import errors
from synaptic.features.page.site import TEMPLATES
from synaptic.features.page.translation import CATALOGUES, LOCALES
from synaptic.features.upkeep.findings import FINDINGS
from synaptic.features.vault import new_names
from synaptic.filters import FILTERS
from synaptic.index.statistics import USES
from synaptic.journal import disk
from synaptic.journal.names import REASON_TEXTS
from synaptic.kinds import KINDS
from synaptic.language.analysis.asked import STATES
from synaptic.language.time_fields import TIME_FIELDS
from synaptic.models import TYPES
from synaptic.verbs import doctor
from synaptic.verbs.to_do import DUE_GROUPS
from synaptic.verbs.totals import GROUPS
from synaptic.workspace.preferences import CHANGED_END

PAGE = ROOT / "synaptic" / "features" / "page"
TEMPLATE = CATALOGUES / "page.pot"
KEYWORDS = {
    "translate": None,
    "mark_text": None,
    "translate_in": ((1, "c"), 2),
    "translate_count": (1, 2),
}
ERRORS = {
    name
    for name, one in vars(errors).items()
    if isinstance(one, type) and issubclass(one, errors.SynapticError)
}
SPOKEN: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(ERRORS - {"IndexFailed", "IndexBusy"}, (0, 1)),
    "Sentence": (0,),
    **dict.fromkeys(("Finding", "_finding"), (2, 3)),
    "join_sentences": (1,),
    "_issue": (2,),
}
"""Which arguments of these calls are texts for a person."""
ELSEWHERE = (
    *("config.py", "cli", "hooks", "mcp", "setup", "serving/tokens.py", "serving/editors.py"),
    *("features/importing", "features/lab", "features/page", "features/sharing"),
    *(
        "features/takeaway",
        "features/upkeep/backup.py",
        "journal/git_process.py",
        "journal/imports.py",
    ),
    *("journal/settings.py", "index/embedding.py", "index/database.py", "plugin.py"),
    *("render/terminal.py", "search/ranking.py", "serving/running.py"),
    *(
        "serving/arguments.py",
        "verbs/brief.py",
        "verbs/local_files.py",
        "workspace/past.py",
        "workspace/access.py",
    ),
)
"""Files and folders of the package whose errors no page shows: only a terminal or an agent."""
NAMED_BY_IMPORT = [
    f"features/importing/readers/{n}.py" for n in ("choice", "documents", "evernote")
]
"""Of these the page shows why a file, or a part of it, is not imported."""
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
    for text in (
        *labels,
        *small,
        *types,
        *DUE_GROUPS,
        *GROUPS,
        *uses,
        *headings,
        *_in_tables(),
    ):
        yield "synaptic", text, None
    for path in sorted((ROOT / "synaptic").rglob("*.py")):
        if place_of_sentences(path):
            for text in find_sentences(path):
                yield "synaptic", text, None


def _in_tables() -> Iterator[str]:
    """Yields the parts of sentences that stand in tables of the core."""
    yield from ("oldest", "newest", "nearest")  # orders of a list
    yield from (
        "at",
        "by",
        "date",
        "due",
        "expires",
        "importance",
        "text",
        "title",
    )  # of a form
    yield from (row.name for row in FILTERS.values() if row.page)
    yield from sorted(STATES)
    yield from (kind.plural for kind in KINDS.values())
    for field in TIME_FIELDS.values():
        yield field.noun
        yield from filter(_may_differ, field.examples)
    for _, hint in disk._REASONS.values():
        yield hint
    yield from doctor._MENDS.values()
    yield from (word for _, word in doctor._KINDS)
    for _, change, mend in doctor._LOSSES.values():
        yield from (change, mend)
    for reason in REASON_TEXTS.values():
        yield from reason
    yield from new_names._FORBIDDEN.values()
    yield CHANGED_END


def place_of_sentences(path: Path) -> str:
    """Returns the path of a file in the package; "" if no page shows what it says."""
    place = path.relative_to(ROOT / "synaptic").as_posix()
    is_elsewhere = place.startswith(ELSEWHERE) and place not in NAMED_BY_IMPORT
    is_elsewhere = is_elsewhere or place.endswith(("command.py", "commands.py"))
    return "" if is_elsewhere else place


def spoken_arguments(call: ast.Call) -> list[ast.expr]:
    """Returns the arguments of a call that are texts for a person."""
    name = getattr(call.func, "id", "") or getattr(call.func, "attr", "")
    spoken = [call.args[at] for at in SPOKEN.get(name, ()) if call.args[at:]]
    return spoken + [one.value for one in call.keywords if name in ERRORS and one.arg == "hint"]


def find_sentences(path: Path) -> Iterator[str]:
    """Yields the texts of `Sentence`, errors and findings in a file of the package. A name
    stands for all texts that are assigned to it in the same function, or in its module.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for function in (*functions, tree):
        for call in ast.walk(function):
            if not isinstance(call, ast.Call):
                continue
            spoken = spoken_arguments(call)
            if getattr(call.func, "id", "") == "disk_errors":
                word = ast.literal_eval(call.args[1]) if call.args[1:] else "written"
                yield f"{{path}} cannot be {word}: {{reason}}."
            elif path.name == "errors.py" and getattr(call.func, "attr", "") == "__init__":
                spoken = call.args[:2]
            for argument in spoken:
                yield from filter(_may_differ, _texts_of(argument, function, path))


def _texts_of(node: ast.expr, scope: ast.AST, path: Path) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*_texts_of(node.body, scope, path), *_texts_of(node.orelse, scope, path))
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _texts_of(value, scope, path)
    elif isinstance(node, ast.Name):
        if path.is_relative_to(ROOT):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            constant = getattr(import_module(module), node.id, "")
            if isinstance(constant, str) and constant:
                yield constant
        assigned = [one for one in ast.walk(scope) if isinstance(one, ast.Assign)]
        for one in assigned:
            if getattr(one.targets[0], "id", "") == node.id:
                yield from _texts_of(one.value, ast.Module([], []), path)


def _may_differ(text: str) -> bool:
    """False for a command and a number, which are the same in all languages."""
    return re.search("[a-z]{3}", text) is not None and not re.fullmatch(
        r"synaptic [\w -]+", text
    )


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
