"""SCIP index for static tools (https://github.com/scip-code/scip, `scip.proto` defines the field numbers).

The documents are the files below the current folder. A line on a stack refers to the function that it called. The
program's line refers to the boundary function. Each reference has the number of calls and their duration. Functions
outside the folder are external symbols. Interpreter and glue frames are skipped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, TypeVar

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.regularfile import read_regular
from framedex.base.version import VERSION
from framedex.export.protobuf import encode_integer, encode_message, encode_packed, text
from framedex.export.samples import read_samples
from framedex.model.totals import CallWeights

if TYPE_CHECKING:
    from framedex.export.content import ExportContent, ExportedFrame
    from framedex.export.formats import Weight
    from framedex.export.samples import Sample
    from framedex.model.totals import CallWeights


_METADATA, _DOCUMENT, _EXTERNAL = 1, 2, 3
_UTF8 = 1  # value in TextEncoding and PositionEncoding: columns count bytes
_DEFINITION = 1
_FUNCTION = 17  # value in SymbolInformation.Kind
_LANGUAGES = {".py": "Python", ".c": "C", ".h": "CPP", ".cc": "CPP", ".cpp": "CPP", ".hpp": "CPP", ".inc": "CPP"}
_MAX_CALLERS = 10  # maximum number of callers listed for a function


def write(content: ExportContent, file: IO[bytes], weight: Weight) -> None:
    """Write the index. Raises FramedexError if no stack has a file below the current folder."""
    root = Path.cwd()
    calls = CallGraph(content, root)
    documents = calls.documents()
    if not documents:
        raise FramedexError(
            f"No recorded stack has a file below {root}, and SCIP covers the files of one folder.",
            "Run the command in the folder of the program or of its sources.",
        )
    tool = encode_message(2, text(1, "framedex") + text(2, VERSION))
    file.write(encode_message(_METADATA, tool + text(3, root.as_uri()) + encode_integer(4, _UTF8)))
    for path, sites in documents.items():
        relative = PurePosixPath(path).relative_to(root)
        named = text(1, relative.as_posix()) + text(4, _LANGUAGES.get(relative.suffix, ""))
        file.write(encode_message(_DOCUMENT, named + _encode_document(calls, path, sites) + encode_integer(6, _UTF8)))
    for function in calls.functions(None):
        file.write(encode_message(_EXTERNAL, _encode_symbol(calls, function)))


def _encode_document(calls: CallGraph, path: str, sites: list[FunctionLine]) -> bytes:
    """Return the occurrences in a file and the symbols defined in it."""
    ranges = LineRanges(Path(path))
    functions = calls.functions(path)
    encoded = b""
    for function in functions:
        if function.line:
            encoded += encode_message(
                2, _encode_occurrence(calls, ranges, function.line, function) + encode_integer(3, _DEFINITION)
            )
    for site in sites:
        for function, weights in calls.callees(site).items():
            documentation = f"At run time: {_format_amount(weights)}."
            encoded += encode_message(
                2, _encode_occurrence(calls, ranges, site.line, function) + text(4, documentation)
            )
    return encoded + b"".join(encode_message(3, _encode_symbol(calls, function)) for function in functions)


def _encode_occurrence(calls: CallGraph, ranges: LineRanges, line: int, function: Function) -> bytes:
    return encode_packed(1, [line - 1, *ranges.columns(line, function.name)]) + text(2, calls.symbol(function))


def _encode_symbol(calls: CallGraph, function: Function) -> bytes:
    """Return the symbol information of a function: its callers, and the boundary functions that its lines led to."""
    callers = sorted(calls.callers(function).items(), key=lambda item: (-item[1].calls, item[0]))
    lines = [
        f"- `{site.path}:{site.line}` (`{site.function}`): {_format_amount(weights)}"
        for site, weights in callers
        if site.path
    ]
    documentation = "\n".join(("Called at run time from:", "", *lines[:_MAX_CALLERS]))
    if len(lines) > _MAX_CALLERS:
        documentation += f"\n- and {words.count(len(lines) - _MAX_CALLERS, 'other line')}"
    relationships = b"".join(
        encode_message(4, text(1, symbol) + encode_integer(2, 1))
        for symbol in sorted(map(calls.symbol, calls.reached_boundaries(function)))
    )
    encoded = text(1, calls.symbol(function)) + (text(3, documentation) if lines else b"")
    return encoded + relationships + encode_integer(5, _FUNCTION) + text(6, function.name)


def _format_amount(weights: CallWeights) -> str:
    """Return the number of boundary calls and their total time as text; nested calls do not count twice."""
    return f"{words.count(weights.calls, 'call')} of the runtime, {words.format_duration(max(weights.time, 0))}"


_Key = TypeVar("_Key")

_SIMPLE_IDENTIFIER = re.compile(r"[A-Za-z0-9_+$-]+")


@dataclass(frozen=True, slots=True, order=True)
class Function:
    """A function: its name and first line. If that is unknown, `path` is its binary or boundary, and `line` is 0."""

    name: str
    path: str
    line: int


@dataclass(frozen=True, slots=True, order=True)
class FunctionLine:
    """A line of a file; `function` is the function that contains it."""

    path: str
    line: int
    function: str


class CallGraph:
    """The calls between functions on all stacks. `root` is the folder of the documents."""

    def __init__(self, content: ExportContent, root: Path) -> None:
        self._content = content
        self._root = root
        self._boundaries = {kind.function: kind.boundary for kind in content.calls.kinds.values()}
        self._functions: dict[Function, None] = {}
        self._sites: dict[FunctionLine, dict[Function, CallWeights]] = {}
        self._callers: dict[Function, dict[FunctionLine, CallWeights]] = {}
        self._reached_boundaries: dict[Function, set[Function]] = {}
        for sample in read_samples(content):
            self._add_sample(sample)

    def documents(self) -> dict[str, list[FunctionLine]]:
        """Return the files below the folder that are on stacks or define functions, each with its call sites."""
        found: dict[str, list[FunctionLine]] = {}
        for site in self._sites:
            if self._is_inside(site.path):
                found.setdefault(site.path, []).append(site)
        for function in self._functions:
            if self._begins_inside(function):
                found.setdefault(function.path, [])
        return found

    def functions(self, path: str | None) -> list[Function]:
        """Return the functions defined in a file; for None, those defined in no file below the folder."""
        return [
            function
            for function in self._functions
            if (function.path if self._begins_inside(function) else None) == path
        ]

    def callees(self, site: FunctionLine) -> dict[Function, CallWeights]:
        """Return the functions called on a line, with their weights."""
        return self._sites[site]

    def callers(self, function: Function) -> dict[FunctionLine, CallWeights]:
        """Return the lines that called a function, with their weights."""
        return self._callers.get(function, {})

    def reached_boundaries(self, function: Function) -> set[Function]:
        """Return the boundary functions called by program lines in this function."""
        return self._reached_boundaries.get(function, set())

    def symbol(self, function: Function) -> str:
        """Return the SCIP symbol of a function: its name, and its file and line to make it unique."""
        path = PurePosixPath(function.path)
        file = path.relative_to(self._root).as_posix() if self._begins_inside(function) else function.path
        line = str(function.line) if function.line else ""
        return f"framedex . . . {_escape(file)}/{_escape(function.name)}({line})."

    def _begins_inside(self, function: Function) -> bool:
        """Return whether the function's first line is known and its file is below the folder."""
        return function.line > 0 and self._is_inside(function.path)

    def _is_inside(self, path: str) -> bool:
        return PurePosixPath(path).is_relative_to(self._root)

    def _add_sample(self, sample: Sample) -> None:
        """Count the call edges of a sample's stack; a line that appears more than once counts once."""
        kind = sample.kind
        steps = [self._content.step(number) for number in self._content.steps(kind)]
        boundary = Function(kind.function, kind.boundary, 0)
        path_steps = [step for step in steps[:-1] if step.is_code and (step.path or step.module)]
        functions = [*map(self._build_function, path_steps), boundary]
        self._functions.update(dict.fromkeys(functions))
        found = {(_call_site(step), function) for step, function in zip(path_steps, functions[1:], strict=True)}
        line = self._content.line(kind)
        if line is not None:
            found.add((FunctionLine(line.location.path, line.location.line, line.function), boundary))
            for step, function in zip(path_steps, functions[:-1], strict=True):
                if (step.path, step.line) == (line.location.path, line.location.line):
                    self._reached_boundaries.setdefault(function, set()).add(boundary)
        for site, function in sorted(found):
            _add_weights(self._sites.setdefault(site, {}), function, sample.weights)
            _add_weights(self._callers.setdefault(function, {}), site, sample.weights)

    def _build_function(self, step: ExportedFrame) -> Function:
        if not step.is_python and step.name in self._boundaries:
            return Function(step.name, self._boundaries[step.name], 0)
        return Function(step.name, step.defined_in or step.path or step.module, step.first_line)


