"""A later note replaces an earlier one, repeats it, or leaves it as it is."""

from __future__ import annotations

import pytest

from synaptic.language.replacement import PLAIN, Nearness, Note, PairKind, judge

NEAR = Nearness(closeness=0.55, unmatched=0.3)
SAME_WORDS = Nearness(closeness=0.9, unmatched=0.1)


def judged(earlier: str, later: str, near: Nearness = NEAR, kind: PairKind = PLAIN) -> object:
    return judge(Note(earlier, str), Note(later, str), near, kind)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "The pool of the orders database has 40 connections.",
            "The pool of the orders database has 25 connections.",
        ),
        (
            "The dentist appointment for Lena is on 3 March at 15:30.",
            "The dentist appointment for Lena is on 17 March at 08:15.",
        ),
        (
            "The docs site is deployed with Netlify, which makes previews. Rejected: Vercel.",
            "The docs site is deployed with Pages from now on: Netlify ended the plan.",
        ),
        ("Сервер стоит в подвале.", "Сервер в подвале теперь стоит выключенный."),
    ],
)
def test_a_value_or_a_sign_of_change_in_the_same_sentence_replaces(
    earlier: str, later: str
) -> None:
    assert judged(earlier, later, SAME_WORDS) == "replaced"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "Rehearsals are in the parish hall, the key is with the sexton.",
            "Since Whitsun the whole choir has its evenings in the music room of the school; "
            "Oskar has the key now, and the parish hall is let to the dancers on Tuesdays.",
        ),
        (
            "Sessions are kept in signed cookies. Rejected: a cluster of Redis.",
            "Since the audit a Redis cluster of three nodes holds whatever a visitor is logged "
            "in with, and support can end it for a single person within a few seconds.",
        ),
        (
            "Der Versand läuft über Wulkenpost, Abholung täglich um 16 Uhr am Tor 2.",
            "Die erste Palette ging heute mit Eilbote hinaus, die alte Schnittstelle ist "
            "abgeschaltet, und die Fahrer von Wulkenpost kommen nur noch, um Kisten abzuholen.",
        ),
    ],
)
def test_what_changed_is_told_in_other_words(earlier: str, later: str) -> None:
    assert judged(earlier, later) == "replaced"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "Priya owns the price importer: she answers when a feed breaks.",
            "From today Joel owns the price exporter: he answers when a feed breaks.",
        ),
        ("Log retention in Vienna is 90 days.", "Log retention in Madrid is 45 days."),
        ("Ward 2: the late shift counts tablets.", "Ward 5: the early shift counts tablets."),
        (
            "May we record the summer concert and show it on our page?",
            "The publisher allows a recording of the summer concert on our page now.",
        ),
        (
            "All prices are stored as integers in cents.",
            "Prices are stored in cents as integers, and a discount is rounded half to even.",
        ),
    ],
)
def test_notes_that_only_sound_alike_both_stay(earlier: str, later: str) -> None:
    assert judged(earlier, later, SAME_WORDS) is None
    assert judged(earlier, later) is None


def test_the_same_sentence_in_a_diary_is_of_another_day() -> None:
    earlier, later = "Paid the dentist: 31 EUR.", "Paid the dentist: 753 EUR."
    assert judged(earlier, later, SAME_WORDS) == "replaced"
    assert judged(earlier, later, SAME_WORDS, PairKind(is_diary=True)) is None


def test_the_same_in_other_words_is_a_repetition() -> None:
    earlier = "The cellar walls must not be painted with emulsion, the moisture has to get out."
    later = "Damp masonry below ground needs to breathe, keep all sealing coats off it, please."
    near = Nearness(closeness=0.7, unmatched=0.1)
    assert judged(earlier, later, near) == "repeated"
    assert judged(earlier, later, near._replace(closeness=0.4, unmatched=0.9)) is None
