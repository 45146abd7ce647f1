"""`tests/programs/inside_jit.py`, recorded and indexed once, with the lines that its marks name."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.once import made_once
from tests.running import PROGRAMS, plain_environment

FRAMEDEX = (sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')")

SHAPES = [
    "plain",
    "static",
    "grad",
    "vmap",
    "scan",
    "fori",
    "cond",
    "remat",
    "nested",
    "helper",
    "lines",
    "custom",
    "method",
    "lambda",
    "pmap",
    "shard_map",
    "aot",
    "generator",
]
"""The programs that contain a line with a sine."""

_MARK = re.compile(r"# (?P<what>sine|both|runs|compiles|calls|same|nothing) (?P<name>\w+)$")


@dataclass(frozen=True)
class Marked:
    """A recorded program, whose index is in its folder, and its marked lines."""

    path: Path
    lines: dict[tuple[str, str], int]

    @property
    def index(self) -> Path:
        """The index."""
        return self.path.parent / ".framedex" / "index.db"

    def line(self, name: str, *marks: str) -> int:
        """The line with one of these marks as its name."""
        return next(self.lines[mark, name] for mark in marks if (mark, name) in self.lines)


def recorded_shapes() -> Marked:
    """The program as recorded on four devices; tests must not change it."""
    return made_once("inside_jit", lambda folder: record(folder / "inside_jit.py"))


def record(path: Path) -> Marked:
    """Record and index `inside_jit.py` as `path`."""
    path.write_text((PROGRAMS / "inside_jit.py").read_text())
    framedex(path.parent, "run", "--device", "v5e:2x2", path.name)
    framedex(path.parent, "index")
    found = ((number, _MARK.search(line)) for number, line in enumerate(path.read_text().splitlines(), 1))
    return Marked(path, {(mark["what"], mark["name"]): number for number, mark in found if mark})


def framedex(folder: Path, *arguments: str, status: int = 0, environment: Mapping[str, str] | None = None) -> str:
    """The output of a verb that ends with this status in a folder."""
    done = subprocess.run(
        [*FRAMEDEX, *arguments],
        cwd=folder,
        env=plain_environment() | dict(environment or {}),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr
