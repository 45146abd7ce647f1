"""Core files of programs, written by the kernel, and the frames that gdb finds in them."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from framedex.live.native.core_file import open_core
from framedex.live.native.naming import NamedFrames, name_frames
from framedex.live.native.stacks import ProcessStacks, read_stacks
from framedex.text_stacks.source_lookup.binaries import Binaries
from framedex.text_stacks.source_lookup.resolve import Resolver
from tests.running import TIMEOUT

_PATTERN = Path("/proc/sys/kernel/core_pattern")
_FRAMES_BY_GDB = """
import json
kinds = {gdb.NORMAL_FRAME: "function", gdb.INLINE_FRAME: "inlined", gdb.SIGTRAMP_FRAME: "signal"}
threads = {}
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, found = gdb.newest_frame(), []
    while frame is not None:
        if frame.type() in kinds:
            found.append([kinds[frame.type()], frame.pc(), frame.name() or "", frame.find_sal().line])
        frame = frame.older()
    threads[thread.ptid[1]] = found
print("FRAMES " + json.dumps(threads))
"""


@dataclass(frozen=True)
class GdbFrame:
    """A frame of gdb: `function`, `inlined` or `signal`, with its address, name and line."""

    kind: str
    address: int
    name: str
    line: int


def write_core(folder: Path, *command: str) -> tuple[Path, str]:
    """The core file of a command, and its first line of output; it is aborted then, if it lives.

    Skips the test if the kernel writes cores elsewhere.
    """
    if _PATTERN.read_text().strip() not in ("core", "core.%p"):
        pytest.skip(f"{_PATTERN} does not say `core`")
    shell = ["bash", "-c", 'ulimit -c unlimited && exec "$@"', "bash", *command]
    with subprocess.Popen(shell, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.send_signal(signal.SIGABRT)
        process.wait(TIMEOUT)
    (core,) = folder.glob("core*")
    return core, line


def read_core(core: Path, executable: Path | None = None) -> tuple[ProcessStacks, NamedFrames]:
    """The stacks of a core file, with the functions that need no index."""
    with open_core(core) as image:
        stacks = read_stacks(image, executable)
    return stacks, name_frames(stacks, Resolver(None, binaries=Binaries()))


def gdb_frames(subject: Sequence[str], folder: Path) -> dict[int, list[GdbFrame]]:
    """The frames of all threads of gdb's subject, such as `-p PID`; skips the test without gdb."""
    if not (gdb := shutil.which("gdb")):
        pytest.skip("no gdb here")
    script = folder / "frames.py"
    script.write_text(_FRAMES_BY_GDB)
    command = [gdb, "-nx", "-batch", "-ex", f"source {script}", *subject]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT).stdout
    (line,) = (line for line in printed.splitlines() if line.startswith("FRAMES "))
    return {
        int(tid): [GdbFrame(*frame) for frame in frames]
        for tid, frames in json.loads(line.removeprefix("FRAMES ")).items()
    }
