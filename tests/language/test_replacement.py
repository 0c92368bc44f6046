"""A later note replaces an earlier one, repeats it, or leaves it as it is."""

from __future__ import annotations

import pytest

from synaptic.language.replacement import Nearness, Note, judge

NEAR = Nearness(closeness=0.75, standout=0.3)


def judged(
    earlier: str, later: str, near: Nearness = NEAR, *, is_issue: bool = False
) -> object:
    return judge(Note(earlier, str), Note(later, str), near, is_issue=is_issue)


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
            "Rehearsals are in the parish hall, the key is with the sexton.",
            "We no longer sing in the parish hall: the school gave us its music room.",
        ),
        (
            "Sessions are kept in signed cookies. Rejected: a cluster of Redis.",
            "Since the audit a cluster of Redis holds every session.",
        ),
        (
            "The standard for curing is 12 minutes under the lamp.",
            "The lamp has aged, so the standard for curing under it is 20 minutes.",
        ),
        (
            "Der Versand läuft über Wulkenpost, Abholung täglich um 16 Uhr am Tor 2.",
            "Die erste Palette ging mit Eilbote hinaus, die alte Schnittstelle ist abgeschaltet.",
        ),
        (
            "La reunión de grupo es en la sala.",
            "Hemos movido las cosas: todo el grupo se reúne en la otra sala.",
        ),
        (
            "Le microscope est réservé chez Amélie.",
            "Pour le microscope, adressez-vous désormais à Kenji.",
        ),
        ("通知每天最多发三条。", "后台现在规定每天只发一条通知。"),
        (
            "翻訳はスプレッドシートで管理している。",
            "表計算は廃止した。翻訳の正本はリポジトリにある。",
        ),
        ("Сервер стоит в подвале.", "Теперь сервер переехал в облако."),
    ],
)
def test_a_sign_of_change_shows_that_the_later_replaces_the_earlier(
    earlier: str, later: str
) -> None:
    assert judged(earlier, later) == "replaced"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "Priya owns the price importer: she answers when a feed breaks.",
            "Joel owns the price exporter: he answers when a feed breaks.",
        ),
        ("Log retention in Vienna is 90 days.", "Log retention in Madrid is 45 days."),
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
    assert judged(earlier, later) is None


def test_the_same_in_other_words_is_a_repetition() -> None:
    earlier = "The cellar walls must not be painted with emulsion, the moisture has to get out."
    later = "Damp masonry below ground needs to breathe, keep sealing coats off it."
    assert judged(earlier, later) == "repeated"
    assert judged(earlier, later, Nearness(closeness=0.5, standout=0.0)) is None


def test_an_issue_is_over_when_it_works_again() -> None:
    earlier = "The tests on main are red: the image has an old library."
    later = "Three green nights on main, the image has a library that passes all tests."
    assert judged(earlier, later, is_issue=True) == "replaced"


def test_notes_that_are_not_near_are_not_judged_by_their_words() -> None:
    far = Nearness(closeness=0.3, standout=-0.1)
    earlier = "The pool of the orders database has 40 connections."
    assert judged(earlier, "We no longer sing in the hall.", far) is None
