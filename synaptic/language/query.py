"""Parses a typed query into filters, phrases, words and dates. Pure; the time and its zone come
in with `now`.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import product
from typing import Any

from ..errors import InvalidArgument, Sentence, check_range, match_valid_name
from ..filters import (
    ALL_TAGS,
    ANY_PROJECT,
    FILTERS,
    KEYS,
    MAX_VALUES,
    MINUS,
    Filter,
    Filters,
    check_values,
)
from ..kinds import SYNONYMS
from ..models import TYPES, Json, Texts, frozen
from ..notes.blocks import check_tag, project_key, slug_tag
from ..notes.header import notices_of_synonyms, resolve_type, unique
from ..notes.marks import field_name
from .lexicon import STOP_WORDS
from .time_fields import MAX_SHOWN, read_date
from .words import words

MAX_QUERY = 10_000
"""Characters of a query that are read; the rest of a long pasted text is ignored."""

MAX_PHRASES = 16
MAX_DATES = 8
"""Dates of `since:` or of `until:` that are read in one query; the last of them counts. To
refuse a text that is not a date takes 10 ms.
"""

MAX_NOTICES = 8
MAX_NAME = 500
"""Characters of a query that may be the name of an entry. By eye."""
MAX_LIMIT = 100

_FILTER = re.compile(
    r"""(?<![\w"/.\\-])((?<!\S)[-−–])?([A-Za-z_]+):(?:"([^"]*)"|((?:(?<=path:)/)?[^\s"/:][^\s"]*))"""
)
_NO_FILTER = re.compile(r"\d[\d.:,]*\W*|[\\:].*|.*[(@].*")
"""The text behind a colon that is of a port, a line, a drive, code, an address: `port:8443`."""
_LEFT_OUT = re.compile(
    r"""(?<!\S)-(?:"([^"]+)"|([^\W\d_][\w'’.-]*\w\*?)(?=[,;.?!]?(?:\s|\Z)))"""
)
_BEGINNING = re.compile(r"(?<!\S)(\w{2,})\*(?![^\s,;.?!])")
_PHRASE = re.compile(r'"([^"]+)"')
_TAG = re.compile(r"(?<!\S)(-?)#([^\W_][\w/-]*)(?=[,;.?!]?(?:\s|\Z))")
_NAMED_KEYS = dict.fromkeys(
    ("type", "tag", "file", "project", "path", "since", "until", "has:task", *KEYS)
)
"""The keys in the order of a notice, the usual ones first."""
_LEFT_OUT_WORDS = (
    'Left out: entries with {words}. In quotes a word with a dash is searched: "-{first}".'
)
_ALONE = "`{word}` leaves a word out of something else, which is missing; it was searched."
_NO_OPERATOR = (
    "{word} is not an operator: entries with more of the words come first. `-word` leaves out, "
    '"a phrase" alone must occur.'
)
_NOT_A_FILTER = "`{word}` is not a filter, so it was searched as a word. Filters: {keys}."
_AS_WORDS = "{error} It was searched as words."
_AS_WORDS_OF_DAYS = f'{_AS_WORDS} Quotes hold words together: {{key}}:"last week".'
_WHOLE_WORDS = {key.partition(":")[0] for key in KEYS if ":" in key}
_SINGULARS = {
    name.removesuffix("s"): key for key, row in KEYS.items() for name in (key, *row.synonyms)
}
_OPERATOR = re.compile(r'(?:^|(?<!\S)(?=\S*[a-z"])\S+\s+)(AND|OR|NOT)\s+(?=\S*[a-z])')

Fields = Callable[[], Collection[str]]
"""A function that returns all field names, or all tags, of the journal; it is called only if a
query may contain one.
"""


@frozen
class ParsedQuery:
    """A query after parsing: `text` is embedded, `terms` are looked up as words, and entries
    with one of the `phrases` come first.

    `only_phrases` is True if the query has no words outside its phrases: then a hit must
    contain a phrase. `names` are the query, whole and without its filters: an entry may have
    one of them as its title, page name or alias.
    """

    text: str
    terms: Texts
    phrases: Texts
    filters: Filters
    notices: Texts = ()
    only_phrases: bool = False
    names: Texts = ()


def parse_query(
    raw: str,
    filters: Filters,
    *,
    now: datetime,
    stop_words: bool = True,
    fields: Fields = frozenset,
    tags: Fields = frozenset,
) -> ParsedQuery:
    """Parses a query into words, phrases and filters; the filters in its text are added to
    `filters`.

    | typed                         | read as                                     |
    |-------------------------------|---------------------------------------------|
    | `type:decision tag:db redis`  | two filters and the word redis              |
    | `redis -kafka -tag:old`       | a word, without entries of that word or tag |
    | `"connection pool" size`      | a phrase that comes first, and three words  |
    | `"connection pool" tag:db`    | a phrase that must occur, and a filter      |
    | `plug* well-known --flag`     | a beginning of words, and three words       |
    | `author:Zelazny`              | a filter, if `author` is one of `fields`    |
    | `#db redis`                   | a filter, if `db` is one of `tags`          |
    | `status:open`                 | words, with a notice that names the filters |
    | `http://host:80 std::vector`  | words                                       |

    A longer query is read up to MAX_QUERY, MAX_VALUES and MAX_PHRASES, with a notice that names
    the bound.
    """
    # SQLite takes no half a character
    text = raw[:MAX_QUERY].replace("\0", " ").encode("utf-8", "replace").decode()
    notices: list[str] = []
    if len(raw) > MAX_QUERY:
        text_read = "Only the first {n:,} characters of the query were read."
        notices.append(Sentence(text_read, n=MAX_QUERY))
    text = _write_tags_as_filters(text, tags)
    if ":" in text:
        inline = _InlineFilters(now, fields)
        text = _FILTER.sub(inline.take, text)
        filters = merge_filters(filters, inline.filters())
        notices += inline.notices()
    text, filters, remarks = _remove_excluded_words(text, filters)
    beginnings = {word.lower(): f"{word.lower()}*" for word in _BEGINNING.findall(text)}
    text = unicodedata.normalize("NFC", " ".join(_BEGINNING.sub(r"\1", text).split()))
    phrases = unique(phrase.strip() for phrase in _PHRASE.findall(text) if words(phrase))
    only_phrases = bool(phrases) and not words(_PHRASE.sub(" ", text))
    text = text.replace('"', " ").strip()
    terms = unique(
        beginnings.get(term, term) for term in search_terms(text, stop_words=stop_words)
    )
    if len(phrases) > MAX_PHRASES:
        bound = (
            "Only the first {n} phrases were looked up; the words of the others were searched."
        )
        notices.append(Sentence(bound, n=MAX_PHRASES))
    all_notices = (*notices, *remarks)
    return ParsedQuery(
        text=text,
        terms=terms,
        phrases=phrases[:MAX_PHRASES],
        filters=filters,
        notices=all_notices,
        only_phrases=only_phrases,
        names=unique(filter(None, (raw[:MAX_NAME].strip(), text[:MAX_NAME]))),
    )


def _write_tags_as_filters(text: str, tags: Fields) -> str:
    """Returns the text with `tag:db ` for each `#db` that is one of the `tags`."""
    for match in reversed(list(_TAG.finditer(text))):
        if slug_tag(match[2]) in tags():
            text = f"{text[: match.start()]}{match[1]}tag:{match[2]} {text[match.end() :]}"
    return text


def merge_filters(filters: Filters, others: Filters) -> Filters:
    """The filters of `filters`, and of `others` only those that `filters` does not set; tags of
    both must be there, and what either leaves out is left out.
    """
    merged = replace(filters, **{**others.active_values(), **filters.active_values()})
    if filters.tags and others.tags:
        pairs = product(filters.tags, others.tags)
        merged = replace(merged, tags=unique(map(ALL_TAGS.join, pairs)))
    both = filters.without and others.without
    return merged.leaving_out(both) if both else merged


def _remove_excluded_words(text: str, filters: Filters) -> tuple[str, Filters, list[str]]:
    """(the text without its excluded words such as `-kafka`, the filters that exclude them,
    notices for the user).

    In a text of several lines no word is excluded: it was probably pasted.
    """
    notices: list[str] = []
    left_out = [] if "\n" in text.strip() else list(_LEFT_OUT.finditer(text))
    rest = _LEFT_OUT.sub(" ", text)
    is_filtered = replace(filters, include_superseded=False) != Filters()
    if left_out and (words(rest) or is_filtered):
        unwanted = unique(match[1] or match[2] for match in left_out)[:MAX_PHRASES]
        text = rest
        filters = filters.leaving_out(Filters(words=unwanted))
        named = ", ".join(f"`{word}`" for word in unwanted)
        notices.append(Sentence(_LEFT_OUT_WORDS, words=named, first=unwanted[0]))
    elif left_out:
        notices.append(Sentence(_ALONE, word=left_out[0][0]))
    operator = _OPERATOR.search(text)
    if operator:
        notices.append(Sentence(_NO_OPERATOR, word=operator[1]))
    return text, filters, notices


class _InlineFilters:
    """Collects the filters that a query's text contains, such as `type:decision`, and the
    notices about wrong ones.
    """

    def __init__(self, now: datetime, fields: Fields) -> None:
        self._now = now
        self._fields = fields
        self._wanted: dict[str, list[str]] = {}
        self._unwanted: dict[str, list[str]] = {}
        self._tried: Counter[str] = Counter()
        self._bounds: dict[str, None] = {}
        self._notices: dict[str, None] = {}

    def take(self, match: re.Match[str]) -> str:
        """Stores the filter of a match and returns a blank to replace it; if it is not a
        filter, returns the matched text unchanged.
        """
        sign, name, quoted, plain = match.groups()
        key = name.lower()
        value = plain if quoted is None else quoted
        is_number = key not in _WHOLE_WORDS and value[1:2].isdigit()
        if value.startswith(MINUS) and not (sign or is_number):  # `tag:-old`, not `depth:-5`
            sign, value = "-", value[1:]
        if key in _WHOLE_WORDS:
            key = f"{key}:{value}".lower()
            key = _SINGULARS.get(key.removesuffix("s"), key)
        row = KEYS.get(key)
        is_day = row is not None and row.form == "day"
        is_filter = row and (key != "type" or value.lower() in (*TYPES, *SYNONYMS))
        if not is_filter and key in self._fields():
            row, value = FILTERS["where"], f"{key}={value}"
        elif not (row or key in FILTERS) and (len(name) == 1 or _NO_FILTER.fullmatch(value)):
            return match[0]
        elif not row or (sign and is_day):
            filter_name = key if ":" in key else f"{name}:"
            word = f"{sign or ''}{filter_name}"
            self._notices[Sentence(_NOT_A_FILTER, word=word, keys=", ".join(_NAMED_KEYS))] = (
                None
            )
            return match[0]
        if key == "type":
            self._notices |= dict.fromkeys(notices_of_synonyms([value]))
        if sign and row.form == "texts":
            sign, value = "", f"-{value}"
        return " " if self._keep(row, value, is_unwanted=bool(sign)) else match[0]

    def _keep(self, row: Filter, value: str, *, is_unwanted: bool) -> bool:
        """Stores a value of a filter, or ignores it above the allowed number; returns False,
        with a notice, if the value is not valid.
        """
        key = row.key or row.name
        is_day = row.form == "day"
        self._tried[key] += 1
        most = MAX_DATES if is_day else MAX_VALUES
        if self._tried[key] > most:
            bound = "Only the first {n} `{key}:` were read; the others were left out."
            self._bounds[Sentence(bound, n=most, key=key)] = None
            return True
        others = self._wanted if is_day else {}
        try:
            _build_filters_from_texts({**others, row.name: [value]}, self._now)
        except InvalidArgument as error:
            text = _AS_WORDS_OF_DAYS if is_day else _AS_WORDS
            self._notices[Sentence(text, error=str(error), key=key)] = None
            return False
        (self._unwanted if is_unwanted else self._wanted).setdefault(row.name, []).append(value)
        return True

    def filters(self) -> Filters:
        """The stored filters; excluded values stand in their `without`."""
        wanted = _build_filters_from_texts(self._wanted, self._now)
        if not self._unwanted:
            return wanted
        return wanted.leaving_out(_build_filters_from_texts(self._unwanted, self._now))

    def notices(self) -> list[str]:
        """The notices for the user; at most MAX_NOTICES of them are about texts that are not
        filters.
        """
        notices = list(self._notices)
        more = len(notices) - MAX_NOTICES
        if more > 0:
            notices[MAX_NOTICES:] = [
                Sentence("{more:,} more notices of this kind are left out.", more=more)
            ]
        return [*self._bounds, *notices]


def _build_filters_from_texts(texts: Mapping[str, Sequence[str]], now: datetime) -> Filters:
    """The filters for texts by the name of the filter; of a filter with one value the last text
    counts. Raises InvalidArgument.
    """
    values: Json = {
        name: parse_filter_value(FILTERS[name], each) for name, each in texts.items()
    }
    return build_filters(now=now, **values)


def parse_filter_value(row: Filter, texts: Sequence[str]) -> object:
    """Converts the texts of one filter, from a query or the address of a page, to the value
    that `build_filters` takes. Raises InvalidArgument.

    The last text counts, unless the filter takes several.
    """
    if row.form == "texts":
        return texts
    if row.form in ("switch", "yes or no"):
        return texts[-1].lower() != "no"
    if row.form != "integer":
        return texts[-1]
    try:
        return int(texts[-1])
    except ValueError:
        text = "{name} is {text!r}, which is not a whole number."
        message = Sentence(text, name=Sentence(row.name), text=texts[-1][:MAX_SHOWN])
        raise InvalidArgument(message, valid=(f"0 to {row.most}",), of=[row.name]) from None


def search_terms(text: str, *, stop_words: bool = True) -> Texts:
    """The different words of a text in lower case, without stop words; if it has only stop
    words, these.
    """
    terms = unique(word for _, word in words(unicodedata.normalize("NFC", text)))
    telling = tuple(word for word in terms if word not in STOP_WORDS)
    return telling if stop_words and telling else terms


def build_filters(
    *, now: datetime, days: int | None = None, since: str | None = None, **filters: Any
) -> Filters:
    """Checks the filters that a user gave by name and returns them as `Filters`. Raises
    InvalidArgument with the valid values.

    A filter of texts takes one text or several; with a minus before it a text is left out.
    `days` sets `since` to that many days before `now`.
    """
    if days is not None:
        if since is not None:
            names = ("days", "since")
            raise InvalidArgument("Give days or since, not both.", valid=names, of=names)
        _check_filter_value(FILTERS["days"], days, now)
        from .timephrase.table import add_days  # most saves and searches need none of its words

        since = add_days(now.date(), -days).isoformat()
    values: Json = {}
    unwanted: Json = {}
    for name, value in {"since": since, **filters}.items():
        row = FILTERS[match_valid_name(FILTERS, name, "filter")]
        if value is not None and row.form == "texts":
            values[row.field], left_out = _check_texts(row, value)
            unwanted |= {row.field: left_out} if left_out else {}
        elif value is not None:
            values[row.field] = _check_filter_value(row, value, now)
    first = values.get("since")
    last = values.get("until")
    if first and last and first > last:
        message = Sentence(
            "since ({first}) is later than until ({last}).", first=first, last=last
        )
        hint = "Swap the two dates, or leave one out."
        raise InvalidArgument(message, hint, of=("since", "until"))
    low = values.get("min_importance")
    high = values.get("max_importance")
    if low is not None and high is not None and low > high:
        template = "min_importance ({low}) is above max_importance ({high})."
        message = Sentence(template, low=low, high=high)
        hint = "Swap the two numbers, or leave one out."
        raise InvalidArgument(message, hint, of=("min_importance", "max_importance"))
    if days is not None and last is None:
        values["until"] = now.date().isoformat()
    return Filters(**values, without=Filters(**unwanted) if unwanted else None)


def _check_texts(row: Filter, value: str | Sequence[str]) -> tuple[tuple[Any, ...], ...]:
    """(the values of a filter of texts, those with a minus before them), as `Filters` has them.
    Raises InvalidArgument.
    """
    check = _CHECKS.get(row.name, row.check)
    sides: tuple[list[Any], list[Any]] = ([], [])
    for text in _nonempty_values(row.name, value):
        is_unwanted = text.startswith(MINUS)
        name = text[1:].strip() if is_unwanted else text
        if is_unwanted and (not name or name.startswith(MINUS) or name == ANY_PROJECT):
            template = "{name} is {text!r}: a minus leaves out the name behind it."
            message = Sentence(template, name=Sentence(row.name), text=text[:MAX_SHOWN])
            raise InvalidArgument(message, valid=("NAME", "-NAME"), of=[row.name])
        sides[is_unwanted].append(check(name))
    wanted, unwanted = (tuple(dict.fromkeys(side)) for side in sides)
    return wanted, unwanted


def _check_filter_value(row: Filter, value: Any, now: datetime) -> Any:
    """Checks the value of one filter and converts it to the value that `Filters` has. Raises
    InvalidArgument.
    """
    if row.form == "text":
        return _CHECKS.get(row.name, row.check)(value)
    if row.form == "day":
        return read_date(value, now, row.name)
    if row.form == "integer":
        check_range(row.name, value, 0, row.most)
    return value


def _parse_field(text: str) -> tuple[str, str]:
    name, sign, value = (part.strip() for part in text.partition("="))
    if not (sign and name and value):
        template = "where is {text!r}, which does not name a property and its value."
        message = Sentence(template, text=text)
        raise InvalidArgument(
            message, "For example: author=Zelazny.", valid=("NAME=VALUE",), of=["where"]
        )
    if value.startswith(MINUS) and not value[1:2].isdigit():
        message = Sentence("where is {text!r}, which has a minus before the value.", text=text)
        template = "Leave it out by a minus before the name: -{name}={value}."
        hint = Sentence(template, name=name, value=value[1:])
        raise InvalidArgument(message, hint, valid=("NAME=VALUE", "-NAME=VALUE"), of=["where"])
    return field_name(name), value


def _parse_tags(text: str) -> str:
    """A tag, or several joined by `+` of which an entry must have all, in their stored form.

    `#DB` -> `db`, `db+Node.js` -> `db+node-js`, `c++` -> `c`, `0+a` -> `0-a`.
    """
    whole = check_tag(text, of="tag")
    parts = _BETWEEN_TAGS.split(text)
    for part in parts:
        if part.startswith(MINUS):
            check_tag(part, of="tag")
    tags = [*map(slug_tag, parts)]
    return ALL_TAGS.join(tags) if "-".join(tags) == whole else whole


_BETWEEN_TAGS = re.compile(r"(?<=[^+\s])\+(?=[^+\s])")
_CHECKS: Mapping[str, Callable[[str], Any]] = {
    "type": resolve_type,
    "tag": _parse_tags,
    "project": project_key,
    "where": _parse_field,
}
"""Checks that parse the values of a filter by the rules of notes, in place of the check of the
filter's row.
"""


def _nonempty_values(name: str, value: str | Sequence[str]) -> Texts:
    """The values of a filter without empty ones. Raises InvalidArgument if there are
    too many.
    """
    values = check_values(name, (value,) if isinstance(value, str) else value)
    clean = [text.encode("utf-8", "replace").decode().strip() for text in values]
    return tuple(filter(None, clean))
