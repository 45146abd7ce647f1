"""An agent: the official library's client, which starts `framedex mcp` and asks it over stdio."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent, Tool

from tests.run.invoking import FRAMEDEX
from tests.running import plain_environment


@dataclass(frozen=True)
class Told:
    """The answer of a tool."""

    text: str
    is_error: bool

    @property
    def document(self) -> dict[str, Any]:
        """The answer as JSON."""
        document: dict[str, Any] = json.loads(self.text)
        return document

    @property
    def lines(self) -> list[str]:
        """The displayed lines."""
        lines: list[str] = self.document.get("lines", [])
        return lines

    @property
    def notes(self) -> str:
        """The notes of the answer."""
        return "\n".join(self.document.get("notes", []))


@dataclass(frozen=True)
class Agent:
    """A client and the thread that runs it."""

    portal: BlockingPortal
    client: Client

    def tools(self) -> list[Tool]:
        """The available tools."""
        return self.portal.call(self.client.list_tools).tools

    def ask(self, tool: str, **arguments: object) -> Told:
        """Call a tool."""
        result = self.portal.call(self.client.call_tool, tool, arguments)
        (content,) = result.content
        assert isinstance(content, TextContent)
        return Told(content.text, result.is_error)


@contextmanager
def agent(folder: Path, *before: str, after: Sequence[str] = ()) -> Iterator[Agent]:
    """An agent whose `framedex mcp` runs in a folder, with options `before` the verb and `after` it."""
    server = StdioServerParameters(command=FRAMEDEX, args=[*before, "mcp", *after], cwd=folder, env=plain_environment())
    with (
        Path(os.devnull).open("w") as log,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(stdio_client(server, errlog=log))) as client,
    ):
        yield Agent(portal, client)
