"""The rows of a store for stacks and frames, with ids that are equal on all hosts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from framedex.fleet.identities import compute_frame_ids, compute_stack_id, hash_values
from framedex.index.file.paths import is_framedex_hook, is_installed
from framedex.index.file.values import to_signed, to_storable
from framedex.model import Language

if TYPE_CHECKING:
    from framedex.index.write.records import FrameRecord
    from framedex.model import Capture

Row = dict[str, Any]


class StackTables:
    """The stacks and frames of a capture as rows. `ids` has the id of each of its stacks."""

    def __init__(self, capture: Capture, named: Sequence[tuple[FrameRecord, ...]]) -> None:
        self._named = named
        self._frame_ids = compute_frame_ids(capture)
        self._capture = capture
        self._chains = [
            (
                [self._frame_ids[frame] for frame in reversed(stack.frames)],
                [self._frame_ids[frame] for frame in reversed(stack.python)],
            )
            for stack in capture.stacks
        ]
        stacks = zip(capture.stacks, self._chains, strict=True)
        self.ids = [compute_stack_id(stack, *chains) for stack, chains in stacks]

    def stacks(self, used: Collection[str]) -> dict[str, Row]:
        """Return the rows of the stacks with these ids, by id."""
        return {
            key: {
                "id": key,
                "frames": frames,
                "python": python,
                "user_frame": self._user_frame(stack.python or stack.frames),
                "outcome": stack.outcome.value,
                "is_truncated": stack.is_truncated,
            }
            for key, stack, (frames, python) in zip(self.ids, self._capture.stacks, self._chains, strict=True)
            if key in used
        }

    def frames(self, used: Collection[str]) -> dict[str, list[Row]]:
        """Return the rows of each frame of these stacks, by the hash of the rows."""
        found = {}
        chains = (chain for key, chain in zip(self.ids, self._chains, strict=True) if key in used)
        of_stacks = {frame for chain, python in chains for frame in (*chain, *python)}
        for key, records in zip(self._frame_ids, self._named, strict=True):
            if key not in of_stacks:
                continue
            rows = [_build_frame_row(depth, record) for depth, record in enumerate(records)]
            description = hash_values(key, *rows)
            known = sum((row["symbol"] != "") + 2 * (row["line"] > 0) for row in rows)
            found[description] = [{"id": key, **row, "known": known, "description": description} for row in rows]
        return found

    def _user_frame(self, frames: Sequence[int]) -> str | None:
        """Return the innermost Python frame of the program itself, else the innermost one of a package.

        `frames` are innermost first.
        """
        installed = None
        for frame, path in self._iter_python_frames(frames):
            if not is_installed(path):
                return self._frame_ids[frame]
            installed = installed or self._frame_ids[frame]
        return installed

    def _iter_python_frames(self, frames: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Yield the Python frames with a source line, each with its file."""
        for frame in frames:
            location = self._named[frame][0].location
            is_python = self._named[frame][0].function.language is Language.PYTHON
            if is_python and location is not None and not is_framedex_hook(location.path):
                yield frame, location.path


def _build_frame_row(depth: int, record: FrameRecord) -> Row:
    function, place, binary = record.function, record.location or record.stored_location, record.module
    return {
        "depth": depth,
        "language": function.language.value,
        "role": function.role.value,
        "function": to_storable(function.name),
        "symbol": to_storable(function.symbol),
        "path": None if place is None else to_storable(place.path),
        "line": record.line if place is None else place.line,
        "how": None if place is None else place.how.value,
        "module": to_storable(function.module if binary is None else binary.path),
        "build_id": "" if binary is None else binary.build_id,
        "fingerprint": "" if binary is None else binary.fingerprint,
        "offset": to_signed(record.offset),
        "first_line": function.first_line,
        "is_returning": record.is_returning,
    }
