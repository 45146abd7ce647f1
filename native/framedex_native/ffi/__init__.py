"""The Python half of FFI tracing: which handlers are registered, and which line of Python each of their runs is for.

    import framedex_native.ffi

    framedex_native.ffi.install()  # best before jax is imported

Beside that, what JAX knows of the programs that it has compiled (`notes`), for recordings without handlers, too.

`framedex run` does this for the programs that it starts, through `startup/sitecustomize.py`. This package is loaded
from its own folder into whatever Python the program has, so it needs nothing but the standard library, and jaxlib's
own modules once the program has imported them. FRAMEDEX_FFI=0 keeps it out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from .cells import note_cells
from .importing import after_import, stop_awaiting
from .library import Library
from .notes import note_compilations, note_traces
from .programs import Programs, follow_programs
from .registrations import Registrations, follow_registrations
from .sites import Sites, follow_calls
from .stacks import UserFrames

__all__ = ["install", "install_notes"]

_MARK = "_framedex_ffi"
_IPYTHON = "IPython.core.compilerop"


def install() -> None:
    """Follow the FFI handlers of this process from now on.

    What was registered with XLA and compiled before is not seen: call it before JAX opens its devices. Does nothing the
    second time, or with FRAMEDEX_FFI=0. When libframedex_ffi.so cannot be loaded that is one line on stderr.
    """
    if os.environ.get("FRAMEDEX_FFI") != "0":
        after_import({"jaxlib.xla_client": _follow_registrations, "jax._src.ffi": _follow_calls})
        install_notes()


def install_notes() -> None:
    """Note from now on what JAX knows of the programs that it has compiled.

    Static arguments are those of what is traced from now on. Does nothing the second time, or with FRAMEDEX_FFI=0.
    """
    if os.environ.get("FRAMEDEX_FFI") != "0":
        noting = {
            "jax._src.compiler": _note_compilations,
            "jax._src.pjit": note_traces,
            _IPYTHON: note_cells,
        }
        after_import({name: _silently(action) for name, action in noting.items()})


def _note_compilations(compiler: ModuleType) -> None:
    note_compilations(compiler, Library())
    # A kernel imports IPython before JAX. In other programs nothing of framedex stays in sys.meta_path.
    stop_awaiting(_IPYTHON)


def _silently(action: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    """What cannot be noted is missing where it would be told: handlers are recorded nevertheless."""

    def act(module: ModuleType) -> None:
        with suppress(Exception):
            action(module)

    return act


class _Following:
    """What is followed, shared by the hooks of one process."""

    def __init__(self, jaxlib_folder: Path) -> None:
        self.library = Library()
        self.library.install_crash_report()
        user_frames = UserFrames(str(jaxlib_folder), str(jaxlib_folder.with_name("jax")))
        self.sites = Sites(self.library, user_frames)
        self.registrations = Registrations(self.library)
        self.programs = Programs(self.library, self.sites, self.registrations, user_frames)


def _follow_registrations(xla_client: ModuleType) -> None:
    if hasattr(xla_client, _MARK):
        return
    assert xla_client.__file__ is not None
    following = _Following(Path(xla_client.__file__).parent)
    setattr(xla_client, _MARK, following)
    follow_registrations(xla_client, following.registrations)
    follow_programs(xla_client.Client, following.programs)


def _follow_calls(ffi: Any) -> None:
    following = getattr(ffi.xla_client, _MARK, None)
    if following is None or hasattr(ffi, _MARK):
        return
    setattr(ffi, _MARK, following)
    _hide_own_frames()
    follow_calls(ffi, ffi.mlir, following.sites)


def _hide_own_frames() -> None:
    """Have JAX leave our files out of tracebacks and locations, as it leaves out its own, between which ours come."""
    traceback_util = sys.modules.get("jax._src.traceback_util")
    source_info_util = sys.modules.get("jax._src.source_info_util")
    for module in (traceback_util, source_info_util):
        register_exclusion = getattr(module, "register_exclusion", None)
        if register_exclusion is not None:
            register_exclusion(os.fspath(Path(__file__).parent))
