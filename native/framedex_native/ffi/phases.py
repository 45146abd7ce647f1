"""Times the phases of a program's start: imports, the start of backends, and JAX's preparation of programs.

JAX reports how long it traced, lowered, compiled, and read its compilation cache to `jax._src.monitoring`. Each phase
is written into the capture with its Python stack. Imports and backends are timed by the locks that Python and JAX hold
meanwhile. So no hook is on the stack of an import, or of an error in it. Listeners of the program are not affected.
"""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Mapping
from threading import get_ident, get_native_id
from types import FrameType, ModuleType
from typing import Any

from .library import Library

MAX_PHASES = 10_000
"""The maximum number of phases of a process, so that a program that compiles forever does not fill the memory."""

MIN_DURATION_NS = 500_000
"""Imports and held locks that are shorter belong to the phase around them."""

_MARK = "_framedex_phases"
_MAX_FRAMES = 100
_DURATIONS = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "compile",
    "/jax/compilation_cache/cache_retrieval_time_sec": "load",
}
_LOOKUP = "/jax/compilation_cache/compile_requests_use_cache"
_START_TIME_FIELD = 19  # the index of the field in /proc/self/stat, counted after the name; see proc(5)


class Phases:
    """The phases of this process. They are written once a library is attached."""

    def __init__(self, *, is_early: bool) -> None:
        """`is_early`: from the interpreter's start on, before the program itself."""
        self._is_early = is_early
        self._followed_ns = time.monotonic_ns()
        self._library: Library | None = None
        self._pending: list[tuple[str, Mapping[str, Any]]] = []
        self._process = 0
        self._left = MAX_PHASES
        self._is_of_jax: dict[str, bool] = {}  # by file name
        self._jax_folders: tuple[str, ...] = ()

    def attach(self, library: Library) -> None:
        """Write the phases so far, and all later ones, through a library."""
        self._library = library
        while self._pending:
            library.describe_once(*self._pending.pop(0))

    def set_jax_folder(self, folder: str) -> None:
        """Leave the frames of JAX, in this folder, and of its jaxlib out of stacks."""
        self._jax_folders = (f"{folder}/", f"{folder}lib/")
        self._is_of_jax.clear()

    def add(self, kind: str, name: str, start: int, end: int, frame: FrameType | None) -> None:
        """Add a phase of this thread with its Python stack, innermost at `frame`; times of CLOCK_MONOTONIC in ns."""
        process = os.getpid()
        if process != self._process:  # also in a forked child
            self._process = process
            began = {"started_ns": _process_start(), "followed_ns": self._followed_ns, "is_early": self._is_early}
            self._write("process", {"pid": process, **began})
        if self._left <= 0:
            return
        self._left -= 1
        times = {"start_ns": start, "duration_ns": end - start}
        phase = {"pid": process, "thread": get_native_id(), "kind": kind, "name": name, **times}
        self._write("phase", {**phase, "is_last": not self._left, "frames": self._frames(frame)})

    def _write(self, kind: str, content: Mapping[str, Any]) -> None:
        if self._library is None:
            self._pending.append((kind, content))
        else:
            self._library.describe_once(kind, content)

    def _frames(self, frame: FrameType | None) -> list[tuple[str, int, str, int]]:
        """The file, line, name and first line of each frame outside of JAX, innermost first."""
        frames: list[tuple[str, int, str, int]] = []
        known = self._is_of_jax
        while frame is not None and len(frames) < _MAX_FRAMES:
            code = frame.f_code
            file = code.co_filename
            is_of_jax = known.get(file)
            if is_of_jax is None:
                is_of_jax = known[file] = file.startswith(("<", *self._jax_folders))
            if not is_of_jax:
                line = frame.f_lineno or code.co_firstlineno
                frames.append((file, line, code.co_qualname, code.co_firstlineno))
            frame = frame.f_back
        return frames


def time_imports(phases: Phases) -> ImportTimer | None:
    """Time imports from now on; None if another copy of this package does, or if this Python imports differently."""
    bootstrap: Any = sys.modules["_frozen_importlib"]
    lock = getattr(bootstrap, "_ModuleLockManager", None)
    if lock is None or hasattr(lock, _MARK):
        return None
    return ImportTimer(phases, bootstrap, lock)


