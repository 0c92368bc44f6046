"""The command line: arguments in, a verb, an answer for people or with --json for programs.

Data goes to standard output, everything else to standard error. Exit status: 0 done (also when nothing was
found), 1 error, 2 usage, 130 interrupted. Errors are caught once, in `main`.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from typer.main import get_command

from ...config import load_config
from ...errors import InvalidArgument, SynapticError
from ...verbs import browse, doctor, gitdriver
from ...verbs.adopt import Adopted, adopt
from ...workspace.sync import DEFAULT_RATE, rebuild
from .. import wire
from . import commands, terminal
from . import flags as f
from .replies import answer_checkup, answer_receipt, open_home, screen_of, tell, when_empty
from .terminal import emit, emit_json

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status. Every error ends here, as a message or, with --json, as JSON on standard output."""
    atexit.register(gc.freeze)  # collecting the libraries' garbage at exit took a quarter of a search's time
    args = [_decoded(arg) for arg in (sys.argv[1:] if argv is None else argv)]
    as_json = "--json" in (args[: args.index("--")] if "--" in args else args)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        code = get_command(app).main(args=args, prog_name=_program(), standalone_mode=False)
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
        return _fail(SynapticError(problem, hint="This is a defect; SYNAPTIC_DEBUG=1 shows where."), as_json)


def _fail(error: SynapticError, as_json: bool) -> int:
    if as_json:
        emit_json(wire.error_json(error))
    else:
        terminal.say_error(error)
    return 2 if isinstance(error, InvalidArgument) else 1


def _usage(error: Exception) -> InvalidArgument:
    """What typer says of a flag or a value, in our own form: with what is valid, and where to read more."""
    message = str(error.format_message()).strip()  # type: ignore[attr-defined]
    context: typer.Context | None = getattr(error, "ctx", None)
    if context is None:
        return InvalidArgument(message)
    hint = f"See {context.command_path} --help."
    valid: list[str] = []
    if message.startswith("No such option"):
        message = f"{context.command_path} has no flag {getattr(error, 'option_name', '')}."
        valid = [flag for param in context.command.params for flag in param.opts if flag.startswith("--")]
        hint += ' A text that starts with a dash goes after "--".'
    elif message.startswith("No such command"):
        commands_of = getattr(context.command, "commands", {})
        valid = [name for name, command in commands_of.items() if not command.hidden]
    return InvalidArgument(message, valid=valid, hint=hint)


def _program() -> str:
    return "synaptic-journal" if Path(sys.argv[0]).stem == "synaptic-journal" else "synaptic"


def _decoded(arg: str) -> str:
    """An argument without lone surrogates, which stand for bytes that are not UTF-8; a path keeps them."""
    if arg.isascii() or os.path.exists(arg):  # noqa: PTH110
        return arg
    return arg.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


# -- the program and its upkeep -----------------------------------------------------------------------


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import PackageNotFoundError, version

        try:
            emit(f"synaptic {version('synaptic-journal')}")
        except PackageNotFoundError:
            emit("synaptic, from a folder that was not installed")
        raise typer.Exit(0)


