"""Passages cover a body, fit the model's window and break where a reader would."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from synaptic.index.chunking import MAX_VECTORS, WINDOW_TOKENS, cut_passages, estimate_tokens


@given(
    st.lists(
        st.one_of(st.text(max_size=200), st.just("\n\n"), st.just("# Heading\n")), max_size=30
    )
)
def test_passages_are_in_order_fit_the_window_and_lose_no_text(parts: list[str]) -> None:
    body = "".join(parts).encode("utf-8", "replace")
    spans = cut_passages(body)
    position = 0
    for span in spans:
        assert (
            body[position : span.start].strip() == b""
            or not body[position : span.start].decode().strip()
        )
        assert span.start >= position
        assert (
            estimate_tokens(body[span.start : span.end].decode("utf-8", "replace"))
            <= WINDOW_TOKENS + 1
        )
        position = span.end
    assert not body[position:].decode("utf-8", "replace").strip()


@given(st.binary(max_size=3000))
def test_any_bytes_can_be_cut(body: bytes) -> None:
    assert cut_passages(body)


def test_a_long_text_is_cut_at_its_headings() -> None:
    sections = [f"## Part {n}\n\n" + "word " * 150 for n in range(4)]
    body = "\n\n".join(sections).encode()
    assert [body[span.start :].split(b"\n")[0] for span in cut_passages(body)] == [
        f"## Part {n}".encode() for n in range(4)
    ]


def test_a_long_line_fills_each_window_but_for_its_last_words() -> None:
    spans = cut_passages(b"word " * 1_000)
    sizes = {span.end - span.start for span in spans[:-1]}
    [size] = sizes
    assert WINDOW_TOKENS - 4 < size // len("word ") <= WINDOW_TOKENS


def test_vectors_are_bounded_and_spread_over_the_whole_text() -> None:
    spans = cut_passages(("word " * 190 + "\n\n").encode() * 1000)
    chosen = [number for number, span in enumerate(spans) if span.embed]
    assert len(chosen) == MAX_VECTORS
    assert chosen[0] == 0
    assert chosen[-1] == len(spans) - 1
    assert max(b - a for a, b in pairwise(chosen)) <= 2 + len(spans) // MAX_VECTORS


def test_nothing_is_one_empty_passage() -> None:
    assert [(span.start, span.end, span.embed) for span in cut_passages(b" \n\n")] == [
        (0, 0, True)
    ]
