"""The doors by which features enter the core.

The core imports no feature. It asks here, and each feature that has the door answers. A
feature is a module with some of these names:

| door                      | asked by                   | gives                            |
|---------------------------|----------------------------|----------------------------------|
| `COMMANDS`                | the command line           | by name the module that adds it  |
| `READERS`                 | `import`                   | by source the module that reads  |
| `recover(ws)`             | `doctor --fix`             | names of runs that it finished   |
| `take_back_run(ws, run)`  | `undo`                     | what stays, of a run of theirs   |
| `catch_up(ws)`            | commands and servers, idle | None; digests of ended sessions  |
| `news(ws)`                | `status`                   | sentences for the person         |
| `offer(home, yes)`        | `setup`                    | JSON of what it took in          |
| `transcripts(ws, list)`   | `get --source`             | the list with its transcripts    |
| `served(flags)`           | `serve`                    | arguments of the server          |
| `access(config, address)` | servers of published ones  | a Workspace on the database      |
| `forward(address)`        | the same, with `--writer`  | what hands calls on              |

Our own features are the packages below `features/`, found by their names. Other people's are
modules that an installed distribution names in the entry point group `synaptic`; they have the
doors `COMMANDS` and `READERS`, and docs/PLUGINS.md shows one. Their metadata is read for an
unknown command, for `import` and for `status`, their code when it is used.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .errors import PlugInError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

log = logging.getLogger(__name__)
FEATURES = ("importing", "page", "sharing", "lab")
GROUP = "synaptic"


def call_features(door: str, *args: Any) -> list[Any]:
    """Calls the function named `door` of each built-in feature that has one, and returns the
    results in the order of FEATURES.
    """
    answering = [getattr(_load_feature(name), door, None) for name in FEATURES]
    return [answer(*args) for answer in answering if answer]


def call_only_feature(door: str, *args: Any) -> Any:
    """Calls the function named `door` of the one built-in feature that has it, and returns its
    result.
    """
    [answer] = call_features(door, *args)
    return answer


def add_own_command(name: str) -> None:
    """Imports the built-in feature that defines the command `name`, which adds it to the
    command line; does nothing if there is none.
    """
    _import_command_module(name, map(_load_feature, FEATURES))


def add_plug_in_command(name: str) -> None:
    """Imports the plug-in that defines the command `name`, which adds it to the command line;
    does nothing if there is none.
    """
    _import_command_module(name, _load_plug_ins())


def add_own_commands() -> None:
    """Imports all built-in features, which add their commands to the command line."""
    for feature in map(_load_feature, FEATURES):
        for module in dict.fromkeys(getattr(feature, "COMMANDS", {}).values()):
            import_module(module)


def reader_modules() -> dict[str, str]:
    """Maps each source that `import` knows to the name of the module that reads it, those of
    plug-ins last.
    """
    modules: dict[str, str] = {}
    for feature in (*map(_load_feature, FEATURES), *_load_plug_ins()):
        modules = getattr(feature, "READERS", {}) | modules
    return modules


@cache
def plug_in_entry_points() -> Sequence[EntryPoint]:
    """The entry points of installed plug-ins, sorted by name. Reads metadata and imports no
    plug-in.
    """
    from importlib.metadata import entry_points  # late: a scan of all distributions

    return tuple(sorted(entry_points(group=GROUP), key=lambda point: point.name))


def describe_plug_in(point: EntryPoint) -> str:
    """A plug-in as a person reads it: `name (distribution version)`."""
    dist = point.dist
    return f"{point.name} ({dist.name} {dist.version})" if dist else point.name


def load_module(module: str) -> ModuleType:
    """Imports a module by its full name and returns it. Raises PlugInError if it belongs to a
    plug-in and cannot be imported.
    """
    try:
        return import_module(module)
    except Exception as error:
        if module.startswith(f"{__package__}."):
            raise
        raise PlugInError(
            f"{module} cannot be loaded: {type(error).__name__}: {error}.",
            hint="Update or uninstall the package that has it.",
        ) from error


def _load_feature(name: str) -> ModuleType:
    return import_module(f".features.{name}", __package__)


def _import_command_module(command: str, features: Iterable[ModuleType]) -> None:
    for feature in features:
        module = getattr(feature, "COMMANDS", {}).get(command)
        if module:
            load_module(module)
            return


def _load_plug_ins() -> Iterator[ModuleType]:
    """Yields the module of each plug-in. One that cannot be imported is logged and left out."""
    for point in plug_in_entry_points():
        try:
            yield load_module(point.value)
        except PlugInError as error:
            log.warning("The plug-in %s is left out: %s", describe_plug_in(point), error)
