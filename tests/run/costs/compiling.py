"""Programs with known reasons for compilation, recorded and indexed, and the rows of their lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner, Result

import framedex_native
from framedex.commands.main import cli
from framedex.index import Index
from framedex.model import Compiles
from tests.indexer.unplaced import index_without_sources
from tests.run.costs.cases import line_marked
from tests.running import PROGRAMS, run

NOTED = {"PYTHONPATH": str(framedex_native.ffi_startup_path())}
"""The environment in which JAX explains its compilations, as in `framedex run`."""

_FINISHED = re.compile(r"Finished XLA compilation of \w+\((.+)\) in ")

_EXPLAINED = re.compile(r"TRACING CACHE MISS at (?P<path>[^:\n]+):(?P<line>\d+).*:\n(?P<text>(?:  .*\n)*)")


@dataclass(frozen=True)
class Recorded:
    """A recorded and indexed program."""

    program: Path
    index: Path
    logged: Counter[str]
    """Compilations by function, from the log of `jax_log_compiles`."""
    explained: Mapping[int, str]
    """JAX's explanations by line of the program, with JAX_EXPLAIN_CACHE_MISSES=1."""

    def invoke(self, *arguments: str) -> Result:
        """Run the verb."""
        return CliRunner().invoke(cli, ["--index", str(self.index), "compiles", *arguments])

    def rows(self) -> list[Compiles]:
        """The rows of the latest capture."""
        with Index.open(self.index) as index, index.restrict_to_captures(index.captures_with_compiles()[-1:]) as latest:
            return list(latest.compiles())

    def row(self, case: str) -> Compiles:
        """The row of the line with the name of a case."""
        line = line_marked(self.program, f"case: {case}")
        (row,) = [row for row in self.rows() if row.line is not None and row.line.location.line == line]
        assert row.line is not None and row.line.location.path == str(self.program)
        return row

    def counted(self) -> Counter[str]:
        """Compilations by function, in the verb's output."""
        counted: Counter[str] = Counter()
        for row in self.rows():
            counted[row.function] += row.compiles
        return counted


def recorded_and_indexed(folder: Path, program: str, *arguments: str, **environment: str) -> Recorded:
    """Run `tests/programs/PROGRAM` below a folder."""
    ran = run(program, *arguments, folder=folder, **environment)
    assert ran.status == 0, ran.stderr
    index_without_sources(folder / "index.db", *ran.captures)
    explained: dict[int, str] = {}
    for miss in _EXPLAINED.finditer(ran.stderr):
        if miss["path"] == str(PROGRAMS / program):
            explained[int(miss["line"])] = explained.get(int(miss["line"]), "") + miss["text"]
    return Recorded(PROGRAMS / program, folder / "index.db", Counter(_FINISHED.findall(ran.stderr)), explained)
