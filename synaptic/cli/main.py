"""The command line: arguments in, a verb, an answer for people or with --json for programs.

Data goes to standard output, everything else to standard error. Exit status: 0 done (also when
nothing was found), 1 error, 2 usage, 130 interrupted. Errors are caught once, in `main`.
"""

import atexit
import copy
import gc
import os
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command
from typer.models import CommandInfo

from .. import plugin
from ..errors import InvalidArgument, SynapticError
from ..render import terminal, wire
from ..render.terminal import emit, emit_json
from ..version import installed_version
from . import showing
from .program import FIRST, LISTS_ALL, app

__all__ = ["main", "program_for", "showing", "whole_program"]

_EXCLUDED_WORD = re.compile(r"-[^\W\d_]\w")
"""The beginning of a word that a search excludes, such as `-kafka`."""
_TEXT = re.compile(r"-+\s|-\d|-[^\w\s-]")
"""An argument with a dash that is not an option: `- [ ] Call Ida`, `-5 degrees`, `-> Ely`."""
USES = {
    "save": "add create insert log-entry new note remember speichern schreiben write",
    "search": "ask grep query question recall suche suchen",
    "get": "cat entry print read show view zeige",
    "edit": "editor",
    "recent": "entries last list liste log ls",
    "find": "browse filter timeline",
    "update": "append change modify",
    "delete": "del löschen remove rm",
    "delete --purge": "erase purge shred",
    "restore": "trash undelete",
    "undo": "redo revert rollback",
    "rename": "move mv",
    "rename --words": "correct ersetzen replace sed substitute",
    "tick": "check-off close complete done erledigt finish",
    "today": "diary heute jrnl journal",
    "week": "calendar woche",
    "day yesterday": "gestern yesterday",
    "tasks": "agenda aufgaben reminders todo todos upcoming",
    "tasks --due tomorrow": "tomorrow",
    "tags": "labels projects topics",
    "review": "conflict conflicts duplicates merge resolve settle tidy",
    "confirm": "preference preferences rules",
    "doctor": "check health verify",
    "doctor --fix": "fix mend repair",
    "status": "config info settings stats",
    "rebuild-index": "index reindex",
    "backup": "archive",
    "sync": "clone pull push share synchronize",
    "setup": "install register",
    "setup --remove": "uninstall",
    "serve --open": "gui login page start ui web",
    "serve --phone": "handy mobile phone qr",
    "--version": "version",
}
"""By a command of ours the commands of other programs, and other words, that mean it."""
QUERIES = {"search", "find", "recent"}
"""The commands whose text may exclude words."""
HELP_FLAGS = ("--help", "-h")
_COMPLETING = {"_SYNAPTIC_COMPLETE", "_SYNAPTIC_JOURNAL_COMPLETE"}
"""The variables by which a shell asks for completions, which need all commands."""
ALIKE_COMMAND, ALIKE_WORD = 0.7, 0.75
"""How alike (difflib's ratio) a mistyped word is to a command, or to one of these words: `tikc`
and `tick` are 0.75, `quit` and `gui` 0.57.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line and returns its exit status. Each error ends here: it is printed as
    a message, or with --json as JSON on standard output.
    """
    # collecting the libraries' garbage at exit took a quarter of a search's time
    atexit.register(gc.freeze)
    args = [_replace_undecodable(arg) for arg in (sys.argv[1:] if argv is None else argv)]
    args = _read_help_command(args)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    named = Path(sys.argv[0]).stem == "synaptic-journal"
    try:
        is_bare = not args and not _COMPLETING & {*os.environ}
        program = get_command(program_for(["--help"] if is_bare else args))
        args = _complete_bare_undo(args, program)
        args = _move_texts_last(args, program)
        code = program.main(
            args=args,
            prog_name="synaptic-journal" if named else "synaptic",
            standalone_mode=False,
        )
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except Exception as error:
        problem = _as_synaptic_error(error)
        if problem.of:
            from ..serving.failures import name_as_typed  # no other answer needs it

            name_as_typed(problem, _flags_by_parameter(args))
        flags = args[: args.index("--")] if "--" in args else args
        if "--json" in flags:
            emit_json(wire.error_json(problem))
        else:
            terminal.say_error(problem)
        return 2 if isinstance(problem, InvalidArgument) else 1


