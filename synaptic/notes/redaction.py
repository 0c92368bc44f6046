"""Finds passwords, tokens and keys in a text. Pure, and linear in the text's length.

| place                                     | the secret                                      |
|-------------------------------------------|-------------------------------------------------|
| `-----BEGIN ... PRIVATE KEY-----`         | the whole block, also quoted or without its end |
| a prefix that a service gives its keys    | the token: `ghp_...`, `AKIA...`, a JWT          |
| `scheme://user:password@host`             | the password                                    |
| `curl -u user:...`, `Cookie: ...`         | the value that serves as a password             |
| `password = ...`, "the key of X is ..."   | the value, but no placeholder, code or path     |
| a line that says `password` or `API key:` | the value in the line below, also in a fence    |
| `variable "db_password" { default = ...}` | the default of the Terraform variable           |
| a column `Password` of a Markdown table   | its cells, as in `Password | ...`               |
| `passphrase one-two-...`                  | three words or more, joined by hyphens          |

`data/secrets.toml` holds the patterns, the words for "password" in other languages, and the
example keys of manuals. A hash, a UUID or an id alone does not count as a secret. Zero-width
characters or a line end inside a token do not hide it, nor does any Unicode blank before it. A
value may stand below its label, also in a fence; if more than a line end is between them, it
must be alone in its line.
"""

import base64
import html
import re
import tomllib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from string import ascii_letters, digits
from typing import Any, NamedTuple

from ..files import DATA


class Secret(NamedTuple):
    """The kind and span of a secret in a text; it never has the secret's value."""

    kind: str
    start: int
    end: int


INVISIBLE = (
    "[\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufeff]+"
)
"""Characters that are not displayed, so that they may hide inside a token."""

_LINE_ENDS = "\x0b\x0c\x85\u2028\u2029"
_SPACES = "\xa0\u1680\u202f\u205f\u3000\u115f\u1160\u2800\u3164\uffa0" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_BLANKS = str.maketrans(_SPACES + _LINE_ENDS, " " * len(_SPACES) + "\n" * len(_LINE_ENDS))
"""Every Unicode blank, and characters that look like one, as a space; line ends as one."""


def find_secrets(text: str, unseen_pattern: str = INVISIBLE) -> tuple[Secret, ...]:
    """The secrets in a text, in order, without overlaps.

    `unseen_pattern` matches what a reader does not see; a secret may go on behind it.
    """
    seen, starts, ends = _visible_text(text, unseen_pattern)
    seen = seen.translate(_BLANKS)
    seen = _REDACTED.sub(lambda redacted: _HIDDEN * len(redacted[0]), seen)
    secrets: list[Secret] = []
    # what says more of its kind comes first, and hides what it found from the others
    for look in (
        _find_private_keys,
        _find_tokens,
        _find_passwords_in_urls,
        _find_assigned_secrets,
        _find_secrets_in_lines,
        _find_secrets_apart_from_names,
    ):
        here = merge_secrets(look(seen))
        seen = _replace_secrets(
            seen, here, lambda secret: _HIDDEN * (secret.end - secret.start)
        )
        secrets += here
    return merge_secrets(
        Secret(kind, starts[start], ends[end - 1]) for kind, start, end in secrets
    )


def merge_secrets(secrets: Iterable[Secret]) -> tuple[Secret, ...]:
    """The secrets in order; overlapping ones are joined into one with the kind of the first."""
    separate: list[Secret] = []
    for secret in sorted(secrets, key=attrgetter("start")):
        if separate and secret.start < separate[-1].end:
            separate[-1] = separate[-1]._replace(end=max(separate[-1].end, secret.end))
        else:
            separate.append(secret)
    return tuple(separate)


def redact(text: str, secrets: Iterable[Secret]) -> str:
    """Replaces each secret in a text by its kind, as in `[redacted: GitHub token]`."""
    return _replace_secrets(text, secrets, lambda secret: f"[redacted: {secret.kind}]")


def line_number(text: str, at: int) -> int:
    """The line number of an offset in a text, from 1."""
    return text.count("\n", 0, at) + 1


