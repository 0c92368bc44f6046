"""Which texts are amounts, and which may be read in two ways."""

from decimal import Decimal

import pytest

from synaptic.notes.amounts import Amount, read_amount, read_hours_in_text

HALF_A_DAY = Amount(Decimal("1.5"))


@pytest.mark.parametrize(
    "text", ["1.5", "1,5", "1:30", "1h 30m", "1h30", "90 min", "1,5 Std.", "1.5 #a #b/c"]
)
def test_one_time_is_written_in_many_ways(text: str) -> None:
    assert read_amount(text) == HALF_A_DAY


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("12.50 EUR", "12.50", "EUR"),
        ("€ 12", "12", "€"),
        ("-3", "-3", ""),
        ("0,125", "0.125", ""),
        ("1.200,50", "1200.50", ""),
        ("1,200.50", "1200.50", ""),
        ("1.200.300", "1200300", ""),
        ("12 345,67 €", "12345.67", "€"),
        ("1'000'000", "1000000", ""),
        ("30m", "30", "m"),
    ],
)
def test_an_amount_keeps_its_unit(text: str, value: str, unit: str) -> None:
    assert read_amount(text) == Amount(Decimal(value), unit)


@pytest.mark.parametrize(
    "text", ["", "three", "3 of 4", "1,200", "1.500", "1:75", "12:30:15", "1.200.50", "5 EUR 6"]
)
def test_what_two_readers_read_differently_is_no_amount(text: str) -> None:
    assert read_amount(text) is None


def test_times_in_a_text_stand_in_parentheses_and_not_in_code() -> None:
    text = (
        "Ida (2h), importer (1:30), `(3h)`, at (14:30), (2 horses), tea (45 min), a walk (30m)"
    )
    assert [float(time.value) for time in read_hours_in_text(text)] == [2, 1.5, 0.75, 0.5]
