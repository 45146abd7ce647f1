"""Sources of files that are not on this machine: in a checkout, else in fetched sources, else on a public page.

An indexed checkout needs nothing from here: the index itself leads into it. A checkout in the workspace that is not
indexed is searched here. If the commits differ, git maps the line of the recorded commit to the checkout's commit.
`framedex sources fetch` and `framedex.fetchSource` download the fetched sources, for any project.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.model import Location, LocationEvidence
from framedex.path_resolution.files import file_exists
from framedex_server.answers.requests import Json, show_message
from framedex_server.answers.session import RequestPosition, Session
from framedex_server.documents.open_documents import to_path
from framedex_server.markup import shorten
from framedex_server.protocol import FETCH_SOURCE
from framedex_server.stack_paths import (
    find_local_locations,
    find_paths_inward,
    find_public_location,
    format_short_location,
)

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FrameRow
    from framedex.path_resolution.precedence import PathResolver
    from framedex.sources.fetching.wanted import WantedCommit
    from framedex.sources.releases.repository import PublicLine
    from framedex.text_stacks.source_lookup.versions import Checkouts

FindLocations = Callable[["FrameRow"], Sequence["Location"]]
"""Returns the locations at which a frame can be shown: files here, one in a checkout, or none."""


def make_location_finder(session: Session, index: Index, uri: str) -> FindLocations:
    """Return a cached function from frames to their locations, for answers about a document."""
    finder = CheckoutFinder(session, index, uri)
    known: dict[int, Sequence[Location]] = {}

    def find_locations(frame: FrameRow) -> Sequence[Location]:
        if frame.id not in known:
            known[frame.id] = tuple(find_local_locations(frame)) or tuple(finder.find_for_frame(frame))
        return known[frame.id]

    return find_locations


class CheckoutFinder:
    """Finds public locations in checkouts among the source and workspace folders, else in fetched sources."""

    def __init__(self, session: Session, index: Index, uri: str) -> None:
        self._session, self._index, self._uri = session, index, uri
        self._checkouts: Checkouts | None = None

    def find_for_frame(self, frame: FrameRow) -> Iterator[Location]:
        """Yield a frame's locations in checkouts; none for files that are here."""
        for location in (frame.location, *frame.candidates):
            if location is not None and (found := self.find(location)) is not None:
                yield found

    def find(self, location: Location) -> Location | None:
        """Return the location in a checkout or in fetched sources; None if there is none."""
        if location.url is None or file_exists(location.path):
            return None
        from framedex.sources.releases.repository import parse_address

        about = to_path(self._uri) or self._session.default_document()
        line = parse_address(location.url, self._session.folder_settings_for(about).links)
        if line is None:
            return None
        if self._checkouts is None:
            self._checkouts = self._session.checkouts(
                make_path_resolver(self._session, self._uri, self._index).source_folders
            )
        found = self._checkouts.find(line)
        return found if found is not None and found.how is LocationEvidence.EXACT else find_fetched_line(line) or found


def make_path_resolver(session: Session, uri: str, index: Index | None) -> PathResolver:
    """Return a path resolver for a document; it searches the workspace folders like source folders."""
    from framedex.path_resolution.precedence import PathResolver

    path, roots = to_path(uri), session.roots()
    settings = session.folder_settings_for(path or session.default_document())
    own_folder = [Path(path).parent] if path is not None else []
    return PathResolver(settings.path_map, (*settings.sources, *roots), (*own_folder, *roots), index)


def find_public_callees(session: Session, index: Index, position: RequestPosition) -> list[tuple[str, Location]]:
    """Return the callees of a line whose source is only on a public page, with their locations, likeliest first."""

    def public_locations(frame: FrameRow) -> Sequence[Location]:
        location = find_public_location(frame)
        return () if location is None else (location,)

    capture = session.selection.capture_in(index)
    stack_paths = find_paths_inward(
        index, position.path, position.line, None, session.word_at(position), capture, public_locations
    )
    return [
        (make_printable(stack_path.target.function.name), location)
        for stack_path in stack_paths
        for location in public_locations(stack_path.target)
    ]


def format_public_callee(name: str, location: Location) -> str:
    """Return a sentence, without its full stop, about a callee whose source is only on a public page."""
    return f"{shorten(name)} continues at {format_short_location(location)}, which is not on this machine"


@dataclass(frozen=True, slots=True)
class FetchableSource:
    """A public line whose commit can be fetched, and the address of the repository or of the settings' mirror."""

    line: PublicLine
    wanted: WantedCommit
    address: str
    is_mirror: bool


def find_fetchable_source(session: Session, document: str, url: str) -> FetchableSource | None:
    """Return the sources that have a public line; None unless its address has a commit of XLA, JAX or CPython."""
    from framedex.sources.fetching.wanted import NAMES, parse_named_commit
    from framedex.sources.releases.repository import parse_address
    from framedex.sources.releases.roots import is_commit

    settings = session.folder_settings_for(document)
    line = parse_address(url, settings.links)
    component = next((NAMES[name] for name in sorted(line.names & NAMES.keys())), None) if line is not None else None
    if line is None or component is None or not is_commit(line.revision):
        return None
    wanted = parse_named_commit(component, line.revision)
    mirror = settings.mirrors.get(component)
    return FetchableSource(line, wanted, mirror or wanted.repository, mirror is not None)


def make_fetch_action(session: Session, uri: str, location: Location) -> Json | None:
    """Return the command that fetches the sources of a public location's commit; None if they cannot be fetched."""
    source = find_fetchable_source(session, to_path(uri) or session.default_document(), location.url or "")
    if source is None:
        return None
    about = {"textDocument": {"uri": uri}, "url": location.url}
    return {"title": f"Fetch the sources of {source.wanted.title}…", "command": FETCH_SOURCE, "arguments": [about]}


def open_in_browser(server: LanguageServer, url: str) -> None:
    """Have the client open a page in the browser; show the URL if it cannot."""
    window = server.client_capabilities.window
    if window is not None and window.show_document is not None and window.show_document.support:
        server.window_show_document(types.ShowDocumentParams(url, external=True))
    else:
        show_message(server, f"framedex: Open this page in a browser: {url}")


def find_fetched_location(location: Location, links: Mapping[str, str] | None = None) -> Location | None:
    """Return the fetched line of a public location; None if the file is here or its commit was not fetched."""
    if location.url is None or file_exists(location.path):
        return None
    from framedex.sources.releases.repository import parse_address

    line = parse_address(location.url, links)
    return None if line is None else find_fetched_line(line)


def find_fetched_line(line: PublicLine) -> Location | None:
    """Return the line of a public repository at the recorded commit; None if the commit was not fetched."""
    from framedex.sources.fetching.cache import SourceCache
    from framedex.sources.releases.repository import REPOSITORIES
    from framedex.sources.releases.roots import is_commit

    if not is_commit(line.revision):
        return None
    try:
        cache = SourceCache.default()
    except FramedexError:
        return None
    for component in sorted(line.names & REPOSITORIES.keys()):
        path = str(cache.checkout(component, line.revision) / line.path)
        if file_exists(path):
            return Location(path, line.line or 1, LocationEvidence.EXACT)
    return None