_REDACTED = re.compile(r"\[redacted: [^\]\n]{1,40}\]")
_HIDDEN = "<"
"""A character that no secret begins with; a value of such characters is a placeholder."""


def _replace_secrets(text: str, secrets: Iterable[Secret], by: Callable[[Secret], str]) -> str:
    parts = []
    at = 0
    for secret in secrets:
        parts += [text[at : secret.start], by(secret)]
        at = secret.end
    return "".join([*parts, text[at:]])


def _visible_text(text: str, unseen_pattern: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """(the text without invisible parts, the start and end offset in `text` of each of its
    characters).

    An escape is seen as the character behind it, an entity as its character.
    """
    parts = []
    starts = array("L")
    ends = array("L")
    at = 0
    spans = [hidden.span() for hidden in _compile_once(unseen_pattern).finditer(text)]
    if not spans:
        return text, range(len(text)), range(1, len(text) + 1)
    for start, end in [*spans, (len(text), len(text))]:
        visible = ""
        if text.startswith("\\", start):
            visible = text[start + 1 : end]
        elif text.startswith("&", start):
            visible = _compile_once(INVISIBLE).sub("", html.unescape(text[start:end]))
        parts += [text[at:start], visible]
        starts.extend(range(at, start))
        starts.extend([start] * len(visible))
        ends.extend(range(at + 1, start + 1))
        ends.extend([end] * len(visible))
        at = end
    return "".join(parts), starts, ends


@cache
def _compile_once(pattern: str) -> re.Pattern[str]:
    """The compiled pattern. It is compiled when first needed, because all patterns together
    take 20 ms.
    """
    return re.compile(pattern)


def _is_found_in(pattern: str, text: str) -> bool:
    return _compile_once(pattern).search(text) is not None


_MEANINGS = {
    # a word begins, or an escape that ends in letters has ended: `\n`, `%3D`
    "LEFT": r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtu])|(?<=%[0-9A-Fa-f]{2}))",
    "RIGHT": "(?![A-Za-z0-9])",
    "WORD": "[A-Za-z0-9_-]",
}


@cache
def _patterns_file() -> dict[str, Any]:
    """data/secrets.toml, read on first use."""
    path = DATA / "secrets.toml"
    text = path.read_text(encoding="utf-8")
    for name, meaning in _MEANINGS.items():
        text = text.replace(name, meaning)
    return tomllib.loads(text)


def _is_example(value: str) -> bool:
    """True if the manuals of services print this value as an example key."""
    return any(example in value for example in _patterns_file()["examples"])


# -- private keys
# -------------------------------------------------------------------------------------

_KEY_HEAD = (
    r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"|PuTTY-User-Key-File-[23]:[^\n]{0,100}"
)
_KEY_END = (
    r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"|Private-MAC:[ \t]{0,4}[0-9a-f]{40,64}"
)
_KEY_TEXT = (
    r"(?:[\s>|#*\"'`,;:\\]|[A-Za-z0-9+/=]{24,}(?![A-Za-z0-9+/=])|[A-Za-z0-9+/]{1,23}={1,2}"
    r"|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Encryption|Public-Lines|Private-Lines)"
    r"[^\n\\]{0,200})*"
)
_KEY_MARGIN = "\n\r \t>|#*\"'`,;:\\"
_KEY_LINE = r"[A-Za-z0-9+/=]{32}"


def _find_private_keys(text: str) -> Iterator[Secret]:
    heads = list(_compile_once(_KEY_HEAD).finditer(text))
    limits = [*(head.start() for head in heads[1:]), len(text)]
    for head, limit in zip(heads, limits, strict=False):  # none without a head
        start, stop = head.span()
        end = _compile_once(_KEY_END).search(text, stop, limit)
        body = _compile_once(_KEY_TEXT).match(text, stop, limit)
        if end:
            stop = end.end()
        elif body:
            stop += len(body[0].rstrip(_KEY_MARGIN))
        if _compile_once(_KEY_LINE).search(text, start, stop):  # else it is only spoken of
            yield Secret("private key", start, stop)


# -- tokens, by the table in data/secrets.toml
# --------------------------------------------------------------------

