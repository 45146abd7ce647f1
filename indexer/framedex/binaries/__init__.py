"""Binaries: resolve addresses in ELF files to functions and source lines.

Start at:

- `symbols.py`: the symbols that name functions
- `loaded_tables.py`: the ends of functions, and the functions that calls through the PLT reach
- `code.py`: the calls of a function
- `dwarf.py`: line tables
- `debug_files.py`, then `debuginfod.py`: separate debug files, also from servers
- `recorded_files.py`: whether a file is the recorded binary, and copies of recorded binaries that survive an upgrade
- `demangle.py`: demangled names, also of names that a debugger printed
- `ffi_handlers.py`: the types that an FFI handler binds

docs/explanation/sources.md#symbols explains the choice of symbols.
"""

from typing import TYPE_CHECKING

from framedex.base.lazy import export_lazily

if TYPE_CHECKING:
    from framedex.binaries.binary import Binary
    from framedex.binaries.recorded_files import BinaryStore, DigestCache, read_binary_state
    from framedex.binaries.roles import classify_native_frame

__all__ = ["Binary", "BinaryStore", "DigestCache", "classify_native_frame", "read_binary_state"]

__getattr__ = export_lazily(
    __name__,
    {
        "binary": ("Binary",),
        "recorded_files": ("DigestCache", "BinaryStore", "read_binary_state"),
        "roles": ("classify_native_frame",),
    },
)
