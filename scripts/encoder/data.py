"""Makes the training pairs of the encoder from the archive of sources and our own pairs.

    python scripts/encoder/data.py --sources sources.tar.xz --out pairs.jsonl

| kind     | query                                    | passage                   | source                 |
|----------|------------------------------------------|---------------------------|------------------------|
| asked    | a question in a talk, about its hearer   | the turn that answers     | Synthetic-Persona-Chat |
| told     | a question made of a statement           | the turn that states it   | Synthetic-Persona-Chat |
| meeting  | a person's question about a meeting      | the turns that answer     | QMSum                  |
| section  | a document's title and a heading         | the section               | PEPs, RFCs, KEPs       |
| health   | a question about a disease               | the answer                | MedQuAD                |
| search   | a question typed into a search engine    | the answer                | CLAP NQ                |
| journal  | a question to an own journal             | the entry                 | our own pairs          |

A line is a JSON object: kind, group, query, passage, and others: passages of the same talk,
document or journal that do not answer. `{A}` and `{B}` stand for the names of two speakers.
NOTICE names the licences.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import lzma
import random
import re
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from html import unescape
from pathlib import Path

SOURCES_SHA256 = "99df7034e9a2a240531acaa542642cea59d1ec96a4621d9e2229ff45e4e459b9"
OWN_PAIRS = Path(__file__).with_name("pairs.jsonl.xz")
TURNS_OF_TALK = 7
"""Pairs taken from one talk of two persons."""
LONG_CHARS = 1_000
"""About 230 tokens: the window of a passage in training."""
OTHERS = 2
"""Other passages of a pair."""
STOP_WORDS = frozenset(
    "a an the is are was were be been am do does did of to in on at for with and or what which "
    "who when where how why i my you your me it its this that from by as has have had can could "
    "would should will about we our they their he she his her him so well oh yes no not like "
    "just really".split()
)

Sources = dict[str, bytes]


@dataclass(frozen=True)
class Pair:
    kind: str
    group: str
    query: str
    passage: str
    others: Sequence[str] = field(default_factory=tuple)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sources", type=Path, required=True, help="the archive of sources")
    parser.add_argument("--out", type=Path, required=True, help="write the pairs here")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    pairs = list(all_pairs(read_sources(given.sources), random.Random(given.seed)))
    lines = [json.dumps(asdict(pair), ensure_ascii=False) for pair in pairs]
    given.out.write_text("\n".join(lines), encoding="utf-8")
    for kind in dict.fromkeys(pair.kind for pair in pairs):
        print(f"{sum(pair.kind == kind for pair in pairs):6,} {kind}")


def read_sources(archive: Path) -> Sources:
    """The files of the archive by their path; exits if it is another archive."""
    data = archive.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != SOURCES_SHA256:
        raise SystemExit(f"{archive} has the sha256 {found}, not {SOURCES_SHA256}.")
    files: Sources = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as opened:
        for member in opened.getmembers():
            file = opened.extractfile(member)
            if file:
                files[member.name] = file.read()
    return files


def all_pairs(files: Sources, choose: random.Random) -> Iterator[Pair]:
    yield from persona_talks(files, choose)
    yield from meetings(files, choose)
    yield from sections(files, choose)
    yield from health(files, choose)
    yield from searches(files, choose)
    yield from own_pairs(choose)


# -- talks of two persons


def persona_talks(files: Sources, choose: random.Random) -> Iterator[Pair]:
    """Questions of a talk with the turn that answers, and statements put as questions."""
    for part in ("valid", "test"):
        data = files[f"{SPC}/data/Synthetic-Persona-Chat_{part}.csv"].decode()
        for number, row in enumerate(csv.reader(io.StringIO(data))):
            turns = re.findall(r"(?m)^User ([12]):\s*(.+)$", row[-1])
            if len(turns) < 6:
                continue
            found = [
                *asked_in(turns),
                *told_in(turns, choose),
                *personas_in(row, turns, choose),
            ]
            choose.shuffle(found)
            texts = [f"{SLOTS[speaker]}: {text.strip()}" for speaker, text in turns]
            for kind, query, at in found[:TURNS_OF_TALK]:
                same = [
                    text
                    for place, text in enumerate(texts)
                    if place != at and turns[place][0] == turns[at][0]
                ]
                before = [texts[at - 1]] if kind == "asked" and choose.random() < 0.5 else []
                others = before or nearest(query, same, 1)
                yield Pair(
                    kind, f"{part}{number}", query, texts[at], [*others, choose.choice(same)]
                )


SPC = "google-research-datasets+Synthetic-Persona-Chat"
SLOTS = {"1": "{A}", "2": "{B}"}
Turns = Sequence[tuple[str, str]]
Found = tuple[str, str, int]
"""Kind, query and place of the turn."""

_SMALL_TALK = re.compile(
    r"(?i)(how are you|how about you|what about you|and you\?|how's it going|nice to meet"
    r"|really\?|right\?|how are things|how was your day|what's up|you too|what else|how is it"
    r"|is that so|can i |may i )"
)
_OPENING = re.compile(
    r"^(?i:so|well|oh|wow|and|but|yeah|yes|no|ok|okay|cool|nice|great|also|actually|recently"
    r"|that's [a-z]+|haha|hey|hi|hello)[,!.]?\s+"
)
_VAGUE = re.compile(
    r"(?i)\b(glad|sorry|sure|happy to|thank|welcome|agree|know what|say about their name"
    r"|good point|idea)\b"
)
_TO_THIRD_PERSON = (
    (r"\bare you\b", "is {who}"),
    (r"\bdo you\b", "does {who}"),
    (r"\bhave you\b", "has {who}"),
    (r"\bwere you\b", "was {who}"),
    (r"\b(did|can|would|will|could) you\b", r"\1 {who}"),
    (r"\byour\b", "{who}'s"),
    (r"\byou're\b", "{who} is"),
    (r"\byou've\b", "{who} has"),
    (r"\byou\b", "{who}"),
)
_FROM_FIRST_PERSON = (
    (r"\bI'm\b", "they are"),
    (r"\bI\b", "they"),
    (r"\bmyself\b", "themselves"),
    (r"\b[Mm]y\b", "their"),
    (r"\bme\b", "them"),
)
_PAST = {
    "went": "go",
    "bought": "buy",
    "got": "get",
    "saw": "see",
    "made": "make",
    "had": "have",
    "took": "take",
    "met": "meet",
    "found": "find",
    "lost": "lose",
    "won": "win",
    "started": "start",
    "visited": "visit",
    "moved": "move",
    "worked": "work",
    "played": "play",
    "grew": "grow",
    "ate": "eat",
    "read": "read",
    "wrote": "write",
    "learned": "learn",
    "studied": "study",
    "graduated": "graduate",
    "adopted": "adopt",
    "joined": "join",
    "watched": "watch",
    "tried": "try",
    "used": "use",
}


def asked_in(turns: Turns) -> Iterator[Found]:
    """The last question of each turn, put about its hearer, with the next turn."""
    for place, (speaker, text) in enumerate(turns[:-1]):
        hearer, answer = turns[place + 1]
        questions = re.findall(r"[^.!?]+\?", text)
        if hearer == speaker or len(answer.split()) < 5 or not questions:
            continue
        question = _OPENING.sub("", questions[-1].strip())
        if _SMALL_TALK.search(question) or len(question.split()) < 4:
            continue
        query = replaced(question, _TO_THIRD_PERSON, SLOTS[hearer])
        if query != question and usable(query, 1):
            yield "asked", query[0].upper() + query[1:], place + 1


def told_in(turns: Turns, choose: random.Random) -> Iterator[Found]:
    """A question for each statement that a template fits, with its turn."""
    for place, (speaker, text) in enumerate(turns):
        for sentence in re.split(r"(?<=[.!?])\s+", text):
            queries = [query for query in put(sentence, SLOTS[speaker]) if usable(query, 2)]
            if queries:
                yield "told", choose.choice(queries), place


def personas_in(row: Sequence[str], turns: Turns, choose: random.Random) -> Iterator[Found]:
    """A line of what is known of a speaker, with the turn that tells most of it."""
    for persona, speaker in ((row[0], "1"), (row[1], "2")):
        for line in persona.split("\n"):
            known = content_words(line)
            shares = [
                (len(known & content_words(text)) / max(1, len(known)), place)
                for place, (who, text) in enumerate(turns)
                if who == speaker
            ]
            share, place = max(shares, default=(0.0, 0))
            if share < 0.5 or len(known) < 2:
                continue
            queries = [query for query in put(line, SLOTS[speaker]) if usable(query, 2)]
            said = replaced(line.strip(), _FROM_FIRST_PERSON, "").replace(
                "they are", f"{SLOTS[speaker]} is"
            )
            yield "told", choose.choice(queries) if queries else said, place


def put(sentence: str, who: str) -> list[str]:
    """The questions that a statement of this person answers."""
    sentence = _OPENING.sub("", sentence.strip().rstrip(".!"))
    did = re.match(r"I (\w+) (.{6,90})$", sentence)
    am = re.match(r"(?:I'm|I am) (.{6,80})$", sentence)
    my = re.match(r"[Mm]y (.{3,40}?) (is|are|was|were) (.{2,80})$", sentence)
    if did:
        return put_verb(did[1].lower(), did[2], who)
    if am:
        state = replaced(" ".join(am[1].split()[:7]), _FROM_FIRST_PERSON, "")
        return [f"Is {who} {state}?"]
    if my:
        return [f"What {my[2]} {who}'s {my[1]}?", f"What did {who} say about their {my[1]}?"]
    return []


def put_verb(verb: str, rest: str, who: str) -> list[str]:
    words = rest.split()
    short = replaced(" ".join(words[:7]), _FROM_FIRST_PERSON, "")
    last = replaced(" ".join(words[-3:]), _FROM_FIRST_PERSON, "")
    if verb in _PAST:
        bare = _PAST[verb]
        return [
            f"When did {who} {bare} {short}?",
            f"What did {who} {bare}?",
            f"{who} {verb} {short}",
        ]
    if verb in ("love", "like", "enjoy", "prefer", "hate"):
        return [f"What does {who} {verb}?", f"How does {who} feel about {last}?"]
    if verb in ("work", "live", "study"):
        return [f"Where does {who} {verb}?", f"Where does {who} {verb} now?"]
    if verb in ("have", "own"):
        return [f"Does {who} have {short}?"]
    if verb in ("want", "plan", "hope", "need"):
        return [f"Does {who} {verb} {short}?", f"What does {who} {verb}?"]
    return []


def replaced(text: str, table: Sequence[tuple[str, str]], who: str) -> str:
    for pattern, new in table:
        text = re.sub(pattern, new.replace("{who}", who), text, flags=re.IGNORECASE)
    return text


def usable(query: str, least_words: int) -> bool:
    said = re.sub(r"\{[AB]\}('s)?", "", query)
    return not _VAGUE.search(said) and len(content_words(said)) >= least_words


# -- meetings, documents, answers


def meetings(files: Sources, choose: random.Random) -> Iterator[Pair]:
    """Questions with the meeting's turns that answer, from the one that fits best."""
    for path in sorted(files):
        if "QMSum" not in path or not path.endswith("train.jsonl"):
            continue
        for number, line in enumerate(files[path].decode().strip().split("\n")):
            if not line.endswith("}"):
                continue  # the archive cuts one file within its last line
            told = json.loads(line)
            turns = [
                re.sub(r"\{\w+\}\s*", "", f"{turn['speaker']}: {turn['content']}")
                for turn in told["meeting_transcripts"]
            ]
            for asked in told["specific_query_list"]:
                spans = [range(int(a), int(b) + 1) for a, b in asked["relevant_text_span"]]
                inside = {place for span in spans for place in span if place < len(turns)}
                good = [turns[place] for place in inside if len(turns[place].split()) > 12]
                outside = [
                    turn
                    for place, turn in enumerate(turns)
                    if place not in inside and len(turn.split()) > 12
                ]
                query = re.sub(r"\{\w+\}\s*", "", asked["query"])
                if not good or not outside:
                    continue
                (best,) = nearest(f"{asked['answer']} {query}", good, 1)
                begin = turns.index(best)
                passage = "\n".join(turns[begin : begin + 6])[:LONG_CHARS]
                others = nearest(query, choose.sample(outside, min(40, len(outside))), OTHERS)
                yield Pair("meeting", f"{path}{number}", query, passage, others)


