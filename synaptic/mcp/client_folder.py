"""Finds the folder in which the client of a server over stdio works: a client may start its
servers anywhere.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from mcp import types
from mcp.shared.exceptions import MCPError

from ..errors import InvalidArgument
from ..files import real_path

VARIABLE = "CLAUDE_PROJECT_DIR"
ROOTS_S = 2.0
"""Seconds that a client may take to list its roots; it is asked once."""


class ClientFolder:
    """The folder that the client names in VARIABLE; else the one root that it lists, or that
    holds the folder of the start; else the folder of the start.

    `is_unclear`: the client lists several roots, and none holds that folder.
    """

    def __init__(self) -> None:
        named = os.environ.get(VARIABLE, "")
        self._named = str(Path(named).absolute()) if named else ""
        self._listing: asyncio.Future[None] | None = None
        self.is_unclear = False

    async def enter(self, session: Any) -> None:
        """Works in the client's folder from now on. `session` is the client's, of the SDK.
        Raises InvalidArgument where that folder is gone: another one is another project.
        """
        if not self._named and self._listing is None:
            self._listing = asyncio.ensure_future(self._ask_for_roots(session))
        if self._listing:
            await asyncio.shield(self._listing)
        if not self._named:
            return
        try:
            os.chdir(self._named)
        except OSError as error:
            raise InvalidArgument(
                f"The client works in {self._named}, which is not a folder that can be opened.",
                f"Start the client in a folder that is there, or set {VARIABLE} to one.",
            ) from error

    async def _ask_for_roots(self, session: Any) -> None:
        able = session.client_capabilities
        if able is None or able.roots is None:
            return
        folders: list[Path] = []
        with suppress(MCPError, ValueError, TimeoutError):  # it answers nothing, or nonsense
            async with asyncio.timeout(ROOTS_S):
                answer = await session.send_request(
                    types.ListRootsRequest(), types.ListRootsResult
                )
            for root in answer.roots:
                url = urlsplit(str(root.uri))
                if url.scheme == "file":
                    folders.append(real_path(url2pathname(unquote(url.path))))
        start = Path.cwd().resolve()
        if not folders or any(start.is_relative_to(folder) for folder in folders):
            return
        self.is_unclear = len(folders) > 1
        self._named = "" if self.is_unclear else str(folders[0])
