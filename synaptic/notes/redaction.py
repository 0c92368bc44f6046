"""Finds passwords, tokens and keys in a text. Pure, and linear in the text's length.

| place                                     | the secret                                      |
|-------------------------------------------|-------------------------------------------------|
| `-----BEGIN ... PRIVATE KEY-----`         | the whole block, also quoted or without its end |
| a prefix that a service gives its keys    | the token: `ghp_...`, `AKIA...`, a JWT          |
| `scheme://user:password@host`             | the password                                    |
| `password = ...`, "the key of X is ..."   | the value, but no placeholder, code or path     |
| `curl -u user:...`, `Cookie: ...`         | the value that serves as a password             |
| `variable "db_password" { default = ...}` | the default of the Terraform variable           |
| a column `Password` of a Markdown table   | its cells, as in `Password | ...`               |
| `passphrase one-two-...`                  | three words or more, joined by hyphens          |

`data/secrets.toml` holds the patterns, the words for "password" in other languages, and the
example keys of manuals. A hash, a UUID or an id alone is no secret. Zero-width characters or a
line end inside a token do not hide it.
"""

from __future__ import annotations

import base64
import re
import tomllib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple


class Secret(NamedTuple):
    """The kind and place, `start:end`, of a secret in a text. It never holds the value."""

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets of `text`, in order. None overlaps another."""
    seen, place = _visible(text)
    kept: list[Secret] = []
    # what says more of its kind comes first
    for look in (
        _private_keys,
        _tokens,
        _in_urls,
        _assigned,
        _in_lines,
        _in_terraform,
        _in_tables,
        _passphrases,
    ):
        kept = sorted([*kept, *_beside(kept, sorted(look(seen), key=_start))], key=_start)
    if place is None:
        return tuple(kept)
    return tuple(Secret(kind, place[start], place[end - 1] + 1) for kind, start, end in kept)


_start = attrgetter("start")


def _beside(kept: Sequence[Secret], found: Iterable[Secret]) -> Iterator[Secret]:
    """The secrets in `found` that overlap neither a secret in `kept` nor one another. Both
    arguments are in order.
    """
    number, at = 0, 0
    for secret in found:
        while number < len(kept) and kept[number].end <= secret.start:
            number += 1
        if secret.start >= at and (number == len(kept) or kept[number].start >= secret.end):
            yield secret
            at = secret.end


def redact(text: str, secrets: Iterable[Secret]) -> str:
    """`text` with each secret replaced by its kind, as in `[redacted: GitHub token]`."""
    parts, at = [], 0
    for kind, start, end in secrets:
        parts += [text[at:start], f"[redacted: {kind}]"]
        at = end
    return "".join([*parts, text[at:]])


def line_of(text: str, at: int) -> int:
    """The line of an offset, from 1."""
    return text.count("\n", 0, at) + 1


# All but characters that nobody sees, so that they may stand inside a token unnoticed.
_VISIBLE = re.compile(
    "[^\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufeff]+"
)


def _visible(text: str) -> tuple[str, array[int] | None]:
    """`text` without invisible characters, and the offset of each remaining one; None if all
    are visible.
    """
    if text.isascii() and text.isprintable():
        return text, None
    seen = [run.span() for run in _VISIBLE.finditer(text)]
    if seen == [(0, len(text))]:
        return text, None
    return "".join(text[start:end] for start, end in seen), array(
        "L", chain.from_iterable(range(*run) for run in seen)
    )


@cache
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The compiled pattern. It is compiled when first needed, because all patterns together
    take 20 ms.
    """
    return re.compile(pattern, flags)


# -- private keys
# -------------------------------------------------------------------------------------

