"""Compiled programs: the source lines of their ops, signatures, options, and JAX's notes.

Subpackages: `objects/` (PJRT's objects) and `ffi/` (FFI handlers).

Start at `bytecode.py` (lines of ops), then `signature.py`, `notes.py` and `options.py`. `memory.py` reads XLA's
optimised programs, `pass_log.py` the times of its passes.
`native/recorder/kept_files.h` stores the programs.
"""

from typing import TYPE_CHECKING

from framedex.base.lazy import export_lazily

if TYPE_CHECKING:
    from framedex.programs.bytecode import read_program
    from framedex.programs.memory import read_program_memory
    from framedex.programs.notes import read_note
    from framedex.programs.options import read_options

__all__ = ["read_note", "read_options", "read_program", "read_program_memory"]

__getattr__ = export_lazily(
    __name__,
    {
        "notes": ("read_note",),
        "options": ("read_options",),
        "bytecode": ("read_program",),
        "memory": ("read_program_memory",),
    },
)
