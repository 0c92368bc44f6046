"""Reads and writes the two lines above an entry's body: the heading that people type, and the
comment that programs read.
"""

import re
import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, datetime
from functools import lru_cache
from itertools import takewhile
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..errors import Sentence, match_valid_name
from ..kinds import SYNONYMS
from ..models import IDENTITY_DIGITS, PERSON, TYPES, Entry, EntryType, Json, Pairs, Texts
from .blocks import BY_MARK, TIME, inline_tags, insert_backslashes, unescape_tags
from .conflicts import without_conflict_marks
from .diary import read_date_of_heading
from .due_marks import remove_due_date

ID = re.compile(r"[0-9]{8}-[0-9a-z]{8}\Z")
FINGERPRINT_DIGITS = 12
COMMENT_START = re.compile(r"<!--[ \t]*syn:")

_TYPE = re.compile(rf"(?ai)({'|'.join(TYPES)})(?::[ \t]*|\Z)")
_READS_AS_TIME = re.compile(
    r"(?i)[ap]\.?m(?![a-z])|uhr|(?:-|–|—|:)(?:[ \t]|\Z)|[-–][ \t]?[0-9]"
)
_ESCAPED_HASH = re.compile(r"(?<!\\)\\(\\*)#")
_CLOSING = re.compile(r"(?:^|(?<=[ \t]))#+\Z")
_HASH_AFTER_BACKSLASH = re.compile(r"(?<!\\)(\\+)#")
_FINGERPRINT = rf"@(?=[0-9a-f]{{{FINGERPRINT_DIGITS}}}\Z)"
_ENCODED = re.compile(rf"[%<>,\x00-\x20\x7f-\x9f\s]|(?<=-)-|{_FINGERPRINT}")

_TITLE_LENGTH = 72
_HEADING_ONLY = 100
_MARKUP = re.compile(
    r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)*(?:#{1,6}(?:[ \t]+|$))?"
)
_PROPERTY = re.compile(
    r"[ \t>]*(?:[-*+][ \t]+)?[^\W\d_][\w./-]*(?: [\w./-]+){0,2}::(?:[ \t]|$)"
)
_NOT_PROSE = re.compile(rf"[ \t]*(?:`{{3}}|~{{3}}|<!--|\|)|[-*_= \t]+$|{_PROPERTY.pattern}")
_TABLE_ROW = re.compile(r"[ \t]*\|(.*\w.*)\|[ \t]*")
_CODE_SPAN = re.compile(r"(`+[^`]*`+)")
_EMPHASIS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\*\*(?=\S)(.+?)(?<=\S)\*\*",  # **bold**
        r"~~(?=\S)(.+?)(?<=\S)~~",  # ~~struck~~
        r"==(?=\S)(.+?)(?<=\S)==",  # ==marked==
        r"(?<!\w)__(?![a-z0-9_]+__)(?=\S)(.+?)(?<=\S)__(?!\w)",  # __bold text__
        r"(?<![\w*])\*(?=[^\s*])([^*]+)(?<=\S)\*(?![\w*])",  # *slanted*
        r"(?<!\w)_(?=[^\s_])([^_]+)(?<=\S)_(?!\w)",  # _slanted_
    )
)
_SENTENCE_END = re.compile(
    r"(?:(?P<word>[^\W\d_]*)[.]|[!?…]|[.]{2,})[.!?…]*(?=\s+[^\sa-z])|[。！？]"
)
_DAY = re.compile(r"(?<![0-9])[0-9]{1,2}\Z")
_CONSONANTS = re.compile(r"(?i)[bcdfghjklmnpqrstvwxzßçñбвгджзйклмнпрстфхцчшщьъ]+")
_ABBREVIATIONS = frozenset(
    """
    adj al approx apt assoc avg bldg ca capt co cont corp dept eds est et etc ext figs
    gov govt hon inc incl jan feb apr jun jul aug sep sept oct nov dec max messrs
    misc tue thu fri pres prof rev tel univ viz vol
    abb abs abschn allg anm aufl ausg bsp bspw beisp betr bez bzgl dipl ebd einschl entspr
    erg evtl exkl fam frl geb gesch ggf ggfs hl inh inkl insb jh jhdt kap mio od orig
    rel resp sog sogen teilw tsd urspr usw usf vgl zit zz zzgl
    av boul chap env éd év mme mlle no réf tél
    admón aprox avda cap dña depto dpto excmo exmo ilmo izq núm pág págs sra sras srta
    teléf ud uds cia ecc dott dottssa egr pag pagg sig sigg sigra spett
    eng exa exma obs profa
    afd bijv blz dhr drs enz evt excl ir mevr mw nl ong tegenw zgn
    гг гл гражд до др им кв обл пер пл проф пр рис род рус руб соотв стр тыс тел ул
    """.split()
)
"""Words that stand with a full stop within a sentence, in the languages of questions; the East
has none. Those without a vowel, such as `Dr` and `bzw`, need no list.
"""


