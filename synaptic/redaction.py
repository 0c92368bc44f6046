"""Finds passwords, tokens and keys in a text. Pure, and linear in the text's length.

| where it looks                            | what it takes for a secret                                      |
|-------------------------------------------|-----------------------------------------------------------------|
| `-----BEGIN ... PRIVATE KEY-----`         | the whole block, also quoted, escaped, or without its end       |
| a beginning that a service gives to keys  | the whole token: `ghp_...`, `AKIA...`, `sk-ant-...`, a JWT      |
| `scheme://user:password@host`             | the password                                                    |
| `password = ...` and its kin              | the value, unless it is a placeholder, code, a name or a path   |

A hash, a UUID or an id alone is none of these. Zero-width characters inside a token do not hide it.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import NamedTuple


class Secret(NamedTuple):
    """What kind of secret stands at `start:end` of a text; never its value."""

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets of `text`, in order, none within another."""
    seen, place = _visible(text)
    kept: list[Secret] = []
    for look in (_private_keys, _tokens, _in_urls, _assigned):  # what says more of its kind comes first
        kept = sorted([*kept, *_beside(kept, sorted(look(seen), key=_start))], key=_start)
    if place is None:
        return tuple(kept)
    return tuple(Secret(kind, place[start], place[end - 1] + 1) for kind, start, end in kept)


_start = attrgetter("start")


def _beside(kept: Sequence[Secret], found: Iterable[Secret]) -> Iterator[Secret]:
    """Those that overlap neither what is kept nor one another; both are in order."""
    number, at = 0, 0
    for secret in found:
        while number < len(kept) and kept[number].end <= secret.start:
            number += 1
        if secret.start >= at and (number == len(kept) or kept[number].start >= secret.end):
            yield secret
            at = secret.end


def redact(text: str, secrets: Iterable[Secret]) -> str:
    """`text` with `[redacted: GitHub token]` in the place of each of its secrets."""
    parts, at = [], 0
    for kind, start, end in secrets:
        parts += [text[at:start], f"[redacted: {kind}]"]
        at = end
    return "".join([*parts, text[at:]])


def line_of(text: str, at: int) -> int:
    """The line of an offset, from 1."""
    return text.count("\n", 0, at) + 1


# What a person does not see, so that it may stand within a token unnoticed.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+"
)


def _visible(text: str) -> tuple[str, array[int] | None]:
    """`text` without invisible characters, and where each of the rest stands in it; None where all are visible."""
    if text.isascii() and text.isprintable():
        return text, None
    parts, place, at = [], array("L"), 0
    for match in _INVISIBLE.finditer(text):
        parts.append(text[at : match.start()])
        place.extend(range(at, match.start()))
        at = match.end()
    if not parts:
        return text, None
    place.extend(range(at, len(text)))
    return "".join([*parts, text[at:]]), place


