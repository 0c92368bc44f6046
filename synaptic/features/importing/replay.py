"""Asks the prompts of your own sessions once more, each of the memory as it was at its time.

It counts how often an entry that came back names a file that the session edited later, or an
error that it met later. The memory is that of the moment, as `as_of` reads it, without the
digest of a session that had not ended.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path

from ...errors import InvalidArgument
from ...filters import Filters
from ...journal.projects import Projects, project_of_folder
from ...language.query import search_terms
from ...models import SESSIONS, SearchResult, frozen
from ...notes.blocks import project_key
from ...search.search import search
from ...workspace.checkout import names_in_step
from ...workspace.embed import Progress
from ...workspace.past import as_of
from ...workspace.workspace import Workspace
from .import_runs import find_source_places
from .known_entries import make_record_id
from .readers.digest import digest_session, screen_events
from .readers.record import find_reader
from .readers.session import Session

FEW_WORDS = 3
"""A prompt with fewer words is left out, because it only agrees to something."""
TOP, FETCHED = 5, 50
"""The number of entries in an answer, and the number fetched, from which ended entries are left
out.
"""
CHARS = 4
"""The approximate number of characters in a token."""
ERROR_CHARS = 100
"""Two error lines are the same if their first characters, this many, are the same."""
WAYS = {"memory": "hybrid", "words": "lexical"}
"""The search methods that are compared, each with its strategy."""


@frozen
class ReplayedPrompt:
    """A prompt of a past session, and how the memory answered it. `later` maps the files that
    the session edited afterwards, and the errors that it met, to "file" or "error".

    By each of WAYS, `tokens` is the length of the answer and `named` lists those files and
    errors that its entries mention.
    """

    at: datetime
    prompt: str
    project: str
    later: Mapping[str, str]
    tokens: dict[str, int] = field(default_factory=dict)
    named: dict[str, list[str]] = field(default_factory=dict)


def replay_prompts(
    ws: Workspace,
    show: Callable[[SearchResult], str],
    *,
    prompts: int = 200,
    progress: Progress | None = None,
) -> list[ReplayedPrompt]:
    """Searches the memory, as it was at the time, for the newest `prompts` of past sessions;
    returns a case for each, oldest first. `show` returns the text of a search result.

    Journal and index stay as they are. Raises ModelError without a model.
    """
    ws.embedder.load()
    ended = {}
    cases: list[ReplayedPrompt] = []
    for source in SESSIONS:
        for place in find_source_places(source):
            with suppress(InvalidArgument):  # a place without a session
                for session in find_reader(source).sessions(place, lambda *_: None):
                    cases += _read_prompts(ws, session)
                    for record in digest_session(session):
                        ended[make_record_id(source, record.key)] = record.until or record.at
    cases = sorted(cases, key=lambda case: case.at)[-prompts:]
    for number, case in enumerate(cases, 1):
        with as_of(ws, min(case.at, ws.clock()).isoformat()) as then:
            for way, strategy in WAYS.items():
                result = _search_before(then, case, strategy, ended)
                texts = []
                for entry in [hit.entry for hit in result.hits]:
                    if project_key(entry.project or "") in (case.project, ""):
                        texts += [entry.content, *entry.files]
                case.tokens[way] = len(show(result)) // CHARS
                case.named[way] = [text for text in case.later if text in "\n".join(texts)]
        if progress:
            progress("asking", number, len(cases))
    return cases


def _read_prompts(ws: Workspace, session: Session) -> Iterator[ReplayedPrompt]:
    state = ws.config.state
    folder = Path(session.folder)
    names = names_in_step(ws)
    project = project_key(project_of_folder(state, folder, Projects(state), names) or "")
    later: dict[str, str] = {}
    for event in reversed(list(screen_events(session.events))):
        if event.kind == "asked" and len(search_terms(event.text)) >= FEW_WORDS:
            yield ReplayedPrompt(event.at, event.text, project, dict(later))
        if event.kind == "edited":
            later[event.text] = "file"
        if event.error:
            later[event.error[:ERROR_CHARS]] = "error"


def _search_before(
    ws: Workspace, case: ReplayedPrompt, strategy: str, ended: Mapping[str, datetime]
) -> SearchResult:
    result = search(
        ws,
        " ".join(search_terms(case.prompt, stop_words=False)),  # a prompt filters nothing
        prefer=Filters(projects=(case.project,)) if case.project else None,
        strategy=strategy,
        limit=FETCHED,
    )
    hits = [hit for hit in result.hits if ended.get(hit.entry.short_id, hit.entry.at) < case.at]
    return replace(result, hits=tuple(hits[:TOP]))


def summarize_cases(cases: list[ReplayedPrompt]) -> dict[str, dict[str, float]]:
    """Summarizes the cases for each of WAYS: `files` and `errors` count prompts that were
    followed by an edited file or an error, `file_named` and `error_named` count those for which
    a found entry mentioned it.
    """
    rows = {}
    for way in WAYS:
        tokens = [case.tokens[way] for case in cases] or [0]
        row = {"prompts": len(cases), "tokens": statistics.median(tokens)}
        for kind in ("file", "error"):
            due = [case for case in cases if kind in case.later.values()]
            named = [{case.later[text] for text in case.named[way]} for case in due]
            row |= {f"{kind}s": len(due), f"{kind}_named": sum(kind in one for one in named)}
        rows[way] = row
    return rows


def pick_extreme_cases(cases: list[ReplayedPrompt]) -> dict[str, list[ReplayedPrompt]]:
    """Returns the ten cases with the most mentions, and the ten longest answers that mentioned
    nothing although a file was edited or an error met.
    """
    ranked = sorted(
        (case for case in cases if case.later),
        key=lambda case: (-len(case.named["memory"]), case.tokens["memory"]),
    )
    best = [case for case in ranked if case.named["memory"]]
    worst = [case for case in reversed(ranked) if not case.named["memory"]]
    return {"best": best[:10], "worst": worst[:10]}
