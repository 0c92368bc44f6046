"""Builds the editor of the page: CodeMirror 6 as one file, the same bytes each time.

python3 scripts/build_editor.py                # into synaptic/features/page/static/
python3 scripts/build_editor.py --to DIR

It needs npm and the npm registry. The sha256 of the file stands in NOTICE: another one is an
error, and is printed, so that a new version is a decision.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
STATIC = ROOT / "synaptic" / "features" / "page" / "static"
PACKAGES = {
    "@codemirror/autocomplete": "6.20.4",
    "@codemirror/commands": "6.11.1",
    "@codemirror/lang-css": "6.3.1",
    "@codemirror/lang-html": "6.4.12",
    "@codemirror/lang-javascript": "6.2.5",
    "@codemirror/lang-markdown": "6.5.2",
    "@codemirror/language": "6.13.1",
    "@codemirror/lint": "6.9.8",
    "@codemirror/state": "6.7.6",
    "@codemirror/streamparser": "6.0.0",
    "@codemirror/view": "6.43.15",
    "@lezer/common": "1.5.5",
    "@lezer/css": "1.3.9",
    "@lezer/highlight": "1.2.5",
    "@lezer/html": "1.3.13",
    "@lezer/javascript": "1.5.6",
    "@lezer/lr": "1.4.12",
    "@lezer/markdown": "1.8.1",
    "@marijn/find-cluster-break": "1.0.4",
    "crelt": "1.0.7",
    "esbuild": "0.28.2",
    "style-mod": "4.1.5",
    "w3c-keyname": "2.2.8",
}
"""The package and all that it needs, each in one version. The languages of HTML pages are
needed to install, and no part of the file."""
NAME = f"codemirror-{PACKAGES['@codemirror/view']}.min.js"
SOURCE = """\
export { EditorState } from "@codemirror/state";
export { EditorView, drawSelection, keymap } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
export { insertNewlineContinueMarkup, markdownLanguage } from "@codemirror/lang-markdown";
export { tags } from "@lezer/highlight";
"""


def build(folder: Path) -> bytes:
    """The file, made in this empty folder, with the license at its top."""
    package = {"private": True, "type": "module", "dependencies": PACKAGES}
    (folder / "package.json").write_text(json.dumps(package))
    (folder / "source.js").write_text(SOURCE)
    install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    subprocess.run(install, cwd=folder, check=True)
    bundle = ["source.js", "--bundle", "--minify", "--format=esm", "--target=es2022"]
    bundle += ["--legal-comments=none", "--charset=utf8", "--outfile=out.js"]
    subprocess.run([folder / "node_modules/.bin/esbuild", *bundle], cwd=folder, check=True)
    used = folder / "node_modules" / "@codemirror" / "state" / "LICENSE"
    license = used.read_text().strip()
    code = (folder / "out.js").read_bytes()
    return f"/*! {NAME}: CodeMirror and Lezer.\n{license}\n*/\n".encode() + code


def main() -> int:
    """The exit status: 1 when the file is not the one that NOTICE names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--to", type=Path, default=STATIC)
    to = parser.parse_args().to
    with tempfile.TemporaryDirectory() as folder:
        data = build(Path(folder))
    for old in to.glob("codemirror-*.min.js"):
        old.unlink()
    (to / NAME).write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    print(f"{to / NAME}: {len(data):,} bytes, sha256 {digest}")
    if digest not in (ROOT / "NOTICE").read_text(encoding="utf-8"):
        print("NOTICE names another sha256.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
