"""What the core says, an error, a notice or a finding, is in the language of the page."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
from bs4 import BeautifulSoup
from homes import open_home
from served import Served, served

from synaptic.features.page import routes
from synaptic.features.page.translation import LOCALES, localize_sentence, speaking
from synaptic.language.time_fields import TIME_FIELDS, read_date, read_moment
from synaptic.verbs import doctor
from synaptic.verbs.doctor import run_checkup

NOW = "2026-11-20T10:00:00+00:00"
SAID = ".warning, .notice, .check, .fine li, main.said, .empty, .narrow, .sum, .why, .badge"
"""Where a page shows what the core says."""
ENGLISH = re.compile(
    r"\b([Tt]he|is|are|and|not|[Tt]hat|with|[Nn]othing|[Nn]o|of|[Ii]t|from|[Ee]ntry|entries|[Tt]here|than"
    r"|by|[Tt]his|have|for|to|read|score|matched|ranks|lines?|words?|place|here|expired|[Aa]dd)\b"
)
"""Words of English that are none of German, outside of commands and values."""
KETTLE, LAMP = "20261118-kettle22", "20261119-lamp2222"
JOURNAL = {
    "2026-11-18.md": f"# 2026-11-18\n\n## 09:00 Kessel\n<!-- syn:{KETTLE} -->\n\nDicht. #boje\n",
    "2026-11-19.md": f"# 2026-11-19\n\n## 09:00 Decision: Lampe\n<!-- syn:{LAMP} -->\n\n"
    "Wir nehmen Messing. #lampe\n\nhours:: 2\n",
    "Kajak.md": "# Kajak\n\nBlau.\n\n- [ ] Lack kaufen\n",
    "Segel.md": "# Segel\n\nRot. [[Kajak]]\n",
}


class Answer(NamedTuple):
    """What a page says in German: its messages, without commands and the names of files."""

    status: int
    text: str


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("sentences") / "home"
    (home / "journal").mkdir(parents=True)
    for name, text in JOURNAL.items():
        (home / "journal" / name).write_text(text)
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, SYNAPTIC_NOW=NOW, TZ="UTC") as found:
        found.client.headers["Accept-Language"] = "de-DE"
        yield found


def said_by(server: Served, answer: httpx.Response) -> Answer:
    """What a page says, behind a redirect."""
    if answer.is_redirect:
        answer = server.client.get(answer.headers["location"])
    if "html" not in answer.headers["content-type"]:
        return Answer(answer.status_code, answer.text)
    page = BeautifulSoup(answer.text, "html.parser")
    for part in page.select("code, button, .path, textarea, form.composer"):
        part.decompose()
    messages = page.select(SAID) or page.select("main")
    text = " ".join(message.get_text(" ", strip=True) for message in messages)
    return Answer(answer.status_code, " ".join(html.unescape(text).split()))


SEARCHES = {
    # the query, or the address of a search: what the page says of it
    "Quastenflosser": "Kein Eintrag enthält: Quastenflosser.",
    "Kesel": "Nichts enthält ; gesucht wurde nach",
    "Kessel since:niemals": "„niemals“ ist als Datum nicht zu verstehen. Gültig: 2026-11-03, gestern",
    "Kessel farbe:rot": "ist kein Filter und wurde als Wort gesucht.",
    "Kessel AND Lampe": "AND ist kein Operator: Einträge mit mehr der Wörter kommen zuerst.",
    "Kessel -Lampe": "Ausgelassen: Einträge mit",
    '"Kessel Lampe"': "Kein Eintrag enthält diese Wortfolge",
    "offene Probleme": "",
    "latest decisions": "Als Liste, neueste zuerst: Entscheidungen.",
    "was geschah am 18. November": "Als Liste, älteste zuerst: alle Einträge, 2026-11-18.",
    "was geschah im Januar": "Keine Einträge von 2026-01-01 bis 2026-01-31; die nächsten Tage",
    "?since=niemals": "Von: „niemals“ ist als Datum nicht zu verstehen.",
    "?since=2026-11-19&until=2026-11-01": "Von (2026-11-19) liegt nach Bis (2026-11-01).",
    "?type=katze": "Art: „katze“ ist unbekannt. Gültig:",
    "?tag=boje&tag=lampe": "",
}


@pytest.mark.parametrize("query", SEARCHES)
def test_a_search_says_what_it_found_in_german(server: Served, query: str) -> None:
    address = (
        f"/search{query}" if query[0] == "?" else f"/search?q={httpx.QueryParams(q=query)}"
    )
    if query[0] != "?":
        address = "/search?" + str(httpx.QueryParams(q=query))
    answer = said_by(server, server.client.get(address))
    assert SEARCHES[query] in answer.text, answer
    assert not ENGLISH.findall(answer.text), answer


@pytest.mark.parametrize("query", [query for query in SEARCHES if query[0] != "?"])
def test_a_search_says_in_german_why_it_found_that(server: Served, query: str) -> None:
    asked = httpx.QueryParams(q=query, explain="1", include_superseded="1")
    answer = said_by(server, server.client.get(f"/search?{asked}"))
    assert not ENGLISH.findall(answer.text), answer
    if query == "latest decisions":
        assert "passt zu allen Filtern" in answer.text
    elif query == "Kessel -Lampe":
        assert "Platz 1 nach den Wörtern" in answer.text


GERMAN = {
    "/": ["/"],
    "/day": ["/day?date=2026-11-18"],
    "/day/{date}": ["/day/2026-11-18", "/day/2020-01-01", "/day/2026-99-99"],
    "/calendar": ["/calendar", "/calendar?month=2026-11", "/calendar?year=nie"],
    "/search": ["/search", "/search?cursor=zz", "/search?tag=-boje&until=2026-11-30"],
    "/sums": ["/sums", "/sums?field=hours&by=week", "/sums?by=nie"],
    "/tasks": ["/tasks", *(f"/tasks?by={by}" for by in ("day", "project", "tag", "note"))],
    "/tag/{name:path}": ["/tag/boje", "/tag/nichts"],
    "/folder": ["/folder", "/folder?cursor=zz"],
    "/folder/{name:path}": ["/folder/nichts"],
    "/entry/{id}": [f"/entry/{LAMP}", f"/entry/{KETTLE}", "/entry/zzzz9999"],
    "/entry/{id}/edit": [f"/entry/{LAMP}/edit", "/entry/zzzz9999/edit"],
    "/entry/{id}/delete": [f"/entry/{LAMP}/delete", "/entry/zzzz9999/delete"],
    "/entry/{id}/rename": [f"/entry/{LAMP}/rename", "/entry/zzzz9999/rename"],
    "/entry/{id}/replaced": [f"/entry/{LAMP}/replaced", "/entry/zzzz9999/replaced"],
    "/rename": ["/rename?folder=nichts", "/rename"],
    "/replace": ["/replace?words=Boje", "/replace"],
    "/new": ["/new", f"/new?supersedes={LAMP}", f"/new?parent={LAMP}", "/new?type=handoff"],
    "/edit": ["/edit?path=Kajak.md", f"/edit?path=2026-11-19.md&id={LAMP}", "/edit"],
    "/deleted": ["/deleted"],
    "/import": ["/import"],
    "/health": ["/health", "/health?whole=1"],
    "/review": ["/review", "/review?near=1"],
    "/statistics": ["/statistics"],
    "/waiting": ["/waiting"],
    "/book": ["/book", "/book?since=2026-11-01&until=2026-11-30"],
    "/book/file": ["/book/file?since=2026-11-01&until=2026-11-30"],
    "/print": ["/print?since=2026-11-01&until=2026-11-30", "/print?since=2030-01-01"],
    "/devices": ["/devices"],
    "/phone": ["/phone"],
    "/login": ["/login"],
    "/offline": ["/offline"],
    "/to": ["/to?name=Nirgends"],
    "/picture": ["/picture?name=nichts"],
    "/palette": ["/palette?q=K"],
    "/complete": ["/complete?q=K&kind=link"],
    "/templates": ["/templates"],
    "/template": ["/template?name=nichts"],
    "/preparing": ["/preparing"],
    "a page that is not there": ["/nirgends"],
}
"""The addresses of each page that are read."""
TAKEN_ALONG = {"/export", "/events"}
"""What is no page: a zip with the notes, and a stream of numbers."""
READ_OUT = ("aria-label", "title", "placeholder", "alt", "data-hint")


def test_every_page_is_read_in_german() -> None:
    shown = {row.path for row in routes.PAGES if "GET" in (row.methods or ())}
    assert shown - TAKEN_ALONG == GERMAN.keys() - {"a page that is not there"}


@pytest.mark.parametrize("path", GERMAN)
def test_no_page_has_an_english_word(server: Served, home: Path, path: str) -> None:
    for address in GERMAN[path]:
        answer = server.client.get(address, follow_redirects=True)
        page = BeautifulSoup(answer.text.replace(str(home), ""), "html.parser")
        for part in page.select("code, kbd, style, script, textarea, meta, link, .command"):
            part.decompose()
        read_out = [
            one[name] for one in page.find_all(True) for name in READ_OUT if one.get(name)
        ]
        texts = [page.get_text(" ", strip=True), *read_out]
        english = [text for text in texts if ENGLISH.search(text)]
        assert not english, (address, [ENGLISH.findall(text) for text in english], english)


Step = Callable[[Served, Path], httpx.Response]


def save_twice(server: Served, content: str) -> httpx.Response:
    server.post("/new", content=content)
    return server.post("/new", content=content)


def stale(server: Served, path: str, text: str) -> httpx.Response:
    """Saves a text from a form that showed another one."""
    return server.post(path, text=text, content=text, seen="0" * 16)


def rename(server: Served, new: str) -> httpx.Response:
    found = re.search(r'/entry/([\w-]+)"', server.client.get("/search?q=Kajak+Blau").text)
    assert found
    return server.post(f"/entry/{found[1]}/rename", new=new)


def tick(server: Served, **fields: str) -> httpx.Response:
    task = {"path": "Kajak.md", "line": "5", "text": "Lack kaufen", "done": "yes"}
    return server.client.post("/tick", data={"csrf": server.csrf(), **task, **fields})


def attach(server: Served, name: str, data: bytes) -> httpx.Response:
    files = {"files": (name, data)}
    return server.client.post("/draft", data={"csrf": server.csrf()}, files=files)


STEPS: dict[str, tuple[Step, str]] = {
    "an id that nobody has": (lambda server, _: server.client.get("/entry/zzzz9999"), ""),
    "a note that is not there": (
        lambda server, _: server.client.get("/edit?path=Nirgends.md"),
        "Das Journal hat keine Notiz „Nirgends.md“.",
    ),
    "no text": (
        lambda server, _: server.post("/new", content=" "),
        "Der Inhalt hat keinen Text; nichts wurde gespeichert.",
    ),
    "a date that is none": (
        lambda server, _: server.post("/new", content="Tee.", due="irgendwann"),
        "Fällig: „irgendwann“ ist als Datum nicht zu verstehen. Gültig: 2026-12-31, morgen",
    ),
    "too important": (
        lambda server, _: server.post("/new", content="Tee.", importance="11"),
        "Wichtigkeit: „11“ ist unbekannt.",
    ),
    "a private text": (
        lambda server, _: server.post("/new", content="<private>Tee.</private>"),
        "Der ganze Text ist privat",
    ),
    "a date that the text begins with": (
        lambda server, _: server.post("/new", content="gestern: Tee getrunken."),
        "Auf 19.11.2026 10:00 datiert, denn der Text beginnt mit „gestern:“.",
    ),
    "a day that is understood": (
        lambda server, _: server.post("/new", content="Tee bestellen.", due="nächsten Freitag"),
        "Fällig am Freitag, 27.11.2026.",
    ),
    "the same again": (
        lambda server, _: save_twice(server, "Kaffee getrunken."),
        "Das wurde eben schon gespeichert.",
    ),
    "a text that was changed meanwhile": (
        lambda server, _: stale(server, f"/entry/{KETTLE}/edit", "Undicht."),
        "",
    ),
    "a file that was changed meanwhile": (
        lambda server, _: stale(server, "/edit?path=Segel.md", "# Segel\n\nGelb.\n"),
        "Segel.md hat sich inzwischen geändert; nichts wurde geschrieben.",
    ),
    "a file without a text": (
        lambda server, _: stale(server, f"/edit?path=2026-11-18.md&id={KETTLE}", ""),
        "",
    ),
    "a task that was changed meanwhile": (
        lambda server, _: tick(server, text="Pinsel kaufen"),
        "Die Aufgabe hat sich inzwischen geändert; nichts wurde geschrieben.",
    ),
    "a task that moves to no day": (
        lambda server, _: tick(server, due="irgendwann"),
        "Fällig: „irgendwann“ ist als Datum nicht zu verstehen.",
    ),
    "a name that no system takes": (
        lambda server, _: rename(server, "Ka:jak"),
        "„Ka:jak.md“ geht nicht als Name einer Notiz: Windows erlaubt kein :.",
    ),
    "a name that is taken": (
        lambda server, _: rename(server, "Segel"),
        "Segel.md gibt es schon.",
    ),
    "its own name": (lambda server, _: rename(server, "Kajak"), "Kajak.md heißt schon so."),
    "an empty file": (
        lambda server, _: attach(server, "leer.png", b""),
        "`leer.png` ist leer.",
    ),
    "a picture that is none": (
        lambda server, _: attach(server, "bild.png", b"kein Bild"),
        "`bild.png` ist kein Bild: Nur der Name sagt es.",
    ),
    "a field that nobody wrote": (
        lambda server, _: server.client.get("/sums?field=km"),
        "Keiner dieser Einträge hat eine Zahl im Feld „km“.",
    ),
    "a choice that is none": (
        lambda server, _: server.post("/review", finding="near:a", answer="keep"),
        "near:a ist nicht der Name eines Befunds.",
    ),
    "a run that is not there": (
        lambda server, _: server.post("/undo", run="0123456789"),
        "Keine Änderung mit der ID „0123456789“ lässt sich zurücknehmen.",
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_an_error_or_a_reply_is_german(server: Served, home: Path, name: str) -> None:
    step, expected = STEPS[name]
    answer = said_by(server, step(server, home))
    assert expected in answer.text, answer
    assert answer.text and not ENGLISH.findall(answer.text), answer


def test_the_health_of_a_journal_is_told_in_german(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "journal").mkdir(parents=True)
    home.chmod(0o755)
    (home / "config.toml").write_text('sources = ["/nirgends/notizen"]\n')
    twice = f"## 09:00 Kessel\n<!-- syn:{KETTLE} -->\n\nDicht.\n"
    (home / "journal" / "2026-11-18.md").write_text(f"# 2026-11-18\n\n{twice}")
    (home / "journal" / "2026-11-18 2.md").write_text(f"# 2026-11-18\n\n{twice}\nUndicht.\n")
    with served(home, SYNAPTIC_NOW=NOW, TZ="UTC") as server:
        server.client.headers["Accept-Language"] = "de-DE"
        server.client.get("/search?q=Kessel")  # which makes the index
        for path in ("/health", "/health?whole=1"):
            answer = said_by(server, server.client.get(path))
            assert "Andere Benutzer können in" in answer.text, answer
            assert "Fehlt (eine Festplatte, die nicht eingebunden ist?)" in answer.text
            assert "Einträge:" in answer.text and "Dateien: 2, unter" in answer.text
            text = answer.text.replace(str(tmp_path), "")
            assert not ENGLISH.findall(text), answer


FAULTY = {
    "Doppelt.md": f"## 09:00 Eins\n<!-- syn:{KETTLE} -->\n\nA.\n\n## 10:00 Zwei\n<!-- syn:{KETTLE} -->\n\nB.\n",
    "Woanders.md": f"## 09:00 Drei\n<!-- syn:{KETTLE} -->\n\nC.\n",
    "Zaun.md": "# Zaun\n\n```\nOffen.\n",
    "Liste.md": "# Liste\n\n- Punkt\n  ```\n  Offen.\n\nDarunter.\n",
    "Beispiel.md": f"# Beispiel\n\n```\n\n## 09:00 Vier\n<!-- syn:{LAMP} -->\n\nD.\n\n```\n\nE.\n",
    "Kommentar.md": "# Kommentar\n\n<!-- Offen.\n",
    "Geheim.md": "# Geheim\n\n<private>Offen.\n",
    "Streuner.md": "# Streuner\n\nText.\n<!-- syn:20261118-strayyyy -->\n",
    "Latein.md": "# Latein\n\nM\xfcll.\n".encode("latin-1"),
    "Breit.md": "# Breit\n".encode("utf-16"),
    "Kopf.md": "---\ntags: [offen\nname: x\n---\n# Kopf\n",
    "Wirr.md": "---\n: : [\n---\n# Wirr\n",
    "Streit.md": "# Streit\n\n<<<<<<< HEAD\nA.\n=======\nB.\n>>>>>>> other\n",
    "Kennung.md": "## 09:00 Fünf\n<!-- syn:nix at=nie importance=11 expires=nie root=nix\n\nF.\n",
}
"""A file for each fault of which the health tells."""


def test_each_fault_of_a_file_is_told_in_german(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "journal").mkdir(parents=True)
    for name, text in FAULTY.items():
        data = text if isinstance(text, bytes) else text.encode()
        (home / "journal" / name).write_bytes(data)
    with open_home(home) as ws:
        issues = run_checkup(ws, whole=False).findings
    codes = {finding.code for finding in issues}
    assert doctor._MENDS.keys() <= codes
    with served(home, SYNAPTIC_NOW=NOW, TZ="UTC") as server:
        server.client.headers["Accept-Language"] = "de-DE"
        for path in ("/health", "/health?whole=1"):
            answer = said_by(server, server.client.get(path))
            assert all(f"{name}:" in answer.text for name in FAULTY), answer
            text = answer.text.replace(str(tmp_path), "")
            assert not ENGLISH.findall(text), answer


@pytest.mark.parametrize("locale", LOCALES.values())
def test_the_examples_of_a_date_can_be_typed_in_each_language(locale: str) -> None:
    now = datetime.fromisoformat(NOW)
    for name, field in TIME_FIELDS.items():
        for example in field.examples:
            with speaking(locale):
                typed = localize_sentence(example)
            if name == "at":
                assert read_moment(typed, now, name) == read_moment(example, now, name), typed
            else:
                assert read_date(typed, now, name) == read_date(example, now, name), typed