_WRAPPED = r"[\"'`]?[ \t]{0,4}[\\+]?[ \t]{0,4}\r?\n[ \t>|#*]{0,20}[\"'`]?"
_WRAPPED_LINES = 8
_RUN = r"[A-Za-z0-9_./+=%~:-]+"
_LONGEST_LINE = 200
"""The most characters of a wrapped line. A longer line was not wrapped."""


def _find_tokens(text: str) -> Iterator[Secret]:
    for kind, signs, parts in _patterns_file()["token"]:
        pattern = _compile_once("".join(parts))
        for sign in signs:
            at = text.find(sign)
            while at >= 0:
                start, end = _token_at(text, at, pattern)
                if end > start and not _is_example(text[start:end]):
                    yield Secret(kind, start, end)
                at = text.find(sign, max(end, at + len(sign)))


def _token_at(text: str, at: int, pattern: re.Pattern[str]) -> tuple[int, int]:
    """The span of the token that begins at `at` and may go on in the next lines; empty if
    there is none.
    """
    match = pattern.match(text, at)
    start, end = match.span(pattern.groups) if match else (at, at)
    run = _compile_once(_RUN).match(text, start, start + _LONGEST_LINE)
    stop = run.end() if run else start
    before = text[max(0, start - 20) : start]
    token = before + text[start:stop]
    for _ in range(_WRAPPED_LINES):
        joint = _compile_once(_WRAPPED).match(text, stop, stop + 60)
        if not joint or start < end < stop:
            break
        piece = _compile_once(_RUN).match(text, joint.end(), joint.end() + _LONGEST_LINE)
        if not piece or (end > start and not _is_part_of_token(piece[0])):
            break
        token += piece[0]
        stop = piece.end()
        match = pattern.match(token, len(before))
        if match and len(token) - match.end() < len(piece[0]):
            end = stop - len(token) + match.end()
        elif len(piece[0]) < _SHORTEST_RANDOM:
            break
    return start, end


def _is_part_of_token(line: str) -> bool:
    if len(line) < 8 or _is_found_in(_NAME, line):
        return False
    return _is_mixed(line) and line != line.lower()


# -- credentials in URLs
# ------------------------------------------------------------------------------

_URL = (
    r"(?<=[A-Za-z0-9])://[^\s/:@?#\"'<>`|\\]{0,100}"
    r":(?P<password>[^\s/?#\"'<>`|\\]{1,200})@(?=[A-Za-z0-9\[$%{<-])"
)


def _find_passwords_in_urls(text: str) -> Iterator[Secret]:
    for match in _compile_once(_URL).finditer(text):
        if not _is_placeholder(match["password"]):
            yield Secret("password in a URL", *match.span("password"))


# -- commands and settings, by the table
# ------------------------------------------------------------------------------

_LINE = r"(?:[^\n]*\\\n)*[^\n]*"
"""A line that ends in a backslash goes on in the next line."""


def _find_secrets_in_lines(text: str) -> Iterator[Secret]:
    low = _lower_case(text)
    for kind, signs, check, parts in _patterns_file()["line"]:
        pattern = _compile_once("(?m)" + "".join(parts))
        for sign in signs:
            at = low.find(sign)
            while at >= 0:
                line = _compile_once(_LINE).match(text, text.rfind("\n", 0, at) + 1)
                assert line
                for match in pattern.finditer(text, *line.span()):
                    value = match["secret"].rstrip(".,;)")
                    if _CHECKS[check](value) and not _is_example(value):
                        start = match.start("secret")
                        yield Secret(kind, start, start + len(value))
                at = low.find(sign, line.end())


def _lower_case(text: str) -> str:
    return text.replace("\u0130", "I").lower()  # the one letter whose lower case is longer


# -- password = ... and its kin
# -----------------------------------------------------------------------

