"""An entry in a closed fence is a sample; a saved entry near fences that people type stays."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import examples

from synaptic.models import ParsedFile
from synaptic.notes.markdown import compose_entry, render_entry
from synaptic.notes.reading import parse_entries

AT = datetime(2026, 11, 21, 9, 31, tzinfo=UTC)
SAMPLE = (
    "## 07:40 issue: Oiled the hinge #gate\n"
    "<!-- syn:20261121-aaaabbbb at=2026-11-21T07:40:00+00:00 h2=0 by=person -->\n\n"
    "It creaked.\n"
)
ABOVE = "# 2026-11-21\n\n## 08:00 Notes on the format\n\n"
BELOW = "\nThat was the sample.\n\n## 10:00 Tin order\n\nOn Friday.\n"


def read(text: str) -> ParsedFile:
    return parse_entries(text.encode(), "2026-11-21.md", mtime=AT)


@pytest.mark.parametrize(
    "fenced",
    [
        f"```markdown\n{SAMPLE}```\n",
        f"````md\n{SAMPLE}````\n",
        f"~~~ {{.markdown}}\n{SAMPLE}~~~~\n",
        f"- As a list:\n  ```md\n{SAMPLE}  ```\n",
        f"```markdown\n# 2026-11-20\n\n{SAMPLE}\n## Evening\n\n{SAMPLE}```\n",
        f"````markdown\n{SAMPLE}\n```sh\nls\n```\n````\n",
        f"```markdown\n{SAMPLE}```\n\nAnd another:\n\n```markdown\n{SAMPLE}```\n",
        f"```markdown\n{SAMPLE}```\n\n```sh\nls\n```\n",
    ],
)
@pytest.mark.parametrize("end", ["", "\n```sh\nstill typing\n"])
def test_an_entry_in_a_closed_fence_of_markdown_is_text(fenced: str, end: str) -> None:
    parsed = read(f"{ABOVE}{fenced}{BELOW}{end}")
    assert [entry.title for entry in parsed.entries] == ["Notes on the format", "Tin order"]
    assert "It creaked." in parsed.entries[0].content
    assert parsed.entries[0].content.endswith("That was the sample.")
    assert [issue.code for issue in parsed.issues] == (["open-fence"] if end else [])


@pytest.mark.parametrize("opening", ["```", "~~~", "````", "```python"])
def test_an_entry_between_fences_of_no_language_stays_and_takes_none(opening: str) -> None:
    closing = opening.removesuffix("python")
    parsed = read(f"{ABOVE}{opening}\n{SAMPLE}{closing}\n{BELOW}")
    titles = [entry.title for entry in parsed.entries]
    assert titles == ["Notes on the format", "Oiled the hinge", "Tin order"]
    [issue] = parsed.issues
    assert (issue.code, issue.line) == ("fenced-entry", 6)


FENCES = st.sampled_from(["```", "~~~", "````", "```sh", "  ```", "- ```", "> ```"])
BODIES = st.sampled_from(
    [
        "One line.",
        "Words.\n\nMore words.",
        "Code:\n\n```\n## 12:00 x\n```",
        "```sh\nls\n```",
        "````\n```\n````",
        "~~~\n```\n~~~\n\n```\na\n```",
        "- item\n\n  ```md\n  # x\n  ```",
    ]
)


@given(
    st.lists(BODIES, min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 60), FENCES), max_size=4),
    st.none() | st.integers(0, 60),
)
@settings(max_examples=examples(5_000, 200), deadline=None)
def test_no_fence_that_people_type_takes_a_saved_entry_out(
    bodies: list[str], fences: list[tuple[int, str]], sample: int | None
) -> None:
    """Up to four fences anywhere, or one that says it holds Markdown."""
    blocks = []
    ids = []
    for number, body in enumerate(bodies):
        id = f"20261121-aaaaaaa{number}"
        at = AT + timedelta(minutes=number)
        blocks.append(render_entry(compose_entry(body, id=id, at=at, title="T")[0]))
        ids.append(id)
    lines = ("# 2026-11-21\n\n## 08:00 By hand\n\n" + "\n".join(blocks)).split("\n")
    pieces = fences if sample is None else [(sample, "```markdown")]
    for at, fence in pieces:
        at = 1 + at % len(lines)
        if not lines[at - 1].startswith("## "):  # a line below would part it from its comment
            lines.insert(at, fence)
    ids_read = [entry.id for entry in read("\n".join(lines)).entries if not entry.derived_id]
    assert ids_read == ids
