"""One frozen `Config`: option > environment > `config.toml` > default.

| environment        | meaning                                                          |
|--------------------|------------------------------------------------------------------|
| `SYNAPTIC_HOME`    | the home, default `~/.synaptic`                                  |
| `SYNAPTIC_JOURNAL` | the journal folder, default `journal` in the home                |
| `SYNAPTIC_MODEL`   | the embedding model                                              |
| `SYNAPTIC_PROJECT` | the project of saves that name none                              |
| `SYNAPTIC_NOW`     | a fixed clock (ISO; naive means the local zone)                  |
"""

import errno
import os
import stat
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from .errors import ConfigError

Secrets = Literal["redact", "refuse", "allow"]
"""What a save does with passwords, tokens and keys in a text: replaces them, refuses the save,
or keeps them.
"""

DEFAULT_MODEL = "synaptic-multilingual-2"
"""The model in use where config.toml names none; it ships inside the package."""
FORMER_MODELS = ("synaptic-minilm-1", "synaptic-multilingual-1", "all-minilm-l6-v2-int8")
"""Models that shipped before, in lower case; a config.toml that names one gets DEFAULT_MODEL.
"""


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """The settings of ranking. The defaults were chosen by `scripts/bench.py panel`
    (docs/BENCHMARKS.md has the tables).

    `k` and `weights` (`lexical`, `semantic`, `tokens`) belong to reciprocal rank fusion. An
    entry's score falls with its age, from 1 to `decay_floor` with a half-life of
    `half_life_days`. `neighbours` is the share of the score of the entries before and after it
    that an entry gains; 0 switches it off. `speakers`: in the record of a talk, lines of the
    person whom the query names count more.
    """

    k: float = 60.0
    weights: Mapping[str, float] = field(
        default_factory=lambda: {"lexical": 1.0, "semantic": 1.0, "tokens": 1.0}
    )
    half_life_days: float = 30.0
    decay_floor: float = 0.9
    neighbours: float = 0.2
    speakers: bool = True
    analysis: bool = True
    stop_words: bool = True
    stemming: bool = True


CLIENT_WAITS_S = 10
"""Seconds that a client waits for a hook, as `setup` registers it."""
HOOK_S = 8.0
"""The seconds of these that the hook itself has; the others are for the start of its process.
"""


@dataclass(frozen=True, slots=True)
class HooksConfig:
    """Which hooks of a client give the agent entries: at a session's start, on each prompt, and
    at its end.

    `tools`: also before an edit, and after a command that failed. An answer at the start has
    at most `max_tokens`, of which 920 are at most 900 of o200k. An answer that takes longer
    than `timeout_s` is left out; without it, after `usual_s` or `longest_s`.
    """

    session_start: bool = True
    user_prompt: bool = False
    stop: bool = False
    tools: bool = False
    max_tokens: int = 920
    timeout_s: float | None = None

    @property
    def usual_s(self) -> float:
        """Seconds after which a start shows its last briefing, and most hooks say nothing."""
        return self.timeout_s or 3.0

    @property
    def longest_s(self) -> float:
        """Seconds for which a prompt waits for a server, and a start without a last briefing
        for its first one.
        """
        return self.timeout_s or HOOK_S


@dataclass(frozen=True, slots=True)
class SyncConfig:
    """The git repository, and its branch, through which machines share the journal; `synaptic
    sync --init` writes both. `auto`: sync also after saves and when a session starts.
    """

    url: str = ""
    branch: str = ""
    auto: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of a home. `exclude` are globs over paths below their root; `day_file` is a
    strftime pattern and may hold folders. `day_title` is one by which links name a day, "" for
    the usual forms.

    `sources` maps names (`@vault`) to folders, or single notes, that are read in place.
    `at_tags`: `@name` in a text is the tag `name`, as in jrnl. `hours_in_text`: `(2h)` and
    `(1:30)` in a text count as its hours. `text_files`: `.txt` is read, and never written.
    `capture`: agents' sessions are digested when they end, into the folder `capture_into`.
    Entries of `exclude_projects` are not imported. `port` is that of the page; 0: a free one.
    `language` is that of the page, such as `de`; "": the one of the browser.
    `tool_list`: the tools that `synaptic setup` gives each client, as in `serving/tool_lists`.
    `notices` name ignored keys of the file; `status`, `doctor` and briefings show them.
    """

    home: Path
    journal: Path
    day_file: str = "%Y-%m-%d.md"
    day_title: str = ""
    at_tags: bool = False
    hours_in_text: bool = False
    text_files: bool = False
    sources: Mapping[str, Path] = field(default_factory=dict)
    capture_into: Literal["sessions", "journal"] = "sessions"
    exclude: tuple[str, ...] = ()
    model: str = DEFAULT_MODEL
    threads: int = 1
    project: str | None = None
    capture: bool = False
    exclude_projects: tuple[str, ...] = ()
    secrets: Secrets = "redact"
    track_access: bool = True
    metrics: bool = True
    port: int = 0
    language: Literal["", "en", "de", "ja"] = ""
    tool_list: Literal["by client", "short", "whole"] = "by client"
    search: SearchConfig = field(default_factory=SearchConfig)
    hooks: HooksConfig = field(default_factory=HooksConfig)
    sync: SyncConfig = field(default_factory=SyncConfig)
    notices: tuple[str, ...] = ()

    @property
    def state(self) -> Path:
        """Synaptic's own folder, with the index, the trash and the lock."""
        return self.home / ".state"

    @property
    def index_file(self) -> Path:
        """The file of the index; each model has its own, so that switching back is quick."""
        model = self.model.casefold()
        if model == DEFAULT_MODEL.casefold():
            return self.state / "index.db"
        return self.state / f"index-{blake2b(model.encode(), digest_size=4).hexdigest()}.db"

    @property
    def roots(self) -> Mapping[str, Path]:
        """Maps the name of each root, a folder whose notes are read, to its path. The name is
        the first part of a journal path (`@vault/x.md`); "" is the journal itself.
        """
        return {"": self.journal, "@sessions": self.home / "sessions", **self.sources}


