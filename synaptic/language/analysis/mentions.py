"""Everything that a text names: what the journal knows first, then what looks like a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ..lexicon import STOP_WORDS
from ..patterns import compiled
from .name_words import NO_NAMES
from .names import Token, kind_of, named_by_form, tokens_of
from .shapes import EntityMention, Known

_QUOTED = r'"([^"]{2,120})"|“([^”]{2,120})”'


class Mention(NamedTuple):
    """Something named, and what of the journal it is."""

    entity: EntityMention
    tag: str = ""
    project: str = ""
    file: str = ""


def mentions_of(text: str, known: Known) -> list[Mention]:
    """Everything that the text names, in its order."""
    tokens = tokens_of(text)
    found: dict[int, Mention] = {}
    taken: set[int] = set()
    for place, count, mention in _known_mentions(text, tokens, known):
        run = range(place, place + count)
        if taken.isdisjoint(run):
            found[tokens[place].start] = mention
            taken.update(run)
    for quoted in compiled(_QUOTED).finditer(text):
        inside = {n for n, token in enumerate(tokens) if quoted.start() <= token.start < quoted.end()}
        if inside and taken.isdisjoint(inside):
            found[quoted.start()] = Mention(EntityMention((quoted[1] or quoted[2]).strip(), "unknown"))
            taken |= inside
    for start, entity in named_by_form(text, tokens, taken):
        found[start] = Mention(entity)
    return [found[start] for start in sorted(found)]


def _known_mentions(text: str, tokens: list[Token], known: Known) -> Iterator[tuple[int, int, Mention]]:
    """(first token, how many, mention) of what the journal knows, the longest first."""
    joins = [text[one.end : other.start] in (" ", "-") for one, other in pairwise(tokens)]
    for count in range(4, 0, -1):
        for place in range(len(tokens) - count + 1):
            if not all(joins[place : place + count - 1]):
                continue
            run = tokens[place : place + count]
            written = " ".join(token.word for token in run)
            bare = written.removesuffix("'s")
            mention = _known_mention(written, run[0].opens, known)
            if mention is None and bare != written:
                mention = _known_mention(bare, run[0].opens, known)
            if mention is None:
                continue
            if not mention.entity.type:
                name, start = mention.entity.name, run[0].start
                mention = mention._replace(entity=EntityMention(name, kind_of(text, start, start + len(bare), name)))
            yield place, count, mention


def _known_mention(written: str, opens: bool, known: Known) -> Mention | None:
    """What of the journal this stretch of the text is; of type "" where it is a name."""
    plain = written.lower().lstrip("#@")
    if len(plain) < 2:
        return None
    if plain in STOP_WORDS and not written.startswith("#"):
        is_name = not opens and written in known.names
        return Mention(EntityMention(written, "")) if is_name else None
    slug = plain.replace(" ", "-")
    tag = next((form for form in (slug, plain, slug.removesuffix("s")) if form in known.tags), "")
    project = next((form for form in (plain, slug) if form in known.projects), "")
    if file := _by_file_name(known.files).get(plain):
        return Mention(EntityMention(file, "file"), tag, project, file)
    if project:
        return Mention(EntityMention(project, "project"), tag, project)
    name = _by_lower_case(known.names).get(plain)
    if name and (written[:1].isupper() or not (tag or plain in NO_NAMES)):
        return Mention(EntityMention(name, ""), tag)
    return Mention(EntityMention(tag, "tag"), tag) if tag else None


@lru_cache(maxsize=4)
def _by_lower_case(names: frozenset[str]) -> Mapping[str, str]:
    return {name.lower(): name for name in sorted(names, reverse=True)}


@lru_cache(maxsize=4)
def _by_file_name(files: frozenset[str]) -> Mapping[str, str]:
    """Each file under its path and, unless two share it, under its name."""
    names = Counter(path.rpartition("/")[2] for path in files)
    alone = {name: path for path in files if names[name := path.rpartition("/")[2]] == 1}
    return {**alone, **{path: path for path in files}}