def _read_help_command(args: Sequence[str]) -> list[str]:
    """Returns the arguments with `help COMMAND` as `COMMAND --help`, and with `--all` before a
    `--help` without a command, because that ends the reading of flags.
    """
    index = _place_of_command(args)
    head, rest = args[:index], [*args[index:]]
    if rest[:1] == ["help"]:
        rest = [*(arg for arg in rest if arg != "help"), "--help"]
    if {"--all"} < {*rest} <= {"--all", *HELP_FLAGS}:
        rest = ["--all", "--help"]
    return [*head, *rest]


def _place_of_command(args: Sequence[str]) -> int:
    """Returns the index of the argument that names the command."""
    return 2 if args[:1] == ["--home"] else 0


def program_for(args: Sequence[str]) -> typer.Typer:
    """Returns the program with the one command that the arguments name, because declaring all
    commands takes longer than many a command; for the help with the first commands; and with
    all commands if that one is unknown.
    """
    [name] = args[_place_of_command(args) :][:1] or [""]
    names = FIRST.split() if name in (*HELP_FLAGS, "--version") else [name]
    infos = [info for info in map(_find_command, names) if info]
    if not infos:
        return whole_program()
    program = copy.copy(app)
    program.registered_commands = infos
    return program


def _find_command(name: str) -> CommandInfo | None:
    """Returns the declaration of a command; imports no more than it needs for that."""
    for _ in _declare_in_steps(name):
        for info in app.registered_commands:
            if info.name == name:
                return info
    return None


def _declare_in_steps(name: str) -> Iterator[None]:
    """Declares commands step by step, first where most are sought, until `name` is one."""
    yield  # those of `showing`
    from . import commands  # noqa: F401, slow to import

    yield
    plugin.add_command(name, of_plug_in=False)
    yield
    from . import upkeep  # noqa: F401, slow to import

    yield
    plugin.add_command(name, of_plug_in=True)
    yield


def whole_program() -> typer.Typer:
    """Returns the program with all commands of the package; commands of plug-ins are not among
    them.
    """
    from . import commands, upkeep  # noqa: F401

    plugin.add_own_commands()
    return app


def _complete_bare_undo(args: Sequence[str], program: Any) -> list[str]:
    """The arguments with an empty name after an `--undo` that takes a name and has none; the
    command then lists the names.
    """
    options = [one for each in program.commands.values() for one in each.params]
    takes_name = any("--undo" in one.opts and not one.is_flag for one in options)
    completed: list[str] = []
    for at, arg in enumerate(args, 1):
        completed.append(arg)
        has_no_name = at == len(args) or args[at].startswith("-")
        if takes_name and arg == "--undo" and has_no_name:
            completed.append("")
    return completed


def _move_texts_last(args: list[str], program: Any) -> list[str]:
    """The arguments with texts that begin with a dash, such as `- [ ] Call Ida`, and in a
    query words that it excludes, such as `-kafka`, moved behind `--`, so that they are not read
    as flags. The value of an option stays where it is.
    """
    options = [one for each in program.commands.values() for one in each.params]
    flags = [one for one in options if getattr(one, "is_flag", False)]
    switches = {name for one in flags for name in (*one.opts, *one.secondary_opts)}
    is_query = {*args[_place_of_command(args) :][:1]} <= QUERIES and "--" not in args
    texts: list[str] = []
    others: list[str] = []
    end = args.index("--") if "--" in args else len(args)
    for before, arg in zip(["", *args], args[:end], strict=False):
        is_value = before.startswith("--") and "=" not in before and before not in switches
        is_text = _TEXT.match(arg) or (is_query and _EXCLUDED_WORD.match(arg))
        (texts if is_text and not is_value else others).append(arg)
    return [*others, "--", *texts, *args[end + 1 :]] if texts else args


