"""What templates say in the language of the page: gettext for Jinja, words of types, and the
texts of the scripts.
"""

import re
from collections.abc import Callable
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from ...models import TYPES
from .translation import (
    format_number,
    localize_numbers,
    mark_text,
    present_language,
    translate,
    translate_count,
    translate_in,
)

PLAIN_WORDS = {"handoff": mark_text("handover")}
"""Types whose names strangers do not understand, each with the word that the page shows."""
PLACEHOLDER = re.compile(r"%\((\w+)\)s")


def add_translations(templates: Environment) -> None:
    """Gives templates `{% trans %}`, `_()` and `pgettext()`, whose values are escaped, and the
    filters and functions of this module.
    """
    templates.policies["ext.i18n.trimmed"] = True
    templates.install_gettext_callables(  # type: ignore[attr-defined]
        translate, translate_count, newstyle=True, pgettext=translate_in
    )
    # Jinja's own would fill the values in without their form in the present locale
    templates.globals |= {
        "_": _as_html(translate),
        "gettext": _as_html(translate),
        "ngettext": _as_html(translate_count),
        "pgettext": _as_html(translate_in),
        "language": present_language,
        "entry_count": format_entry_count,
        "script_texts": script_texts,
    }
    templates.filters |= {"number": format_number, "type_word": type_word}


def _as_html(say: Callable[..., str]) -> Callable[..., Markup]:
    """Wraps a function that translates: the text may hold HTML, the values are escaped."""

    def translated(*texts: Any, **values: Any) -> Markup:
        escaped = {
            name: Markup("{}").format(value) for name, value in localize_numbers(values).items()
        }
        return Markup(say(*texts, **escaped))

    return translated


def format_entry_count(number: int) -> str:
    """Returns a number of entries in words: `1 entry`, `1,234 entries`."""
    return translate_count("%(n)s entry", "%(n)s entries", number)


def type_word(name: object) -> str:
    """Returns the word for an entry type in the present language; any other name unchanged."""
    if name not in TYPES:
        return str(name)
    return translate(PLAIN_WORDS.get(str(name), str(name)))


SCRIPT_TEXTS = (
    mark_text("“%(file)s” was not added. %(reason)s"),
    mark_text("That is too much at once. Choose fewer files."),
    mark_text("Synaptic does not answer."),
    mark_text(
        "Nothing was saved yet, because Synaptic cannot be reached. %(where)s, and is sent by "
        "itself once it can be, or when you press “%(button)s” again."
    ),
    mark_text("Your text is kept in this browser"),
    mark_text("Your text is in this form alone"),
    mark_text("Suggestions"),
    mark_text("%(n)s suggestions"),
    mark_text("%(name)s, %(at)s of %(total)s"),
    mark_text("Draft kept in this browser"),
    mark_text("Your draft is here again."),
    mark_text("Thrown away."),
    mark_text("Put it back"),
    mark_text("Your draft is here again. The text changed meanwhile: a save shows both."),
    mark_text("Inserted %(name)s."),
    mark_text("Go to any entry, tag, day or page"),
    mark_text("Go to"),
    mark_text("Go to …"),
    mark_text("An entry, note, tag, folder, day or page"),
    mark_text("Places"),
    mark_text("page"),
)
"""All texts of the scripts in `static`, which ask for them by `translate` of texts.js."""


def script_texts() -> dict[str, str]:
    """Maps the texts of the scripts to their translations; {} in English."""
    if present_language() == "en":
        return {}
    catalogue = {}
    for text in SCRIPT_TEXTS:
        unfilled = {name: "%(" + name + ")s" for name in PLACEHOLDER.findall(text)}
        catalogue[text] = translate(text, **unfilled)
    return catalogue
