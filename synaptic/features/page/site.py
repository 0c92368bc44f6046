"""Shared by all pages: the site's state, templates, forms, and the message of a change on the
next page.
"""

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from ...config import load_config
from ...errors import NotFound, Refused, Sentence, SynapticError, join_sentences
from ...files import real_path
from ...journal.changelog import Actor, acting
from ...kinds import KINDS
from ...models import Entry, frozen
from ...notes.conflicts import find_conflicts
from ...notes.header import shorten
from ...render.fence import clean, one_line
from ...render.present import day_page_length, short_id
from ...serving.failures import to_user_error
from ...serving.roles import Role
from ...serving.tokens import Tokens
from ...serving.worker import Lane, Result, Verb, Worker, run_on_journals
from ...verbs.linked import link_targets
from ...workspace.readback import read_entries
from ...workspace.workspace import Workspace
from .devices import Devices
from .guard import BODY_BYTES, READING, WITH_FILES, Sessions, Visitor, cookie_name
from .phone_code import PhoneCode
from .rendering import Quoted, markdown_to_line, plain_heading, render_markdown
from .repeat_words import say_rules
from .tag_spellings import spell_tags
from .template_texts import add_translations
from .translation import localize_sentence, present_locale, run_in_locale, translate

Arguments = ParamSpec("Arguments")
Endpoint = Callable[[Request], Awaitable[Response]]
Values = dict[str, Any]
"""The values of a template or a form, by name."""
HERE = Path(__file__).parent
GONE_S = 0.5
"""Seconds between two checks whether a browser still waits for a slow answer."""
STATUS = {
    "invalid-argument": 400,
    "refused": 403,
    "not-found": 404,
    "ambiguous-id": 404,
    "changed": 409,
    "busy": 503,
}
"""The HTTP status for each error code; 500 for any other."""
MOST_READ, MOST_WORDS = 1_000, 120
"""The most characters of an entry that are read for its first words, and that are shown."""
SAVED, SAVED_S = 20, 30 * 86_400
"""The most texts that a session names as saved, and the seconds for which its browser knows."""
_VERSION = re.compile(r"[a-z0-9]{1,16}-[0-9]{1,9}")
_BACK = re.compile(r"/(?:tasks|import|day/[\d-]{1,12}|entry/[\w-]{1,40}|day)?")

TEMPLATES = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    extensions=["jinja2.ext.i18n"],
)
add_translations(TEMPLATES)
TEMPLATES.globals["csrf_field"] = lambda csrf: Markup(
    '<input type="hidden" name="csrf" value="{}">'
).format(csrf)
TEMPLATES.globals |= {
    "KINDS": KINDS,
    "conflicts_in": find_conflicts,
    "headed": plain_heading,
    "page_end": day_page_length,
    "plain": markdown_to_line,
    "render": render_markdown,
}


def code_to_html(text: str) -> Markup:
    """Returns a message in the present language as HTML, with its `commands` as code."""
    message = str(escape(localize_sentence(Sentence(text))))
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", message))


@pass_context
def _spell_tag(context: Context, tag: str) -> str:
    """Spells a tag as most notes do, where a page can ask."""
    return str(context.get("spell", str)(tag))


def _localize_shown(value: object) -> object:
    return localize_sentence(value) if isinstance(value, Sentence) else value


TEMPLATES.finalize = _localize_shown
TEMPLATES.filters |= {
    "localized": localize_sentence,
    "short": short_id,
    "spelled": _spell_tag,
    "one_line": lambda text: say_rules(one_line(text)),
    "coded": code_to_html,
    "visible": clean,
}


class Page(Route):
    """A page at a path. `role` says which server answers it: see `serving/roles`."""

    def __init__(
        self, path: str, role: Role, endpoint: Endpoint, methods: Sequence[str] = ("GET",)
    ) -> None:
        super().__init__(path, _after_saves(endpoint), methods=methods)
        self.role = role


