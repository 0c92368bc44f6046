"""Processor time of every function that reads a stranger's text, over texts that make a
careless pattern slow.

A function is linear where four times the text takes about four times as long; a quadratic one
takes sixteen times. `tests/features/test_shapes.py` holds that law.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cache

from synaptic import Filters
from synaptic.features.sharing.merge import merge
from synaptic.index.chunking import cut_passages, estimate_tokens
from synaptic.journal.comments import find_ids
from synaptic.language.analysis.analyze import JournalNames, analyze
from synaptic.language.analysis.asked import read_question
from synaptic.language.analysis.forms import searchable_parts
from synaptic.language.lexicon import sentence_ends
from synaptic.language.normalize import normalize, resolve_pronouns, resolve_relative_times
from synaptic.language.query import parse_query, search_terms
from synaptic.language.timephrase.find import find_time, is_recent
from synaptic.language.timephrase.table import When
from synaptic.language.timephrase.typed import read_time
from synaptic.language.words import (
    fts5_expression,
    index_words_and_prefix,
    normalize_for_index,
    words,
)
from synaptic.models import Entry
from synaptic.notes.blocks import (
    escape_entry_borders,
    find_tags,
    inline_tags,
    plain_text,
    scan_structure,
    unescape_entry_borders,
    without_code,
)
from synaptic.notes.frontmatter import read_front_matter
from synaptic.notes.header import (
    clean_title,
    derive_title,
    escape_title,
    read_comment,
    read_heading,
)
from synaptic.notes.markdown import compose_entry, render_entry, rewrite_block
from synaptic.notes.marks import find_links, find_tasks, read_fields, read_title_and_aliases
from synaptic.notes.privacy import mask_private, private_lines, without_private
from synaptic.notes.reading import parse_entries
from synaptic.notes.redaction import find_secrets, redact
from synaptic.notes.screening import Screen, visible_secrets
from synaptic.setup import jsonc

NOW = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
ID = "20261121-7k3m9q2x"

Shape = Callable[[int], str]


def repeated(unit: str, before: str = "", after: str = "") -> Shape:
    """A text of about so many characters: the unit again and again between two ends."""
    return lambda size: (
        before + (unit * (size // len(unit) + 1))[: size - len(before) - len(after)] + after
    )


def counted(form: str, before: str = "", after: str = "", step: int = 1) -> Shape:
    """The same with a number in each unit, so that no two are equal."""

    def text(size: int) -> str:
        parts, length, number = [before], len(before) + len(after), 0
        while length < size:
            part = form.format(number)
            parts.append(part)
            length += len(part)
            number += step
        return "".join([*parts, after])

    return text


def rising(mark: str, between: str) -> Shape:
    """Runs of a mark, each one longer than the run before it."""

    def text(size: int) -> str:
        parts, length, run = [], 0, 1
        while length < size:
            parts.append(mark * run + between)
            length += run + len(between)
            run += 1
        return "".join(parts)

    return text


def random_lines(size: int) -> str:
    """Base64 in lines of 76 characters, as an attached file has it."""
    return base64.encodebytes(random.Random(7).randbytes(size * 3 // 4)).decode()[:size]


def spread_out(characters: str) -> Shape:
    """Random characters without a blank, below a word: a slice of the whole text would be no
    copy.
    """
    return lambda size: "a " + "".join(random.Random(7).choices(characters, k=size - 2))


SHAPES: dict[str, Shape] = {
    "prose": repeated(
        "Anna moved the worker to Kestrel last week. She said it is fast, and the old pool "
        "is gone. "
    ),
    "one letter": repeated("a"),
    "one blank": repeated(" "),
    "blank lines": repeated(" \t\n"),
    "line ends": repeated("\n"),
    "lone CR": repeated("a word\r"),
    "NUL bytes": repeated("\0"),
    "zero width": repeated("a\u200b"),
    "Chinese": spread_out("東京都知事選挙記憶日誌検索語"),
    "Thai": spread_out("กขคงจฉชซฌญฎ่้๊๋"),
    "Korean and Latin": repeated("한국어abc"),
    "Arabic": repeated("والكتاب"),
    "combining marks": repeated("\u0301", before="e"),
    "decomposed letters": repeated("e\u0301\u0323"),
    "astral and surrogates": repeated("\U0001f600\ud800"),
    "digits": repeated("12345 67:89, 3. "),
    "one number": repeated("7"),
    "colons": repeated(":"),
    "slashes": repeated("https://a.b/"),
    "dots": repeated("a.b"),
    "dashes": repeated("-"),
    "opening brackets": repeated("["),
    "opening links": repeated("[[a|"),
    "nested brackets": lambda size: "[" * (size // 2) + "]" * (size - size // 2),
    "link texts": repeated("[a]("),
    "braces": repeated('{"a":'),
    "JSON": counted('{{"key{0}": [{0}, "value {0}"], // c\n', before="[", after="]"),
    "JSON object": counted('"key{0}": {0}, /* c */ ', before="{", after='"z": 1}'),
    "comments in JSON": repeated("/* a */\n", after="{}"),
    "open comments in JSON": repeated("/*"),
    "TOML": counted("[server.a{0}]\nkey = {0}\n"),
    "bold": repeated("**"),
    "bold words": repeated("**a** "),
    "backticks": repeated("`"),
    "rising backticks": rising("`", " a "),
    "rising backticks in lines": rising("`", "\na\n"),
    "fences": repeated("```\n"),
    "fences with a word": repeated("```sh\n"),
    "quoted fences": repeated("> ```\n"),
    "indented fences": repeated("      ```\n"),
    "fences in lists": repeated("- - - ```\n"),
    "list marks": repeated("- "),
    "quote marks": repeated(">"),
    "comments": repeated("<!--"),
    "comment lines": repeated("<!-- a\n"),
    "comments without a time": repeated("<!-- syn:", before="## 09:30 a\n"),
    "one open link": repeated("a", before="[["),
    "one open text": repeated("a", before="["),
    "closed comments": repeated("<!-- syn:20261121-7k3m9q2x -->\n"),
    "private opened": repeated("<private>"),
    "private unfinished": repeated("<private "),
    "private lines": repeated("<private>\na\n"),
    "private pairs": repeated("<private>a</private> b "),
    "private nested": lambda size: "<private>" * (size // 19) + "</private>" * (size // 19),
    "private in ticks": repeated("`<private>` "),
    "private closed": repeated("</private>"),
    "entries": repeated("## 09:30 a\nb\n"),
    "bare headings": repeated("## 09:30\n"),
    "entries with ids": counted("## 09:30 a\n<!-- syn:20261121-{0:08d} -->\n\nb\n\n"),
    "entries with one id": repeated("## 09:30 a\n<!-- syn:20261121-7k3m9q2x -->\n\nb\n\n"),
    "diary": repeated("## 2026-03-14\nb\n"),
    "diary with ids": counted("### 2026-03-14 09:30 a\n<!-- syn:20260314-{0:08d} -->\n\nb\n\n"),
    "bare dates": repeated("# Sat, 14 March 2026\n"),
    "H1": repeated("# a\n"),
    "escaped headings": repeated("\\## 09:30\n"),
    "backslashes": repeated("\\"),
    "backslashes and hashes": repeated("\\#"),
    "hashes": repeated("#"),
    "equal tags": repeated("#a "),
    "tags": counted("#tag{0} "),
    "tag lines": counted("#tag{0}\n"),
    "indented tags": counted("    #tag{0}\n"),
    "indented lines": repeated("\n    a #a"),
    "mentions": repeated("@a"),
    "api_key=": repeated("api_key="),
    "api_key a": repeated("api_key "),
    "password=": repeated("password="),
    "password: and quotes": repeated("password: '"),
    "password lines": repeated("password\n\n"),
    "named secrets": counted("db_password = Tr0ub4dor{0}x\n"),
    "one long secret": repeated("xY7", before="token: "),
    "long names": repeated("a_secret_token_key_"),
    "private keys": repeated("-----BEGIN PRIVATE KEY-----\n"),
    "private key openers": repeated("-----BEGIN "),
    "one private key": lambda size: "-----BEGIN RSA PRIVATE KEY-----\n" + random_lines(size),
    "PuTTY keys": repeated("PuTTY-User-Key-File-2: ssh-rsa\nPrivate-Lines: 8\n"),
    "token beginnings": repeated("ghp_sk-ant-AKIAxoxb-eyJ"),
    "JWT beginnings": repeated("eyJabcdefgh."),
    "URLs with users": repeated("a://b:c@"),
    "at signs": repeated("a:b@c "),
    "netrc": repeated("login password "),
    "curl": repeated("curl -u "),
    "Bearer": repeated("Bearer "),
    "the password for": repeated("the password for "),
    "passwords in words": repeated("the password for the router is "),
    "cookies": repeated("Cookie: session=a; "),
    "base64 lines": random_lines,
    "base64": lambda size: random_lines(size * 2).replace("\n", "")[:size],
    "since": repeated('since:"last week" '),
    "since unread": counted('since:"zz{0}" '),
    "since dates": counted('since:"2026-01-{0}" '),
    "filters": counted("tag:a{0} "),
    "filters in order": counted("since:2020-01-01 until:2026-01-01 type:note file:a{0} "),
    "unknown filters": counted("status:a{0} "),
    "quotes": repeated('"'),
    "phrases": counted('"a {0}" '),
    "apostrophes": repeated("'s "),
    "front matter": counted("- tag{0}\n", before="---\ntags:\n", after="---\n\nA text.\n"),
    "front matter in a line": counted(
        "tag{0}, ", before="---\ntags: [", after="z]\n---\n\nA text.\n"
    ),
    "front matter of words": counted(
        "tag{0} ", before="---\ntags: ", after="\n---\n\nA text.\n"
    ),
    "front matter open": repeated("a: b\n", before="---\n"),
    "YAML aliases": counted(
        "- &a{0} x\n- *a{0}\n", before="---\ntags:\n", after="---\nA text.\n"
    ),
    "YAML depth": repeated("[", before="---\na: ", after="\n---\nA text.\n"),
    "YAML keys": counted("key{0}: a\n", before="---\n", after="---\nA text.\n"),
    "merge marks": repeated("<<<<<<< a\n=======\n>>>>>>> b\n"),
    "merge openers": repeated("<<<<<<< \n"),
    "dates": repeated("2026-11-21 "),
    "times in words": repeated("since yesterday between March and May 2025 3 days ago "),
    "may": repeated("may "),
    "ordinal words": repeated("the twenty first of the third week of the second quarter "),
    "pronouns": repeated("Anna met Ben. She told him that they like it. "),
    "pronouns alone": repeated("she it they he "),
    "names": counted("Anna Berg{0} "),
    "capitals": repeated("Aa "),
    "sentences": repeated("A. "),
    "exclamations": repeated("!"),
    "talk": repeated("Ada: yes\nBen: no\n"),
    "table": repeated("| a | b |\n"),
    "percent": repeated("%2D"),
    "comment fields": counted("k{0}=v "),
    "control characters": repeated("\x1b[31m\x07"),
}
"""Each as a function of its length in characters."""


SIGNS = (
    "a",
    " ",
    "\n",
    "\t",
    "\r",
    "#",
    "## ",
    "<!-- syn:",
    "-->",
    "<private>",
    "</private>",
    "`",
    "```\n",
    "~~~",
    "[[",
    "]]",
    "](",
    "|",
    "::",
    "- ",
    "> ",
    "\\",
    "---\n",
    "=",
    '"',
    "password",
    "09:30",
    "\u0301",
    "@",
    "://",
    "%2D",
    "{",
    "}",
)
"""What means something to a parser."""

PAIRS: dict[str, Shape] = {
    **{f"{one!r} {other!r}": repeated(one + other) for one in SIGNS for other in SIGNS},
    **{
        f"{one!r} then {fill!r}": repeated(fill, before=one)
        for one in SIGNS
        for fill in ("a", " ", "\n")
    },
}
"""Two signs again and again, and a sign that opens a long run: with `FUNCTIONS` 42,000 cases
and more.
"""


def known() -> JournalNames:
    words = frozenset({"redis", "db", "anna", "kestrel", "a"})
    return JournalNames(tags=words, projects=words, files=frozenset({"src/a.py"}))


def entry(text: str) -> Entry:
    return compose_entry(text or "x", id=ID, at=NOW, title="A title", tags=["a"])[0]


@cache
def placed() -> Entry:
    """An entry that stands in a file."""
    return parse_entries(b"## 09:30 a\n\nb\n", "notes/a.md", mtime=NOW).entries[0]


def _analyze(text: str) -> object:
    asked = read_question(text, today=NOW.date())
    return analyze(text, asked, known()), searchable_parts(text)


def _parse(text: str) -> object:
    return parse_entries(text.encode("utf-8", "surrogatepass"), "notes/a.md", mtime=NOW)


def _compose(text: str) -> object:
    if not text.strip():
        return None
    return render_entry(compose_entry(text, id=ID, at=NOW)[0])


def _titled(text: str) -> object:
    third = text[: len(text) // 3]
    return render_entry(
        compose_entry("A text.", id=ID, at=NOW, title=third, project=third, files=[third])[0]
    )


def _rewrite(text: str) -> object:
    text = text[: len(text) // 2]
    if not text.strip() or "private" in text:  # a save leaves private passages out
        return None
    old = compose_entry(text, id=ID, at=NOW, title="A title")[0]
    new = compose_entry(f"{text}\n\nMore.", id=ID, at=NOW, title="A title")[0]
    return rewrite_block(render_entry(old).encode(), old, new)


def _merge(text: str) -> object:
    data = text[: len(text) // 3].encode(
        "utf-8", "surrogatepass"
    )  # three versions: as long as the text together
    added = b"## 10:00 b\n<!-- syn:20261121-00000001 -->\n\nc\n"
    return merge(
        data, data + b"\n\n" + added, added + b"\n" + data, "notes/a.md", "%Y-%m-%d.md"
    )


def _ids(text: str) -> object:
    return find_ids(text.encode("utf-8", "surrogatepass"))


def _redact(text: str) -> object:
    return redact(text, find_secrets(text))


def _jsonc(text: str) -> object:
    with suppress(ValueError, TypeError, AttributeError, RecursionError):
        jsonc.put(text, ("mcpServers", "synaptic"), {"command": "synaptic"})
    with suppress(ValueError, TypeError, AttributeError, RecursionError):
        jsonc.drop(text, ("key1",))
    return None


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "find_secrets": find_secrets,
    "visible_secrets": visible_secrets,
    "redact": _redact,
    "Screen.text": lambda text: Screen("redact").text("text", f"x {text}"),
    "without_private": without_private,
    "mask": lambda text: mask_private(text.encode("utf-8", "surrogatepass")),
    "words": words,
    "spell": normalize_for_index,
    "sought": index_words_and_prefix,
    "match": fts5_expression,
    "terms_of": search_terms,
    "parse_query": lambda text: parse_query(text, Filters(), now=NOW),
    "parse_entries": _parse,
    "scan": scan_structure,
    "find_tags": find_tags,
    "inline_tags": inline_tags,
    "escape": lambda text: unescape_entry_borders(escape_entry_borders(text)[0]),
    "plain_text": plain_text,
    "without_code": without_code,
    "fields and properties": lambda text: (read_fields((), text), read_title_and_aliases(text)),
    "links and tasks": lambda text: (find_links(placed(), text), find_tasks(placed(), text)),
    "private lines": lambda text: private_lines(text.encode("utf-8", "surrogatepass")),
    "front matter": lambda text: _front_matter(text),
    "compose and render": _compose,
    "as a title": _titled,
    "rewrite_block": _rewrite,
    "read_heading": lambda text: read_heading(text.replace("\n", " ")),
    "titles": lambda text: (clean_title(text), derive_title(text), escape_title(text, ["a"])),
    "read_comment": read_comment,
    "merge": _merge,
    "ids": _ids,
    "cut": lambda text: (
        cut_passages(text.encode("utf-8", "surrogatepass")),
        estimate_tokens(text),
    ),
    "sentence_ends": sentence_ends,
    "analyze": _analyze,
    "normalize": lambda text: normalize(text, on=date(2026, 11, 21)),
    "anchor_times": lambda text: list(resolve_relative_times(text, on=date(2026, 11, 21))),
    "resolve_pronouns": lambda text: list(resolve_pronouns(text)),
    "time phrases": lambda text: (
        find_time(text, today=NOW.date()),
        is_recent(text),
        read_time(text, When(NOW.date())),
    ),
    "jsonc": _jsonc,
}


def _front_matter(text: str) -> object:
    return read_front_matter(
        text[: 64 * 1024].encode("utf-8", "replace").decode()
    )  # as it is read from a file
