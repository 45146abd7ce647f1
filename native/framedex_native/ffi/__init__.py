"""The Python half of FFI tracing: registered handlers, and the Python line of each handler run.

    import framedex_native.ffi
    framedex_native.ffi.install()  # best before jax is imported

It also records JAX's facts about compiled programs (`notes`) and the time that each phase of the start took
(`phases`), even in recordings without handlers.

`framedex run` installs it in the programs that it starts, through `startup/sitecustomize.py`. The program's Python
loads this package from its own folder. So the package imports only the standard library, and jaxlib modules that the
program has already imported. FRAMEDEX_FFI=0 disables it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from .cache_keys import note_cache_keys
from .cells import name_timed_code, note_cells
from .importing import after_import, stop_awaiting
from .library import Library
from .notes import ProgramNotes, note_compilations, note_traces
from .phases import Phases, record_jax_phases, time_backends, time_imports
from .programs import Programs, observe_programs
from .registrations import Registrations, wrap_registrations
from .sites import Sites, attach_sites
from .stacks import UserFrames

__all__ = ["install", "install_notes"]

_MARK = "_framedex_ffi"
_IPYTHON = "IPython.core.compilerop"


def install() -> None:
    """Trace the FFI handlers of this process from now on.

    Call it before JAX opens its devices: earlier registrations and compilations are missing. A second call, or
    FRAMEDEX_FFI=0, has no effect. If libframedex_ffi.so cannot be loaded, prints one line to stderr.
    """
    if os.environ.get("FRAMEDEX_FFI") != "0":
        after_import({"jaxlib.xla_client": _trace_registrations, "jax._src.ffi": _trace_calls})
        install_notes(is_early=True)


def install_notes(*, is_early: bool = False) -> None:
    """Note JAX's facts about each program that it compiles from now on, and the phases of its preparation.

    Static arguments are noted for functions traced from now on. `is_early`: before the program itself has begun, so
    that the phases are those of its whole start. A second call, or FRAMEDEX_FFI=0, has no effect.
    """
    if os.environ.get("FRAMEDEX_FFI") != "0":
        phases, notes = Phases(is_early=is_early), ProgramNotes()
        imports = time_imports(phases) if "jax._src.compiler" not in sys.modules else None
        noting: dict[str, Callable[[ModuleType], None]] = {
            "jax._src.monitoring": lambda monitoring: record_jax_phases(phases, monitoring, imports),
            "jax._src.xla_bridge": lambda xla_bridge: time_backends(phases, xla_bridge),
            "jax._src.cache_key": lambda cache_key: note_cache_keys(cache_key, notes),
            "jax._src.compiler": lambda compiler: _note_compilations(compiler, notes, phases),
            "jax._src.pjit": note_traces,
            _IPYTHON: _report_cells,
        }
        after_import({name: _silently(action) for name, action in noting.items()})


def _report_cells(compilerop: ModuleType) -> None:
    name_timed_code(compilerop)
    note_cells(compilerop)


def _note_compilations(compiler: ModuleType, notes: ProgramNotes, phases: Phases) -> None:
    library = Library()
    notes.attach(library)
    note_compilations(compiler, notes)
    phases.attach(library)
    # A kernel imports IPython before JAX. In other programs framedex must leave sys.meta_path.
    stop_awaiting(_IPYTHON)


def _silently(action: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    """Wrap an action to ignore its exceptions: handlers are recorded even without these notes."""

    def act(module: ModuleType) -> None:
        with suppress(Exception):
            action(module)

    return act


class _TracingState:
    """The tracing state that the hooks of one process share."""

    def __init__(self, jaxlib_folder: Path) -> None:
        self.library = Library()
        self.library.install_crash_report()
        packages = (jaxlib_folder, jaxlib_folder.with_name("jax"), Path(__file__).parents[1])
        user_frames = UserFrames(*map(str, packages))
        self.sites = Sites(self.library, user_frames)
        self.registrations = Registrations(self.library, user_frames)
        self.programs = Programs(self.library, self.sites, self.registrations, user_frames)


def _trace_registrations(xla_client: ModuleType) -> None:
    if hasattr(xla_client, _MARK):
        return
    assert xla_client.__file__ is not None
    state = _TracingState(Path(xla_client.__file__).parent)
    setattr(xla_client, _MARK, state)
    wrap_registrations(xla_client, state.registrations)
    observe_programs(xla_client.Client, state.programs)


def _trace_calls(ffi: Any) -> None:
    state = getattr(ffi.xla_client, _MARK, None)
    if state is None or hasattr(ffi, _MARK):
        return
    setattr(ffi, _MARK, state)
    _hide_own_frames()
    attach_sites(ffi, ffi.mlir, state.sites)


def _hide_own_frames() -> None:
    """Hide framedex's files, as JAX hides its own, from JAX's tracebacks and source locations."""
    traceback_util = sys.modules.get("jax._src.traceback_util")
    source_info_util = sys.modules.get("jax._src.source_info_util")
    for module in (traceback_util, source_info_util):
        register_exclusion = getattr(module, "register_exclusion", None)
        if register_exclusion is not None:
            register_exclusion(os.fspath(Path(__file__).parent))
