"""The type, complexity, intent and names of a question. Pure: rules in tables.

The rules read English; of any other text they say `factual`, `general`, `low`. Features and
the rows of types stand in `data/words/questions.toml`. To change a decision, change a row; to
change what a row notices, change its features.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ...models import Json, frozen
from ...notes.blocks import project_key, slug_tag
from ..lexicon import STOP_WORDS, compile_once, is_tool
from .asked import NO_NAMES, QUESTIONS, Asked

INFO_TYPES = QUESTIONS.table("info_types")

MAX_ENTITIES = 24
LONGEST_NAME = 4
"""Words that a name has at most. By eye."""

_TOKEN = r"""(?:"[^"]{2,120}"|“[^”]{2,120}”|(?:[#@]|~?\.{0,2}/)?\w[\w'./\\:+&-]*)"""
_SIGNS = "'./\\:&-"
"""Marks that end a word and do not belong to it."""


class JournalNames(NamedTuple):
    """The tags, projects and files of the journal in lower case, which a question may name."""

    tags: Collection[str] = ()
    projects: Collection[str] = ()
    files: Collection[str] = ()


@frozen
class EntityMention:
    """A name in a question; `type` is person, project, tool, file, tag or unknown."""

    name: str
    type: str


class Question:
    """A question on one line, without words such as "tell me", and the features that its words
    show.
    """

    def __init__(self, asked: Asked) -> None:
        request = QUESTIONS.finder("asking_to_be_told")
        short = QUESTIONS.finder("short_is")
        self.line = short.sub(r"\1 is", request.sub("", asked.read, count=1) or asked.read)
        self.has_range = asked.time_range is not None
        self._features = QUESTIONS.patterns("features")

    def find(self, feature: str, start: int = 0) -> re.Match[str] | None:
        """The first match of a feature's pattern from the offset `start` on."""
        return compile_once(self._features[feature], re.IGNORECASE).search(self.line, start)

    def shows(self, *features: str) -> bool:
        """True if the question has any of these features."""
        return any(self.find(feature) for feature in features)

    def count(self, feature: str) -> int:
        """The number of matches of a feature's pattern."""
        matches = compile_once(self._features[feature], re.IGNORECASE).finditer(self.line)
        return len(list(matches))


def analyze(query: str, asked: Asked, names: JournalNames) -> Json:
    """The analysis of a query, as JSON. Any text has one; the empty text is a plain fact.

    | query                                     | type        | intent    | complexity |
    |-------------------------------------------|-------------|-----------|------------|
    | "What port does the worker use?"          | factual     | attribute | low        |
    | "When did we move to Postgres?"           | temporal    | temporal  | low        |
    | "Is Redis or Postgres better for queues?" | comparative | general   | medium     |
    """
    entities = find_entities(asked.read, names)[:MAX_ENTITIES]
    question = Question(asked)
    question_type, confidence = _question_type(question)
    complexity = _rate_complexity(question, question_type)
    intent = _classify_intent(question, question_type, complexity, entities)
    info_types = [value for feature, value in INFO_TYPES.items() if question.shows(feature)]
    info_types.append(QUESTIONS.read["info_of_type"].get(question_type))
    times = asked.time_range
    span = times and {"start": times.start, "end": times.end, "phrase": times.phrase}
    return {
        "query": query,
        "text": asked.text,
        "intent": intent,
        "target": _find_target(question, intent, entities),
        "temporal_reference": "recent" if asked.recent else times and times.phrase,
        "time_range": span,
        "entities": entities,
        "question_type": question_type,
        "complexity": complexity,
        "confidence": confidence,
        "info_types": list(dict.fromkeys(filter(None, info_types))) or ["fact"],
    }


def _question_type(question: Question) -> tuple[str, float]:
    """(type, confidence) of a question; the fewer other types fit, the higher the
    confidence.
    """
    fitting = []
    for question_type, features in QUESTIONS.read["types"]:
        if question_type not in fitting and _has_features(
            question, question_type, features.split()
        ):
            fitting.append(question_type)
    if fitting:
        return fitting[0], round(max(0.5, 1.1 - 0.15 * len(fitting)), 2)
    if not question.line:
        return "factual", 0.0
    return "factual", 0.7 if question.shows("asks") else 0.4


def _has_features(question: Question, question_type: str, features: list[str]) -> bool:
    start = 0
    itself = question.find("itself")
    if itself and question_type == "multi-hop":  # the description of what is sought is no hop
        start = itself.end()
    if features == ["what_did"] and not (question.has_range or question.shows("in_time")):
        return False
    return any(question.find(feature, start) for feature in features)


def _rate_complexity(question: Question, question_type: str) -> str:
    """How complex a question is. low: one fact; medium: a condition, a time, two sides, a how
    or why; high: several clauses or steps.
    """
    parts = question.count("second_clause") + question.count("condition")
    if question_type == "temporal":
        parts += question.shows("orders", "what_did")
    else:
        parts += question.has_range
    if question_type == "multi-hop" or parts > 1:
        return "high"
    is_plain = question_type in ("factual", "temporal")
    if question_type == "aggregation":
        is_plain = question.shows("one_clause")
    return "low" if is_plain and not parts else "medium"


