"""The compiled part of framedex, imported on demand, and the errors if it is missing.

The native part is built for one kind of system. On other systems, reading an index still works. Modules that need it
raise an error with a remedy instead of ImportError.
"""

from __future__ import annotations

import os
import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any

from framedex.base.errors import FramedexError

if TYPE_CHECKING:
    import framedex_native as framedex_native
    from framedex_native import _call_stream as _call_stream
    from framedex_native import _extractor as _extractor
    from framedex_native import _native as _native
    from framedex_native import _scanner as _scanner
    from framedex_native import behaviour as behaviour
    from framedex_native import ffi as ffi
    from framedex_native.ffi import protobuf as protobuf

SUPPORTED_PYTHONS = ((3, 11), (3, 14))
"""The oldest and the newest Python with a native part."""

RECORDABLE_PYTHONS = ((3, 11), (3, 15))
"""The oldest and the newest Python whose programs are recorded, from any supported Python (`run --python`)."""

_MODULES = {"framedex_native": "framedex_native", "protobuf": "framedex_native.ffi.protobuf"} | {
    name: f"framedex_native.{name}"
    for name in ("_call_stream", "_extractor", "_native", "_scanner", "behaviour", "ffi")
}
_IMPORTING = threading.RLock()  # if imports fail in two threads, one of them could get a half-initialised module
REINSTALL_REMEDY = "Install framedex again: pip install --force-reinstall framedex."


class NoNativePartError(FramedexError):
    """The requested operation needs the native part, which this installation lacks."""


def __getattr__(name: str) -> Any:
    """A module of the native part, imported on first use. Raises NoNativePartError if it is missing."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        with _IMPORTING:
            return import_module(_MODULES[name])
    except ImportError as error:
        raise _describe_failure(error) from error


def name_unsupported_system() -> str | None:
    """The reason why this system has no native part, such as `macOS`; None if it is supported."""
    import platform

    oldest, newest = SUPPORTED_PYTHONS
    if not oldest <= sys.version_info[:2] <= newest:
        return f"Python {sys.version_info[0]}.{sys.version_info[1]}"
    if "t" in getattr(sys, "abiflags", ""):
        return "free-threaded Python"
    if sys.implementation.name != "cpython":
        return sys.implementation.name
    if sys.platform != "linux":
        return {"darwin": "macOS", "win32": "Windows"}.get(sys.platform, sys.platform)
    if platform.machine() not in ("x86_64", "aarch64"):
        return f"Linux on {platform.machine()}"
    return None if _is_glibc() else "a Linux whose C library is not glibc"


def _is_glibc() -> bool:
    try:
        return bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (OSError, ValueError):  # musl does not support this variable
        return False


def _describe_failure(error: ImportError) -> NoNativePartError:
    system = name_unsupported_system()
    if system is not None:
        oldest, newest = (f"{major}.{minor}" for major, minor in SUPPORTED_PYTHONS)
        return NoNativePartError(
            f"This needs framedex's native part, which does not exist for {system}.",
            f"Record and index on Linux (x86-64 or ARM64, glibc) with Python {oldest} to {newest}, then copy the index"
            " here. Commands that read an index, `framedex explain` and the language server work everywhere.",
        )
    if _is_missing(error):
        return NoNativePartError("The native part of framedex is missing from this installation.", REINSTALL_REMEDY)
    return NoNativePartError(f"The native part of framedex cannot be loaded: {error}.", REINSTALL_REMEDY)


def _is_missing(error: BaseException | None) -> bool:
    """Whether the module's file is missing, instead of present but impossible to load."""
    if error is None:
        return False
    return isinstance(error, ModuleNotFoundError) or "cannot import name" in str(error) or _is_missing(error.__cause__)
