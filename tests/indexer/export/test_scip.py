"""SCIP exports: calls at run time for static tools, read with the messages of `scip.proto`."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest

from tests.indexer.export.described import BOOLEAN, INTEGER, MANY, MESSAGE, ONE, TEXT, message_class
from tests.indexer.export.exporting import HOSTILE, export, hostile_index, run
from tests.indexer.export.truth import calls_of
from tests.indexer.recorded import Project
from tests.run.costs.trained import PROGRAM, index_of_training, line_of

_MESSAGES = {
    "Index": [
        ("metadata", 1, MESSAGE, "Metadata", ONE),
        ("documents", 2, MESSAGE, "Document", MANY),
        ("external_symbols", 3, MESSAGE, "SymbolInformation", MANY),
    ],
    "Metadata": [("project_root", 3, TEXT, "", ONE)],
    "Document": [
        ("relative_path", 1, TEXT, "", ONE),
        ("occurrences", 2, MESSAGE, "Occurrence", MANY),
        ("symbols", 3, MESSAGE, "SymbolInformation", MANY),
        ("language", 4, TEXT, "", ONE),
    ],
    "Occurrence": [
        ("range", 1, INTEGER, "", MANY),
        ("symbol", 2, TEXT, "", ONE),
        ("symbol_roles", 3, INTEGER, "", ONE),
        ("override_documentation", 4, TEXT, "", MANY),
    ],
    "SymbolInformation": [
        ("symbol", 1, TEXT, "", ONE),
        ("documentation", 3, TEXT, "", MANY),
        ("relationships", 4, MESSAGE, "Relationship", MANY),
        ("display_name", 6, TEXT, "", ONE),
    ],
    "Relationship": [("symbol", 1, TEXT, "", ONE), ("is_reference", 2, BOOLEAN, "", ONE)],
}
_Index = message_class(_MESSAGES, "Index")
_NAME = "([A-Za-z0-9_+$-]+|`([^`]|``)+`)"
_SYMBOL = re.compile(rf"framedex \. \. \. {_NAME}/{_NAME}\(\d*\)\.")


def _exported(index: Path, folder: Path, output: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Export the SCIP index in a folder."""
    monkeypatch.chdir(folder)
    found = _Index.FromString(export(index, "scip", output))
    assert Path(unquote(urlparse(found.metadata.project_root).path)) == folder
    return found


def test_a_line_refers_to_its_callees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a program's folder, then its lines have the called runtime functions and the number of calls."""
    found = _exported(index_of_training(), PROGRAM.parent, tmp_path / "index.scip", monkeypatch)
    (document,) = found.documents
    assert (document.relative_path, document.language) == (PROGRAM.name, "Python")
    told: Counter[tuple[int, str]] = Counter()
    for occurrence in document.occurrences:
        if occurrence.symbol.startswith("framedex . . . pjrt/"):
            name = occurrence.symbol.removeprefix("framedex . . . pjrt/").removesuffix("().").strip("`")
            told[occurrence.range[0] + 1, name] += int(occurrence.override_documentation[0].split()[3].replace(",", ""))
    calls = [call for call in calls_of(index_of_training()) if any(path == str(PROGRAM) for _, path, *_ in call.stack)]
    lines = (next(frame[2] for frame in reversed(call.stack) if frame[1] == str(PROGRAM)) for call in calls)
    expected = Counter(zip(lines, (call.function for call in calls), strict=True))
    assert told == Counter({key: count for key, count in expected.items() if not key[1].startswith("DeviceMemory")})
    assert told[line_of("params = step("), "PJRT_LoadedExecutable_Execute"] == 30


def test_functions_are_defined_at_their_first_line_and_list_their_callers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _exported(index_of_training(), PROGRAM.parent, tmp_path / "index.scip", monkeypatch)
    (document,) = found.documents
    source = PROGRAM.read_bytes().splitlines()
    defined = {each.symbol: each.range for each in document.occurrences if each.symbol_roles == 1}
    (main,) = [each for each in document.symbols if each.display_name == "main"]
    line, begin, end = defined[main.symbol]
    assert source[line][begin:end] == b"main" and source[line].startswith(b"def ")
    symbols = {each.display_name: each for each in found.external_symbols}
    execute = symbols["PJRT_LoadedExecutable_Execute"]
    assert (execute.symbol, True) in [(each.symbol, each.is_reference) for each in main.relationships]
    (said,) = execute.documentation
    assert f"`{PROGRAM}:{line_of('params = step(')}` (`main`): 30 calls of the runtime" in said


def test_hostile_names_are_symbols(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given names with spaces, backquotes and line breaks, then every symbol matches the grammar and has its name."""
    found = _exported(hostile_index(project), project.folder, tmp_path / "index.scip", monkeypatch)
    symbols = [*found.external_symbols, *(symbol for document in found.documents for symbol in document.symbols)]
    occurring = {each.symbol for document in found.documents for each in document.occurrences}
    assert occurring <= {each.symbol for each in symbols} and len({each.symbol for each in symbols}) == len(symbols)
    assert all(_SYMBOL.fullmatch(each.symbol) for each in symbols)
    assert {HOSTILE[0], HOSTILE[1], HOSTILE[5]} <= {each.display_name for each in symbols}


@pytest.mark.exhaustive
def test_binaries_are_not_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the root folder, then only files with lines are documents."""
    found = _exported(index_of_training(), Path("/"), tmp_path / "index.scip", monkeypatch)
    suffixes = {Path(document.relative_path).suffix for document in found.documents}
    assert {".py"} <= suffixes <= {".py", ".cc", ".cpp", ".h", ".hpp", ".c", ".inc"}
    assert any("libjax_common.so" in each.symbol for each in found.external_symbols)


def test_a_folder_without_recorded_files_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(index_of_training(), "scip", tmp_path / "index.scip")
    assert done.exit_code == 1 and f"has a file below {tmp_path}" in done.stderr
    assert not (tmp_path / "index.scip").exists()
