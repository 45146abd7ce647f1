"""From a source file to its definitions. The seam behind which the extraction itself can be replaced."""

from __future__ import annotations

import os
from pathlib import Path

from framedex.model import Definition, SourceFile
from framedex.sources import cpp, python
from framedex.sources.files import language_of
from framedex.sources.generated import proto_definitions, table_definitions
from framedex.sources.macro_made import expanded, macro_definitions

LARGEST = 4 << 20
"""Bytes; a larger file is generated data, and parsing it would take seconds. XLA's largest has 0.6 MB."""


def _cpp_definitions(source: bytes) -> tuple[Definition, ...]:
    """Those of the source as written, and those that its own macros make."""
    written = (*cpp.definitions(source), *macro_definitions(source))
    text, lines = expanded(source)
    if not lines:
        return written
    made = [definition for definition in cpp.definitions(text) if definition.line in lines]
    return (*(definition for definition in written if definition.line not in lines), *made)


_EXTRACTORS = {
    "cpp": _cpp_definitions,
    "python": python.definitions,
    "proto": proto_definitions,
    "tablegen": table_definitions,
}


def parse_file(path: Path) -> SourceFile:
    """The definitions of a C, C++ or Python file. Never raises: what is wrong with the file ends up in `problems`."""
    problems: list[str] = []
    language = language_of(path) or "cpp"
    try:
        data, status = _read(path, problems)
    except OSError as error:
        return SourceFile(str(path), language, 0, 0, problems=(f"It cannot be read: {error.strerror or error}.",))
    definitions = _definitions(data, language, problems)
    return SourceFile(
        path=str(path),
        language=language,
        modified=status.st_mtime_ns,
        size=status.st_size,
        definitions=definitions,
        problems=tuple(problems),
    )


def _read(path: Path, problems: list[str]) -> tuple[bytes, os.stat_result]:
    with path.open("rb") as file:
        before = os.fstat(file.fileno())
        data = file.read(LARGEST + 1)
        after = os.fstat(file.fileno())
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        problems.append("It changed while it was read; index it again.")
    return data, before


def _definitions(data: bytes, language: str, problems: list[str]) -> tuple[Definition, ...]:
    if len(data) > LARGEST:
        problems.append(f"It is larger than {LARGEST >> 20} MiB and was not parsed.")
        return ()
    if b"\0" in data:
        problems.append("It is a binary file and was not parsed.")
        return ()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        problems.append(f"It is not valid UTF-8 (first at byte {error.start}); names there may be garbled.")
    try:
        return _EXTRACTORS[language](data)
    except (ValueError, RecursionError, MemoryError) as error:
        problems.append(f"It cannot be parsed: {error}.")
        return ()
