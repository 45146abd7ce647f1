"""Guidebook pages about functions of the runtime's API: links for hovers on their names, in any text.

The settings name the guidebook: a URL or a folder. A link into a folder needs an existing page. A URL is assumed to
have a page for every known function, because a hover opens no connection.
"""

from __future__ import annotations

import stat
from functools import cache
from pathlib import Path

from lsprotocol import types

from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import to_path
from framedex_server.markup import Markup
from framedex_server.protocol import OPEN_GUIDEBOOK


async def add_page_link(session: Session, params: types.HoverParams, found: types.Hover | None) -> types.Hover | None:
    """Return the hover with a link to the guidebook page of the function under the cursor."""
    document, position = params.text_document, params.position
    word = await session.displayed_word(document, position)
    address = await find_page_url(session, document, position)
    if word is None or address is None:
        return found
    name, where = word
    markup = Markup(session.markdown_supported)
    lines = [_format_link(session, markup, params, name, address)]
    if found is not None and isinstance(found.contents, types.MarkupContent):
        lines, where = [found.contents.value, *lines], found.range or where
    kind = types.MarkupKind.Markdown if markup.markdown else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, markup.lines(lines)), where)


async def find_page_url(
    session: Session, document: types.TextDocumentIdentifier, position: types.Position
) -> str | None:
    """Return the URL of the guidebook page for the function at a position; None if there is none."""
    word = await session.displayed_word(document, position)
    if word is None or word[0] not in _described_functions():
        return None
    guidebook = session.folder_settings_for(to_path(document.uri) or session.default_document()).guidebook
    return await session.run(lambda: _page_url(guidebook, word[0]))


@cache
def _described_functions() -> frozenset[str]:
    from framedex.guidebook.api_functions import read_api_functions

    return frozenset(function.name for function in read_api_functions())


def _page_url(guidebook: str, name: str) -> str | None:
    from framedex.guidebook.site.addresses import function_page

    if guidebook.startswith(("https://", "http://")):
        return f"{guidebook}/{function_page(name)}"
    try:
        file = Path(guidebook, function_page(name))
        return file.as_uri() if stat.S_ISREG(file.stat().st_mode) else None
    except (OSError, ValueError):  # missing file, or an invalid folder
        return None


def _format_link(session: Session, markup: Markup, params: types.HoverParams, name: str, address: str) -> str:
    """Return a link that opens in a browser. For VS Code, which shows HTML files as text, it runs a command."""
    text = f"guidebook: {markup.code(name)}"
    if markup.markdown and address.startswith("file:") and OPEN_GUIDEBOOK in session.command_links:
        position = {"line": params.position.line, "character": params.position.character}
        argument = {"textDocument": {"uri": params.text_document.uri}, "position": position}
        return markup.command_link(text, OPEN_GUIDEBOOK, argument)
    return markup.link(text, address)
