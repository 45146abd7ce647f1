"""The interface of features to the index, the documents, and the client's position encoding and capabilities.

It translates between framedex's terms (real paths, 1-based lines, code points) and LSP's (URIs, 0-based lines, code
units of the client's encoding).
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.base.errors import FramedexError
from framedex_server.documents.open_documents import OpenDocuments, to_path
from framedex_server.documents.stack_texts import StackTexts
from framedex_server.indexes import Indexes
from framedex_server.protocol import INDEX_CHANGED
from framedex_server.selection import CurrentSelection
from framedex_server.settings import Configuration, EditorSettings, FolderSettings
from framedex_server.walks import Walks

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.sources.outline import Outlines
    from framedex.text_stacks.source_lookup.binaries import Binaries
    from framedex.text_stacks.source_lookup.versions import Checkouts

Answer = TypeVar("Answer")

Hook = Callable[[], Awaitable[None]]

REFRESH_DELAY_S = 0.5
"""Minimum seconds between two refresh requests to the client."""

PARTIAL_RESULT_ITEMS = 200
"""Number of locations per partial result."""

_MESSAGE_LINE_EDITORS = frozenset({"emacs", "eglot", "helix", "kak-lsp", "neovim", "vim"})
"""Client names, in lower case, of editors that show messages in one line until the next key."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class RequestPosition:
    """The target of a request: the document's URI and real path, the 1-based line, and the column in client units.

    `line` is the line of the file on disk; `buffer_line` is the 0-based line in the client's buffer.
    """

    uri: str
    path: str
    line: int
    buffer_line: int
    character: int

    @property
    def parameters(self) -> dict[str, Any]:
        """The `textDocument` and `position` of a request about the place."""
        return {"textDocument": {"uri": self.uri}, "position": {"line": self.buffer_line, "character": self.character}}


