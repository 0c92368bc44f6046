"""The commands about the home, its index, and the programs that use it."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..config import load_config
from ..errors import (
    ConfigError,
    InvalidArgument,
    JournalError,
    NotFound,
    Refused,
    SynapticError,
    check_range,
)
from ..features.importing import import_runs as importing
from ..features.importing.import_command import found_text
from ..features.sharing import merge_driver as gitdriver
from ..journal import losses
from ..journal.disk import PUBLISHED
from ..language.query import MAX_LIMIT
from ..models import CAPTURED, SESSIONS, SearchResult
from ..render import terminal, wire
from ..render.fence import clean
from ..render.present import hit_items, listed, matter_text, outline
from ..render.terminal import emit
from ..serving.arguments import agent, is_person, take_filters
from ..serving.tokens import Tokens
from ..verbs import browse, doctor, review, writing
from ..verbs.adopt import write_setting
from ..workspace.embed import language_notice
from ..workspace.sync import in_step, rebuild
from ..workspace.workspace import Workspace
from . import flags as f
from .flags import A_PROJECT, argument, option, switch, text_option, texts_option
from .program import app, command, open_home
from .replies import (
    IN_JSON,
    agreed,
    answer,
    answer_receipt,
    can_ask,
    check_can_ask,
    screen_of,
    when_empty,
)

if TYPE_CHECKING:
    from ..features.sharing.publisher import PublishReport


@command("rebuild-index", switch("fresh", "Embed all entries again."))
def rebuild_index(ws: Workspace, fresh: bool) -> None:
    """Rebuild the index from the Markdown files.

    Example: synaptic rebuild-index
    """
    report = rebuild(ws, fresh=fresh, progress=terminal.progress())
    answer(wire.as_json(report), terminal.rebuild_text(report), report.notices)


@command(
    "status",
    switch("use", "Count by week how many entries agents were shown, opened and did not find."),
)
def status(ws: Workspace, use: bool) -> None:
    """Show the size of the journal, and what could not be read.

    Example: synaptic status
    """
    if use:
        uses = in_step(ws, lambda _: ws.index.counters.uses())
        rows = [{"week": week, "client": who, **uses[week, who]} for week, who in uses]
        text = outline({f"{week} {who}": uses[week, who] for week, who in uses})
        return answer({"use": rows}, text or "No agent has asked yet.")
    now = browse.status(ws)
    text = f"{terminal.status_text(now, screen_of(ws))}\n\n{when_empty(ws)}".rstrip()
    left = importing.left_out(ws.config)
    waiting = [f"{found_text(left)} `synaptic import` lists them."] if left else []
    if ws.config.sync.url:
        from ..features.sharing.syncing import state  # most journals do without

        waiting += state(ws.config)
    if (ws.config.state / PUBLISHED).exists():
        from ..features.sharing import publisher as publish  # most journals do without

        waiting += publish.state(ws)
    now = replace(now, notices=(*now.notices, *language_notice(ws), *waiting))
    return answer(wire.status_json(now), text, now.notices)


@command(
    "doctor",
    switch("fix", "Repair what can be repaired safely."),
    text_option("restore", "Put a vanished entry back."),
    text_option("dismiss", "Forget a vanished entry."),
    switch("secrets", "Look for passwords, tokens and keys."),
    opens=False,
)
def _doctor(
    home: str | None,
    fix: bool,
    secrets: bool,
    restore: str | None = None,
    dismiss: str | None = None,
) -> int:
    """Check that all is well.

    Exit status 1 while something needs you.

    Example: synaptic doctor --fix
    """
    if fix + secrets + bool(restore) + bool(dismiss) > 1:
        raise InvalidArgument(
            "--fix, --restore, --dismiss and --secrets exclude each other.", "Give one of them."
        )
    with open_home(home) as ws:
        if restore:
            answer_receipt(
                ws,
                "Restored",
                writing.restore(
                    ws, restore, vanished=True, by_person=not agent(), confirms=is_person()
                ),
            )
            return 0
        if dismiss:
            losses.dismiss(ws.journal, dismiss)
            answer({"success": True, "id": dismiss}, f"Dismissed {dismiss}")
            return 0
        check = doctor.checkup
        if fix:
            check = doctor.fix
        elif secrets:
            check = doctor.secrets
        found = check(ws)
        answer(wire.as_json(found), terminal.checkup_text(found, screen_of(ws)))
        return 0 if found.ok else 1


@command(
    "review",
    argument(
        list[str] | None,
        "words",
        "[ANSWER FINDING]",
        "An answer and a finding from the list: keep open:7k3m9q2x.",
    ),
    f.IN_PROJECTS,
    f.LENGTH,
)
def _review(
    ws: Workspace, limit: int, project: Sequence[str] = (), words: Sequence[str] = ()
) -> None:
    """List entries that repeat, contradict or outlived others, and the answers to each.

    On a terminal it asks about one finding after the other. Nothing changes without an answer.

    Example: synaptic review --project billing
    """

    if words and len(words) != 2:
        raise InvalidArgument(
            f"review {' '.join(words)} is unknown.", valid=("review", "review ANSWER KEY")
        )
    if words:
        return _settle(ws, *words)
    check_range("limit", limit, 1, MAX_LIMIT)
    found = review.review(ws, project=project)
    shown = found[:limit]
    left = len(found) - limit
    more = f"{left:,} more; `--limit {MAX_LIMIT}` shows more of them." if left > 0 else ""
    if not IN_JSON.get() and terminal.is_terminal(sys.stdin, sys.stdout):
        _ask_about(ws, shown)
        return terminal.say(more or "That is all.")
    data = {"total": len(found), "findings": list(map(wire.matter_json, shown))}
    text = "\n\n".join(map(matter_text, shown)) or "Nothing to review."
    return answer(data, text, [more] if more else [])


def _settle(ws: Workspace, said: str, key: str) -> None:
    """Does what the answer to a finding says."""
    receipt = review.answer(ws, key, said, by_person=not agent(), confirms=is_person())
    if not receipt:
        return answer({"success": True, "kept": key}, f"Kept {key}")
    done = "Deleted" if said in ("delete", "merge") else "Updated"
    return answer_receipt(ws, done, receipt)


def _ask_about(ws: Workspace, found: Sequence[review.Matter]) -> None:
    """Asks a person about one finding after the other."""
    for matter in found:
        emit(matter_text(matter))
        choices = (*matter.answers, "skip", "quit")
        question = f"One of {', '.join(choices)}"
        said = ""
        while said not in choices:
            typed = typer.prompt(question, default="skip", err=True).strip().lower()
            fitting = [choice for choice in choices if choice.startswith(typed)]
            said = fitting[0] if typed and fitting else ""
        if said == "quit":
            return
        try:
            if said != "skip":
                _settle(ws, said, matter.key)
        except SynapticError as error:  # an answer before may have deleted it
            terminal.say_error(error)


@command(
    "import",
    f.SOURCE,
    argument(
        str | None, "place", "[PATH]", "A file or folder. [default: where the program keeps it]"
    ),
    f.DRY_RUN,
    text_option("since", "Only records from this day on: 2026-01-01, last month."),
    texts_option(
        "project",
        "Only records of this project; records without a project get it. Repeatable.",
        **A_PROJECT,
    ),
    text_option(
        "into", "A folder of the journal for new day files. [default: the journal's day files]"
    ),
    text_option("undo", "Undo the import with this name."),
    f.YES,
)
def _import(ws: Workspace, **given: Any) -> int:
    """Take in what other programs have written: sessions, memories, diaries.

    It shows what would come and asks. Without SOURCE it says what it finds on this machine.

    Example: synaptic import claude-code --dry-run
    """
    from ..features.importing.import_command import run  # only this command needs it

    return run(ws, **given)


@command(
    "forget",
    option(
        str, "session", "The client's id of the session, or the id of its digest.", default=...
    ),
    f.YES,
)
def _forget(ws: Workspace, yes: bool, session: str) -> None:
    """Remove the digests of an agent's session for good.

    The session is never imported again. The client keeps its transcript.

    Example: synaptic forget --session 7k3m9q2x
    """
    from ..features.importing.import_runs import forget

    if agreed("forget", f"Forget the session {session} for good?", yes=yes):
        done = forget(ws, session)
        text = f"Forgot the session. Its digests, removed with all copies: {done.entries}."
        answer({"success": True} | wire.as_json(done), text)


@command(
    "evaluate",
    option(int | None, "questions", "At most so many questions, 1 to 300. [default: 300]"),
)
def _evaluate(ws: Workspace, **given: Any) -> None:
    """Measure how well a search finds your own entries.

    It searches for their titles in a copy of the journal without them.

    Example: synaptic evaluate --questions 100
    """
    from ..features.lab.evaluate import evaluate  # only this command needs it

    _end_like_control_c()
    found = evaluate(ws, progress=terminal.progress(), **given)
    text = terminal.evaluation_text(found, screen_of(ws))
    answer(wire.as_json(found), when_empty(ws) or text, found.notices)


@command(
    "replay",
    option(int | None, "prompts", "At most so many prompts, the newest. [default: 200]"),
)
def _replay(ws: Workspace, **given: Any) -> None:
    """Ask the prompts of your agents' sessions again, each of the memory of its time.

    It counts how often the answer named a file edited later, or an error met later.

    Example: synaptic replay --prompts 100
    """
    from ..features.importing import replay  # only this command needs it

    def show(found: SearchResult) -> str:
        """The text of an answer, as an agent reads it."""
        return "\n".join(listed(hit_items(found, length=280), 1400))

    cases = replay.replay(ws, show, progress=terminal.progress(), **given)
    if not cases:
        raise NotFound("No session on this machine holds a prompt to ask.", valid=SESSIONS)
    rows = replay.table(cases)
    lines = [outline(rows)]
    ends = replay.extremes(cases)
    for end, some in ends.items():
        lines += [f"\n{end}:"]
        for case in some:
            named = ", ".join(case.named["memory"]) or f"none of {', '.join(case.later)}"
            prompt = " ".join(case.prompt.split())
            lines += [f"  {case.at:%Y-%m-%d %H:%M} {prompt:.70}\n    named {named:.90}"]
    answer({"table": rows, **wire.as_json(ends)}, clean("\n".join(lines)))


def _end_like_control_c() -> None:
    """So that a copy of the index is deleted."""
    import signal

    for name in ("SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name, signal.SIGINT), signal.default_int_handler)


@command(
    "model",
    argument(list[str] | None, "words", "[use NAME|FOLDER]", "The model to use from now on."),
    f.YES,
)
def _model(ws: Workspace, yes: bool, words: Sequence[str] = ()) -> None:
    """List the models that find notes by meaning, or use another.

    `use` loads it, compares the two on your own notes, and asks.

    Example: synaptic model use BAAI/bge-small-en-v1.5
    """
    from ..features.lab import model_switch as models  # only this command needs it

    if not words:
        found = models.models(ws)
        return answer({"models": wire.as_json(found)}, terminal.models_text(found))
    if len(words) != 2 or words[0] != "use":
        raise InvalidArgument(
            f"model {' '.join(words)} is unknown.", valid=("model", "model use NAME|FOLDER")
        )
    check_can_ask("model use", yes=yes)

    def agree(tried: models.Switch) -> bool:
        terminal.say(terminal.comparison_text(tried))
        return yes or typer.confirm(f"Use {tried.model}?", default=True, err=True)

    _end_like_control_c()
    done = models.use(ws, words[1], agree=agree, progress=terminal.progress())
    text = f"In use: {done.model if done.kept else done.before}."
    if done.kept and done.before != done.model:
        text += f" `synaptic model use {done.before}` goes back at once."
    return answer(wire.as_json(done), text, done.notices)


@command(
    "export",
    argument(str | None, "to", "FILE", "A new file. [default: standard output]"),
    switch("as_rows", "Write a JSON array, one object a line.", "--json"),
    switch("as_csv", "Write a table for spreadsheets.", "--csv"),
    *f.FILTERS,
    json=False,
)
def _export(ws: Workspace, as_rows: bool, as_csv: bool, to: str = "", **given: Any) -> None:
    """Write entries as rows for other programs, oldest first.

    Private passages are left out, superseded entries are not. No file is overwritten.

    Example: synaptic export --csv notes.csv --since 2026-01-01
    """
    if as_rows == as_csv:
        raise InvalidArgument("export takes one form.", valid=("--json [FILE]", "--csv [FILE]"))
    filters = replace(take_filters(ws, given), include_superseded=True)
    entries = browse.export(ws, filters)
    lines = wire.json_rows(entries) if as_rows else wire.csv_rows(entries)
    if not to:
        for line in lines:
            emit(clean(line) if terminal.is_terminal(sys.stdout) else line)
        return None
    try:
        with (
            Path(to)
            .expanduser()
            .open("x", encoding="utf-8", errors="replace", newline="") as file
        ):
            return file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise JournalError(
            f"{to} cannot be written: {error.strerror}.", "Name a new file."
        ) from error


@command("git-setup", f.REMOVE, opens=False)
def git_setup(home: str | None, remove: bool) -> None:
    """Let git merge the journal entry by entry.

    Once in each clone; nothing in the journal changes.

    Example: synaptic git-setup
    """
    done = gitdriver.set_up(load_config(home), remove=remove)
    text = f"Merges in {done.repository} are git's own again."
    notices = []
    if not remove:
        text = (
            f"Merges of the journal in {done.repository} go by entries now ({done.attributes}: "
            f"{done.line})."
        )
        notices.append("Run it once in every clone. `synaptic git-setup --remove` undoes it.")
    answer({"success": True} | wire.as_json(done), text, notices)


@command(
    "sync",
    text_option("init", "Share the journal through the git repository at this address."),
    text_option("allow", "Send the secret with this id all the same."),
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

    It commits notes and attachments, takes what the others sent, entry by entry, and sends.

    Example: synaptic sync --init git@example.org:ada/journal.git
    """
    from ..features.sharing import syncing  # only this command needs it

    config = load_config(home)
    if (init or allow or auto) and agent():
        raise Refused("Only a person changes what is sent where.")
    if auto is not None:
        if auto and not can_ask():
            raise Refused("Only a person switches that on, on a terminal.")
        if not auto or typer.confirm("Sync by itself from now on?", err=True):
            write_setting(config.home, "sync.auto", auto)
        now = load_config(home).sync.auto
        return answer({"success": True, "auto": now}, f"Syncs by itself: {now}")
    if allow:
        syncing.allow(config, allow)
    if init is not None:
        check_can_ask("sync --init", yes=yes)
        done = syncing.init(config, init, lambda asked: yes or typer.confirm(asked, err=True))
    else:
        done = syncing.sync(config)
    if not done:
        return None
    notices = [*done.notices]
    if done.conflicts:
        notices.append(
            f"Both machines changed one entry in {', '.join(done.conflicts)}: both texts stand "
            f"there; `synaptic status` names the lines."
        )
    text = (
        "" if done.sent is None else f"Files sent: {done.sent:,}; received: {done.received:,}."
    )
    return answer({"success": True} | wire.as_json(done), clean(text), notices)


