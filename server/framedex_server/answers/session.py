"""What a feature may use: questions to the index, documents, and the protocol's positions and abilities.

This is the seam between framedex's terms (real paths, 1-based lines, code points) and LSP's (URIs, 0-based lines, code
units of the encoding that the client chose).
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

from framedex.errors import FramedexError
from framedex_server.chosen import Chosen
from framedex_server.documents.open_documents import OpenDocuments, path_of
from framedex_server.documents.stack_texts import StackTexts
from framedex_server.indexes import Indexes
from framedex_server.protocol import INDEX_CHANGED
from framedex_server.settings import Configuration, EditorSettings, FolderSettings
from framedex_server.trail import Trail

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.interchange.placing.binaries import Binaries
    from framedex.interchange.placing.checkouts import Checkouts
    from framedex.sources.outline import Outlines

Answer = TypeVar("Answer")

Hook = Callable[[], Awaitable[None]]

CALM = 0.5
"""Seconds between two requests to the client to show everything anew, however much changes meanwhile."""

AT_ONCE = 200
"""Places in one part of an answer that comes in parts."""

_WITH_A_MESSAGE_LINE = frozenset({"emacs", "eglot", "helix", "kak-lsp", "neovim", "vim"})
"""What editors call themselves, in small letters, that show messages in one line, which the next key takes away."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Place:
    """What a client asks about: the document's URI and real path, the line, 1-based, and the column in its units.

    The line is the file's; the one that the client shows, 0-based, is `shown`.
    """

    uri: str
    path: str
    line: int
    shown: int
    character: int


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
        self.trail = Trail()
        self.chosen = Chosen()
        contents.at_close.append(self.chosen.close)
        self.at_document: list[Callable[[str], Awaitable[None]]] = []
        self.before_start: list[Hook] = []
        self.at_start: list[Hook] = []
        self.at_new_settings: list[Hook] = []
        self.at_new_recordings: list[Callable[[], None]] = []
        self.at_changed_sources: list[Callable[[Sequence[str]], Awaitable[None]]] = []
        self.at_refresh: list[Callable[[], None]] = []
        self.at_end: list[Callable[[], None]] = [self.texts.close]

    def settings_at(self, path: Path | str) -> EditorSettings:
        """What is set for the editor where a file or folder lies."""
        return self._configuration.at(path).editor

    def folder_settings_at(self, path: Path | str) -> FolderSettings:
        """Everything that is set for the workspace folder of a file or folder."""
        return self._configuration.at(path)

    async def read_settings(self, given: Mapping[Path, object]) -> None:
        """Read the settings anew: what the client has `given` for each folder, as JSON, goes before the files'."""
        before = {root: self._configuration.at(root) for root in given}
        await self.run(lambda: self._configuration.read(given))
        if before != {root: self._configuration.at(root) for root in given}:
            self.refresh_views()

    def refresh_views(self) -> None:
        """Have the client ask anew for what it shows all the time: index, settings or picks have changed."""
        self._checkouts = None
        if self._refreshing is None:
            self._refreshing = asyncio.get_running_loop().call_later(CALM, self._refresh_views)

    def _refresh_views(self) -> None:
        self._refreshing = None
        workspace = self._server.client_capabilities.workspace
        if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
            self._server.workspace_code_lens_refresh(None)
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self._server.workspace_inlay_hint_refresh(None)
        if workspace and workspace.diagnostics and workspace.diagnostics.refresh_support:
            self._server.workspace_diagnostic_refresh(None)
        for refresh in self.at_refresh:
            refresh()
        if self._own_capabilities.get("indexChanges") is True:
            self._server.protocol.notify(INDEX_CHANGED, {})

    def in_parts(self, token: types.ProgressToken | None, items: Sequence[Any]) -> list[Any]:
        """The items to answer a request with: all, or none where the client takes parts, which are sent from here."""
        if token is None or len(items) <= AT_ONCE:
            return list(items)
        for first in range(0, len(items), AT_ONCE):
            part = self._server.protocol.plain(items[first : first + AT_ONCE])  # type: ignore[attr-defined]
            self._server.progress(types.ProgressParams(token, part))
        return []

    async def ask(self, document: str, question: Callable[[Index], Answer]) -> Answer | None:
        """The result of `question`, asked on the index thread of the index that answers for the document at a path."""
        return await self.indexes.ask(Path(document), question)

    def any_document(self) -> str:
        """A path for questions that are about no document: one in the first workspace folder."""
        root = next(iter(self.roots()), Path("/"))
        return os.path.realpath(root / "any document")

    async def ask_at(self, place: Place, question: Callable[[Index], Answer]) -> Answer | None:
        """As `ask`, of the index whose answer has led the reader to the place, if one has."""
        return await self.indexes.ask(Path(place.path), question, self.trail.index_at(place.path, place.line))

    async def run(self, work: Callable[[], Answer]) -> Answer:
        """The result of `work`, done off the protocol loop."""
        return await self.indexes.run(work)

    async def have_changed(self) -> bool:
        """Whether an index that was asked has changed since this was asked last."""
        changed = [await indexes.run(indexes.have_changed) for indexes in (self.indexes, self.contents)]
        return any(changed)

    def links_supported_for(self, method: str) -> bool:
        """Whether the client takes a LocationLink as the answer to a request such as `textDocument/declaration`."""
        capabilities = getattr(self._server.client_capabilities.text_document, method.rpartition("/")[2], None)
        return bool(getattr(capabilities, "link_support", False))

    @property
    def command_links(self) -> frozenset[str]:
        """The commands that the client lets a hover link to (`experimental.framedex.commandLinks`, a list of names)."""
        names = self._own_capabilities.get("commandLinks")
        return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()

    @property
    def shows_documents(self) -> bool:
        """Whether the client opens documents and pages that it is asked to (`window/showDocument`)."""
        window = self._server.client_capabilities.window
        return window is not None and window.show_document is not None and window.show_document.support

    @property
    def takes_led(self) -> bool:
        """Whether the client shows, without a window over the text, what `framedex/led` tells."""
        return self._own_capabilities.get("led") is True

    @property
    def lists_automatic_actions(self) -> bool:
        """Whether the client shows the actions for which it asks by itself as a list on demand: LSP4IJ's intentions."""
        return self._own_capabilities.get("intentions") is True

    @property
    def shows_messages_in_a_line(self) -> bool:
        """Whether the client is an editor that is known to show messages in a line at its edge."""
        return self._server.protocol.client_name.casefold() in _WITH_A_MESSAGE_LINE  # type: ignore[attr-defined]

    @property
    def _own_capabilities(self) -> Mapping[str, Any]:
        """What the client says of itself under `experimental.framedex`."""
        match self._server.client_capabilities.experimental:
            case {"framedex": dict(own)}:
                return own
        return {}

    @property
    def markdown_supported(self) -> bool:
        """Whether the client shows Markdown in hovers."""
        text_document = self._server.client_capabilities.text_document
        hover = text_document.hover if text_document else None
        return types.MarkupKind.Markdown in ((hover and hover.content_format) or ())

    def place(self, document: types.TextDocumentIdentifier, position: types.Position) -> Place | None:
        """The line asked about; None if its document is not a file, or the file has no such line as yet."""
        path = path_of(document.uri)
        if path is None:
            return None
        line: int | None = position.line + 1
        if not self.texts.may_hold(document.uri):  # texts with stacks are read as they are shown
            line = self.documents.edits.saved_line(path, position.line + 1)
        return None if line is None else Place(document.uri, path, line, position.line, position.character)

    def source_place(self, document: types.TextDocumentIdentifier, position: types.Position) -> Place | None:
        """The line of a source file that is asked about; None in a trace document, or in what is no file."""
        return None if self.documents.is_trace(document.uri) else self.place(document, position)

    def source_path(self, document: types.TextDocumentIdentifier) -> str | None:
        """The real path of a source file; None for a trace document, or what is no file."""
        return None if self.documents.is_trace(document.uri) else path_of(document.uri)

    def word_at(self, place: Place) -> str:
        """The identifier at a place; empty if there is none."""
        word = self._word_in(self.documents.line(place.path, place.line), place.character)
        return word[0] if word else ""

    async def shown_word(
        self, document: types.TextDocumentIdentifier, position: types.Position
    ) -> tuple[str, types.Range] | None:
        """The identifier at a position of a document as it is shown, be it saved or not, and its range."""
        text_of = partial(self.documents.text, document.uri)
        text = text_of() if self.documents.is_open(document.uri) else await self.texts.run(text_of)
        line = next(islice(text.split("\n"), position.line, None), "")
        word = self._word_in(line, position.character)
        if word is None:
            return None
        ends = (self.position_in(line, position.line, column) for column in word.span())
        return word[0], types.Range(*ends)

    def _word_in(self, text: str, character: int) -> re.Match[str] | None:
        """The identifier of a line at a client's character."""
        column = self.column_in(text, character)
        return next((word for word in _IDENTIFIER.finditer(text) if word.start() <= column <= word.end()), None)

    def checkouts(self, folders: Sequence[str]) -> Checkouts:
        """The checkouts that these folders are; what git said of them is kept until the index or settings change."""
        from framedex.interchange.placing.checkouts import Checkouts

        known = self._checkouts
        if known is None or known[0] != tuple(folders):
            known = self._checkouts = tuple(folders), Checkouts(folders)
        return known[1]

    @cached_property
    def outlines(self) -> Outlines:
        """The outlines of source files, read as they are needed, against which the frames of texts are held."""
        from framedex.sources.outline import Outlines

        return Outlines()

    @cached_property
    def binaries(self) -> Binaries:
        """The binaries that frames of logs name."""
        from framedex.interchange.placing.binaries import Binaries  # reads ELF: most sessions never meet such a frame

        return Binaries()

    def position_in(self, text: str, line: int, column: int) -> types.Position:
        """The position of a column (code points) in the text of a 0-based line."""
        before = text[:column]
        units = len(before) if before.isascii() else self._server.workspace.position_codec.client_num_units(before)
        return types.Position(line, units)

    def column_in(self, text: str, character: int) -> int:
        """The column (code points) in the text of a line at which a client's character is; beyond it, its end."""
        if text.isascii():
            return min(character, len(text))
        position = types.Position(0, character)
        return self._server.workspace.position_codec.position_from_client_units([text], position).character

    def text_range(self, line: int, text: str) -> types.Range:
        """The range of a 1-based line's text without the blanks around it."""
        start = len(text) - len(text.lstrip()) if text.strip() else 0
        return types.Range(
            self.position_in(text, line - 1, start), self.position_in(text, line - 1, len(text.rstrip()))
        )

    def line_range(self, path: str, line: int) -> types.Range:
        """The range of the text on a 1-based line of a file; empty at its start if the file cannot be read."""
        return self.text_range(self.documents.edits.shown_line(path, line), self.documents.line(path, line))

    def extent_range(self, path: str, first: int, last: int) -> types.Range:
        """The range from the start of line `first` to the end of line `last`, 1-based and inclusive."""
        start = types.Position(self.documents.edits.shown_line(path, first) - 1, 0)
        return types.Range(start, self.line_range(path, last).end)
