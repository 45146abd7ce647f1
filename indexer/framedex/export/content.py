"""The exported data of an index: captures, threads, calls, stacks of shared steps, and call events in time order.

A stack is a sequence of step numbers, outermost first. A step is a recorded frame with its id, or a synthetic step with
a negative number: the boundary function, or a note on the stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from framedex.export.formats import Weight
from framedex.model import CallFilter, FrameRole, Language, Metadata

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.index.ask.call.exported import ExportedCalls
    from framedex.model import BinaryId, CaptureRow, DeviceMemory, FrameRow, PythonLine
    from framedex.model.totals import KindRow, ThreadRow


UNMERGED = "[native stack that could not be merged with the Python stack above]"
TRUNCATED = "[the outermost frames are missing]"


@dataclass(frozen=True, slots=True)
class ExportedFrame:
    """A step of a stack: a function and a line in it.

    `path` and `line` are empty and 0 if unknown. `module` is the binary of native code. `offset` is the call's offset
    from
    the base of the binary: the return address minus one. `first_line` is the function's first line, in `defined_in`.
    `url`
    is the public URL of the line, for files that are not here. `is_code` is false for interpreter and glue frames.
    """

    name: str
    path: str = ""
    line: int = 0
    url: str | None = None
    symbol: str = ""
    module: str = ""
    offset: int = 0
    defined_in: str = ""
    first_line: int = 0
    is_python: bool = False
    is_code: bool = True
    is_inlined: bool = False
    how: str = ""


class ExportContent:
    """The calls of an index that pass a filter, for one export."""

    def __init__(self, index: Index, wanted: CallFilter) -> None:
        self.index = index
        self.wanted = wanted
        self.calls: ExportedCalls = index.calls_to_export(wanted)
        self._steps: dict[int, ExportedFrame] = {}
        self._special: dict[str, int] = {}
        self._other_lines: dict[int, PythonLine | None] = {}

    @cached_property
    def has_calls(self) -> bool:
        """Whether any call passes the filter."""
        return next(self.calls.rows(), None) is not None

    @property
    def default_weight(self) -> Weight:
        """The weight of samples: time, or calls if no call took time, as in profiles that count samples."""
        return Weight.TIME if self.calls.has_durations else Weight.CALLS

    @cached_property
    def captures(self) -> list[CaptureRow]:
        """The captures with exported calls, oldest first."""
        having = {kind.capture for kind in self.calls.kinds.values()}
        return [capture for capture in self.index.captures() if capture.id in having]

    @cached_property
    def metadata(self) -> dict[int, Metadata]:
        """The metadata of each capture, by its id."""
        return {capture.id: _parse_metadata(capture) for capture in self.captures}

    def start_unix_ns(self, capture: int) -> int:
        """Return the start of a capture, in ns since the Unix epoch."""
        recorded = self.metadata[capture].started_unix_ns
        return (
            recorded
            if recorded is not None
            else next(int(each.started * 1e9) for each in self.captures if each.id == capture)
        )

    @cached_property
    def memory(self) -> list[DeviceMemory]:
        """The device memory of these captures over time."""
        return [device for device in self.index.memory() if device.capture in self.metadata]

    def kind(self, kind: int) -> KindRow:
        """Return a kind of calls by its id."""
        return self.calls.kinds[kind]

    def thread(self, thread: int) -> ThreadRow:
        """Return a thread by its id."""
        return self.calls.threads[thread]

    def steps(self, kind: KindRow) -> tuple[int, ...]:
        """Return the steps of the stack of a kind, outermost first; the last is the boundary function."""
        stack = self.calls.stacks[kind.stack]
        steps = [*self.chain(stack.python_leaf), *([self._special_step(UNMERGED)] if stack.python_leaf else [])]
        steps += self.chain(stack.leaf)
        if stack.is_truncated:
            steps.insert(0, self._special_step(TRUNCATED))
        if not steps or self.step(steps[-1]).name != kind.function:
            steps.append(self._special_step(kind.function))
        return tuple(steps)

    def step(self, number: int) -> ExportedFrame:
        """Return a step by its number."""
        if number not in self._steps:
            self._steps[number] = _build_step(self.calls.frames([number])[number])
        return self._steps[number]

    def binary(self, number: int) -> BinaryId | None:
        """Return the binary of a native step, else None."""
        return self._binaries.get(number)

    def line(self, kind: KindRow) -> PythonLine | None:
        """Return the Python line that led to the calls of a kind: the innermost of the program, else the innermost."""
        return self._lines.get(self.calls.stacks[kind.stack].python_end)

    def line_of_node(self, node: int) -> PythonLine | None:
        """Return the Python line that led to a stack, given by its last node."""
        if node not in self._other_lines:
            self._other_lines[node] = self.calls.lines([node]).get(node)
        return self._other_lines[node]

    def chain(self, leaf: int) -> list[int]:
        """Return the frames from the root of the tree to a node, outermost first; empty for node 0."""
        found: list[int] = []
        while leaf:
            if leaf not in self._nodes:
                self._nodes.update(self.calls.nodes([leaf]))
            leaf, frame = self._nodes[leaf]
            found.append(frame)
        return found[::-1]

    @cached_property
    def _lines(self) -> dict[int, PythonLine]:
        return self.calls.lines({stack.python_end for stack in self.calls.stacks.values()})

    @cached_property
    def _binaries(self) -> dict[int, BinaryId]:
        return self.calls.binaries(frame for _, frame in self._nodes.values())

    @cached_property
    def _nodes(self) -> dict[int, tuple[int, int]]:
        """The nodes of all stacks. Their frames are loaded too, in one batch, because there are many."""
        stacks = self.calls.stacks.values()
        nodes = self.calls.nodes({leaf for stack in stacks for leaf in (stack.leaf, stack.python_leaf)})
        frames = self.calls.frames({frame for _, frame in nodes.values()})
        self._steps.update((number, _build_step(frame)) for number, frame in frames.items())
        return nodes

    def _special_step(self, text: str) -> int:
        if text not in self._special:
            number = self._special[text] = -1 - len(self._special)
            self._steps[number] = ExportedFrame(text)
        return self._special[text]


def _parse_metadata(capture: CaptureRow) -> Metadata:
    try:
        return Metadata.parse(capture.metadata_text)
    except ValueError:
        return Metadata()


def _build_step(frame: FrameRow) -> ExportedFrame:
    function, location = frame.function, frame.location
    is_python = function.language is Language.PYTHON
    source_position = (function.module, frame.line) if is_python else ("", 0)  # Python without a file: `<string>`
    path, line = source_position if location is None else (location.path, location.line)
    return ExportedFrame(
        name=function.name,
        path=path,
        line=line,
        url=None if location is None else location.url,
        symbol=function.symbol,
        module="" if is_python else frame.module,
        offset=0 if is_python else max(frame.offset - 1, 0),
        defined_in="" if function.location is None else function.location.path,
        first_line=0 if function.location is None else function.location.line,
        is_python=is_python,
        is_code=function.role is FrameRole.CODE,
        is_inlined=frame.inlined,
        how="" if location is None else location.how.value,
    )


_BATCH_CALLS = 5_000  # calls per batch

_NEVER_ENDED = 1 << 63  # end of a call that had not returned when the recording ended


@dataclass(frozen=True, slots=True)
class CallBegin:
    """The beginning of a call; `time` is in ns since its capture began, `arguments` are JSON."""

    call: int
    kind: KindRow
    time: int
    arguments: str


@dataclass(frozen=True, slots=True)
class CallEnd:
    """The end of the innermost running call of a thread."""

    thread: int
    time: int


def read_events(calls: ExportedCalls) -> Iterator[CallBegin | CallEnd]:
    """Yield the begin and end events of calls, ordered and properly nested within each thread.

    A call that had not returned has no end. A nested call ends no later than its parent, even if the clocks disagree.
    """
    open_calls: dict[int, list[tuple[int, int]]] = {}  # by thread: running calls with their ends
    rows = calls.rows()
    while batch := list(islice(rows, _BATCH_CALLS)):
        texts = calls.argument_texts(arguments for *_, arguments in batch)
        for call, number, parent, start, duration, arguments in batch:
            kind = calls.kinds[number]
            running_calls = open_calls.setdefault(kind.thread, [])
            while running_calls and running_calls[-1][0] != parent and running_calls[-1][1] <= start:
                yield CallEnd(kind.thread, running_calls.pop()[1])
            end = start + duration if duration >= 0 else _NEVER_ENDED
            running_calls.append((call, min(end, running_calls[-1][1]) if running_calls else end))
            yield CallBegin(call, kind, start, texts[arguments])
    for thread, running_calls in open_calls.items():
        for _, end in reversed(running_calls):
            if end != _NEVER_ENDED:
                yield CallEnd(thread, end)
