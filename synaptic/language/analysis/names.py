"""Everything that a text names: what the journal knows, what is quoted, and what is spelled
like a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...notes.blocks import project_key, slug_tag
from ..lexicon import STOP_WORDS, compiled, is_tool
from .asked import NO_NAMES, QUESTIONS

LONGEST_NAME = 4
"""Words that a name has at most. By eye."""

_TOKEN = r"""
"[^"]{2,120}"|“[^”]{2,120}”|(?:[#@]|~?\.{0,2}/)?\w[\w'./\\:+&-]*""".strip()


@dataclass(frozen=True, slots=True)
class Known:
    """The names that the journal uses: tags, projects and files in lower case, and other names
    by their lower case.
    """

    tags: Collection[str] = ()
    projects: Collection[str] = ()
    files: Collection[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EntityMention:
    """`type` is person, location, organization, project, event, tool, file, tag or unknown."""

    name: str
    type: str


class Token(NamedTuple):
    """A quotation, word, path, tag or identifier of a text, and its characters."""

    start: int
    end: int
    word: str


class Names:
    """The names in a text, beside those that the journal knows."""

    def __init__(self, text: str, known: Known) -> None:
        self._text, self._names = text, known.names
        self._marked = _marked(known)
        self._tokens = []
        for found in compiled(_TOKEN).finditer(text):
            word = found[0].rstrip("'./\\:&-")
            self._tokens.append(Token(found.start(), found.start() + len(word), word))

    def all(self) -> tuple[EntityMention, ...]:
        """Each name once, in the order of the text; of two that begin together the longer."""
        found = []
        place = 0
        while place < len(self._tokens):
            count, mention = self._marked_at(place) or self._written_at(place)
            place += count
            if mention:
                found.append(mention)
        return tuple(dict.fromkeys(found))

    def _marked_at(self, place: int) -> tuple[int, EntityMention] | None:
        """(the number of words of a tag, project or file that begins here, its name)."""
        tokens = self._tokens[place : place + LONGEST_NAME]
        for count in range(len(tokens), 0, -1):
            written = self._text[tokens[0].start : tokens[count - 1].end]
            key = _key(written.removesuffix("'s"))
            mention = self._marked.get(key) or self._marked.get(key.removesuffix("s"))
            if mention and (key not in STOP_WORDS or written.startswith("#")):
                return count, mention
        return None

    def _written_at(self, place: int) -> tuple[int, EntityMention | None]:
        """(the number of words that are read, the quotation or the name that they spell)."""
        token = self._tokens[place]
        bare = token.word.removesuffix("'s")
        if bare[0] in '"“':
            return 1, EntityMention(bare.strip('"“”').strip(), "unknown")
        kind = _kind_of_word(bare)
        if kind:
            return 1, EntityMention(bare, kind)
        run = self._run(place)
        name = " ".join(run)
        end = token.start + len(name)
        after = self._text[end : end + 40]
        before = self._text[max(0, token.start - 40) : token.start].lower()
        opens = self._text[: token.start].rstrip()[-1:] in ".!?:"  # as does the first word
        is_lone = len(run) == 1 and not bare.isupper() and bare.lower() not in self._names
        if (
            opens
            and is_lone
            and not (_first("kind_after", after) or _first("kind_before", before))
        ):
            run = []
        if not run or (opens and bare.lower() in QUESTIONS.asking):
            return 1, None
        return len(run), EntityMention(name, _kind(name, before, after))

    def _run(self, place: int) -> list[str]:
        """The words from here on that one name may have: capitals with a blank between them."""
        run: list[str] = []
        end = self._tokens[place].start - 1
        for token in self._tokens[place : place + LONGEST_NAME]:
            bare = token.word.removesuffix("'s")
            name = self._names.get(bare.lower(), bare)
            is_name = name[0].isupper() and len(bare) > 1 and bare.lower() not in NO_NAMES
            if not is_name or token.start != end + 1:
                break
            run.append(name)
            end = token.end
        return run


def _marked(known: Known) -> dict[str, EntityMention]:
    """Tags, projects and files by their keys; a file also by its name, unless two share it."""
    marked = {tag: EntityMention(tag, "tag") for tag in known.tags}
    for project in known.projects:
        marked[_key(project)] = EntityMention(project, "project")
    names = Counter(path.rpartition("/")[2] for path in known.files)
    for path in known.files:
        name = path.rpartition("/")[2]
        marked[_key(path)] = EntityMention(path, "file")
        if names[name] == 1:
            marked[_key(name)] = EntityMention(path, "file")
    return marked


def _key(written: str) -> str:
    """The form in which names of tags, projects and files are compared."""
    return slug_tag(project_key(written))


def _kind(name: str, before: str, after: str) -> str:
    """The kind of a name, by its form and by the words around it."""
    if name.lower() in QUESTIONS.events:
        return "event"
    return (
        _first("kind_last_word", name.lower())
        or _first("kind_after", after)
        or _first("kind_before", before)
        or "unknown"
    )


def _kind_of_word(word: str) -> str | None:
    """The kind that a single word has by its form alone."""
    is_named_so = is_tool(word) or compiled(QUESTIONS.pattern("tool_word")).match(word)
    return _first("kind_by_form", word.lower()) or ("tool" if is_named_so else None)


def _first(kinds: str, text: str) -> str | None:
    """The first of these kinds whose pattern fits the text."""
    for kind, pattern in QUESTIONS.patterns(kinds).items():
        if compiled(pattern).search(text):
            return kind
    return None
