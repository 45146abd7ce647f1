"""Source for files that are not on this machine: a checkout, else fetched sources, else a public page.

Once a checkout is indexed, the index itself leads into it. Before that, a file of a checkout in the workspace is shown
too. The line of the recorded commit is mapped to the checkout's commit with git if they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.path_resolution.files import is_here
from framedex.plaintext import printable
from framedex_server.answers.fetched import fetched_line
from framedex_server.answers.frame_lines import whereabouts
from framedex_server.answers.requests import tell
from framedex_server.answers.session import Place, Session
from framedex_server.documents.open_documents import path_of
from framedex_server.inward import locations, place_name, public_place, roads_inward
from framedex_server.markup import shorten

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FrameRow, Location
    from framedex.text_stacks.placing.checkouts import Checkouts

Shown = Callable[["FrameRow"], Sequence["Location"]]
"""Returns the locations at which a frame can be shown: files here, one in a checkout, or none."""


def shown(session: Session, index: Index, uri: str) -> Shown:
    """Return a cached function from frames to their locations, for answers about a document."""
    finder = InCheckouts(session, index, uri)
    known: dict[int, Sequence[Location]] = {}

    def places(frame: FrameRow) -> Sequence[Location]:
        if frame.id not in known:
            known[frame.id] = tuple(locations(frame)) or tuple(finder.of_frame(frame))
        return known[frame.id]

    return places


class InCheckouts:
    """Finds public locations in checkouts among the source and workspace folders, else in fetched sources."""

    def __init__(self, session: Session, index: Index, uri: str) -> None:
        self._session, self._index, self._uri = session, index, uri
        self._checkouts: Checkouts | None = None

    def of_frame(self, frame: FrameRow) -> Iterator[Location]:
        """Yield a frame's locations in checkouts; none for files that are here."""
        for place in (frame.location, *frame.candidates):
            if place is not None and (found := self.find(place)) is not None:
                yield found

    def find(self, place: Location) -> Location | None:
        """Return the location in a checkout or in fetched sources; None if there is none."""
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
    """Return the callees of a line whose source is only public, with their locations, likeliest first."""

    def public(frame: FrameRow) -> Sequence[Location]:
        there = public_place(frame)
        return () if there is None else (there,)

    capture = session.chosen.capture_in(index)
    roads = roads_inward(index, place.path, place.line, None, session.word_at(place), capture, public)
    return [(printable(road.target.function.name), there) for road in roads for there in public(road.target)]


def continues_text(what: str, there: Location) -> str:
    """Return a sentence without a full stop for a callee whose source is only public."""
    return f"{shorten(what)} continues at {place_name(there)}, which is not on this machine"


def open_outside(server: LanguageServer, url: str) -> None:
    """Have the client open a page in the browser; show the URL if it cannot."""
    window = server.client_capabilities.window
    if window is not None and window.show_document is not None and window.show_document.support:
        server.window_show_document(types.ShowDocumentParams(url, external=True))
    else:
        tell(server, f"framedex: The page is {url}")