_KEY_HEAD = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_KEY_END = r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_KEY_TEXT = (
    r"(?:[\s>|#*\"'`,;:\\]|[A-Za-z0-9+/=]{24,}(?![A-Za-z0-9+/=])|[A-Za-z0-9+/]{1,23}={1,2}"
    r"|(?:Proc-Type|DEK-Info|Version|Comment|Hash)[^\n\\]{0,200})*"
)
_KEY_MARGIN = "\n\r \t>|#*\"'`,;:\\"
_KEY_LINE = r"[A-Za-z0-9+/=]{32}"


_PUTTY_HEAD = r"PuTTY-User-Key-File-[23]:"
_PUTTY_END = r"Private-MAC:[ \t]{0,4}[0-9a-f]{40,64}"
_PUTTY_PRIVATE = (
    r"Private-Lines:[ \t]{0,4}[0-9]{1,4}\s{1,8}[ \t>|]{0,8}(?:[A-Za-z0-9+/=]{24,}[\s>|]{1,8})*"
)


def _putty_keys(text: str) -> Iterator[Secret]:
    heads = [head.start() for head in _compiled(_PUTTY_HEAD).finditer(text)]
    for start, limit in zip(heads, [*heads[1:], len(text)], strict=False):
        private = _compiled(_PUTTY_PRIVATE).search(text, start, limit)
        if private and _compiled(_KEY_LINE).search(private[0]):
            end = _compiled(_PUTTY_END).search(
                text, private.end(), min(limit, private.end() + 400)
            )
            yield Secret(
                "private key",
                start,
                end.end() if end else start + len(text[start : private.end()].rstrip()),
            )


def _private_keys(text: str) -> Iterator[Secret]:
    if "PuTTY-User-Key-File" in text:
        yield from _putty_keys(text)
    if "PRIVATE KEY" not in text:
        return
    heads = list(_compiled(_KEY_HEAD).finditer(text))
    limits = [*(head.start() for head in heads[1:]), len(text)]
    for head, limit in zip(heads, limits, strict=False):  # none without a head
        if end := _compiled(_KEY_END).search(text, head.end(), limit):
            stop = end.end()
        else:
            body = _compiled(_KEY_TEXT).match(text, head.end(), limit)
            stop = head.end() + len(body[0].rstrip(_KEY_MARGIN)) if body else head.end()
        if _compiled(_KEY_LINE).search(text, head.end(), stop):  # else it is only spoken of
            yield Secret("private key", head.start(), stop)


# -- the table in data/secrets.toml
# --------------------------------------------------------------------

_TOKEN_CHAR = "[A-Za-z0-9_-]"
# A token begins where a word does, or after an escape that ends in letters: `\n`, `%3D`.
_LEFT = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtu])|(?<=%[0-9A-Fa-f]{2}))"
_RIGHT = "(?![A-Za-z0-9])"
_AWS_SECRET = r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])"
_AWS_REACH = 200
_WRAPPED = r"[\"'`]?[ \t]{0,4}[\\+]?[ \t]{0,4}\r?\n[ \t>|#*]{0,20}[\"'`]?"
_WRAPPED_LINES = 8
_RUN = r"[A-Za-z0-9_./+=%~:-]+"
_LONGEST_LINE = 200
"""The most characters of a wrapped line. A longer line was not wrapped."""


class _Rule(NamedTuple):
    """One row of the table."""

    kind: str
    signs: tuple[str, ...]
    pattern: str
    check: str


@cache
def _table() -> dict[str, Any]:
    """The table, read when it is first needed."""
    path = Path(__file__).parents[1] / "data" / "secrets.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def _token_rules() -> tuple[_Rule, ...]:
    rules = []
    for kind, signs, parts in _table()["token"]:
        pattern = "".join(parts)
        for name, meaning in (("LEFT", _LEFT), ("RIGHT", _RIGHT), ("WORD", _TOKEN_CHAR)):
            pattern = pattern.replace(name, meaning)
        rules.append(_Rule(kind, tuple(signs), pattern, ""))
    return tuple(rules)


