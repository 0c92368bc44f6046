"""Reads the tokens of a server over HTTP from `tokens.toml`, which has a table for each.

[anna-laptop]
token = "at least 32 characters"
project = "ledger"      # the project of new entries; its entries are listed first
read-only = true        # else false
page = true             # it opens the page, as a person, in place of /mcp
journals = ["platform"] # it opens these published journals, and their own servers; else all
"""

from __future__ import annotations

import hmac
import json
import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..config import resolve_home
from ..errors import ConfigError, InvalidArgument
from ..files import file_lock, open_regular_file
from ..journal.disk import PUBLISHED, overwrite, read_state_file, read_state_json
from ..journal.settings import toml_lines
from ..models import PERSON, Texts
from ..render.fence import one_line

LEAST_CHARS = 32
"""The least characters of a token."""
MOST_NAME = 60
"""The most characters of a name in the file."""
_SETTINGS = {"token": str, "project": str, "read-only": bool, "page": bool, "journals": list}
"""The settings of a token, and the types of their values."""
_IN_WORDS = {str: "a text in quotes", bool: "true or false", list: "a list of texts"}


class Grant(NamedTuple):
    """The rights of a token. Entries saved with it are marked as saved by `name`."""

    name: str
    project: str | None = None
    read_only: bool = False
    page: bool = False
    journals: Texts | None = None


class Tokens:
    """The tokens of a file, else of `tokens.toml` in the home. The file is read again for each
    check, so that a removed token is refused at once.
    """

    def __init__(
        self, home: str | Path | None, file: str | None, *, serves_published: bool = False
    ) -> None:
        self._home = resolve_home(home)
        self._serves_published = serves_published
        self.path = Path(file).expanduser() if file else self._home / "tokens.toml"

    def find_grant(self, token: str) -> Grant | None:
        """Returns the rights of this token; None if it is unknown, or if it is only for
        journals other than this server's. Raises ConfigError for a file that cannot be used.
        """
        match = None
        for secret, grant in self.read_grants():
            if hmac.compare_digest(secret.encode(), token.encode("utf-8", "replace")):
                match = grant  # and go on: the time tells nothing
        if match and match.journals is not None and not self._serves_published:
            own_name = read_state_json(self._home / ".state" / PUBLISHED).get("journal", "")
            return match if own_name in match.journals else None
        return match

    def read_grants(self) -> list[tuple[str, Grant]]:
        """Returns each token with its rights; nothing if there is no file. Raises ConfigError
        that names the wrong table.
        """
        try:
            with open_regular_file(self.path) as file:
                if os.name != "nt" and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                    raise ConfigError(
                        f"Other users can read the tokens in {self.path}.",
                        hint=f"Run: chmod 600 {self.path}",
                    )
                tables = tomllib.load(file)
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"The file of tokens {self.path} cannot be read: {error}."
            ) from error
        return [self._parse_table(name, table) for name, table in tables.items()]

    def add_token(self, name: str, table: Mapping[str, Any]) -> None:
        """Adds the table of a new token at the end of the file. Raises ConfigError for a table
        that could not be read again, and InvalidArgument for a name that exists.
        """
        self._parse_table(name, table)
        head = f"[{json.dumps(name, ensure_ascii=False)}]"
        block = "\n".join([head, *toml_lines(table), ""])
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with file_lock(self.path.with_name(f".{self.path.name}.lock")):
            if any(grant.name == name for _, grant in self.read_grants()):
                raise InvalidArgument(
                    f"{self.path} already has a token named {name!r}.",
                    hint="Remove its table from that file, or give another name.",
                )
            before = read_state_file(self.path).rstrip() if self.path.exists() else b""
            overwrite(self.path, (before + b"\n\n" if before else b"") + block.encode())

    def _parse_table(self, name: str, table: Any) -> tuple[str, Grant]:
        where = f"[{name}] in {self.path}"
        if not isinstance(table, dict) or len(str(table.get("token", ""))) < LEAST_CHARS:
            raise ConfigError(f"{where} needs a token of at least {LEAST_CHARS} characters.")
        for key, value in table.items():
            if key not in _SETTINGS:
                raise ConfigError(f"{where} has no setting {key}.", valid=_SETTINGS)
            if not isinstance(value, _SETTINGS[key]):
                raise ConfigError(f"{where}: {key} must be {_IN_WORDS[_SETTINGS[key]]}.")
        journals = table.get("journals", ["-"])
        for text in (name, table.get("project", "-"), *(journals or [""])):
            is_text = isinstance(text, str) and text == one_line(text)[:MOST_NAME]
            if not is_text or text in ("", PERSON):
                raise ConfigError(
                    f"{where}: {text!r} cannot be a name. Give 1 to {MOST_NAME} characters, "
                    f"not {PERSON!r}."
                )
        allowed = {
            key.replace("-", "_"): value for key, value in table.items() if key != "token"
        }
        if "journals" in allowed:
            allowed["journals"] = tuple(journals)
        return table["token"], Grant(name, **allowed)
