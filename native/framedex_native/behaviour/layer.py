"""The layer of behaviours in libtpu.so, through ctypes. Its other side is native/pjrt/behaviours/interface.cc.

All of it is called with the GIL, and lets go of it where it waits.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler  # noqa: F401 - the layer shows the stack of a behaviour that does not end with it
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PREFIX = "framedex_behaviour_"
_used: list[str] = []


class LayerError(Exception):
    """This process has no layer to put behaviours on; the text says why, and what helps."""


@dataclass(frozen=True, slots=True)
class Failure:
    """How a call has failed: the number of a code, and a message."""

    code: int
    text: str


class _Told(ctypes.Structure):
    _fields_ = (("code", ctypes.c_int), ("text", ctypes.c_void_p), ("size", ctypes.c_size_t))


class Layer:
    """The one layer of this process. Functions are known by their number: their place in the table."""

    def __init__(self, path: str) -> None:
        """That of the library of this path."""
        try:
            library = ctypes.PyDLL(path)
            self._set_dispatcher = library[_PREFIX + "set_dispatcher"]
        except (OSError, AttributeError) as error:
            raise LayerError(
                f"{path} has no layer for behaviours: {error}; install framedex again, and start the program anew"
            ) from None
        self.run = _function(library, "run", _Told, ctypes.c_void_p)
        self.fail = _function(library, "fail", None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t)
        self.answer = _function(library, "answer", None, ctypes.c_void_p)
        self.arguments = _function(library, "arguments", ctypes.c_void_p, ctypes.c_void_p)
        self.caller_thread = _function(library, "caller_thread", ctypes.c_ulong, ctypes.c_void_p)
        self.is_abandoned = _function(library, "is_abandoned", ctypes.c_int, ctypes.c_void_p)
        self.begin = _function(library, "begin", None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
        self.end = _function(
            library, "end", None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t
        )
        # Behaviours are Python, which is about to end: from here on the runtime answers by itself.
        atexit.register(_function(library, "close", None))
        self._set_dispatcher.argtypes = (ctypes.py_object,)
        self._set_dispatcher.restype = None
        self._watch = _function(library, "watch", None, ctypes.c_size_t, ctypes.c_int)
        self._ask = _function(library, "ask", _Told, ctypes.c_size_t, ctypes.c_void_p)
        self._clients = _function(library, "clients", ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t)

    def set_dispatcher(self, dispatch: Callable[[int, int], None]) -> None:
        """Have `dispatch(function, call)` run for every call of a watched function."""
        self._set_dispatcher(dispatch)

    def watch(self, function: int, is_wanted: bool) -> None:
        """Have calls of a function dispatched, or no longer."""
        self._watch(function, is_wanted)

    def ask(self, function: int, arguments: int) -> Failure | None:
        """Call a function of the table below with an argument struct at this address."""
        return failure_of(self._ask(function, arguments))

    def clients(self) -> tuple[int, ...]:
        """The addresses of the clients that are alive."""
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
        """The call that the dispatcher was given."""
        self._layer = layer
        self._address = address
        self.arguments: int = layer.arguments(address)
        """Where its argument struct lies: the caller's, or a copy of it."""
        self.caller_thread: int = layer.caller_thread(address)
        """The thread that made the call, as `threading.get_ident` numbers them."""

    @property
    def is_abandoned(self) -> bool:
        """Whether the caller has gone on without the behaviours."""
        return bool(self._layer.is_abandoned(self._address))

    def run(self) -> Failure | None:
        """Do what the function would do without behaviours, once."""
        return failure_of(self._layer.run(self._address))

    def fail(self, code: int, text: str) -> None:
        """Have the call fail."""
        data = _message(text)
        self._layer.fail(self._address, code, data, len(data))

    def answer(self) -> None:
        """Have the call succeed with the outputs that are in its struct."""
        self._layer.answer(self._address)

    def begin(self, name: str, place: str) -> None:
        """A behaviour begins: it is recorded."""
        self._layer.begin(self._address, _message(name), _data(place))

    def end(self, outcome: str, code: int = 0, text: str = "") -> None:
        """The behaviour that began last ends."""
        data = _message(text)
        self._layer.end(self._address, _data(outcome), code, data, len(data))


def use(library: str) -> None:
    """Say which file's layer this process has: it asks for its behaviours."""
    _used.append(library)


@functools.cache
def layer() -> Layer:
    """The layer of the process. Raises LayerError where it has none."""
    return Layer(_used[-1] if _used else _library())


def failure_of(told: Any) -> Failure | None:
    """What the layer tells of a call, None for success."""
    if not told.code:
        return None
    return Failure(told.code, ctypes.string_at(told.text, told.size).decode("utf-8", "surrogateescape"))


def _library() -> str:
    """The libtpu.so that the process has, or will have: framedex's own, wherever it lies."""
    mapped = {line.split(maxsplit=5)[5].rstrip("\n") for line in _mappings() if line.count(" ") > 4 and "/" in line}
    for path in sorted(mapped):
        if Path(path).name.endswith(".so") and _has_layer(path, os.RTLD_LAZY | os.RTLD_NOLOAD):
            return path
    # Where a plug-in is to be recorded that the program finds itself, it is the libtpu.so beside what waits for that.
    preloaded = [Path(path).with_name("libtpu.so") for path in mapped if Path(path).name == "libframedex_preload.so"]
    for candidate in (*map(str, preloaded), os.environ.get("TPU_LIBRARY_PATH", "")):
        if candidate and _has_layer(candidate, os.RTLD_LAZY):
            return candidate
    try:
        import framedex_native

        return str(framedex_native.library_path())
    except (ImportError, AttributeError, OSError) as error:
        raise LayerError(f"framedex's libtpu.so is not in this process: {error}") from None


def _mappings() -> list[str]:
    try:
        return Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return []


def _has_layer(path: str, mode: int) -> bool:
    """Whether a library is framedex's."""
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
    """A text that jaxlib makes a `str` of, and reads up to a zero byte: what is neither is escaped."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace")