_STEMS = "pass[wpco]?|pwd|secret|token|key|credential|authorization|psk|(?<=[_-])pat"
_LETTER_BEFORE = r"(?<![^\W\d_])"
_GUARDS = {
    "key": (
        r"(?i:(?:api|access|secret|private|encryption|signing|account|master|shared|storage"
        r"|client|service|auth|admin|license|webhook|deploy|subscription|publish|session|hmac"
        r"|aes)[ _.-]?)[kK]\Z|(?<![A-Z0-9_])"
        r"(?!(?:[A-Z0-9]{1,20}_){0,3}(?:PUBLIC|PUBLISHABLE|PRIMARY|FOREIGN|CACHE|SORT"
        r"|PARTITION|UNIQUE|INDEX|GROUP|HOST|ROW|OBJECT)_)[A-Z][A-Z0-9_]{1,38}_K\Z"
    ),
    "pat": r"P\Z|--p\Z",
    "psk": rf"{_LETTER_BEFORE}[pP]\Z",
    "pass": rf"{_LETTER_BEFORE}p\Z|P\Z",
}
"""For a stem that other words hold too: the text before it and its first letter, if its name is
one of a secret: api_key, OPENAI_KEY and dbPass, not monkey, PRIMARY_KEY or bypass.
"""
_NEXT_LINE = (
    r"(?:\r?\n[ \t>]{0,12}){1,3}(?:(?:```|~~~)[a-z0-9_+-]{0,20}[ \t]{0,4}\r?\n[ \t>]{0,12})?"
)
"""From a label to its value below: at most two empty lines, and a fence's first line."""
_LABEL = (
    r"(?P<word>pass(?:word|wd|wort|ord|phrase|code)?|pwd|secret|token|key"
    r"|credentials?|authorization|psk|pat|NAMES)"
    r"(?:[_-]?(?:base|value|key|[0-9]{1,2})){0,2}(?![A-Za-z0-9_-])"
    r"(?P<close>(?:\\?[\"'`]|\*\*|[\])]){0,3})"
)
"""The end of a name of a secret: `DB_PASSWORD`, `"token_2"`, **API key**."""
_WHOSE = (
    r"(?P<whose>(?:[ \t]{1,3}\([^()\n]{1,40}\)|[ \t]{1,3}"
    r"(?:of|for|to|on|at|in|from|f\u00fcr|vo[nm]|zu[mr]?|del?|d[aeou]s?|para|pour|per|van|voor"
    r"|till|til|dla|\u0434\u043b\u044f|\u043e\u0442)"
    r"(?:[ \t]{1,3}[^\s:=|]{1,40}){1,6}?))?"
)
"""Of what the secret is: " of Mailjet", " (staging)". The sign or verb behind it closes it."""
_SIGN = (
    r"[ \t]{0,20}(?P<sign>=>|:=|->|\u2192|={1,3}|:|\uff1a|\||\u662f|\u4e3a|\u306f|\ub294)"
    r"(?:\*\*)?[ \t]{0,40}(?:(?P<below>NEXT_LINE)[ \t>*+:-]{0,12})?(?:\u00ab[ \t]{0,4})?"
)
"""A sign; the value stands behind it, or `below` it."""
_VERB = (
    r"[ \t]{1,3}(?:(?:(?:was|has been|is|got)[ \t]{1,3})?"
    r"(?:changed|reset|set|updated|rotated)[ \t]{1,3}to"
    r"|(?:is|was|are|ist|war|lautet|es|est|era|\u00e9|\u00e8|jest|\u00e4r|er)"
    r"(?:[ \t]{1,3}(?:now|still|currently|jetzt|nun))?)[ \t:]{1,3}"
)
"""What says so in a sentence: " was changed to "."""
_TAG_OR_BLANK = r">|(?P<blank>[ \t]{1,4})"
"""The end of a tag of XML, or the blank behind a flag."""
_ALONE = r"[ \t]{0,4}(?:\*\*)?(?P<alone>NEXT_LINE)[ \t>*+:-]{0,12}"
"""The way to a value below a heading or a label without a sign."""
_AUTH = r"(?:(?P<scheme>bearer|basic|token|apikey)[ \t]{1,4})?"
_ASSIGNED = f"(?i){_LABEL}(?:{_WHOSE}(?:{_SIGN}|{_VERB})|{_TAG_OR_BLANK}|{_ALONE}){_AUTH}"
"""A name of a secret, and the text between the name and its value."""
_VALUE = (
    r"(?P<quote>\\?[\"'`])(?P<quoted>[^\n]{1,400}?)(?P=quote)|(?P<bare>[^\s\"'`<>|\\]{1,128})"
)
_LONGEST_WORD = 128
"""The characters of a bare value that are judged. Of a longer one all is secret."""
_BARE_REST = r"[^\s\"'`<>|\\]*"
_NAME_CHARS = f"{ascii_letters}{digits}_.-"
_SETS = (
    r"(?:(?<![A-Za-z0-9_.-])-[A-Za-z0-9_.-]{0,40}|login[ \t]{1,4}[^\s]{1,60}[ \t]{1,4}"
    r"|\b(?:set|setx|setenv|env|config set|configure set|config)"
    r"(?:[ \t]{1,3}-{1,2}[a-z-]{1,20}){0,3}[ \t]{1,4}[\w./:-]{0,60})\Z"
)
"""The text before a name whose value follows a blank: a flag, `.netrc`, `set -x NAME value`,
`ENV` of a Dockerfile.
"""
_JOINED_WORDS = r"(?i)\A[a-z]{3,20}(?:-[a-z0-9]{3,20}){2,11}\Z"


