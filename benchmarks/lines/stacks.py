"""Records stacks of a library's workload wherever it takes and returns memory."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from lines.building import Build
from lines.corpus import HERE

_LONGEST = 120  # s
_DRIVERS = HERE / "drivers"


class Pair(NamedTuple):
    """A frame and the one below it: two return addresses, the other's in `module`, which is empty for the library."""

    returns_to: int
    module: str
    below: int


def recorded_pairs(build: Build) -> list[Pair]:
    """Each frame of the library with the frame below; none where no workload runs."""
    record = build.folder / "stacks.bin"
    if not record.exists():
        _record(build, record)
    return list(_pairs(record.read_bytes(), build))


def _record(build: Build, record: Path) -> None:
    tools = build.folder.parent.parent / "tools"
    sampler, runner = _made(tools, "sampler.c", ["-shared", "-fPIC"]), _made(tools, "runner.c", [])
    library = build.library
    with tempfile.TemporaryDirectory() as scratch:
        filled = [text.format(out=scratch, source=build.sources) for text in library.arguments]
        for name in library.files:
            copied = Path(scratch) / name
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(build.sources / name, copied)
        program = [sys.executable, str(_DRIVERS / library.python)] if library.python else [str(runner)]
        environment = {**os.environ, "LINES_RECORD": str(record), "LINES_LIBRARY": build.described.name}
        environment |= {"LD_PRELOAD": str(sampler), "TEST_TMPDIR": scratch}
        done = subprocess.run(
            [*program, str(build.described), *filled],
            cwd=scratch,
            env=environment,
            timeout=_LONGEST,
            check=False,
            capture_output=True,
        )
    if not record.exists():
        said = done.stderr.decode(errors="replace")[-1000:]
        print(f"{library.name} {build.options.name}: nothing was recorded (exit {done.returncode}) {said}", flush=True)
        record.write_bytes(b"")


def _made(folder: Path, source: str, flags: list[str]) -> Path:
    made = folder / source.removesuffix(".c")
    if not made.exists() or made.stat().st_mtime < (_DRIVERS / source).stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        partial = made.with_suffix(".partial")
        subprocess.run(["gcc", "-O2", *flags, "-o", str(partial), str(_DRIVERS / source), "-ldl"], check=True)
        partial.rename(made)
    return made


def _pairs(record: bytes, build: Build) -> Iterator[Pair]:
    """The record is a list of modules, `index path` by line, an empty line, then stacks: a count, and so many frames.

    A frame is the number of its module and an address in it, both 64 bits; innermost first.
    """
    head, _, stacks = record.partition(b"\n\n")
    modules = [line.decode(errors="replace").partition(" ")[2] for line in head.split(b"\n")]
    own = {i for i, path in enumerate(modules) if path and Path(path).name == build.described.name}
    at = 0
    while at + 8 <= len(stacks):
        (count,) = struct.unpack_from("<q", stacks, at)
        frames = list(struct.iter_unpack("<qq", stacks[at + 8 : at + 8 + 16 * count]))
        at += 8 + 16 * count
        for (below_module, below), (module, returns_to) in pairwise(frames):
            if module in own and 0 <= below_module < len(modules):
                yield Pair(returns_to, "" if below_module in own else modules[below_module], below)
