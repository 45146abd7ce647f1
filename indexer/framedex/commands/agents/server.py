"""The MCP server over stdin and stdout: its tools and their calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from jsonschema import Draft202012Validator
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as ToolOfProtocol

from framedex.commands.agents.asking import Verbs
from framedex.commands.agents.draining import draining_stdio
from framedex.commands.agents.excerpts import USUAL_LINES, excerpt
from framedex.commands.agents.model import Answer, Tool
from framedex.commands.agents.pages import FROM_LINE, USUAL_TOKENS, page
from framedex.commands.agents.proposals import proposals
from framedex.commands.agents.tools import INSTRUCTIONS, SOURCE, SQL, TOOLS, input_of, schema_of, without_gaps, words_of
from framedex.commands.inputs.known import load_settings_here, needed_index
from framedex.errors import FramedexError
from framedex.index.file.soundness import blaming_damage
from framedex.version import VERSION

_LONGEST_REFUSAL = 300  # characters: a rejected value may have any size
_LONGEST = {("explain", "text"): 1_000_000, ("sql", "query"): 100_000}  # characters
_LONGEST_WORD = 1_000


def serve(index: Path | None, folders: Sequence[Path]) -> None:
    """Serve one client until stdin ends and every pending request is answered.

    `index` is the value of --index. `folders` are the folders that the user named, whose sources agents may read.
    """
    try:
        anyio.run(_serve, Agents(index, folders))
    except* (BrokenPipeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the client closed its pipe, which also closes the streams


async def _serve(agents: Agents) -> None:
    server = Server(
        "framedex",
        version=VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=agents.list_tools,
        on_call_tool=agents.call_tool,
    )
    async with draining_stdio() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


class Agents:
    """The MCP handlers for one client."""

    def __init__(self, index: Path | None, folders: Sequence[Path]) -> None:
        self._index = index
        self._folders = folders
        self._verbs = Verbs(index)

    async def list_tools(
        self, context: ServerRequestContext[Any], wanted: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return all tools in one page."""
        hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        return ListToolsResult(
            tools=[
                ToolOfProtocol(
                    name=tool.name, description=tool.description, input_schema=schema_of(tool), annotations=hints
                )
                for tool in TOOLS
            ]
        )

    async def call_tool(self, context: ServerRequestContext[Any], called: CallToolRequestParams) -> CallToolResult:
        """Return the requested page of an answer. Errors are answers with `is_error` and a remedy."""
        arguments = {name: _whole(value) for name, value in (called.arguments or {}).items()}
        try:
            tool = _tool(called.name)
            _check(tool, arguments)
            answer = await self._answer(tool, arguments)
            text = _page(answer, arguments)
        except FramedexError as error:
            answer = Answer(notes=(str(error),), is_failure=True)
            text = _page(answer, {})
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=answer.is_failure)

    async def _answer(self, tool: Tool, arguments: dict[str, Any]) -> Answer:
        if tool.verbs:
            answer = await self._verbs.ask(words_of(tool, arguments), input_of(tool, arguments))
            return replace(answer, lines=tuple(without_gaps(tool, answer.lines)))
        if tool.name == SQL:
            index = await anyio.to_thread.run_sync(self._needed_index, abandon_on_cancel=True)
            return await self._verbs.query(index, arguments.get("query"))
        assert tool.name == SOURCE
        return await anyio.to_thread.run_sync(partial(self._source, arguments), abandon_on_cancel=True)

    def _source(self, arguments: dict[str, Any]) -> Answer:
        path = self._needed_index()
        with blaming_damage(path):
            return excerpt(path, self._folders, arguments["place"], arguments.get("around", USUAL_LINES))

    def _needed_index(self) -> Path:
        return needed_index(self._index, load_settings_here())


def _tool(name: str) -> Tool:
    found = next((tool for tool in TOOLS if tool.name == name), None)
    if found is None:
        raise FramedexError("There is no such tool.", f"There are {', '.join(tool.name for tool in TOOLS)}.")
    return found


def _whole(value: object) -> object:
    """Convert a float such as 3.0 to an integer: JSON Schema accepts it as one. Other values are unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _check(tool: Tool, arguments: dict[str, Any]) -> None:
    """Raise FramedexError if the arguments do not match the schema of the tool."""
    for error in Draft202012Validator(schema_of(tool)).iter_errors(arguments):
        where = f"`{error.path[0]}`: " if error.path else ""
        raise FramedexError(
            f"{where}{error.message[:_LONGEST_REFUSAL]}",
            f"`{tool.name}` takes {', '.join(schema_of(tool)['properties'])}.",
        )
    for name, value in arguments.items():
        longest = _LONGEST.get((tool.name, name), _LONGEST_WORD)
        if isinstance(value, str) and len(value) > longest:
            raise FramedexError(f"`{name}` has more than {longest:,} characters.", "Give a shorter one.")
        if isinstance(value, str) and "\0" in value:
            raise FramedexError(f"`{name}` has a zero byte.", "Give a text without one.")


def _page(answer: Answer, arguments: dict[str, Any]) -> str:
    most_tokens = arguments.get("max_tokens", USUAL_TOKENS)
    return page(answer, proposals(answer.notes), arguments.get(FROM_LINE, 1), most_tokens)