def _find_assigned_secrets(text: str) -> Iterator[Secret]:
    low = _lower_case(text)
    names = _patterns_file()["passwords"]
    assigned = _ASSIGNED.replace("NAMES", "|".join(names)).replace("NEXT_LINE", _NEXT_LINE)
    pattern = _compile_once(assigned)
    present = [name for name in names if name in low]
    stems = "|".join([_STEMS, *present])
    at = 0
    for stem in _compile_once(stems).finditer(low):
        start = stem.start()
        guard = _compile_once(_GUARDS.get(stem[0], ""))
        if start < at or not guard.search(text, max(0, start - 40), start + 1):
            continue
        name = pattern.match(text, start)
        if not name:
            continue
        secret = _secret_assigned_to(text, name)
        if secret:
            yield secret
            at = secret.end


def _secret_assigned_to(text: str, name: re.Match[str]) -> Secret | None:
    """The secret that is assigned to a name such as `password`; None if the value is not a
    secret.
    """
    value = _compile_once(_VALUE).match(text, name.end())
    if not value:
        return None
    before = text[max(0, name.start() - 100) : name.start()]
    in_front = before.rstrip(_NAME_CHARS)
    full_name = before[len(in_front) :] + name["word"]
    secret = value["quoted"]
    quoted = secret is not None
    start = value.start("quoted" if quoted else "bare")
    if not quoted:
        secret = value["bare"]
        if in_front.endswith(("?", "&")):  # in a URL
            secret = secret.partition("&")[0]
        if len(secret) < _LONGEST_WORD:
            secret = secret.rstrip(".,;:!?)}]*")
    end = start + len(secret)
    if (
        name["blank"]
        and not _is_passphrase(name, secret)
        and not _is_found_in(_SETS, before.lower())
    ):
        return None
    if not _is_value(name, full_name, secret, quoted=quoted) or _is_example(secret):
        return None
    if not quoted and len(secret) == _LONGEST_WORD:
        rest = _compile_once(_BARE_REST).match(text, end)
        end = rest.end() if rest else end
    if _is_value_below_label(name) and not _compile_once(
        r"[*`\"']{0,3}[ \t]*(?:[\r\n]|\Z)"
    ).match(text, end):
        return None
    kind = _KINDS.get(name["word"].lower(), "password")
    if kind in ("key", "secret") and "aws" in full_name.lower():
        kind = "AWS secret key"
    return Secret(kind, start, end)


_KINDS = {
    "token": "token",
    "pat": "token",
    "key": "key",
    "secret": "secret",
    "credential": "secret",
    "credentials": "secret",
    "authorization": "authorization",
    "passphrase": "passphrase",
}


# -- a name and its value that stand apart
# --------------------------------------------------------------

_TERRAFORM = (
    r"\bvariable[ \t]{1,4}\"(?P<name>[\w-]{1,80})\"[ \t]{0,4}\{[^{}]{0,1000}?"
    r"\bdefault[ \t]{0,40}=[ \t]{0,40}(?P<value>\"[^\"\n]{1,400}\")"
)
_TABLE = (
    r"(?m)^(?P<names>[^\n|]*\|[^\n]*)\n[ \t>|:]*-[|: \t-]*\r?\n"
    r"(?P<rows>(?:[^\n|]*\|[^\n]*(?:\n|\Z))+)"
)
_CELL_MARKS = " \t\r`*\"'"
_LONGEST_NAME = 200


