"""The word lists in `data/words/`, and the words that several modules read: the calendar,
numbers, stop words.
"""

import re
import tomllib
from functools import cache, cached_property

from ..files import DATA
from ..kinds import KINDS
from ..models import TYPES, EntryType, Json, Texts

_FOLDER = DATA / "words"
_PIECE = re.compile(r"(?<!\?P)<([a-z_]+)>")
_SENTENCE_END = (
    r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bProf)(?<!\be\.g)(?<!\bi\.e)"
    r"(?<!\bvs)(?<!\betc)(?<!\b[A-Z])[.!?]+[)*_\x1f]*(?=\s|\Z)"
    r"|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+#>|]|\d{1,3}[.)])[ \t])"
)


class Words:
    """The word lists, tables and patterns of one file in `data/words/`; the file is read at the
    first access.

    A list is an attribute: `Words("times").some` is a frozenset. `data/words/shared.toml` says
    how a file is written.
    """

    def __init__(self, name: str) -> None:
        self._path = _FOLDER / f"{name}.toml"

    @cached_property
    def read(self) -> Json:
        """The parsed file: each list, table and section by its name."""
        return tomllib.loads(self._path.read_text("utf-8"))

    def __getattr__(self, name: str) -> frozenset[str]:
        if name not in self.read:
            raise AttributeError(f"{self._path.name} has no list {name!r}")
        words = self.__dict__[name] = frozenset(self.list_in_order(name))
        return words

    def list_in_order(self, name: str) -> Texts:
        """The words of the list `name` in the file's order; an item `@other` is replaced by the
        words of the list `other`.
        """
        words: list[str] = []
        for word in self.read[name].split():
            words += self.list_in_order(word[1:]) if word.startswith("@") else [word]
        return tuple(words)

    def table(self, name: str) -> dict[str, str]:
        """Maps each word of the table `name` to the key under which the file has it."""
        keys: dict[str, str] = {}
        for key, words in self.read[name].items():
            keys |= dict.fromkeys(words.split(), key)
        return keys

    def numbers(self, name: str) -> dict[str, int]:
        """Maps each word of the table `name` to its key, a number."""
        return {word: int(key) for word, key in self.table(name).items()}

    @cache  # noqa: B019 - there are as many objects as files
    def pattern(self, name: str, section: str = "patterns") -> str:
        """The regular expression `name` of a section; each `<piece>` in it is replaced by the
        pattern or list of that name.
        """
        written = self.read[section][name].replace("\n", "")
        return _PIECE.sub(lambda piece: self._piece(piece[1]), written)

    def finder(self, name: str) -> re.Pattern[str]:
        """The pattern `name`, compiled so that it ignores case."""
        return compile_once(self.pattern(name), re.IGNORECASE)

    def _piece(self, name: str) -> str:
        if name in self.read.get("patterns", ()):
            return self.pattern(name)
        return "|".join(self.list_in_order(name)) if name in self.read else SHARED._piece(name)

    def patterns(self, section: str) -> dict[str, str]:
        """Maps the names of all patterns of a section to their regular expressions, in the
        file's order.
        """
        return {name: self.pattern(name, section) for name in self.read[section]}


@cache
def compile_once(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Compiles a regular expression at the first call and caches it for ever; the cache of `re`
    may drop patterns.
    """
    return re.compile(pattern, flags)


SHARED = Words("shared")

MONTH_NAMES, DAY_NAMES = SHARED.list_in_order("month_names"), SHARED.list_in_order("day_names")
MONTHS = {name: number for number, name in enumerate(MONTH_NAMES, 1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
"""Maps each name of a month in lower case, also `jan` and `sept`, to 1 to 12."""

SHORT_DAYS = {name[:3]: number for number, name in enumerate(DAY_NAMES)}
SHORT_DAYS |= {"tues": 1, "thur": 3, "thurs": 3}
WEEKDAYS = {name: number for number, name in enumerate(DAY_NAMES)} | SHORT_DAYS
"""Maps each name of a weekday in lower case, also `mon` and `tues`, to its number; Monday is 0.
"""

COUNTS = {word: number for number, word in enumerate(SHARED.list_in_order("numbers"), 1)}
"""Maps English number words to numbers: one, two, thirty; `a` and `an` are 1."""
COUNTS |= {word: 10 * number for number, word in enumerate(SHARED.list_in_order("tens"), 3)}
COUNTS |= {"a": 1, "an": 1}

STOP_WORDS = SHARED.stop
"""Frequent English words, such as `the` and `of`, that a search ignores."""

TYPE_NAMES: dict[str, EntryType] = {name: name for name in TYPES}
TYPE_NAMES |= {kind.plural: kind.name for kind in KINDS.values()}
"""Maps the name of each entry type, in the singular and the plural, to the type."""

TYPE_WORDS: dict[str, EntryType] = {**TYPE_NAMES, **dict.fromkeys(SHARED.decided, "decision")}
"""Maps words by which people ask for entries of a type, such as `decided`, to the type; the
entries need not contain these words.
"""


def read_type_name(word: str) -> EntryType | None:
    """The entry type that a word names in one of the languages of questions: `Entscheidung`."""
    name = SHARED.table("type_names").get(word.lower())
    return next((type for type in TYPES if type == name), None)


def is_tool(word: str) -> bool:
    """True if a word is the name of a program, library, programming language or service; some
    names, such as Go, count only with a capital.
    """
    lower = word.lower()
    needs_capital = lower in SHARED.tools_with_a_capital
    return lower in SHARED.tools and (word[:1].isupper() or not needs_capital)


def sentence_ends(text: str) -> list[int]:
    """The offset after each sentence of the text: after its full stop, after a blank line, or
    before an item of a list.
    """
    return [end.end() for end in compile_once(_SENTENCE_END).finditer(text)]