def load_config(home: str | Path | None = None, *, for_agent: bool = False) -> Config:
    """Reads config.toml and the environment and returns the settings in force.

    Raises ConfigError naming the file, the key and the valid values. `for_agent`: a switch that
    stands in the wrong table is a notice, because an agent cannot wait for a person to move it.
    """
    root = resolve_home(home)
    path = root / "config.toml"
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a FIFO would be waited for
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        raw = {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} is not valid TOML: {error}.", "Mend that line of the file."
        ) from error
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}.",
            "Check the owner and the mode of the file.",
        ) from error
    values, notices = _read_values(path, raw, for_agent=for_agent)
    for key in ("journal", "model", "project"):
        if override := os.environ.get(f"SYNAPTIC_{key.upper()}"):
            values[key] = override
    if values.get("model", "").casefold() in FORMER_MODELS:
        values["model"] = DEFAULT_MODEL
    folder = root / expand_path(values.pop("journal", "journal"), f"{path}: journal")
    sources = values.pop("sources", ())
    own = Config(home=root, journal=folder.absolute(), notices=notices, **values)
    return replace(own, sources=read_sources(path, own, sources))


def resolve_home(home: str | Path | None) -> Path:
    """The absolute path of Synaptic's home folder: `home`, else `SYNAPTIC_HOME`, else
    `~/.synaptic`.
    """
    place = home or os.environ.get("SYNAPTIC_HOME") or "~/.synaptic"
    return expand_path(str(place), "The home").absolute()


def read_sources(path: Path, own: Config, sources: Sequence[str]) -> dict[str, Path]:
    """Maps the name of each source (`@vault`) to its folder. `sources` are the values in the
    config.toml at `path`; `own` holds its other settings.

    A path with a `*` gives a source for each matching folder, named `@NAME-MATCH`.
    Raises ConfigError for a folder or a name that is given twice.
    """
    folders = dict(own.roots)
    for source in sources:
        name, sign, place = source.partition("=")
        if not sign or Path(name).name != name:
            name = ""
            place = source
        folder = own.home / expand_path(place, f"{path}: sources")
        folder = Path(os.path.abspath(folder))  # noqa: PTH100, Path keeps `..`
        name = f"@{name or folder.name}"
        if "*" in place:
            above, _, below = str(folder).partition("*")
            for match in sorted(Path(above).glob(f"*{below}")):
                star = match.relative_to(above).parts[0].strip("-")
                folders[f"{name}-{star}"] = match
            continue
        if name.casefold() in map(str.casefold, folders):
            raise ConfigError(
                f"{path}: two folders have the name {name}.",
                f'Name one: sources = ["NAME={folder}"].',
            )
        if os.path.realpath(folder) in map(os.path.realpath, folders.values()):
            raise ConfigError(
                f"{path}: the folder {folder} is given twice in `journal` and `sources`.",
                "Remove one of the two.",
            )
        folders[name] = folder
    return {name: folder for name, folder in folders.items() if name not in own.roots}


CLOCK_YEARS = range(1000, 9000)
"""The years that SYNAPTIC_NOW may lie in: dates some centuries before and after must exist."""


