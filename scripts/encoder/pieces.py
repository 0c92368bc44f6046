"""Keeps the pieces of words that the frequent words of 42 languages need most.

    python scripts/encoder/pieces.py --weights FOLDER --out FOLDER --count 128000

`--weights` holds what train.py wrote, for a model whose tokenizer is a Unigram one (Kudo 2018).
Writes model.safetensors, config.json and tokenizer.json with fewer pieces. A piece counts as
often as wordfreq's words of a language use it. Its rank in a language is divided by the
language's weight, and its best rank in any language decides. Kept beside them: each piece of
one sign, and the most usual pieces without a letter.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import wordfreq
from safetensors.numpy import load_file, save_file
from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from synaptic.index.embedding import WORD_START

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
    tokenizer = Tokenizer.from_file(str(options.weights / "tokenizer.json"))
    pieces = [(text, score) for text, score in json.loads(tokenizer.to_str())["model"]["vocab"]]
    chosen = choose_pieces(pieces, best_ranks(tokenizer, len(pieces)), options.count)
    options.out.mkdir(parents=True, exist_ok=True)
    weights = load_file(options.weights / "model.safetensors")
    weights[WORDS] = np.ascontiguousarray(weights[WORDS][chosen])
    save_file(weights, options.out / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((options.weights / "config.json").read_text(encoding="utf-8"))
    config["vocab_size"] = len(chosen)
    (options.out / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    rounded = [(pieces[place][0], round(pieces[place][1], 4)) for place in chosen]
    write_tokenizer(rounded, options.out / "tokenizer.json")
    print(f"{len(chosen):,} of {len(pieces):,} pieces")


def best_ranks(tokenizer: Tokenizer, count: int) -> Array:
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


def piece_uses(tokenizer: Tokenizer, language: str, count: int) -> Array:
    """How often each piece occurs in the words of a language, as shares of all words."""
    frequencies = wordfreq.get_frequency_dict(language, "best")
    words = sorted(frequencies, key=lambda word: -frequencies[word])
    words = words[: 60_000 if language in MANY_WORDS else 30_000]
    if language in CAPITALISED:
        words += [word.capitalize() for word in words]
    uses = np.zeros(count, np.float32)
    for word, encoding in zip(
        words, tokenizer.encode_batch(words, add_special_tokens=False), strict=True
    ):
        frequency = frequencies.get(word.lower()) or frequencies.get(word, 0)
        for place in encoding.ids:
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
    return sorted(chosen)


def write_tokenizer(pieces: list[Piece], path: Path) -> None:
    """Writes a tokenizer of these pieces, whose first four are `SPECIAL`."""
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=SPECIAL.index("<unk>")))
    invisible = Regex(r"[\u200b-\u200f\u2060\ufeff\u00ad\x00-\x08\x0b\x0e-\x1f\x7f]")
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFKC(),
            normalizers.Replace(invisible, ""),
            normalizers.Replace(Regex(r"[\s]+"), " "),
            normalizers.Strip(),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(WORD_START, prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(WORD_START, prepend_scheme="always")
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> $B </s>",
        special_tokens=[(text, SPECIAL.index(text)) for text in ("<s>", "</s>")],
    )
    tokenizer.save(str(path))


if __name__ == "__main__":
    main()
