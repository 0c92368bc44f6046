"""Of all links that lead nowhere, only those that had an end here, or name a path, are broken:
in vaults as people of several programs keep them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import open_home, put
from steady import SteadyHome
from vaults import unpack

from synaptic.verbs.loose_ends import find_loose_ends

OBSIDIAN = {
    ".obsidian/app.json": '{"attachmentFolderPath": "Files"}',
    "Files/boat plan.png": "x",
    "Files/parts.csv": "part,count\n",
    "Files/Boats.base": "views: []\n",
    "Boards/Yard.canvas": "{}",
    "Templates/Day.md": "# {{date}}\n\n[[{{date:YYYY-MM}}]] ![[<% tp.file.title %>.png]]\n",
    "People/Maud Petersen.md": "---\naliases: [Maud, MP]\n---\n# Maud Petersen\n\n## Tools\n",
    "Boats/Hull.md": (
        "---\nup: '[[Boats]]'\n---\n# Hull\n\n![[boat plan.png|300]] ![[parts.csv]]\n"
        "[[Maud]], [[MP|she]], [[People/Maud Petersen#Tools]], [[maud petersen#^k1]]\n"
        "![[Keel]] [[Oak]] [[Wood/Larch]] [[#Hull]] [[^k2]] [[Yard.canvas]] "
        "![[Boats.base#All]]\n"
        "[plan](../Files/boat%20plan.png) [plan](<../Files/boat plan.png>) [w](www.boats.org)\n"
        "`[[Not a link]]` [out](../../elsewhere/Sail.md) [site](/assets/sail.png)\n"
        "[host](boats.org/plan.pdf) [m](mailto:a@b.org) [f](file:///etc/passwd.pdf) "
        "![](https://a/b.png)\n"
        '[[<name>]] [[${file} - $1]] [[:space:]] [[ "$x" = "" ]] [[A$AP]] [[M*A*S*H]]\n'
        "\n```\n![[in code.png]] [x](in-code.md)\n```\n\n"
        "![[sail plan.png]] [sail](Sail.md) [list](../Files/nails.csv) <!-- "
        "![[hidden.png]] -->\n"
    ),
    "Daily/2026-11-20.md": (
        "# 2026-11-20\n\n[[2026-11-21]] [[2026-11]] [[Hull]] [[2026-11-20#Log]]\n"
    ),
}
LOGSEQ = {
    "logseq/config.edn": "{:meta/version 1}\n",
    "logseq/custom.css": "",
    "logseq/bak/pages/Bees/1.md": "- [[Old draft]]\n",
    "assets/hive_1.png": "x",
    "pages/Bees.md": (
        "alias:: Apis\n\n- A queen.\n  id:: 64f0a1b2-0000-4000-8000-000000000001\n"
        "- ![hive](../assets/hive_1.png) ![gone](../assets/hive_2.png){:height 20}\n"
    ),
    "pages/Bees___Winter.md": "- [[Bees]] [[apis]] [[Bees/Summer]] #Honey #[[Wax moth]]\n",
    "journals/2026_11_20.md": (
        "- ((64f0a1b2-0000-4000-8000-000000000001)) "
        "[it](((64f0a1b2-0000-4000-8000-000000000009)))\n"
        "- {{embed ((64f0a1b2-0000-4000-8000-000000000001))}} {{query (and [[Bees]] "
        "[[Frames]])}}\n"
        "- [the bees]([[Bees]]) [label](url) [[Nov 21st, 2026]] [[Smoker]] "
        "![a](../assets/smoke.mp4)\n"
        "- see [page](../pages/Bees.md) and [[Bees/Winter]] {{embed [[Bees]]}}\n"
        "- [[Files/log.md]] [[Files/list.csv]] [wasps](../pages/Wasps.md)\n"
    ),
}
FOAM = {
    ".vscode/settings.json": "{}",
    "dendron.yml": "version: 5\n",
    "root.md": (
        "# Root\n\n[[glaze]] [[kiln.firing]] [[Firing|kiln.firing#cone-6]] [[clay.stone]]\n"
    ),
    "kiln.md": "# Kiln\n\n- [[kiln.firing]] ![[kiln.firing#cone-6:#end]]\n- [[kiln.wood]]\n",
    "kiln.firing.md": (
        "# Firing\n\n## Cone 6\n\n[up](./kiln.md) [up](kiln.md#kiln) [l](docs/log.md)\n"
    ),
    "glaze.md": (
        "# Glaze\n\n[[kiln]] ![test](attachments/tile.jpg) "
        "![test](./attachments/tile%202.jpg)\n"
        "![[tile.jpg]] ![none](attachments/tile-3.jpg) [c](.config/notes.md) [r][ref] "
        "[[missing]]\n"
        '\n[ref]: docs/log.md "The log"\n[kiln]: kiln.md "Kiln"\n'
    ),
    "docs/log.md": "# Log\n\n[root](../root.md) [code](../src/kiln.py) [old](../kiln-old.md)\n",
    ".config/notes.md": "Hidden.\n",
    "attachments/tile.jpg": "x",
    "attachments/tile 2.jpg": "x",
    "src/kiln.py": "",
}
# the texts of a vault; its broken links, its missing files, its notes that nobody wrote yet,
# its links to missing headings
VAULTS: dict[str, tuple[dict[str, str], set[str], set[str], set[str], set[str]]] = {
    "obsidian": (
        OBSIDIAN,
        {"Sail.md"},
        {"sail plan.png", "../Files/nails.csv"},
        {"Boats", "Keel", "Oak", "Wood/Larch", "2026-11-21", "2026-11", "A$AP", "M*A*S*H"},
        {"maud petersen#^k1", "2026-11-20#Log"},
    ),
    "logseq": (
        LOGSEQ,
        {"../pages/Wasps.md"},
        {"../assets/hive_2.png", "../assets/smoke.mp4"},
        {"Bees/Summer", "Frames", "Nov 21st, 2026", "Smoker", "Files/log.md"},
        set(),
    ),
    "foam": (
        FOAM,
        {"../kiln-old.md"},
        {"attachments/tile-3.jpg"},
        {"clay.stone", "kiln.wood", "missing"},
        set(),
    ),
}


def write(vault: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        file = vault / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


def loose_ends(home: SteadyHome) -> dict[str, set[str]]:
    answer = home.ask("links", "--broken")
    return {name: {link["text"] for link in links} for name, links in answer.items()}


@pytest.mark.needs(feature="importing")
@pytest.mark.parametrize("name", VAULTS)
def test_only_what_names_a_missing_path_is_broken(
    home: SteadyHome, tmp_path: Path, name: str
) -> None:
    files, broken, missing, unwritten, headings = VAULTS[name]
    write(tmp_path / name, files)
    home.ask("init", "--journal", str(tmp_path / name))
    found = loose_ends(home)
    named = {"links": broken, "files": missing, "unwritten": unwritten}
    assert found == named | {"headings": headings}


@pytest.mark.needs(feature="importing")
def test_in_real_vaults_a_note_that_nobody_wrote_is_not_broken(
    home: SteadyHome, tmp_path: Path
) -> None:
    """Both came without their attachments, and one without the file that its README names."""
    home.ask("init", "--journal", str(unpack("obsidian", tmp_path)))
    found = loose_ends(home)
    assert found["links"] == found["headings"] == set() and len(found["unwritten"]) == 32
    assert all(".base" in text for text in found["files"])
    home.ask("init", "--journal", str(unpack("logseq", tmp_path)))
    found = loose_ends(home)
    assert (
        found["links"] == {"CONTRIBUTING.md"}
        and not found["headings"]
        and len(found["unwritten"]) > 400
    )
    assert all("assets/" in text for text in found["files"])


@pytest.mark.needs(feature="vault")
def test_a_link_whose_note_went_is_broken(home: SteadyHome) -> None:
    ids = [
        home.ask("save", "Text.", "--title", title)["id"]
        for title in ("Chose oak", "Paid late")
    ]
    home.ask(
        "save", "[[Chose oak]], [[Paid late]], [[Never]], [[Barn]], [[Errands]], [[a/Loft]]."
    )
    write(home.journal, {"Barn.md": "Hay.\n", "b/Loft.md": "x\n"})
    write(home.journal, {"2026-11-02.md": "# 2026-11-02\n\n## Errands\n\nx\n"})
    assert loose_ends(home)["links"] == {"a/Loft"}
    home.ask("update", ids[0], "--title", "Chose pine")
    home.ask("delete", ids[1], "--yes")
    home.ask("rename", "Barn", "Shed", "--yes")
    write(home.journal, {"Other.md": "[[Barn]]\n"})
    found = loose_ends(home)
    assert found["links"] == {"Chose oak", "Paid late", "Barn", "a/Loft"}
    assert found["unwritten"] == {"Never", "Errands"}
    assert home.run("links", "--broken").out.splitlines()[0] == "broken"


@pytest.mark.needs(feature="importing")
def test_by_name_nothing_is_missing_in_a_part_of_a_vault(
    home: SteadyHome, tmp_path: Path
) -> None:
    write(tmp_path, {"vault/.obsidian/app.json": "{}", "vault/Files/a.png": "x"})
    write(tmp_path, {"vault/Daily/x.md": "![[a.png]] ![](../Files/b.png) ![](c.png)\n"})
    home.ask("init", "--journal", str(tmp_path / "vault/Daily"))
    assert loose_ends(home)["files"] == {"c.png"}


PARTS = {
    # a line of a note: links to it, as they stand in other notes and in its own
    "## Step 1: paint | sand": [
        "#Step 1 paint sand",
        "#step 1: Paint sand",
        "(#step-1-paint--sand)",
    ],
    "# The [[Other|old]] **hull** #wood": ["#The old hull", "#The Other old hull wood"],
    "## See [the plan](https://a.org/x_(1)) & ~~more~~ ##": ["#See the plan more"],
    "### `rm -rf` is C++": ["#`rm -rf` is C++", "(#rm--rf-is-c)"],
    "> ## In a quotation": ["#In a quotation"],
    "- ## In a list": ["#in a list"],
    "Underlined\n---": ["#Underlined"],
    "## Überlänge 図面": ["#überlänge 図面", "(#%C3%BCberl%C3%A4nge-%E5%9B%B3%E9%9D%A2)"],
    "## Issue #12": ["#Issue 12", "#Issue #12"],
    "# Hull\n\n## Keel\n\n### Bolts": ["#Hull#Keel#Bolts", "#Hull#Bolts", "#Bolts"],
    "## 09:30 decision: Chose oak #db": ["#Chose oak"],
    "## Twice\n\n## Twice": ["(#twice-1)"],
    "A block. ^k1": ["#^k1", "#^K1"],
    "![[plan.png]]^k2": ["#^k2"],
    "<a name='there'></a> text": ["(#there)"],
    "## Kept {#my-name}": ["(#my-name)"],
    "## Cone 6": ["#cone-6", "#cone-6:#end", "#Cone 6,1"],
    "## ❤": ["#❤"],
}


@pytest.mark.parametrize("line", PARTS)
def test_a_link_to_a_heading_in_any_form_is_in_order_and_one_to_none_is_named(
    tmp_path: Path, line: str
) -> None:
    with open_home(tmp_path / "home") as ws:
        links = [
            f"[x]({{}}{part[1:]}" if part.startswith("(") else f"[[{{}}{part}]]"
            for part in PARTS[line]
        ]
        own = "\n".join(link.format("") for link in links)
        put(ws, "Boats.md", f"Text.\n\n{line}\n\n{own}\n[[#No such]] [[#^k9]]\n")
        other = "\n".join(
            link.format("Boats.md" if link.startswith("[x]") else "Boats") for link in links
        )
        put(ws, "Other.md", f"# Other\n\n{other}\n[[Boats#No#Such|x]] [x](Boats.md#nor-this)\n")
        ends = find_loose_ends(ws)
        assert [link.text for link in ends.headings] == [
            "#No such",
            "#^k9",
            "Boats#No#Such",
            "Boats.md#nor-this",
        ]
        assert not (ends.links or ends.unwritten)


@pytest.mark.parametrize(
    "hidden",
    [
        "A %% {} %% line.",
        "%%{}%%",
        "%%\nMore.\n\n{}\n%%",
        "> %%\n> {}\n> %%",
        "The matrix $[{}]$ is.",
        "${}$",
        "$$\n{}\n\\end\n$$",
        "Inline $$x = {}$$ there.",
    ],
)
def test_in_comments_and_formulas_nothing_is_broken(tmp_path: Path, hidden: str) -> None:
    links = "[[1,2]] [[Gone]] ![[gone.png]] [x](gone.md) [[Boats#None]]"
    shown = "\n\nIt costs $5, [[Oak]] $6. 50%% [[Ash]]\n\n`%%` [[Elm]] `$` [[Fir]] %%\n"
    with open_home(tmp_path / "home") as ws:
        put(ws, "Boats.md", f"# Boats\n\n{hidden.format(links)}{shown}")
        ends = find_loose_ends(ws)
        assert not (ends.links or ends.files or ends.headings)
        assert [link.text for link in ends.unwritten] == ["Oak", "Ash", "Elm", "Fir"]
        put(ws, "Boats.md", f"# Boats\n\n{links}\n")
        ends = find_loose_ends(ws)
        assert ends.links and ends.files and ends.headings and len(ends.unwritten) == 2