_BEFORE_NUMBERS = frozenset("abb art ch cap eq fig kap no par sec tab".split())
"""Words of these that are others without a number behind their full stop: `Fig. 3`."""


class Heading(NamedTuple):
    """The type, title and tags in a heading, without its time."""

    type: EntryType
    title: str
    tags: Texts


def read_heading(raw: str) -> Heading:
    """Parses the text of a heading after its time: `[type:] [title] [#tags]`."""
    title, tags = read_title(raw)
    match = _TYPE.match(title)
    if not match:
        return Heading("note", title, tags)
    return Heading(resolve_type(match[1]), title[match.end() :], tags)


def split_agent_mark(raw: str) -> tuple[str, str | None]:
    """(the heading without the comment `by=`, the name of the agent in that comment or
    None).
    """
    mark = BY_MARK.search(raw)
    return (raw[: mark.start()], unquote(mark[1])) if mark else (raw, None)


def read_title(raw: str) -> tuple[str, Texts]:
    """(title, tags) of a heading's text that has no type."""
    if "#" not in raw:
        return unescape_title(raw.strip(" \t")), ()
    title, trailing = _split_tags(_CLOSING.sub("", raw.strip(" \t")))
    inline = (tag for _, _, tag in inline_tags(title))
    return unescape_title(title), unique((*inline, *trailing))


def resolve_type(name: str) -> EntryType:
    """The type of this name or synonym in any case. Raises InvalidArgument with all of them."""
    match_valid_name((*TYPES, *SYNONYMS), name, "type")
    return match_valid_name(TYPES, SYNONYMS.get(name.strip().lower(), name), "type")


def notices_of_synonyms(names: Iterable[str]) -> list[str]:
    """A notice for each name that is a synonym of an entry type, such as `todo`, and not a type
    itself.
    """
    text = "The type {name} was taken for {type}."
    taken = [name for name in names if name.lower() in SYNONYMS]
    return [Sentence(text, name=name, type=SYNONYMS[name.lower()]) for name in taken]


def clean_title(title: str) -> tuple[str, Texts]:
    """(the title without the tags at its end, these tags)."""
    tags: Texts = ()
    while True:
        shorter, trailing = _split_tags(title)
        if shorter == title:
            return title, tags
        title = shorter
        tags = (*trailing, *tags)


def _split_tags(raw: str) -> tuple[str, Texts]:
    """(the text before the tags at its end, these tags)."""
    raw = raw.strip(" \t")
    end = len(raw)
    tags = []
    for start, stop, tag in reversed(inline_tags(raw)):
        if raw[stop:end].strip(" \t,"):
            break
        tags.append(tag)
        end = start
    return raw[:end].rstrip(" \t"), tuple(reversed(tags))


def unescape_title(raw: str) -> str:
    r"""Removes the backslashes of `\#` and `\<private>` in a title."""
    if "\\" not in raw:
        return raw
    return unescape_tags(_ESCAPED_HASH.sub(r"\1#", raw))


