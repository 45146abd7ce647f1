"""A project for editor tests: the demo, really recorded on the mock TPU and indexed with real sources."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from framedex.index import Index

CHECKOUT = Path(__file__).parents[3]
FRAMEDEX = "from framedex.commands.main import cli; cli(prog_name='framedex')"
TIMEOUT = 120  # seconds; recording and indexing take about five


@dataclass(frozen=True)
class Place:
    """A line of a file, by its name."""

    file: str
    line: int


@dataclass(frozen=True)
class Project:
    """A folder with a recorded program, and a `framedex` command for it."""

    folder: Path
    framedex: Path

    put_scalar_line = 8
    """The 1-based line of `return jax.device_put(1)`."""

    @property
    def program(self) -> Path:
        """The recorded program."""
        return self.folder / "device_put.py"

    def copy_to(self, folder: Path) -> Project:
        """A copy with its recordings, which a test may change."""
        return replace(self, folder=shutil.copytree(self.folder, folder))

    def calls(self, *options: str) -> list[int]:
        """The numbers of recorded calls in call order."""
        return [call["id"] for call in json.loads(self.run("calls", *options, "--limit", "0", "--json"))["calls"]]

    def frames(self) -> frozenset[Place]:
        """The locations of the frames of all recorded calls that have a source."""
        with Index.open(self.folder / ".framedex" / "index.db") as index:
            traces = [index.calls.trace(call) for call in self.calls()]
        found = [frame.location for trace in traces if trace for frame in trace.frames if frame.location]
        return frozenset(Place(Path(location.path).name, location.line) for location in found)

    def run(self, *arguments: str) -> str:
        """The output of a `framedex` command."""
        done = subprocess.run(
            [self.framedex, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=TIMEOUT
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def make_project(root: Path) -> Project:
    """Record the demo below `root`, and index it with the sources of JAX and of the mock TPU."""
    project = Project(root / "demo", write_command(root / "bin"))
    project.folder.mkdir()
    shutil.copy(CHECKOUT / "indexer" / "framedex" / "demo" / "device_put.py", project.program)
    spec = importlib.util.find_spec("jax")
    assert spec is not None and spec.submodule_search_locations is not None
    project.run("run", project.program.name)
    jax = spec.submodule_search_locations[0]
    project.run("index", "--source", jax, "--source", str(CHECKOUT / "native"))
    return project


PUBLIC = "https://github.com/jax-ml/jax/blob/990e6a0b84138346e6a38785412f36356e0e5dc3/jaxlib/py_values.cc#L2"
"""The location of `jax::DevicePutWithSharding` in `make_public`."""


def make_public(project: Project, root: Path) -> Project:
    """The project below `root`, with a source map of a missing source: one frame of its calls is public."""
    public = project.copy_to(root / "public")
    sources, commit = root / "jax", PUBLIC.split("/")[6]
    (sources / "jaxlib").mkdir(parents=True)
    (sources / "jaxlib" / "py_values.cc").write_text(
        "namespace jax {\nResult DevicePutWithSharding(Client* client) {\n  return {};\n}\n}\n"
    )
    of = ("--component", "jaxlib", "--commit", commit, "--repository", "https://github.com/jax-ml/jax")
    public.run("sources", "export", str(sources), "-o", str(root / "jaxlib.fdmap"), *of)
    public.run("sources", "import", str(root / "jaxlib.fdmap"))
    return public


def write_command(folder: Path) -> Path:
    """The `framedex` command for programs that search the PATH; it always runs in this Python."""
    folder.mkdir()
    framedex = folder / "framedex"
    # -P: `import jax` in the folder of a program means JAX.
    framedex.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-P", "-c", FRAMEDEX])} "$@"\n')
    framedex.chmod(0o755)
    return framedex


def path_with(framedex: Path) -> str:
    """A PATH that finds this `framedex` first."""
    return f"{framedex.parent}{os.pathsep}{os.environ['PATH']}"