def _after_saves(endpoint: Endpoint) -> Endpoint:
    """Lets a page of a session wait until what it sent before is saved, or refused: a browser
    that left before the answer would else show that text as a draft.
    """

    async def answer(request: Request) -> Response:
        session = request.scope.get("session_of")
        task = asyncio.current_task()
        if session and session.saving and request.method in READING:
            await asyncio.wait([*session.saving])
        elif session and task and request.method == "POST" and _is_save(request):
            session.saving.add(task)  # before its text is here, which takes its time
            task.add_done_callback(session.saving.discard)
        response = await endpoint(request)
        if session:
            _name_saved_versions(request, session, response)
        return response

    return answer


def _is_save(request: Request) -> bool:
    """True if a request sends a form that has a draft."""
    path = request.url.path
    return path != "/draft" and bool(WITH_FILES.fullmatch(path))


def _name_saved_versions(request: Request, session: Visitor, response: Response) -> None:
    """Adds the cookies by which the scripts of the page know the last texts that were saved.
    A cookie for each of them: two answers that overtake each other lose none.
    """
    for slot, versions in session.saved.items():
        name = f"{cookie_name(request.scope)}-saved-{slot}"
        if request.cookies.get(name) != versions:
            is_https = request.url.scheme == "https"
            response.set_cookie(
                name, versions, max_age=SAVED_S, samesite="strict", secure=is_https
            )


class Site(NamedTuple):
    """The state that all pages of a server share. `local`: the server is only reachable from
    this machine, so that it may open the person's editor. `fixed`: its port stays the same, so
    that a browser may keep a key for it.

    `phone` holds the code that lets a phone in, if the server was started for phones.

    `writer` is the address of the server that writes, if this one reads published journals.
    `roles` maps the paths of pages to their roles. `language` is that of the settings, "" for
    the one of each browser.
    """

    worker: Worker
    sessions: Sessions
    tokens: Tokens
    devices: Devices
    roles: Mapping[str, Role]
    read_only: bool = False
    local: bool = True
    fixed: bool = False
    writer: str = ""
    phone: PhoneCode | None = None
    language: str = ""

    def page_address(self, path: str) -> str:
        """Returns the address of a page, which may be on the writing server; empty if there is
        none.
        """
        role = self.roles[path] if self.worker.is_published else "reader"
        if role == "writer" and self.writer:
            return f"{self.writer}{path}"
        return path if role == "reader" else ""


