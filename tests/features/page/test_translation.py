"""No text of the page stands outside the catalogues, and these are whole."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from string import Formatter
from typing import ClassVar

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po
from jinja2 import nodes

from synaptic.config import load_config
from synaptic.errors import ConfigError, Sentence, join_sentences
from synaptic.features.page import routes
from synaptic.features.page.saved_searches import NOTE
from synaptic.features.page.site import TEMPLATES
from synaptic.features.page.template_texts import SCRIPT_TEXTS, format_entry_count, script_texts
from synaptic.features.page.translation import (
    CATALOGUES,
    LOCALES,
    choose_locale,
    format_number,
    localize_sentence,
    speaking,
    translate_count,
)
from synaptic.search.doubt import ONLY_NEAREST, UNFINISHED
from synaptic.search.planner import ALL_AT_LIMIT, MORE_AT_LIMIT

sys.path.append(str(Path(__file__).parents[3] / "scripts"))

import translate as script

PAGE = Path(routes.__file__).parent
TRANSLATING = {"_", "gettext", "ngettext", "pgettext"}
SPOKEN = {"aria-label", "placeholder", "title", "alt", "abbr", "data-hint"}
"""Attributes that a browser shows or reads out."""
SAME_EVERYWHERE = {"Synaptic", "MB", "ms"}
PROSE = re.compile(r"^[A-Z][a-z]+$|[A-Za-z] [a-z]{2}")
VALUES = {
    *("next week", "by hand", "by meaning yet", "Overdue", "NOT ALL.txt", NOTE),
    *("Control", "Meta", "Mac OS X"),
}
"""What looks like prose, and is read by programs."""
OTHERS = [language for language in LOCALES if language != "en"]


class Texts(HTMLParser):
    """Collects the words of HTML that a person reads; commands and keys are no words."""

    SILENT: ClassVar = {"code", "kbd", "style", "script"}

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.silent += tag in self.SILENT
        self.texts += [value or "" for name, value in attributes if name in SPOKEN]

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in self.SILENT

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.texts.append(data)


def is_translated(node: nodes.Node) -> bool:
    return (
        isinstance(node, nodes.Call)
        and isinstance(node.node, nodes.Name)
        and node.node.name in TRANSLATING
    )


def html_of(node: nodes.Node) -> str:
    """The HTML of a template as far as it is written there, with both branches of each
    condition, and without what is translated.
    """
    if isinstance(node, nodes.TemplateData):
        return node.data
    if isinstance(node, nodes.Const):
        return str(node.value) if isinstance(node.value, str) else ""
    if isinstance(node, nodes.CondExpr):
        parts = [node.expr1, *([node.expr2] if node.expr2 else [])]
    elif isinstance(node, nodes.Concat):
        parts = node.nodes
    elif isinstance(node, nodes.Filter):
        parts = [node.node] if node.node else []
    elif isinstance(node, nodes.Expr):
        return ""
    elif isinstance(node, nodes.Output):
        parts = node.nodes
    else:
        parts = [part for part in node.iter_child_nodes() if isinstance(part, nodes.Stmt)]
    return "".join(map(html_of, parts))


def constants(node: nodes.Node) -> Iterator[str]:
    """The texts in expressions that are not translated."""
    for part in node.iter_child_nodes():
        if isinstance(part, nodes.Const) and isinstance(part.value, str):
            yield part.value
        elif not is_translated(part):
            yield from constants(part)


def untranslated(source: str) -> set[str]:
    """The texts of a template that a person would read in English in every language."""
    tree = TEMPLATES.parse(source)
    parser = Texts()
    parser.feed(html_of(tree))
    texts = {" ".join(text.split()) for text in parser.texts}
    written = {text for text in texts if set(re.findall(r"[^\W\d_]+", text)) - SAME_EVERYWHERE}
    named = {text for text in constants(tree) if PROSE.search(text)}
    return written | named - SAME_EVERYWHERE - VALUES


@pytest.mark.parametrize("name", sorted(path.name for path in PAGE.glob("templates/*.html")))
def test_each_text_of_a_template_is_in_the_catalogues(name: str) -> None:
    assert untranslated((PAGE / "templates" / name).read_text()) == set()


@pytest.mark.parametrize(
    "source",
    [
        "<p>One text</p>",
        '<a aria-label="Main">{{ x }}</a>',
        "<p>{{ 'open' if x else _('done') }}</p>",
        "{{ field('title', 'Title') }}",
        "{% set heading = 'Add to ' ~ title %}",
        "<p>{{ x | default('a day') }}</p>",
    ],
)
def test_a_text_outside_the_catalogues_is_noticed(source: str) -> None:
    assert untranslated(source)


def test_what_is_no_text_or_is_translated_is_not() -> None:
    source = """{% trans n=3 %}{{ n }} day{% pluralize %}{{ n }} days{% endtrans %}
    <input class="wide part" aria-label="{{ _("Main") }}" value="{{ "yes" if x else "no" }}">
    <code>synaptic serve</code> Synaptic {{ pgettext("menu", "More") }}"""
    assert untranslated(source) == set()


TERMINAL = {"app.py", "page_commands.py", "book_command.py", "service.py"}
"""Modules that speak to a terminal, which is English."""
TO_THE_TERMINAL = {"choose_address", "_check_address", "_describe", "phone_text"}
SAID_BY = {"translate", "translate_in", "translate_count", "mark_text"}
TAG = "</?[a-z][^<>]*>"
SENTENCE = re.compile(r"^[A-Z“][^\n]*\w [\w(]|\w \w[^\n]*[.:?]$")


def name_of(function: ast.expr) -> str:
    return str(getattr(function, "id", getattr(function, "attr", "")))


def sentences(node: ast.AST) -> Iterator[str]:
    """The sentences in code that are not translated; docstrings are none."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
            continue
        if isinstance(part, ast.Call) and name_of(part.func) in {*SAID_BY, "compile"}:
            continue
        if getattr(part, "name", "") in TO_THE_TERMINAL:
            continue
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            if SENTENCE.search(part.value) and part.value not in VALUES:
                yield part.value
        else:
            yield from sentences(part)


