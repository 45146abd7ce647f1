"""Parse one source file into its definitions and calls."""

from __future__ import annotations

from pathlib import Path

from framedex.model import Definition, DefinitionRow, SourceFile
from framedex.sources.extraction import extract_files
from framedex.sources.sites import call_sites


def parse_file(path: Path) -> SourceFile:
    """The definitions of a source file. Never raises: `problems` lists the errors."""
    (found,) = extract_files([str(path)], threads=1)
    return SourceFile(
        path=found.path,
        language=found.language,
        modified=found.modified,
        size=found.size,
        definitions=tuple(map(_definition, found.definitions)),
        problems=tuple(found.problems),
    )


def _definition(row: DefinitionRow) -> Definition:
    name, _, kind, parameters, line, end_line, is_const, _, calls = row
    return Definition(name, kind, parameters, line, end_line, is_const, call_sites(calls))
