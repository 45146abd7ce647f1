"""`framedex/resolveFrame`: the source of one frame named by a terminal or a link, by path or by symbol.

`frame_lines` resolves the frames of documents; this request has no document. If nothing is found, the answer lists
what was tried, and how the path could be mapped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from framedex.path_resolution.files import is_here
from framedex.plaintext import printable
from framedex_server.answers.frame_lines import resolver, whereabouts
from framedex_server.answers.requests import Json, range_json
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import path_of

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Location
    from framedex.text_stacks import TextFrame
    from framedex.text_stacks.placing.resolve import Found

LONGEST = 4096
"""Maximum length of a path or symbol, in characters."""


def register(server: LanguageServer, session: Session) -> None:
    """Register the request."""

    @server.feature("framedex/resolveFrame")
    async def resolve_frame(params: Any) -> Json:
        wanted = Wanted.of(params)
        about = path_of(wanted.uri) or session.any_document()
        found = await session.ask(about, lambda index: _resolved(session, wanted, index))
        if found is None:  # without an index, local files can still be resolved
            found = await session.run(lambda: _resolved(session, wanted, None))
        return found


@dataclass(frozen=True, slots=True)
class Wanted:
    """A `path` with a 1-based line, or a `symbol`; `uri` is that of the document that names it, or empty."""

    path: str
    line: int
    symbol: str
    uri: str

    @staticmethod
    def of(params: Any) -> Wanted:
        """Parse a request. Raises JsonRpcInvalidParams if it is malformed."""
        given: Mapping[str, Any] = params if isinstance(params, dict) else {}
        path, symbol, line = given.get("path", ""), given.get("symbol", ""), given.get("line", 1)
        is_number = isinstance(line, int) and not isinstance(line, bool) and line > 0
        is_one = all(isinstance(each, str) and len(each) <= LONGEST for each in (path, symbol)) and bool(path or symbol)
        if not is_one or not is_number:
            raise JsonRpcInvalidParams("A path with a line from 1, or a symbol, is needed.")
        match given.get("textDocument"):
            case {"uri": str(uri)}:
                return Wanted(path, line, symbol, uri)
        return Wanted(path, line, symbol, "")

    def frame(self) -> TextFrame:
        """Return the frame as parsed from a text."""
        from framedex.model import Language
        from framedex.text_stacks import Format, Place, TextFrame

        place = Place(self.path, self.line) if self.path else None
        language = None if place else Language.NATIVE
        return TextFrame(Format.PLAIN, 0, 0, 0, 0, function=self.symbol, place=place, language=language)


def _resolved(session: Session, wanted: Wanted, index: Index | None) -> Json:
    found = resolver(session, wanted.uri, index, None).find(wanted.frame())
    places = [place for place in (found.location, *found.candidates) if place is not None and is_here(place.path)]
    url = next((place.url for place in _named(found) if place.url), None)
    answer: Json = {"locations": [_place(session, place) for place in places], "url": url, "message": None}
    if not places:
        answer["message"] = _nowhere(session, wanted, index)
    return answer


def _named(found: Found) -> Iterable[Location]:
    return (found.location, *found.candidates) if found.location is not None else ()


def _is_recorded(index: Index, symbol: str) -> bool:
    from framedex.binaries.demangle import demangle
    from framedex.binaries.names import readable

    return bool(index.functions.named(readable(demangle(symbol))))


def _place(session: Session, place: Location) -> Json:
    return {
        "uri": session.documents.uri_of(place.path),
        "range": range_json(session.line_range(place.path, place.line)),
        "how": place.how.value,
    }


def _nowhere(session: Session, wanted: Wanted, index: Index | None) -> str:
    """Return a message with the lookups tried and the remedy."""
    if not wanted.path:
        if index is None:
            return f"{printable(wanted.symbol)}: there is no index here. Record a program, then index."
        if _is_recorded(index, wanted.symbol):
            return (
                f"{printable(wanted.symbol)} was recorded, but its source is not here. `framedex sources` says of which"
                " commit it is, `framedex sources add FOLDER` adds a checkout of it."
            )
        return (
            f"{printable(wanted.symbol)} is neither a recorded function nor a definition in the indexed sources."
            " `framedex sources add FOLDER` adds a source folder."
        )
    from framedex.path_resolution.rules import HOW_TO_MAP

    folders = whereabouts(session, wanted.uri, index).source_folders
    shown = ", ".join(map(printable, folders[:4])) + (f" and {len(folders) - 4} more" if len(folders) > 4 else "")
    below = f", nor one with the end of that path below {shown}" if folders else ""
    indexed = " There is no index here." if index is None else ""
    return f"There is no file {printable(wanted.path)} here{below}.{indexed} {HOW_TO_MAP}"
