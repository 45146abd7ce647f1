"""Time that contributors wait: set-up, tests and checks of a fresh clone."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
from pathlib import Path

import click

from benchmarks.figures import Figure
from benchmarks.processes import ROOT, print_header, print_row, run_measured

# Commands, and whether they are measured after a change in a clone where they have run before.
_COMMANDS = {
    "make demo": False,
    "make test": False,
    "make quick": True,
    ".ci/run": False,
}
_CHANGED = Path("indexer/framedex/base/words.py")


@click.command("development-times")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Number of measurements.")
@click.option("--only", type=click.Choice(list(_COMMANDS)), multiple=True, help="Measure only this; repeatable.")
def development_times(rounds: int, only: tuple[str, ...]) -> list[Figure]:
    """Measure `make demo`, `make test`, `make quick` and `.ci/run` in fresh clones of HEAD.

    The compiler cache is off. `make quick` runs after a change of one Python file in a clone that is set up. `.ci/run`
    installs Debian packages: it is measured only if `--only` names it.
    """
    commands = only or tuple(command for command in _COMMANDS if command != ".ci/run")
    figures = []
    print_header("command", "s", "s of a processor")
    for command in commands:
        costs = _measure_changes(command, rounds) if _COMMANDS[command] else [_measure(command) for _ in range(rounds)]
        wall, processor = (statistics.median(values) for values in zip(*costs, strict=True))
        print_row(command, f"{wall:,.0f}", f"{processor:,.0f}")
        figures.append(Figure(command, round(wall, 1), "s", note=f"Fresh clone; {processor:,.0f} s of a processor."))
    return figures


def _measure(command: str) -> tuple[float, float]:
    """The wall time and the processor time of a command in a fresh clone, in seconds."""
    with tempfile.TemporaryDirectory(prefix="framedex-clone-") as folder:
        return _run(command, _clone(folder))


def _measure_changes(command: str, rounds: int) -> list[tuple[float, float]]:
    """The times of a command after each of some changes of one Python file, in one clone where it has run before."""
    with tempfile.TemporaryDirectory(prefix="framedex-clone-") as folder:
        clone = _clone(folder)
        _run(command, clone)
        costs = []
        for number in range(rounds):
            with (clone / _CHANGED).open("a") as file:
                file.write(f"\n\n# Change {number}.\n")
            costs.append(_run(command, clone))
        return costs


def _clone(folder: str) -> Path:
    clone = Path(folder, "framedex")
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
    return clone


def _run(command: str, clone: Path) -> tuple[float, float]:
    cost = run_measured(command.split(), clone, os.environ | {"CCACHE_DISABLE": "1"})
    return cost.wall_s, cost.processor_s