def _classify_intent(
    question: Question, question_type: str, complexity: str, entities: tuple[EntityMention, ...]
) -> str:
    """Returns what kind of fact a question asks for: temporal, relation, entity, attribute or
    general.
    """
    if question_type == "temporal" or question.shows("opens_with_when"):
        return "temporal"
    if question_type == "comparative":
        return "attribute" if question.shows("measured") else "general"
    if question.shows("binds"):
        return "relation"
    if question_type == "conceptual" or not question.line:
        return "general"
    if question_type == "aggregation":
        if question.shows("counted"):
            return "attribute"
        kinds = {one.type for one in entities if not one.name.isupper()}
        is_about = kinds - {"tool", "tag", "file"} or question.shows("about")
        return "entity" if complexity != "high" and is_about else "general"
    if question_type == "multi-hop" and question.shows("leads_to"):
        return "relation"
    if question.shows("about", "a_thing"):
        return "entity"
    is_yes_or_no = question_type == "factual" and question.shows("yes_or_no")
    return "general" if is_yes_or_no else "attribute"


def _find_target(
    question: Question, intent: str, entities: tuple[EntityMention, ...]
) -> dict[str, str | None]:
    """The aim of a question: the attribute of an entity, or its relation."""
    target = {"entity": entities[0].name if entities else None}
    for name, feature in (("attribute", "attribute"), ("relation", "binds")):
        match = question.find(feature) if intent == name else None
        target[name] = match[match.lastindex or 0].lower() if match else None
    return target


# -- names: what the journal knows, what is quoted, what is spelled like one


def find_entities(text: str, names: JournalNames) -> tuple[EntityMention, ...]:
    """The names in a text, each once, in their order; of two that begin at the same word the
    longer.
    """
    marked = _mentions_by_key(names)
    tokens = list(compile_once(_TOKEN).finditer(text))
    mentions = []
    index = 0
    while index < len(tokens):
        beside = tokens[index : index + LONGEST_NAME]
        count, mention = _marked_at(text, beside, marked) or _name_at(text, beside)
        index += count
        if mention:
            mentions.append(mention)
    return tuple(dict.fromkeys(mentions))


def _marked_at(
    text: str, tokens: list[re.Match[str]], marked: Mapping[str, EntityMention]
) -> tuple[int, EntityMention] | None:
    """(the number of words, the mention) of the tag, project or file that begins at the first
    token.
    """
    for count in range(len(tokens), 0, -1):
        written = _strip_punctuation(text[tokens[0].start() : tokens[count - 1].end()])
        key = _comparison_key(written)
        mention = marked.get(key) or marked.get(key.removesuffix("s"))
        if mention and (key not in STOP_WORDS or written.startswith("#")):
            return count, mention
    return None


def _name_at(text: str, tokens: list[re.Match[str]]) -> tuple[int, EntityMention | None]:
    """(the number of words that are read, the quotation or the name that they spell)."""
    bare = _strip_punctuation(tokens[0][0])
    if bare[0] in '"“':
        return 1, EntityMention(bare.strip('"“”').strip(), "unknown")
    for kind, pattern in QUESTIONS.patterns("kind_by_form").items():
        if compile_once(pattern).search(bare.lower()):
            return 1, EntityMention(bare, kind)
    if is_tool(bare) or compile_once(QUESTIONS.pattern("tool_word")).match(bare):
        return 1, EntityMention(bare, "tool")
    run = []
    end = tokens[0].start() - 1
    for token in tokens:  # capitals with a blank between them
        word = _strip_punctuation(token[0])
        is_name = word[0].isupper() and len(word) > 1 and word.lower() not in NO_NAMES
        if not is_name or token.start() != end + 1:
            break
        run.append(word)
        end = token.start() + len(word)
    opens = text[: tokens[0].start()].rstrip()[-1:] in ".!?:"  # as does the first word
    is_lone = len(run) == 1 and not bare.isupper()
    if not run or (opens and (is_lone or bare.lower() in QUESTIONS.asking)):
        return 1, None
    return len(run), EntityMention(" ".join(run), "unknown")


def _strip_punctuation(word: str) -> str:
    """The word without the punctuation at its end."""
    return word.rstrip(_SIGNS).removesuffix("'s")


def _mentions_by_key(names: JournalNames) -> dict[str, EntityMention]:
    """Tags, projects and files by their keys; a file also by its name, unless two share it."""
    marked = {tag: EntityMention(tag, "tag") for tag in names.tags}
    for project in names.projects:
        marked[_comparison_key(project)] = EntityMention(project, "project")
    file_names = Counter(path.rpartition("/")[2] for path in names.files)
    for path in names.files:
        name = path.rpartition("/")[2]
        marked[_comparison_key(path)] = EntityMention(path, "file")
        if file_names[name] == 1:
            marked[_comparison_key(name)] = EntityMention(path, "file")
    return marked


def _comparison_key(written: str) -> str:
    """The form in which names of tags, projects and files are compared."""
    return slug_tag(project_key(written))