def sections(files: Sources, choose: random.Random) -> Iterator[Pair]:
    """Sections of design documents, asked by the title and the heading."""
    paths = [path for path in sorted(files) if is_design(path)]
    choose.shuffle(paths)
    for path in paths[:1_600]:
        text = files[path].decode(errors="replace")
        if path.endswith(".rst"):
            title = re.search(r"(?m)^Title:\s*(.+)$", text)
            parts = re.split(r"(?m)^(.{4,80})\n[=\-~]{4,}\n", text)
        else:
            title = re.search(r"(?m)^# (?:Title:)?\s*(?:KEP-\d+:)?\s*(.+)$", text)
            parts = re.split(r"(?m)^#{2,4}\s+(.+)\n", text)
        name = title[1] if title else re.sub(r"^.*/\d*-?|\.md$", "", path).replace("-", " ")
        found = []
        for heading, body in zip(parts[1::2], parts[2::2], strict=False):
            body = re.sub(r"(?s)<!--.*?-->", "", body).strip()
            if len(body) > 150:
                found.append((heading.strip("# []").split("](")[0], body[:LONG_CHARS]))
        for heading, body in choose.sample(found, min(2, len(found))):
            query = choose.choice(
                [
                    f"{name}: {heading}",
                    f"{heading} of {name}",
                    f"what did we decide about {heading.lower()} in {name}?",
                    f"{name} {heading}".lower(),
                ]
            )
            rest = [other for _, other in found if other != body]
            if rest:
                yield Pair("section", path, query[:160], body, nearest(query, rest, OTHERS))


