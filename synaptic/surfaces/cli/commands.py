"""The commands about entries: their flags are the parameters of the verbs they call."""

from __future__ import annotations

import sys
from dataclasses import replace

import typer

from ...config import load_config, make_clock
from ...errors import InvalidArgument
from ...journal.journal import Journal
from ...language.query import build_filters, build_preference
from ...search.search import search as search_journal
from ...verbs import browse, writing
from .. import wire
from . import editor, terminal
from . import flags as f
from .replies import answer_listing, answer_place, answer_receipt, answer_search, open_home, screen_of, when_empty
from .terminal import emit, emit_json, say

EMBED_MS = 300
"""How long a search may embed what is new before it answers."""


def save(
    ctx: typer.Context,
    text: f.Words = None,
    type: f.OneType = "note",
    tags: f.Tags = None,
    title: f.Title = None,
    importance: f.Importance = None,
    files: f.Files = None,
    project: f.Project = None,
    parent: f.Parent = None,
    supersedes: f.Supersedes = None,
    at: f.At = None,
    force: f.Force = False,
    as_json: f.AsJson = False,
) -> None:
    """Save an entry.

    Without TEXT your editor opens; - reads standard input.

    Example: synaptic save "Chose SQLite: one file, no server." --type decision --tag db
    """

    def keep(content: str) -> None:
        with open_home(ctx) as ws:
            receipt = writing.save(
                ws,
                content,
                type=type,
                tags=tags or (),
                title=title,
                importance=importance,
                files=files or (),
                project=project,
                parent=parent,
                supersedes=supersedes or (),
                at=at,
                force=force,
            )
            if "already saved" in receipt.notices:
                done = "Already saved as"
            else:
                done = f"{'Queued' if receipt.queued else 'Saved'} {type.strip().lower()}"
            answer_receipt(ws, done, receipt, as_json)

    if text:
        keep(_read_stdin() if text == ["-"] else _joined(text))
    else:
        with editor.composed() as written:
            keep(written)


def search(
    ctx: typer.Context,
    query: f.Words = None,
    types: f.InTypes = None,
    tags: f.InTags = None,
    project: f.InProjects = None,
    file: f.InFiles = None,
    days: f.Days = None,
    since: f.Since = None,
    until: f.Until = None,
    min_importance: f.MinImportance = None,
    max_importance: f.MaxImportance = None,
    limit: f.Limit = 20,
    strategy: f.Strategy = "auto",
    budget_ms: f.BudgetMs = None,
    preset: f.Preset = None,
    weight: f.Weights = None,
    prefer: f.Prefer = None,
    min_similarity: f.MinSimilarity = None,
    order: f.Order = None,
    sub_query: f.SubQueries = None,
    max_rounds: f.MaxRounds = 2,
    include_superseded: f.Superseded = False,
    explain: f.Explain = False,
    as_json: f.AsJson = False,
) -> None:
    """Find entries by words and by meaning, best first.

    Filters may stand in the query: type: tag: file: project: since: until:, and "a phrase" must occur.

    Example: synaptic search "why did we leave postgres" --type decision
    """
    with open_home(ctx) as ws:
        filters = build_filters(
            now=ws.clock(),
            type=types or (),
            tag=tags or (),
            project=project or (),
            file=file or (),
            days=days,
            since=since,
            until=until,
            min_importance=min_importance,
            max_importance=max_importance,
            include_superseded=include_superseded,
        )
        result = search_journal(
            ws,
            _joined(query),
            filters=filters,
            limit=limit,
            strategy=strategy,
            budget_ms=budget_ms,
            preset=preset,
            weights={name: _number(value, name) for name, value in _pairs("--weight", weight)},
            prefer=build_preference(_grouped(_pairs("--prefer", prefer))),
            min_similarity=min_similarity,
            order=order or "relevance",
            sub_queries=sub_query or (),
            max_rounds=max_rounds,
            explain=explain,
            embed_ms=EMBED_MS,
        )
        answer_search(ws, result, as_json)


