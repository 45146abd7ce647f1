"""Check whether a local binary is the build that a text is about. In another build, an offset is in another function.

A build-id decides. Without a build-id, frames with both a name and an address identify the binary: the named function
must be at the address, in a binary loaded at a page boundary. With offsets alone, two neighbouring frames prove the
same build if the code before the outer frame's address calls the inner frame's function. Several offsets disprove it if
none of them follows a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.model import Language
from framedex.sources.releases.statements import FileReleases, StatedReleases
from framedex.text_stacks.source_lookup.binaries import BinaryAddress, find_symbols_named, shorten_printed_name

if TYPE_CHECKING:
    from framedex.binaries import Binary, BinaryStore, DigestCache
    from framedex.index import Index
    from framedex.text_stacks.model import TextFrame

_PAGE = 4096  # bytes; the smallest page size
_MIN_FRAMES = 3  # a crash within a library has two frames that follow no call: the signal trampoline and its own
_MAX_FRAMES = 64  # maximum per binary


class BuildMatch(Enum):
    """The result of comparing a text with a local binary."""

    SAME = "same"
    OTHER = "other"
    UNKNOWN = "unknown"


class BuildEvidence:
    """Compares local binaries with the frames of one stack; `releases` are the releases stated by the text."""

    def __init__(self, releases: StatedReleases) -> None:
        self._releases = releases
        self._file_releases = FileReleases()
        self._frames: list[TextFrame] = []
        self._modules: frozenset[str] = frozenset()
        self._matches: dict[tuple[str, int], BuildMatch] = {}
        self.others: set[str] = set()
        """The paths of local binaries whose build differs from the text's."""
        self.unproven: set[str] = set()
        """The paths of local binaries that named frames but may be other builds."""
        self.recorded: dict[str, str] = {}
        """The modules whose frames were named from a recorded build, with the current path of each."""

    def set_stack(self, frames: Iterable[TextFrame]) -> None:
        """Use the frames of a stack as the evidence from now on."""
        self._frames = [frame for frame in frames if frame.language is Language.NATIVE]
        self._modules = frozenset(frame.module for frame in self._frames)
        self._matches.clear()

    def match(self, frame: TextFrame, binary: Binary, neighbour: TextFrame | None = None) -> BuildMatch:
        """Return whether a binary is the build of a frame.

        Without a stack, the frame and its `neighbour` are the evidence. A proof also applies to later frames.
        """
        match = self._match(frame, binary, neighbour)
        if match is BuildMatch.OTHER:
            self.others.add(str(binary.path))
        elif match is BuildMatch.UNKNOWN and not frame.function:
            self.unproven.add(str(binary.path))
        return match

    def use_recorded(self, module: str, path: str | None) -> None:
        """Record that the text comes from the build of a stored copy, not from the file at `path`."""
        self.recorded[module] = path or ""

    def _match(self, frame: TextFrame, binary: Binary, neighbour: TextFrame | None) -> BuildMatch:
        if frame.build_id:
            return _match_build_id(frame, binary)
        if _match_name(frame, binary) is BuildMatch.OTHER:
            return BuildMatch.OTHER
        key = str(binary.path), self._releases.count
        if key in self._matches:
            return self._matches[key]
        is_of_stack = frame.module in self._modules
        alone = [frame] if neighbour is None else [neighbour, frame]
        match = self._match_frames(self._frames if is_of_stack else alone, frame.module, binary)
        if match is BuildMatch.SAME or is_of_stack:
            self._matches[key] = match
        return match

    def _match_frames(self, stack: Sequence[TextFrame], module: str, binary: Binary) -> BuildMatch:
        """Return the combined evidence of a stack's frames about one binary."""
        frames = [frame for frame in stack if frame.module == module][:_MAX_FRAMES]
        if self._releases.contradicts(self._file_releases.release_of(str(binary.path))):
            return BuildMatch.OTHER
        found = set(_match_names(frames, binary))
        if len(found) == 1:
            return found.pop()
        if not found and any(_is_called_from(*pair, binary) for pair in _find_neighbours(stack, module)):
            return BuildMatch.SAME
        return BuildMatch.OTHER if not found and _follows_no_call(frames, binary) else BuildMatch.UNKNOWN


def _match_names(frames: Iterable[TextFrame], binary: Binary) -> Iterator[BuildMatch]:
    for frame in frames:
        match = _match_build_id(frame, binary) if frame.build_id else _match_name(frame, binary)
        if match is not None:
            yield match


def _match_build_id(frame: TextFrame, binary: Binary) -> BuildMatch:
    return BuildMatch.SAME if (binary.build_id or "").startswith(frame.build_id) else BuildMatch.OTHER


