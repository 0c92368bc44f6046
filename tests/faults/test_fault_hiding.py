"""What a save acknowledges is found again, hides nothing above or below it, and shows no secret
once it is rendered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from homes import open_home
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from trials import examples

from synaptic import Workspace, get, restore, save, search, update
from synaptic.errors import InvalidArgument, Refused
from synaptic.models import Entry
from synaptic.notes.blocks import MASK
from synaptic.notes.draft import trim_text
from synaptic.notes.markdown import compose_entry, parse_entries
from synaptic.notes.privacy import mask_private, without_private
from synaptic.notes.redaction import find_secrets

pytestmark = pytest.mark.fault(row=11)

DATE = "2026-11-21"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SYN = f"<!-- syn:20261121-{{}} at={DATE}T12:00:00+00:00 -->"
NEUTRAL = f"## 12:00 Neutral\n{SYN.format('zzzzzzzz')}\n"
BELOW = "\n## 13:00 Below\nThe heron, by hand.\n"

# fragments that are tags, or become tags when something takes a part of them away or joins them
PIECES = [
    "<private>",
    "</private>",
    "<PRIVATE>",
    "</Private>",
    "<private",
    "</private",
    " >",
    ">",
    "<pri",
    "vate>",
    "\\",
    "<private\nclass=x>",
    "<private \n>",
    "<private \r>",
    "<pri**vate>",
    "</pri**vate>",
    "**",
    "`",
    "``",
    "```\n",
    "<pri<private>x</private>vate>",
    "<private a='b'>",
    "<privateKey>",
    "<private\x0bx>",
    "\\<private>",
    "word ",
    "- ",
    "\\\\</private>",
    "\n```\n",
    "~~~\n",
    "> ```\n",
    "    ",
    "words. ",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    " ",
    "<!--",
    "-->",
    "<!-- syn:20261121-0000000a -->\n",
    "#tag ",
    "\n## 10:00 Two\n",
    "\n# H1\n",
    "é",
    f"\n## 11:00 T\n{SYN.format('0000000b')}\n",
]
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map("".join)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "title": TEXTS,
        "files": st.lists(TEXTS, max_size=2),
        "project": TEXTS,
        "by": TEXTS,
    },
)


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with open_home(tmp_path_factory.mktemp("home"), secrets="allow") as workspace:
        workspace.journal.prepare()
        yield workspace


def entries_of(data: bytes) -> list[Entry]:
    return list(parse_entries(data, f"{DATE}.md", mtime=NOON).entries)


def told(entries: Sequence[Entry]) -> list[tuple[object, ...]]:
    return [
        (e.title, e.content, e.type, e.tags, e.at, e.files, e.project, e.by) for e in entries
    ]


def normal(text: str) -> str:
    """A text as a save keeps it: LF, no outer blanks, open fences closed."""
    return compose_entry(trim_text(text), id="20261121-00000009", at=NOON)[0].content


def hidden(data: bytes) -> list[int]:
    return sorted(
        raw for raw, seen in zip(data, mask_private(data), strict=True) if seen == MASK[0]
    )


def saved_below(ws: Workspace, above: str, content: str, **options: Any) -> Entry:
    """What was saved, after the law was checked: it reads as given, and all above reads as
    below a harmless entry.
    """
    day = ws.config.journal / f"{DATE}.md"
    day.write_bytes(above.encode())
    id = save(ws, content, at=f"{DATE}T12:00", force=True, **options).id
    ends = re.sub("\r\n", "\n", above)
    gap = (
        ""
        if not ends or ends.endswith("\n\n")
        else "\n"
        if ends.endswith(("\n", "\r"))
        else "\n\n"
    )
    *rest, mine = entries_of(day.read_bytes())
    assert told(rest) == told(entries_of(f"{above}{gap}{NEUTRAL}".encode())[:-1])
    assert mine.id == id and mine.content == normal(without_private(content))
    if "</private" not in content.lower():  # nothing is complete, so nothing is left out
        assert mine.content.startswith(normal(content))
    assert told(get(ws, [id]).entries) == told([mine])
    return mine


@settings(max_examples=examples(150), deadline=None, derandomize=True)
@given(above=TEXTS, content=TEXTS, options=OPTIONS)
def test_a_save_is_found_again_and_hides_nothing_above_it(
    ws: Workspace, above: str, content: str, options: dict[str, Any]
) -> None:
    options = {name: value for name, value in options.items() if value}
    day = ws.config.journal / f"{DATE}.md"
    try:
        mine = saved_below(ws, above, content, **options)
    except InvalidArgument as error:
        assert (
            re.search("never saves|private; nothing|no text", str(error))
            and day.read_bytes() == above.encode()
        )
        return
    for name in ("project", "by"):
        given_value = without_private(options.get(name, "")).strip()
        assert getattr(mine, name) == (
            given_value or (None if name == "by" or name in options else "tests")
        )


@settings(max_examples=examples(150), deadline=None, derandomize=True)
@given(
    body=TEXTS,
    value=TEXTS,
    what=st.sampled_from(["content", "append", "title"]),
    passage=st.booleans(),
)
def test_an_update_is_found_again_and_hides_nothing_below_it(
    ws: Workspace, body: str, value: str, what: str, passage: bool
) -> None:
    day = ws.config.journal / f"{DATE}.md"
    own = "\n\nb <private>```\nhers</private>\n" if passage else ""
    data = f"# {DATE}\n\n## 9:00 Otters\n\na {body}{own}\n{BELOW}".encode()
    day.write_bytes(data)
    before = entries_of(data)
    old = before[0]
    try:
        id = update(ws, get(ws, [old.id]).entries[0].id, **{what: value}).id  # type: ignore[arg-type]
    except (InvalidArgument, Refused) as error:
        assert re.search("private|no text", str(error)) and day.read_bytes() == data
        return
    now = entries_of(day.read_bytes())
    assert told(now[1:]) == told(before[1:]) and hidden(day.read_bytes()) == hidden(data)
    value = without_private(value)
    wanted = {"content": value, "append": f"{old.content}\n\n{value}"}.get(what, old.content)
    kept = normal(now[0].content) if what == "title" else now[0].content  # a text by hand stays
    assert now[0].id == id and kept == normal(wanted)
    assert told(get(ws, [id]).entries) == told(now[:1])


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("x <private\nclass=x> otter", {}),
        ("otter", {"title": "x <private\n>"}),
        ("The <pri**vate> otter.\n\nAnd more.", {}),
        ("<pri<private>x</private>vate> otter", {}),
        ("`otter\r<private>`", {}),
        ("otter", {"files": ["<private"], "project": "<private", "by": "<private"}),
        ("An otter </private> said `<private>` and \\<private>.", {}),
        ("```\n<private>otter\n\n", {}),
    ],
)
def test_no_channel_makes_a_tag(ws: Workspace, content: str, options: dict[str, Any]) -> None:
    mine = saved_below(ws, "", content, **options)
    day = ws.config.journal / f"{DATE}.md"
    with day.open("a") as file:
        file.write(BELOW)
    assert {hit.entry.content for hit in search(ws, "heron").hits} >= {"The heron, by hand."}
    assert mask_private(day.read_bytes()) == day.read_bytes()
    update(ws, mine.id, content="Other words.")
    assert restore(ws, mine.id).id == mine.id and told(get(ws, [mine.id]).entries) == told(
        [mine]
    )


def test_an_unclosed_tag_is_kept_as_text_and_the_receipt_says_so(ws: Workspace) -> None:
    receipt = save(ws, "An otter <private> with a heron.", force=True)
    assert "never closed" in receipt.notices[0]
    assert get(ws, [receipt.id]).entries[0].content == "An otter <private> with a heron."


# -- secrets
# ------------------------------------------------------------------------------------------

TOKEN = "gh" + "p_" + "Ab1" * 12
MARKS = [
    "**",
    "*",
    "***",
    "`",
    "~~",
    "\u200b",
    "\u00ad",
    "&#8203;",
    "&shy;",
    "\\",
    "</b>",
    "&#95;",
]
RENDER = MarkdownIt("commonmark").enable("strikethrough")


def visible(text: str) -> str:
    """What a reader sees of rendered Markdown."""
    parts = []
    for token in RENDER.parse(text):
        seen = [piece for piece in token.children or () if piece.type != "html_inline"]
        lines = ["\n" if piece.type.endswith("break") else piece.content for piece in seen]
        parts.append("".join(lines) if token.type == "inline" else token.content)
    return "\n\n".join(filter(None, parts))


def marked(mark: str, at: int, length: int) -> str:
    """The token with something in it that rendering takes away."""
    if mark == "\\":
        return TOKEN.replace("_", "\\_")
    if mark == "&#95;":
        return TOKEN.replace("_", mark)
    closing = mark if mark[0] in "*`~" else ""
    return TOKEN[:at] + mark + TOKEN[at : at + length] + closing + TOKEN[at + length :]


@settings(max_examples=examples(120), deadline=None, derandomize=True)
@given(
    mark=st.sampled_from(MARKS),
    at=st.integers(1, 38),
    length=st.integers(1, 40),
    around=st.sampled_from(
        ["{}", "Use {} now.", "Use\n{}\n\nnow", "**Key:** {}", "`a` {} and *b*", "a\r{}\rb"]
    ),
    where=st.sampled_from(["content", "title"]),
)
def test_no_secret_that_a_reader_would_see_is_written(
    ws: Workspace, mark: str, at: int, length: int, around: str, where: str
) -> None:
    text = around.format(marked(mark, at, length))
    given_text = (
        {"content": text} if where == "content" else {"content": "An otter.", "title": text}
    )
    day = ws.config.journal / f"{DATE}.md"

    def written(policy: Any) -> str:
        with open_home(ws.config.home, secrets=policy) as mine:
            day.unlink(missing_ok=True)
            save(mine, at=f"{DATE}T12:00", force=True, **given_text)
            return day.read_text()

    if not find_secrets(visible(written("allow"))):
        return
    clean = written("redact")
    assert "[redacted: GitHub token]" in clean
    assert find_secrets(clean) == find_secrets(visible(clean)) == ()
    with pytest.raises(Refused, match="GitHub token"):
        written("refuse")
    assert not day.exists()


@pytest.mark.parametrize(
    "text",
    [
        "Set `password`/`token` by hand, see **api_key**.",
        "password: hun****r2, as shown",
        "token = a**b * c**d",
        "`__init__` takes _token_ and **kwargs**, C:\\new\\_key",
        "[x](http://a.b/?token=a&amp;key=b)",
    ],
)
def test_ordinary_markup_is_no_secret(ws: Workspace, tmp_path: Path, text: str) -> None:
    with open_home(tmp_path / "home", secrets="refuse") as mine:
        assert get(mine, [save(mine, text).id]).entries[0].content == text