def analyze(ctx: typer.Context, text: f.Words = None, note: f.AsNote = False, as_json: f.AsJson = False) -> None:
    """Show what a question asks for, or with --note how a note reads by itself; - reads standard input.

    Example: synaptic analyze "what did we decide about redis last week?"
    """
    from ...search.understanding import read_note, understand  # slow to import

    with open_home(ctx) as ws:
        said = _read_stdin() if text == ["-"] else _joined(text)
        data = wire.note_json(read_note(ws, said)) if note else wire.analysis_json(understand(ws, said))
        if as_json:
            emit_json(data)
        else:
            emit(terminal.outline(data))


def recent(
    ctx: typer.Context,
    query: f.Words = None,
    project: f.InProject = None,
    limit: f.Limit = 10,
    as_json: f.AsJson = False,
) -> None:
    """Show the newest entries.

    With a TEXT, those of the last 50 that fit it best.

    Example: synaptic recent --project billing
    """
    with open_home(ctx) as ws:
        answer_listing(ws, browse.recent(ws, _joined(query), project=project, limit=limit), as_json)


def find(
    ctx: typer.Context,
    query: f.Words = None,
    types: f.InTypes = None,
    tags: f.InTags = None,
    file: f.InFiles = None,
    project: f.InProjects = None,
    since: f.Since = None,
    until: f.Until = None,
    parent: f.OfParent = None,
    has_body: f.HasBody = None,
    has_files: f.HasFiles = None,
    min_importance: f.MinImportance = None,
    max_importance: f.MaxImportance = None,
    order: f.Order = None,
    around: f.Around = None,
    facets: f.WithFacets = False,
    include_superseded: f.Superseded = False,
    limit: f.Limit = 20,
    cursor: f.Cursor = None,
    as_json: f.AsJson = False,
) -> None:
    """List entries by marks and dates.

    Without TEXT a timeline, newest first; with it, the most fitting first.

    Example: synaptic find --type decision --since "last month"
    """
    with open_home(ctx) as ws:
        filters = build_filters(
            now=ws.clock(),
            type=types or (),
            tag=tags or (),
            file=file or (),
            project=project or (),
            since=since,
            until=until,
            parent=parent,
            has_body=has_body,
            has_files=has_files,
            min_importance=min_importance,
            max_importance=max_importance,
            include_superseded=include_superseded,
        )
        listing = browse.find(
            ws,
            _joined(query),
            filters=filters,
            order=order,
            around=around,
            facets=facets,
            limit=limit,
            cursor=cursor,
        )
        answer_listing(ws, listing, as_json)


def get(ctx: typer.Context, ids: f.Ids, as_json: f.AsJson = False) -> None:
    """Show whole entries.

    Example: synaptic get 7k3m9q2x
    """
    with open_home(ctx) as ws:
        answer_listing(ws, browse.get(ws, ids), as_json, whole=True)


def update(
    ctx: typer.Context,
    id: f.Id,
    content: f.Content = None,
    append: f.Append = None,
    title: f.Title = None,
    type: f.NewType = None,
    tags: f.Tags = None,
    add_tags: f.AddTags = None,
    remove_tags: f.RemoveTags = None,
    importance: f.Importance = None,
    project: f.NewProject = None,
    files: f.Files = None,
    supersedes: f.Supersedes = None,
    as_json: f.AsJson = False,
) -> None:
    """Change an entry in its file; what you leave out stays.

    Example: synaptic update 7k3m9q2x --append "Rolled out today." --add-tag done
    """
    if content == "-" and append == "-":
        raise InvalidArgument("Standard input can be read once.", hint="Give --content or --append.")
    with open_home(ctx) as ws:
        receipt = writing.update(
            ws,
            id,
            content=_or_stdin(content),
            append=_or_stdin(append),
            title=title,
            type=type,
            tags=tags or None,
            add_tags=add_tags or (),
            remove_tags=remove_tags or (),
            importance=importance,
            project=project,
            files=files or None,
            supersedes=supersedes or None,
        )
        answer_receipt(ws, "Updated", receipt, as_json)