@cache
def _line_rules() -> tuple[_Rule, ...]:
    rows = _table()["line"]
    return tuple(
        _Rule(kind, tuple(signs), "".join(parts), check) for kind, signs, check, parts in rows
    )


def _is_example(value: str) -> bool:
    """True if manuals print this value as an example."""
    examples = _table()["examples"]
    return any(example in value for example in (*examples["values"], *examples["words"]))


def _tokens(text: str) -> Iterator[Secret]:
    for kind, signs, pattern, _ in _token_rules():
        for sign in signs:
            if sign in text:
                yield from _with_sign(text, kind, sign, _compiled(pattern))


def _with_sign(text: str, kind: str, sign: str, pattern: re.Pattern[str]) -> Iterator[Secret]:
    at = 0
    while (at := text.find(sign, at)) >= 0:
        match = pattern.match(text, at)
        start, end = match.span(pattern.groups) if match else (at, at)
        end = _end_of_wrapped(text, at, end, pattern)
        if end > start and not _is_example(text[start:end]):
            yield Secret(kind, start, end)
            if kind == "AWS access key":
                yield from _aws_secret(text, end)
        at = max(end, at + len(sign))


def _end_of_wrapped(text: str, start: int, end: int, pattern: re.Pattern[str]) -> int:
    """The end of a token that may go on in the next lines. It begins at `start`; a match
    reached `end`, if any.
    """
    line_end = text.find("\n", end, start + _LONGEST_LINE)
    run = _compiled(_RUN).match(text, start, line_end) if line_end > 0 else None
    if run is None or (end > start and end != run.end()):
        return end
    lead = text[max(0, start - 20) : start]
    token, stop = lead + run[0], run.end()
    if end > start:  # a token of a fixed length is whole
        longer = pattern.match(f"{token}a", len(lead))
        if longer is None or longer.end() == len(token):
            return end
    for _ in range(_WRAPPED_LINES):
        joint = _compiled(_WRAPPED).match(text, stop, stop + 60)
        if joint is None:
            return end
        piece = _compiled(_RUN).match(text, joint.end(), joint.end() + _LONGEST_LINE)
        if piece is None or _is_token(text, piece.start()):
            return end
        line = piece[0]
        if end > start and not _is_part_of_token(line):
            return end
        token += line
        stop = piece.end()
        match = pattern.match(token, len(lead))
        if match:
            left_over = len(token) - match.end()
            if left_over < len(line):
                end = stop - left_over
        if end < stop and (match or len(line) < 16):
            return end
    return end


def _is_part_of_token(line: str) -> bool:
    if len(line) < 8 or _compiled(_NAME).match(line):
        return False
    return _is_mixed(line) and any(map(str.isupper, line))


def _is_token(text: str, at: int) -> bool:
    """True if a new token or a private key begins at `at`."""
    if _compiled(f"{_KEY_HEAD}|{_PUTTY_HEAD}").match(text, at):
        return True
    here = (rule for rule in _token_rules() if text.startswith(rule.signs, at))
    return any(_compiled(rule.pattern).match(text, at) for rule in here)


def _aws_secret(text: str, at: int) -> Iterator[Secret]:
    """The secret beside an AWS access key: 40 characters that are no SHA-1."""
    for match in _compiled(_AWS_SECRET).finditer(text, at, at + _AWS_REACH):
        both_cases = any(map(str.isupper, match[0])) and any(map(str.islower, match[0]))
        if both_cases and not _is_example(match[0]):
            yield Secret("AWS secret key", *match.span())
            return


def _in_lines(text: str) -> Iterator[Secret]:
    """The secrets in commands and settings. A line that ends in a backslash goes on in the next
    line.
    """
    low = _lower(text)
    for kind, signs, pattern, check in _line_rules():
        for sign in signs:
            at = low.find(sign)
            while at >= 0:
                start, end = text.rfind("\n", 0, at) + 1, _line_end(text, at)
                for match in _compiled(pattern, re.MULTILINE).finditer(text, start, end):
                    value = match["secret"].rstrip(".,;)")
                    if _CHECKS[check](value) and not _is_example(value):
                        yield Secret(
                            kind, match.start("secret"), match.start("secret") + len(value)
                        )
                at = low.find(sign, end)