def make_clock() -> Callable[[], datetime]:
    """Returns a function that gives the present moment as an aware local time; always the
    moment in `SYNAPTIC_NOW` if that is set.

    Raises ConfigError if `SYNAPTIC_NOW` is not an ISO date-time, or lies outside CLOCK_YEARS.
    """
    fixed = os.environ.get("SYNAPTIC_NOW")
    if not fixed:
        return lambda: datetime.now().astimezone()
    hint = "Write it like 2026-11-21T09:31:00."
    try:
        moment = datetime.fromisoformat(fixed)
    except ValueError as error:
        message = f"SYNAPTIC_NOW is {fixed!r}, which is not an ISO date-time."
        raise ConfigError(message, hint) from error
    if moment.year not in CLOCK_YEARS:
        raise ConfigError(
            f"SYNAPTIC_NOW is {fixed!r}, outside of the supported years.",
            hint,
            valid=(f"the years {CLOCK_YEARS[0]} to {CLOCK_YEARS[-1]}",),
        )
    moment = moment if moment.tzinfo else moment.astimezone()
    return lambda: moment


def expand_path(path: str, what: str) -> Path:
    """Replaces `~` in a path by the user's home folder and returns the path. Raises ConfigError
    for a path with a NUL or bytes that are not UTF-8; `what` names the setting in the message.
    """
    if "\0" in path:
        raise ConfigError(f"{what} holds a NUL byte.", "Remove it from the path.")
    try:
        path.encode()
    except UnicodeEncodeError as error:
        readable = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise ConfigError(
            f"{what} is {readable}, which is not UTF-8.",
            "Rename that folder, or choose another.",
        ) from error
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ConfigError(
            f"{what} is {path}, and this machine knows no home folder for it ($HOME is unset).",
            "Set SYNAPTIC_HOME to an absolute path.",
        ) from error


def is_day_file_setting(value: object) -> bool:
    """True if `value` is a valid `day_file`: a relative strftime pattern ending in `.md` that
    gives each day a path of its own.
    """
    if not isinstance(value, str) or not value.endswith(".md") or "\0" in value:
        return False
    if value.startswith("/") or any(part.startswith(".") for part in Path(value).parts):
        return False
    days = (2026, 1, 2), (2026, 1, 3), (2026, 2, 2), (2027, 1, 2)
    try:
        return len({datetime(*day).strftime(value) for day in days}) == len(days)
    except ValueError:
        return False


def _are_valid_weights(value: Any) -> bool:
    if not isinstance(value, dict) or not value.keys() <= {"lexical", "semantic", "tokens"}:
        return False
    accepts, _ = _make_number_rule(0, 1e9)
    return all(map(accepts, value.values())) and any(value.values())


Rule = tuple[Callable[[Any], bool], str]


def _make_text_rule(valid: str) -> Rule:
    return lambda v: isinstance(v, str) and bool(v), valid


def _make_text_list_rule(valid: str) -> Rule:
    return lambda v: isinstance(v, list) and all(isinstance(text, str) for text in v), valid


def _make_choice_rule(*values: str) -> Rule:
    return lambda v: v in values, " or ".join(f'"{value}"' for value in values)


def _make_number_rule(
    low: float, high: float, remark: str = "", *, kinds: Any = (int, float)
) -> Rule:
    # a bool is an int to isinstance
    return lambda v: type(v) in kinds and low <= v <= high, f"{low:g} to {high:g}{remark}"