def _find_secrets_apart_from_names(text: str) -> Iterator[Secret]:
    """Yields secrets in defaults of Terraform variables, and in password columns of tables."""
    for match in _compile_once(_TERRAFORM).finditer(text):
        yield from _secrets_in_value(
            f"{match['name']} = ", match["value"], match.start("value")
        )
    for table in _compile_once(_TABLE).finditer(text):
        names = [name.strip(_CELL_MARKS)[:_LONGEST_NAME] for name in table["names"].split("|")]
        at = table.start("rows")
        for line in table["rows"].split("\n"):
            start = at
            for name, cell in zip(names, line.split("|"), strict=False):
                value = cell.strip(_CELL_MARKS)
                yield from _secrets_in_value(f"{name} | ", value, start + cell.find(value))
                start += len(cell) + 1
            at += len(line) + 1


def _secrets_in_value(name: str, value: str, at: int) -> Iterator[Secret]:
    """The secrets in `value`, which begins at the offset `at`, if it is assigned to this
    name.
    """
    for kind, start, end in _find_assigned_secrets(name + value):
        if start >= len(name):
            yield Secret(kind, start - len(name) + at, end - len(name) + at)


# -- what a value looks like
# --------------------------------------------------------------------------

_LETTER = r"[^\W\d_]"
_DIGIT = r"\d"
_SYMBOL = r"[!@#$%^&*+=?~]"
_CODE = r"\A[A-Za-z_][\w.:]*[(\[{]|\A[:@&][A-Za-z_.]*\Z"
_ATTRIBUTE = r"\A[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+"
_NAME = r"\A[A-Za-z]+[0-9]{0,2}(?:[-_.][A-Za-z]*[0-9]{0,4})*\Z"
_CAMEL = r"\A(?:[A-Za-z]?[A-Z0-9]{1,2}|[a-z]{2,})(?:[A-Z][a-z]{2,}){2,}[0-9]{0,4}\Z"
_PLACE = r"\A[A-Za-z][\w.+-]*@[A-Za-z][\w.-]*\Z"
_INNER = r"\A[A-Za-z_][A-Za-z_.-]*=(?=[^=])"
"""Another name and its value, which is judged by itself."""
_DESCRIPTION = (
    r"(?i)-(?:encoded|hashed|encrypted|protected|based|compatible|compliant|only|like|style"
    r"|safe|bit|digit)s?\Z"
)
_SAYINGS = (
    "your|my|me|the|some|an?|new|old|insert|enter|put|replace|change|example|sample|dummy|fake"
    "|test|foo|bar|baz|null|none|nil|undefined|true|false|todo|tbd|removed|hidden|secret"
    "|password|passwd|pass|pwd|token|key|api|user|username|admin|passphrase|passcode"
    "|credentials?|authorization|root|guest|postgres|mysql|mongo|redis|localhost|here|this|it"
    "|with|value|name|goes"
)
_PLAIN = (
    r"(?i)\A(?:[x*.•_?-]{3,}|[<\[{(|/].*|~/.*|#\{.*|\$[{(a-z_].*|%[({sA-Z_].*|\.{1,2}/.*"
    r"|[a-z]+://.*|[a-z]:\\.*"
    rf"|!{{1,2}}[a-z/:]+|(?:{_SAYINGS})(?:[-_ ]?(?:{_SAYINGS}))*[0-9]?)\Z"
)
_LEFT_OUT = r"(?i)\*{4}|x{6}|\.{3}|…|<[a-z _-]{1,40}>|\$\{|\{\{|redacted"


def _is_placeholder(value: str) -> bool:
    """True for values that stand for a secret: `<token>`, `your-key-here`, `${DB_PASSWORD}`,
    `/run/secrets/db`.
    """
    return _is_found_in(_PLAIN, value) or _is_found_in(_LEFT_OUT, value)


_SHORTEST_RANDOM = 16


