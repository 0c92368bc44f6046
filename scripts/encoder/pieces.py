"""Keeps the pieces of words that the frequent words of 42 languages need most.

    python scripts/encoder/pieces.py --weights FOLDER --out FOLDER --count 128000

`--weights` holds what train.py wrote, for a model whose tokenizer is a Unigram one (Kudo 2018).
Writes model.safetensors, config.json and sentencepiece.model with fewer pieces. A piece counts as
often as wordfreq's words of a language use it. Its rank in a language is divided by the
language's weight, and its best rank in any language decides. Kept beside them: each piece of
one sign, and the most usual pieces without a letter. Beyond `--count` come the most probable
pieces of scripts of which wordfreq knows no language.
"""

from __future__ import annotations

import argparse
import io
import json
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import wordfreq
from safetensors.numpy import load_file, save_file
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer, sentencepiece_model_pb2

from synaptic.index.tokenizing import SENTENCE_PIECES, WORD_START

LANGUAGES = {
    **dict.fromkeys(
        "bg bn ca da el fa fi fil hu is lt lv mk ms nb ro sh sk sl ta ur".split(), 1
    ),
    **dict.fromkeys("ar cs he hi id sv tr vi".split(), 2),
    **dict.fromkeys("nl pl uk".split(), 3),
    **dict.fromkeys("it ko pt ru".split(), 4),
    **dict.fromkeys("es fr".split(), 5),
    "de": 6,
    **dict.fromkeys("ja zh".split(), 9),
    "en": 12,
}
"""The weight of each language of wordfreq's large lists. Chosen on German, Chinese, Japanese and
English questions: with all languages alike German loses .04 of nDCG@10.
"""
MANY_WORDS = frozenset(
    "en de fr es it pt nl ru ja zh pl sv ko tr uk cs fi hu da nb el ro ar he vi id hi fa".split()
)
"""Languages of which 60,000 words are read; of the others 30,000."""
CAPITALISED = frozenset("de en fr es it pt nl pl sv ru".split())
"""Languages whose words are read with a capital letter, too."""
SCRIPTS = {
    "THAI": 4_400,
    **dict.fromkeys(
        "ARMENIAN ETHIOPIC GEORGIAN GUJARATI GURMUKHI KANNADA KHMER LAO MALAYALAM MYANMAR "
        "SINHALA TELUGU".split(),
        300,
    ),
}
"""How many pieces of a script are kept that no language of wordfreq is written in; the script as
the Unicode names of its letters begin. Thai has all of its pieces: with 1,200 a Thai journal loses
.12 of nDCG@10.
"""
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
SIGNS = 4_500
"""Pieces without a letter, by the tokenizer's own scores."""

WORDS = "embeddings.word_embeddings.weight"

Piece = tuple[str, float]
"""Its text, and the logarithm of its probability."""
Array = Any


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=128_000)
    options = parser.parse_args()
    tokenizer = SentencePieceProcessor(model_file=str(options.weights / SENTENCE_PIECES))
    count = tokenizer.get_piece_size()
    pieces = [(tokenizer.id_to_piece(n), tokenizer.get_score(n)) for n in range(count)]
    chosen = choose_pieces(pieces, best_ranks(tokenizer, count), options.count)
    options.out.mkdir(parents=True, exist_ok=True)
    weights = load_file(options.weights / "model.safetensors")
    weights[WORDS] = np.ascontiguousarray(weights[WORDS][chosen])
    save_file(weights, options.out / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((options.weights / "config.json").read_text(encoding="utf-8"))
    config["vocab_size"] = len(chosen)
    (options.out / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    write_pieces([pieces[place] for place in chosen], options.out / SENTENCE_PIECES)
    print(f"{len(chosen):,} of {len(pieces):,} pieces")


def best_ranks(tokenizer: SentencePieceProcessor, count: int) -> Array:
    """The best rank of each piece in any language, divided by the language's weight; infinite
    where no word needs it.
    """
    best = np.full(count, np.inf)
    for language, weight in sorted(LANGUAGES.items()):
        uses = piece_uses(tokenizer, language, count)
        order = np.argsort(-uses, kind="stable")
        ranks = np.empty(count)
        ranks[order] = np.arange(count)
        ranks[uses <= 0] = np.inf
        best = np.minimum(best, ranks / weight)
    return best


def piece_uses(tokenizer: SentencePieceProcessor, language: str, count: int) -> Array:
    """How often each piece occurs in the words of a language, as shares of all words."""
    frequencies = wordfreq.get_frequency_dict(language, "best")
    words = sorted(frequencies, key=lambda word: -frequencies[word])
    words = words[: 60_000 if language in MANY_WORDS else 30_000]
    if language in CAPITALISED:
        words += [word.capitalize() for word in words]
    uses = np.zeros(count, np.float32)
    for word, places in zip(words, tokenizer.encode(words), strict=True):
        frequency = frequencies.get(word.lower()) or frequencies.get(word, 0)
        for place in places:
            uses[place] += frequency
    return uses


def choose_pieces(pieces: list[Piece], ranks: Array, count: int) -> list[int]:
    """The places of the pieces to keep, in their order."""
    texts = [text.replace(WORD_START, "") for text, _ in pieces]
    chosen = set(range(len(SPECIAL)))
    chosen |= {place for place, text in enumerate(texts) if len(text) <= 1}
    by_score = sorted(range(len(SPECIAL), len(pieces)), key=lambda place: -pieces[place][1])
    signs = [place for place in by_score if not any(map(str.isalpha, texts[place]))]
    chosen |= set(signs[:SIGNS])
    for place in np.argsort(ranks, kind="stable").tolist():
        if len(chosen) >= count or not np.isfinite(ranks[place]):
            break
        chosen.add(place)
    for script, kept in SCRIPTS.items():
        chosen.update(
            [place for place in by_score if is_written_in(script, texts[place])][:kept]
        )
    return sorted(chosen)


def is_written_in(script: str, text: str) -> bool:
    """True if each sign of a piece is of this script."""
    return bool(text) and all(unicodedata.name(sign, "").startswith(script) for sign in text)


def write_pieces(pieces: list[Piece], path: Path) -> None:
    """Writes a tokenizer of these pieces, whose first four are `SPECIAL`, for the library
    sentencepiece. It reads texts as that of XLM-R does: by the library's rule `nmt_nfkc`, with
    one blank between words and one before the first.
    """
    model = train_smallest()
    for text, score in pieces[len(SPECIAL) :]:
        model.pieces.add(piece=text, score=score)
    model.trainer_spec.vocab_size = len(pieces)
    path.write_bytes(model.SerializeToString())


def train_smallest() -> Any:
    """A tokenizer whose pieces are `SPECIAL`. It is a trained one, for only training puts the
    table of a rule into a file; what it has learned is taken out.
    """
    file = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c"]),
        model_writer=file,
        normalization_rule_name="nmt_nfkc",
        vocab_size=8,
        hard_vocab_limit=False,
        minloglevel=2,
        bos_id=SPECIAL.index("<s>"),
        pad_id=SPECIAL.index("<pad>"),
        eos_id=SPECIAL.index("</s>"),
        unk_id=SPECIAL.index("<unk>"),
    )
    content = file.getvalue()
    model = sentencepiece_model_pb2.ModelProto.FromString(content)  # type: ignore[attr-defined]
    del model.pieces[len(SPECIAL) :]
    return model


if __name__ == "__main__":
    main()