def escape_title(title: str, tags: Collection[str]) -> tuple[str, Texts]:
    r"""Returns (the title with characters escaped so that a heading can hold it, the tags that
    readers still find in it).

    A `#` gets a backslash only if it would be read as a tag or as a closing sequence. Tags
    within the title stay as they are if `tags`, the tags of the entry, hold them all.
    """
    raw = _CLOSING.sub(r"\\\g<0>", _HASH_AFTER_BACKSLASH.sub(r"\\\1#", title))
    inline_spans = inline_tags(raw)
    inline = unique(tag for _, _, tag in inline_spans)
    if set(inline).issubset(tags) and _split_tags(raw)[0] == raw:
        return raw, inline
    return insert_backslashes(raw, [start for start, _, _ in inline_spans]), ()


def join_heading(time: str, kind: str, title: str, tags: Iterable[str], level: int) -> str:
    """Builds a heading line. `note:` is added if the title would otherwise be read as a type, a
    time or a date.
    """
    reads_as_time = _READS_AS_TIME if time else TIME
    prefix = "" if kind == "note" else f"{kind}:"
    has_head = _TYPE.match(title) or reads_as_time.match(title)
    if not prefix and (has_head or (not time and read_date_of_heading(title, 0, TIME))):
        prefix = "note:"
    words = ["#" * level, time, prefix, title, *(f"#{tag}" for tag in tags)]
    return " ".join(filter(None, words))


_IMAGE = re.compile(r"!\[([^]\n]*)]\([^)\n]*\)")


def make_title(content: str) -> str:
    """A title for a text that has none: the whole text if it is one short plain line, else its
    first sentence.
    """
    is_short = len(content) <= _HEADING_ONLY and "\n" not in content
    is_plain = not _NOT_PROSE.match(content) and not leading_markup(content)
    has_picture = is_short and _IMAGE.search(content)
    if is_short and is_plain and not has_picture and clean_title(content.strip())[0] == content:
        return content
    return derive_title(content)


def derive_title(content: str) -> str:
    """The first sentence of the first paragraph as a title: without markup and tags at its end,
    at most 72 characters. Without a sentence, the columns of a table come before a property.

    | text                                   | title           |
    |----------------------------------------|-----------------|
    | `hours:: 3.5`, then `Mended the pump.` | Mended the pump |
    | `hours:: 3.5`, then `| Part | Price |` | Part, Price     |
    | `hours:: 3.5`                          | hours:: 3.5     |
    | `- [ ] Call Bob due:2026-12-04`        | Call Bob        |
    """
    lines = without_conflict_marks(content[:20_000]).split("\n")
    filled = [i for i, line in enumerate(lines) if line.strip()][:50]
    prose = [i for i in filled if not _NOT_PROSE.match(lines[i])]
    others = sorted(filled, key=lambda i: bool(_PROPERTY.match(lines[i])))
    for start in [*prose, *others]:
        title = _first_sentence(list(takewhile(str.strip, lines[start : start + 5])))
        if title:
            return title
    return "Untitled"


def _ends_sentence(end: re.Match[str]) -> bool:
    """True for a mark of _SENTENCE_END that is not the full stop of an abbreviation, an initial
    or a day: `am 3. November`.
    """
    word = end["word"]
    if not word:
        return word is None or not _DAY.search(end.string, 0, end.start())
    is_short = len(word) == 1 or (_CONSONANTS.fullmatch(word) and not word.isupper())
    counts = word.lower() in _BEFORE_NUMBERS and end.string[end.end() :].lstrip()[:1].isdigit()
    return not (is_short or counts or word.lower() in _ABBREVIATIONS)