@pytest.mark.parametrize(
    "name", sorted(path.name for path in PAGE.glob("*.py") if path.name not in TERMINAL)
)
def test_each_reply_is_in_the_catalogues(name: str) -> None:
    assert [*sentences(ast.parse((PAGE / name).read_text()))] == []


def test_the_styles_hold_no_text() -> None:
    styles = (PAGE / "static" / "style.css").read_text()
    assert not re.findall(r'content: "[^"]*[A-Za-z][^"]*"', styles)


def test_the_page_says_plainly_what_a_search_says_of_missing_vectors() -> None:
    notice = join_sentences([Sentence("Kept."), Sentence(UNFINISHED, n=1_200, total=3_400)])
    assert "1,200 of 3,400 notes cannot be found by meaning yet" in notice
    said = localize_sentence(notice)
    assert said.startswith("Kept. 1,200 of 3,400 notes are found only by their exact words")
    with speaking("de_DE"):
        assert "1.200 von 3.400 Notizen" in localize_sentence(notice)


def test_the_texts_of_scripts_are_those_that_the_page_translates() -> None:
    files = [file for file in PAGE.glob("static/*.js") if ".min." not in file.name]
    asked = {
        text
        for file in files
        for text in re.findall(r'translate\(\s*"([^"]+)"', file.read_text())
    }
    assert asked == set(SCRIPT_TEXTS)
    with speaking("de_DE"):
        assert script_texts()["%(n)s suggestions"] == "%(n)s Vorschläge"
    assert script_texts() == {}


@pytest.fixture(scope="module")
def found() -> Catalog:
    return script.find_texts()


ENGLISH_ALONE = {
    "files.py": 1,
    "filters.py": 2,
    "journal/disk.py": 1,
    "journal/folder.py": 3,
    "journal/text.py": 1,
    "journal/writer.py": 1,
    "serving/failures.py": 1,
    "verbs/doctor.py": 1,
    "verbs/entry_marks.py": 2,
    "verbs/removing.py": 1,
    "workspace/sync.py": 3,
}
"""How many texts of errors no catalogue can hold, for they are put together before: of a broken
installation or disk, and of calls that only a terminal or an agent makes. They only fall.
"""


def test_what_a_person_may_be_told_is_a_template_of_the_catalogues() -> None:
    built: Counter[str] = Counter()
    for path in sorted(script.ROOT.glob("synaptic/**/*.py")):
        place = script.place_of_sentences(path)
        for call in ast.walk(ast.parse(path.read_text())) if place else ():
            if isinstance(call, ast.Call):
                texts = script.spoken_arguments(call)
                built[place] += sum(isinstance(text, ast.JoinedStr) for text in texts)
    assert +built == ENGLISH_ALONE