class ImportTimer:
    """Times the first import of each top-level package, without the packages that it imports itself."""

    def __init__(self, phases: Phases, bootstrap: Any, lock: type[Any]) -> None:
        """`lock` is the context manager that Python's import system holds while it loads a module."""
        self._bootstrap = bootstrap
        self._lock = lock
        self._timed = self._timed_lock(phases)
        bootstrap._ModuleLockManager = self._timed

    def stop(self) -> None:
        """Restore Python's own lock."""
        if self._bootstrap._ModuleLockManager is self._timed:
            self._bootstrap._ModuleLockManager = self._lock

    def _timed_lock(self, phases: Phases) -> type[Any]:
        lock: Any = self._lock
        open_imports: dict[int, list[str]] = {}  # packages being imported, by thread

        class _ModuleLockManager(lock):  # type: ignore[misc] # a class of the running Python
            _framedex_phases = True

            def __init__(self, name: str) -> None:
                super().__init__(name)
                self._package = name.partition(".")[0]
                self._start = 0

            def __enter__(self) -> None:
                super().__enter__()
                packages = open_imports.setdefault(get_ident(), [])
                if not packages or packages[-1] != self._package:
                    packages.append(self._package)
                    self._start = time.monotonic_ns()

            def __exit__(self, *error: object) -> None:
                super().__exit__(*error)
                if self._start:
                    end = time.monotonic_ns()
                    packages = open_imports[get_ident()]
                    packages.pop()
                    if end - self._start >= MIN_DURATION_NS:
                        try:
                            phases.add(
                                "import", self._package, self._start, end, None if packages else sys._getframe(1)
                            )
                        except Exception:  # the import must succeed
                            return

        return _ModuleLockManager


def record_jax_phases(phases: Phases, monitoring: ModuleType, imports: ImportTimer | None) -> None:
    """Record the phases that JAX reports to `jax._src.monitoring`, and stop timing imports after a compilation."""
    if hasattr(monitoring, _MARK) or monitoring.__file__ is None:
        return
    setattr(monitoring, _MARK, phases)
    phases.set_jax_folder(os.path.dirname(os.path.dirname(monitoring.__file__)))  # noqa: PTH120 - at start-up

    def add(event: str, duration: float, name: object, frame: FrameType) -> None:
        kind = _DURATIONS.get(event)
        try:
            if kind is not None:
                end = time.monotonic_ns()
                phases.add(kind, str(name), end - int(duration * 1e9), end, frame)
                if kind == "compile" and imports is not None:
                    imports.stop()
            elif event == _LOOKUP:
                end = time.monotonic_ns()
                phases.add("lookup", "", end, end, None)
        except Exception:  # on any failure the program must continue without this phase
            return

    _replace(monitoring, "record_event_duration_secs", lambda original: _durations(original, add))
    _replace(monitoring, "record_event", lambda original: _events(original, add))


def _durations(original: Any, add: Any) -> Any:
    @functools.wraps(original)
    def record_event_duration_secs(event: str, duration: float, **kwargs: Any) -> Any:
        add(event, duration, kwargs.get("fun_name", ""), sys._getframe(1))
        return original(event, duration, **kwargs)

    return record_event_duration_secs


def _events(original: Any, add: Any) -> Any:
    @functools.wraps(original)
    def record_event(event: str, **kwargs: Any) -> Any:
        add(event, 0.0, "", sys._getframe(1))
        return original(event, **kwargs)

    return record_event


def _replace(monitoring: Any, name: str, wrap: Any) -> None:
    """Wrap a function of `jax._src.monitoring`, also where `jax._src.dispatch` has imported it."""
    original = getattr(monitoring, name)
    wrapped = wrap(original)
    for module in (monitoring, sys.modules.get("jax._src.dispatch")):
        if getattr(module, name, None) is original:
            setattr(module, name, wrapped)


def time_backends(phases: Phases, xla_bridge: Any) -> None:
    """Time the first start of JAX's backends, during which `jax._src.xla_bridge` holds a lock."""
    lock = getattr(xla_bridge, "_backend_lock", None)
    if lock is None or isinstance(lock, _TimedLock) or getattr(xla_bridge, "_backends", None) != {}:
        return
    xla_bridge._backend_lock = _TimedLock(phases, xla_bridge, lock)


class _TimedLock:
    """Stands in for the lock of JAX's backends until they have started."""

    def __init__(self, phases: Phases, xla_bridge: Any, lock: Any) -> None:
        self._phases = phases
        self._xla_bridge = xla_bridge
        self._lock = lock
        self._start = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)

    def __enter__(self) -> Any:
        entered = self._lock.__enter__()
        self._start = time.monotonic_ns()
        return entered

    def __exit__(self, *error: object) -> None:
        start, end = self._start, time.monotonic_ns()
        backends = self._xla_bridge._backends
        if backends and self._xla_bridge._backend_lock is self:
            self._xla_bridge._backend_lock = self._lock
            try:
                self._phases.add("backend", ", ".join(backends), start, end, sys._getframe(1))
            except Exception:  # the lock must be released
                backends = {}
        self._lock.__exit__(*error)


def _process_start() -> int:
    """The time of CLOCK_MONOTONIC at which this process began, in ns; 0 if unknown. The kernel counts in ticks."""
    try:
        with open("/proc/self/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - at start-up
            ticks = int(file.read().rpartition(")")[2].split()[_START_TIME_FIELD])
        age = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - ticks * (10**9 // os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return 0
    return time.monotonic_ns() - age