def _first_sentence(lines: list[str]) -> str:
    row = _TABLE_ROW.fullmatch(lines[0])
    if row:
        cells = filter(None, map(str.strip, row[1].split("|")))
        lines = [", ".join(cells)]
    opening = leading_markup(lines[0])
    text = lines[0][len(opening) :]
    if not opening.strip():  # a sentence may run over hard-wrapped lines
        more = takewhile(
            lambda line: not (leading_markup(line).strip() or _NOT_PROSE.match(line)), lines
        )
        text = " ".join(more) or text
    text = _IMAGE.sub(r"\1", text[:1000])
    text = " ".join(without_emphasis(text).split())
    if "[" in opening:  # a task may move to another day
        text = remove_due_date(text) or text
    ends = (end.end() for end in _SENTENCE_END.finditer(text) if _ends_sentence(end))
    text = text[: next(ends, None)]
    return clean_title(shorten(text.removesuffix("."), _TITLE_LENGTH))[0]


def without_emphasis(text: str) -> str:
    """Removes the marks of emphasis from a line, but not from code and names like `__init__`.

    | line                            | without emphasis       |
    |---------------------------------|------------------------|
    | `***Notes***`, `**_Notes_**`    | `Notes`                |
    | `~~Old~~ and **new**`           | `Old and new`          |
    | `2*3*4`, `a_b_c`, `__init__`    | the same               |
    """
    parts = _CODE_SPAN.split(text)
    for number in range(0, len(parts), 2):
        for pattern in _EMPHASIS:
            parts[number] = pattern.sub(r"\1", parts[number])
    return "".join(parts)


def shorten(text: str, most: int) -> str:
    """The text, cut after a word and with an ellipsis if it has more than `most` characters."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return (cut.rpartition(" ")[0] or cut).rstrip(" ,;:") + "…"


def leading_markup(line: str) -> str:
    """The marks of lists, quotations and headings with which a line begins."""
    match = _MARKUP.match(line)
    return match[0] if match else ""


class Comment(NamedTuple):
    """The parsed `<!-- syn:` line of an entry: its id, its keys as written (`raw`), its time,
    its other attributes (`values`), and problems. Unknown or unreadable keys are in
    `values["extra"]`.
    """

    id: str | None
    raw: dict[str, str]
    at: datetime | None
    values: Json
    problems: list[Sentence]


def _decode_text(value: str) -> str | None:
    return unquote(value) or None


def _decode_texts(value: str) -> Texts:
    return tuple(unquote(part) for part in value.split(",") if part)


def _decode_files(value: str) -> Pairs:
    """(path, fingerprint) of each file in `src/a.py@3f9a0c1d2e4b,src/b.py`; the fingerprint is
    "" if it is missing.
    """
    files = []
    for part in value.split(","):
        path, *fingerprint = re.split(_FINGERPRINT, part, maxsplit=1)
        if path:
            files.append((unquote(path), "".join(fingerprint)))
    return tuple(files)


def _decode_moment(value: str) -> datetime | None:
    if not value:
        return None
    try:
        return datetime.fromisoformat(unquote(value))
    except ValueError:
        raise ValueError(Sentence("it is not a time like 2026-11-03T14:00:00+01:00")) from None


def _decode_day(value: str) -> str | None:
    if not value:
        return None
    try:
        return date.fromisoformat(unquote(value)).isoformat()
    except ValueError:
        raise ValueError(Sentence("it is not a date like 2026-11-03")) from None


def _decode_identity(value: str) -> str | None:
    if value and not re.fullmatch(f"[0-9a-f]{{{IDENTITY_DIGITS}}}", value):
        raise ValueError(Sentence("it is not a hash of {n} hex digits", n=IDENTITY_DIGITS))
    return value or None


def _decode_importance(value: str) -> int | None:
    if not value:
        return None
    number = int(value) if re.fullmatch("[0-9]{1,3}", value) else -1
    if number not in range(11):
        raise ValueError(Sentence("it is not a whole number from 0 to 10"))
    return number


_DECODERS: dict[str, Callable[[str], Any]] = {
    "at": _decode_moment,
    "h2": str,
    "own": str,
    "importance": _decode_importance,
    "project": _decode_text,
    "branch": _decode_text,
    "remote": _decode_identity,
    "root": _decode_identity,
    "parent": _decode_text,
    "supersedes": _decode_texts,
    "files": _decode_files,
    "expires": _decode_day,
    "due": _decode_day,
    "by": _decode_text,
    "via": _decode_text,
    "pin": lambda value: True,
}
"""The keys of an entry's comment in their order, and the functions that parse their values."""