def _line_end(text: str, at: int) -> int:
    while True:
        end = text.find("\n", at)
        if end < 0:
            return len(text)
        if text[end - 1] != "\\":
            return end
        at = end + 1


# -- credentials in URLs
# ------------------------------------------------------------------------------

_URL = (
    r"(?<=[A-Za-z0-9])://[^\s/:@?#\"'<>`|\\]{0,100}"
    r":(?P<password>[^\s/?#\"'<>`|\\]{1,200})@(?=[A-Za-z0-9\[$%{<-])"
)


def _in_urls(text: str) -> Iterator[Secret]:
    if "://" in text and "@" in text:
        for match in _compiled(_URL).finditer(text):
            if not _placeholder(match["password"]):
                yield Secret("password in a URL", *match.span("password"))


# -- password = ... and its kin
# -----------------------------------------------------------------------

_STEMS = (
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "credential",
    "authorization",
    "psk",
    "_pat",
    "-pat",
)
_ASSIGNED = (
    r"[_-]?(?P<word>pass(?:word|wd|wort|ord|phrase|code)?|pwd|secret|token|key"
    r"|credentials?|authorization|psk|pat|NAMES)"
    r"(?:[_-]?(?:base|value|key|[0-9]{1,2})){0,2}(?![A-Za-z0-9_-])"
    r"(?P<close>(?:\\?[\"'`]|\*\*|[\])]){0,3})"
    r"(?:(?P<whose>(?:[ \t]{1,3}\([^()\n]{1,40}\)|[ "
    r"\t]{1,3}(?:of|for|to|on|at|in|from|f\u00fcr|vo[nm]|zu[mr]?|del?"
    r"|d[aeou]s?|para|pour|per|van|voor|till|til|dla|\u0434\u043b\u044f|\u043e\u0442)"
    r"(?:[ \t]{1,3}[^\s:=|]{1,40}){1,6}?))?"
    r"(?:[ "
    r"\t]{0,20}(?P<sign>=>|:=|->|\u2192|={1,3}|:|\uff1a|\||\u662f|\u4e3a|\u306f|\ub294)"
    r"(?:\*\*)?[ \t\u3000]{0,40}"
    r"(?:(?P<below>\r?\n)[ \t>*+-]{0,12})?"
    r"|[ \t]{1,3}(?P<is>(?:(?:was|has been|is|got)[ "
    r"\t]{1,3})?(?:changed|reset|set|updated|rotated)[ \t]{1,3}to"
    r"|(?:is|was|are|ist|war|lautet|es|est|era|\u00e9|\u00e8|jest|\u00e4r|er)"
    r"(?:[ \t]{1,3}(?:now|still|currently|jetzt|nun))?)[ \t:]{1,3})"
    r"|(?P<tag>>)|(?P<blank>[ \t]{1,4})|[ \t]{0,4}(?:\*\*)?(?P<alone>(?:\r?\n){1,2})[ "
    r"\t>*+-]{0,12})"
    r"(?:(?P<scheme>bearer|basic|token|apikey)[ \t]{1,4})?"
)
"""A name that ends in one of these words, and the text between the name and its value.

Groups: `whose` matches "of Mailjet". `below`: the value stands in the next line. `is`: in a
sentence. `tag`: in XML. `blank`: after a flag. `alone`: in a line below a heading or a label,
without a sign.
"""
_BARE = r"[^\s\"'`<>|\\]+"
_JUDGED = 128
"""The number of characters of a value that are judged. No word is longer."""
_LONGEST_QUOTED = 400
_WHOSE_KEY = (
    r"(?:api|access|secret|private|encryption|signing|account|master|shared|storage|client"
    r"|service|auth|admin|license"
    r"|webhook|deploy|subscription|publish|session|hmac|aes)[ _.-]?\Z"
)
_ANY_KEY = (
    r"(?<![A-Z0-9_])(?!(?:[A-Z0-9]{1,20}_){0,3}(?:PUBLIC|PUBLISHABLE|PRIMARY|FOREIGN|CACHE|SORT"
    r"|PARTITION|UNIQUE|INDEX|GROUP"
    r"|HOST|ROW|OBJECT)_)[A-Z][A-Z0-9_]{1,38}_\Z"
)
"""Matches the variable OPENAI_KEY, but not PRIMARY_KEY."""
_NAME_BEFORE = r"[A-Za-z0-9_.-]*\Z"
_SET = (
    r"(?:login[ \t]{1,4}[^\s]{1,60}|\b(?:set|setx|setenv|env|config set|configure set|config)"
    r"(?:[ \t]{1,3}-{1,2}[a-z-]{1,20}){0,3})[ \t]{1,4}(?:[\w./:-]{0,60})\Z"
)
"""The text before a name whose value follows a blank: `.netrc`, `set -x NAME value`, `ENV` of a
Dockerfile.
"""


