"""What each verb costs from its start to its end, beside the same verb of another installation, in turns.

    python benchmarks/verbs.py OTHER_FRAMEDEX [--rounds 9]

OTHER_FRAMEDEX is the `framedex` of another checkout's environment. Each installation records and indexes a project of
its own: a loop of `device_put` and of a jit call, 15,000 calls in all. Milliseconds of processor time, user and system,
and the ratio of this installation's to the other's: medians over the rounds, with the least and the largest ratio.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

_ROOT = Path(__file__).resolve().parents[1]
_STACKS = _ROOT / "tests" / "fixtures" / "stacks"
_LOG_COPIES = 40
_PROGRAM = """\
import jax, numpy
array = numpy.ones((2, 3), numpy.float32)
for _ in range(3000):
    jax.device_put(array).block_until_ready()
product = jax.jit(lambda matrix: (matrix @ matrix.T).sum())
for _ in range(500):
    product(array)
"""
_VERBS = (
    *(
        "--version",
        "open program.py:4",
        "where program.py:4",
        "trace BufferFromHostBuffer",
        "calls --limit 20",
        "summary",
        "check",
    ),
    *("captures", "explain log.txt", "resolve log.txt", "index --rebuild", "run program.py"),
)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    # As it is for users: what Python compiles is kept.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["FRAMEDEX_EDITOR"] = "true {file}:{line}"
    table = Table("verb", "other, ms", "this, ms", "this / other")
    with tempfile.TemporaryDirectory() as folder:
        other, this = (
            Installation(framedex, Path(folder, name), environment)
            for framedex, name in (
                (options.other.absolute(), "other"),
                (Path(sys.executable).parent / "framedex", "this"),
            )
        )
        for verb in _VERBS:
            taken = [(other.cost(verb), this.cost(verb)) for _ in range(options.rounds)]
            ratios = [mine / theirs for theirs, mine in taken]
            before, since = (f"{statistics.median(times):.0f}" for times in zip(*taken, strict=True))
            spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            table.add_row(verb, before, since, spread)
    Console().print(table)


class Installation:
    """A `framedex`, with a project that it has recorded and indexed."""

    def __init__(self, framedex: Path, project: Path, environment: dict[str, str]) -> None:
        self._framedex = framedex
        self._project = project
        self._environment = environment
        project.mkdir()
        (project / "program.py").write_text(_PROGRAM)
        stacks = "".join(path.read_text(errors="replace") for path in sorted(_STACKS.glob("*.txt")))
        (project / "log.txt").write_text(stacks * _LOG_COPIES)
        for verb in ("run program.py", "index"):
            self.cost(verb)

    def cost(self, verb: str) -> float:
        """The milliseconds of processor time that a verb takes."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [self._framedex, *verb.split()], cwd=self._project, env=self._environment, capture_output=True, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


if __name__ == "__main__":
    main()