def site_of(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


def session_of(request: Request) -> Visitor:
    session: Visitor = request.scope["session_of"]
    return session


def is_owner(request: Request) -> bool:
    """True for the owner of the journal, who may write: no token opened this session."""
    session = session_of(request)
    return not (session.grant or session.read_only or site_of(request).worker.is_published)


def refuse_reader(request: Request) -> None:
    """Raises Refused for a visitor who only reads."""
    if session_of(request).read_only:
        raise Refused(
            translate("This page is read-only."),
            translate("Log in with a token that may write."),
        )


def _limit_to_visitor(request: Request, verb: Verb[Result]) -> Verb[Result]:
    """Wraps a verb so that it sees only the journals that the visitor may read, and speaks the
    language of the page.
    """
    in_locale = partial(run_in_locale, verb, present_locale())
    return partial(run_on_journals, in_locale, session_of(request).journals)


async def run_verb(
    request: Request,
    verb: Callable[Concatenate[Workspace, Arguments], Result],
    *args: Arguments.args,
    **named: Arguments.kwargs,
) -> Result:
    """Runs a verb for a request, on a reading thread if the request only shows a page, and
    returns its result. Raises SynapticError.
    """
    lane: Lane = "read" if request.method in READING else "write"

    def act(ws: Workspace) -> Result:
        with acting(Actor(by="page")):
            return verb(ws, *args, **named)

    asked = _limit_to_visitor(request, act)
    return await site_of(request).worker.ask(asked, lane)


def wait_for_verb(request: Request, verb: Verb[Result], lane: Lane) -> Result:
    """Runs a verb for a request, and waits in the present thread, which is not the one of the
    event loop. Raises SynapticError.
    """
    future = site_of(request).worker.submit(_limit_to_visitor(request, verb), lane)
    try:
        return future.result()
    except Exception as error:
        raise to_user_error(error) from error


async def run_slow_verb(request: Request, verb: Verb[Result], lane: Lane = "process") -> Result:
    """Runs a slow verb for a request and returns its result; stops when the browser is gone.
    Raises SynapticError.
    """
    asked = asyncio.ensure_future(
        site_of(request).worker.ask(_limit_to_visitor(request, verb), lane)
    )
    while not asked.done():
        await asyncio.wait((asked,), timeout=GONE_S)
        if not asked.done() and await request.is_disconnected():
            asked.cancel()
            raise Refused(translate("The browser left the page before its answer was ready."))
    return await asked


async def page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """Renders a template as a page, or for a request of htmx as a part of one. It shows the
    message of the last change once.

    It is made on a thread of its own: a note may take a second, in which the server answers
    others.
    """
    session = request.scope.get("session_of")

    def quoted(names: Sequence[str], path: str) -> Quoted:
        return wait_for_verb(request, lambda ws: link_targets(ws, names, path), "read")

    @cache
    def spell(tag: str) -> str:
        with suppress(SynapticError):
            return wait_for_verb(request, lambda ws: spell_tags(ws, [tag])[tag], "read")
        return tag

    context = {
        "request": request,
        "spell": spell,
        "render": partial(render_markdown, quoted=quoted),
        "session": session,
        "csrf": session.csrf if session else "",
        "said": "",
        "waits": request.app.state.follower.waits,
        "held": _name_of_held_key(request),
        "site": site_of(request),
        **values,
    }
    if session and not request.headers.get("hx-request"):
        context |= session.notice
        session.notice = {}
    html = await asyncio.to_thread(TEMPLATES.get_template(template).render, context)
    if session and session.read_only:
        html = _without_places(html, site_of(request).devices.home)
    return HTMLResponse(html, status)


def _name_of_held_key(request: Request) -> str:
    """Returns the name of the key that is held for a shortcut, as the visitor's keyboard has
    it.
    """
    is_apple = "Mac OS X" in request.headers.get("user-agent", "")
    return "⌘" if is_apple else translate("Ctrl")


def _without_places(html: str, home: Path) -> str:
    """Returns a page for a person who only reads: without the paths of the home and of the
    folders with notes, which tell of the machine and its user.
    """
    places = {home: translate("(the home)")}
    with suppress(SynapticError):  # the home alone, then
        for name, root in load_config(home).roots.items():
            places[root] = f"({name})" if name else translate("(the journal)")
    for place in sorted(places, key=lambda place: len(str(place)), reverse=True):
        for path in dict.fromkeys((str(place), str(real_path(place)))):
            if path != place.anchor:
                html = html.replace(str(escape(path)), str(escape(places[place])))
    return html


async def read_form(request: Request) -> Mapping[str, str]:
    """Returns the fields of a form that this session was shown. Raises Refused for any other
    form.
    """
    form = await request.form(max_part_size=BODY_BYTES)
    fields = {name: value for name, value in form.items() if isinstance(value, str)}
    if not hmac.compare_digest(
        fields.pop("csrf", "").encode(), session_of(request).csrf.encode()
    ):
        raise Refused(
            translate(
                "This form is not from the present browser session; nothing was changed."
            ),
            translate("Go back, copy what you typed, and load the page again."),
        )
    versions = _VERSION.findall(fields.get("versions", ""))
    if versions and "hx-request" not in request.headers:
        request.state.versions = ".".join(versions[-SAVED:])
    return fields


def return_address(form: Mapping[str, str]) -> str:
    """Returns the address of our page from which a form was sent; empty if the form names
    none.
    """
    back = form.get("back", "")
    return back if _BACK.fullmatch(back) else ""


@frozen
class Named:
    """An entry as a question about it names it: three may have one title, so its day and the
    first words that its title does not have stand beside it.
    """

    id: str
    title: str
    day: str
    words: str


@frozen
class Nearby:
    """The entries to ask about after a save of the entry `id`, and those that may lean on an
    entry that it replaced.
    """

    id: str
    near: tuple[Named, ...] = ()
    leaning: tuple[Named, ...] = ()


def find_nearby(
    ws: Workspace, id: str, near: Sequence[str], leaning: Sequence[str] = ()
) -> Nearby:
    """The entries with these ids, as far as they are there."""
    rows = ws.index.rows_of_ids([*near, *leaning])
    named = {one.id: one for one in name_entries(ws, [*rows.values()])}
    of_near, of_leaning = (
        tuple(named[one] for one in ids if one in named) for ids in (near, leaning)
    )
    return Nearby(id, of_near, of_leaning)


def name_entries(ws: Workspace, rows: Sequence[int]) -> list[Named]:
    """The entries of these rows, in their order."""
    texts = read_entries(ws, rows)
    return [_name_entry(texts[row]) for row in rows if row in texts]


def _name_entry(entry: Entry) -> Named:
    title = say_rules(one_line(entry.title_in_lists))
    words = markdown_to_line(entry.content[:MOST_READ]).removeprefix(title.rstrip("…"))
    day = entry.date if entry.dated else ""
    return Named(entry.id, title, day, shorten(words.lstrip(" .,:;!?–-"), MOST_WORDS))


@frozen
class Offer:
    """A button beside a message: it sends a form with these fields to a path. `label` is its
    text, "Undo" without one.
    """

    path: str
    fields: Values
    label: str = ""
    key: str = "u"


def offer_restore(id: str, file: str = "") -> list[Offer]:
    """The undo of a change of the entry `id`, by the name of what comes back; none without an
    id.
    """
    label = translate("Undo: bring back %(file)s", file=file) if file else ""
    return [Offer(f"/entry/{id}/restore", {}, label)] if id else []


def offer_undo_of_run(run: str, label: str = "") -> list[Offer]:
    """The undo of a run that the log of changes names; none without a run."""
    return [Offer("/undo", {"run": run}, label)] if run else []


def offer_undo_of_rename(run: str) -> list[Offer]:
    """The undo of a rename by its run."""
    return [Offer(f"/renamed/{quote(run)}/undo", {})]


def redirect_with_message(
    request: Request,
    where: str,
    message: str,
    offers: Sequence[Offer] = (),
    *,
    look: str = "",
    nearby: Nearby | None = None,
    asks_to_stay: bool = False,
) -> Response:
    """Redirects to a page that shows `message`, with a link to `look` at it and what it offers,
    and the entries `nearby`; with `asks_to_stay` it asks whether this browser shall stay logged
    in.
    """
    session = session_of(request)
    session.notice = {"said": message, "offers": offers, "look": look, "nearby": nearby}
    session.notice["asks_to_stay"] = asks_to_stay
    versions = getattr(request.state, "versions", "")
    if versions:
        session.saves += 1
        session.saved[session.saves % SAVED] = versions
    return RedirectResponse(where, 303)


async def show_error(request: Request, error: Exception) -> Response:
    """Shows the page of an error: what happened, what is valid, what to do next."""
    if not isinstance(error, SynapticError):
        error = NotFound(
            translate("There is no page at this address."), translate("The start page is at /.")
        )
    return await page(request, "error.html", http_status(error), error=error)


def answer_error(error: SynapticError) -> Response:
    """Answers a script with what an error says."""
    text = localize_sentence(join_sentences([error.message, error.hint]))
    return PlainTextResponse(text, http_status(error))


def http_status(error: SynapticError | None) -> int:
    """Returns the HTTP status of a page that shows this error; 200 without one."""
    return STATUS.get(error.code, 500) if error else 200