def _as_synaptic_error(error: Exception) -> SynapticError:
    """Returns the error as a SynapticError: an error of Typer is a usage error, any other is a
    defect of the program.
    """
    from ..serving.failures import to_synaptic_error  # no other answer needs it

    own = to_synaptic_error(error)
    if own:
        return own
    if not hasattr(error, "format_message"):
        if os.environ.get("SYNAPTIC_DEBUG"):
            raise error
        hint = (
            "This is a defect of Synaptic; the same command with SYNAPTIC_DEBUG=1 shows where."
        )
        return SynapticError(f"{type(error).__name__}: {error}", hint)
    message = error.format_message().strip()
    context = getattr(error, "ctx", None)
    if context is None:
        return InvalidArgument(message)
    hint = f"See {context.command_path} --help."
    typed = message.removeprefix("No such command ")
    if typed == message:
        if not message.startswith("No such option"):
            return InvalidArgument(message, hint)
        options = [name for one in context.command.params for name in one.opts]
        hint += ' A text that starts with a dash goes after "--".'
        valid = [name for name in options if name.startswith("--")]
        return InvalidArgument(message, valid=valid, hint=hint)
    all_commands = getattr(context.command, "commands", {})
    names = [name for name in all_commands if not all_commands[name].hidden]
    typed = typed.strip("'.")
    message = f"{context.command_path} has no command `{typed}`"
    meant = _guess_command(typed, names)
    if meant:
        message += f"; you probably mean: {context.command_path} {meant}"
        hint = f"See {context.command_path} {meant.partition(' ')[0]} --help."
    else:
        hint = f'To write something down: {context.command_path} save "{typed} ...". {hint}'
    return InvalidArgument(message, valid=[] if meant else names, hint=hint)


def _flags_by_parameter(args: Sequence[str]) -> dict[str, str]:
    """Returns by parameter of the command that the arguments name: its flag, in the spelling
    that was typed, or else in the usual one.
    """
    typed = [arg.partition("=")[0] for arg in args]
    flags = {}
    program: Any = get_command(program_for(args))
    for each in program.commands.values():
        for one in each.params:
            spellings = [name for name in one.opts if name.startswith("--")]
            if spellings:
                flags[one.name] = next(
                    (name for name in spellings if name in typed), spellings[0]
                )
    return flags


def _guess_command(typed: str, names: Sequence[str]) -> str:
    """Returns the command, with flags, that a person means by a word that is none; "" if that
    is not clear. Of several words the command was forgotten.
    """
    if " " in typed:
        return f"{'search' if typed.endswith('?') else 'save'} {shlex.quote(typed)}"
    word = typed.lower()
    if word.endswith(":"):  # as people write in jrnl: "yesterday: called Ida"
        return f'save "{typed} ..."'
    uses = {other: use for use, words in USES.items() for other in words.split()}
    if word in uses:
        return uses[word]
    for name in names:
        if word.startswith(f"{name}-") or name.startswith(f"{word}-"):
            return name
    for others, least in ((names, ALIKE_COMMAND), (uses, ALIKE_WORD)):
        for other in get_close_matches(word, others, n=1, cutoff=least):
            return uses.get(other, other)
    return ""


def _replace_undecodable(arg: str) -> str:
    """Returns the argument with U+FFFD for each byte that is not UTF-8; the path of an existing
    file is left unchanged.
    """
    if arg.isascii() or os.path.exists(arg):  # noqa: PTH110
        return arg
    return arg.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _list_all(ctx: typer.Context, wanted: bool) -> None:
    ctx.meta[LISTS_ALL] = wanted


def _print_version(wanted: bool) -> None:
    if wanted:
        emit(f"synaptic {installed_version()}")
        raise typer.Exit(0)


@app.callback(invoke_without_command=True)
def _synaptic(
    ctx: typer.Context,
    home: Annotated[
        str | None,
        typer.Option(
            "--home",
            metavar="FOLDER",
            help="Where Synaptic keeps its files. [SYNAPTIC_HOME, else ~/.synaptic]",
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version."
        ),
    ] = False,
    lists_all: Annotated[
        bool, typer.Option("--all", callback=_list_all, is_eager=True, hidden=True)
    ] = False,
) -> None:
    """The memory that you and your AI agents share: Markdown files, searched by words, meaning
    and time.

    Begin with: synaptic save "what you learned" and synaptic search "a question".
    """
    ctx.obj = home
    if ctx.invoked_subcommand is None:
        emit(ctx.get_help())
