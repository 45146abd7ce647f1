"""Recorded and indexed runs of the programs that call FFI handlers, each created once for all its tests."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.ingest import SilentProgress, ingest_captures
from framedex.model import FfiSite
from framedex.programs.ffi.model import FfiTarget
from tests.ffi_running import CPU, EXAMPLES, FfiRun, mock_tpu, run_ffi
from tests.once import made_once
from tests.running import PROGRAMS


@dataclass(frozen=True)
class IndexedRun:
    """A program's run and its index."""

    program: Path
    run: FfiRun
    index: Path

    def invoke(self, *arguments: str) -> Result:
        """Run the command line."""
        return CliRunner().invoke(cli, ["--index", str(self.index), *arguments])

    def read(self, *arguments: str) -> Any:
        """The JSON document of a verb for programs."""
        result = self.invoke(*arguments, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    def open(self) -> Index:
        """The index."""
        return Index.open(self.index)

    def target(self, name: str) -> FfiTarget:
        """The latest capture's data on a target."""
        with self.open() as index, index.restrict_to_captures(index.ffi.captures()[-1:]) as latest:
            (found,) = [each for each in latest.ffi.targets() if each.name == name]
        return found


@functools.cache
def indexed(program: str, platform: str = "cpu") -> IndexedRun:
    """`tests/programs/PROGRAM` on a platform, indexed with the source of the example handlers."""
    return made_once(f"ffi_indexed-{program}-{platform}", lambda folder: _index(program, platform, folder))


def _index(program: str, platform: str, folder: Path) -> IndexedRun:
    ended = run_ffi(program, folder=folder, **(CPU if platform == "cpu" else mock_tpu()))
    assert ended.status == 0, ended.stderr
    return IndexedRun(PROGRAMS / program, ended, make_index(folder, *ended.captures))


def make_index(folder: Path, *captures: Path) -> Path:
    """An index of captures and of the source of the example handlers."""
    path = folder / ".framedex" / "index.db"
    with Store(path) as store:
        ingest_captures(store, captures, [EXAMPLES], SilentProgress())
    return path


def site_lines(site: FfiSite) -> list[tuple[str, int]]:
    """File name and line of a site's frames in the program, innermost first."""
    return [(Path(line.location.path).name, line.location.line) for line in site.lines]


def line_of(path: Path, text: str) -> int:
    """The 1-based number of the first line that contains a text."""
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)
