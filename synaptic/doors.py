"""The doors by which features enter the core.

The core imports no feature. It asks here, and each feature that has the door answers. A
feature is a module with some of these names:

| door                      | asked by                   | gives                            |
|---------------------------|----------------------------|----------------------------------|
| `COMMANDS`                | the command line           | by name the module that adds it  |
| `READERS`                 | `import`                   | by source the module that reads  |
| `recover(ws)`             | `doctor --fix`             | names of runs that it finished   |
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


def through(door: str, *args: Any) -> list[Any]:
    """The answers of our own features that have this door, in their order."""
    answering = [getattr(_feature(name), door, None) for name in FEATURES]
    return [answer(*args) for answer in answering if answer]


def the_one(door: str, *args: Any) -> Any:
    """The answer of the only feature that has this door."""
    [answer] = through(door, *args)
    return answer


def add_own_command(name: str) -> None:
    """Adds the command of this name to the program, if a feature of our own has it."""
    _add_command_of(name, map(_feature, FEATURES))


def add_plug_in_command(name: str) -> None:
    """Adds the command of this name to the program, if a plug-in has it."""
    _add_command_of(name, _plug_in_features())


def add_own_commands() -> None:
    """Adds the commands of our own features to the program."""
    for feature in map(_feature, FEATURES):
        for module in dict.fromkeys(getattr(feature, "COMMANDS", {}).values()):
            import_module(module)


def readers() -> dict[str, str]:
    """Maps the name of a source to the module of its reader; plug-ins come last."""
    modules: dict[str, str] = {}
    for feature in (*map(_feature, FEATURES), *_plug_in_features()):
        modules = getattr(feature, "READERS", {}) | modules
    return modules


@cache
def plug_ins() -> Sequence[EntryPoint]:
    """The plug-ins that other people's distributions name. Only metadata is read."""
    from importlib.metadata import entry_points  # late: a scan of all distributions

    return tuple(sorted(entry_points(group=GROUP), key=lambda point: point.name))


def plug_in_text(point: EntryPoint) -> str:
    """Name, distribution and version of a plug-in."""
    dist = point.dist
    return f"{point.name} ({dist.name} {dist.version})" if dist else point.name


def load(module: str) -> ModuleType:
    """The module of a feature by its whole name. Raises PlugInError where it is not ours and
    cannot be imported.
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


def _feature(name: str) -> ModuleType:
    return import_module(f".features.{name}", __package__)


def _add_command_of(command: str, features: Iterable[ModuleType]) -> None:
    for feature in features:
        module = getattr(feature, "COMMANDS", {}).get(command)
        if module:
            load(module)
            return


def _plug_in_features() -> Iterator[ModuleType]:
    """The plug-ins that can be loaded; a broken one is named and left out."""
    for point in plug_ins():
        try:
            yield load(point.value)
        except PlugInError as error:
            log.warning("The plug-in %s is left out: %s", plug_in_text(point), error)
