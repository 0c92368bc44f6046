"""Names of modules, values and functions, where SQL stands, and how a test waits for a page."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

import synaptic

pytestmark = pytest.mark.whole


PACKAGE = Path(synaptic.__file__).parent


def test_no_two_modules_have_one_name() -> None:
    names = Counter(path.stem for path in PACKAGE.rglob("*.py") if path.stem[:2] != "__")
    assert [name for name, count in names.items() if count > 1] == []


VAGUE = {"said", "told", "found", "shown", "kept", "known", "given", "listed"}
"""They say what was done with a value, not what it is."""
IN_JSON = {"features/importing/import_runs.py: kept", "features/lab/model_switch.py: kept"}
"""Fields that programs read in answers as JSON."""


class Module(NamedTuple):
    """What stands in a module: the names of its values, those of its own functions and classes,
    and its constants that are SQL.
    """

    path: str
    values: set[str]
    defined: set[str]
    sql: set[str]


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    """All modules of the package, each parsed once."""
    return [
        read_module(file.relative_to(PACKAGE).as_posix(), ast.parse(file.read_bytes()))
        for file in PACKAGE.rglob("*.py")
    ]


def read_module(path: str, tree: ast.Module) -> Module:
    values, sql = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str | bytes) and SQL.search(str(node.value)):
                sql.add(str(node.value))
        elif isinstance(node, ast.Name | ast.Attribute):
            if isinstance(node.ctx, ast.Store):
                values.add(node.id if isinstance(node, ast.Name) else node.attr)
        elif isinstance(node, ast.arg):
            values.add(node.arg)
    definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    defined = {node.name for node in tree.body if isinstance(node, definitions)}
    return Module(path, values, defined, sql)


def test_names_say_what_a_value_is(modules: list[Module]) -> None:
    vague = {
        f"{module.path}: {name}"
        for module in modules
        for name in module.values
        if name.strip("_").lower() in VAGUE
    }
    assert vague == IN_JSON


COMMANDS_AND_VERBS = (
    "analyze brief confirm delete due find get history links recent restore save search serve "
    "status tasks update"
)
SAME_MEANING = {
    *COMMANDS_AND_VERBS.split(),  # a command, and the verb that it calls
    *("read", "find", "_record"),  # of each source of an import
    *("put", "drop"),  # of each format of settings
    *("news", "catch_up", "main"),  # of each feature; of each entrance
}


def test_a_function_or_class_in_several_modules_means_the_same(modules: list[Module]) -> None:
    counts = Counter(name for module in modules for name in module.defined)
    assert {name for name, count in counts.items() if count > 1} <= SAME_MEANING


SQL = re.compile(
    r"\b(SELECT\s+[^.]+?\bFROM\b|(INSERT|REPLACE)\s+(OR\s+\w+\s+)?INTO\b|DELETE\s+FROM\b"
    r"|UPDATE\s+\w+\s+SET\b|(CREATE|DROP|ALTER)\s+(TABLE|INDEX|VIEW|VIRTUAL|TRIGGER)\b"
    r"|PRAGMA\s+\w+|BEGIN\s+IMMEDIATE\b)"
)
ENGINES = ("features/sharing/postgres.py", "features/sharing/publication.py")
OF_OTHER_PROGRAMS = "features/importing/readers/"


def test_only_the_engines_and_readers_of_other_databases_hold_sql(
    modules: list[Module],
) -> None:
    rooms = {module.path for module in modules if module.sql}
    assert {*ENGINES, "index/database.py"} <= rooms
    strangers = {room for room in rooms if not room.startswith(("index/", OF_OTHER_PROGRAMS))}
    assert strangers == set(ENGINES)


def test_a_page_is_awaited_by_a_function() -> None:
    """The page's policy bars a bare expression from being evaluated a second time."""
    bare = re.compile(r"wait_for_function\(\s*f?[\"'](?!\(\) =>)")
    tests = Path(__file__).parent.rglob("test_*.py")
    assert [test.name for test in tests if bare.search(test.read_text("utf-8"))] == []
