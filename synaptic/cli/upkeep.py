"""The commands that check and rebuild the index, and register Synaptic with agents."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from ..errors import InvalidArgument
from ..index.statistics import agent_counts
from ..journal import losses
from ..models import CAPTURED, Json
from ..plugin import NEWS, REPAIR, describe_plug_in, plug_in_entry_points
from ..render import terminal, wire
from ..render.present import outline_text
from ..serving.arguments import agent_name, is_person
from ..serving.tool_lists import SHORT, WHOLE
from ..verbs import doctor, removing
from ..verbs import status as status_verb
from ..verbs.written import count_days
from ..workspace.sync import in_step, rebuild
from ..workspace.workspace import Workspace
from . import flags as f
from .flags import (
    PROJECT_COMPLETION,
    argument,
    choice_option,
    switch,
    text_option,
    texts_option,
)
from .program import command, open_home
from .replies import (
    change_all,
    empty_journal_text,
    output_for_workspace,
    print_answer,
    print_receipt,
)


@command("rebuild-index", switch("fresh", "Compute all vectors again, too."))
def rebuild_index(ws: Workspace, fresh: bool) -> None:
    """Make the index anew from the Markdown files; nothing in these changes.

    Example: synaptic rebuild-index
    """
    progress = terminal.build_progress_report()
    report = rebuild(ws, fresh=fresh, progress=progress)
    print_answer(wire.as_json(report), terminal.rebuild_text(report), report.notices)


@command(
    "status",
    switch("use", "Count by week what agents were shown, opened, and did not find."),
    switch("days", "Show on which days of the last year you wrote."),
)
def status(ws: Workspace, use: bool, days: bool) -> None:
    """Show the size of the journal, and the notes that could not be read.

    Example: synaptic status
    """
    if use:
        uses = in_step(ws, lambda _: agent_counts(ws.index))
        rows = [{"week": week, "client": who, **uses[week, who]} for week, who in uses]
        text = outline_text({f"{week} {who}": uses[week, who] for week, who in uses})
        return print_answer({"use": rows}, text or "No agent has asked yet.")
    if days:
        written = count_days(ws)
        return print_answer(
            wire.as_json(written._asdict()),
            terminal.days_written_text(written, ws.today, output_for_workspace(ws)),
        )
    now = status_verb.status(ws)
    text = terminal.status_text(now, output_for_workspace(ws))
    text = f"{text}\n\n{empty_journal_text(ws)}".rstrip()
    news = [*chain.from_iterable(NEWS.ask_each(ws))]
    if plug_in_entry_points():
        news.append(f"Plug-ins: {', '.join(map(describe_plug_in, plug_in_entry_points()))}.")
    now = replace(now, notices=(*now.notices, *news))
    return print_answer(wire.status_json(now), text, now.notices)


@command(
    "doctor",
    switch("fix", "Repair what can be repaired safely."),
    texts_option(
        "restore", "Put back an entry that doctor names as vanished; repeatable.", metavar="ID"
    ),
    texts_option(
        "dismiss", "Leave such an entry out, and name it no more; repeatable.", metavar="ID"
    ),
    switch("secrets", "Look for passwords, tokens and keys in what is stored."),
    switch(
        "report",
        "Print versions, counts and the kinds of findings, to paste into an issue: no path, "
        "title, tag or name.",
    ),
    opens=False,
)
def run_doctor(
    home: str | None,
    fix: bool,
    secrets: bool,
    report: bool,
    restore: Sequence[str] = (),
    dismiss: Sequence[str] = (),
) -> int:
    """Check the journal, the index and the setup, and say how to mend what is wrong.

    The exit status is 1 while something needs you.

    Example: synaptic doctor --fix
    """
    if fix + secrets + report + bool(restore) + bool(dismiss) > 1:
        raise InvalidArgument(
            "Only one of these flags may be given.",
            valid=("--fix", "--restore", "--dismiss", "--secrets", "--report"),
        )
    if report:
        from .issue_report import print_report  # it reads the files of all clients

        return print_report(home)
    with open_home(home) as ws:
        put_back = partial(
            removing.restore,
            ws,
            vanished=True,
            by_person=not agent_name(),
            confirms=is_person(),
        )
        if restore[1:]:
            change_all(ws, "restore", "Restored", restore, put_back, is_undoable=False)
        elif restore:
            print_receipt(ws, "Restored", put_back(restore[0]))
        for id in dismiss:
            losses.dismiss_losses(ws.own_journal, id)
        if dismiss:
            data: Json = {"success": True, "ids": [*dismiss]}
            print_answer(data, "\n".join(f"Dismissed {id}" for id in dismiss))
        if restore or dismiss:
            return 0
        if fix:
            REPAIR.ask_only(ws)
        checkup = doctor.list_secrets(ws) if secrets else doctor.run_checkup(ws)
        print_answer(
            wire.as_json(checkup), terminal.checkup_text(checkup, output_for_workspace(ws))
        )
        return 0 if checkup.ok else 1


@command(
    "setup",
    f.CLIENT,
    text_option(
        "project",
        "The project for agents that start outside of its repository.",
        **PROJECT_COMPLETION,
    ),
    text_option(
        "url",
        "Register `synaptic serve` at this address; the token is read from SYNAPTIC_TOKEN.",
    ),
    switch("no_hooks", "Do not change the client's hooks."),
    switch("capture", "Keep a digest of every agent session from now on."),
    switch(
        "take_in",
        "Import what agents and other programs have left here, or do not ask.",
        "--import/--no-import",
        default=None,
    ),
    switch("guidance", "Also add ten lines to CLAUDE.md, AGENTS.md or GEMINI.md."),
    f.DRY_RUN,
    switch("show", "Change nothing: show the lines to paste, and into which file.", "--print"),
    switch("status", "Say where Synaptic is registered."),
    f.REMOVE,
    opens=False,
)
def setup(home: str | None, clients: Sequence[str] = (), **options: Any) -> int:
    """Connect your AI agents, such as Claude Code, Codex or Cursor, with Synaptic.

    It registers the MCP server and its hooks in the configuration of each. CLIENT is
    claude-code, claude-desktop, codex, gemini, cursor, vscode, windsurf, zed or opencode.

    --remove takes all of it out again. To uninstall, remove the package then (pipx uninstall
    synaptic-journal); notes stay where `status` says, and all else of the home may be deleted.
    Nothing is sent from this machine, but by `sync`, `publish` and `setup --url`.

    Example: synaptic setup --dry-run
    """
    from .setup_command import SetupOptions, run_setup  # only this command needs them

    return run_setup(home, clients, SetupOptions(**options))


@command(
    "hook",
    argument(
        str,
        "event",
        "EVENT",
        "session-start, user-prompt, stop or another that `setup` registers.",
    ),
    text_option("client", "The client that calls it. [default: claude-code]"),
    opens=False,
    json=False,
)
def hook(home: str | None, event: str, client: str = "claude-code") -> int:
    """Answer a hook of an agent, whose JSON is read from standard input.

    On a terminal it shows what an agent would be told here. Exit status 0, whatever goes wrong.

    Example: synaptic hook session-start
    """
    if event in CAPTURED:
        from ..hooks.captured import note_ended_session  # the other hooks need nothing of it

        note_ended_session(home, client, sys.stdin.buffer.read())
        return 0
    from ..hooks import hooks

    try:
        hooks.answer_hook(event, home, client)
    except InvalidArgument as error:  # status 2 would keep an agent from its work
        terminal.say_error(error)
        return 1
    return 0


@command(
    "mcp",
    choice_option("tool_list", (WHOLE, SHORT), str, WHOLE, help="Nine tools, or five."),
    opens=False,
    json=False,
)
def mcp(home: str | None, tool_list: str = WHOLE) -> None:
    """Serve agents over MCP, on stdin and stdout.

    `synaptic setup` tells your agents to start it.

    Example: synaptic mcp
    """
    from ..mcp.start import start_server  # only here

    start_server(home, tool_list)
