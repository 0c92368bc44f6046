"""The command line: arguments in, a verb, an answer for people or with --json for programs.

Data goes to standard output, everything else to standard error. Exit status: 0 done (also when
nothing was found), 1 error, 2 usage, 130 interrupted. Errors are caught once, in `main`.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated

import typer
from typer.main import get_command as make_command

from ...errors import InvalidArgument, SynapticError
from ..render import terminal, wire
from ..render.terminal import emit, emit_json
from . import commands, upkeep
from .program import app

get_command = cache(make_command)
"""Made once in a process: it takes 14 ms."""
_LEFT_OUT = re.compile(r"-[^\W\d_]\w")

__all__ = ["app", "commands", "main", "upkeep"]


MEANT = {
    **dict.fromkeys(("add", "new"), 'save "TEXT"'),
    **dict.fromkeys(("list", "ls"), "find"),
    "log": "recent",
    **dict.fromkeys(("show", "view"), "get ID"),
    **dict.fromkeys(("rm", "remove"), "delete ID"),
    "undo": "restore ID",
    "trash": "restore",
    "grep": 'search "TEXT"',
}
"""What other programs call our commands."""


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status. Every error ends here, as a message or, with --json, as JSON on standard
    output.
    """
    atexit.register(
        gc.freeze
    )  # collecting the libraries' garbage at exit took a quarter of a search's time
    args = [_decoded(arg) for arg in (sys.argv[1:] if argv is None else argv)]
    args = [*args[1:], "--help"] if args[:1] == ["help"] else args
    as_json = "--json" in (args[: args.index("--")] if "--" in args else args)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        code = get_command(app).main(
            args=_with_words_last(args), prog_name=_program(), standalone_mode=False
        )
        return code if isinstance(code, int) else 0
    except SynapticError as error:
        return _fail(error, as_json)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exception as error:
        if hasattr(error, "format_message"):  # typer could not read a flag or a value
            return _fail(_usage(error), as_json)
        if os.environ.get("SYNAPTIC_DEBUG"):
            raise
        problem = f"{type(error).__name__}: {error}"
        return _fail(
            SynapticError(problem, hint="This is a defect; SYNAPTIC_DEBUG=1 shows where."),
            as_json,
        )


def _with_words_last(args: Sequence[str]) -> Sequence[str]:
    """`search redis -kafka` with the words that it leaves out behind `--`, where they are no
    flags.
    """
    name = next((arg for arg in args if not arg.startswith("-")), "")
    if "--" in args or name not in ("search", "find", "recent"):
        return args
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    flags = {flag for param in command.params for flag in param.opts}
    words = [arg for arg in args if _LEFT_OUT.match(arg) and f"-{arg}" not in flags]
    return [*(arg for arg in args if arg not in words), *(["--", *words] if words else [])]


def _fail(error: SynapticError, as_json: bool) -> int:
    if as_json:
        emit_json(wire.error_json(error))
    else:
        terminal.say_error(error)
    return 2 if isinstance(error, InvalidArgument) else 1


def _usage(error: Exception) -> InvalidArgument:
    """An error of typer in our own form, with the valid values and where to read more."""
    message = str(error.format_message()).strip()  # type: ignore[attr-defined]
    context: typer.Context | None = getattr(error, "ctx", None)
    if context is None:
        return InvalidArgument(message)
    hint = f"See {context.command_path} --help."
    valid: list[str] = []
    if message.startswith("No such option"):
        message = f"{context.command_path} has no flag {getattr(error, 'option_name', '')}."
        valid = [
            flag
            for param in context.command.params
            for flag in param.opts
            if flag.startswith("--")
        ]
        hint += ' A text that starts with a dash goes after "--".'
    elif message.startswith("No such command"):
        typed = message.removeprefix("No such command ").rstrip(".")[1:-1]
        known = [
            name
            for name, command in getattr(context.command, "commands", {}).items()
            if not command.hidden
        ]
        meant = MEANT.get(typed) or next(iter(get_close_matches(typed, known)), None)
        message = f"{context.command_path} has no command `{typed}`"
        message += f"; you probably mean: {context.command_path} {meant}" if meant else "."
        valid = [] if meant else known
    return InvalidArgument(message, valid=valid, hint=hint)


def _program() -> str:
    return "synaptic-journal" if Path(sys.argv[0]).stem == "synaptic-journal" else "synaptic"


def _decoded(arg: str) -> str:
    """An argument without lone surrogates, which stand for bytes that are not UTF-8; a path
    keeps them.
    """
    if arg.isascii() or os.path.exists(arg):  # noqa: PTH110
        return arg
    return arg.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            emit(f"synaptic {version('synaptic-journal')}")
        except PackageNotFoundError:
            emit("synaptic, from a folder that was not installed")
        raise typer.Exit(0)


@app.callback(invoke_without_command=True)
def _synaptic(
    ctx: typer.Context,
    home: Annotated[
        str | None,
        typer.Option(
            "--home", metavar="DIR", help="Where Synaptic lives. [SYNAPTIC_HOME or ~/.synaptic]"
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """The memory that you and your AI agents share: Markdown files, searched by words, meaning
    and time.

    Begin with: synaptic save "what you learned" and synaptic search "a question".
    """
    ctx.obj = home
    if ctx.invoked_subcommand is None:
        emit(ctx.get_help())
