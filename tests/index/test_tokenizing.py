"""Both libraries make the same tokens of the same pieces, each at its place in the text, whatever
the text holds.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencepiece import SentencePieceProcessor
from tokenizers import Regex, models, normalizers, pre_tokenizers, processors

from synaptic.config import DEFAULT_MODEL
from synaptic.errors import ModelError
from synaptic.files import DATA
from synaptic.index.embedding import FastEmbedder, content_token_positions
from synaptic.index.tokenizing import (
    SENTENCE_PIECES,
    TOKENIZER_JSON,
    WORD_START,
    Tokenizer,
    load_tokenizer,
)

FOLDER = DATA / DEFAULT_MODEL
WINDOW, NARROW = 256, 100
FIRST, LAST, UNKNOWN = 0, 2, 3
SCRIPTS = {
    "Latin": "query: Die Fahrradwerkstatt schließt um neun, ¿verdad?",
    "Cyrillic": "Встреча перенесена на четверг в 14:30.",
    "Greek": "Το ποδήλατο είναι στο συνεργείο.",
    "Arabic": "الاجتماع يوم الخميس في الساعة الثالثة.",
    "Hebrew": "הפגישה נדחתה ליום חמישי.",
    "Devanagari": "बैठक गुरुवार को तीन बजे है।",
    "Bengali": "সভাটি বৃহস্পতিবার তিনটায়।",
    "Thai": "ประชุมเลื่อนเป็นวันพฤหัสบดี",
    "Chinese": "会议推迟到星期四下午三点。",
    "Japanese": "自転車は修理に出しました。",
    "Korean": "회의는 목요일 세 시로 미뤄졌다.",
}


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return load_tokenizer(FOLDER, WINDOW)


@pytest.fixture(scope="module")
def narrow() -> Tokenizer:
    return load_tokenizer(FOLDER, NARROW)


@pytest.fixture(scope="module")
def of_json(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """The same pieces, read by the library tokenizers."""
    pieces = SentencePieceProcessor(model_file=str(FOLDER / SENTENCE_PIECES))
    every = range(pieces.get_piece_size())
    scores = [(pieces.id_to_piece(id), pieces.get_score(id)) for id in every]
    made = tokenizers.Tokenizer(models.Unigram(scores, unk_id=UNKNOWN))
    made.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace(WORD_START, prepend_scheme="always")
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", FIRST), ("</s>", LAST)]
    )
    folder = tmp_path_factory.mktemp("json")
    made.save(str(folder / TOKENIZER_JSON))
    return load_tokenizer(folder, WINDOW)


@pytest.mark.parametrize("text", [*SCRIPTS.values(), "ﬁne  ＦＵＬＬ\tcafé\n½ ", "", "  \n"])
def test_both_libraries_make_the_same_tokens(
    tokenizer: Tokenizer, of_json: Tokenizer, text: str
) -> None:
    def rows(tokenizer: Tokenizer) -> list[tuple[int, str, str]]:
        tokens = tokenizer.tokenize(text)
        return [(each.id, each.piece, text[slice(*each.word)].strip()) for each in tokens]

    assert rows(tokenizer) == rows(of_json)


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_pieces_are_the_text_and_spans_point_at_it(tokenizer: Tokenizer, text: str) -> None:
    first, *tokens, last = tokenizer.tokenize(text)
    assert (first.id, last.id) == (FIRST, LAST) and first.is_special and last.is_special
    assert "".join(token.piece for token in tokens) == WORD_START + text.replace(
        " ", WORD_START
    )
    assert UNKNOWN not in {token.id for token in tokens}
    for token in tokens:
        assert text[slice(*token.span)].strip() == token.piece.strip(WORD_START)
    assert list(dict.fromkeys(text[slice(*token.word)].strip() for token in tokens)) == (
        list(dict.fromkeys(text.split()))
    )


def test_a_content_token_belongs_to_its_word(tokenizer: Tokenizer) -> None:
    text = "query: The cafe\u0301 at the ＨＡＲＢＯＵＲ,  kayakers"
    tokens = tokenizer.tokenize(text)
    places = content_token_positions(tokens, start=len("query: "))
    words = [text[slice(*tokens[place].word)].strip() for place in places]
    assert list(dict.fromkeys(words)) == ["cafe\u0301", "ＨＡＲＢＯＵＲ,", "kayakers"]


@pytest.mark.parametrize("text", ["a cake ", "漢", "x", "=", "ﷺ", "\u0301", "\ue000", "ก"])
def test_the_window_cuts_a_long_text_and_changes_no_token(
    tokenizer: Tokenizer, narrow: Tokenizer, text: str
) -> None:
    long = (text * 40_000)[:40_000]
    tokens, fewer = (each.tokenize(long) for each in (tokenizer, narrow))
    assert (len(tokens), len(fewer)) == (WINDOW, NARROW)
    ids = [token.id for token in (*tokens[: NARROW - 1], tokens[-1])]
    assert [token.id for token in fewer] == ids


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=300))
def test_any_text_has_tokens_in_order(tokenizer: Tokenizer, text: str) -> None:
    first, *tokens, last = tokenizer.tokenize(text)
    assert (first.id, last.id) == (FIRST, LAST)
    before = 0
    for token in tokens:
        assert token.id >= UNKNOWN and not token.is_special
        assert before <= token.span[0] <= token.span[1] <= len(text)
        assert token.word[0] <= token.span[0] and token.span[1] <= token.word[1]
        before = token.span[1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<s> x </s>", ["<s>", "x", "</s>"]),  # what is typed is no mark of an end
        ("می‌خواهم", ["می", "خواهم"]),
        ("👩‍👧", ["👩", "👧"]),
        ("a\u200bb\ufeffc\u00a0d\u3000e", list("abcde")),
        (f"a{WORD_START}b", ["a", "b"]),
    ],
)
def test_invisible_signs_part_words_as_when_the_model_learned(
    tokenizer: Tokenizer, text: str, words: list[str]
) -> None:
    _, *tokens, _ = tokenizer.tokenize(text)
    signs = " \u200b\u200c\u200d\ufeff\u00a0\u3000" + WORD_START
    found = dict.fromkeys(text[slice(*token.word)].strip(signs) for token in tokens)
    assert list(found) == words


def test_a_folder_with_pieces_is_the_model_that_ships(tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / DEFAULT_MODEL)
    mine = FastEmbedder(str(folder), cache=tmp_path)
    shipped = FastEmbedder(DEFAULT_MODEL, cache=tmp_path)
    for text in ("The harbour is in the north.", SCRIPTS["Thai"]):
        assert np.array_equal(mine.embed_query(text).vector, shipped.embed_query(text).vector)
    (folder / SENTENCE_PIECES).write_bytes(b"")
    damaged = FastEmbedder(str(folder), cache=tmp_path)
    assert damaged.name != mine.name
    with pytest.raises(ModelError, match="cannot be started"):
        damaged.load()
    (folder / SENTENCE_PIECES).unlink()
    with pytest.raises(ModelError, match=r"tokenizer\.json \(or sentencepiece\.model\)"):
        FastEmbedder(str(folder), cache=tmp_path).load()