def is_design(path: str) -> bool:
    return bool(
        re.search(r"python\+peps/peps/pep-\d+\.rst$|rust-lang\+rfcs/text/.*\.md$", path)
        or re.search(r"kubernetes\+enhancements/keps/.*README\.md$", path)
    )


def health(files: Sources, choose: random.Random) -> Iterator[Pair]:
    """Questions about diseases; the others are the answers to its other questions."""
    paths = [path for path in sorted(files) if "MedQuAD" in path and path.endswith(".xml")]
    choose.shuffle(paths)
    for path in paths:
        text = files[path].decode(errors="replace")
        found = [
            (unescape(question).strip(), unescape(answer).strip()[:LONG_CHARS])
            for question, answer in re.findall(
                r"(?s)<Question[^>]*>(.*?)</Question>\s*<Answer>(.*?)</Answer>", text
            )
            if len(answer) > 100
        ]
        if len(found) < 2:
            continue
        query, answer = choose.choice(found)
        others = [other for asked, other in found if asked != query and other != answer]
        if others:
            query = query.replace("(are) ", "").replace(" ?", "?")
            yield Pair("health", path, query, answer, others[:OTHERS])


def searches(files: Sources, choose: random.Random) -> Iterator[Pair]:
    """Questions as people type them, with the answer."""
    path = next(path for path in files if path.endswith("question_train_answerable.tsv"))
    for number, query, _, answers, *_ in re.findall(
        r"(?m)^(-?\d+)\t(.*)\t(.*)\t(.*)$", files[path].decode()
    ):
        answer = re.sub(r" ([.,;:)]|'\w+|-)", r"\1", answers.split("::")[0].replace("``", '"'))
        if len(answer) > 60:
            yield Pair("search", number, query, answer[:LONG_CHARS])


def own_pairs(choose: random.Random) -> Iterator[Pair]:
    """Pairs written for this project; the others are entries of the same journal."""
    if not OWN_PAIRS.exists():
        return
    lines = lzma.decompress(OWN_PAIRS.read_bytes()).decode().splitlines()
    told = [json.loads(line) for line in lines]
    journals: dict[str, list[str]] = defaultdict(list)
    for one in told:
        journals[one["journal"]].append(one["passage"])
    for one in told:
        rest = [text for text in journals[one["journal"]] if text != one["passage"]]
        others = one.get("others") or nearest(one["query"], rest, OTHERS)
        yield Pair("journal", one["journal"], one["query"], one["passage"], others)


def nearest(query: str, texts: Iterable[str], count: int) -> list[str]:
    """The texts with most words of the query."""
    words = content_words(query)
    return sorted(texts, key=lambda text: -len(words & content_words(text)))[:count]


def content_words(text: str) -> set[str]:
    return {
        word for word in re.findall(r"[a-z0-9]{2,}", text.lower()) if word not in STOP_WORDS
    }


if __name__ == "__main__":
    main()
