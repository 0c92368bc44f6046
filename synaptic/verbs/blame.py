"""Finds the entries that an agent should read before an edit, or after a failed command: those
that name the file or its folder, and those with the same error.

A client waits for the answer, so little is imported, and the index is read as it is. An entry
whose bytes changed since is left out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..config import Config, make_clock
from ..files import read_regular_file
from ..filters import Scope
from ..index.plain_index import IndexedEntry, PlainIndex
from ..index.rows import hash64
from ..journal.projects import NamesInJournal
from ..kinds import KINDS, has_ended
from ..notes.blocks import MASK, decode_body, project_key
from ..workspace.checkout import checkout_around, working_scope
from ..workspace.preferences import (
    CHANGED_END,
    Consent,
    hash_of_text,
    name_with_marks,
    read_log,
)

FILE_BYTES = 4_000_000
"""Entries of a larger file are left out."""
TYPES = tuple(kind.name for kind in KINDS.values() if kind.is_of_files)
"""Types that an edit calls for. Of the labelled calls on which this was chosen, entries of type
insight matter in three of eighteen.
"""
POOL, MOST_WORDS = 25, 60
"""At most this many entries are read, and words of an output are looked up, codes first."""
OUTPUT_CHARS, OUTPUT_LINES, LINE_CHARS, TEXT_CHARS = 200_000, 60, 1000, 20_000
"""The parts of an output, lines at each end, and of an entry that are compared."""
LEAST_WEIGHT, LEAST_SHARE = 3.0, 0.6
SHORT_WEIGHT, SHORT_SHARE = 1.5, 0.9
LONG_WEIGHT, LONG_SHARE = 4.0, 0.3
CODE_WEIGHT = 4.0
"""An error is the same if a line shares words of this weight, and this share of its weight,
with one sentence; a short line must be there nearly whole. The code of an error weighs
CODE_WEIGHT. Measured by `scripts/bench.py actions`.
"""

_COMMON = frozenset(
    """a an and are as at be but by can could did do does for from had has have if in is it its
    not of on or so than that the then there this to was were when with you your
    abort aborted after argument before call called cannot code command committed detail
    err error errors exception exit exited expected failed fails failure fatal file found got
    input invalid last line missing module most named no non-zero null output panic process
    recent received returned run running status stderr stdout such test tests traceback type
    unable undefined unexpected value values warning""".split()
)
_GENERIC = frozenset(
    """__init__ app client config conftest constants index init lib main mod models package
    readme routes schema server settings setup test tests types util utils values
    variables""".split()
)
"""Stems of files that each folder may have."""
_ASIDE = re.compile(
    r"\x1b\[[0-9;]*[A-Za-z]"
    r"|[a-z]+://[^\s'\"<>]+"
    r"|(?<![\w.])(?:[A-Za-z]:)?(?:[\w.@~+-]*[/\\])+[\w.@~+\[\]-]*(?::\d+)*"  # src/a.py:12
    r"|\b0x[0-9a-fA-F]+\b|\b(?=[a-f]*\d)[0-9a-f]{7,}\b"  # 3f9a0c1d
    r"|\b[\w-]+\.[a-z]{1,4}:\d+(?::\d+)?"  # a.py:12
    r"|\b\d[\w.:+-]*"  # 2026-11-20T09:30, 12ms
)
"""Paths, ids, numbers and times, in which the same error differs."""
_WORD = re.compile(r"[^\W\d]\w*(?:[.-][^\W\d]\w*)*")
_CODE = re.compile(r"_|\w\.\w|[a-z][A-Z]|[A-Z]{4}|[A-Z]+\d{2}")
_ERROR_CODE = re.compile(r"E[A-Z]{6,}|[A-Z]{1,4}-?\d{4,}")
"""The code of an error, such as EADDRINUSE, TS2742 or ORA-00942."""
_CLASS = re.compile(r"(?:Error|Exception|Warning)\b")
_SENTENCE = re.compile(r"\n+|(?<=[.;!?])\s+")


class RecalledEntry(NamedTuple):
    """An entry about the edited file or the error, with its text and the `mark` by which it is
    cited. More `weight` fits better.
    """

    entry: IndexedEntry
    text: str
    weight: float
    mark: str = ""


class Target(NamedTuple):
    """A file, as an absolute path and from the root of its checkout, and the project there."""

    path: PurePosixPath
    within: PurePosixPath
    root: Path
    scope: Scope

    def path_endings(self, path: PurePosixPath) -> Iterator[str]:
        """Yields the ends of an absolute path of this checkout that may mean it.

        A part of the path below the root is at least two names long, and no path from the root.
        """
        below = len(path.parts) - len(self.path.parts) + len(self.within.parts)
        for count in range(min(2, below), len(path.parts)):
            end = "/".join(path.parts[-count:])
            if count >= below or not os.path.lexists(self.root / end):
                yield end
        yield str(path)

    def folders(self) -> list[PurePosixPath]:
        """Returns the folder of the file and that above it, but not the root."""
        return list(self.path.parents)[: min(2, len(self.within.parts) - 1)]


class Memory:
    """The index of a home, and the texts of its entries."""

    def __init__(self, config: Config, index: PlainIndex) -> None:
        self.config = config
        self.today = make_clock()().date()
        self.files: dict[str, bytes] = {}
        self.rules = read_log(config.state)
        self._index = index

    def entries_about_file(
        self, file: Path, types: Container[str] = TYPES
    ) -> list[RecalledEntry]:
        """The entries of these types in force that name the file or its folder, the best
        first.
        """
        target = self._resolve_target(file)
        weights = self._weights_by_file_mark(target)
        phrases = [target.path.name]
        for folder in target.folders():
            phrases += ("/".join(folder.parts[-2:]), folder.name)
        rows = self._index.find_entries(
            {*weights, *self._index.entries_matching(phrases, POOL)}
        )
        named = []
        for entry in rows:
            if entry.type not in types:
                continue
            if entry.type != "preference" and self._is_over(entry):
                continue
            if not target.scope.reaches(
                project_key(entry.project or ""), entry.remote, entry.root
            ):
                continue
            text = self._read_entry_text(entry)
            if text is None:
                continue
            by_text = _mention_weight(f"{entry.title}\n{text}", target)
            weight = max(weights.get(entry.rowid, 0), by_text)
            if weight:
                named.append(RecalledEntry(entry, text, weight))
        return self._keep_in_force(named)

    def entries_about_error(self, output: str, folder: Path) -> list[RecalledEntry]:
        """The entries and digests of the folder's project, and of none, that tell of an error
        of this output, the best first.
        """
        errors = _error_words(output)
        weights = {word: error[word] for error in errors for word in error if error[word] >= 1}
        words = sorted(weights, key=weights.__getitem__, reverse=True)
        scope = self._resolve_target(folder / "x").scope
        named = []
        for entry in self._index.find_entries(
            self._index.entries_matching(words[:MOST_WORDS], POOL)
        ):
            text = self._read_entry_text(entry)
            key = project_key(entry.project or "")
            is_foreign = not scope.reaches(key, entry.remote, entry.root)
            if text is None or entry.type == "preference" or is_foreign:
                continue
            weight = _shared_weight(errors, f"{entry.title}\n{text}")
            if weight:
                is_own = key != ""
                named.append(RecalledEntry(entry, text, weight + is_own / 2))
        return self._keep_in_force(named)

    def _resolve_target(self, file: Path) -> Target:
        here = checkout_around(file.parent, self.config, NamesInJournal.of_index(self._index))
        root = here.root if here else file.parent
        path = PurePosixPath(file.as_posix())
        within = path.relative_to(root.as_posix())
        return Target(path, within, root, working_scope(self.config, here))

    def _weights_by_file_mark(self, target: Target) -> dict[int, float]:
        """The weights, by rowid, of the entries that are marked with the file or its folder."""
        ways = dict.fromkeys(target.path_endings(target.path), 4.0)
        for folder in target.folders():
            for end in target.path_endings(folder):
                for ending in ("", "/", "/*", "/**"):
                    ways[end + ending] = 2.5
        weights: dict[int, float] = {}
        for rowid, path in self._index.entries_with_files(list(ways)):
            weights[rowid] = max(weights.get(rowid, 0), ways[path])
        return weights

    def _is_over(self, entry: IndexedEntry) -> bool:
        """True for an entry that expired, and for one that is closed."""
        tags = self._index.tags(entry.rowid)
        return has_ended(entry.type, tags, entry.expires, self.today.isoformat())

    def _read_entry_text(self, entry: IndexedEntry) -> str | None:
        """The text of an entry; None where its file says something else now."""
        if entry.path not in self.files:
            self.files[entry.path] = self._read_journal_file(entry.path)
        data = self.files[entry.path]
        if hash64(data[entry.start : entry.end]) != entry.hash:
            return None
        if MASK in data or re.search(rb"<private", data, re.IGNORECASE):
            from ..notes.privacy import mask_private

            data = mask_private(data)
        body = data[entry.body_start : entry.body_end]
        return decode_body(body, typed=bool(entry.typed)) or entry.title

    def _read_journal_file(self, path: str) -> bytes:
        """The bytes of a file of the journal; none where they may not be read.

        What other programs keep in hidden folders is left out: its secrets would have to be
        sought first.
        """
        name, _, within = path.partition("/")
        roots = self.config.roots
        folder = roots.get(name) if within else None
        if not folder:
            folder = roots[""]
            within = path
        is_others = folder not in (roots[""], roots["@sessions"])
        if is_others and any(part.startswith(".") for part in folder.parts):
            return b""
        with suppress(OSError, ValueError):
            return read_regular_file(folder / within, FILE_BYTES)
        return b""

    def _keep_in_force(self, entries: list[RecalledEntry]) -> list[RecalledEntry]:
        """The entries, the best first, without preferences that wait for a person, or that one
        in force replaces.
        """
        result = []
        for one in sorted(entries, key=lambda one: -one.weight):
            mark = ""
            if one.entry.type == "preference":
                consent = self._consent(one.entry, one.text)
                if consent.word == "waits" or self._is_hidden(one.entry, consent):
                    continue
                mark = consent.mark
            result.append(one._replace(mark=mark))
        return result

    def _consent(self, entry: IndexedEntry, text: str) -> Consent:
        replaced = self._index.ids_superseded_by_entry(entry.rowid)
        project = name_with_marks(entry.project, entry.remote, entry.root)
        reach = entry.type, project, bool(entry.pin)
        rule = hash_of_text(entry.title, text, *reach, entry.expires, replaced)
        return self.rules.consent(entry.own_id, rule)

    def _is_hidden(self, entry: IndexedEntry, consent: Consent) -> bool:
        """True if a preference is over, or if a later entry replaces it: one that a person
        confirmed, only another such one.
        """
        if consent.by != CHANGED_END and self._is_over(entry):
            return True
        replacing = self._index.entries_superseding(entry.own_id)
        if consent.word != "yes" and consent.by != CHANGED_END:
            return bool(replacing)
        for later in self._index.find_entries(replacing):
            text = None if self._is_over(later) else self._read_entry_text(later)
            if text is not None and self._consent(later, text).word == "yes":
                return True
        return False


def _mention_weight(text: str, target: Target) -> float:
    """The weight of a text that names the file, or its folder by a path; else 0."""
    name = target.path.name
    pattern = rf"(?<![\w.-])((?:[\w.@-]+/)*){re.escape(name)}(?![\w-]|\.\w)"
    for prefix in re.findall(pattern, text):
        is_vague = target.path.stem.lower() in _GENERIC
        if f"/{target.path}".endswith(f"/{prefix}{name}") and (prefix or not is_vague):
            return 3
    for folder in target.folders():
        path, last = map(re.escape, ("/".join(folder.parts[-2:]), folder.name))
        if re.search(rf"(?<![\w-])(?:{path}(?![\w-])|(?<![/.]){last}/)(?!/?\w)", text):
            return 2
    return 0


def _weigh_words(text: str) -> dict[str, float]:
    """Maps the words of an error to their weights, without parts that differ each time, such as
    numbers.
    """
    weights = {}
    for word in _WORD.findall(_ASIDE.sub(" ", text)):
        low = word.lower()
        weights[low] = 1.0
        if low in _COMMON or _CLASS.search(word):
            weights[low] = 0.3
        elif _ERROR_CODE.fullmatch(word):
            weights[low] = CODE_WEIGHT
        elif _CODE.search(word):
            weights[low] = 2.0
    return weights


def _error_words(output: str) -> list[dict[str, float]]:
    """The weighted words of each output line that looks like an error, and of each of its
    clauses, which colons separate: `Error: UPGRADE FAILED: another operation is in progress`.
    """
    lines = output[:OUTPUT_CHARS].splitlines()
    if len(lines) > 2 * OUTPUT_LINES:
        lines = lines[:OUTPUT_LINES] + lines[-OUTPUT_LINES:]
    errors = []
    for line in dict.fromkeys(lines):
        whole, *clauses = [line, *line.split(": ")]
        for part, least in ((whole, SHORT_WEIGHT), *((one, LEAST_WEIGHT) for one in clauses)):
            words = _weigh_words(part[:LINE_CHARS])
            if sum(words.values()) >= least:
                errors.append(words)
    return errors


def _holds_code(words: Iterable[str], errors: Sequence[dict[str, float]]) -> bool:
    """True if one of the words is the code of an error."""
    return any(error.get(word) == CODE_WEIGHT for error in errors for word in words)


def _shared_weight(errors: Sequence[dict[str, float]], text: str) -> float:
    """The weight of the words that a line and a sentence share; 0 if the errors differ."""
    best = 0.0
    every = set().union(*errors)
    for sentence in _SENTENCE.split(text[:TEXT_CHARS]):
        shared_words = _weigh_words(sentence[:LINE_CHARS]).keys() & every
        if len(shared_words) < 2 and not _holds_code(shared_words, errors):
            continue
        for words in errors:
            shared = sum(words[word] for word in shared_words & words.keys())
            share = shared / sum(words.values())
            is_long = shared >= LEAST_WEIGHT and share >= LEAST_SHARE
            is_long = is_long or (shared >= LONG_WEIGHT and share >= LONG_SHARE)
            if is_long or (shared >= SHORT_WEIGHT and share >= SHORT_SHARE):
                best = max(best, shared)
    return best
