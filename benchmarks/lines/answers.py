"""Answers of framedex about calls, from the stripped library and the sources of a user."""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.binaries import SourceTrees
from benchmarks.lines.calls import Call
from benchmarks.lines.libraries import Build
from framedex.binaries import Binary
from framedex.model import LocationEvidence
from framedex.sources import match_symbol, short_name
from framedex.sources.bodies import FunctionBodies, find_calls_in_file
from framedex.sources.frame_lines import FrameLines

NO_LINE = ("no definition", "several definitions", "class only", "call not found")
"""Reasons for no line; values of `Answer.label`."""

_OPERATOR = re.compile(r"\boperator\W")


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for a call: a label (`LocationEvidence` or one of `NO_LINE`), the file, and lines, likeliest first.

    A range has its first and its last line. `seconds` is the processor time of the answer.
    """

    build: Build
    call: Call
    caller: str
    label: str
    path: str
    lines: Sequence[int]
    seconds: float = 0.0

    @property
    def has_line(self) -> bool:
        """Whether the answer has a line, not only a range of lines."""
        return bool(self.lines) and not self.is_range

    @property
    def is_range(self) -> bool:
        """Whether the answer is a range of lines."""
        return self.label == LocationEvidence.BETWEEN

    @property
    def is_holding(self) -> bool:
        """Whether the answer is a range with the line of the call in it."""
        return self.is_range and self.path == self.call.path and self.lines[0] <= self.call.line <= self.lines[-1]

    @property
    def is_right(self) -> bool:
        """Whether the first line is that of the call."""
        return self.has_line and self.path == self.call.path and self.lines[0] == self.call.line

    @property
    def has_truth(self) -> bool:
        """Whether one of the lines is that of the call."""
        return self.path == self.call.path and self.call.line in self.lines

    @property
    def outcome(self) -> str:
        """right, among or wrong; for a range holds or misses; or the reason for a missing line."""
        if self.is_range:
            return "holds" if self.is_holding else "misses"
        if not self.has_line:
            return self.label
        return "right" if self.is_right else "among" if self.has_truth else "wrong"

    @property
    def cause(self) -> str:
        """The kind of the callee, by its name and by the kind of call."""
        name = self.call.callee
        own = name.partition("(")[0]
        kind = (
            "destructor"
            if "::~" in name
            else "operator"
            if _OPERATOR.search(own)
            else "lambda"
            if "{lambda" in name or "$_" in name
            else "std::"
            if re.match(r"(?:\w[\w:<>, ]* )?std::", name) or name.startswith("__")
            else "constructor"
            if re.search(r"\b(\w+)(?:<.*>)?::\1$", own)
            else "function"
        )
        inlined = ", inlined" if self.call.is_inlined else ""
        return f"{kind}, {self.call.kind}{inlined}"


class LibrarySources:
    """Parsed sources of a library, shared by all of its builds."""

    def __init__(self, sources: Path) -> None:
        self._trees = SourceTrees([sources.resolve()])
        self._bodies = FunctionBodies(
            self._trees.definitions, lambda path: find_calls_in_file(path, self._trees.definitions_in(path))
        )
        gc.collect()
        gc.freeze()  # the definitions of users are in an index, where garbage collection does not traverse them

    def answers(self, build: Build, calls: Iterable[Call]) -> Iterator[Answer]:
        """The answer about each call, with its processor time after the library's symbols are read."""
        binary = Binary.open(build.stripped)
        assert binary.symbols is not None
        lines = FrameLines()
        for call in calls:
            began = time.process_time()
            answer = self._answer(build, call, binary, lines)
            yield replace(answer, seconds=time.process_time() - began)

    def _answer(self, build: Build, call: Call, binary: Binary, lines: FrameLines) -> Answer:
        (frames,) = binary.resolve([call.returns_to - 1])
        if not frames:
            return Answer(build, call, "", NO_LINE[0], "", ())
        symbol = frames[-1]
        how, found = match_symbol(
            symbol, self._trees.definitions(short_name(symbol.symbol)), classes_named=self._trees.classes_named
        )
        if how not in (LocationEvidence.DEFINITION, LocationEvidence.CANDIDATES) or found[0][1].end_line <= 0:
            label = {None: NO_LINE[0], LocationEvidence.CLASS: NO_LINE[2]}.get(how, NO_LINE[1])
            return Answer(build, call, symbol.symbol, label, found[0][0] if found else "", ())
        definitions = [(path, (each.line, each.end_line)) for path, each in found]
        is_certain = how is LocationEvidence.DEFINITION
        places = lines.find_locations(definitions, self._bodies, binary, call.returns_to, [call.callee], is_certain)
        if not places:
            label = NO_LINE[3] if how is LocationEvidence.DEFINITION else NO_LINE[1]
            return Answer(build, call, symbol.symbol, label, found[0][0], ())
        of_file = tuple(place.line for place in places if place.path == places[0].path)
        if places[0].last_line is not None:
            of_file = (places[0].line, places[0].last_line)
        return Answer(build, call, symbol.symbol, str(places[0].how), places[0].path, of_file)


@dataclass(frozen=True, slots=True)
class SymbolizerComparison:
    """Number of calls whose functions or lines differ from llvm-symbolizer, with debug information.

    `unanswered` counts the calls for which framedex has no line.
    """

    compared: int = 0
    wrong: int = 0
    unanswered: int = 0

    def __add__(self, other: SymbolizerComparison) -> SymbolizerComparison:
        return SymbolizerComparison(
            self.compared + other.compared, self.wrong + other.wrong, self.unanswered + other.unanswered
        )

    def __str__(self) -> str:
        return f"{self.wrong} of {self.compared:,}" + (f", no line {self.unanswered}" if self.unanswered else "")


def compare_exact(build: Build, calls: Sequence[Call]) -> SymbolizerComparison:
    """Compare framedex's answers about calls, with debug information, with those of llvm-symbolizer."""
    binary = Binary.open(build.described)
    found = SymbolizerComparison()
    for call, frames in zip(calls, binary.resolve([call.returns_to - 1 for call in calls]), strict=True):
        ours = [(Path(frame.path).name, frame.line) for frame in frames if frame.path]
        theirs = [(Path(path).name, line) for _, path, line, _ in call.frames]
        found += SymbolizerComparison(1, bool(ours) and ours != theirs, not ours)
    return found
