"""Merges three versions of one journal file, entry by entry. Pure.

Two machines append to the same day. A merge by lines sees two texts at one place and reports a
conflict, or finds equal lines in different entries and mixes them. Entries have ids, so each is
merged by itself (`entry_merge`), and within it each line (`line_merge`):

| ours                | theirs              | result                                          |
|---------------------|---------------------|-------------------------------------------------|
| as it was           | edited, or deleted  | theirs (and the other way round)                |
| added               | added               | both, by time, after the entry above them       |
| edited              | edited alike        | once                                            |
| one part edited     | another part edited | both edits                                      |
| text added below    | text added below    | both texts, ours first                          |
| edited              | edited otherwise    | both texts, in a conflict within the entry      |
| edited              | deleted             | the edit, if it is more than a rewritten link,  |
|                     |                     | and a decision                                  |
| put in other order  | in the old order    | the new order                                   |

What both sides changed at places apart, so that git would merge it without a conflict, keeps
the order of its lines, also where a heading that came or went cuts the entries otherwise.

A file that cannot be read as entries without doubt is merged by lines. That could double a
saved entry or tear a private passage, so a file with either becomes one conflict of both
versions.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from ...errors import JournalError
from ...notes.privacy import has_private_tag
from .entry_merge import conflict_text, merge_piece, merge_text
from .line_merge import merge_apart, reads_alike, words_of
from .pieces import Decision, Piece, find_line_end, split_version

_BOM = b"\xef\xbb\xbf"
_ID = re.compile(rb"<!--[ \t]*syn:[0-9]{8}-[0-9a-z]{8}")


class MergedFile(NamedTuple):
    """The bytes of a merged file, the number of conflicts in it that a person must
    settle.
    """

    data: bytes
    conflicts: int
    decisions: tuple[Decision, ...] = ()


def merge(base: bytes, ours: bytes, theirs: bytes, path: str, day_file: str) -> MergedFile:
    """Merges three versions of the journal file `path`, entry by entry; returns the file with
    the additions and edits of both sides. In a conflict an entry holds both texts.

    `path` is relative to the journal. The BOM is that of ours. Raises JournalError for a file
    that is not text.
    """
    if ours in (base, theirs):
        return MergedFile(theirs, 0)
    if theirs == base:
        return MergedFile(ours, 0)
    bom = _BOM if ours.startswith(_BOM) else b""
    texts = [data.removeprefix(_BOM) for data in (base, ours, theirs)]
    done = _merge_by_entries(texts, path, day_file)
    is_conflict = not done or done.conflicts > 0
    done = _merge_lines_apart(texts, path, day_file, is_conflict=is_conflict) or done
    eol = find_line_end(ours)
    if not done and not any(has_private_tag(text) or _ID.search(text) for text in texts):
        if any(b"\0" in text for text in texts):
            raise JournalError(f"{path} is not text.")
        whole = merge_text(*(Piece(b"", b"", text, b"") for text in texts))
        # without a conflict the text of one side could end in an entry of the other
        if whole.conflicts or not any(_has_entries(text, path, day_file) for text in texts):
            done = MergedFile(whole.text, whole.conflicts)
    if not done:
        done = MergedFile(conflict_text(texts[1], texts[2], eol) + eol, 1)
    return done._replace(data=bom + done.data)


def _has_entries(text: bytes, path: str, day_file: str) -> bool:
    version = split_version(text, path, day_file)
    return bool(version and version.pieces)


def _merge_by_entries(texts: Sequence[bytes], path: str, day_file: str) -> MergedFile | None:
    """Merges `texts` (base, ours, theirs) entry by entry; None if the entries of a version or
    of the result cannot be told with certainty.
    """
    base = split_version(texts[0], path, day_file)
    mine = split_version(texts[1], path, day_file, is_side=True)
    other = split_version(texts[2], path, day_file, is_side=True)
    if base is None or mine is None or other is None:
        return None
    has_pieces = base.pieces or mine.pieces or other.pieces
    if not has_pieces and any(b"\0" in text for text in texts):
        return None
    frame = mine if texts[1].strip() else other
    for may_join in (True, False):
        rest = _merge_pieces_in_order(base.pieces, mine.pieces, other.pieces, may_join=may_join)
        pieces = [merge_text(base.head, mine.head, other.head), *rest]
        if len(pieces) > 1 and not (texts[1].strip() and texts[2].strip()):
            pieces[0] = frame.head  # of a file that one deleted
        data = b"".join(piece.text + piece.gap for piece in pieces[:-1])
        data += pieces[-1].text + frame.end
        read = split_version(data, path, day_file)
        # none lost and none mixed
        if read and _piece_texts([read.head, *read.pieces]) == _piece_texts(pieces):
            taken = chain.from_iterable(piece.decisions for piece in pieces)
            decisions = [one._replace(about=one.about or path, path=path) for one in taken]
            return MergedFile(data, sum(piece.conflicts for piece in pieces), (*decisions,))
    return None


def _merge_lines_apart(
    texts: Sequence[bytes], path: str, day_file: str, *, is_conflict: bool
) -> MergedFile | None:
    """Merges `texts` (base, ours, theirs) as git does where the changes of both sides are at
    places apart; else None. An entry that both changed may be a conflict to people all the
    same: then only where a heading that came or went cut its text otherwise.
    """
    lines = merge_apart(*texts)
    if lines is None or not reads_alike([*lines], b"", texts):
        return None
    if is_conflict and all(_is_cut_alike(texts[0], one, path, day_file) for one in texts[1:]):
        return None
    data = b"".join(line.data for line in lines)
    return MergedFile(data, 0) if split_version(data, path, day_file) else None


def _is_cut_alike(one: bytes, other: bytes, path: str, day_file: str) -> bool:
    """True if no heading that only one of two versions has cuts a text of the other. Told by
    the lines that stand in one piece of each.
    """
    places = []
    for data in (one, other):
        version = split_version(data, path, day_file, is_side=True)
        pieces = [version.head, *version.pieces] if version else []
        numbers: dict[bytes, set[int]] = defaultdict(set)
        for number, piece in enumerate(pieces):
            for line in piece.text.split(b"\n"):
                numbers[line.strip()].add(number)
        places.append({line: min(some) for line, some in numbers.items() if len(some) == 1})
    pairs = {(places[0][line], places[1][line]) for line in places[0].keys() & places[1].keys()}
    return all((here == 0) == (there == 0) for here, there in pairs) and len(pairs) == len(
        {here for here, _ in pairs}
    ) == len({there for _, there in pairs})


def _piece_texts(pieces: Iterable[Piece]) -> list[bytes]:
    return [piece.text for piece in pieces]


# -- which pieces are one entry, and in which order they stand
# ------------------------------------------------------------------------


def match_pieces(
    one: list[Piece], other: list[Piece], *, added: bool = False
) -> dict[Piece, Piece]:
    """Maps each piece of `one` to the same piece in `other`: by id, or without an id by the
    whole text; then, unless both sides `added` them, by the heading, and by a time that stands
    once in both. Equal pieces are matched in order.
    """
    counts = [Counter(piece.time for piece in pieces) for pieces in (one, other)]
    keys: list[Callable[[Piece], object]] = [lambda piece: piece.id or piece.text]
    if not added:
        keys.append(lambda piece: piece.heading)
        keys.append(
            lambda piece: (
                piece if any(count[piece.time] > 1 for count in counts) else piece.time
            )
        )
    pairs: dict[Piece, Piece] = {}
    for key in keys:
        waiting: dict[object, deque[Piece]] = defaultdict(deque)
        for piece in one:
            if piece not in pairs:
                waiting[key(piece)].append(piece)
        matched = set(pairs.values())
        for piece in other:
            candidates = waiting[key(piece)] if piece not in matched else ()
            for candidate in candidates:
                if candidate.id == piece.id or None in (candidate.id, piece.id):
                    pairs[candidate] = piece
                    waiting[key(piece)].remove(candidate)
                    break
    return pairs


def _merge_pieces_in_order(
    base: list[Piece], ours: list[Piece], theirs: list[Piece], *, may_join: bool
) -> Iterator[Piece]:
    """Yields the merged pieces of the new file, in the order of ours, or of theirs if they
    alone were put in another order. Deleted pieces are left out.

    A piece that only one side has comes after the piece above it there. If both sides have such
    pieces at one place, time decides.
    """
    here = match_pieces(base, ours)
    there = match_pieces(base, theirs)
    old_of = {piece: old for old, piece in [*here.items(), *there.items()]}
    twins = {piece: there[old] for old, piece in here.items() if old in there}
    new_here = [piece for piece in ours if piece not in old_of]
    new_there = [piece for piece in theirs if piece not in old_of]
    twins |= match_pieces(new_here, new_there, added=True)
    ours_of = {other: piece for piece, other in twins.items()}
    common = [here[old] for old in base if old in here and old in there]
    first, second = ours, theirs
    is_ordered = [piece for piece in ours if piece in {*common}] == common
    if is_ordered and [twins[piece] for piece in common] != [
        piece for piece in theirs if ours_of.get(piece) in old_of
    ]:
        first, second = theirs, ours
    below: dict[Piece | None, deque[Piece]] = defaultdict(deque)
    above = None
    for piece in second:
        if piece in twins or piece in ours_of:
            above = piece
        elif _survives_deletion(piece, old_of.get(piece)):
            below[above].append(_with_return(piece, old_of.get(piece)))
    waiting = below[None]
    for piece in first:
        twin = twins.get(piece) or ours_of.get(piece)
        if not twin and not _survives_deletion(piece, old_of.get(piece)):
            continue
        while waiting and (twin or _is_earlier(waiting[0], piece)):
            yield waiting.popleft()
        if not twin:
            yield _with_return(piece, old_of.get(piece))
            continue
        mine, other = (piece, twin) if piece in twins else (twin, piece)
        yield merge_piece(old_of.get(piece), mine, other, may_join=may_join)
        waiting = below[twin]
    yield from waiting


def _survives_deletion(piece: Piece, in_base: Piece | None) -> bool:
    """False for a piece that one side deleted and the other side did not edit, but for its
    links. `in_base` is the same piece in the base.
    """
    return in_base is None or words_of(piece.text) != words_of(in_base.text)


def _with_return(piece: Piece, in_base: Piece | None) -> Piece:
    """A piece that one side alone has; with a decision if the other side deleted it."""
    decisions = (Decision("back", piece.key, ""),) if in_base else ()
    return replace(piece, decisions=decisions)


def _is_earlier(one: Piece, other: Piece) -> bool:
    return one.at is not None and other.at is not None and one.at < other.at
