"""Every answer of the server about hostile names: they never become markup or control characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from markdown_it import MarkdownIt
from pytest_lsp import LanguageClient

from tests.ffi_running import EXAMPLES
from tests.indexed_ffi import indexed
from tests.indexer.sharing.project import framedex
from tests.running import PROGRAMS
from tests.server.conftest import converter
from tests.server.hostile_names import share_with_hostile_names
from tests.server.lsp_requests import Connect, framedex_request, open_document, position_params, send_request, to_json

pytestmark = pytest.mark.asyncio

_SAFE = ("file:///", "https://github.com/", "command:framedex.")
_NOT_SHOWN = frozenset({"uri", "targetUri", "target_uri", "data", "arguments", "href"})
_OWN = ("stacks", "waysIn", "waysOut", "callsThrough", "traceDocument", "traceMarkdown")
_OF_CAPTURE = ("captures", "boundaries", "indexes", "flameGraph", "programMemory")
_CALLS = 4
_LINES = 3  # of a file that is queried completely


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder whose index has a capture with hostile names and with recorded local files."""
    shared = tmp_path / "hostile.fdx.zip"
    share_with_hostile_names(indexed("ffi_calls.py").index, shared)
    result = framedex("--index", tmp_path / ".framedex" / "index.db", "import", shared)
    assert result.exit_code == 0, result.output
    return tmp_path


async def test_no_answer_contains_markup_or_control_characters_of_names(workspace: Path, connect: Connect) -> None:
    client = await connect(workspace)
    shown = []
    for path, language in (
        (EXAMPLES / "ffi_examples.py", "python"),
        (PROGRAMS / "ffi_calls.py", "python"),
        (EXAMPLES / "rms_norm.cc", "cpp"),
    ):
        text = path.read_text("utf-8")
        open_document(client, path.as_uri(), text, language)
        shown += [each async for each in _answers_of_file(client, path)]
        for line in await _recorded_lines(client, path, text):
            shown += [each async for each in _answers_of_line(client, path, line)]
    for method in _OF_CAPTURE:
        shown.append(to_json(await send_request(client, method, {"capture": 1})))
    shown += [to_json(await send_request(client, "calls", {"capture": 1, "boundary": 1}))]
    for costs in ("compiles", "transfers", "memory", "waits"):
        shown.append(to_json(await send_request(client, "costs", {"capture": 1, "answer": costs})))
    for call in range(1, _CALLS):
        for method in ("frames", "traceDocument", "traceMarkdown"):
            shown.append(to_json(await send_request(client, method, {"call": call})))
    shown.append(await client.workspace_symbol_async(types.WorkspaceSymbolParams("rms_norm")))
    texts = [text for answer in shown for text in _texts(converter().unstructure(answer))]
    assert sum("command:evil" in text for text in texts) > 20  # hostile names are in the answers
    broken = [text for text in texts if _is_broken(text)]
    assert not broken


async def _answers_of_file(client: LanguageClient, path: Path) -> Any:
    document = types.TextDocumentIdentifier(path.as_uri())
    whole = types.Range(types.Position(0, 0), types.Position(10_000, 0))
    asked: list[Awaitable[Any]] = [
        client.text_document_code_lens_async(types.CodeLensParams(document)),
        client.text_document_inlay_hint_async(types.InlayHintParams(document, whole)),
        client.text_document_document_symbol_async(types.DocumentSymbolParams(document)),
        client.text_document_diagnostic_async(types.DocumentDiagnosticParams(document)),
    ]
    for each in asked:
        answer = await each
        yield answer
        for item in answer if isinstance(answer, list | tuple) else ():
            if isinstance(item, types.CodeLens):
                yield await client.code_lens_resolve_async(item)


async def _recorded_lines(client: LanguageClient, path: Path, text: str) -> list[int]:
    """The first lines with an answer from the server."""
    found: list[int] = []
    for line in range(1, len(text.splitlines()) + 1):
        if (
            len(found) < _LINES
            and await client.text_document_hover_async(types.HoverParams(*position_params(path, line))) is not None
        ):
            found.append(line)
    return found


async def _answers_of_line(client: LanguageClient, path: Path, line: int) -> Any:
    document, position = position_params(path, line)
    there = types.Range(position, position)
    yield await client.text_document_hover_async(types.HoverParams(document, position))
    yield await client.text_document_definition_async(types.DefinitionParams(document, position))
    yield await client.text_document_implementation_async(types.ImplementationParams(document, position))
    yield await client.text_document_code_action_async(
        types.CodeActionParams(document, there, types.CodeActionContext([]))
    )
    items = await client.text_document_prepare_call_hierarchy_async(
        types.CallHierarchyPrepareParams(document, position)
    )
    for item in items or ():
        yield item
        yield await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item))
        yield await client.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(item))
    for method in _OWN:
        yield await framedex_request(client, method, path, line)
    yield await framedex_request(client, "why", path, line, request="textDocument/definition")


def _texts(value: Any, key: str = "") -> Iterator[str]:
    """The texts of an answer that a client displays."""
    if isinstance(value, dict):
        is_markdown = value.get("kind") == "markdown"
        for name, each in value.items():
            if name not in _NOT_SHOWN:
                yield from _texts(each, "markdown" if is_markdown else name)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each, key)
    elif isinstance(value, str):
        yield f"markdown\n{value}" if key == "markdown" or value.startswith("### ") else value


def _is_broken(text: str) -> bool:
    if text.startswith("markdown\n"):
        return _has_markup(text.removeprefix("markdown\n")) or _has_control(text, "\n")
    return _has_control(text, "\n" if text.startswith("framedex trace") else "")


def _has_control(text: str, allowed: str) -> bool:
    return any(unicodedata.category(each) in ("Cc", "Cf") and each not in allowed for each in text)


def _has_markup(text: str) -> bool:
    """Whether Markdown has an image, HTML, a heading or emphasis from a name, or a link to another target."""
    tokens = MarkdownIt("js-default", {"html": True}).parse(text)
    inline = [child for token in tokens for child in token.children or ()]
    links = [str(child.attrs.get("href", "")) for child in inline if child.type == "link_open"]
    plain_text = "".join(child.content for child in inline if child.type == "text")
    headings = [token for token in tokens if token.type == "heading_open" and token.tag != "h3"]
    return (
        any(child.type in ("image", "html_inline") for child in inline)
        or any(token.type == "html_block" and "details" not in token.content for token in tokens)
        or not all(link.startswith(_SAFE) for link in links)
        or "evil" in plain_text
        or bool(headings)
    )
