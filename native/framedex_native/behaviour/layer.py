"""The behaviour layer of libtpu.so, through ctypes.

Its C++ side is native/pjrt/behaviours/interface.cc. Every function is called with the GIL held, and releases it while
waiting.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler  # noqa: F401 - the layer uses it to print the stack of a behaviour that hangs
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PREFIX = "framedex_behaviour_"
_used: list[str] = []


class LayerError(Exception):
    """Raised without a behaviour layer in this process. The text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of a call: an error code's number and a message."""

    code: int
    text: str


class _CallStruct(ctypes.Structure):
    _fields_ = (("code", ctypes.c_int), ("text", ctypes.c_void_p), ("size", ctypes.c_size_t))


class Layer:
    """The behaviour layer of this process. It identifies functions by their index in the table."""

    def __init__(self, path: str) -> None:
        """Open the layer in the library at this path."""
        try:
            library = ctypes.PyDLL(path)
            self._set_dispatcher = library[_PREFIX + "set_dispatcher"]
        except (OSError, AttributeError) as error:
            raise LayerError(
                f"{path} has no behaviour layer: {error}. Reinstall framedex and restart the program."
            ) from None
        self.run = _function(library, "run", _CallStruct, ctypes.c_void_p)
        self.fail = _function(library, "fail", None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
        self.answer = _function(library, "answer", None, ctypes.c_void_p)
        self.arguments = _function(library, "arguments", ctypes.c_void_p, ctypes.c_void_p)
        self.caller_thread = _function(library, "caller_thread", ctypes.c_ulong, ctypes.c_void_p)
        self.is_abandoned = _function(library, "is_abandoned", ctypes.c_int, ctypes.c_void_p)
        self.begin = _function(library, "begin", None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
        self.end = _function(
            library, "end", None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t
        )
        # Python is about to exit, and behaviours with it: from now on the runtime answers calls by itself.
        atexit.register(_function(library, "close", None))
        self._set_dispatcher.argtypes = (ctypes.py_object,)
        self._set_dispatcher.restype = None
        self._watch = _function(library, "watch", None, ctypes.c_size_t, ctypes.c_int)
        self._call_function = _function(library, "ask", _CallStruct, ctypes.c_size_t, ctypes.c_void_p)
        self._clients = _function(library, "clients", ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t)

    def set_dispatcher(self, dispatch: Callable[[int, int], None]) -> None:
        """Run `dispatch(function, call)` for every call of a watched function."""
        self._set_dispatcher(dispatch)

    def watch(self, function: int, is_wanted: bool) -> None:
        """Start or stop dispatching calls of a function."""
        self._watch(function, is_wanted)

    def call_function(self, function: int, arguments: int) -> Failure | None:
        """Call a function of the underlying table with the argument struct at this address."""
        return failure_of(self._call_function(function, arguments))

    def clients(self) -> tuple[int, ...]:
        """The addresses of the live clients."""
        room = 16
        while True:
            found = (ctypes.c_void_p * room)()
            count = self._clients(found, room)
            if count <= room:
                return tuple(address or 0 for address in found[:count])
            room = count


class Call:
    """A call of a watched function, while its dispatcher runs."""

    def __init__(self, layer: Layer, address: int) -> None:
        """Wrap the address that the dispatcher received."""
        self._layer = layer
        self._address = address
        self.arguments: int = layer.arguments(address)
        """The address of the argument struct: the caller's, or a copy of it."""
        self.caller_thread: int = layer.caller_thread(address)
        """The thread that made the call, numbered as by `threading.get_ident`."""

    @property
    def is_abandoned(self) -> bool:
        """Whether the caller continued without the behaviours."""
        return bool(self._layer.is_abandoned(self._address))

    def run(self) -> Failure | None:
        """Run the function without behaviours. Call it once."""
        return failure_of(self._layer.run(self._address))

    def fail(self, code: int, text: str) -> None:
        """Fail the call."""
        data = _message(text)
        self._layer.fail(self._address, code, data, len(data))

    def answer(self) -> None:
        """Complete the call with the outputs now in its struct."""
        self._layer.answer(self._address)

    def begin(self, name: str, behaviour: str) -> None:
        """Record that a behaviour begins."""
        self._layer.begin(self._address, _message(name), _data(behaviour))

    def end(self, outcome: str, code: int = 0, text: str = "") -> None:
        """Record that the innermost behaviour ends."""
        data = _message(text)
        self._layer.end(self._address, _data(outcome), code, data, len(data))


def use(library: str) -> None:
    """Select the library file whose layer this process uses."""
    _used.append(library)


@functools.cache
def layer() -> Layer:
    """The behaviour layer of the process. Raises LayerError if there is none."""
    return Layer(_used[-1] if _used else _library())


def failure_of(report: Any) -> Failure | None:
    """Convert the layer's report on a call to a Failure, or None for success."""
    if not report.code:
        return None
    return Failure(report.code, ctypes.string_at(report.text, report.size).decode("utf-8", "surrogateescape"))


def _library() -> str:
    """The path of framedex's libtpu.so that the process has loaded or will load."""
    mapped = {line.split(maxsplit=5)[5].rstrip("\n") for line in _mappings() if line.count(" ") > 4 and "/" in line}
    for path in sorted(mapped):
        if Path(path).name.endswith(".so") and _has_layer(path, os.RTLD_LAZY | os.RTLD_NOLOAD):
            return path
    # If a preloaded library waits for the program's own plug-in, use the libtpu.so next to that library.
    preloaded = [Path(path).with_name("libtpu.so") for path in mapped if Path(path).name == "libframedex_preload.so"]
    for candidate in (*map(str, preloaded), os.environ.get("TPU_LIBRARY_PATH", "")):
        if candidate and _has_layer(candidate, os.RTLD_LAZY):
            return candidate
    try:
        import framedex_native

        return str(framedex_native.library_path())
    except (ImportError, AttributeError, OSError) as error:
        raise LayerError(f"framedex's libtpu.so is not loaded in this process: {error}") from None


def _mappings() -> list[str]:
    try:
        return Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return []


def _has_layer(path: str, mode: int) -> bool:
    """Whether a library has framedex's behaviour layer."""
    try:
        library = ctypes.PyDLL(path, mode=mode)
        return library[_PREFIX + "set_dispatcher"] is not None
    except (OSError, AttributeError):
        return False


def _function(library: ctypes.PyDLL, name: str, result: Any, *arguments: Any) -> Any:
    function = library[_PREFIX + name]
    function.restype = result
    function.argtypes = arguments
    return function


def _data(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _message(text: str) -> bytes:
    """Encode a message for jaxlib, which needs UTF-8 without zero bytes: escape all other characters."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace")