def _add_weights(table: dict[_Key, CallWeights], key: _Key, weights: CallWeights) -> None:
    table[key] = table.get(key, CallWeights()) + weights


def _call_site(step: ExportedFrame) -> FunctionLine:
    return FunctionLine(step.path, step.line, step.name)


def _escape(name: str) -> str:
    """Return a name escaped for a symbol: in backquotes, which are doubled inside, unless it is a simple identifier."""
    return name if _SIMPLE_IDENTIFIER.fullmatch(name) else "`" + name.replace("`", "``") + "`"


_LAST_NAME = re.compile(r"([A-Za-z_]\w*)(?:<.*>)?$", re.DOTALL)


class LineRanges:
    """The current lines of a file; empty if it is unreadable."""

    def __init__(self, path: Path) -> None:
        try:
            self._lines = read_regular(path).splitlines()
        except OSError:
            self._lines = []

    def columns(self, line: int, name: str) -> tuple[int, int]:
        """Return the columns of a function's name (bytes from 0, end exclusive), else those of the line's text."""
        text = self._lines[line - 1] if 0 < line <= len(self._lines) else b""
        last = _LAST_NAME.search(name)
        found = re.search(rb"\b%b\b" % last[1].encode(), text) if last is not None else None
        if found is not None:
            return found.start(), found.end()
        return len(text) - len(text.lstrip()), len(text.rstrip())
