"""A ctypes binding of libframedex_ffi.so, one build for every Python. The C++ side is native/ffi/library.cc."""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "libframedex_ffi.so"
STAGES = ("instantiate", "prepare", "initialize", "execute")
_BATCH = 1024


class _Instance(ctypes.Structure):
    _fields_ = (
        ("id", ctypes.c_uint64),
        ("thread", ctypes.c_uint64),
        ("target", ctypes.c_char_p),
        ("attributes", ctypes.c_char_p),
    )


@dataclass(frozen=True)
class Instance:
    """A custom call of a loaded executable: its number, its instantiating thread, its target and its attributes."""

    number: int
    thread: int
    target: str
    attributes: str


class _Stages(ctypes.Structure):
    _fields_ = tuple((stage, ctypes.c_void_p) for stage in STAGES)


class Library:
    """The functions of libframedex_ffi.so. Raises OSError if the library cannot be loaded."""

    def __init__(self) -> None:
        """Load the library."""
        self._library = ctypes.CDLL(str(_path()))
        self._library.framedex_ffi_wrap.restype = ctypes.c_bool
        self._library.framedex_ffi_describe.restype = ctypes.c_bool
        self._library.framedex_ffi_describe_once.restype = ctypes.c_bool
        self._library.framedex_ffi_wrap_untyped.restype = ctypes.c_void_p
        self._library.framedex_ffi_wrap_untyped.argtypes = (ctypes.c_char_p, ctypes.c_void_p)
        self._library.framedex_ffi_last_instance.restype = ctypes.c_uint64
        self._library.framedex_ffi_instances_after.restype = ctypes.c_size_t
        self._library.framedex_ffi_instances_after.argtypes = (
            ctypes.c_uint64,
            ctypes.POINTER(_Instance),
            ctypes.c_size_t,
        )
        self._library.framedex_ffi_join.argtypes = (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_bool)

    def wrap(
        self, target: str, stages: Mapping[str, int], *, has_instances: bool, keeps_results: bool
    ) -> dict[str, int] | None:
        """Create trampolines for a target's handlers (addresses by stage), or return None if none are free."""
        bundle = _Stages(**stages)
        flags = map(ctypes.c_bool, (has_instances, keeps_results))
        if not self._library.framedex_ffi_wrap(_bytes(target), ctypes.byref(bundle), *flags):
            return None
        return {stage: address for stage in STAGES if (address := getattr(bundle, stage))}

    def wrap_untyped(self, target: str, handler: int) -> int | None:
        """Create a trampoline for a custom call of the untyped API, or return None if none is free."""
        address: int | None = self._library.framedex_ffi_wrap_untyped(_bytes(target), handler)
        return address

    def add_site(self, target: str, line: str) -> None:
        """Add a line that calls the target to crash reports."""
        self._library.framedex_ffi_add_site(_bytes(target), _bytes(line))

    def last_instance(self) -> int:
        """The number of the newest instance, 0 without instances."""
        number: int = self._library.framedex_ffi_last_instance()
        return number

    def instances_after(self, mark: int) -> Sequence[Instance]:
        """The loaded instances with numbers above `mark` and without a certain join, in order."""
        capacity = _BATCH
        while True:
            entries = (_Instance * capacity)()
            count = self._library.framedex_ffi_instances_after(mark, entries, capacity)
            if count <= capacity:
                return [Instance(e.id, e.thread, _text(e.target), _text(e.attributes)) for e in entries[:count]]
            capacity = count

    def join(self, instance: int, site: int, line: str, *, is_certain: bool) -> None:
        """Join an instance to its site (0: none), with the source line for crash reports."""
        self._library.framedex_ffi_join(instance, site, _bytes(line), ctypes.c_bool(is_certain))

    def describe(self, kind: str, content: Mapping[str, Any]) -> bool:
        """Write a JSON object into every capture of this process. Returns False if the object is too large."""
        written: bool = self._library.framedex_ffi_describe(_bytes(kind), json.dumps(content).encode())
        return bool(written)

    def describe_once(self, kind: str, content: Mapping[str, Any]) -> bool:
        """Write a JSON object into the current capture, or else into the next one. False if it is too large."""
        written: bool = self._library.framedex_ffi_describe_once(_bytes(kind), json.dumps(content).encode())
        return bool(written)

    def note(self, content: str | None) -> None:
        """Set the JSON note for the next program compiled or loaded on this thread; None clears it."""
        self._library.framedex_ffi_note((content or "").encode())

    def start_recording(self) -> None:
        """Start a recording if the environment requests one."""
        self._library.framedex_ffi_start_recording()

    def install_crash_report(self) -> None:
        """Report fatal signals in handlers."""
        self._library.framedex_ffi_install_crash_report()


def _path() -> Path:
    """The path of the library: next to this package, or in an editable installation next to the compiled module."""
    beside = Path(__file__).parents[1] / NAME
    native = sys.modules.get("framedex_native._native")
    if not beside.exists() and native is not None and native.__file__:
        return Path(native.__file__).with_name(NAME)
    return beside


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")
