"""The commands `sync`, `publish` and `git-setup`, and the merge driver that git calls."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ...cli import flags as f
from ...cli.flags import argument, switch, text_option
from ...cli.program import app, command
from ...cli.replies import can_ask, check_can_ask, print_answer
from ...config import load_config
from ...errors import Refused, SynapticError
from ...journal.disk import overwrite
from ...journal.settings import write_setting
from ...render import terminal, wire
from ...render.fence import clean
from ...render.terminal import emit, entry_count_text, file_count_text
from ...serving.arguments import agent_name
from ...workspace.workspace import Workspace
from . import merge_driver
from .databases import database_address
from .merge import merge

if TYPE_CHECKING:
    from .publisher import PublishReport


@command("git-setup", f.REMOVE, opens=False)
def git_setup(home: str | None, remove: bool) -> None:
    """Let git merge the journal entry by entry, for who uses git in place of `sync`.

    Once in each clone; nothing in the journal changes.

    Example: synaptic git-setup
    """
    done = merge_driver.set_up_merge_driver(load_config(home), remove=remove)
    text = f"Merges in {done.repository} are git's own again."
    notices = []
    if not remove:
        text = (
            f"Merges of the journal in {done.repository} go by entries now ({done.attributes}: "
            f"{done.line})."
        )
        notices.append("Run it once in every clone. `synaptic git-setup --remove` undoes it.")
    print_answer({"success": True} | wire.as_json(done), text, notices)


@command(
    "sync",
    text_option(
        "init", "Begin, or join, with the git repository at this address.", metavar="URL"
    ),
    text_option("allow", "Send the secret with this id all the same.", metavar="ID"),
    switch(
        "auto",
        "Also after saves and when a session starts; only a person switches it on.",
        "--auto/--no-auto",
        default=None,
    ),
    f.YES,
    opens=False,
)
def _sync(
    home: str | None,
    yes: bool,
    init: str | None = None,
    allow: str | None = None,
    auto: bool | None = None,
) -> None:
    """Share the journal with your other machines, through a git repository.

    It commits notes and attachments, takes what the others sent, entry by entry, and sends. A
    note that shall stay here is named in a .gitignore in the journal, before --init.

    Example: synaptic sync --init git@example.org:ada/journal.git
    """
    from . import syncing  # only this command needs it

    config = load_config(home)
    if (init or allow or auto) and agent_name():
        raise Refused(
            "Only a person may use --init, --allow and --auto, which decide where the "
            "journal is "
            "sent.",
            "Ask the user to run the command.",
        )
    if auto is not None:
        if auto and not can_ask():
            raise Refused(
                "Only a person may switch on automatic syncing, and only in a terminal.",
                "Run `synaptic sync --auto` in a terminal.",
            )
        if not auto or typer.confirm("Sync by itself from now on?", err=True):
            write_setting(config.home, "sync.auto", auto)
        now = load_config(home).sync.auto
        return print_answer({"success": True, "auto": now}, f"Syncs by itself: {now}")
    if allow:
        syncing.allow_secret(config, allow)
    if init is not None:
        check_can_ask("sync --init", yes=yes)
        if init.startswith(("./", "../", "~/")):
            init = str(Path(init).expanduser().resolve())
        done = syncing.init_sync(
            config, init, lambda asked: yes or typer.confirm(asked, err=True)
        )
    else:
        done = syncing.sync(config)
    if not done:
        return None
    notices = [*done.notices]
    if done.conflicts:
        notices.append(
            f"Both machines changed one entry in {', '.join(done.conflicts)}: both texts stand "
            "there; `synaptic review` asks which to keep."
        )
    text = ""
    if done.sent is not None:
        sent = _count_phrase(done.sent_entries, done.sent)
        received = _count_phrase(done.received_entries, done.received)
        text = f"Sent: {sent}. Received: {received}."
    return print_answer({"success": True} | wire.as_json(done), clean(text), notices)


def _count_phrase(entries: int, files: int) -> str:
    """Returns a count as a phrase: `2 entries in 1 file`, `1 file` or `nothing`."""
    if not files:
        return "nothing"
    in_files = file_count_text(files)
    return f"{entry_count_text(entries)} in {in_files}" if entries else in_files


@command(
    "publish",
    argument(
        str | None, "address", "ADDRESS", "The database, by libpq. [default: SYNAPTIC_DATABASE]"
    ),
    text_option("journal", "The name of this journal there; it is remembered."),
    switch("follow", "Go on after each change, until Ctrl-C."),
    switch("drop", "Take the journal out of the database."),
    f.INSECURE,
)
def _publish(
    ws: Workspace,
    follow: bool,
    drop: bool,
    insecure: bool,
    address: str | None = None,
    journal: str | None = None,
) -> None:
    """Publish the journal in a PostgreSQL database, for readers without it (docs/TEAM.md).

    Private passages (<private>...</private>) and secrets stay here. Only what changed is sent.

    Example: synaptic publish --journal platform
    """
    address = database_address(address, insecure=insecure)
    from .publisher import Publisher, keep_publishing  # needs the extra

    if follow:
        parent = os.environ.get("SYNAPTIC_PARENT")  # `serve --publish`, which it ends with
        return keep_publishing(
            ws,
            address,
            journal,
            lambda done: emit(_publish_report_text(done)),
            lambda: parent in (None, str(os.getppid())),
        )
    publisher = Publisher(ws, address, journal)
    if drop:
        publisher.unpublish()
        return print_answer(
            {"success": True}, f"The journal {publisher.journal} was taken out of the database."
        )
    progress = terminal.build_progress_report()
    publisher.start_publishing(progress)
    done = publisher.publish_changes(progress)
    return print_answer({"success": True} | wire.as_json(done), _publish_report_text(done))


def _publish_report_text(done: PublishReport | SynapticError) -> str:
    if isinstance(done, SynapticError):
        return clean(str(done))
    text = f"Published as {done.journal}: files {done.files:,}, removed {done.removed:,}."
    if done.left_out:
        text += f" Left out, with a secret in the name: {done.left_out:,}."
    if not done.readers:
        text += " Nobody may read it: CREATE ROLE synaptic_reader NOLOGIN, then run it again."
    return text


# a file of the journal may be called -x.md or --help.md
@app.command(
    "git-merge",
    hidden=True,
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
)
def git_merge(ctx: typer.Context, base: Path, ours: Path, theirs: Path, path: str) -> int:
    """Merges a note as git's merge driver: writes the result into `ours` and returns git's exit
    status: 0 for a clean merge, 10 for one with conflicts. With any other status `ours` is
    unchanged.
    """
    try:
        day_file = load_config(ctx.obj).day_file
        was, mine, other = (file.read_bytes() for file in (base, ours, theirs))
        merged = merge(was, mine, other, path, day_file)
        overwrite(ours, merged.data)
    except Exception as error:
        terminal.say(f"synaptic: {path} cannot be merged: {error}")
        return 1
    for one in merged.decisions:
        words = "is back: one side deleted it, and the other one changed it"
        if one.kind == "time":
            words = f"stands on {one.standing}; the other side moved it to {one.other}"
        terminal.say(f"synaptic: {path}: {one.about} {words}.")
    return merge_driver.CONFLICTS if merged.conflicts else 0
