"""Reads the traced frames of ops from the HLO module in a profile (XLA, hlo.proto)."""

from __future__ import annotations

from collections.abc import Iterator

from framedex.imports.names import told_frame
from framedex.imports.wire import Message
from framedex.model import ToldFrame

_MODULE = 1  # of HloProto
_COMPUTATIONS, _INDEX = 3, 17  # of the module
_FILE, _LINE, _STACK_FRAME = 3, 4, 15  # of an op's metadata
_DEEPEST = 1000


def op_frames(proto: bytes) -> Iterator[tuple[str, list[ToldFrame]]]:
    """The ops by name, with the frames that traced them, innermost first. Ops without frames are left out."""
    module = Message(Message(proto).content(_MODULE))
    frames = _Frames(Message(module.content(_INDEX)))
    for computation in map(Message, module.contents(_COMPUTATIONS)):
        for op in map(Message, computation.contents(2)):
            metadata = Message(op.content(7))
            found = frames.at(metadata.integer(_STACK_FRAME))
            if not found and metadata.text(_FILE):
                found = [told_frame(metadata.text(2) or op.text(1), metadata.text(_FILE), metadata.integer(_LINE))]
            if found:
                yield op.text(1), found


class _Frames:
    """The stack frames of a module. Ids start at 1; 0 means no frame."""

    def __init__(self, index: Message) -> None:
        self._files = [each.decode("utf-8", "replace") for each in index.contents(1)]
        self._functions = [each.decode("utf-8", "replace") for each in index.contents(2)]
        self._locations = list(map(Message, index.contents(3)))
        self._frames = list(map(Message, index.contents(4)))
        self._known: dict[int, list[ToldFrame]] = {}

    def at(self, identifier: int) -> list[ToldFrame]:
        """Return a frame and its callers, innermost first. A cycle ends the list."""
        if identifier not in self._known:
            found: list[ToldFrame] = []
            seen: set[int] = set()
            at = identifier
            while 0 < at <= len(self._frames) and at not in seen and len(found) < _DEEPEST:
                seen.add(at)
                frame = self._frames[at - 1]
                found += self._placed(frame.integer(1))
                at = frame.integer(2)
            self._known[identifier] = found
        return self._known[identifier]

    def _placed(self, identifier: int) -> list[ToldFrame]:
        if not 0 < identifier <= len(self._locations):
            return []
        location = self._locations[identifier - 1]
        file, function = location.integer(1), location.integer(2)
        if not 0 < file <= len(self._files) or not 0 < function <= len(self._functions):
            return []
        return [told_frame(self._functions[function - 1], self._files[file - 1], location.integer(3))]