@cache
def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compiled when first needed: most texts need none, and all of them together take 20 ms."""
    return re.compile(pattern, flags)


# -- private keys -------------------------------------------------------------------------------------

_KEY_HEAD = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_KEY_END = r"-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_KEY_TEXT = (
    r"(?:[\s>|#*\"'`,;:\\]|[A-Za-z0-9+/=]{24,}+|[A-Za-z0-9+/]{1,23}={1,2}"
    r"|(?:Proc-Type|DEK-Info|Version|Comment|Hash)[^\n\\]{0,200})*"
)
_KEY_MARGIN = "\n\r \t>|#*\"'`,;:\\"
_KEY_LINE = r"[A-Za-z0-9+/=]{32}"


def _private_keys(text: str) -> Iterator[Secret]:
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


# -- tokens that say whose they are -------------------------------------------------------------------

_WORD = "[A-Za-z0-9_-]"
# A token begins where a word does, or after an escape that ends in letters: `\n`, `%3D`.
_LEFT = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtu])|(?<=%[0-9A-Fa-f]{2}))"
_RIGHT = "(?![A-Za-z0-9])"

_RULES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("Anthropic key", ("sk-ant-",), rf"sk-ant-{_WORD}{{20,}}+"),
    (
        "OpenAI key",
        ("sk-",),
        rf"{_LEFT}sk-(?:(?:proj|svcacct|admin|service|None)-{_WORD}{{20,}}+|[A-Za-z0-9]{{32,}}+|or-v1-[0-9a-f]{{32,}}+)",
    ),
    ("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9_]{36,}+"),
    ("GitHub token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{40,}+"),
    (
        "GitLab token",
        (
            "glpat-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glptt-",
            "glft-",
            "glimt-",
            "glagent-",
            "glsoat-",
            "gloas-",
            "GR1348941",
        ),
        rf"{_LEFT}(?:gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas)-|GR1348941)[A-Za-z0-9_=-]{{20,}}+(?:\.[A-Za-z0-9_=.-]{{2,}}+)?",
    ),
    (
        "AWS access key",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        rf"{_LEFT}(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}}{_RIGHT}",
    ),
    ("Google key", ("AIza",), rf"{_LEFT}AIza{_WORD}{{35}}(?!{_WORD})"),
    (
        "Google token",
        ("ya29.", "GOCSPX-", "1//0"),
        rf"{_LEFT}(?:ya29\.{_WORD}{{20,}}+|GOCSPX-{_WORD}{{20,}}+|1//0{_WORD}{{35,}}+)",
    ),
    ("Slack token", ("xox",), r"xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}+"),
    ("Slack token", ("xapp-",), rf"{_LEFT}xapp-[0-9]-[A-Za-z0-9-]{{20,}}+"),
    (
        "Slack webhook",
        ("hooks.slack.com/",),
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/-]{20,}+",
    ),
    (
        "Stripe key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_"),
        rf"{_LEFT}[rs]k_(?:live|test)_[A-Za-z0-9]{{16,}}+",
    ),
    ("Stripe key", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{24,}+"),
    ("npm token", ("npm_",), rf"npm_[A-Za-z0-9]{{36}}{_RIGHT}"),
    ("PyPI token", ("pypi-",), rf"pypi-Ag{_WORD}{{40,}}+"),
    ("JWT", ("eyJ",), rf"{_LEFT}eyJ{_WORD}{{8,}}+\.(?:eyJ|ew0?){_WORD}{{6,}}+\.{_WORD}*+"),
    ("Hugging Face token", ("hf_",), rf"{_LEFT}hf_[A-Za-z0-9]{{30,}}+"),
    ("Groq key", ("gsk_",), rf"{_LEFT}gsk_[A-Za-z0-9]{{40,}}+"),
    ("xAI key", ("xai-",), rf"{_LEFT}xai-[A-Za-z0-9]{{40,}}+"),
    ("SendGrid key", ("SG.",), rf"{_LEFT}SG\.{_WORD}{{16,}}+\.{_WORD}{{16,}}+"),
    ("DigitalOcean token", ("dop_v1_", "doo_v1_", "dor_v1_"), rf"{_LEFT}do[opr]_v1_[a-f0-9]{{64}}{_RIGHT}"),
    ("Telegram token", (":AA",), r"(?<=[0-9]{8}):(AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])"),
    ("Docker token", ("dckr_",), rf"dckr_[op]at_{_WORD}{{20,}}+"),
    ("Shopify token", ("shp",), rf"{_LEFT}shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{{32}}{_RIGHT}"),
    ("Vault token", ("hvs.", "hvb."), rf"{_LEFT}hv[sb]\.{_WORD}{{24,}}+"),
    ("Databricks token", ("dapi",), rf"{_LEFT}dapi[a-f0-9]{{32}}(?:-[0-9])?{_RIGHT}"),
    ("Linear key", ("lin_api_",), r"lin_api_[A-Za-z0-9]{32,}+"),
    ("Notion token", ("ntn_",), rf"{_LEFT}ntn_[A-Za-z0-9]{{40,}}+"),
    ("Supabase token", ("sbp_",), rf"{_LEFT}sbp_[a-f0-9]{{40}}{_RIGHT}"),
    ("RubyGems key", ("rubygems_",), rf"rubygems_[a-f0-9]{{48}}{_RIGHT}"),
    (
        "Grafana token",
        ("glsa_", "glc_"),
        rf"{_LEFT}(?:glsa_[A-Za-z0-9]{{32}}_[a-f0-9]{{8}}|glc_[A-Za-z0-9+/=]{{32,}}+)",
    ),
    ("Atlassian token", ("ATATT3",), r"ATATT3[A-Za-z0-9_=-]{60,}+"),
    ("age key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    ("Azure key", ("AccountKey=", "SharedAccessKey="), r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}+={0,2})"),
)
"""Kind, how its tokens begin, and the pattern from there on; its one group, if any, is the secret."""

_AWS_SECRET = r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])"
_AWS_REACH = 200


def _tokens(text: str) -> Iterator[Secret]:
    # One look at the long words is ten times cheaper than one at the text for each sign.
    long_words = " ".join([word for word in text.split() if len(word) > 15])
    for kind, signs, pattern in _RULES:
        for sign in signs:
            if sign in long_words:
                yield from _with_sign(text, kind, sign, _compiled(pattern))


def _with_sign(text: str, kind: str, sign: str, pattern: re.Pattern[str]) -> Iterator[Secret]:
    at = 0
    while (at := text.find(sign, at)) >= 0:
        if match := pattern.match(text, at):
            yield Secret(kind, *match.span(pattern.groups))
            if kind == "AWS access key":
                yield from _aws_secret(text, match.end())
        at = match.end() if match else at + len(sign)


def _aws_secret(text: str, at: int) -> Iterator[Secret]:
    """The secret that stands beside an access key; 40 characters that no SHA-1 is made of."""
    for match in _compiled(_AWS_SECRET).finditer(text, at, at + _AWS_REACH):
        if any(map(str.isupper, match[0])) and any(map(str.islower, match[0])):
            yield Secret("AWS secret key", *match.span())
            return


# -- credentials in URLs ------------------------------------------------------------------------------

_URL = r"(?<=[A-Za-z0-9])://[^\s/:@?#\"'<>`|\\]{0,100}:(?P<password>[^\s/?#\"'<>`|\\]{1,200})@(?=[A-Za-z0-9\[$%{<-])"


def _in_urls(text: str) -> Iterator[Secret]:
    if "://" in text and "@" in text:
        for match in _compiled(_URL).finditer(text):
            if not _placeholder(match["password"]):
                yield Secret("password in a URL", *match.span("password"))


# -- password = ... and its kin -----------------------------------------------------------------------

_STEMS = ("pass", "pwd", "secret", "token", "key", "credential", "authorization")
_ASSIGNED = (
    r"(?P<word>pass(?:word|wd|wort|phrase|code)?|pwd|secret|token|key|credentials?|authorization)"
    r"(?:[_-]?(?:base|value|key|[0-9]{1,2})){0,2}(?![A-Za-z0-9_-])"
    r"(?P<close>(?:\\?[\"'`]|\*\*|[\])]){0,3})"
    r"(?:[ \t]{0,20}(?P<sign>=>|:=|={1,3}|:|\|)(?:\*\*)?[ \t]{0,40}(?:(?P<below>\r?\n)[ \t>*+-]{0,12})?"
    r"|[ \t]{1,3}(?P<is>is|was|ist)[ \t:]{1,3}|(?P<tag>>)|(?P<blank>[ \t]{1,4})"
    r"|[ \t]{0,4}(?:\*\*)?(?P<alone>(?:\r?\n){1,2})[ \t>*+-]{0,12})"
    r"(?:(?P<scheme>bearer|basic|token|apikey)[ \t]{1,4})?"
    r"(?:\\?(?P<quote>[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\n\\]|\\(?!(?P=quote))){1,400})\\?(?P=quote)"
    r"|(?P<bare>[^\s\"'`<>|\\]{1,2000}+))"
)
"""A name that ends in such a word, what stands between it and a value, and the value.

