"""Trains the encoder on the pairs of data.py, from the original fp32 weights.

    python scripts/encoder/train.py --pairs pairs.jsonl --weights FOLDER --out FOLDER --seed 1

`--weights` holds model.safetensors, config.json and a tokenizer. Texts begin with the words
that data/models.toml names for the model that config.json names. The loss is InfoNCE over
the passages of a batch: each query is to be nearer to its passage than to all others (van den
Oord et al. 2018). Each query brings one hard negative. The embeddings and the lower layers
stay as they are. The weights of the runs with each `--seed` are averaged, and a share of the
original weights is mixed in, which keeps what was known of other texts (model soups and WiSE-FT, Wortsman et
al. 2022).

unpack.py writes the `--weights`; data/README.md names the options by which the model that ships
was made.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor
from transformers import BertModel

from synaptic.index.embedding import folder_names, model_family
from synaptic.index.tokenizing import load_tokenizer, tokenizer_file

BATCH = {
    "told": 5,
    "asked": 6,
    "meeting": 3,
    "section": 4,
    "health": 2,
    "search": 3,
    "journal": 17,
}
"""Pairs of each kind in a batch."""
QUERY_TOKENS = 32
PASSAGE_TOKENS = {"told": 48, "asked": 48, "search": 96, "journal": 128}
LONG_TOKENS = 200
RATE, WARM_UP_STEPS, WEIGHT_DECAY, DROPOUT = 5e-5, 20, 0.01, 0.05
NAMES = (
    "Anna Ben Clara Diego Emma Felix Grace Hugo Ines Jack Kira Leo Maya Noah Olga Paul Quinn "
    "Rosa Sam Tara Uma Victor Wendy Xavier Yara Zane Priya Omar Lucy Mark Sofia Ethan Chloe "
    "Liam Hana Kenji Aisha Peter Nina Tom Julia Ravi Elena Oscar Fatima George Lena Ivan Mia"
).split()

Row = dict[str, Any]


@dataclass(frozen=True)
class Recipe:
    """The options of a training."""

    steps: int
    temperature: float
    frozen_layers: int
    passage_tokens: int
    """The most tokens of any passage."""
    bfloat16: bool
    """Products in 16 bits: less than half the time where the processor has AMX."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=240)
    parser.add_argument("--temperature", type=float, default=0.05)
    parser.add_argument("--frozen-layers", type=int, default=3)
    parser.add_argument("--passage-tokens", type=int, default=LONG_TOKENS)
    parser.add_argument("--bfloat16", action="store_true", help="products in 16 bits")
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument(
        "--kept", type=float, default=0.0, help="the share of the original weights"
    )
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    lines = options.pairs.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    recipe = Recipe(
        options.steps,
        options.temperature,
        options.frozen_layers,
        options.passage_tokens,
        options.bfloat16,
    )
    runs = [train(rows, options.weights, recipe, seed) for seed in options.seed or [1]]
    original = BertModel.from_pretrained(options.weights, add_pooling_layer=False).state_dict()
    mean = {}
    for name, before in original.items():
        after = torch.stack([run[name].float() for run in runs]).mean(0)
        mean[name] = torch.lerp(after, before.float(), options.kept).contiguous()
    options.out.mkdir(parents=True, exist_ok=True)
    save_file(mean, options.out / "model.safetensors")
    shutil.copy(options.weights / "config.json", options.out)
    shutil.copy(tokenizer_file(options.weights), options.out)


def train(rows: list[Row], weights: Path, recipe: Recipe, seed: int) -> dict[str, Tensor]:
    """The weights after the recipe's steps, a batch each."""
    torch.manual_seed(seed)
    model = BertModel.from_pretrained(weights, add_pooling_layer=False)
    freeze(model, recipe.frozen_layers)
    optimizer = torch.optim.AdamW(groups(model), lr=RATE)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: rate(step, recipe.steps)
    )
    encoder = Encoder(model, weights, bfloat16=recipe.bfloat16)
    batches = Batches(rows, random.Random(seed))
    begun, losses = time.monotonic(), []
    for step in range(1, recipe.steps + 1):
        loss = loss_of(encoder, batches.draw(), recipe)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % 10 == 0:
            seconds = (time.monotonic() - begun) / step
            print(f"seed {seed}, {step}: loss {np.mean(losses[-10:]):.3f}, {seconds:.1f} s")
    return {name: value.clone() for name, value in model.state_dict().items()}


def freeze(model: BertModel, layers: int) -> None:
    for part in (model.embeddings, *model.encoder.layer[:layers]):
        for parameter in part.parameters():
            parameter.requires_grad_(False)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = DROPOUT
    model.train()