def _synaptic(
    ctx: typer.Context,
    home: f.Home = None,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """The memory that you and your AI agents share: Markdown files, searched by words, meaning and time.

    Begin with: synaptic save "what you learned" and synaptic search "a question".
    """
    ctx.obj = home
    if ctx.invoked_subcommand is None:
        emit(ctx.get_help())


def init(ctx: typer.Context, journal: f.Journal = None, as_json: f.AsJson = False) -> None:
    """Set up the home; adopt a folder of notes.

    The folder is only read.

    Example: synaptic init --journal ~/vault/daily
    """
    found = adopt(ctx.obj, journal)
    if as_json:
        return emit_json(_adopted_json(found))
    emit(terminal.adopted_text(found.journal, found.entries, found.files, found.issues, found.new_entries_go_to))
    return tell(found.notices)


def _adopted_json(found: Adopted) -> wire.Json:
    return {
        "success": True,
        "home": str(found.home),
        "journal": str(found.journal),
        "files": found.files,
        "entries": found.entries,
        "issues": [asdict(issue) for issue in found.issues],
        "new_entries_go_to": str(found.new_entries_go_to),
        "notices": list(found.notices),
    }


def rebuild_index(ctx: typer.Context, fresh: f.Fresh = False, as_json: f.AsJson = False) -> None:
    """Make the index anew from the Markdown files.

    Example: synaptic rebuild-index
    """
    with open_home(ctx) as ws:
        with terminal.progress() as report_progress:
            report = rebuild(ws, fresh=fresh, progress=report_progress)
        if as_json:
            emit_json(wire.rebuild_json(report))
        else:
            emit(terminal.rebuild_text(report))
            tell(report.notices)


def status(ctx: typer.Context, as_json: f.AsJson = False) -> None:
    """Show what there is, and what could not be read.

    Example: synaptic status
    """
    with open_home(ctx) as ws:
        now = browse.status(ws)
        if as_json:
            return emit_json(wire.status_json(now))
        rate = float(ws.index.meta("embed_rate") or DEFAULT_RATE)
        emit(terminal.status_text(now, max(1, round(now.pending_vectors / rate)), screen_of(ws)))
        if not now.entries:
            emit("\n" + when_empty(ws))
        return tell(now.notices)


def _doctor(
    ctx: typer.Context,
    fix: f.Fix = False,
    restore: f.RestoreVanished = None,
    dismiss: f.Dismiss = None,
    secrets: f.Secrets = False,
    as_json: f.AsJson = False,
) -> None:
    """Check that all is well.

    Exit status 1 while something needs you.

    Example: synaptic doctor --fix
    """
    if sum((fix, restore is not None, dismiss is not None, secrets)) > 1:
        raise InvalidArgument("--fix, --restore, --dismiss and --secrets exclude each other.", hint="Give one of them.")
    with open_home(ctx) as ws:
        if restore is not None:
            return answer_receipt(ws, "Restored", doctor.restore_vanished(ws, restore), as_json)
        if dismiss is not None:
            doctor.dismiss(ws, dismiss)
            return emit_json({"success": True, "id": dismiss}) if as_json else emit(f"Dismissed {dismiss}")
        check = doctor.fix if fix else doctor.secrets if secrets else doctor.checkup
        return answer_checkup(ws, check(ws), as_json)


def git_setup(ctx: typer.Context, remove: f.Remove = False, as_json: f.AsJson = False) -> None:
    """Let git merge the journal entry by entry.

    Once in each clone; nothing in the journal changes.

    Example: synaptic git-setup
    """
    config = load_config(ctx.obj)
    done = gitdriver.set_up(config, remove=remove)
    if as_json:
        emit_json({"success": True, "repository": str(done.repository), "attributes": str(done.attributes),
                   "line": done.line, "changed": done.changed})  # fmt: skip
    elif remove:
        emit(f"Merges in {done.repository} are git's own again.")
    else:
        emit(f"Merges of the journal in {done.repository} go by entries now ({done.attributes}: {done.line}).")
        tell(("Run it once in every clone. `synaptic git-setup --remove` undoes it.",))


def git_merge(ctx: typer.Context, base: Path, ours: Path, theirs: Path, path: str) -> None:
    """What git calls; exit status 0 for a clean merge, 10 for one with conflicts, else `ours` is as it was."""
    try:
        code = gitdriver.drive(base, ours, theirs, path, day_file=load_config(ctx.obj).day_file)
    except Exception as error:
        terminal.say(f"synaptic: {path} cannot be merged: {error}")
        code = 1
    raise typer.Exit(code)


def setup(
    ctx: typer.Context,
    clients: f.Clients = None,
    scope: f.Scope = None,
    dry_run: f.DryRun = False,
    show: f.Print = False,
    status: f.ShowStatus = False,
    remove: f.Remove = False,
    as_json: f.AsJson = False,
) -> None:
    """Register Synaptic with the programs that speak MCP.

    CLIENT is claude-code, claude-desktop, codex, gemini, cursor, vscode, windsurf, zed or opencode.

    Example: synaptic setup --dry-run
    """
    from . import setup_command  # only this command needs it

    if sum((show, status, remove)) > 1 or (dry_run and (show or status)):
        raise InvalidArgument(
            "--print, --status, --remove and --dry-run are different things.", hint="Give one of them."
        )
    setup_command.run(
        ctx.obj, clients or [], scope, dry_run=dry_run, show=show, status=status, remove=remove, as_json=as_json
    )


def mcp(ctx: typer.Context) -> None:
    """Serve agents over MCP, on stdin and stdout.

    `synaptic setup` tells your agents to start it.

    Example: synaptic mcp
    """
    from ..mcp.server import run  # 0.6 s, and only this command needs it

    run(ctx.obj)


app.callback(invoke_without_command=True)(_synaptic)
for _name, _command in (
    ("init", init),
    ("save", commands.save),
    ("search", commands.search),
    ("analyze", commands.analyze),
    ("recent", commands.recent),
    ("find", commands.find),
    ("get", commands.get),
    ("update", commands.update),
    ("delete", commands.delete),
    ("restore", commands.restore),
    ("edit", commands.edit),
    ("today", commands.today),
    ("tags", commands.tags),
    ("rebuild-index", rebuild_index),
    ("status", status),
    ("doctor", _doctor),
    ("git-setup", git_setup),
    ("setup", setup),
    ("hook", commands.hook),
    ("mcp", mcp),
):
    app.command(_name)(_command)
_takes_any_path = {"ignore_unknown_options": True}  # a file of the journal may be called -x.md or --help.md
app.command("git-merge", hidden=True, add_help_option=False, context_settings=_takes_any_path)(git_merge)
