"""A person edits a text without our comments, and each comment stays with its heading."""

from __future__ import annotations

import pytest

from synaptic.notes.unmarked import put_comments_back, take_out_comments

ONE = "<!-- syn:20261121-aaaaaaaa at=2026-11-21T09:31:00+00:00 h2=0 -->"
TWO = "<!-- syn:20261121-bbbbbbbb at=2026-11-21T10:31:00+00:00 h2=0 pin -->"
FILE = f"""# 2026-11-21

## 09:31 Bread #rye
{ONE}

It rose.

```
{ONE}
```

## 10:31 Ferry
{TWO}

Late.

## Learnings <!-- by=claude -->

Ash floats.
"""


def test_what_nobody_changed_comes_back_and_a_sample_is_text() -> None:
    unmarked = take_out_comments(FILE)
    assert unmarked.text == FILE.replace(f"\n{ONE}", "", 1).replace(f"\n{TWO}", "").replace(
        " <!-- by=claude -->", ""
    )
    assert put_comments_back(unmarked, unmarked.text) == FILE


BREAD, FERRY = FILE.index("## 09:31"), FILE.index("## 10:31")
LEARNINGS = FILE.index("## Learnings")
SWAPPED = FILE[:BREAD] + FILE[FERRY:LEARNINGS] + FILE[BREAD:FERRY] + FILE[LEARNINGS:]


@pytest.mark.parametrize(
    ("name", "after"),
    {
        "a word": FILE.replace("rose", "fell"),
        "a heading": FILE.replace("Ferry", "The ferry came"),
        "all headings": FILE.replace("Ferry", "Boat")
        .replace("Bread", "Buns")
        .replace("L", "l"),
        "another time": FILE.replace("## 09:31 Bread #rye", "## 08:00 Toast and jam"),
        "a new entry": FILE.replace("## 10:31", "## 10:00 New\n\nx\n\n## 10:31"),
        "a deletion": FILE[:BREAD] + FILE[FERRY:],
        "a deletion beside a change": FILE[:BREAD]
        + FILE[FERRY:].replace("Ferry", "Ferry home"),
        "another order": SWAPPED,
        "no entry": "# 2026-11-21\n",
    }.items(),
)
def test_a_comment_follows_its_heading(name: str, after: str) -> None:
    typed = take_out_comments(after).text
    assert put_comments_back(take_out_comments(FILE), typed) == after, name
