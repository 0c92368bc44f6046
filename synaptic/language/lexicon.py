"""The word lists in `data/words/`, and the words that several modules read: the calendar,
numbers, stop words.
"""

import re
import tomllib
from collections.abc import Iterable
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
    """The lists, tables and patterns of one file in `data/words/`, read when the first of them
    is needed.

    A list is an attribute: `Words("times").some` is a frozenset. `data/words/shared.toml` says
    how a file is written.
    """

    def __init__(self, name: str) -> None:
        self._path = _FOLDER / f"{name}.toml"

    @cached_property
    def read(self) -> Json:
        return tomllib.loads(self._path.read_text("utf-8"))

    def __getattr__(self, name: str) -> frozenset[str]:
        if name not in self.read:
            raise AttributeError(f"{self._path.name} has no list {name!r}")
        words = self.__dict__[name] = frozenset(self.ordered(name))
        return words

    def ordered(self, name: str) -> Texts:
        """The words of a list in their order; `@name` stands for those of another list."""
        words: list[str] = []
        for word in self.read[name].split():
            words += self.ordered(word[1:]) if word.startswith("@") else [word]
        return tuple(words)

    def table(self, name: str) -> dict[str, str]:
        """For each word of a table the key under which it stands."""
        keys: dict[str, str] = {}
        for key, words in self.read[name].items():
            keys |= dict.fromkeys(words.split(), key)
        return keys

    def numbers(self, name: str) -> dict[str, int]:
        """For each word of a table the number under which it stands."""
        return {word: int(key) for word, key in self.table(name).items()}

    @cache  # noqa: B019 - there are as many objects as files
    def pattern(self, name: str, section: str = "patterns") -> str:
        """A regular expression, with the pieces that it names."""
        written = self.read[section][name].replace("\n", "")
        return _PIECE.sub(lambda piece: self._piece(piece[1]), written)

    def finder(self, name: str) -> re.Pattern[str]:
        """The compiled pattern, which finds letters of either case."""
        return compile_once(self.pattern(name), re.IGNORECASE)

    def _piece(self, name: str) -> str:
        if name in self.read.get("patterns", ()):
            return self.pattern(name)
        return "|".join(self.ordered(name)) if name in self.read else SHARED._piece(name)

    def patterns(self, section: str) -> dict[str, str]:
        """All patterns of a section by their names, in their order."""
        return {name: self.pattern(name, section) for name in self.read[section]}


@cache
def compile_once(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, compiled when it is first needed, and once; unlike `re`, this never drops it
    for others.
    """
    return re.compile(pattern, flags)


SHARED = Words("shared")

MONTH_NAMES, DAY_NAMES = SHARED.ordered("month_names"), SHARED.ordered("day_names")
MONTHS = {name: number for number, name in enumerate(MONTH_NAMES, 1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
"""Every name of a month, `jan` and `sept` too: 1 to 12."""

SHORT_DAYS = {name[:3]: number for number, name in enumerate(DAY_NAMES)}
SHORT_DAYS |= {"tues": 1, "thur": 3, "thurs": 3}
WEEKDAYS = {name: number for number, name in enumerate(DAY_NAMES)} | SHORT_DAYS
"""Every name of a day of the week: 0 for Monday."""

COUNTS = {word: number for number, word in enumerate(SHARED.ordered("numbers"), 1)}
COUNTS |= {word: 10 * number for number, word in enumerate(SHARED.ordered("tens"), 3)}
COUNTS |= {"a": 1, "an": 1}

STOP_WORDS = SHARED.stop
"""Stop words: they mean nothing by themselves."""

TYPE_NAMES: dict[str, EntryType] = {name: name for name in TYPES}
TYPE_NAMES |= {kind.plural: kind.name for kind in KINDS.values()}
"""Every type, alone and as a plural."""

TYPE_WORDS: dict[str, EntryType] = {**TYPE_NAMES, **dict.fromkeys(SHARED.decided, "decision")}
"""Words by which people ask for notes of a type; the notes themselves need not hold these
words.
"""


def is_tool(word: str) -> bool:
    """True if a word is the name of a program, library, language or service; some need their
    capital to be one.
    """
    lower = word.lower()
    needs_capital = lower in SHARED.tools_with_a_capital
    return lower in SHARED.tools and (word[:1].isupper() or not needs_capital)


def is_foreign(texts: Iterable[str]) -> bool:
    """True if most of these texts are not English: by small words, and by letters that are not
    Latin.

    Four such letters count like a word; a text with neither is ignored.
    """
    votes = 0
    for text in texts:
        words = re.findall(r"[^\W\d_]+", text.lower())
        english = sum(word in SHARED.english for word in words)
        foreign = len(re.findall(r"[\u0370-\u1dff\u2c00-\ufaff]", text)) / 4
        foreign += sum(word in SHARED.foreign for word in words)
        votes += (foreign > english) - (foreign < english)
    return votes > 0


def sentence_ends(text: str) -> list[int]:
    """The offsets after each sentence: after its full stop, after a blank line, or before an
    item of a list.
    """
    return [end.end() for end in compile_once(_SENTENCE_END).finditer(text)]
