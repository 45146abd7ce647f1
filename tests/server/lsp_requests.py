"""Editor queries by file and 1-based line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, cast

from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.tiers import exhaustive_unless

Connect = Callable[..., Awaitable[LanguageClient]]
"""connect(root, editor=..., encodings=None, command=..., arguments=(), links=True, markdown=True, experimental=None,
content=False) -> a client."""

EDITORS = ["visual-studio-code", "neovim@v0.7.0", "neovim@v0.11.0", "emacs"]
ONE_EDITOR = exhaustive_unless(EDITORS, "visual-studio-code")
"""Parameters for tests of answers that do not depend on the editor. The other editors are exhaustive."""


def position_params(
    path: Path | str, line: int, character: int = 0
) -> tuple[types.TextDocumentIdentifier, types.Position]:
    """A document and a position in it; `path` may be a URI."""
    uri = path.as_uri() if isinstance(path, Path) else path
    return types.TextDocumentIdentifier(uri), types.Position(line - 1, character)


async def definition(client: LanguageClient, path: Path | str, line: int, character: int = 0) -> list[tuple[str, int]]:
    """Where go-to-frame leads, as (file name, 1-based line)."""
    return target_lines(
        await client.text_document_definition_async(types.DefinitionParams(*position_params(path, line, character)))
    )


def target_lines(answer: object) -> list[tuple[str, int]]:
    """The targets of links or locations, as (file name, 1-based line)."""
    found = []
    for target in cast("Sequence[types.Location | types.LocationLink]", answer or ()):
        if isinstance(target, types.LocationLink):
            found.append((Path(target.target_uri).name, target.target_selection_range.start.line + 1))
        else:
            found.append((Path(target.uri).name, target.range.start.line + 1))
    return found


async def definition_links(
    client: LanguageClient, path: Path, line: int, character: int = 0
) -> list[types.LocationLink]:
    """The links of go-to-frame, for a client that supports links."""
    answer = await client.text_document_definition_async(
        types.DefinitionParams(*position_params(path, line, character))
    )
    return list(cast("Sequence[types.LocationLink]", answer or ()))


async def hover_answer(client: LanguageClient, path: Path, line: int) -> types.Hover:
    """The hover on a line that has one."""
    answer = await client.text_document_hover_async(types.HoverParams(*position_params(path, line)))
    assert answer is not None
    return answer


async def hover(client: LanguageClient, path: Path | str, line: int) -> str | None:
    """The text of the hover on a line."""
    answer = await client.text_document_hover_async(types.HoverParams(*position_params(path, line)))
    if answer is None:
        return None
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value


async def wait_for_settings(client: LanguageClient, root: Path) -> None:
    """Return when the server has read the settings: before the first answer of its index."""
    await hover(client, root / "nowhere.py", 1)


async def framedex_request(client: LanguageClient, method: str, path: Path, line: int, **more: object) -> Any:
    """The JSON result of one of framedex's own requests about a line."""
    document, position = position_params(path, line)
    params = {
        "textDocument": {"uri": document.uri},
        "position": {"line": position.line, "character": position.character},
        **more,
    }
    return to_json(await send_request(client, method, params))


async def listed_targets(client: LanguageClient, method: str, path: Path, line: int) -> list[tuple[str, int]]:
    """All locations that `waysIn` or `waysOut` lists for a line, as (file name, 1-based line)."""
    found = [way["location"] for way in await framedex_request(client, method, path, line)]
    return [(Path(each["uri"]).name, each["range"]["start"]["line"] + 1) for each in found]


async def send_request(client: LanguageClient, method: str, params: Any) -> Any:
    """The result of one of framedex's own requests, as pygls' client returns it."""
    return await client.protocol.send_request_async(f"framedex/{method}", params)


def to_json(value: Any) -> Any:
    """pygls' client object converted back to JSON."""
    if hasattr(value, "_asdict"):
        return {name: to_json(part) for name, part in value._asdict().items()}
    return [to_json(part) for part in value] if isinstance(value, list) else value


def open_document(client: LanguageClient, uri: str, text: str, language: str = "python") -> None:
    """Notify the server that the editor has opened a document."""
    item = types.TextDocumentItem(uri, language, 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
