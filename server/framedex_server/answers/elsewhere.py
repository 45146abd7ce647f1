"""Places whose files are not here: in a checkout, else among the fetched sources, else on their public page.

An index leads into a checkout once that has been indexed. Until then, and where a folder of the workspace is one, its
file is shown nevertheless, at the line of the recorded commit or where git says that it is now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.plaintext import printable
from framedex.whereabouts.files import is_here
from framedex_server.answers.fetched import fetched_line
from framedex_server.answers.frame_lines import whereabouts
from framedex_server.answers.requests import tell
from framedex_server.answers.session import Place, Session
from framedex_server.documents.open_documents import path_of
from framedex_server.inward import locations, public_place, roads_inward

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.interchange.placing.checkouts import Checkouts
    from framedex.model import FrameRow, Location

Shown = Callable[["FrameRow"], Sequence["Location"]]
"""Where a frame can be shown: the places of files here, one of a checkout, or none."""


def shown(session: Session, index: Index, uri: str) -> Shown:
    """What says where frames can be shown, in answers about a document."""
    finder = InCheckouts(session, index, uri)
    known: dict[int, Sequence[Location]] = {}

    def places(frame: FrameRow) -> Sequence[Location]:
        if frame.id not in known:
            known[frame.id] = tuple(locations(frame)) or tuple(finder.of_frame(frame))
        return known[frame.id]

    return places


class InCheckouts:
    """Finds public places in checkouts that are source folders or workspace folders, else among fetched sources."""

    def __init__(self, session: Session, index: Index, uri: str) -> None:
        self._session, self._index, self._uri = session, index, uri
        self._checkouts: Checkouts | None = None

    def of_frame(self, frame: FrameRow) -> Iterator[Location]:
        """Where a frame is in a checkout, if it is in none of the files here."""
        for place in (frame.location, *frame.candidates):
            if place is not None and (found := self.find(place)) is not None:
                yield found

    def find(self, place: Location) -> Location | None:
        """The public place in a checkout; None where there is none."""
        if place.url is None or is_here(place.path):
            return None
        from framedex.model import How
        from framedex.releases.addresses import read_address

        about = path_of(self._uri) or self._session.any_document()
        line = read_address(place.url, self._session.folder_settings_at(about).links)
        if line is None:
            return None
        if self._checkouts is None:
            self._checkouts = self._session.checkouts(whereabouts(self._session, self._uri, self._index).source_folders)
        found = self._checkouts.find(line)
        return found if found is not None and found.how is How.EXACT else fetched_line(line) or found


def public_ways_on(session: Session, index: Index, place: Place) -> list[tuple[str, Location]]:
    """The functions to which a line led whose source is not here but public, with their places; first the likeliest."""

    def public(frame: FrameRow) -> Sequence[Location]:
        there = public_place(frame)
        return () if there is None else (there,)

    capture = session.chosen.capture_in(index)
    roads = roads_inward(index, place.path, place.line, None, session.word_at(place), capture, public)
    return [(printable(road.target.function.name), there) for road in roads for there in public(road.target)]


def open_outside(server: LanguageServer, url: str) -> None:
    """Have the client show a page in the browser; one that cannot is told the address."""
    window = server.client_capabilities.window
    if window is not None and window.show_document is not None and window.show_document.support:
        server.window_show_document(types.ShowDocumentParams(url, external=True))
    else:
        tell(server, f"framedex: The page is {url}")
