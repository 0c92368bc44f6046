"""Names of modules, and where SQL stands."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import synaptic

PACKAGE = Path(synaptic.__file__).parent


def test_no_two_modules_have_one_name() -> None:
    names = Counter(path.stem for path in PACKAGE.rglob("*.py") if path.stem[:2] != "__")
    assert [name for name, count in names.items() if count > 1] == []


SQL = re.compile(
    r"\b(SELECT\s+[^.]+?\bFROM\b|(INSERT|REPLACE)\s+(OR\s+\w+\s+)?INTO\b|DELETE\s+FROM\b"
    r"|UPDATE\s+\w+\s+SET\b|(CREATE|DROP|ALTER)\s+(TABLE|INDEX|VIEW|VIRTUAL|TRIGGER)\b"
    r"|PRAGMA\s+\w+|BEGIN\s+IMMEDIATE\b)"
)
ENGINES = ("features/sharing/postgres.py", "features/sharing/publication.py")
OF_OTHER_PROGRAMS = "features/importing/readers/"


def test_only_the_engines_and_readers_of_other_databases_hold_sql() -> None:
    rooms = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.Constant) and SQL.search(str(node.value))
    }
    assert {*ENGINES, "index/database.py"} <= rooms
    strangers = {room for room in rooms if not room.startswith(("index/", OF_OTHER_PROGRAMS))}
    assert strangers == set(ENGINES)