def _assigned(text: str) -> Iterator[Secret]:
    low = _lower(text)
    names = _table()["names"]["password"]
    stems = (*_STEMS, *(name for name in names if name in low))
    pattern = _compiled(_ASSIGNED.replace("NAMES", "|".join(names)), re.IGNORECASE)
    starts: list[int] = []
    for stem in stems:
        starts += (match.start() for match in re.finditer(re.escape(stem), low))
    at = run_end = 0
    for start in sorted(starts):
        if start < at or not _names_a_secret(text, low, start):
            continue
        match = pattern.match(text, start)
        if match is None or (match["blank"] and not _is_set(low, start)):
            continue
        begin = match.end()
        quoted = _quoted(text, begin)
        if quoted is None:
            if begin >= run_end:  # else in a value that was judged before
                bare = _compiled(_BARE).match(text, begin)
                run_end = bare.end() if bare else begin
            if begin == run_end:
                continue
            span = (begin, run_end)
        else:
            span = quoted
        if secret := _value_of(text, low, match, span, quoted=quoted is not None):
            yield secret
            at = secret.end


def _quoted(text: str, at: int) -> tuple[int, int] | None:
    """The span of the text between quotes that begins at `at`; None without quotes."""
    begin = at + 1 if text.startswith("\\", at) else at
    quote = text[begin : begin + 1]
    if quote not in ('"', "'", "`") or not quote:
        return None
    begin += 1
    end = text.find(quote, begin, begin + _LONGEST_QUOTED + 1)
    if text.startswith("\\", end - 1):
        end -= 1
    return (begin, end) if end > begin and "\n" not in text[begin:end] else None


def _lower(text: str) -> str:
    return text.replace("\u0130", "I").lower()  # the one letter whose lower case is longer


def _names_a_secret(text: str, low: str, start: int) -> bool:
    """True if a name with this stem can hold a secret: api_key and dbPass, not monkey, compass
    or bypass.
    """
    redacted = low.rfind("[redacted:", max(0, start - 40), start)
    if redacted >= 0 and low.find("]", redacted, start) < 0:
        return False
    if low.startswith("key", start):
        named = (
            _compiled(_ANY_KEY).search(text, max(0, start - 40), start)
            if text.startswith("_KEY", start - 1)
            else None
        )
        return (
            named is not None
            or _compiled(_WHOSE_KEY).search(low, max(0, start - 14), start) is not None
        )
    if low.startswith("pat", start + 1) and low[start] in "_-":
        return text[start + 1 : start + 4] == "PAT" or low.startswith("--pat", start - 1)
    if low.startswith("psk", start):
        return not low[max(0, start - 1) : start].isalpha()
    if low.startswith("pass", start) and low[start + 4 : start + 5] not in ("w", "p", "c", "o"):
        return not low[max(0, start - 1) : start].isalpha() or text[start].isupper()
    return True


