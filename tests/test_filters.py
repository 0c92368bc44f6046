"""The table of filters is all that a filter needs, but its SQL."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from homes import open_home
from newer import package_with
from outside import Home
from served import served

from synaptic import build_filters, save, search
from synaptic.cli.main import app
from synaptic.filters import FILTERS, KEYS, Filters, Form
from synaptic.index.conditions import CONDITION_OF_FIELD
from synaptic.language.query import parse_query
from synaptic.models import Texts

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def test_no_and_zero_are_values_of_a_filter() -> None:
    """A flag that says no is in force, is named in answers, and stands before the query."""
    for values in ({"has_body": False}, {"max_importance": 0}, {"min_importance": 0}):
        filters = Filters(**values)  # type: ignore[arg-type]
        assert filters.active_values() == values and list(filters.one_by_one()) == list(values)
    no_body = build_filters(now=NOW, has_body=False)
    assert parse_query("has:body redis", no_body, now=NOW).filters == no_body


def test_a_filter_that_says_no_is_named_as_a_reason(tmp_path: Path) -> None:
    with open_home(tmp_path) as ws:
        save(ws, "Redis keeps the sessions.")
        filters = build_filters(now=ws.clock(), has_files=False)
        [hit] = search(ws, "redis", filters=filters, explain=True).hits
        assert hit.why is not None and hit.why.matched_filters == ("has_files",)


def test_each_filter_has_one_row_and_each_field_its_sql() -> None:
    names = [field.name for field in fields(Filters)]
    assert {row.field for row in FILTERS.values()} == {*names} - {
        "words",
        "all_words",
        "ids",
        "scope",
        "without",
    }
    assert list(CONDITION_OF_FIELD) == [name for name in names if name != "include_superseded"]
    assert len(KEYS) == len([row for row in FILTERS.values() if row.key])
    for row in FILTERS.values():
        assert bool(row.commands) == bool(row.help or row.values), row.name
        assert bool(row.page) == bool(row.label), row.name


def test_the_help_of_search_names_each_key_of_a_query() -> None:
    [command] = [each for each in app.registered_commands if each.name == "search"]
    assert command.callback and command.callback.__doc__
    named = command.callback.__doc__.split()
    assert {f"{key.partition(':')[0]}:" for key in KEYS} <= {word.strip(",") for word in named}


class New(NamedTuple):
    """A filter that the package lacks; with this `value` it lets only the note Alpha pass."""

    name: str
    form: Form
    value: str
    key: str
    default: str
    sql: str

    @property
    def flags(self) -> Texts:
        flag = f"--{self.name.replace('_', '-')}"
        return (flag,) if ":" in self.key else (flag, self.value)

    @property
    def typed(self) -> str:
        return self.key if ":" in self.key else f"{self.key}:{self.value}"


_HAS_LINKS = "(EXISTS (SELECT 1 FROM link WHERE entry = e.rowid)) = ?"
_TASKS = "(SELECT count(*) FROM task WHERE entry = e.rowid) = ?"
_BY = 'e."by"'
NEW = (
    New(
        "writer",
        "texts",
        "codex",
        "writer",
        "Texts = ()",
        f"f'{_BY} IN {{BOUND_LIST}}', _json_list",
    ),
    New("titled", "text", "Alpha", "titled", "str | None = None", "'e.title = ?'"),
    New("not_on", "day", "yesterday", "not_on", "str | None = None", "'e.date <> ?'"),
    New("tasks", "integer", "1", "tasks", "int | None = None", f"'{_TASKS}'"),
    New("signed", "switch", "yes", "is:signed", "bool = False", f"'{_BY} > ?', lambda _: ['']"),
    New("has_links", "yes or no", "yes", "has:links", "bool | None = None", f"'{_HAS_LINKS}'"),
)
"""One of each form."""
NOTES = """\
## 09:00 Alpha
<!-- syn:20261119-aaaaaaaa by=codex -->

- [ ] Write to [[Beta]].
"""


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with two notes, and a package with the new filters: changes of two files."""
    folder = tmp_path_factory.mktemp("newer")
    rows = ""
    for new in NEW:
        rows += (
            f'    Filter("{new.name}", "{new.form}", commands=LISTS, help="Only some.", '
            f'tools=LISTS, about="only some", key="{new.key}", page="form", label="Some"),\n'
        )
    without = "    without: Filters | None = None\n"
    sql = '    "without": _exclusion_condition,\n'
    changes = {
        "filters.py": {
            without: "".join(f"    {new.name}: {new.default}\n" for new in NEW) + without,
            "\n)\nFILTERS:": f"\n{rows})\nFILTERS:",
        },
        "index/conditions.py": {
            sql: sql
            + "".join(f'    "{new.name}": _fixed_condition({new.sql}),\n' for new in NEW)
        },
    }
    package = package_with(folder / "package", changes)
    home = Home(folder / "home", {"PYTHONPATH": str(package), "PYTHONSAFEPATH": "1"})
    home.env["SYNAPTIC_NOW"] = "2026-11-21T12:00:00+00:00"
    home.journal.mkdir(parents=True)
    (home.journal / "2026-11-19.md").write_text(NOTES)
    (home.journal / "2026-11-20.md").write_text("## 10:00 Beta\n\nText.\n")
    return home


def titles(answer: dict[str, Any]) -> list[str]:
    return [entry["title"] for entry in answer["entries"]]


def test_a_new_filter_is_on_the_command_line(newer: Home) -> None:
    assert titles(newer.ask("find")) == ["Beta", "Alpha"]
    flags = [flag for new in NEW for flag in new.flags]
    for command in ("find", "search"):
        text = newer.run(command, "--help").out
        assert not [new.flags[0] for new in NEW if new.flags[0] not in text], command
    assert titles(newer.ask("find", *flags)) == ["Alpha"]
    assert titles(newer.ask("find", "--no-links")) == ["Beta"]


def test_a_new_filter_is_in_tools_and_queries(newer: Home) -> None:
    with newer.server() as server:
        for new in NEW:
            assert titles(server.call("find", **{new.name: new.value})) == ["Alpha"], new
            hits = server.call("search", query=new.typed)["hits"]
            assert [hit["title"] for hit in hits] == ["Alpha"], new
        left_out = server.call("search", query="-tasks:1 beta")["hits"]
        assert [hit["title"] for hit in left_out] == ["Beta"]
        [notice] = server.call("search", query="tasks:many beta")["notices"]
        assert notice.startswith("tasks is 'many', which is not a whole number. Valid: 0 to ")


@pytest.mark.needs(feature="page")
def test_a_new_filter_is_on_the_page(newer: Home) -> None:
    with served(newer.path, installed=True, **newer.env) as server:
        form = server.shown("/search")
        assert "Alpha" in form and "Beta" in form
        for new in NEW:
            page = server.shown(f"/search?{new.name}={new.value}")
            assert "Alpha" in page and "/entry/20261119-aaaaaaaa" in page, new
            assert ">Beta</a>" not in page, new
            assert f' name="{new.name}"' in form, new
        assert ">Alpha</a>" not in server.shown("/search?has_links=no")
        wrong = server.shown("/search?tasks=many", 400)
        assert (
            "which is not a whole number." in wrong and '<details class="dates" open>' in wrong
        )
