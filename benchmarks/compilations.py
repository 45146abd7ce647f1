"""Causes of recompilations, compared with JAX's own explanations."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

import framedex_native
from benchmarks.figures import Figure
from benchmarks.mock_tpu import create_environment, environment_option, programs_argument, select_programs
from benchmarks.processes import mock_environment, neutral_environment, print_header, print_row
from framedex.captures import capture_folders
from framedex.index import Index, Store
from framedex.ingest import SilentProgress, ingest_captures, skip_sources
from framedex.model import ChangeCause, Compiles
from framedex.texts.compilations import format_reason

# Each function is a program. The comment of a line has the beginnings of the causes for which it recompiles.
RECOMPILING_PROGRAMS = Path(__file__).parent / "programs" / "recompiles"
WORKER = """
import importlib.util, sys

file, name = sys.argv[1:]
spec = importlib.util.spec_from_file_location("program", file)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
getattr(module, name)()
"""
_EXPLANATION = re.compile(
    r"TRACING CACHE MISS at .*:\n"
    r"(?P<text>(?:  never seen function:\n +(?P<new>\S+)| +for (?P<known>\S+)).*\n(?:  .*\n)*)"
)
_SETTING = re.compile(r"\* (\S+) differs: now")
_TYPES = {
    *(ChangeCause.SHAPE, ChangeCause.DTYPE, ChangeCause.WEAK_TYPE, ChangeCause.SHARDING, ChangeCause.ARGUMENTS),
}
# The causes that agree with an explanation of JAX, or are more exact. JAX does not know static arguments, and reports a
# function as unknown after `clear_caches`, with other values from outside, or in a pass of a derivative.
_CAUSES_BY_EXPLANATION = {
    "different input types": _TYPES,
    "different input pytree": {ChangeCause.STATIC_DATA, ChangeCause.ARGUMENTS, ChangeCause.STATIC},
    "Tracing context doesn't match": {ChangeCause.SETTING},
    "explanation unavailable": {ChangeCause.STATIC, ChangeCause.ARGUMENTS},
    "but seen another function": {
        *(ChangeCause.FUNCTION, ChangeCause.CONSTANTS, ChangeCause.SAME, ChangeCause.DONATION, ChangeCause.OPTIONS),
        *(ChangeCause.DERIVATIVE, *_TYPES),
    },
}


@dataclass(frozen=True, slots=True)
class Recompiled:
    """A program that recompiled: the rows of its lines, the expected causes, and JAX's explanations by function."""

    rows: Sequence[tuple[Compiles, Sequence[str]]]
    explanations: Sequence[tuple[str, str]]

    @property
    def has_expected_causes(self) -> bool:
        """Whether a row has all causes of its line's comment, and no others."""
        return any(_are_expected(map(format_reason, row.changes), expected) for row, expected in self.rows)

    def contradictions(self) -> list[str]:
        """Explanations of JAX with which no row of the function agrees."""
        found = []
        for function, text in self.explanations:
            changes = [change for row, _ in self.rows if row.function == function for change in row.changes]
            settings = _SETTING.findall(text)
            agreeing = [causes for words, causes in _CAUSES_BY_EXPLANATION.items() if words in text]
            is_confirmed = all(causes & {change.cause for change in changes} for causes in agreeing) and (
                {*settings} <= {change.what for change in changes}
            )
            if changes and not is_confirmed:
                found.append(" ".join(text.split()))
        return found


def _are_expected(reasons: Iterable[str], expected: Sequence[str]) -> bool:
    reasons = list(reasons)
    return (
        bool(expected)
        and all(any(reason.startswith(each) for reason in reasons) for each in expected)
        and all(reason.startswith(tuple(expected)) for reason in reasons)
    )


@click.command()
@programs_argument
@environment_option
def recompiles(names: tuple[str, ...], environment: Path) -> list[Figure]:
    """Compare the causes of recompilations with JAX's explanations.

    PROGRAM is a function of benchmarks/programs/recompiles, or a file without .py. Each program is recorded once with
    JAX_EXPLAIN_CACHE_MISSES=1, on two devices.
    """
    python = create_environment(environment)
    programs = select_programs(names, RECOMPILING_PROGRAMS)
    print_header("program", "causes", "JAX")
    expected, confirmed, unexplained = 0, 0, 0
    for file, name in programs:
        found = _record(python, file, name)
        contradictions = found.contradictions()
        expected += found.has_expected_causes
        confirmed += found.has_expected_causes and not contradictions
        unexplained += not any("unavailable" not in text and " now " in text for _, text in found.explanations)
        causes = [format_reason(change) for row, _ in found.rows for change in row.changes]
        shown = "as expected" if found.has_expected_causes else f"**{'; '.join(causes) or 'none'}**"
        print_row(f"{file.stem}.{name}", shown, "; ".join(contradictions) or "agrees")
    return [
        Figure("recompiling programs with the known causes", expected, f"of {len(programs)}"),
        Figure("recompiling programs whose causes are JAX's or more exact", confirmed, f"of {len(programs)}"),
        Figure("recompiling programs of which JAX names no difference", unexplained, f"of {len(programs)}"),
    ]


def _record(python: Path, file: Path, name: str) -> Recompiled:
    with tempfile.TemporaryDirectory() as folder:
        environment = neutral_environment() | mock_environment(folder) | {
            "FRAMEDEX_DEVICES": "2", "JAX_PLATFORMS": "tpu,cpu", "JAX_EXPLAIN_CACHE_MISSES": "1",
            "PYTHONPATH": str(framedex_native.ffi_startup_path()),
        }  # fmt: skip
        ran = subprocess.run(
            [python, "-P", "-c", WORKER, file, name], env=environment, capture_output=True, text=True, check=False
        )
        if ran.returncode:
            raise SystemExit(f"{file.stem}.{name} ended with status {ran.returncode}: {ran.stderr[-1000:]}")
        with Store(Path(folder, "index.db")) as store:
            ingest_captures(store, capture_folders(Path(folder)), [], SilentProgress(), skip_sources)
        with Index.open(Path(folder, "index.db")) as index:
            rows = [row for row in index.compiles() if row.line is not None and row.line.location.path == str(file)]
    lines = file.read_text().splitlines()
    comments = (lines[row.line.location.line - 1].partition("#")[2] for row in rows if row.line is not None)
    causes = [[each.strip() for each in comment.split(";") if each.strip()] for comment in comments]
    explanations = [(found["new"] or found["known"], found["text"]) for found in _EXPLANATION.finditer(ran.stderr)]
    return Recompiled(list(zip(rows, causes, strict=True)), explanations)
