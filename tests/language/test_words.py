"""Text in every script is found by its words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from homes import open_home
from hypothesis import example, given
from hypothesis import strategies as st

import synaptic
from synaptic import Workspace, save, search
from synaptic.language.words import TOKENIZER, fts5_expression, normalize_for_index, words

NOTES = {
    "chinese": "昨天我们决定使用向量数据库来保存会议记录。",
    "japanese": "東京都庁でデータベースの移行について話した。",
    "korean": "오늘 회의에서 결제 시스템을 교체하기로 했다.",
    "thai": "วันนี้ประชุมเรื่องฐานข้อมูลและการสำรองข้อมูล",
    "lao": "ປະຊຸມກ່ຽວກັບຖານຂໍ້ມູນ",
    "khmer": "ប្រជុំអំពីមូលដ្ឋានទិន្នន័យ",
    "burmese": "ဒေတာဘေ့စ်အကြောင်း ဆွေးနွေးခဲ့သည်",
    "arabic": "قررنا اليوم استخدام قاعدة البيانات في المدرسة الجديدة.",
    "hebrew": "הֶחְלַטְנוּ להחליף את מסד הנתונים",
    "hindi": "आज की बैठक में हिन्दी अनुवाद पर चर्चा हुई।",
    "german": "Die Straße zur Brücke ist gesperrt, Umleitung über die Größe der Bäume.",
    "polish": "Spotkanie w Łodzi o źródłach danych.",
    "french": "Le café était fermé, réunion déplacée à l'hôtel.",
    "greek": "Η βάση δεδομένων μεταφέρθηκε στην Αθήνα.",
    "russian": "Мы решили перенести базу данных на новый сервер.",
    "vietnamese": "Cuộc họp về cơ sở dữ liệu ở Hà Nội.",
    "danish": "Mødet om rød grød blev flyttet til Århus.",
    "turkish": "Aydın ailesiyle ışık ve kapı konuşuldu.",
    "icelandic": "Fundur með Þórði um veðurstöðina í Hafnarfirði.",
    "english": "The quick brown fox decided on PostgreSQL.",
}

QUERIES = [
    ("向量", "chinese"),
    ("会议", "chinese"),
    ("数据库", "chinese"),
    ("录", "chinese"),
    ("決", None),
    ("東京", "japanese"),
    ("都庁", "japanese"),
    ("データベース", "japanese"),
    ("ﾃﾞｰﾀﾍﾞｰｽ", "japanese"),
    ("京都", "japanese"),
    ("회의", "korean"),
    ("시스템", "korean"),
    ("결제", "korean"),
    ("ประชุม", "thai"),
    ("ฐานข้อมูล", "thai"),
    ("สำรอง", "thai"),
    ("ຖານ", "lao"),
    ("ទិន្នន័យ", "khmer"),
    ("ဒေတာ", "burmese"),
    ("قاعدة", "arabic"),
    ("بيانات", "arabic"),
    ("المدرسه", "arabic"),
    ("مدرسة", "arabic"),
    ("إستخدام", "arabic"),
    ("החלטנו", "hebrew"),
    ("מסד", "hebrew"),
    ("हिन्दी", "hindi"),
    ("बैठक", "hindi"),
    ("strasse", "german"),
    ("Straße", "german"),
    ("brucke", "german"),
    ("größe", "german"),
    ("Lodzi", "polish"),
    ("zrodlach", "polish"),
    ("cafe", "french"),
    ("café", "french"),
    ("cafe\u0301", "french"),
    ("hotel", "french"),
    ("δεδομενων", "greek"),
    ("Αθηνα", "greek"),
    ("БАЗУ", "russian"),
    ("hop", "vietnamese"),
    ("Ha Noi", "vietnamese"),
    ("rod", "danish"),
    ("Arhus", "danish"),
    ("Aydin", "turkish"),
    ("ISIK", "turkish"),
    ("kapı", "turkish"),
    ("Thordi", "icelandic"),
    ("vedurstodina", "icelandic"),
    ("foxes", "english"),
    ("postgresql", "english"),
]


@pytest.fixture(scope="module")
def tower(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace that is only searched."""
    with open_home(tmp_path_factory.mktemp("tower")) as ws:
        for name, text in NOTES.items():
            save(ws, text, title=name)
        yield ws


@pytest.mark.parametrize(("query", "language"), QUERIES)
def test_a_word_finds_its_note(tower: Workspace, query: str, language: str | None) -> None:
    found = [hit.entry.title for hit in search(tower, query, strategy="lexical").hits]
    assert found[:1] == ([language] if language else [])


@pytest.mark.parametrize(
    ("phrase", "language"),
    [
        ('"データベースの移行"', "japanese"),
        ('"使用向量数据"', "chinese"),
        ('"회의에서 결제"', "korean"),
        ('"база данных"', None),
        ('"базу данных"', "russian"),
        ('"数据向量"', None),
    ],
)
def test_a_phrase_must_stand_there(tower: Workspace, phrase: str, language: str | None) -> None:
    found = search(tower, phrase, strategy="lexical")
    is_unheld = any("No entry holds that phrase" in notice for notice in found.notices)
    assert is_unheld == (language is None)
    assert is_unheld or [hit.entry.title for hit in found.hits] == [language]