def _value_of(
    text: str, low: str, match: re.Match[str], span: tuple[int, int], *, quoted: bool
) -> Secret | None:
    start, (begin, end), word = match.start("word"), span, match["word"].lower()
    if word.startswith(_WITH_DIGITS) and not _compiled(_DIGIT).search(
        text, begin, min(end, begin + _JUDGED)
    ):
        return None
    if match["alone"] and end - begin < _SHORTEST_RANDOM:
        return None
    name = _compiled(_NAME_BEFORE).search(text, max(0, start - 40), start)
    before = name[0] if name else ""
    if not quoted:
        if (
            text[start - len(before) - 1 : start - len(before)] in ("?", "&")
            and "&" in text[begin : begin + _JUDGED]
        ):
            end = min(end, text.index("&", begin))  # in a URL
        if end - begin <= _JUDGED:
            end = begin + len(text[begin:end].rstrip(".,;:!?)}]*")) or end
    value = text[begin : min(end, begin + _JUDGED)]
    kind = _kind(word, before.lower())
    secret = Secret(kind, begin, end)
    if kind == "authorization":
        if not match["scheme"] or len(value) < 12:
            return None
        return None if _placeholder(value) or _is_example(value) else secret
    if match["alone"]:
        alone = text[end : end + 1] in ("", "\n", "\r")
        return secret if alone and _looks_random(value) else None
    sentence = bool(match["is"] or match["whose"])
    if sentence and not quoted and _compiled(_DESCRIPTION).search(value):
        return None
    looks_made = len(value) >= 12 and _is_mixed(value)
    if sentence and kind not in ("password", "passphrase") and not looks_made:
        return None
    apart = match["blank"] or match["tag"] or match["below"]
    prose = sentence or apart or match["sign"] in ("|", "->", "\u2192")
    in_capitals = (before + match["word"]).isupper()
    literal = quoted or (match["sign"] == "=" and in_capitals and not match["close"])
    if not _is_secret(value, kind, literal=literal, quoted=quoted, prose=bool(prose)):
        return None
    return None if _is_example(value) else secret


def _is_set(low: str, start: int) -> bool:
    """True if the name at `start` is a flag, or a command before it sets it."""
    before = low[max(0, start - 100) : start]
    if (
        "-" in before[-40:]
        and (name := _compiled(_NAME_BEFORE).search(before[-40:]))
        and name[0].startswith("-")
    ):
        return True
    setting = any(sign in before for sign in ("login", "set", "env", "config"))
    return setting and _compiled(_SET).search(before) is not None


_WITH_DIGITS = ("key", "token", "secret", "credential", "pat")
"""Names whose secret values hold a digit."""
_KINDS = {
    "token": "token",
    "pat": "token",
    "authorization": "authorization",
    "passphrase": "passphrase",
}


def _kind(word: str, before: str) -> str:
    if word in _KINDS:
        return _KINDS[word]
    if word == "key" or word.startswith(("secret", "credential")):
        return "AWS secret key" if "aws" in before else "key" if word == "key" else "secret"
    return "password"


# -- a name and its value that stand apart
# --------------------------------------------------------------

_TERRAFORM = (
    r"\bvariable[ \t]{1,4}\"(?P<name>[\w-]{1,80})\"[ \t]{0,4}\{[^{}]{0,1000}?"
    r"\bdefault[ \t]{0,40}=[ \t]{0,40}\"(?P<secret>[^\"\n]{1,400})\""
)
_RULE = r"[ \t>]{0,40}[|:-][|: \t-]*\r?"
"""The line below the names of a table's columns."""
_JOINED_WORDS = (
    r"passphrase[\"'`*]{0,3}(?:[ \t]{0,4}[:=]|[ \t]{1,3}(?:is|was|ist|war))?[ "
    r"\t]{1,4}[\"'`*]{0,3}"
    r"(?P<secret>[a-z]{3,20}(?:-[a-z0-9]{3,20}){2,11})(?![\w-])"
)
_CELL_MARKS = " \t\r`*\"'"