class Session:
    """One client's session, as its features see it."""

    def __init__(
        self,
        server: LanguageServer,
        indexes: Indexes,
        contents: Indexes,
        documents: OpenDocuments,
        roots: Callable[[], Sequence[Path]],
        configuration: Configuration,
        report: Callable[[FramedexError], None],
    ) -> None:
        self._server = server
        self._configuration = configuration
        self._refreshing: asyncio.TimerHandle | None = None
        self._checkouts: tuple[tuple[str, ...], Checkouts] | None = None
        self.report = report
        self.indexes = indexes
        self.contents = contents
        self.documents = documents
        self.texts = StackTexts(documents.text, documents.language)
        self.roots = roots
        self.walks = Walks()
        self.selection = CurrentSelection()
        contents.close_callbacks.append(self.selection.close)
        self.on_document_open: list[Callable[[str], Awaitable[None]]] = []
        self.before_start: list[Hook] = []
        self.on_start: list[Hook] = []
        self.on_settings_change: list[Hook] = []
        self.on_recordings_change: list[Callable[[], None]] = []
        self.on_sources_change: list[Callable[[Sequence[str]], Awaitable[None]]] = []
        self.on_refresh: list[Callable[[], None]] = []
        self.on_end: list[Callable[[], None]] = [self.texts.close]

    def settings_for(self, path: Path | str) -> EditorSettings:
        """Return the editor settings for a file or folder."""
        return self._configuration.settings_for(path).editor

    def folder_settings_for(self, path: Path | str) -> FolderSettings:
        """Return all settings of the workspace folder around a file or folder."""
        return self._configuration.settings_for(path)

    async def reload_settings(self, client_settings: Mapping[Path, object]) -> None:
        """Reload the settings; `client_settings` (JSON for each folder) overrides the files."""
        before = {root: self._configuration.settings_for(root) for root in client_settings}
        await self.run(lambda: self._configuration.reload(client_settings))
        if before != {root: self._configuration.settings_for(root) for root in client_settings}:
            self.refresh_views()

    def refresh_views(self) -> None:
        """Have the client refresh lenses, hints and diagnostics after a change of index, settings or selection."""
        self._checkouts = None
        if self._refreshing is None:
            self._refreshing = asyncio.get_running_loop().call_later(REFRESH_DELAY_S, self._refresh_views)

    def _refresh_views(self) -> None:
        self._refreshing = None
        workspace = self._server.client_capabilities.workspace
        if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
            self._server.workspace_code_lens_refresh(None)
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self._server.workspace_inlay_hint_refresh(None)
        if workspace and workspace.diagnostics and workspace.diagnostics.refresh_support:
            self._server.workspace_diagnostic_refresh(None)
        for refresh in self.on_refresh:
            refresh()
        if self._own_capabilities.get("indexChanges") is True:
            self._server.protocol.notify(INDEX_CHANGED, {})

    def send_in_parts(self, token: types.ProgressToken | None, items: Sequence[Any]) -> list[Any]:
        """Return the items for the reply: all, or none if the client accepts partial results.

        Partial results are sent from here, in parts of `PARTIAL_RESULT_ITEMS` items.
        """
        if token is None or len(items) <= PARTIAL_RESULT_ITEMS:
            return list(items)
        for first in range(0, len(items), PARTIAL_RESULT_ITEMS):
            part = self._server.protocol.to_json(items[first : first + PARTIAL_RESULT_ITEMS])  # type: ignore[attr-defined]
            self._server.progress(types.ProgressParams(token, part))
        return []

    async def query(self, document: str, question: Callable[[Index], Answer]) -> Answer | None:
        """Return the result of `question`, run on the index thread, on the index for a document."""
        return await self.indexes.query(Path(document), question)

    def default_document(self) -> str:
        """Return a path in the first workspace folder, for queries without a document."""
        root = next(iter(self.roots()), Path("/"))
        return os.path.realpath(root / "any document")

    async def query_at(self, position: RequestPosition, question: Callable[[Index], Answer]) -> Answer | None:
        """Like `query`, but prefer the index whose answer led to the place."""
        return await self.indexes.query(
            Path(position.path), question, self.walks.index_at(position.path, position.line)
        )

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """Return the result of `work`, run off the protocol loop."""
        return await self.indexes.run(work)

    async def have_changed(self) -> bool:
        """Return whether an open index has changed since the last call."""
        changed = [await indexes.run(indexes.have_changed) for indexes in (self.indexes, self.contents)]
        return any(changed)

    def links_supported_for(self, method: str) -> bool:
        """Return whether the client accepts a LocationLink for a request such as `textDocument/declaration`."""
        capabilities = getattr(self._server.client_capabilities.text_document, method.rpartition("/")[2], None)
        return bool(getattr(capabilities, "link_support", False))

    @property
    def command_links(self) -> frozenset[str]:
        """The commands that a hover may link to: a list of names in `experimental.framedex.commandLinks`."""
        names = self._own_capabilities.get("commandLinks")
        return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()

    @property
    def shows_documents(self) -> bool:
        """Whether the client supports `window/showDocument`."""
        window = self._server.client_capabilities.window
        return window is not None and window.show_document is not None and window.show_document.support

    @property
    def supports_step_notes(self) -> bool:
        """Whether the client shows `framedex/led` notes without opening a window over the text."""
        return self._own_capabilities.get("led") is True

    @property
    def lists_automatic_actions(self) -> bool:
        """Whether the client lists automatically requested actions on demand: LSP4IJ's intentions."""
        return self._own_capabilities.get("intentions") is True

    @property
    def has_message_line(self) -> bool:
        """Whether the client is an editor that shows messages in a line at its edge."""
        return self._server.protocol.client_name.casefold() in _MESSAGE_LINE_EDITORS  # type: ignore[attr-defined]

    @property
    def _own_capabilities(self) -> Mapping[str, Any]:
        """The client's capabilities under `experimental.framedex`."""
        match self._server.client_capabilities.experimental:
            case {"framedex": dict(own)}:
                return own
        return {}

    @property
    def markdown_supported(self) -> bool:
        """Whether the client renders Markdown in hovers."""
        text_document = self._server.client_capabilities.text_document
        hover = text_document.hover if text_document else None
        return types.MarkupKind.Markdown in ((hover and hover.content_format) or ())

    def request_position(
        self, document: types.TextDocumentIdentifier, position: types.Position
    ) -> RequestPosition | None:
        """Return the place of a request; None if its document is not a file, or the line is not saved yet."""
        path = to_path(document.uri)
        if path is None:
            return None
        line: int | None = position.line + 1
        if not self.texts.may_contain_stacks(document.uri):  # texts with stacks are read as shown, not from disk
            line = self.documents.edits.saved_line(path, position.line + 1)
        return None if line is None else RequestPosition(document.uri, path, line, position.line, position.character)

    def source_position(
        self, document: types.TextDocumentIdentifier, position: types.Position
    ) -> RequestPosition | None:
        """Return the position of a request in a source file; None in trace documents and documents without a file."""
        return None if self.documents.is_trace(document.uri) else self.request_position(document, position)

    def source_path(self, document: types.TextDocumentIdentifier) -> str | None:
        """Return the real path of a source file; None for a trace document or a document that is not a file."""
        return None if self.documents.is_trace(document.uri) else to_path(document.uri)

    def word_at(self, position: RequestPosition) -> str:
        """Return the identifier at a place; empty if there is none."""
        word = self._word_in(self.documents.line(position.path, position.line), position.character)
        return word[0] if word else ""

    async def displayed_word(
        self, document: types.TextDocumentIdentifier, position: types.Position
    ) -> tuple[str, types.Range] | None:
        """Return the identifier at a position of a document as shown, saved or not, and its range."""
        text_of = partial(self.documents.text, document.uri)
        text = text_of() if self.documents.is_open(document.uri) else await self.texts.run(text_of)
        line = next(islice(text.split("\n"), position.line, None), "")
        word = self._word_in(line, position.character)
        if word is None:
            return None
        ends = (self.position_in(line, position.line, column) for column in word.span())
        return word[0], types.Range(*ends)

    def _word_in(self, text: str, character: int) -> re.Match[str] | None:
        """Return the identifier of a line at a client's character."""
        column = self.column_in(text, character)
        return next((word for word in _IDENTIFIER.finditer(text) if word.start() <= column <= word.end()), None)

    def checkouts(self, folders: Sequence[str]) -> Checkouts:
        """Return these folders as checkouts; git's output is cached until the index or settings change."""
        from framedex.text_stacks.source_lookup.versions import Checkouts

        known = self._checkouts
        if known is None or known[0] != tuple(folders):
            known = self._checkouts = tuple(folders), Checkouts(folders)
        return known[1]

    @cached_property
    def outlines(self) -> Outlines:
        """The outlines of source files, parsed on demand and compared with the frames of texts."""
        from framedex.sources.outline import Outlines

        return Outlines()

    @cached_property
    def binaries(self) -> Binaries:
        """The binaries named by frames of logs."""
        from framedex.text_stacks.source_lookup.binaries import Binaries

        return Binaries()

    def position_in(self, text: str, line: int, column: int) -> types.Position:
        """Return the position of a column (code points) in the text of a 0-based line."""
        before = text[:column]
        units = len(before) if before.isascii() else self._server.workspace.position_codec.client_num_units(before)
        return types.Position(line, units)

    def column_in(self, text: str, character: int) -> int:
        """Return the column (code points) of a client's character in a line; at most the line's length."""
        if text.isascii():
            return min(character, len(text))
        position = types.Position(0, character)
        return self._server.workspace.position_codec.position_from_client_units([text], position).character

    def text_range(self, line: int, text: str) -> types.Range:
        """Return the range of a 1-based line's text without surrounding blanks."""
        start = len(text) - len(text.lstrip()) if text.strip() else 0
        return types.Range(
            self.position_in(text, line - 1, start), self.position_in(text, line - 1, len(text.rstrip()))
        )

    def line_range(self, path: str, line: int) -> types.Range:
        """Return the range of the text on a 1-based line of a file; empty at its start if the file is unreadable."""
        return self.text_range(self.documents.edits.shown_line(path, line), self.documents.line(path, line))

    def extent_range(self, path: str, first: int, last: int) -> types.Range:
        """Return the range from the start of line `first` to the end of line `last`, 1-based and inclusive."""
        start = types.Position(self.documents.edits.shown_line(path, first) - 1, 0)
        return types.Range(start, self.line_range(path, last).end)