def _match_name(frame: TextFrame, binary: Binary) -> BuildMatch | None:
    """Return the evidence of a frame with a function and an address; None without both, or without such a symbol."""
    wanted = shorten_printed_name(frame.function)
    if not wanted:
        return None
    if frame.offset is not None:
        from framedex.sources.names import short_name

        symbols = binary.resolve([frame.offset - frame.is_return_address])[0]
        if not symbols:
            return None
        is_same = wanted in {short_name(each.symbol) for each in symbols}
        return BuildMatch.SAME if is_same else BuildMatch.OTHER
    if frame.function_offset is None or not frame.address:
        return None
    starts = [symbol.start for symbol in find_symbols_named(binary, frame.function)]
    if not starts:
        return None
    is_same = any((frame.address - frame.function_offset - start) % _PAGE == 0 for start in starts)
    return BuildMatch.SAME if is_same else BuildMatch.OTHER


def _follows_no_call(frames: Iterable[TextFrame], binary: Binary) -> bool:
    """Whether several unnamed return addresses are in known code, and none of them follows a call."""
    offsets = {frame.offset: frame for frame in frames if frame.offset and not frame.function}
    known = [frame for offset, frame in offsets.items() if binary.code_around(offset - frame.is_return_address)]
    return len(known) >= _MIN_FRAMES and not any(_return_address(frame, binary) for frame in known)


def _find_neighbours(stack: Sequence[TextFrame], module: str) -> Iterator[tuple[TextFrame, TextFrame]]:
    """Yield the first pairs whose second frame is in the binary, in both orders: stacks are printed either way."""
    pairs = (pair for first, second in pairwise(stack) for pair in ((first, second), (second, first)))
    yield from islice((pair for pair in pairs if pair[1].module == module), _MAX_FRAMES)


def _is_called_from(inner: TextFrame, outer: TextFrame, binary: Binary) -> bool:
    """Whether the code before the outer frame's address calls the inner frame's function."""
    returns_to = _return_address(outer, binary)
    code = binary.code_around(returns_to - 1) if returns_to else None
    target = next((call.target for call in code.calls if call.return_address == returns_to), 0) if code else 0
    name = shorten_printed_name(binary.function_at(target)) if target else ""
    if not name or inner.function:
        return bool(name) and name == shorten_printed_name(inner.function)
    if inner.module != outer.module or inner.offset is None:
        return False
    called = binary.resolve([inner.offset - inner.is_return_address])[0]
    return bool(called) and binary.function_at(target) == called[-1].symbol


def _return_address(frame: TextFrame, binary: Binary) -> int:
    """Return the address after the call at a frame's offset; 0 if there is no call."""
    if frame.offset is None:
        return 0
    symbols = binary.resolve([frame.offset - frame.is_return_address])[0]
    found = BinaryAddress(binary, frame.offset, symbols).find_return_address(frame.is_return_address) if symbols else 0
    return found if found == frame.offset or not frame.is_return_address else 0


class RecordedBuilds:
    """Finds the copies recorded by an index. Each content is compared once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._found: dict[tuple[str, str, str], tuple[str, ...]] = {}

    @cached_property
    def _stored_binaries(self) -> BinaryStore:
        from framedex.binaries import BinaryStore

        return BinaryStore()

    @cached_property
    def _contents(self) -> DigestCache:
        from framedex.binaries import DigestCache

        return DigestCache()

    def find_copies(self, frame: TextFrame, path: str | None) -> tuple[str, ...]:
        """Return the copies of builds with a frame's build-id, or recorded at its module's path, latest first.

        `path` is the current path of the binary. A build that is still there has no copy in the result.
        """
        key = frame.module, frame.build_id, path or ""
        if key not in self._found:
            self._found[key] = tuple(self._search_copies(*key)) if frame.module or frame.build_id else ()
        return self._found[key]

    def _search_copies(self, module: str, build_id: str, path: str) -> list[str]:
        paths = list(filter(None, dict.fromkeys((module, path))))
        digests = list(dict.fromkeys(self._index.names.build_digests(paths, build_id)))
        copies = [(digest, copy) for digest in digests if (copy := self._stored_binaries.find(digest)) is not None]
        present = self._contents.compute_digest(Path(path)) if copies and path else ""
        return [
            str(copy) for digest, copy in copies if digest != present and self._contents.compute_digest(copy) == digest
        ]


def read_modification_time(path: str) -> float:
    """Return the modification time of a file, in seconds of Unix time; 0 if unavailable."""
    try:
        return Path(path).stat().st_mtime
    except (OSError, ValueError):
        return 0.0
