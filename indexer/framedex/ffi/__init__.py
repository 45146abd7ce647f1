"""The runs of FFI handlers: which `ffi_call` each is of, what its handler takes, and what went wrong with it."""

from typing import TYPE_CHECKING

from framedex.lazy import exports

if TYPE_CHECKING:
    from framedex.ffi.joins import FfiJoins, RunJoin, Site, follow_ffi, split_function
    from framedex.ffi.model import Problem

__all__ = ["FfiJoins", "Problem", "RunJoin", "Site", "follow_ffi", "split_function"]

# Those who ask for targets need no join.
__getattr__ = exports(
    __name__,
    {"joins": ("FfiJoins", "RunJoin", "Site", "follow_ffi", "split_function"), "model": ("Problem",)},
)
