"""Binaries: resolve addresses in ELF files to functions and source lines.

Start at:

- `symbols.py`, then `mini_debug_info.py` and `extents.py`: the symbols that name functions, and the ends of functions
- `linkage.py`, then `code.py`: the functions that calls through the PLT reach
- `dwarf.py`, then `line_tables.py`, which caches them: line tables
- `debuginfod.py`: debug files from servers
- `contents.py`: whether a file is the recorded binary
- `kept.py`: copies of recorded binaries that survive an upgrade
- `spellings.py`: the spellings of one printed name
- `ffi_handlers.py`: the types that an FFI handler binds

docs/explanation/sources.md#symbols explains the choice of symbols.
"""

from typing import TYPE_CHECKING

from framedex.lazy import exports

if TYPE_CHECKING:
    from framedex.binaries.binary import Binary
    from framedex.binaries.contents import Contents, state_of
    from framedex.binaries.kept import KeptBinaries
    from framedex.binaries.roles import role_of

__all__ = ["Binary", "Contents", "KeptBinaries", "role_of", "state_of"]

__getattr__ = exports(
    __name__,
    {
        "binary": ("Binary",),
        "contents": ("Contents", "state_of"),
        "kept": ("KeptBinaries",),
        "roles": ("role_of",),
    },
)
