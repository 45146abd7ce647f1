"""Notes of `framedex resolve`: the sources of a log line's frames, unless the line already shows them."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from framedex.base.lazy import TextCache
from framedex.commands.output.terminal import Line, Span, Terminal, paint, render_location_line, source_is_here
from framedex.model import Location, LocationEvidence
from framedex.sources.releases.statements import StatedReleases
from framedex.text_stacks.model import PartKind, StackFormat, TextFrame
from framedex.text_stacks.source_lookup.frame_context import is_inlined_in

if TYPE_CHECKING:
    from framedex.text_stacks.source_lookup.frame_context import FoundFrame

_MAX_FRAMES = 16  # frames of one line
_MAX_CANDIDATES = 3

# VS Code and JetBrains detect these formats themselves, and get no other links: see `Terminal`.
_FILE_LINES = frozenset({StackFormat.PYTHON, StackFormat.FAULTHANDLER, StackFormat.PYSTACK})


class KnownSources(Protocol):
    """The sources that a note can show."""

    def names(self) -> Sequence[str] | None:
        """All names with a source, if they changed since the last call; otherwise None."""

    def is_unresolvable(self, path: str) -> bool:
        """Whether a path has neither a matching file nor a public address."""


class SourceNotes:
    """Notes on frames for a terminal, in an encoding; `find` finds their sources.

    A note is ` → /path/file.cc:12 [definition]`: the location, a link if the terminal supports it, and a label unless
    the location is exact. For any log and any index, a note has only visible characters and our own links.
    """

    def __init__(
        self,
        find: Callable[[TextFrame, TextFrame | None], FoundFrame],
        terminal: Terminal,
        encoding: str,
        releases: StatedReleases | None = None,
        known: KnownSources | None = None,
    ) -> None:
        """`releases` are the releases stated in the log so far, on which locations depend.

        `known` are the sources of `find`.
        """
        self._known = known
        self._find = find
        self._releases = releases or StatedReleases()
        self._terminal = terminal
        self._encoding = encoding
        self._arrow = " → " if _is_encodable("→", encoding) else " -> "
        self._texts: TextCache[Hashable, str] = TextCache()

    def cached_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes | None:
        """The note on the frames of a line if it is cached; otherwise None.

        `callee_frame` is the callee of the first frame, if the log has it.
        """
        texts = [self._texts.get(self._cache_key(*each)) for each in _pair_with_callees(frames, callee_frame)]
        return None if None in texts else self._format_note([text for text in texts if text])

    def find_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes:
        """The note on the frames of a line, as in `cached_note`; empty if there is nothing to add."""
        texts = [self._make_note(*each) for each in _pair_with_callees(frames, callee_frame)]
        return self._format_note([text for text in texts if text])

    def may_have_note(self, frame: TextFrame) -> bool:
        """Whether a frame has enough data for a search: more than an address."""
        return _is_searchable(frame)

    def depends_on_name(self, frame: TextFrame) -> bool:
        """Whether a frame can be found only by its path or function name, because it has no offset in a binary."""
        is_in_binary = frame.offset is not None or frame.function_offset is not None
        return self._known is not None and not is_in_binary and frame.format is not StackFormat.PY_SPY

    def is_unresolvable(self, path: str) -> bool:
        """Whether a path has neither a matching file nor a public address."""
        return self._known is not None and self._known.is_unresolvable(path)

    def names(self) -> Sequence[str] | None:
        """All names with a source, if they changed since the last call; otherwise None."""
        return self._known.names() if self._known is not None else None

    def _make_note(self, frame: TextFrame, callee_frame: TextFrame | None) -> str:
        length = len(frame.function) + len(frame.module) + (len(frame.place.path) if frame.place else 0)
        return self._texts.get_or_make(
            self._cache_key(frame, callee_frame),
            length,
            lambda: paint(self._format_location(self._find(frame, callee_frame)), self._terminal),
        )

    def _cache_key(self, frame: TextFrame, callee_frame: TextFrame | None) -> Hashable:
        is_inlined = callee_frame is not None and is_inlined_in(callee_frame, frame)
        callee = (
            (_build_note_key(callee_frame), is_inlined) if callee_frame is not None and frame.place is None else None
        )
        return self._releases.count, _build_note_key(frame), callee

    def _format_location(self, found: FoundFrame) -> Line:
        shows_file = _shows_file(found)
        if shows_file and (_shows_path_and_line(found.frame) or self._is_linked_by_editor(found.frame)):
            return ()
        places = [place for place in (found.location, *found.candidates) if place and _can_be_opened(place)]
        if shows_file and self._terminal.links:
            name = Span(f"{os.path.basename(places[0].path)}:{places[0].line}", "place", places[0])  # noqa: PTH119
            return (name,)
        return _render_alternative_spans(places, found.conjunction)

    def _is_linked_by_editor(self, frame: TextFrame) -> bool:
        return frame.format in _FILE_LINES and not self._terminal.links

    def _format_note(self, texts: Sequence[str]) -> bytes:
        if not texts:
            return b""
        return (self._arrow + ", ".join(dict.fromkeys(texts))).encode(self._encoding, "backslashreplace")


def _is_encodable(character: str, encoding: str) -> bool:
    try:
        return bool(character.encode(encoding))
    except UnicodeEncodeError:
        return False


def _pair_with_callees(
    frames: Sequence[TextFrame], callee_frame: TextFrame | None
) -> Iterator[tuple[TextFrame, TextFrame | None]]:
    """The first frames of a line that can be searched, each with its callee."""
    for frame in frames[:_MAX_FRAMES]:
        if _is_searchable(frame):
            yield frame, callee_frame
        callee_frame = None


def _is_searchable(frame: TextFrame) -> bool:
    """Whether a frame has enough data for a search: more than an address."""
    return bool(frame.function or (frame.place and frame.place.line) or frame.offset is not None)


def _build_note_key(frame: TextFrame) -> Hashable:
    """The parts of a frame that determine its note."""
    return (
        frame.format,
        frame.function,
        frame.place,
        frame.language,
        frame.module,
        frame.offset,
        frame.function_offset,
        frame.build_id,
        frame.is_return_address,
        frame.labels if frame.format is StackFormat.TRACE else (),
        _shows_path_and_line(frame),
    )


def _shows_path_and_line(frame: TextFrame) -> bool:
    """Whether the text of a frame has `path:line`, which terminals and editors detect."""
    path = next((part for part in frame.parts if part.kind is PartKind.PATH), None)
    line = next((part for part in frame.parts if part.kind is PartKind.LINE), None)
    return path is not None and line is not None and (line.line, line.start) == (path.line, path.end + 1)


def _shows_file(found: FoundFrame) -> bool:
    """Whether the path in the text leads from the working folder to the file that was found, with the same line."""
    place, location = found.frame.place, found.location
    if place is None or location is None or found.candidates or place.line != location.line:
        return False
    if location.how is LocationEvidence.DOUBTFUL or location.how is LocationEvidence.FOLLOWED:
        return False
    try:
        return source_is_here(location) and os.path.realpath(place.path) == os.path.realpath(location.path)
    except (FileNotFoundError, ValueError):
        # The path is relative to a deleted working folder, or invalid.
        return False


def _can_be_opened(location: Location) -> bool:
    return location.url is not None or source_is_here(location)


def _render_alternative_spans(locations: Sequence[Location], conjunction: str) -> Line:
    """The candidate locations, joined by a conjunction, with the labels only after the last one."""
    shown = locations[:_MAX_CANDIDATES]
    if not shown:
        return ()
    alternatives = chain.from_iterable(
        (*render_location_line(place, []), Span(f" {conjunction} ")) for place in shown[:-1]
    )
    more = len(locations) - len(shown)
    return (*alternatives, *render_location_line(shown[-1]), *((Span(f" and {more} more"),) if more else ()))