def groups(model: BertModel) -> list[dict[str, Any]]:
    """Matrices decay; biases and norms do not."""
    free = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return [
        {"params": [one for one in free if one.ndim > 1], "weight_decay": WEIGHT_DECAY},
        {"params": [one for one in free if one.ndim < 2], "weight_decay": 0.0},
    ]


def rate(step: int, steps: int) -> float:
    """The share of RATE: a warm-up, then half a cosine down to a twentieth."""
    if step < WARM_UP_STEPS:
        return (step + 1) / WARM_UP_STEPS
    done = (step - WARM_UP_STEPS) / max(1, steps - WARM_UP_STEPS)
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done))


class Batches:
    """Draws pairs of each kind, each once before any comes again; those of one journal come
    together, so that each is told from its likes.
    """

    def __init__(self, rows: list[Row], choose: random.Random) -> None:
        self.choose = choose
        self.by_kind: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            self.by_kind[row["kind"]].append(row)
        self.left: dict[str, list[Row]] = defaultdict(list)

    def draw(self) -> list[Row]:
        """The pairs of a batch; all talks in it are between the same two people."""
        one, other = self.choose.sample(NAMES, 2)
        rows = []
        for kind, count in BATCH.items():
            for _ in range(count if self.by_kind[kind] else 0):
                row = dict(self.next(kind))
                others = row.pop("others")
                row["other"] = self.choose.choice(others) if others else None
                for name in ("query", "passage", "other"):
                    if row[name] and kind in ("told", "asked"):
                        row[name] = row[name].replace("{A}", one).replace("{B}", other)
                rows.append(row)
        return rows

    def next(self, kind: str) -> Row:
        if not self.left[kind]:
            self.left[kind] = self.by_kind[kind][:]
            self.choose.shuffle(self.left[kind])
            if kind == "journal":
                groups = list({row["group"] for row in self.left[kind]})
                order = {group: self.choose.random() for group in sorted(groups)}
                self.left[kind].sort(key=lambda row: order[row["group"]])
        return self.left[kind].pop()


class Encoder:
    """Embeds texts by the mean of their tokens' vectors, with gradients."""

    def __init__(self, model: BertModel, weights: Path, *, bfloat16: bool) -> None:
        self.model = model
        self.bfloat16 = bfloat16
        self.tokenizer = load_tokenizer(weights, LONG_TOKENS)
        family = model_family(folder_names(weights))
        self.query_prefix = family.get("query_embed", "")
        self.passage_prefix = family.get("passage_embed", "")

    def embed(self, texts: list[str], limits: list[int]) -> Tensor:
        """Unit vectors, float32 of shape (texts, 384); similar lengths run together."""
        ids = []
        for text, limit in zip(texts, limits, strict=True):
            found = [token.id for token in self.tokenizer.tokenize(text)]
            ids.append(found if len(found) <= limit else [*found[: limit - 1], found[-1]])
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        parts = [
            self.run([ids[at] for at in order[i : i + 16]]) for i in range(0, len(ids), 16)
        ]
        back = torch.tensor(np.argsort(order))
        return torch.cat(parts)[back]

    def run(self, ids: list[list[int]]) -> Tensor:
        width = max(map(len, ids))
        tokens = torch.zeros(len(ids), width, dtype=torch.long)
        mask = torch.zeros(len(ids), width, dtype=torch.long)
        for row, found in enumerate(ids):
            tokens[row, : len(found)] = torch.tensor(found)
            mask[row, : len(found)] = 1
        with torch.autocast("cpu", torch.bfloat16, enabled=self.bfloat16):
            hidden = self.model(input_ids=tokens, attention_mask=mask).last_hidden_state
        summed = (hidden.float() * mask[..., None]).sum(1)
        return torch.nn.functional.normalize(summed, dim=1)


def loss_of(encoder: Encoder, rows: list[Row], recipe: Recipe) -> Tensor:
    passages = [(row["passage"], row) for row in rows]
    passages += [(row["other"], row) for row in rows if row["other"]]
    texts = [text for text, _ in passages]
    limits = [passage_limit(row["kind"], recipe) for _, row in passages]
    queries = encoder.embed(
        [encoder.query_prefix + row["query"] for row in rows], [QUERY_TOKENS] * len(rows)
    )
    vectors = encoder.embed([encoder.passage_prefix + text for text in texts], limits)
    scores = queries @ vectors.T / recipe.temperature
    same = torch.tensor(
        [
            [at != place and text == row["passage"] for at, text in enumerate(texts)]
            for place, row in enumerate(rows)
        ]
    )
    return torch.nn.functional.cross_entropy(
        scores.masked_fill(same, -1e4), torch.arange(len(rows))
    )


def passage_limit(kind: str, recipe: Recipe) -> int:
    """The most tokens of a passage of this kind."""
    return min(recipe.passage_tokens, PASSAGE_TOKENS.get(kind, LONG_TOKENS))


if __name__ == "__main__":
    main()
