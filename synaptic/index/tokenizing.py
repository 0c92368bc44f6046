"""Text in, tokens out, by the tokenizer of a model's folder.

Importing this module costs nothing: a tokenizer brings its library in. The table of pieces of
the multilingual model takes a third of the memory in sentencepiece that it takes in tokenizers,
and three fifths of the time to load.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol

TOKENIZER_JSON = "tokenizer.json"
"""A file of the library tokenizers, with which most models come."""
SENTENCE_PIECES = "sentencepiece.model"
"""A file of the library sentencepiece, which counts where no tokenizer.json is there."""

WORD_START = "▁"
"""With it begin the tokens of a sentencepiece model that begin a word."""

_JOINER = "\u200d"

Span = tuple[int, int]
"""Where a part of a text begins and ends, in characters."""


class Token(NamedTuple):
    """A token of a text. Tokens that stand for no part of it, at its ends, are special; their
    spans are empty.

    A span includes blanks before a word where the piece stands for them, too.
    """

    id: int
    piece: str
    span: Span
    word: Span
    is_special: bool = False


class Tokenizer(Protocol):
    """Makes tokens of text. May be called from any thread."""

    def tokenize(self, text: str) -> list[Token]:
        """The tokens of a text, cut to the window; the special ones at its ends stay."""


def load_tokenizer(folder: Path, window: int) -> Tokenizer:
    """The tokenizer of a folder, with a window of so many tokens.

    Raises what the library raises where the file is damaged, and OSError where none is there.
    """
    path = tokenizer_file(folder)
    return (JsonTokenizer if path.name == TOKENIZER_JSON else PieceTokenizer)(path, window)


def tokenizer_file(folder: Path) -> Path:
    """The file of a folder's tokenizer: `tokenizer.json`, or else `sentencepiece.model`."""
    path = folder / TOKENIZER_JSON
    return path if path.exists() else folder / SENTENCE_PIECES


class JsonTokenizer:
    """The tokenizer that a `tokenizer.json` describes."""

    def __init__(self, path: Path, window: int) -> None:
        import tokenizers

        self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        self._tokenizer.enable_truncation(window)
        self._tokenizer.no_padding()

    def tokenize(self, text: str) -> list[Token]:
        encoding = self._tokenizer.encode(text)
        tokens = []
        for id, piece, span, word, is_special in zip(
            encoding.ids,
            encoding.tokens,
            encoding.offsets,
            encoding.word_ids,
            encoding.special_tokens_mask,
            strict=True,
        ):
            of_word = None if word is None else encoding.word_to_chars(word)
            tokens.append(Token(id, piece, span, of_word or span, bool(is_special)))
        return tokens


class PieceTokenizer:
    """The tokenizer that a `sentencepiece.model` describes; its `<s>` and `</s>` are put at the
    ends of a text.
    """

    def __init__(self, path: Path, window: int) -> None:
        from sentencepiece import SentencePieceProcessor

        self._pieces = SentencePieceProcessor.from_proto(path.read_bytes())
        self._first, self._last = (
            Token(id, self._pieces.id_to_piece(id), (0, 0), (0, 0), is_special=True)
            for id in (self._pieces.bos_id(), self._pieces.eos_id())
        )
        self._room = window - 2

    def tokenize(self, text: str) -> list[Token]:
        # XLM-R learned that a joiner is a blank; the library's rules have forgotten it since
        text = text.replace(_JOINER, " ")
        encoding = self._pieces.encode(text, return_type="offset_mapping")
        ids, pieces, spans = (
            encoding[key][: self._room] for key in ("ids", "pieces", "offsets")
        )
        words = spans_of_words(pieces, spans)
        return [self._first, *map(Token, ids, pieces, spans, words), self._last]


def spans_of_words(pieces: Sequence[str], spans: Sequence[Span]) -> list[Span]:
    """The span of each piece's word, which lasts until a piece begins another one."""
    begins = [at for at, piece in enumerate(pieces) if at == 0 or piece.startswith(WORD_START)]
    words: list[Span] = []
    for first, after in pairwise([*begins, len(pieces)]):
        words += [(spans[first][0], spans[after - 1][1])] * (after - first)
    return words
