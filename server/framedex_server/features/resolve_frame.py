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

from framedex.base.plaintext import make_printable
from framedex.model import Language
from framedex.path_resolution.files import PATH_RULE_REMEDY, file_exists
from framedex_server.answers.frame_lines import make_resolver
from framedex_server.answers.remote_sources import make_path_resolver
from framedex_server.answers.requests import Json, build_range_json
from framedex_server.answers.session import Session
from framedex_server.documents.open_documents import to_path

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import Location
    from framedex.text_stacks import TextFrame
    from framedex.text_stacks.source_lookup.frame_context import FoundFrame

MAX_NAME_CHARACTERS = 4096
"""Maximum length of a path or symbol, in characters."""


def register(server: LanguageServer, session: Session) -> None:
    """Register `framedex/resolveFrame`."""

    @server.feature("framedex/resolveFrame")
    async def resolve_frame(params: Any) -> Json:
        wanted = FrameRequest.parse(params)
        about = to_path(wanted.uri) or session.default_document()
        found = await session.query(about, lambda index: _resolve(session, wanted, index))
        if found is None:  # without an index, local files can still be resolved
            found = await session.run(lambda: _resolve(session, wanted, None))
        return found


@dataclass(frozen=True, slots=True)
class FrameRequest:
    """A `path` with a 1-based line, or a `symbol`; `uri` is the document that contains the frame, or empty."""

    path: str
    line: int
    symbol: str
    uri: str

    @staticmethod
    def parse(params: Any) -> FrameRequest:
        """Parse a request. Raises JsonRpcInvalidParams if it is malformed."""
        fields: Mapping[str, Any] = params if isinstance(params, dict) else {}
        path, symbol, line = fields.get("path", ""), fields.get("symbol", ""), fields.get("line", 1)
        is_number = isinstance(line, int) and not isinstance(line, bool) and line > 0
        is_one = all(isinstance(each, str) and len(each) <= MAX_NAME_CHARACTERS for each in (path, symbol)) and bool(
            path or symbol
        )
        if not is_one or not is_number:
            raise JsonRpcInvalidParams("Send a path with a line from 1, or a symbol.")
        match fields.get("textDocument"):
            case {"uri": str(uri)}:
                return FrameRequest(path, line, symbol, uri)
        return FrameRequest(path, line, symbol, "")

    def frame(self) -> TextFrame:
        """Return the frame as parsed from a text."""
        from framedex.text_stacks import StackFormat, TextFrame, TextLocation

        place = TextLocation(self.path, self.line) if self.path else None
        language = None if place else Language.NATIVE
        return TextFrame(StackFormat.PLAIN, 0, 0, 0, 0, function=self.symbol, place=place, language=language)


def _resolve(session: Session, wanted: FrameRequest, index: Index | None) -> Json:
    found = make_resolver(session, wanted.uri, index, None).find(wanted.frame())
    places = [place for place in (found.location, *found.candidates) if place is not None and file_exists(place.path)]
    url = next((place.url for place in _found_locations(found) if place.url), None)
    answer: Json = {
        "locations": [_build_location_json(session, place) for place in places],
        "url": url,
        "message": None,
    }
    if not places:
        answer["message"] = _explain_not_found(session, wanted, index)
    return answer


def _found_locations(found: FoundFrame) -> Iterable[Location]:
    return (found.location, *found.candidates) if found.location is not None else ()


def _is_recorded(index: Index, symbol: str) -> bool:
    from framedex.binaries.demangle import demangle
    from framedex.binaries.names import readable_name

    return bool(index.functions.find(readable_name(demangle(symbol))))


def _build_location_json(session: Session, location: Location) -> Json:
    return {
        "uri": session.documents.uri_of(location.path),
        "range": build_range_json(session.line_range(location.path, location.line)),
        "how": location.how.value,
    }


def _explain_not_found(session: Session, wanted: FrameRequest, index: Index | None) -> str:
    """Return a message about the lookups that failed, with the remedy."""
    if not wanted.path:
        if index is None:
            return f"{make_printable(wanted.symbol)}: no index found. Record a program, then run `framedex index`."
        if _is_recorded(index, wanted.symbol):
            return (
                f"{make_printable(wanted.symbol)} was recorded, but its source is not on this machine. "
                "`framedex sources`"
                " shows its commit; `framedex sources add FOLDER` adds a checkout of that commit."
            )
        return (
            f"{make_printable(wanted.symbol)} is neither a recorded function nor a definition in the indexed sources."
            " `framedex sources add FOLDER` adds a source folder."
        )
    folders = make_path_resolver(session, wanted.uri, index).source_folders
    shown = ", ".join(map(make_printable, folders[:4])) + (f" and {len(folders) - 4} more" if len(folders) > 4 else "")
    below = f", nor a file whose path ends like it below {shown}" if folders else ""
    indexed = " No index found." if index is None else ""
    return f"There is no file {make_printable(wanted.path)} on this machine{below}.{indexed} {PATH_RULE_REMEDY}"