`below`: it stands in the next line, `is`: in a sentence, `tag`: in XML, `blank`: after a flag, `alone`: in a line
below a heading or a label, without a sign.
"""
_WHOSE_KEY = (
    r"(?:api|access|secret|private|encryption|signing|account|master|shared|storage|client|service|auth|admin|license"
    r"|webhook|deploy|subscription|publish|session|hmac|aes)[ _.-]?\Z"
)
_NAME_BEFORE = r"[A-Za-z0-9_.-]*\Z"
_LOGIN = r"login[ \t]{1,4}[^\s]{1,60}[ \t]{1,4}\Z"


def _assigned(text: str) -> Iterator[Secret]:
    low = text.replace("\u0130", "I").lower()  # the one letter whose lower case is longer
    at = 0
    for start in sorted(found for stem in _STEMS for found in _finds(low, stem)):
        if start >= at and _names_a_secret(text, low, start):
            match = _compiled(_ASSIGNED, re.IGNORECASE).match(text, start)
            if match and (secret := _value_of(text, low, match)):
                yield secret
                at = secret.end


def _finds(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _names_a_secret(text: str, low: str, start: int) -> bool:
    """Whether a name with this stem can hold one: an api_key and a dbPass, not a monkey, a compass or a bypass."""
    if low.rfind("[redacted:", max(0, start - 40), start) > low.rfind("]", max(0, start - 40), start):
        return False
    if low.startswith("key", start):
        return _compiled(_WHOSE_KEY).search(low, max(0, start - 14), start) is not None
    if low.startswith("pass", start) and low[start + 4 : start + 5] not in ("w", "p", "c"):
        return not low[max(0, start - 1) : start].isalpha() or text[start].isupper()
    return True


def _value_of(text: str, low: str, match: re.Match[str]) -> Secret | None:
    start = match.start()
    name = _compiled(_NAME_BEFORE).search(text, max(0, start - 40), start)
    before = name[0] if name else ""
    quoted = match["quoted"] is not None
    value, begin = match["quoted" if quoted else "bare"], match.start("quoted" if quoted else "bare")
    if not quoted:
        if text[start - len(before) - 1 : start - len(before)] in ("?", "&"):  # in a URL
            value = value.partition("&")[0]
        value = value.rstrip(".,;:!?)}]*") or value
    kind = _kind(match["word"].lower(), before.lower())
    secret = Secret(kind, begin, begin + len(value))
    if kind == "authorization":
        return secret if match["scheme"] and len(value) >= 12 and not _placeholder(value) else None
    if match["alone"]:
        alone = text[match.end() : match.end() + 1] in ("", "\n", "\r")
        return secret if alone and _looks_random(value) else None
    flag = bool(match["blank"])
    if flag and not (before.startswith("-") or _compiled(_LOGIN).search(low, max(0, start - 80), start)):
        return None
    if match["is"] and kind not in ("password", "passphrase"):
        return None
    prose = flag or match["is"] or match["tag"] or match["below"] or match["sign"] == "|"
    capitals = match["sign"] == "=" and (before + match["word"]).isupper() and not match["close"]
    return secret if _is_secret(value, kind, literal=quoted or capitals, quoted=quoted, prose=bool(prose)) else None


def _kind(word: str, before: str) -> str:
    if word.startswith(("pass", "pwd")):
        return "passphrase" if word == "passphrase" else "password"
    if word in ("token", "authorization"):
        return word
    if "aws" in before:
        return "AWS secret key"
    return "key" if word == "key" else "secret"


# -- what a value looks like --------------------------------------------------------------------------

_LETTER, _DIGIT, _SYMBOL = r"[^\W\d_]", r"\d", r"[!@#$%^&*+=?~]"
_CODE = r"[A-Za-z_][\w.:]*[(\[{]|[:@&][A-Za-z_.]*\Z"
_ATTRIBUTE = r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+"
_NAME = r"[A-Za-z]+[0-9]{0,2}(?:[-_.][A-Za-z]*[0-9]{0,4})*\Z"
_SAYINGS = (
    "your|my|me|the|some|an?|new|old|insert|enter|put|replace|change|example|sample|dummy|fake|test|foo|bar|baz|null|none"
    "|nil|undefined|true|false|todo|tbd|removed|hidden|secret|password|passwd|pass|pwd|token|key|api|user|username|admin"
    "|root|guest|postgres|mysql|mongo|redis|localhost|here|this|it|with|value|name|goes"
)
_PLAIN = (
    rf"(?i)(?:[x*.•_?-]{{3,}}|[<\[{{(|/].*|~/.*|#\{{.*|\$[{{(a-z_].*|%[({{sA-Z_].*|\.{{1,2}}/.*|[a-z]+://.*|[a-z]:\\.*|(?:{_SAYINGS})"
    rf"(?:[-_ ]?(?:{_SAYINGS}))*+[0-9]?)\Z"
)
_LEFT_OUT = r"(?i)\*{4}|x{6}|\.{3}|…|<[a-z _-]{1,40}>|\$\{|\{\{|redacted"


def _placeholder(value: str) -> bool:
    """Whether a value only stands for one: `<token>`, `your-key-here`, `${DB_PASSWORD}`, `/run/secrets/db`."""
    return _compiled(_PLAIN).match(value) is not None or _compiled(_LEFT_OUT).search(value) is not None


def _looks_random(value: str) -> bool:
    """Whether no word and no name reads like this: long, with digits among letters of both cases."""
    return (
        len(value) >= 16
        and _compiled(_DIGIT).search(value) is not None
        and any(map(str.isupper, value))
        and any(map(str.islower, value))
        and not _placeholder(value)
        and not _compiled(_NAME).match(value)
    )


def _is_secret(value: str, kind: str, *, literal: bool, quoted: bool, prose: bool) -> bool:
    """Whether the value of a name of this kind is a secret, and no word, placeholder, code, path or name.

    `literal`: it stands in quotes, or as `NAME=value` in capitals, so it is no code; `prose`: it may be a word.
    """
    letters, digits = _compiled(_LETTER).search(value) is not None, _compiled(_DIGIT).search(value) is not None
    if any(map(str.isspace, value)):
        return kind == "passphrase" and quoted and len(value.split()) >= 4
    if len(value) < 6 or _placeholder(value) or (prose and not (digits and letters)):
        return False
    if not literal and (
        _compiled(_CODE).match(value) or (_compiled(_ATTRIBUTE).match(value) and not _looks_random(value))
    ):
        return False
    if kind in ("password", "passphrase"):
        if not letters:
            return value.isdigit()
        return digits or _compiled(_SYMBOL).search(value) is not None or (literal and len(value) >= 8)
    named = _compiled(_NAME).match(value) is not None and (quoted or not literal)
    return letters and digits and not named and len(value) >= (10 if literal else 12)