def test_the_snippet_shows_the_place(ws: Workspace) -> None:
    save(ws, "前置き。" * 200 + "ここで東京都庁の話をした。" + "後書き。" * 200, title="長い")
    (hit,) = search(ws, "都庁", strategy="lexical").hits
    assert "都庁" in hit.snippet and len(hit.snippet) < 300


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v3.13 and 3.14.0rc1.", ["3.13", "and", "3.14.0rc1"]),
        ("file.2 a2.2 10.0.0.7:80", ["file", "2", "a2", "2", "10.0.0.7", "80"]),
        ("東2.2と", ["東", "2.2", "と"]),
        ("10€ ±5°", ["10", "€", "±", "5", "°"]),
        ("👩🏽\u200d🌾🇫🇮🇸🇪", ["👩🏽\u200d🌾", "🇫🇮", "🇸🇪"]),
        ("a – b ‘c’ ├── $5 + #x", ["a", "b", "c", "5", "x"]),
    ],
)
def test_numbers_with_dots_and_signs_are_words(text: str, expected: list[str]) -> None:
    assert [word for _, word in words(text)] == expected


@pytest.mark.parametrize("sign", ["✔\ufe0fdone", "❤️ done", "done\u200b", "do\u00adne"])
def test_signs_that_nobody_types_do_not_hide_a_word(ws: Workspace, sign: str) -> None:
    save(ws, f"It is {sign} at last.", title="a title")
    assert search(ws, "done", strategy="lexical").total == 1


@given(st.text(st.characters(codec="ascii")))
def test_plain_english_takes_no_more_room(text: str) -> None:
    assert normalize_for_index(text) is text


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_any_text_is_one_safe_expression(text: str) -> None:
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5 (x)")
    assert (
        db.execute("SELECT count(*) FROM t WHERE t MATCH ?", (fts5_expression(text),)).get == 0
    )


LETTERS = st.characters(categories=["Lo", "Ll", "Nd"], exclude_characters="\0")


SIGNS = st.sampled_from("aV2.v 🐝€🇫🇮👩🏽東とก")


@given(
    st.text(LETTERS, min_size=1, max_size=12) | st.text(SIGNS, max_size=12),
    st.text(LETTERS, max_size=5) | st.text(SIGNS, max_size=5),
)
@example("0", "\ufe70")
@example("v2.2🐝", "東2.2と")
@example("0", "2🏽2")
def test_every_word_of_a_text_is_found_in_it(text: str, before: str) -> None:
    """A word of nothing but vowel marks, which the index drops, is none to be found."""
    whole = f"{before} {text}"
    db = apsw.Connection(":memory:")
    tokenizer = " ".join(f"''{part}''" for part in TOKENIZER)
    db.execute(f"CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = '{tokenizer}')")
    db.execute("INSERT INTO t VALUES (?)", (normalize_for_index(whole),))
    for word in (word for _, word in words(whole) if normalize_for_index(word).strip()):
        assert (
            db.execute("SELECT count(*) FROM t WHERE t MATCH ?", (fts5_expression(word),)).get
            == 1
        ), (word, normalize_for_index(whole))


# -- the lists in data/words
# ----------------------------------------------------------------------------

PACKAGE = Path(synaptic.__file__).parent
AS_A_NAME = re.compile(r"\.\w+|[\"@<]\w+")
"""An attribute, or a word after one of the signs that stand before the name of a list."""


@pytest.fixture(scope="module")
def code() -> str:
    return "".join(file.read_text("utf-8") for file in PACKAGE.rglob("*.py"))


@pytest.fixture(scope="module")
def named_in_code(code: str) -> set[str]:
    return set(AS_A_NAME.findall(code))


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "data" / "words").glob("*.toml")), ids=lambda path: path.stem
)
def test_every_word_list_is_used(path: Path, code: str, named_in_code: set[str]) -> None:
    text = path.read_text("utf-8")
    lists = tomllib.loads(text)
    patterns = lists.pop("patterns", {})
    named = named_in_code | {*AS_A_NAME.findall(text)}
    unused = [name for name in lists if named.isdisjoint(f"{sign}{name}" for sign in '."@<')]
    unused = [
        name for name in unused if f'"{name.rpartition("_")[0]}_{{tongue}}"' not in code
    ]  # stop_de
    for name in patterns:
        inner = re.sub("^(?:note|only|plan)_", "", name)  # read as f"plan_{name}"
        if (
            f"<{name}>" not in text
            and f'"{name}"' not in code
            and (inner == name or f'"{inner}"' not in code)
        ):
            unused.append(name)
    assert unused == []
