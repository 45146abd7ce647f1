"""The separate file with the debug information of a stripped binary.

The search follows gdb (GDB manual, "Debugging Information in Separate Files"). First by build-id below the system's
debug folder, then by the name in `.gnu_debuglink` next to the binary. The cache of debuginfod clients is also searched;
`debuginfod.py` fills it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from framedex.binaries.elf import Elf
from framedex.regularfile import open_regular
from framedex.systemlimits import SystemLimitError
from framedex.userfolders import user_folder

_SYSTEM = Path("/usr/lib/debug")
_CHUNK = 1 << 20


def find_debug_file(path: Path, elf: Elf) -> Path | None:
    """The debug file of a binary, verified by build-id or checksum; None if not found."""
    build_id = elf.build_id
    if build_id:
        cache = debuginfod_cache()
        cached = [cache / build_id / "debuginfo"] if cache else []
        for candidate in (_SYSTEM / ".build-id" / build_id[:2] / f"{build_id[2:]}.debug", *cached):
            if has_build_id(candidate, build_id):
                return candidate
    link = elf.debug_link
    if link is None:
        return None
    name, checksum = link
    return next((c for c in _beside(path, name) if c != path and _has_checksum(c, checksum)), None)


def debuginfod_cache() -> Path | None:
    """The cache folder that all debuginfod clients share; None if the user has no cache folder."""
    named, cache = os.environ.get("DEBUGINFOD_CACHE_PATH"), user_folder("XDG_CACHE_HOME")
    return Path(named) if named else cache and cache / "debuginfod_client"


def has_build_id(path: Path, build_id: str) -> bool:
    """Whether a file is an ELF file with this build-id."""
    try:
        return Elf.open(path).build_id == build_id
    except (SystemLimitError, MemoryError):
        raise
    except Exception:  # missing, or not an ELF file
        return False


def _beside(path: Path, name: str) -> Iterator[Path]:
    folder = Path(os.path.realpath(path)).parent
    yield folder / name
    yield folder / ".debug" / name
    yield _SYSTEM.joinpath(*folder.parts[1:], name)


def _has_checksum(path: Path, checksum: int) -> bool:
    value = 0
    try:
        with open_regular(path) as file:
            while chunk := file.read(_CHUNK):
                value = zlib.crc32(chunk, value)
    except OSError:
        return False
    return value == checksum
