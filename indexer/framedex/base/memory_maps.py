"""The memory map of a running process, and the folder with the files that it names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class MappedRange(NamedTuple):
    """A mapped address range [start, end); `path` is a file or a name (`[vdso]`), empty for anonymous memory."""

    start: int
    end: int
    is_executable: bool
    offset: int
    path: str


def read_maps(pid: int) -> Iterator[MappedRange]:
    """The mapped ranges of a running process, by address. Raises OSError if it has ended or may not be inspected."""
    text = os.fsdecode(Path(f"/proc/{pid}/maps").read_bytes())
    for line in filter(None, text.split("\n")):  # the kernel escapes only \n in a path
        addresses, permissions, offset, _, _, *path = line.split(maxsplit=5)
        start, end = (int(each, 16) for each in addresses.split("-"))
        yield MappedRange(
            start, end, "x" in permissions, int(offset, 16), path[0].replace("\\012", "\n") if path else ""
        )


def find_root(pid: int) -> Path:
    """The folder on this machine that contains the paths in a process's memory map: `/` unless it is in a container.

    The kernel writes these paths for the reader's root, so they include the folder of a `chroot`. In another mount
    namespace they are below `/proc/PID/root`. Raises OSError if the process ends meanwhile.
    """
    process, own = Path(f"/proc/{pid}"), Path("/proc/self")
    is_shared = (process / "ns/mnt").readlink() == (own / "ns/mnt").readlink()
    return Path("/") if is_shared else process / "root"