@command(
    "publish",
    argument(
        str | None,
        "address",
        "[ADDRESS]",
        "The database, by libpq. [default: SYNAPTIC_DATABASE]",
    ),
    text_option("journal", "The name of this journal there; it is remembered."),
    switch("follow", "Go on after each change, until Ctrl-C."),
    switch("drop", "Take the journal out of the database."),
    switch("insecure", "Do not ask the database to prove who it is."),
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

    Private passages and secrets stay here. Only what changed is sent.

    Example: synaptic publish --journal platform
    """
    address = _database(address, insecure=insecure)
    from ..features.sharing import publisher as publish  # needs the extra

    if follow:
        parent = os.environ.get("SYNAPTIC_PARENT")  # `serve --publish`, which it ends with
        return publish.keep_publishing(
            ws,
            address,
            journal,
            lambda done: emit(_published_text(done)),
            lambda: parent in (None, str(os.getppid())),
        )
    publisher = publish.Publisher(ws, address, journal)
    if drop:
        publisher.drop()
        return answer(
            {"success": True}, f"The journal {publisher.journal} is out of the database."
        )
    progress = terminal.progress()
    publisher.begin(progress)
    done = publisher.follow(progress)
    return answer({"success": True} | wire.as_json(done), _published_text(done))


def _database(typed: str | None, *, insecure: bool) -> str:
    """The address of the database that was typed, else that of the environment. Raises
    ConfigError where psycopg is missing, and InvalidArgument.
    """
    try:
        from ..features.sharing.published import VARIABLE, check_address
    except ImportError as error:
        raise ConfigError(
            "This needs psycopg, which is not installed.",
            hint="pip install 'synaptic-journal[postgres]'",
        ) from error
    address = typed or os.environ.get(VARIABLE, "")
    return check_address(address, insecure=insecure, typed=typed is not None)


def _published_text(done: PublishReport | SynapticError) -> str:
    if isinstance(done, SynapticError):
        return clean(str(done))
    text = f"Published as {done.journal}: files {done.files:,}, removed {done.removed:,}."
    if done.left_out:
        text += f" Left out, with a secret in the name: {done.left_out:,}."
    if not done.readers:
        text += " Nobody may read it: CREATE ROLE synaptic_reader NOLOGIN, then run it again."
    return text


@command(
    "setup",
    f.CLIENT,
    text_option(
        "project", "The project for agents that start outside of its repository.", **A_PROJECT
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
    switch("show", "Show the lines to paste, and into which file.", "--print"),
    switch("status", "Say where Synaptic is registered."),
    f.REMOVE,
    opens=False,
)
def setup(home: str | None, clients: Sequence[str] = (), **given: Any) -> int:
    """Register Synaptic, and its hooks, with the programs that speak MCP.

    CLIENT is claude-code, claude-desktop, codex, gemini, cursor, vscode, windsurf, zed or
    opencode.

    Example: synaptic setup --dry-run
    """
    from .setup_command import run  # only this command needs it

    return run(home, clients, as_json=IN_JSON.get(), **given)


@command(
    "hook",
    argument(
        str, "event", "EVENT", "session-start, user-prompt, stop, pre-compact or session-end."
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
        from ..hooks.captured import capture  # the other hooks need nothing of it

        capture(home, client, sys.stdin.buffer.read())
        return 0
    from ..hooks import hooks

    try:
        hooks.answer(event, home, client)
    except InvalidArgument as error:  # status 2 would keep an agent from its work
        terminal.say_error(error)
        return 1
    return 0


@command("mcp", opens=False, json=False)
def mcp(home: str | None) -> None:
    """Serve agents over MCP, on stdin and stdout.

    `synaptic setup` tells your agents to start it.

    Example: synaptic mcp
    """
    from ..mcp.start import run  # only here

    run(home)


@command(
    "serve",
    text_option(
        "host",
        "The address to listen on; other machines need --token-file.",
        default="127.0.0.1",
    ),
    option(
        int | None,
        "port",
        "The port; 0 takes a free one, but `setup --url` needs a fixed one. [default: `port` "
        "of config.toml, else 0]",
        min=0,
        max=65535,
    ),
    switch("open_it", "Open the page in the browser.", "--open"),
    switch("no_link", "Print no login; `synaptic open --page` gives one."),
    switch("install", "Serve from each login on this machine on, by systemd or launchd."),
    switch("uninstall", "Undo --install."),
    switch("publish", "Also publish after each save (see `publish`)."),
    texts_option(
        "revoke", "Log out the browser of this name that stays logged in; or all; repeatable."
    ),
    f.READ_ONLY,
    switch("read", "Show the journals published in the database of SYNAPTIC_DATABASE."),
    text_option("writer", "With --read: the address of the server that writes the journal."),
    f.INSECURE,
    f.TOKEN_FILE,
    texts_option("allow_host", "A host name that a proxy uses for this server; repeatable."),
    opens=False,
    json=False,
)
def serve(
    home: str | None, install: bool, uninstall: bool, revoke: Sequence[str] = (), **given: Any
) -> None:
    """Show the journal as a page, and serve agents over HTTP, until Ctrl-C.

    Example: synaptic serve --open
    """
    if install + uninstall + bool(revoke) > 1:
        raise InvalidArgument("--install, --uninstall and --revoke exclude each other.")
    if revoke:
        return _log_out(home, revoke)
    if install or uninstall:
        from ..features.page import service  # only here

        if uninstall:
            return service.uninstall(home)
        port = given.pop("port", None)
        read_only = given.pop("read_only")
        if given.pop("host") != "127.0.0.1" or any(given.values()):
            raise InvalidArgument("--install goes with --port and --read-only alone.")
        return service.install(home, port, read_only=read_only)
    given |= _published(
        **{name: given.pop(name, None) for name in ("read", "publish", "insecure", "writer")}
    )
    from ..features.page import app
    from ..mcp.remote import Remote  # slow to import

    return app.serve(home, Remote, **given)


def _published(
    *, read: bool, publish: bool, insecure: bool, writer: str | None
) -> dict[str, Any]:
    """The arguments of a server that reads or writes a database. Raises InvalidArgument."""
    if read and publish:
        raise InvalidArgument(
            "--read and --publish exclude each other.",
            "The server of a journal publishes it; others read it.",
        )
    if writer and not read:
        raise InvalidArgument(
            "--writer goes with --read: any other server writes its own journal.",
            "`synaptic serve --read --writer URL`, or without it.",
        )
    if not (read or publish):
        if insecure:
            raise InvalidArgument("--insecure goes with --read or --publish.")
        return {}
    database = _database(None, insecure=insecure)
    if publish:
        return {"publish": ["--insecure"] * insecure}
    from ..features.sharing.forwarding import checked_writer  # only here

    return {"database": database, "writer": checked_writer(writer) if writer else ""}


def _log_out(home: str | None, names: Sequence[str]) -> None:
    from ..features.page.devices import Devices  # only here

    devices = Devices(home)
    found = devices.read()
    known = sorted({"all", *(device.name for device in found.values())})
    for name in names:
        if name not in known:
            raise InvalidArgument(f"No browser {name!r} stays logged in.", valid=known)
    gone = [id for id, device in found.items() if {device.name, "all"} & {*names}]
    devices.remove(*gone)
    emit(f"Browsers logged out: {len(gone)}")


@command(
    "token",
    argument(
        str | None,
        "name",
        "[NAME]",
        "The name of its user; entries saved with it are signed so.",
    ),
    text_option(
        "project", "The project of new entries; its entries are listed first.", **A_PROJECT
    ),
    text_option(
        "journals",
        "The published journals that it may read, as platform,web. [default: all that the "
        "role of the database may]",
    ),
    f.READ_ONLY,
    switch("page", "The token opens the page for a person, but no tools."),
    f.TOKEN_FILE,
    opens=False,
)
def token(
    home: str | None,
    read_only: bool,
    page: bool,
    name: str | None = None,
    project: str | None = None,
    journals: str | None = None,
    token_file: str | None = None,
) -> None:
    """Make a token for a client of `synaptic serve`; without NAME list the tokens.

    The token is shown once and written to tokens.toml. Remove its table there to revoke it.

    Example: synaptic token anna-laptop --project ledger
    """
    tokens = Tokens(home, token_file)
    file = str(tokens.path)
    if name is None:
        listed = {}
        for _, grant in tokens.read():
            fields = grant._asdict().items()
            listed[grant.name] = {field.replace("_", "-"): value for field, value in fields}
        text = outline(listed) or f"No tokens in {file}. `synaptic token NAME` makes one."
        return answer({"file": file, "tokens": list(listed.values())}, text)
    secret = secrets.token_urlsafe(32)
    said: dict[str, object] = {
        "token": secret,
        "project": project,
        "read-only": read_only,
        "page": page,
    }
    if journals is not None:
        said["journals"] = [each.strip() for each in journals.split(",")]
    tokens.add(name, {key: value for key, value in said.items() if value})
    use = "Its client sends it as a bearer token: `synaptic setup --url` says how."
    if page:
        use = "Type it on the page."
    data = {"success": True, "name": name, "token": secret, "file": file}
    return answer(data, f"{secret}\n{use}")


# a file of the journal may be called -x.md or --help.md
@app.command(
    "git-merge",
    hidden=True,
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
)
def git_merge(ctx: typer.Context, base: Path, ours: Path, theirs: Path, path: str) -> int:
    """The merge driver that git calls; exit status 0 for a clean merge, 10 for one with
    conflicts, else `ours` is as it was.
    """
    try:
        return gitdriver.drive(base, ours, theirs, path, day_file=load_config(ctx.obj).day_file)
    except Exception as error:
        terminal.say(f"synaptic: {path} cannot be merged: {error}")
        return 1