@lru_cache(1024)  # a day's file is read again for each save
def read_comment(text: str) -> Comment:
    """Parses the `<!-- syn:` line of an entry."""
    fields = COMMENT_START.sub("", text, count=1).removesuffix("-->")
    first, *words = fields.split() or [""]
    problems = []
    if not text.endswith("-->"):
        problems.append(Sentence("the `<!-- syn:` comment has no --> at its end"))
    id = first.lower() if ID.match(first.lower()) else None
    if id is None:
        text = "{first!r} is not an id; an id is 8 digits, a dash and 8 letters or digits"
        problems.append(Sentence(text, first=first[:40]))
    raw: dict[str, str] = {}
    values: Json = {}
    extra = []
    for word in words:
        key, _, value = word.partition("=")
        try:
            values.setdefault(key, _DECODERS[key](value))
            raw.setdefault(key, value)
        except KeyError:
            extra.append((key, unquote(value)))
        except ValueError as error:
            extra.append((key, unquote(value)))
            message = "{word} cannot be read: {reason}"
            problems.append(Sentence(message, word=word[:80], reason=error.args[0]))
    files = values.pop("files", ())
    values["files"] = tuple(path for path, _ in files)
    values["fingerprints"] = tuple(file for file in files if file[1])
    values["extra"] = tuple(extra)
    values.pop("h2", None)
    values.pop("own", None)
    return Comment(id, raw, values.pop("at", None), values, problems)


def write_comment(entry: Entry, at: str | None, own: Sequence[str] | None = None) -> str:
    """The `<!-- syn:` line of an entry, without keys that have their default value. `own` are
    the hashes of the H2s of its body (`hash_of_heading`); for a person's entry only their
    number is written.
    """
    fingerprints = dict(entry.fingerprints)
    files = []
    for path in entry.files:
        fingerprint = f"@{fingerprints[path]}" if path in fingerprints else ""
        files.append(encode_word(path) + fingerprint)
    values = {key: getattr(entry, key, None) for key in _DECODERS}
    values |= {"at": at, "h2": None, "own": None, "files": ",".join(files), "pin": None}
    if own is not None:
        values["h2"] = len(own)
        values["own"] = ",".join(own) if writer_of(entry) else None
    values["supersedes"] = ",".join(map(encode_word, entry.supersedes))
    words = [f"syn:{entry.id}"]
    for key, value in values.items():
        text = encode_word(value or "") if _DECODERS[key] is _decode_text else value
        if text not in (None, ""):
            words.append(f"{key}={text}")
    if entry.pin:
        words.append("pin")
    for key, value in entry.extra:
        words.append(f"{key}={encode_word(value)}" if value or "<" in key else key)
    return f"<!-- {' '.join(words)} -->"


def writer_of(entry: Entry) -> str:
    """The agent or program that wrote an entry, as one word; "" for a person."""
    if entry.by == PERSON:
        return ""
    is_import = (entry.via or "").startswith("import:")
    return encode_word(entry.by or (entry.via if is_import else "") or "")


def hash_of_heading(line: str) -> str:
    """Six hex digits that identify a heading line, read as Latin-1, within its file."""
    number = zlib.crc32(line.strip(" \t\r\n").encode("latin-1"))
    return f"{number & 0xFFFFFF:06x}"


def encode_word(value: str) -> str:
    """Encodes a value as one word of an HTML comment: characters that would end the word or the
    comment are percent-encoded.
    """
    return _ENCODED.sub(
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), value
    )


def unique(values: Iterable[str]) -> Texts:
    """The values without duplicates, in the order of their first appearance."""
    return tuple(dict.fromkeys(values))
