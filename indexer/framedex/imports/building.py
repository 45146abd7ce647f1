"""Builds a capture from an imported profile: distinct frames, stacks and threads, and a row for each sample.

Rows are written to a temporary file, so memory grows only with distinct stacks. All limits on files are enforced here.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from tempfile import TemporaryFile, gettempdir

import numpy as np
import numpy.typing as npt

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.imports.values import WeightRules
from framedex.model import ImportedFrame, Language, Module, NativeFrame, Stack, Thread

MAX_FRAMES = 4_000_000
MAX_STACK_FRAMES = 20_000_000
"""Frames in all distinct stacks together. Without shared prefixes each takes 400 bytes while the index is written."""
MAX_ROWS = 100_000_000
MAX_WEIGHT = 1 << 53
"""The total weight of all samples, so that no sum overflows 64 bits."""
MAX_STACK_DEPTH = 10_000
"""The innermost frames of a stack that are kept."""
MAX_NAME_LENGTH = 1 << 16

_MODULE = "<module>"
_COLUMNS = 5  # kind, start, duration, calls, argument
_ROWS_PER_WRITE = 1 << 16  # rows per write


class SampleRows:
    """Stores samples as rows of integers: kind, start in ns, duration in ns, calls, and argument."""

    def __init__(self) -> None:
        # The file lives as long as this object. A buffered file would raise again in its destructor.
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115
        self._pending = array("q")
        self._count = 0

    def add(self, *row: int) -> None:
        """Add a row. Raises ValueError if there are too many rows, and FramedexError if the disk is full."""
        if self._count >= MAX_ROWS:
            raise ValueError(f"it has more than {MAX_ROWS:,} samples")
        self._count += 1
        self._pending.extend(row)
        if len(self._pending) >= _ROWS_PER_WRITE * _COLUMNS:
            self._write()

    def table(self) -> npt.NDArray[np.int64]:
        """Return all rows, ordered by start and backed by the file. Raises FramedexError as `add` does."""
        self._write()
        if not self._count:
            return np.zeros((0, _COLUMNS), np.int64)
        table = np.memmap(self._file, np.int64, "r+", shape=(self._count, _COLUMNS))
        start = table[:, 1]
        if np.any(start[1:] < start[:-1]):
            order = np.argsort(start, kind="stable")
            for column in range(_COLUMNS):  # one at a time, so that memory holds a copy of one column only
                table[:, column] = table[:, column][order]
        return table

    def _write(self) -> None:
        try:
            left = self._pending.tobytes()
            while left:  # a full disk shortens a write before it fails the next one
                left = left[self._file.write(left) :]
        except OSError as error:
            raise FramedexError(
                f"The temporary file of the import in {gettempdir()} could not be written: {error.strerror}.",
                "Set TMPDIR to a folder with more room.",
            ) from error
        self._pending = array("q")


class ProfileBuilder:
    """Collects the frames, stacks, threads and samples of a profile. Raises ValueError if there are too many.

    `wanted` is the name of the value to use as the weight; None for the default of the format.
    """

    def __init__(self, wanted: str | None = None) -> None:
        self.wanted = wanted
        self.started_unix_ns: int | None = None
        self.weighing: WeightRules | None = None
        self.modules: list[Module] = []
        self.other_values: set[str] = set()
        """Names of the nonzero values in samples whose chosen value is zero."""
        self._rows = SampleRows()
        self.weight = 0
        self._left_out: Counter[tuple[str, str]] = Counter()
        self._frames: dict[NativeFrame | ImportedFrame, int] = {}
        self._stacks: dict[tuple[int, ...], int] = {}
        self._cut: set[int] = set()
        self._in_stacks = 0
        self._threads: dict[Thread, int] = {}
        self._kinds: dict[tuple[int, int], int] = {}
        self._arguments: dict[str, int] = {"{}": 0}

    def add_frame(self, frame: NativeFrame | ImportedFrame) -> int:
        """Return the number of a frame, adding it if new."""
        found = self._frames.get(frame)
        if found is None:
            if len(self._frames) >= MAX_FRAMES:
                raise ValueError(f"it has more than {MAX_FRAMES:,} frames")
            if isinstance(frame, ImportedFrame):
                _check_names(frame.function, frame.file, frame.module)
            found = self._frames[frame] = len(self._frames)
        return found

    def add_thread(self, tid: int = 0, name: str = "") -> int:
        """Return the number of a thread, adding it if new."""
        _check_names(name)
        thread = Thread(tid if 0 <= tid < 1 << 63 else 0, name)
        return self._threads.setdefault(thread, len(self._threads))

    def set_weight_rules(self, weighing: WeightRules) -> None:
        """Set the values and the weight of the next samples."""
        self.weighing = weighing

    def add_sample(
        self,
        frames: Sequence[int],
        thread: int,
        values: Sequence[int],
        labels: Mapping[str, object] | None = None,
        start: int = 0,
    ) -> None:
        """Add a sample, with its stack as numbers of frames, innermost first, and its values in the profile's order.

        `labels` become arguments; `start` is in ns. Samples with zero or negative weight are left out. Profiles of
        differences have negative weights.
        """
        assert self.weighing is not None
        calls, duration = self.weighing.weight(values)
        if calls < 0 or duration < 0:
            self.count_skipped("sample", "with a negative value, as in a profile of differences")
        if calls <= 0 or duration < 0:
            self.other_values.update(name for name, value in zip(self.weighing.names, values, strict=True) if value > 0)
            return
        if not frames:
            self.count_skipped("sample", "without a stack")
            return
        self.weight += calls + duration
        if self.weight > MAX_WEIGHT:
            raise ValueError(f"its values add up to more than {MAX_WEIGHT:,}")
        arguments = {**self.weighing.unweighted(values), **(labels or {})}
        text = json.dumps(arguments) if arguments else "{}"
        argument = self._arguments.setdefault(text, len(self._arguments))
        kind = self._kinds.setdefault((self._add_stack(frames), thread), len(self._kinds))
        self._rows.add(kind, min(max(start, 0), 1 << 62), duration, calls, argument)

    def _add_stack(self, frames: Sequence[int]) -> int:
        """Return the number of a stack, adding it if new."""
        kept = tuple(frames[:MAX_STACK_DEPTH])
        found = self._stacks.get(kept)
        if found is None:
            self._in_stacks += len(kept)
            if self._in_stacks > MAX_STACK_FRAMES:
                raise ValueError(f"its stacks have more than {MAX_STACK_FRAMES:,} frames")
            found = self._stacks[kept] = len(self._stacks)
        if len(frames) > MAX_STACK_DEPTH:
            self._cut.add(found)
        return found

    def table(self) -> npt.NDArray[np.int64]:
        """The samples as rows of integers, ordered by start: see `SampleRows`."""
        return self._rows.table()

    def count_skipped(self, noun: str, reason: str) -> None:
        """Count a skipped item for `problems`, which says "Left out: 3 samples with a negative value."."""
        self._left_out[noun, reason] += 1

    @property
    def problems(self) -> tuple[str, ...]:
        """The skipped items, as sentences."""
        return tuple(f"Left out: {words.count(count, noun)} {why}." for (noun, why), count in self._left_out.items())

    @property
    def frames(self) -> tuple[NativeFrame | ImportedFrame, ...]:
        """The frames, ordered by number. A file with a `<module>` frame is Python, even with another suffix."""
        scripts = {
            frame.file for frame in self._frames if isinstance(frame, ImportedFrame) and frame.function == _MODULE
        }
        return tuple(
            replace(frame, language=Language.PYTHON)
            if isinstance(frame, ImportedFrame) and frame.file and frame.file in scripts
            else frame
            for frame in self._frames
        )

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """The stacks, ordered by number."""
        return tuple(Stack(frames, is_truncated=number in self._cut) for frames, number in self._stacks.items())

    @property
    def threads(self) -> tuple[Thread, ...]:
        """The threads, ordered by number."""
        return tuple(self._threads)

    @property
    def kinds(self) -> tuple[tuple[int, int], ...]:
        """The stack and thread of each kind of sample."""
        return tuple(self._kinds)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of samples as JSON, ordered by number."""
        return tuple(self._arguments)


def _check_names(*names: str) -> None:
    if max(map(len, names)) > MAX_NAME_LENGTH:
        raise ValueError(f"a name in it has more than {MAX_NAME_LENGTH:,} characters")