def _looks_random(value: str) -> bool:
    """True if a value is long and mixes digits with letters of both cases, as no name does."""
    if len(value) < _SHORTEST_RANDOM or value in (value.lower(), value.upper()):
        return False
    return _looks_generated(value)


def _looks_generated(value: str) -> bool:
    return _is_mixed(value) and not _is_placeholder(value) and not _is_found_in(_NAME, value)


def _is_mixed(value: str) -> bool:
    return _is_found_in(_DIGIT, value) and _is_found_in(_LETTER, value)


def _is_basic(value: str) -> bool:
    """True for base64 of `user:password`, and for values that look random."""
    try:
        read = base64.b64decode(value + "=" * (-len(value) % 4)).decode()
    except ValueError:
        read = ""
    user, _, password = read.partition(":")
    is_pair = user and password and read.isprintable() and not _is_placeholder(password)
    return bool(is_pair) or _looks_random(value)


_CHECKS = {
    "given": lambda value: not _is_placeholder(value),
    "random": _looks_random,
    "mixed": _looks_generated,
    "basic": _is_basic,
}


def _is_value_below_label(name: re.Match[str]) -> bool:
    """True if the value stands below a heading, an empty line or a fence's first line."""
    return bool(name["alone"]) or (name["below"] or "").count("\n") > 1


def _is_passphrase(name: re.Match[str], value: str) -> bool:
    """True for `correct-horse-battery` and "correct horse battery staple"."""
    if name["word"].lower() != "passphrase":
        return False
    return _is_found_in(_JOINED_WORDS, value) or len(value.split()) >= 4


def _is_value(name: re.Match[str], full_name: str, value: str, *, quoted: bool) -> bool:
    """True if the value of a name is a secret, and not a word, placeholder, code, path or
    name.
    """
    word = name["word"].lower()
    if len(value) < 6 or _is_placeholder(value):
        return False
    if _is_passphrase(name, value):
        return not _is_found_in(_DESCRIPTION, value)
    if any(map(str.isspace, value)):
        return False
    if word == "authorization":
        return name["scheme"] is not None and len(value) >= 12
    if name["alone"] and (word in _KINDS or _looks_random(value)):
        return _looks_random(value)
    if _may_be_prose(name, value):
        return False
    in_capitals = name["sign"] == "=" and full_name.isupper() and not name["close"]
    is_literal = quoted or in_capitals
    if not is_literal and _is_code(value):
        return False
    if word not in _KINDS or word == "passphrase":
        return _may_be_password(value, is_literal=is_literal)
    return _may_be_key(value, quoted=quoted, is_literal=is_literal)


def _may_be_prose(name: re.Match[str], value: str) -> bool:
    """True for a value that may be a word, where words stand: below a label, in a sentence, in
    a table or in a line of its own.
    """
    if _is_value_below_label(name) and not _looks_generated(value):
        return True
    stands_in_prose = (
        name["whose"] or name["below"] or name["sign"] in (None, "|", "->", "\u2192")
    )
    is_word = not _is_mixed(value) or _is_found_in(_DESCRIPTION, value)
    return bool(stands_in_prose) and is_word


def _is_code(value: str) -> bool:
    """True for a call, and for an attribute such as `settings.token`."""
    is_attribute = _is_found_in(_ATTRIBUTE, value) and not _looks_random(value)
    return is_attribute or _is_found_in(_CODE, value)


def _may_be_password(value: str, *, is_literal: bool) -> bool:
    """True for what people choose: letters with a digit or a sign, or digits alone; in code
    also a word.
    """
    if not _is_found_in(_LETTER, value):
        return value.isdigit()
    if is_literal and len(value) >= 8:
        return True
    return _is_found_in(_DIGIT, value) or _is_found_in(_SYMBOL, value)


def _may_be_key(value: str, *, quoted: bool, is_literal: bool) -> bool:
    """True for what programs make: long, of letters and digits, and no name of something."""
    if not quoted and _is_found_in(_INNER, value):
        return False
    is_name = any(_is_found_in(shape, value) for shape in (_NAME, _CAMEL, _PLACE))
    if is_name and (quoted or not is_literal):
        return False
    return _is_mixed(value) and len(value) >= (10 if is_literal else 12)
