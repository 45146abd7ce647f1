"""The MCP server over stdin and stdout: its tools and their calls.

The MCP library drops pending requests at the end of stdin. So this server uses its own stdio streams, which settle
them first. Otherwise a client that writes requests into a pipe and closes it would get no answers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from jsonschema import Draft202012Validator
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
    ListToolsResult,
    PaginatedRequestParams,
    RequestId,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as ToolOfProtocol

from framedex.base.errors import FramedexError
from framedex.base.version import VERSION
from framedex.commands.agents.excerpts import DEFAULT_CONTEXT_LINES, read_excerpt
from framedex.commands.agents.pages import find_proposals, format_page
from framedex.commands.agents.tools import (
    DEFAULT_TOKENS,
    FROM_LINE,
    INSTRUCTIONS,
    SOURCE,
    SQL,
    TOOLS,
    Tool,
    ToolAnswer,
    build_tool_schema,
    build_verb_arguments,
    build_verb_input,
    reduce_padding,
)
from framedex.commands.agents.verb_process import VerbRunner
from framedex.commands.inputs.project_index import load_settings_here, require_index_path
from framedex.index.file.soundness import report_damage

_MAX_ERROR_CHARS = 300  # a rejected value may have any size
_MAX_CHARS = {("explain", "text"): 1_000_000, ("sql", "query"): 100_000}
_DEFAULT_MAX_CHARS = 1_000


def serve(index: Path | None, folders: Sequence[Path]) -> None:
    """Serve one client until stdin ends and every pending request is answered.

    `index` is the value of --index. `folders` are the folders that the user named, whose sources agents may read.
    """
    try:
        anyio.run(_serve, McpHandlers(index, folders))
    except* (BrokenPipeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the client closed its pipe


async def _serve(agents: McpHandlers) -> None:
    server = Server(
        "framedex",
        version=VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=agents.list_tools,
        on_call_tool=agents.call_tool,
    )
    async with drained_stdio() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


class McpHandlers:
    """The MCP handlers for one client."""

    def __init__(self, index: Path | None, folders: Sequence[Path]) -> None:
        self._index = index
        self._folders = folders
        self._verbs = VerbRunner(index)

    async def list_tools(
        self, context: ServerRequestContext[Any], wanted: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """Return all tools in one page."""
        hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        return ListToolsResult(
            tools=[
                ToolOfProtocol(
                    name=tool.name,
                    description=tool.description,
                    input_schema=build_tool_schema(tool),
                    annotations=hints,
                )
                for tool in TOOLS
            ]
        )

    async def call_tool(self, context: ServerRequestContext[Any], called: CallToolRequestParams) -> CallToolResult:
        """Return the requested page of an answer. Errors are answers with `is_error` and a remedy."""
        arguments = {name: _to_integer(value) for name, value in (called.arguments or {}).items()}
        try:
            tool = _find_tool(called.name)
            _validate_arguments(tool, arguments)
            answer = await self._run_tool(tool, arguments)
            text = _format_page(answer, arguments)
        except FramedexError as error:
            answer = ToolAnswer(notes=(str(error),), is_failure=True)
            text = _format_page(answer, {})
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=answer.is_failure)

    async def _run_tool(self, tool: Tool, arguments: dict[str, Any]) -> ToolAnswer:
        if tool.verbs:
            answer = await self._verbs.run(build_verb_arguments(tool, arguments), build_verb_input(tool, arguments))
            return replace(answer, lines=tuple(reduce_padding(tool, answer.lines)))
        if tool.name == SQL:
            index = await anyio.to_thread.run_sync(self._require_index, abandon_on_cancel=True)
            return await self._verbs.query(index, arguments.get("query"))
        assert tool.name == SOURCE
        return await anyio.to_thread.run_sync(partial(self._read_source, arguments), abandon_on_cancel=True)

    def _read_source(self, arguments: dict[str, Any]) -> ToolAnswer:
        path = self._require_index()
        with report_damage(path):
            return read_excerpt(path, self._folders, arguments["place"], arguments.get("around", DEFAULT_CONTEXT_LINES))

    def _require_index(self) -> Path:
        return require_index_path(self._index, load_settings_here())


def _find_tool(name: str) -> Tool:
    found = next((tool for tool in TOOLS if tool.name == name), None)
    if found is None:
        raise FramedexError("There is no such tool.", f"The tools are {', '.join(tool.name for tool in TOOLS)}.")
    return found


def _to_integer(value: object) -> object:
    """Convert a float such as 3.0 to an integer: JSON Schema accepts it as one. Other values are unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _validate_arguments(tool: Tool, arguments: dict[str, Any]) -> None:
    """Raise FramedexError if the arguments do not match the schema of the tool."""
    for error in Draft202012Validator(build_tool_schema(tool)).iter_errors(arguments):
        where = f"`{error.path[0]}`: " if error.path else ""
        raise FramedexError(
            f"{where}{error.message[:_MAX_ERROR_CHARS]}",
            f"`{tool.name}` takes {', '.join(build_tool_schema(tool)['properties'])}.",
        )
    for name, value in arguments.items():
        longest = _MAX_CHARS.get((tool.name, name), _DEFAULT_MAX_CHARS)
        if isinstance(value, str) and len(value) > longest:
            raise FramedexError(f"`{name}` has more than {longest:,} characters.", "Pass a shorter value.")
        if isinstance(value, str) and "\0" in value:
            raise FramedexError(f"`{name}` contains a zero byte.", "Pass a text without zero bytes.")


def _format_page(answer: ToolAnswer, arguments: dict[str, Any]) -> str:
    most_tokens = arguments.get("max_tokens", DEFAULT_TOKENS)
    return format_page(answer, find_proposals(answer.notes), arguments.get(FROM_LINE, 1), most_tokens)


Received = MemoryObjectReceiveStream[SessionMessage | Exception]
Sent = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def drained_stdio() -> AsyncIterator[tuple[Received, Sent]]:
    """Open a stream of messages from stdin, and a stream of messages to stdout.

    The first stream ends when stdin has ended and every request has its response.
    """
    to_server, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    requests = _PendingRequests()
    async with stdio_server() as (stdin, stdout), anyio.create_task_group() as tasks:

        async def read() -> None:
            async with to_server:
                async for message in stdin:
                    await to_server.send(message if isinstance(message, Exception) else requests.track(message))
                await requests.wait_until_idle()

        async def write() -> None:
            async with stdout:
                async for message in from_server:
                    await stdout.send(message)
                    if isinstance(message.message, JSONRPCResponse | JSONRPCError):
                        requests.mark_answered(message.message.id)

        tasks.start_soon(read)
        tasks.start_soon(write)
        yield received, sent


@dataclass(slots=True)
class _PendingRequests:
    """The requests that have no response yet."""

    _open: set[RequestId | None] = field(default_factory=set)
    _all_answered: anyio.Event = field(default_factory=anyio.Event)

    def track(self, message: SessionMessage) -> SessionMessage:
        """Track the message if it is a request, and return the message to pass on.

        A cancelled request gets no response, so its message has a callback that settles it.
        """
        if not isinstance(message.message, JSONRPCRequest):
            return message
        request = message.message.id
        self._open.add(request)

        async def unanswered() -> None:
            self.mark_answered(request)

        return SessionMessage(message.message, ServerMessageMetadata(on_request_unanswered=unanswered))

    def mark_answered(self, request: RequestId | None) -> None:
        self._open.discard(request)
        if not self._open:
            self._all_answered.set()

    async def wait_until_idle(self) -> None:
        """Wait until no request is open."""
        if self._open:
            self._all_answered = anyio.Event()
            await self._all_answered.wait()