def test_a_sentence_is_found_however_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "spoken.py").write_text(
        """
def tell(ws, path):
    text = "One {n} waits."
    if ws:
        text = "Two {n} wait."
    raise NotFound("No {path} is there.", hint="Ask again." if ws else "Look again.", path=path)
    yield Finding("ok", "index", Sentence(text, n=1), "Mend it.")
    print("Not for a person.", f"Nor {path}.")
"""
    )
    assert set(script.find_sentences(tmp_path / "spoken.py")) == {
        "No {path} is there.",
        "Ask again.",
        "Look again.",
        "One {n} waits.",
        "Two {n} wait.",
        "Mend it.",
    }


def translations(catalogue: Catalog) -> dict[object, object]:
    return {(one.context, *forms(one.id)): forms(one.string) for one in catalogue if one.id}


def forms(text: str | Sequence[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_is_whole_and_compiled(language: str, found: Catalog) -> None:
    path = CATALOGUES / language / "LC_MESSAGES" / "page.po"
    now = script.update_catalogue(language, found)
    assert script.missing_texts(now) == []
    source = read_po(BytesIO(path.read_bytes()), locale=language)
    compiled = read_mo(BytesIO(path.with_suffix(".mo").read_bytes()))
    run = "run scripts/translate.py"
    assert translations(source) == translations(compiled) == translations(now), run


@pytest.mark.parametrize("language", OTHERS)
def test_a_translation_has_the_values_and_the_html_of_its_text(language: str) -> None:
    path = CATALOGUES / language / "LC_MESSAGES" / "page.po"
    for message in read_po(BytesIO(path.read_bytes()), locale=language):
        if not message.id:
            continue
        source = message.id if isinstance(message.id, str) else message.id[-1]
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        for text in strings:
            for kind in (TAG, r"`[^`]+`", r"%%"):
                assert sorted(re.findall(kind, text)) == sorted(re.findall(kind, source)), text
            values = set(re.findall(r"%\(\w+\)[sr]", text))
            asked = set(re.findall(r"%\(\w+\)[sr]", source))
            assert values <= asked and asked - values <= {"%(n)s"}, text
            if not asked:  # a template of `Sentence`
                assert field_names(text) <= field_names(source), text
            # one would end an attribute
            outside = re.sub(TAG, "", text).count('"')
            assert outside <= re.sub(TAG, "", source).count('"'), text


def field_names(template: str) -> set[str]:
    """The names of the values in a template of `str.format`."""
    return {name for _, name, _, _ in Formatter().parse(template) if name}


@pytest.mark.parametrize(
    ("accepted", "setting", "locale"),
    [
        ("", "", "en_001"),
        ("en-US,en;q=0.9", "", "en_US"),
        ("fr,de-AT;q=0.8,en;q=0.5", "", "de_AT"),
        ("en;q=0.4, ja; q=0.9", "", "ja_JP"),
        ("de-XX", "", "de_DE"),
        ("fr, *", "", "en_001"),
        ("de;q=loud, ja", "", "ja_JP"),
        ("de-AT", "ja", "ja_JP"),
        ("en-US,de-CH;q=0.5", "de", "de_CH"),
        ("fr", "de", "de_DE"),
    ],
)
def test_the_language_is_that_of_the_browser_or_the_setting(
    accepted: str, setting: str, locale: str
) -> None:
    assert choose_locale(accepted, setting) == locale


def test_the_setting_takes_the_languages_of_the_page(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    for language in ("", *LOCALES):
        file.write_text(f'language = "{language}"\n')
        assert load_config(tmp_path).language == language
    file.write_text('language = "tlh"\n')
    with pytest.raises(ConfigError, match="language"):
        load_config(tmp_path)


def test_numbers_and_plural_forms_are_those_of_the_language() -> None:
    counted = {}
    for locale in ("en_001", "de_DE", "ja_JP"):
        with speaking(locale):
            counted[locale] = [
                format_entry_count(1),
                format_entry_count(1_234),
                format_number(0.5),
            ]
    assert counted == {
        "en_001": ["1 entry", "1,234 entries", "0.5"],
        "de_DE": ["1 Eintrag", "1.234 Einträge", "0,5"],
        "ja_JP": ["1件", "1,234件", "0.5"],
    }
    assert translate_count("%(n)s entry", "%(n)s entries", 0) == "0 entries"


@pytest.mark.parametrize("locale", LOCALES.values())
def test_no_page_names_a_limit_which_none_of_its_forms_has(locale: str) -> None:
    values = {"list": "Notes", "limit": 3, "total": 9, "most": 8, "n": 8}
    with speaking(locale):
        for text in (ONLY_NEAREST, ALL_AT_LIMIT, MORE_AT_LIMIT):
            said = localize_sentence(Sentence(text, **values))
            assert not re.search("(?i)limit|上限|8", said)
