"""SCIP index for static tools (https://github.com/scip-code/scip, `scip.proto` defines the field numbers).

The documents are the files below the current folder. A line on a stack refers to the function called there. The
program's line refers to the boundary function. Each reference has the number of calls and their duration. Functions
outside the folder are external symbols. Interpreter and glue frames are skipped.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from framedex import words
from framedex.errors import FramedexError
from framedex.export.protobuf import integer, message, packed, text
from framedex.export.scip_calls import Calls, Function, Site
from framedex.export.scip_ranges import Ranges
from framedex.version import VERSION

if TYPE_CHECKING:
    from framedex.export.content import Content
    from framedex.export.weights import Weight
    from framedex.model.exported import Weights

_METADATA, _DOCUMENT, _EXTERNAL = 1, 2, 3
_UTF8 = 1  # value in TextEncoding and PositionEncoding: columns count bytes
_DEFINITION = 1
_FUNCTION = 17  # value in SymbolInformation.Kind
_LANGUAGES = {".py": "Python", ".c": "C", ".h": "CPP", ".cc": "CPP", ".cpp": "CPP", ".hpp": "CPP", ".inc": "CPP"}
_MOST_CALLERS = 10  # maximum number of callers listed for a function


def write(content: Content, file: IO[bytes], weight: Weight) -> None:
    """Write the index. Raises FramedexError if no stack has a file below the current folder."""
    root = Path.cwd()
    calls = Calls(content, root)
    documents = calls.documents()
    if not documents:
        raise FramedexError(
            f"No recorded stack has a file below {root}, and SCIP covers the files of one folder.",
            "Run it in the folder of the program or of its sources.",
        )
    tool = message(2, text(1, "framedex") + text(2, VERSION))
    file.write(message(_METADATA, tool + text(3, root.as_uri()) + integer(4, _UTF8)))
    for path, sites in documents.items():
        relative = PurePosixPath(path).relative_to(root)
        named = text(1, relative.as_posix()) + text(4, _LANGUAGES.get(relative.suffix, ""))
        file.write(message(_DOCUMENT, named + _document(calls, path, sites) + integer(6, _UTF8)))
    for function in calls.functions(None):
        file.write(message(_EXTERNAL, _symbol(calls, function)))


def _document(calls: Calls, path: str, sites: list[Site]) -> bytes:
    """Return the occurrences in a file and the symbols defined in it."""
    ranges = Ranges(Path(path))
    functions = calls.functions(path)
    told = b""
    for function in functions:
        if function.line:
            told += message(2, _occurrence(calls, ranges, function.line, function) + integer(3, _DEFINITION))
    for site in sites:
        for function, weights in calls.called(site).items():
            said = f"At run time: {_amount(weights)}."
            told += message(2, _occurrence(calls, ranges, site.line, function) + text(4, said))
    return told + b"".join(message(3, _symbol(calls, function)) for function in functions)


def _occurrence(calls: Calls, ranges: Ranges, line: int, function: Function) -> bytes:
    return packed(1, [line - 1, *ranges.of(line, function.name)]) + text(2, calls.symbol(function))


def _symbol(calls: Calls, function: Function) -> bytes:
    """Return the symbol information of a function: its callers, and the boundary functions that its lines led to."""
    callers = sorted(calls.callers(function).items(), key=lambda item: -item[1].calls)
    lines = [f"- `{site.path}:{site.line}` (`{site.within}`): {_amount(of)}" for site, of in callers if site.path]
    said = "\n".join(("Called at run time from:", "", *lines[:_MOST_CALLERS]))
    if len(lines) > _MOST_CALLERS:
        said += f"\n- and {words.count(len(lines) - _MOST_CALLERS, 'other line')}"
    relationships = b"".join(
        message(4, text(1, symbol) + integer(2, 1)) for symbol in sorted(map(calls.symbol, calls.led_to(function)))
    )
    told = text(1, calls.symbol(function)) + (text(3, said) if lines else b"")
    return told + relationships + integer(5, _FUNCTION) + text(6, function.name)


def _amount(weights: Weights) -> str:
    """Return the number of boundary calls and their total time as text; nested calls do not count twice."""
    return f"{words.count(weights.calls, 'call')} of the runtime, {words.duration(max(weights.time, 0))}"