def _kind_of(name: str, value: str) -> str:
    """The kind of secret that `value` is as the value of this name; "" of none."""
    found = next(_assigned(f"{name}{value}"), None)
    return found.kind if found else ""


def _in_terraform(text: str) -> Iterator[Secret]:
    if "variable" in text and "default" in text:
        for match in _compiled(_TERRAFORM).finditer(text):
            if kind := _kind_of(f"{match['name']} = ", f'"{match["secret"]}"'):
                yield Secret(kind, *match.span("secret"))


def _in_tables(text: str) -> Iterator[Secret]:
    """The cells below a column's name that says they are secrets."""
    low = _lower(text) if "|" in text else ""
    if not any(stem in low for stem in (*_STEMS, *_table()["names"]["password"])):
        return
    above, names, at = "", dict[int, str](), 0
    for line in text.split("\n"):
        if "|" not in line:
            names = {}
        elif "-" in line and _compiled(_RULE).fullmatch(line):
            heads = ((number, name) for number, (_, name) in enumerate(_cells(above)))
            names = {
                number: name
                for number, name in heads
                if _kind_of(f"{name} = ", '"a1B2-c3D4/e5F6+g7"')
            }
        else:
            for number, (start, value) in enumerate(_cells(line) if names else ()):
                plain = value if number in names and not any(map(str.isspace, value)) else ""
                if kind := plain and _kind_of(f"{names[number]} | ", plain):
                    yield Secret(kind, at + start, at + start + len(plain))
        above, at = line, at + len(line) + 1


def _cells(row: str) -> Iterator[tuple[int, str]]:
    """Offset and text of each cell of a table's row, without what marks it as code or bold."""
    at = 0
    for number, cell in enumerate(row.split("|")):
        text = cell.strip(_CELL_MARKS)
        if number or cell.strip(" \t>"):  # a row may begin with a bar
            yield at + cell.find(text), text
        at += len(cell) + 1


def _passphrases(text: str) -> Iterator[Secret]:
    if "passphrase" in _lower(text):
        for match in _compiled(_JOINED_WORDS, re.IGNORECASE).finditer(text):
            value = match["secret"]
            if not _placeholder(value) and not _compiled(_DESCRIPTION).search(value):
                yield Secret("passphrase", *match.span("secret"))


# -- what a value looks like
# --------------------------------------------------------------------------

_LETTER, _DIGIT, _SYMBOL = r"[^\W\d_]", r"\d", r"[!@#$%^&*+=?~]"
_CODE = r"[A-Za-z_][\w.:]*[(\[{]|[:@&][A-Za-z_.]*\Z"
_ATTRIBUTE = r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+"
_NAME = r"[A-Za-z]+[0-9]{0,2}(?:[-_.][A-Za-z]*[0-9]{0,4})*\Z"
_CAMEL = r"(?:[A-Za-z]?[A-Z0-9]{1,2}|[a-z]{2,})(?:[A-Z][a-z]{2,}){2,}[0-9]{0,4}\Z"
_PLACE = r"[A-Za-z][\w.+-]*@[A-Za-z][\w.-]*\Z"
_INNER = r"[A-Za-z_][A-Za-z_.-]*=(?=[^=])"
_DESCRIPTION = (
    r"(?i)-(?:encoded|hashed|encrypted|protected|based|compatible|compliant|only|like|style"
    r"|safe|bit|digit)s?\Z"
)
_SAYINGS = (
    "your|my|me|the|some|an?|new|old|insert|enter|put|replace|change|example|sample|dummy|fake"
    "|test|foo|bar|baz|null|none|nil|undefined|true|false|todo|tbd|removed|hidden|secret"
    "|password|passwd|pass|pwd|token|key|api|user|username|admin|passphrase|passcode|credentials?"
    "|authorization|root|guest|postgres|mysql|mongo|redis|localhost|here|this|it|with|value"
    "|name|goes"
)
_PLAIN = (
    r"(?i)(?:[x*.•_?-]{3,}|[<\[{(|/].*|~/.*|#\{.*|\$[{(a-z_].*|%[({sA-Z_].*|\.{1,2}/.*"
    r"|[a-z]+://.*|[a-z]:\\.*"
    rf"|!{{1,2}}[a-z/:]+|(?:{_SAYINGS})(?:[-_ ]?(?:{_SAYINGS}))*[0-9]?)\Z"
)
_LEFT_OUT = r"(?i)\*{4}|x{6}|\.{3}|…|<[a-z _-]{1,40}>|\$\{|\{\{|redacted"


