"""The runs of FFI handlers: which `ffi_call` each is of, what its handler takes, and what went wrong with it."""

from framedex.ffi.joins import FfiJoins, Problem, RunJoin, Site, follow_ffi, split_function

__all__ = ["FfiJoins", "Problem", "RunJoin", "Site", "follow_ffi", "split_function"]