_SWITCH: Rule = (lambda v: isinstance(v, bool), "true or false")
_RULES: dict[str, Rule] = {
    "journal": _make_text_rule("a path"),
    "day_file": (
        is_day_file_setting,
        'a relative path with year, month and day, like "%Y-%m-%d.md" or "%Y/%m/%d.md"',
    ),
    "day_title": (
        lambda v: isinstance(v, str) and (not v or is_day_file_setting(f"{v}.md")),
        'a date with year, month and day, like "%m-%d-%Y"',
    ),
    "at_tags": _SWITCH,
    "text_files": _SWITCH,
    "hours_in_text": _SWITCH,
    "exclude": _make_text_list_rule('a list of globs, like ["archive/**", "*.excalidraw.md"]'),
    "sources": _make_text_list_rule(
        'a list of folders, like ["~/vault", "work=~/Documents/vault"]'
    ),
    "capture": _SWITCH,
    "capture_into": _make_choice_rule("sessions", "journal"),
    "model": _make_text_rule(
        f'"{DEFAULT_MODEL}", a model that fastembed lists, or the whole path of a folder '
        f"with one"
    ),
    "threads": _make_number_rule(1, 64, kinds=(int,)),
    "project": _make_text_rule("a project name"),
    "exclude_projects": _make_text_list_rule('a list of project names, like ["taxes"]'),
    "secrets": _make_choice_rule("redact", "refuse", "allow"),
    "track_access": _SWITCH,
    "metrics": _SWITCH,
    "tool_list": _make_choice_rule("by client", "short", "whole"),
    "port": _make_number_rule(0, 65535, "; 0 takes a free one", kinds=(int,)),
    "language": _make_choice_rule("", "en", "de", "ja"),
    "search.k": _make_number_rule(1e-9, 1e9),
    "search.weights": (
        _are_valid_weights,
        "{ lexical = 1.0, semantic = 1.0, tokens = 1.0 }, none negative, not all 0",
    ),
    "search.half_life_days": _make_number_rule(1e-9, 1e9),
    "search.decay_floor": _make_number_rule(0, 1, "; 1 switches decay off"),
    "search.neighbours": _make_number_rule(0, 1, "; 0 switches it off"),
    "search.speakers": _SWITCH,
    "search.analysis": _SWITCH,
    "search.stop_words": _SWITCH,
    "search.stemming": _SWITCH,
    "hooks.session_start": _SWITCH,
    "hooks.user_prompt": _SWITCH,
    "hooks.stop": _SWITCH,
    "hooks.tools": _SWITCH,
    "hooks.max_tokens": _make_number_rule(100, 2400, kinds=(int,)),
    "hooks.timeout_s": _make_number_rule(0.1, 60),
    "sync.url": _make_text_rule(
        "the address of a git repository, which `synaptic sync --init` writes"
    ),
    "sync.branch": _make_text_rule("a branch of that repository"),
    "sync.auto": _SWITCH,
}
"""For each key of config.toml (`search.k` is `k` in the table `search`): a function that checks
its value, and a text that describes the valid values.
"""

_REMOVED = {
    "search.context": "The index no longer holds the words of an entry's neighbours.",
    "search.resolve_pronouns": "The index no longer replaces pronouns by names.",
    "search.later_first": "A later entry is named below the hit, and moves none.",
    "search.anchor_times": 'The index no longer holds the dates of times like "yesterday".',
}
"""Keys of config.toml that were removed, each with the reason. A file that has one gets a
notice; a row stays here for one release.
"""


def _read_values(
    path: Path, raw: dict[str, Any], *, for_agent: bool
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """(the checked values of config.toml by the names of Config's fields, notices about keys
    that are ignored). Raises ConfigError.
    """
    values: dict[str, Any] = {}
    made = {"search": SearchConfig, "hooks": HooksConfig, "sync": SyncConfig}
    tables: dict[str, dict[str, Any]] = {table: {} for table in made}
    for table in tables:
        section = raw.pop(table, {})
        if not isinstance(section, dict):
            raise ConfigError(
                f"{path}: {table} must be a table.", f"Put its keys below a line [{table}]."
            )
        raw |= {f"{table}.{name}": value for name, value in section.items()}
    notices = []
    for key, value in raw.items():
        if key in _REMOVED:
            reason = f"was removed and is ignored. {_REMOVED[key]} Delete its line."
            notices.append(f"{path}: the key {key} {reason}")
            continue
        place = _place_of_misplaced(key)
        if place:
            error = _misplaced_error(path, key, place)
            if for_agent and _RULES[place] is _SWITCH:
                notices.append(str(error))
                continue
            raise error
        table, _, name = key.rpartition(".")
        tables.get(table, values)[name] = _check_setting(path, key, value)
    values |= {table: made[table](**section) for table, section in tables.items()}
    return values, tuple(notices)


def _place_of_misplaced(key: str) -> str:
    """Returns the key as it would be valid, if it only stands in the wrong table: `capture` for
    `hooks.capture`; else "".
    """
    name = key.rpartition(".")[2]
    places = [valid for valid in _RULES if valid.rpartition(".")[2] == name]
    return places[0] if key not in places and len(places) == 1 else ""


def _misplaced_error(path: Path, key: str, valid_key: str) -> ConfigError:
    table, _, name = key.rpartition(".")
    right_table = valid_key.rpartition(".")[0]
    where = f"below the line [{table}]" if table else "above all tables"
    target = f"below a line [{right_table}]" if right_table else "above the first [table]"
    return ConfigError(f"{path}: {name} stands {where}.", f"Move it {target}.")


def _check_setting(path: Path, key: str, value: object) -> Any:
    if key not in _RULES:
        raise ConfigError(
            f"{path}: unknown key {key}.", valid=_RULES, hint="Remove or rename it."
        )
    accepts, valid = _RULES[key]
    if not accepts(value):
        raise ConfigError(f"{path}: {key} = {value!r} is not valid.", valid=[valid])
    if isinstance(value, dict):
        return {"lexical": 0.0, "semantic": 0.0} | value
    return tuple(value) if isinstance(value, list) else value