def _placeholder(value: str) -> bool:
    """True for `<token>`, `your-key-here`, `${DB_PASSWORD}`, `/run/secrets/db`."""
    return bool(_compiled(_PLAIN).match(value) or _compiled(_LEFT_OUT).search(value))


_SHORTEST_RANDOM = 16


def _looks_random(value: str) -> bool:
    """True if a value is long and mixes digits with letters of both cases, as no name does."""
    return (
        len(value) >= _SHORTEST_RANDOM
        and _compiled(_DIGIT).search(value) is not None
        and any(map(str.isupper, value))
        and any(map(str.islower, value))
        and not _placeholder(value)
        and not _compiled(_NAME).match(value)
    )


def _is_mixed(value: str) -> bool:
    return (
        _compiled(_DIGIT).search(value) is not None
        and _compiled(_LETTER).search(value) is not None
    )


def _is_pair(value: str) -> bool:
    """True for base64 of `user:password`."""
    try:
        read = base64.b64decode(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        return False
    user, colon, password = read.partition(":")
    return (
        bool(colon and user and password) and read.isprintable() and not _placeholder(password)
    )


_CHECKS: dict[str, Callable[[str], bool]] = {
    "given": lambda value: not _placeholder(value),  # a command uses it as a password
    "random": _looks_random,
    "mixed": lambda value: (
        _is_mixed(value) and not _placeholder(value) and not _compiled(_NAME).match(value)
    ),
    "basic": lambda value: _is_pair(value) or _looks_random(value),
    "pair": _is_pair,
}


def _is_secret(value: str, kind: str, *, literal: bool, quoted: bool, prose: bool) -> bool:
    """True if the value of a name of this kind is a secret, and no word, placeholder, code,
    path or name.

    `literal`: the value stands in quotes, or as `NAME=value` in capitals, so it is no code.
    `prose`: it may be a word.
    """
    if quoted and any(map(str.isspace, value)):
        return kind == "passphrase" and len(value.split()) >= 4
    digits = _compiled(_DIGIT).search(value) is not None
    if len(value) < 6 or (not digits and (prose or kind not in ("password", "passphrase"))):
        return False
    letters = _compiled(_LETTER).search(value) is not None
    if (prose and not letters) or _placeholder(value):
        return False
    if not literal and (
        _compiled(_CODE).match(value)
        or (_compiled(_ATTRIBUTE).match(value) and not _looks_random(value))
    ):
        return False
    if kind in ("password", "passphrase"):
        if not letters:
            return value.isdigit()
        return (
            digits
            or _compiled(_SYMBOL).search(value) is not None
            or (literal and len(value) >= 8)
        )
    if not quoted and _compiled(_INNER).match(
        value
    ):  # another name's value: it is judged by itself
        return False
    shape = (_NAME, _CAMEL, _PLACE)
    named = (quoted or not literal) and any(_compiled(form).match(value) for form in shape)
    return letters and digits and not named and len(value) >= (10 if literal else 12)