def delete(ctx: typer.Context, id: f.Id, yes: f.Yes = False, purge: f.Purge = False, as_json: f.AsJson = False) -> None:
    """Delete an entry from its file; the trash keeps it.

    Example: synaptic delete 7k3m9q2x --yes
    """
    if not yes and not terminal.is_terminal(sys.stdin, sys.stderr):
        raise InvalidArgument("delete asks first, and here is no terminal to ask on.", hint="Add --yes.")
    with open_home(ctx) as ws:
        if not yes:
            listing = browse.get(ws, [id])
            say(terminal.entries_text(listing, replace(screen_of(ws), colour=False)))
            typer.confirm("\nDelete it without a trace?" if purge else "\nDelete it?", abort=True, err=True)
            id = listing.entries[0].id
        answer_receipt(ws, "Deleted", writing.delete(ws, id, purge=purge), as_json)


def restore(ctx: typer.Context, id: f.Id, as_json: f.AsJson = False) -> None:
    """Bring a deleted entry back, or undo an update.

    Example: synaptic restore 7k3m9q2x
    """
    with open_home(ctx) as ws:
        answer_receipt(ws, "Restored", writing.restore(ws, id), as_json)


def edit(ctx: typer.Context, id: f.Id, as_json: f.AsJson = False) -> None:
    """Open an entry in your editor, or say where it is.

    Example: synaptic edit 7k3m9q2x
    """
    with open_home(ctx) as ws:
        entry = browse.get(ws, [id]).entries[0]
        place, root = entry.place, ws.config.journal
    assert place is not None
    answer_place(root / place.path, place.line, as_json)


def today(ctx: typer.Context, as_json: f.AsJson = False) -> None:
    """Open today's file, or say where it is.

    Example: synaptic today
    """
    config = load_config(ctx.obj)
    answer_place(config.journal / Journal(config).day_path(make_clock()()), None, as_json)


def tags(ctx: typer.Context, as_json: f.AsJson = False) -> None:
    """Count types, tags and projects.

    Example: synaptic tags
    """
    with open_home(ctx) as ws:
        facets = browse.find(ws, facets=True, limit=1).facets
        assert facets is not None
        if as_json:
            emit_json(wire.facets_json(facets))
        else:
            emit(when_empty(ws) or terminal.facets_text(facets, screen_of(ws)))


def hook(ctx: typer.Context, event: f.Event) -> None:
    """Answer a hook of an agent, whose JSON is read from standard input.

    On a terminal it shows what an agent would be told here. Exit status 0, whatever goes wrong.

    Example: synaptic hook session-start
    """
    from ..hooks import hooks

    try:
        said = hooks.answer(event, ctx.obj)
    except InvalidArgument as error:  # status 2 would keep an agent from its work
        terminal.say_error(error)
        raise typer.Exit(1) from error
    if said:
        emit(said)


def _joined(words: list[str] | None) -> str:
    return " ".join(words or ())


def _pairs(flag: str, given: list[str] | None) -> list[tuple[str, str]]:
    """NAME and VALUE of each NAME=VALUE. Raises InvalidArgument."""
    pairs = []
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign:
            raise InvalidArgument(f"{flag} is {text!r}.", valid=("NAME=VALUE",))
        pairs.append((name.strip(), value.strip()))
    return pairs


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidArgument(f"The weight of {name} is {text!r}.", valid=("0 to 1",)) from None


def _grouped(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name, value in pairs:
        groups.setdefault(name, []).append(value)
    return groups


def _read_stdin() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def _or_stdin(text: str | None) -> str | None:
    return _read_stdin() if text == "-" else text
