"""Everything that a text names: what the journal knows, what is quoted, and what is spelled
like a name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from ...notes.blocks import project_key, slug_tag
from ..lexicon import STOP_WORDS, compiled, is_tool
from .asked import NO_NAMES, QUESTIONS

LONGEST_NAME = 4
"""Words that a name has at most. By eye."""

_TOKEN = r"""
"[^"]{2,120}"|“[^”]{2,120}”|(?:[#@]|~?\.{0,2}/)?\w[\w'./\\:+&-]*""".strip()


_SIGNS = "'./\\:&-"


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
    """`type` is person, project, tool, file, tag or unknown."""

    name: str
    type: str


def entities_of(text: str, known: Known) -> tuple[EntityMention, ...]:
    """Each name once, in the order of the text; of two that begin together the longer."""
    marked = _marked(known)
    tokens = list(compiled(_TOKEN).finditer(text))
    found = []
    place = 0
    while place < len(tokens):
        beside = tokens[place : place + LONGEST_NAME]
        count, mention = _marked_at(text, beside, marked) or _written_at(text, beside, known)
        place += count
        if mention:
            found.append(mention)
    return tuple(dict.fromkeys(found))


def _marked_at(
    text: str, tokens: list[re.Match[str]], marked: Mapping[str, EntityMention]
) -> tuple[int, EntityMention] | None:
    """(the number of words of a tag, project or file that begins here, its name)."""
    for count in range(len(tokens), 0, -1):
        written = _bare(text[tokens[0].start() : tokens[count - 1].end()])
        key = _key(written)
        mention = marked.get(key) or marked.get(key.removesuffix("s"))
        if mention and (key not in STOP_WORDS or written.startswith("#")):
            return count, mention
    return None


def _written_at(
    text: str, tokens: list[re.Match[str]], known: Known
) -> tuple[int, EntityMention | None]:
    """(the number of words that are read, the quotation or the name that they spell)."""
    bare = _bare(tokens[0][0])
    if bare[0] in '"“':
        return 1, EntityMention(bare.strip('"“”').strip(), "unknown")
    for kind, pattern in QUESTIONS.patterns("kind_by_form").items():
        if compiled(pattern).search(bare.lower()):
            return 1, EntityMention(bare, kind)
    if is_tool(bare) or compiled(QUESTIONS.pattern("tool_word")).match(bare):
        return 1, EntityMention(bare, "tool")
    run: list[str] = []
    end = tokens[0].start() - 1
    for token in tokens:  # capitals with a blank between them
        word = _bare(token[0])
        name = known.names.get(word.lower(), word)
        is_name = name[0].isupper() and len(word) > 1 and word.lower() not in NO_NAMES
        if not is_name or token.start() != end + 1:
            break
        run.append(name)
        end = token.start() + len(token[0].rstrip(_SIGNS))
    opens = text[: tokens[0].start()].rstrip()[-1:] in ".!?:"  # as does the first word
    is_lone = len(run) == 1 and not bare.isupper() and bare.lower() not in known.names
    if not run or (opens and (is_lone or bare.lower() in QUESTIONS.asking)):
        return 1, None
    return len(run), EntityMention(" ".join(run), "unknown")


def _bare(word: str) -> str:
    """The word without the marks that end it."""
    return word.rstrip(_SIGNS).removesuffix("'s")


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
