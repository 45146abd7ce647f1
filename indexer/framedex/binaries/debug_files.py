"""The separate file with the debug information of a stripped binary, and the symbols embedded in a binary.

The search follows gdb (GDB manual, "Debugging Information in Separate Files"). First by build-id below the system's
debug folder, then by the name in `.gnu_debuglink` next to the binary. The cache of debuginfod clients is also searched;
`debuginfod.py` fills it.

Section `.gnu_debugdata` has compressed symbols as an embedded ELF file (GDB manual, "MiniDebugInfo"). If both files
belong to the same binary, its addresses are trusted like those of the binary's own symbol table.

The debug files of a process in a container are searched in that container: below `/proc/PID/root`, like its binaries.
"""

from __future__ import annotations

import lzma
import os
import re
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from framedex.base.errors import SystemLimitError
from framedex.base.folders import user_folder
from framedex.base.regularfile import open_regular
from framedex.binaries.elf import Elf, format_error

_SYSTEM_DEBUG_FOLDER = Path("/usr/lib/debug")
_PROCESS_ROOT = re.compile(r"/proc/\d+/root(?=/)")
_CHUNK_BYTES = 1 << 20


def find_debug_file(path: Path, elf: Elf) -> Path | None:
    """The debug file of a binary, verified by build-id or checksum; None if not found."""
    root = _find_root(path)
    build_id = elf.build_id
    if build_id:
        cache = find_debuginfod_cache()
        cached = [cache / build_id / "debuginfo"] if cache else []
        by_id = Path(".build-id", build_id[:2], f"{build_id[2:]}.debug")
        installed = dict.fromkeys((_debug_folder(root) / by_id, _SYSTEM_DEBUG_FOLDER / by_id))
        for candidate in (*installed, *cached):
            if has_build_id(candidate, build_id):
                return candidate
    link = elf.debug_link
    if link is None:
        return None
    name, checksum = link
    return next((c for c in _find_linked_paths(path, name, root) if c != path and _has_checksum(c, checksum)), None)


def find_debuginfod_cache() -> Path | None:
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


def _find_root(path: Path) -> Path:
    """The folder in which a process sees its files, for the path of a binary there; otherwise `/`."""
    match = _PROCESS_ROOT.match(str(path))
    return Path(match[0]) if match else Path("/")


def _debug_folder(root: Path) -> Path:
    return root.joinpath(*_SYSTEM_DEBUG_FOLDER.parts[1:])


def _find_linked_paths(path: Path, name: str, root: Path) -> Iterator[Path]:
    # Links inside another root cannot be resolved from here. Paths of mapped files contain no links.
    folder = path.parent if root.name else Path(os.path.realpath(path)).parent
    yield folder / name
    yield folder / ".debug" / name
    yield _debug_folder(root) / folder.relative_to(root) / name


def _has_checksum(path: Path, checksum: int) -> bool:
    value = 0
    try:
        with open_regular(path) as file:
            while chunk := file.read(_CHUNK_BYTES):
                value = zlib.crc32(chunk, value)
    except OSError:
        return False
    return value == checksum


MINI_DEBUG_INFO_SECTION = ".gnu_debugdata"
_MAX_DECOMPRESSED_BYTES = 1 << 28  # bytes, decompressed; jaxlib's library has 105 MB
_MAX_LZMA_MEMORY_BYTES = 1 << 28  # bytes of memory that the decompressor may use; `xz -9` needs 65 MB


def read_mini_debug_info(elf: Elf) -> Elf | None:
    """The embedded ELF file with a binary's symbols; None if missing. Adds errors to `elf.problems`."""
    section = elf.section(MINI_DEBUG_INFO_SECTION)
    if section is None:
        return None
    try:
        data = _decompress(bytes(elf.section_content(section)))
        embedded = Elf(data, BytesIO(data))
        trouble = _describe_mismatch(embedded, elf)
    except Exception as error:  # lzma, or pyelftools on the decompressed data
        trouble = f"cannot be read: {format_error(error)}"
    if trouble is not None:
        elf.problems.append(f"The embedded symbols ({MINI_DEBUG_INFO_SECTION}) {trouble}.")
        return None
    return embedded


def _decompress(content: bytes) -> bytes:
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MAX_LZMA_MEMORY_BYTES)
    data = decompressor.decompress(content, _MAX_DECOMPRESSED_BYTES)
    if decompressor.eof:
        return data
    if decompressor.needs_input:
        raise ValueError("they are truncated")
    raise ValueError(f"they are larger than {_MAX_DECOMPRESSED_BYTES >> 20} MiB")


def _describe_mismatch(embedded: Elf, elf: Elf) -> str | None:
    if embedded.machine != elf.machine:
        return "are for another machine"
    if embedded.build_id and elf.build_id and embedded.build_id != elf.build_id:
        return "belong to another binary: the build-ids differ"
    own, other = elf.section(".text"), embedded.section(".text")
    if own and other and (own.address, own.size) != (other.address, other.size):
        return "belong to another binary: its code is at other addresses"
    return None
