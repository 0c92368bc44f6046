"""The one form of a remote's address, and what tells a repository from every other."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.journal.projects import Projects
from synaptic.journal.repository import (
    Checkout,
    Repository,
    folder_identity,
    normalize_remote_url,
    remote_names,
    repository_of_checkout,
)

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
        '{"api": {"name": "api", "repositories": [["1", "2", "3", "4"]]}}',
        "[" * 100_000,
        "\ud800",
    ],
)
def test_a_damaged_file_holds_no_project(tmp_path: Path, text: str) -> None:
    (tmp_path / "projects").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert not Projects(tmp_path)
    taken = Projects(tmp_path)
    names = ["api", "x/api", "api-2"]
    assert [taken.claim(Repository(f"/{n}", f"{n}"), names) for n in range(3)] == names
    assert taken.claim(Repository("/1", "1"), names) == "x/api"
    (tmp_path / "projects").write_text(taken.to_json())
    assert Projects(tmp_path).name_for(Repository("/9", "2"), names) == "api-2"
    assert json.loads(taken.to_json()).keys() == set(names)
