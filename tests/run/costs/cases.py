"""Programs with one run per case, recorded and indexed together; and copies of the results."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index import Index
from tests.indexer.unplaced import index_without_sources
from tests.running import run


@dataclass(frozen=True)
class Cases:
    """The index of all cases, the JSON output of each, and its capture."""

    index: Path
    results: dict[str, Any]
    captures: dict[str, int]

    @contextmanager
    def within(self, case: str) -> Iterator[Index]:
        """The index of one case alone."""
        with Index.open(self.index) as index, index.restrict_to_captures([self.captures[case]]) as narrow:
            yield narrow

    def read(self, verb: str, case: str, *arguments: str) -> Result:
        """The result of `framedex VERB ARGUMENTS...` for a case, in a terminal of 80 columns."""
        command = ["--index", str(self.index), verb, "--capture", str(self.captures[case]), *arguments]
        return CliRunner(env={"COLUMNS": "80"}).invoke(cli, command)


def recorded_cases(
    folder: Path, program: str, settings: Mapping[str, Mapping[str, str]]
) -> tuple[Path, dict[str, Any], dict[str, int]]:
    """Run `tests/programs/PROGRAM CASE` for each case, with its settings in the environment: the fields of `Cases`."""
    results, captures = {}, {}
    for case, of_case in settings.items():
        (folder / case).mkdir()
        ran = run(program, case, folder=folder / case, **of_case)
        results[case], captures[case] = ran.result, str(ran.capture)
    index = folder / "index.db"
    index_without_sources(index, *map(Path, captures.values()))
    with Index.open(index) as opened:
        ids = {capture.path: capture.id for capture in opened.captures()}
    return index, results, {case: ids[path] for case, path in captures.items()}


def line_marked(program: Path, mark: str) -> int:
    """The number of the line that ends with a comment."""
    lines = program.read_text().splitlines()
    (found,) = (number for number, text in enumerate(lines, start=1) if text.endswith(f"  # {mark}"))
    return found


def changed_copy(index: Path, folder: Path, change: str) -> Path:
    """A copy of an index, changed by a statement of SQL."""
    copy = folder / "index.db"
    copy.write_bytes(index.read_bytes())
    with closing(sqlite3.connect(copy)) as connection, connection:
        connection.execute(change)
    return copy
