"""One frozen `Config`: option > environment > `config.toml` > default.

| environment        | meaning                                                          |
|--------------------|------------------------------------------------------------------|
| `SYNAPTIC_HOME`    | the home, default `~/.synaptic`                                  |
| `SYNAPTIC_JOURNAL` | the journal folder, default `journal` in the home                |
| `SYNAPTIC_MODEL`   | the embedding model                                              |
| `SYNAPTIC_PROJECT` | the project of saves that name none                              |
| `SYNAPTIC_NOW`     | a fixed clock (ISO; naive means the local zone)                  |
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from .errors import ConfigError

Secrets = Literal["redact", "refuse", "allow"]
"""What happens to passwords, tokens and keys in a text that is saved."""

DEFAULT_MODEL = "all-MiniLM-L6-v2-int8"
"""The model that ships inside the package."""


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """Ranking. Chosen by `scripts/bench.py quality` (docs/BENCHMARKS.md has the table).

    `k` and `weights` (`lexical`, `semantic`) belong to reciprocal rank fusion. An entry's score falls with its age,
    from 1 to `decay_floor` with a half-life of `half_life_days`. `context` is the weight of the words of an entry's
    neighbours in BM25, 0 switches them off. `later_first`: of two entries on one topic the later goes first.
    `speakers`: in the record of a talk, lines of the person whom the question names count more.
    """

    k: float = 2.0
    weights: Mapping[str, float] = field(default_factory=lambda: {"lexical": 1.5, "semantic": 1.0})
    half_life_days: float = 30.0
    decay_floor: float = 0.9
    context: float = 0.3
    later_first: bool = True
    speakers: bool = True
    analysis: bool = True
    anchor_times: bool = True
    stop_words: bool = True
    stemming: bool = True


@dataclass(frozen=True, slots=True)
class HooksConfig:
    """What agents are told unasked: at a session's start, in at most `max_tokens`, and on a prompt.

    What takes longer than `timeout_s` is not told.
    """

    session_start: bool = True
    user_prompt: bool = False
    max_tokens: int = 1200
    timeout_s: float = 3.0


@dataclass(frozen=True, slots=True)
class Config:
    """`exclude` are globs over paths relative to the journal; `day_file` is strftime and may hold folders.

    `notices` name the keys of the file that have no meaning any more; `status` and `doctor` show them.
    """

    home: Path
    journal: Path
    day_file: str = "%Y-%m-%d.md"
    exclude: tuple[str, ...] = ()
    model: str = DEFAULT_MODEL
    threads: int = 1
    project: str | None = None
    secrets: Secrets = "redact"
    track_access: bool = True
    metrics: bool = True
    search: SearchConfig = field(default_factory=SearchConfig)
    hooks: HooksConfig = field(default_factory=HooksConfig)
    notices: tuple[str, ...] = ()

    @property
    def state(self) -> Path:
        """What Synaptic keeps for itself: index, spool, trash, lock."""
        return self.home / ".state"


def load_config(home: str | Path | None = None, *, environ: Mapping[str, str] = os.environ) -> Config:
    """The configuration in force.

    Raises ConfigError naming the file, the key and the valid values.
    """
    root = resolve_home(home, environ=environ)
    path = root / "config.toml"
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        raw = {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}.", hint="Mend that line.") from error
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.") from error
    notices = _drop_removed(path, raw)
    _reject_unknown(path, raw, _FILE_KEYS, "")
    search, hooks = (_table(path, name, raw.pop(name, {})) for name in _TABLES)
    values: dict[str, Any] = {key: _check(path, key, value) for key, value in raw.items()}
    journal = environ.get("SYNAPTIC_JOURNAL") or values.pop("journal", None) or "journal"
    values.pop("journal", None)
    if environ.get("SYNAPTIC_MODEL"):
        values["model"] = environ["SYNAPTIC_MODEL"]
    if environ.get("SYNAPTIC_PROJECT"):
        values["project"] = environ["SYNAPTIC_PROJECT"]
    return Config(
        home=root,
        journal=(root / _expand(journal, f"{path}: journal")).absolute(),
        search=SearchConfig(**search),
        hooks=HooksConfig(**hooks),
        notices=notices,
        **values,
    )


def resolve_home(home: str | Path | None, *, environ: Mapping[str, str] = os.environ) -> Path:
    """The home: the argument, else `SYNAPTIC_HOME`, else `~/.synaptic`. Absolute."""
    return _expand(str(home or environ.get("SYNAPTIC_HOME") or "~/.synaptic"), "The home").absolute()


def make_clock(environ: Mapping[str, str] = os.environ) -> Callable[[], datetime]:
    """A function that returns the present moment, aware and local; `SYNAPTIC_NOW` fixes it.

    Raises ConfigError for a `SYNAPTIC_NOW` that is no ISO date-time.
    """
    fixed = environ.get("SYNAPTIC_NOW")
    if not fixed:
        return lambda: datetime.now().astimezone()
    try:
        moment = datetime.fromisoformat(fixed)
        moment = moment.astimezone() if moment.tzinfo is None else moment
    except (ValueError, OverflowError, OSError) as error:
        raise ConfigError(
            f"SYNAPTIC_NOW is {fixed!r}, which is no ISO date-time.",
            hint="Write it like 2026-11-21T09:31:00.",
        ) from error
    return lambda: moment


def _expand(path: str, what: str) -> Path:
    if "\0" in path:
        raise ConfigError(f"{what} holds a NUL byte.")
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ConfigError(
            f"{what} is {path}, and this machine knows no home folder for it ($HOME is unset).",
            hint="Set SYNAPTIC_HOME to an absolute path.",
        ) from error


def _positive(value: object) -> bool:
    return _number(value) and value > 0  # type: ignore[operator]


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _weights(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) <= {"lexical", "semantic"}
        and all(_number(weight) and weight >= 0 for weight in value.values())
        and any(weight > 0 for weight in value.values())
    )


def _day_file(value: object) -> bool:
    """True for a relative Markdown path with a whole date in it, so that each day has one file."""
    if not isinstance(value, str) or not value.endswith(".md") or "\0" in value:
        return False
    parts = Path(value).parts
    try:
        dated = {datetime(*day).strftime(value) for day in ((2026, 1, 2), (2026, 1, 3), (2026, 2, 2), (2027, 1, 2))}
    except ValueError:
        return False
    return len(dated) == 4 and not value.startswith("/") and not any(p.startswith(".") for p in parts)


_RULES: dict[str, tuple[Callable[[object], bool], str]] = {
    "journal": (lambda v: isinstance(v, str) and bool(v), "a path"),
    "day_file": (_day_file, 'a relative path with year, month and day, like "%Y-%m-%d.md" or "%Y/%m/%d.md"'),
    "exclude": (
        lambda v: isinstance(v, list) and all(isinstance(glob, str) for glob in v),
        'a list of globs, like ["archive/**", "*.excalidraw.md"]',
    ),
    "model": (lambda v: isinstance(v, str) and bool(v), f'"{DEFAULT_MODEL}" or a model that fastembed lists'),
    "threads": (lambda v: isinstance(v, int) and not isinstance(v, bool) and 1 <= v <= 64, "1 to 64"),
    "project": (lambda v: isinstance(v, str) and bool(v), "a project name"),
    "secrets": (lambda v: v in ("redact", "refuse", "allow"), '"redact", "refuse" or "allow"'),
    "track_access": (lambda v: isinstance(v, bool), "true or false"),
    "metrics": (lambda v: isinstance(v, bool), "true or false"),
    "search.k": (_positive, "a number above 0"),
    "search.weights": (_weights, "{ lexical = 1.0, semantic = 1.0 }, none negative, not both 0"),
    "search.half_life_days": (_positive, "a number of days above 0"),
    "search.decay_floor": (lambda v: _number(v) and 0 <= v <= 1, "0 to 1; 1 switches decay off"),  # type: ignore[operator]
    "search.context": (lambda v: _number(v) and 0 <= v <= 10, "0 to 10; 0 switches it off"),  # type: ignore[operator]
    "search.later_first": (lambda v: isinstance(v, bool), "true or false"),
    "search.speakers": (lambda v: isinstance(v, bool), "true or false"),
    "search.analysis": (lambda v: isinstance(v, bool), "true or false"),
    "search.anchor_times": (lambda v: isinstance(v, bool), "true or false"),
    "search.stop_words": (lambda v: isinstance(v, bool), "true or false"),
    "search.stemming": (lambda v: isinstance(v, bool), "true or false"),
    "hooks.session_start": (lambda v: isinstance(v, bool), "true or false"),
    "hooks.user_prompt": (lambda v: isinstance(v, bool), "true or false"),
    "hooks.max_tokens": (lambda v: isinstance(v, int) and not isinstance(v, bool) and 100 <= v <= 2_400, "100 to 2400"),
    "hooks.timeout_s": (lambda v: _number(v) and 0.1 <= v <= 60, "0.1 to 60"),  # type: ignore[operator]
}
_TABLES: Mapping[str, type[SearchConfig | HooksConfig]] = {"search": SearchConfig, "hooks": HooksConfig}
_REMOVED = {"search.resolve_pronouns": "The index no longer replaces pronouns by names."}
"""Keys of the last release that have no meaning any more, and why. A key stays here for one release."""

_FILE_KEYS = (*(key for key in _RULES if "." not in key), *_TABLES)


def _table(path: Path, name: str, table: object) -> dict[str, Any]:
    """The checked values of a table of the file."""
    valid = tuple(f.name for f in fields(_TABLES[name]))
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: {name} must be a table, [{name}].", valid=valid)
    _reject_unknown(path, table, valid, f"{name}.")
    return {key: _check(path, f"{name}.{key}", value) for key, value in table.items()}


def _drop_removed(path: Path, raw: dict[str, Any]) -> tuple[str, ...]:
    """Takes removed keys out of what the file says; a notice for each."""
    notices = []
    for key, reason in _REMOVED.items():
        table, _, name = key.rpartition(".")
        values = raw.get(table) if table else raw
        if isinstance(values, dict) and name in values:
            del values[name]
            notices.append(f"{path}: the key {key} was removed and is ignored. {reason} Delete its line.")
    return tuple(notices)


def _reject_unknown(path: Path, table: Mapping[str, object], valid: tuple[str, ...], prefix: str) -> None:
    unknown = sorted(set(table) - set(valid))
    if unknown:
        raise ConfigError(f"{path}: unknown key {prefix}{unknown[0]}.", valid=valid, hint="Remove or rename it.")


def _check(path: Path, key: str, value: object) -> Any:
    accepts, description = _RULES[key]
    if not accepts(value):
        raise ConfigError(f"{path}: {key} = {value!r} is not valid.", valid=(description,))
    if isinstance(value, list):
        return tuple(value)
    if key == "search.weights":
        return {"lexical": 0.0, "semantic": 0.0} | dict(value)  # type: ignore[call-overload]
    return value
