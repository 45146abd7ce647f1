"""Runs of FFI handlers: the `ffi_call` of each run, the handler's parameters, and errors.

Start at `joins.py`, then `index/write/ffi.py`.

A handler run belongs to two stacks: the stack it ran on, and the stack of its `ffi_call`. Only certain joins have the
second. Candidates are listed but not counted for any line.
"""

from typing import TYPE_CHECKING

from framedex.base.lazy import export_lazily

if TYPE_CHECKING:
    from framedex.programs.ffi.joins import FfiJoins, RunJoin, Site, parse_ffi_joins, split_function
    from framedex.programs.ffi.model import UnknownTarget

__all__ = ["FfiJoins", "RunJoin", "Site", "UnknownTarget", "parse_ffi_joins", "split_function"]

# Queries of targets do not need the joins.
__getattr__ = export_lazily(
    __name__,
    {
        "joins": ("FfiJoins", "RunJoin", "Site", "parse_ffi_joins", "split_function"),
        "model": ("UnknownTarget",),
    },
)
