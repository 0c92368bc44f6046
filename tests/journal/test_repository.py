"""The one form of a remote's address, and what tells a repository from every other."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic import Filters, Workspace, find
from synaptic.filters import Scope
from synaptic.journal.projects import Projects
from synaptic.journal.repository import (
    Checkout,
    Repository,
    folder_identity,
    is_public_address,
    normalize_remote_url,
    remote_names,
    repository_of_checkout,
)
from synaptic.notes.markdown import compose_entry, new_id

HERE = Path("/src/web")
NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789-_", min_size=1, max_size=9)
SECRETS = st.text("ABCDEFGHIJKLMNOP%:!$&*+,;=", min_size=12, max_size=20)


@given(
    host=st.sampled_from(["git.example.org", "github.com", "[::1]"]),
    path=st.lists(NAMES, min_size=1, max_size=4).map("/".join),
    user=NAMES,
    secret=SECRETS,
    data=st.data(),
)
def test_all_forms_of_one_address_are_one_and_name_nobody(
    host: str, path: str, user: str, secret: str, data: st.DataObject
) -> None:
    spelled = "".join(data.draw(st.sampled_from([sign, sign.upper()])) for sign in host)
    end = data.draw(st.sampled_from(["", "/", ".git", ".git/"]))
    who = data.draw(st.sampled_from(["", f"{user}@", f"{user}:{secret}@"]))
    scheme, port = data.draw(
        st.sampled_from(
            [("https", 443), ("http", 80), ("ssh", 22), ("git", 9418), ("git+ssh", 22)]
        )
    )
    forms = [
        f"{scheme}://{who}{spelled}/{path}{end}",
        f"{scheme.upper()}://{who}{spelled}:{port}//{path}{end}",
        f"{user}@{spelled}:{path}{end}",
        f"{spelled}:/{path}{end}",
    ]
    assert {normalize_remote_url(form, HERE) for form in forms} == {
        f"{host.strip('[]')}/{path}"
    }
    others = [
        f"https://{host}:8022/{path}",
        f"https://{host}.example.com/{path}",
        f"https://{host}/{path}/x",
        f"https://{host}/x{path}",
        f"/{path}",
    ]
    assert not {normalize_remote_url(other, HERE) for other in others} & {
        normalize_remote_url(forms[0], HERE)
    }


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ('[remote "origin"]\n\turl = https://h/a/b\n', ["b", "a/b"]),
        ('[remote "upstream"]\nurl = https://h/u/u\n[Remote "origin"] URL=h:a/b', ["b", "a/b"]),
        ('[remote "origin"]\n  url = "https://x:p;#q@h/a/b.git" ; mine\n', ["b", "a/b"]),
        ('[remote "origin"]\r\n\turl = h:b # mine\r\n\turl = h:second\r\n', ["b"]),
        ('[remote "origin"]\n\turl =\n\tfetch = x\n[core]\n\turl = h:no\n', []),
        ('[remote "ORIGIN"]\n\turl = h:no\n#[remote "origin"]\n;\turl = h:no', []),
        ('[remote "origin"]\n\tpushurl = h:no\n', []),
        ('[remote "origin"]\n\turl = https://x:to/ken@h/b\n', ["b", "h/b"]),
    ],
)
def test_the_address_of_origin_is_read_as_git_reads_it(
    tmp_path: Path, settings: str, names: list[str]
) -> None:
    (tmp_path / "config").write_bytes(settings.encode())
    here = Checkout(tmp_path, "x", tmp_path, tmp_path, "")
    assert remote_names(here) == names
    assert bool(repository_of_checkout(here).remote) == bool(names)


def test_an_identity_outlives_a_move_and_no_later_folder_has_it(tmp_path: Path) -> None:
    identities = set()
    for number in range(20):
        folder = tmp_path / "git"
        folder.mkdir()
        moved = folder.rename(tmp_path / f"moved{number}")
        assert folder_identity(moved) not in identities
        identities.add(folder_identity(moved))
        if number:
            shutil.rmtree(moved)
    assert len(identities) == 20 and folder_identity(tmp_path / "none") == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"api": 5, "web": {"name": "web"}, "x": {"name": "x", "repositories": []}}',
        '{"api": {"name": "api", "repositories": [["1", "2", "3", "4", "5"]]}}',
        "[" * 100_000,
        "\ud800",
    ],
)
def test_a_damaged_file_names_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "projects").write_bytes(text.encode("utf-8", "surrogatepass"))
    damaged = Projects(tmp_path)
    assert damaged.is_damaged and not damaged
    assert damaged.claim(Repository("/1", "1"), ["api"]) == ""


def test_each_repository_gets_a_name_of_its_own(tmp_path: Path) -> None:
    taken = Projects(tmp_path)
    names = ["api", "x/api", "api-2"]
    assert [taken.claim(Repository(f"/{n}", f"{n}"), names) for n in range(3)] == names
    assert taken.claim(Repository("/1", "1"), names) == "x/api"
    (tmp_path / "projects").write_text(taken.to_json())
    assert Projects(tmp_path).name_for(Repository("/9", "2"), names) == "api-2"
    assert json.loads(taken.to_json()).keys() == set(names)


@pytest.mark.parametrize(
    ("address", "is_public"),
    [
        ("github.com/acme/api", True),
        ("git.example.org:8022/a/b", True),
        ("bücher.example/a", True),
        ("git.xn--p1ai/a", True),
        ("8.8.8.8/a", True),
        ("2606:4700::1/a", True),
        ("git/ops/infra", False),
        ("git./ops/infra", False),
        ("github.com-work/acme/api", False),
        ("localhost:2222/srv/a", False),
        ("localhost.localdomain/a", False),
        ("10.0.0.5:3000/a", False),
        ("172.31.0.1/a", False),
        ("192.168.1.9/a", False),
        ("169.254.1.1/a", False),
        ("100.64.0.1/a", False),
        ("127.1/a", False),
        ("0x7f.1/a", False),
        ("::1/a", False),
        ("fe80::1/a", False),
        ("fd00::5/a", False),
        ("::ffff:10.0.0.1/a", False),
        ("2002:a00:5::1/a", False),
        ("nas.local/a", False),
        ("build.lan./a", False),
        ("git.corp.internal/a", False),
        ("router.home.arpa/a", False),
        ("/mnt/usb/app.git", False),
        ("", False),
    ],
)
def test_an_address_is_public_where_it_means_one_server_everywhere(
    address: str, is_public: bool
) -> None:
    assert is_public_address(address) == is_public


def entry_of(scope: Scope, **marks: str | None) -> bool:
    values: dict[str, str | None] = {"key": "api", "remote": None, "root": None}
    values |= marks
    return scope.covers(str(values["key"]), values["remote"], values["root"])


def test_a_scope_covers_what_is_proven() -> None:
    """Roots decide where both are known, else an address; a name decides without marks."""
    own = Scope(
        "api",
        roots=frozenset({"r"}),
        remotes=frozenset({"m"}),
        local=frozenset({"m", "p"}),
        others=frozenset({"x"}),
    )
    rows = [
        ({}, True),
        ({"key": "web"}, False),
        ({"root": "r"}, True),
        ({"root": "r", "key": "web"}, True),
        ({"root": "r", "remote": "moved"}, True),
        ({"root": "r", "remote": "x"}, False),
        ({"root": "other", "remote": "m"}, False),
        ({"remote": "m"}, True),
        ({"remote": "m", "key": "web"}, True),
        ({"remote": "p"}, True),
        ({"remote": "p", "key": "web"}, False),
        ({"remote": "p", "root": "other"}, False),
        ({"remote": "unknown"}, False),
    ]
    assert [(marks, entry_of(own, **marks)) for marks, _ in rows] == rows
    shallow = Scope("api", remotes=frozenset({"m"}))
    assert entry_of(shallow, remote="m", root="r") and not entry_of(shallow, root="r")
    assert entry_of(Scope("api", by_name=True), root="other")
    assert Scope().reaches("", None, None) and not Scope().reaches("api", None, None)
    assert not Scope("api").reaches("", None, "r")


def test_the_index_lists_what_the_scope_covers(ws: Workspace) -> None:
    marks = [None, "a" * 16, "b" * 16]
    every = []
    for project in ("api", "web", None):
        for remote in marks:
            for root in marks:
                text = f"An entry on {project}, {remote}, {root}."
                entry = compose_entry(text, id=new_id(ws.today), at=ws.clock())[0]
                every.append(replace(entry, project=project, remote=remote, root=root))
    ws.journal.append(*every)
    known = [frozenset[str](), frozenset({"a" * 16})]
    for roots, remotes, local, others, by_name, with_none in itertools.product(
        *[known] * 3, [frozenset[str](), frozenset({"b" * 16})], *[(False, True)] * 2
    ):
        scope = Scope("api", roots, remotes, local, others, by_name, with_none)
        filters = Filters(scope=scope, include_superseded=True)
        listed = {entry.content for entry in find(ws, filters=filters, limit=100).entries}
        covers = scope.reaches if with_none else scope.covers
        wanted = {
            entry.content
            for entry in every
            if covers(entry.project or "", entry.remote, entry.root)
        }
        assert listed == wanted, scope
