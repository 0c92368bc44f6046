"""The commands that save and change entries, and others that are asked seldom. Their flags are
named as the parameters of the functions in `verbs` that they call.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from ..config import load_config, make_clock
from ..errors import Ambiguous, InvalidArgument, NotFound, Refused, SynapticError
from ..journal.journal import Journal
from ..journal.shelf import is_attachment
from ..journal.standing import LoggedRun
from ..models import PERSON, Entry, Receipt
from ..render import terminal, wire
from ..render.briefing import briefing_text, budget_of_briefing
from ..render.present import join_first, outline_text, short_id
from ..serving.arguments import agent_name, is_person, why_not_person
from ..verbs import browse, changing, newest, removing, rules, saving, undoing
from ..verbs.attaching import find_attachments, with_attachments
from ..verbs.brief import WEEK
from ..verbs.brief_readers import Reader, brief_reader
from ..verbs.linked import id_of_name
from ..verbs.local_files import LocalFiles, Reach, save_with_files, update_with_files
from ..verbs.outside_copies import find_outside_copies
from ..workspace.proposals import read_proposals
from ..workspace.workspace import Workspace
from . import editor
from . import flags as f
from .asking import (
    ask_about_new_preferences,
    ask_about_project,
    ask_about_proposals,
    ask_to_confirm,
)
from .flags import (
    ID_COMPLETION,
    PROJECT_COMPLETION,
    TAG_COMPLETION,
    argument,
    switch,
    text_option,
    texts_option,
)
from .program import command, open_home
from .replies import (
    IN_JSON,
    ask_agreed_id,
    ask_agreement,
    can_ask,
    change_all,
    check_can_ask,
    edit_or_print_path,
    output_for_workspace,
    print_answer,
    print_entries,
    print_listing,
    print_nearest_entry,
    print_receipt,
    refuse_list_number,
    resolve_id,
)

MOST_FILES = 5
"""The most files that `delete` names of those that stay."""
OF_ONE_ENTRY = ("content", "append", "title", "supersedes", "attach")
"""Options of `update` that can change one entry only."""
IN_PROJECT = "Agents follow it in {project} alone; in all: synaptic update {id} --project ''"
NONE_WAITS = "No preference waits for your yes."
PROPOSALS = "Rules that you typed in sessions: {}; `synaptic confirm` asks on a terminal."

Words = Sequence[str]
_PAGE = switch("page", "Open the page that `synaptic serve` shows, logged in.")


@command(
    "save",
    f.WORDS,
    f.NEW_TYPE,
    text_option(
        "project",
        "Its project. [default: the git repository of this folder]",
        **PROJECT_COMPLETION,
    ),
    *f.MARKS,
    text_option(
        "at",
        "When it happened: 2026-11-21T09:31, yesterday 18:00, 2 hours ago. [default: now]",
        metavar="TIME",
    ),
    text_option("parent", "The entry that this one continues.", metavar="ID", **ID_COMPLETION),
    text_option("source", "Where the text comes from, if from outside."),
    f.ATTACH,
    switch("pin", "Show it to agents at the start of each session in its project."),
    switch("force", "Save it although the same text was saved in the last ten minutes."),
    opens=False,
)
def save(home: str | None, text: Words = (), attach: Sequence[Path] = (), **marks: Any) -> None:
    """Write something down: a fact, a decision, what you did.

    Without TEXT your editor opens; in a pipe standard input is read, as - does. A text may
    begin with its date ("yesterday 5pm: called Ida") or its type ("Decision: ..."). A picture
    that it shows is copied beside the note, without the place where it was taken:
    ![[gel.png]], ![](./gel.png). What stands between <private> and </private> is not saved;
    typed into a note by `edit` it stays there, and no list, search or book shows it.

    Example: synaptic save "Chose SQLite: one file, no server." --type decision --tag db
    """

    _check_stray_files(text, attach)
    is_piped = list(text) == ["-"] or not (text or attach or sys.stdin.isatty())
    content = _join_words(["-"] if is_piped else text)
    if text or attach or content.strip():
        _save_text(home, content, _local_files(attach, is_typed=not is_piped), **marks)
    else:
        with editor.compose_text() as written:
            _save_text(home, written, _local_files((), is_typed=True), **marks)


def _check_stray_files(text: Words, attach: Sequence[Path]) -> None:
    """Raises InvalidArgument for files among the words of a text, as the shell makes them of
    `--attach *.png`.
    """
    files = [word for word in text if is_attachment(word) and Path(word) not in attach]
    stray = [word for word in files if attach and Path(word).is_file()]
    if stray:
        raise InvalidArgument(
            f"{join_first(stray, MOST_FILES)} would be words of the text. Nothing was saved.",
            f"Write --attach before each file: --attach {attach[0]} --attach {stray[0]}",
        )


def _local_files(named: Sequence[Path], *, is_typed: bool) -> LocalFiles:
    """Returns the files of this machine that a text may take along; `is_typed`: it was typed as
    an argument or in the editor.
    """
    reach: Reach = "anywhere" if is_typed and is_person() else "below"
    try:
        folder = Path.cwd()
    except OSError:  # it was deleted
        folder = Path(os.environ.get("PWD", "/deleted"))
    return LocalFiles(folder, "nowhere" if agent_name() else reach, tuple(named))


def _save_text(home: str | None, content: str, local: LocalFiles, **marks: Any) -> None:
    by = agent_name()
    is_asked = is_person() and not IN_JSON.get()
    with open_home(home) as ws:
        if not marks.get("project"):
            ask_about_project(ws)
        receipt, attached = save_with_files(
            ws,
            content,
            local,
            by=by or PERSON,
            via="cli",
            by_person=not by,
            confirms=is_person(),
            reads_date=not by,
            names_near=not is_asked,
            **marks,
        )
        if receipt.type == "preference" and "project" not in marks and not receipt.notices:
            [entry] = browse.get(ws, [receipt.id]).entries
            if entry.project:
                notice = IN_PROJECT.format(project=entry.project, id=short_id(entry.id))
                receipt = replace(receipt, notices=(notice,))
        receipt = _with_remarks(receipt, content)
        print_receipt(ws, f"Saved {receipt.type}", receipt, attached)
        if is_asked:
            from ..verbs.neighbours import compare_saved  # only a person is asked

            print_nearest_entry(receipt.id, compare_saved(ws, receipt))


def _with_remarks(receipt: Receipt, text: str) -> Receipt:
    """The receipt, which also says what of its text stands otherwise or does not count."""
    if "#" not in text and "::" not in text:
        return receipt
    from ..verbs.text_remarks import remarks_on_text  # few texts have one

    return replace(receipt, notices=(*receipt.notices, *remarks_on_text(text)))


@command("analyze", f.WORDS, f.STRATEGY, switch("note", "The text is a note, not a question."))
def analyze(ws: Workspace, note: bool, strategy: str, text: Words = ()) -> None:
    """Show what a question asks for and how it is searched, or with --note how a note reads by
    itself; - reads standard input.

    Example: synaptic analyze "what did we decide about redis last week?"
    """
    from ..search.explain import analyze_note, analyze_question  # slow to import

    content = _join_words(text)
    analysis = (
        analyze_note(ws, content) if note else analyze_question(ws, content, strategy=strategy)
    )
    data = wire.as_json(analysis)
    print_answer(data, outline_text(data))


@command(
    "update",
    argument(list[str], "ids", "ID", f.ID_HELP, **ID_COMPLETION),
    text_option("content", "The new text; - reads standard input.", metavar="TEXT"),
    text_option("append", "Text to add at the end; - reads standard input.", metavar="TEXT"),
    *f.MARKS,
    f.NEW_TYPE,
    texts_option(
        "add_tags",
        "A tag to add; repeatable.",
        "--add-tag",
        "--add-tags",
        metavar="TAG",
        **TAG_COMPLETION,
    ),
    texts_option(
        "remove_tags",
        "A tag to remove; repeatable.",
        "--remove-tag",
        "--remove-tags",
        metavar="TAG",
        **TAG_COMPLETION,
    ),
    text_option("project", "The project; an empty text removes it.", **PROJECT_COMPLETION),
    text_option(
        "at",
        "The day and time when it happened; it moves there. A day alone keeps the time.",
        metavar="TIME",
    ),
    f.ATTACH,
    opens=False,
)
def update(home: str | None, ids: Words, attach: Sequence[Path] = (), **changes: Any) -> None:
    """Change entries in their files; what you do not name stays.

    Files to which the new text links are copied beside the note, as by save. Several entries
    can get the same marks, such as a tag or a project; one undo takes all back.

    Example: synaptic update 7k3m9q2x --append "Rolled out today." --add-tag done
    """
    of_one = [name for name in OF_ONE_ENTRY if (changes | {"attach": attach}).get(name)]
    if ids[1:] and of_one:
        raise InvalidArgument(
            f"--{of_one[0]} changes one entry, and {len(ids):,} were named.",
            "Name one, or give all the same marks: --add-tag, --project, --type, --due.",
        )
    with open_home(home) as ws:
        if can_ask():
            ids = [ask_agreed_id(ws, id, lambda _: "Change it?", always=False) for id in ids]
        else:
            for id in ids:
                refuse_list_number(id)
        is_typed = "-" not in (changes.get("content"), changes.get("append"))
        for name in ("content", "append"):
            if changes.get(name) == "-":
                changes[name] = _read_stdin()
        by = agent_name()
        who: dict[str, Any] = {"by_person": not by, "by": by, "confirms": is_person()}
        if ids[1:]:
            change = partial(changing.update, ws, **who, **changes)
            return change_all(ws, "update", "Updated", ids, change)
        local = _local_files(attach, is_typed=is_typed)
        receipt, attached = update_with_files(ws, ids[0], local, changes, **who)
        for name in ("content", "append"):
            receipt = _with_remarks(receipt, changes.get(name) or "")
        return print_receipt(ws, "Updated", receipt, attached)


@command(
    "pin",
    argument(
        list[str] | None,
        "ids",
        "ID",
        "Without an ID the pinned entries are listed.",
        **ID_COMPLETION,
    ),
    f.REMOVE,
)
def pin(ws: Workspace, remove: bool, ids: Words = ()) -> None:
    """Show an entry to agents at the start of each of their sessions; without an ID, list the
    pinned entries.

    It is shown in the project of the entry, or in all if it has none; at most 10 are. Only a
    person pins.

    Example: synaptic pin 7k3m9q2x
    """
    if not ids:
        return print_listing(ws, newest.list_pinned(ws))
    change = partial(
        changing.update, pin=not remove, by_person=not agent_name(), confirms=is_person()
    )
    receipts = [change(ws, resolve_id(ws, id)) for id in ids]
    pinned = [receipt.id for receipt in receipts]
    notices = list(chain.from_iterable(receipt.notices for receipt in receipts))
    text = f"{'Unpinned' if remove else 'Pinned'} {', '.join(map(short_id, pinned))}"
    return print_answer({"success": True, "ids": pinned, "notices": notices}, text, notices)


@command(
    "confirm",
    argument(
        list[str] | None,
        "ids",
        "ID",
        "Without an ID it asks about each that waits, or lists them where nobody is asked.",
        **ID_COMPLETION,
    ),
    f.REMOVE,
)
def confirm(ws: Workspace, remove: bool, ids: Words = ()) -> None:
    """Say yes to preferences, the rules for your agents, that wait for it: typed into a file,
    saved by an agent, or come from outside.

    Agents follow a preference as a rule only after your yes. Each is shown, on a terminal, and
    one key answers. If its text changes later, it waits again.

    Example: synaptic confirm, synaptic confirm 7k3m9q2x
    """
    may_ask = can_ask() and is_person()
    if ids and not may_ask:
        raise Refused(
            f"Only a person confirms, on a terminal: {why_not_person()}.",
            "Run it in a terminal of your own, or confirm on the page of `synaptic serve`.",
        )
    if ids:
        entries = browse.get(ws, [resolve_id(ws, id) for id in ids]).entries
        ask_to_confirm(ws, entries, remove=remove)
        return None
    waiting = rules.list_waiting(ws)
    proposals = read_proposals(ws.config.state)
    if may_ask and (waiting or proposals) and not remove:
        if ask_to_confirm(ws, waiting):
            ask_about_proposals(ws, proposals)
        return None
    notices = (PROPOSALS.format(len(proposals)),) if proposals else ()
    listing = browse.Listing(len(waiting), waiting, notices=notices)
    if waiting:  # whole, for the whole text is what waits
        return print_entries(ws, listing)
    return print_listing(ws, listing, NONE_WAITS)


@command(
    "brief",
    text_option(
        "project",
        "What an agent of this project is told. [default: the git repository of this folder]",
        **PROJECT_COMPLETION,
    ),
    text_option(
        "since",
        "Only what is new since then: last (the last briefing here), a day, or p:... from the "
        "end of a briefing. [default: the last hand-off]",
        metavar="WHEN",
    ),
    f.AS_OF,
)
def brief(ws: Workspace, project: str | None = None, since: str | None = None) -> None:
    """Show what an agent is told when a session starts.

    Example: synaptic brief --since last
    """
    if not project:
        ask_about_project(ws)
    reader = Reader(agent_name() or PERSON)
    briefing = brief_reader(ws, reader, Path.cwd(), since or WEEK, project=project)
    most = budget_of_briefing(ws, asks_since=bool(since))
    text = briefing_text(ws, briefing, max_tokens=most, always=True)
    print_answer(
        {"project": briefing.project, "next": briefing.position, "text": text}, f"{text}\n"
    )


@command(
    "delete",
    argument(list[str], "ids", "ID", f.ID_HELP, **ID_COMPLETION),
    f.YES,
    switch("purge", "Leave no copy in the trash."),
    opens=False,
)
def delete(home: str | None, ids: Words, yes: bool, purge: bool) -> None:
    """Delete entries from their files; the trash keeps them, and one undo takes all back.

    Example: synaptic delete 7k3m9q2x --yes
    """
    check_can_ask("delete", yes=yes)
    if yes:
        for id in ids:
            refuse_list_number(id)

    with open_home(home) as ws:

        def question(entry: Entry) -> str:
            thing = f"the whole file {entry.path}" if entry.whole_file else "it"
            outside = find_outside_copies(ws, entry) if purge else []
            if outside:
                return f"Delete {thing} here? {' '.join(copy.sentence for copy in outside)}"
            return f"Delete {thing}{' without a trace' if purge else ''}?"

        if not yes:
            ids = [ask_agreed_id(ws, id, question, always=True) for id in ids]
        act = partial(_delete_one, ws, purge=purge)
        if not ids[1:]:
            return print_receipt(ws, "Deleted", act(ids[0]))
        return change_all(ws, "delete", "Deleted", ids, act, is_undoable=not purge)


def _delete_one(ws: Workspace, id: str, *, purge: bool) -> Receipt:
    files: Sequence[str] = ()
    with suppress(SynapticError):  # deleting says what is wrong
        files = find_attachments(ws, id)
    receipt = removing.delete(
        ws, id, purge=purge, by_person=not agent_name(), confirms=is_person()
    )
    if not files:
        return receipt
    notice = f"Its files stay: {join_first(files, MOST_FILES)}."
    return replace(receipt, notices=(*receipt.notices, notice))


@command(
    "restore",
    argument(
        str | None,
        "id",
        "ID",
        "Without an ID deleted entries, and texts before an edit, are listed.",
        **ID_COMPLETION,
    ),
)
def restore(ws: Workspace, id: str = "") -> None:
    """Bring a deleted entry back, or undo its last update; called twice, it redoes it.
    Without an ID it lists what was deleted, or edited in an editor.

    Example: synaptic restore 7k3m9q2x
    """
    if not id:
        texts = removing.restorable_texts(ws)
        data = {
            "deleted": [piece._asdict() for piece in texts.deleted],
            "edited": [piece._asdict() for piece in texts.edited],
        }
        return print_answer(data, terminal.trash_text(texts, output_for_workspace(ws)))
    stands = False
    with suppress(Ambiguous):
        stands = id_of_name(ws, id) is not None
    try:
        receipt = removing.restore(ws, id, by_person=not agent_name(), confirms=is_person())
    except NotFound as error:
        if not id.lower().endswith(".zip"):
            raise
        from ..journal.backups import how_to_go_back  # only this error needs it

        message = f"{id} is not the id of an entry, and a backup is not restored by a command."
        raise NotFound(message, how_to_go_back(ws.config)) from error
    done = "Undid the last change of" if stands else "Restored"
    return print_receipt(ws, done, receipt)


@command(
    "undo",
    argument(list[str] | None, "ids", "ID", "Those that --list shows. [default: the last]"),
    switch("lists", "List what can be taken back, the newest first.", "--list"),
    f.YES,
)
def undo(ws: Workspace, lists: bool, yes: bool, ids: Words = ()) -> None:
    """Take back the last thing that you did, or those that --list shows.

    A save, an edit, a tick, a rename, an import: it says what it took back, and can be taken
    back itself. It asks if the last thing is older than a day, or was not done by a command.

    Example: synaptic undo, synaptic undo --list
    """
    if lists:
        runs = undoing.list_runs_with_words(ws)
        return print_answer({"undoable": wire.as_json(runs)}, terminal.runs_text(runs))
    if not ids:
        run = undoing.find_last(undoing.list_runs(ws), by_person=not agent_name())
        if not _is_expected(ws, run):
            about = terminal.run_text(run)
            if not ask_agreement(f"Undo of {about}", f"Take back {about}?", yes=yes):
                return None
        ids = [run.run]
    if ids[1:]:
        ids = _sort_newest_first(undoing.list_runs(ws), ids)
    undone: list[undoing.Undone] = []
    refused: list[SynapticError] = []
    for id in ids:
        try:
            one = undoing.undo_run(ws, id, by_person=not agent_name(), confirms=is_person())
        except SynapticError as error:
            if isinstance(error, NotFound) and not undone:  # ids that name none come first
                raise
            refused.append(error)
        else:
            undone.append(one if id == ids[-1] else replace(one, earlier=None))
    if refused:
        messages = [str(error.message) for error in refused]
        if undone:
            messages.append(f"{len(undone):,} others were taken back.")
        refused[0].message = "\n".join(messages)
        raise refused[0]
    data = wire.as_json(undone[0] if not undone[1:] else {"undone": undone})
    notices = [*chain.from_iterable(one.notices for one in undone)]
    return print_answer(
        {"success": True} | data, "\n".join(map(terminal.undone_text, undone)), notices
    )


def _sort_newest_first(runs: Sequence[LoggedRun], ids: Words) -> list[str]:
    """The different ids in the order of the runs; one that names none comes before all."""

    def place(id: str) -> int:
        return next((n for n, run in enumerate(runs) if run.run.startswith(id.lower())), -1)

    return sorted(dict.fromkeys(ids), key=place)


def _is_expected(ws: Workspace, run: LoggedRun) -> bool:
    """True if who types `undo` has this run in mind: a command or an edit of the last day."""
    is_recent = ws.clock() - run.at < timedelta(days=1)
    return is_recent and run.by in ("command line", "editor")


@command(
    "open",
    argument(str | None, "id", "ID", "An entry, as for `edit`.", **ID_COMPLETION),
    _PAGE,
    opens=False,
    hidden=True,
)
def open_(home: str | None, page: bool, id: str = "") -> None:
    """Open an entry in your editor, as `edit` does; with --page the page, as `today` does.

    Example: synaptic open 3, synaptic open --page
    """
    if page == bool(id):
        raise InvalidArgument(
            "open takes either the id of an entry or --page.", "As in: synaptic open 3"
        )
    return _open_page(home) if page else edit(home, id)


def _open_page(home: str | None) -> None:
    """Opens the page of the running server in the browser, by an address that works once."""
    import webbrowser  # only here

    from ..serving.running import find_running_server

    running = find_running_server(home)
    address = f"{running.url}/login?token={running.one_time_token()}"
    opened = webbrowser.open(address)
    text = f"Opened {running.url}." if opened else f"Open this within a minute: {address}"
    return print_answer({"success": True, "opened": opened, "address": address}, text)


@command("edit", f.ID_OR_NUMBER, opens=False)
def edit(home: str | None, id: str) -> None:
    """Open the file of an entry in your editor, at its line.

    The editor is that of $VISUAL or $EDITOR. In a script, or without one, the path and the line
    are printed. `restore` brings the text before the edit back.

    Example: synaptic edit 7k3m9q2x, synaptic edit 1
    """
    with open_home(home) as ws:
        listing = with_attachments(ws, browse.get(ws, [resolve_id(ws, id)]))
    [entry] = listing.entries
    attached = listing.attached[entry.id]
    edit_or_print_path(ws.own_journal, entry.path, entry.there.line, attached)
    ask_about_new_preferences(home)


@command("today", _PAGE, opens=False)
def today(home: str | None, page: bool = False) -> None:
    """Open today's file in your editor; with --page open the page in your browser.

    A new file begins with the template that the vault names for daily notes.
    In a script, or without an editor, the path is printed. The page is that of a running
    `synaptic serve`; the browser is logged in by an address that works once, for a minute.

    Example: synaptic today, synaptic today --page
    """
    if page:
        return _open_page(home)
    journal = Journal(load_config(home))
    now = make_clock()()
    path = journal.path_of_day(now)
    if editor.editor_command() and not (IN_JSON.get() or journal.stamp(path)):
        with open_home(home) as ws:
            saving.begin_new_day(ws, now)
    edit_or_print_path(journal, path, None)
    return ask_about_new_preferences(home)


def _join_words(text: Words) -> str:
    """Returns the words joined by blanks; the text on standard input if the only word is
    `-`.
    """
    return _read_stdin() if list(text) == ["-"] else " ".join(text)


def _read_stdin() -> str:
    # a save says which bytes it replaced
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
