"""Templates of a vault are found and filled in, and nothing in them is run."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from homes import open_home

from synaptic.errors import InvalidArgument, NotFound
from synaptic.features.page.filling import fill_template, find_templates
from synaptic.notes.moment import format_moment
from synaptic.verbs.saving import save

AT = datetime(2026, 3, 5, 14, 7, 9, 45_000, UTC)
MOMENTS = {
    "YYYY-MM-DD HH:mm:ss": "2026-03-05 14:07:09",
    "dddd, MMMM Do YY": "Thursday, March 5th 26",
    "ddd dd d E D/M": "Thu Th 4 4 5/3",
    "GGGG-[W]WW gggg-[w]ww": "2026-W10 2026-w10",
    "h:mm a [o'clock] A": "2:07 pm o'clock PM",
    "DDDD Q Qo SSS X Z": "064 1 1st 045 1772719629 +00:00",
    "LL / LT": "March 5, 2026 / 2:07 PM",
    "[]T[YYYY": "T[2026",
}
BLOCKS = """\
- Ours
- # Meeting
  id:: 60a79104-bd2b-486c-bb9e-9d264650ce10
  template:: meeting
  template-including-parent:: true
	- With {{title}}
	- on {{date}}
- Steps
  template:: steps
  id:: 60a79104-bd2b-486c-bb9e-9d264650ce1f
  template-including-parent:: false
	- one
		- two
- template:: bare
	- Alone
- Not `template:: code`
"""


def write(journal: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = journal / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_a_moment_is_written_as_moment_js_writes_it() -> None:
    assert {form: format_moment(AT, form) for form in MOMENTS} == MOMENTS
    # week 1 has 1 January, and begins on Sunday; by ISO it has the first Thursday
    edges = {
        "2026-12-27": "2027 1 2026 52",
        "2027-01-01": "2027 1 2026 53",
        "9999-12-31": "10000 1 9999 52",
    }
    for day, weeks in edges.items():
        at = datetime.fromisoformat(day).astimezone()
        assert format_moment(at, "gggg w GGGG W") == weeks


def test_a_template_of_obsidian_is_filled_in_and_not_run(tmp_path: Path) -> None:
    journal = tmp_path / "home" / "journal"
    outside = tmp_path / "outside.md"
    outside.write_text("Outside.", encoding="utf-8")
    write(
        journal,
        {
            ".obsidian/templates.json": '{"folder": "/Forms/", "timeFormat": "H.mm"}',
            ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "../x"}',
            "Forms/Day.md": "---\ntags: [day]\n---\n# {{title}} {{ Date }}\n{{time}} {{date:dddd}}"
            "\n<% tp.date.now() %> {{weather}} {{title:x}}\n<private>mine</private>",
            "Forms/job/Call.md": "Call at {{time:HH}}",
            "Forms/City.md": "---\ntags: [city]\n---\n",
            "Forms/.hidden.md": "",
            "Forms/picture.png": "",
            "Forms/Huge.md": "x" * 300_000,
            "Templates/Day.md": "another",
        },
    )
    (journal / "Forms/Link.md").symlink_to(outside)
    with open_home(tmp_path / "home") as ws:
        assert list(find_templates(ws)) == ["City", "Day", "job/Call"]
        left = "<% tp.date.now() %> {{weather}} {{title:x}}"
        filled = f"# Soup 2026-11-21\n9.30 Saturday\n{left}"
        assert fill_template(ws, "Day", title="Soup") == filled
        assert (
            fill_template(ws, "job/Call", title="", moment="2026-01-02 18:30") == "Call at 18"
        )
        assert fill_template(ws, "Day", title="").startswith("# 2026-11-21 2026-11-21")
        with pytest.raises(InvalidArgument, match="properties and no text"):
            fill_template(ws, "City", title="")
        for name in ("Link", "../../outside", ""):
            with pytest.raises(NotFound, match="no template"):
                fill_template(ws, name, title="")


def test_what_is_left_out_is_no_template(tmp_path: Path) -> None:
    journal = tmp_path / "home" / "journal"
    files = {
        ".obsidian/templates.json": '{"folder": "kept"}',
        ".obsidian/plugins/templater-obsidian/data.json": '{"templates_folder": "Forms"}',
        "kept/Diary.md": "Mine alone.",
        "Forms/Day.md": "# {{title}}",
        "Forms/Secret.md": "Mine alone.",
        "Forms/inner/Call.md": "Mine alone.",
        "Templates/Off.md": "---\nsynaptic: false\n---\nMine alone.",
        "Templates/Also off.md": "+++\nsynaptic = false\n+++\nMine alone.",
        "Templates/On.md": "---\nsynaptic: true\n---\nOurs.",
    }
    write(journal, files)
    excluded = ("KEPT/**", "Forms/**/*", "**/Secret.md", "*/inner", "Templates/**")
    with open_home(tmp_path / "home", exclude=excluded) as ws:
        assert list(find_templates(ws)) == ["Day", "On"]
        for name in ("Diary", "Secret", "inner/Call", "Off"):
            with pytest.raises(NotFound, match="no template"):
                fill_template(ws, name, title="")


def test_an_entry_with_a_tag_for_templates_is_one(tmp_path: Path) -> None:
    with open_home(tmp_path / "home") as ws:
        assert not find_templates(ws)
        save(ws, "#vorlage\n\n## Räume\n\n## Maße am {{date}}", title="Erstbesuch")
        save(ws, "With {{title}}: #templates", title="Call", tags=["template"])
        assert fill_template(ws, "Erstbesuch", title="") == "## Räume\n\n## Maße am 2026-11-21"
        assert fill_template(ws, "Call", title="Ida") == "With Ida: #templates"
        assert list(find_templates(ws)) == ["Call", "Erstbesuch"]


def test_a_block_of_logseq_is_a_template(tmp_path: Path) -> None:
    journal = tmp_path / "home" / "journal"
    write(journal, {"logseq/config.edn": "{}", "pages/templates.md": BLOCKS})
    with open_home(tmp_path / "home") as ws:
        texts = {name: read() for name, read in find_templates(ws).items()}
        assert texts == {
            "meeting": "- # Meeting\n\t- With {{title}}\n\t- on {{date}}",
            "steps": "- one\n\t- two",
            "bare": "- Alone",
        }
