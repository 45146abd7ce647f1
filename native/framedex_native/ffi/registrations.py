"""Wraps every handler that Python or jaxlib registers with XLA in a trampoline."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any

from .library import STAGES, Library
from .stacks import Frame, UserFrames, frames_from

_GPU_PLATFORMS = ("CUDA", "ROCM")
_HOST_PLATFORMS = ("Host", "cpu", "tpu")  # the mock TPU runs its programs on the CPU
_UNTYPED, _TYPED = 0, 1
_REGISTERING_FILE = "/jax/_src/ffi.py"
Handler = Callable[..., None]

# Private prototypes: attributes of ctypes.pythonapi are shared, and jax.ffi.pycapsule changes their argument types.
_capsule_name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_CAPSULE = type(_new_capsule(1, None, None))


class Registrations:
    """The registered handlers, and their wrappers."""

    def __init__(self, library: Library, user_frames: UserFrames) -> None:
        """Wrap handlers through `library`."""
        self._library = library
        self._user_frames = user_frames
        self._lines: dict[tuple[str, str], tuple[Frame, ...]] = {}
        # The platforms of each target.
        self.platforms: dict[str, list[str]] = {}
        # The targets of the untyped API.
        self.untyped: set[str] = set()
        # Capsules only point to their name, so the names must outlive them.
        self._names: dict[bytes | None, Any] = {}

    def note_line(self, name: str, platform: str, frames: tuple[Frame, ...]) -> None:
        """Remember where a target was registered. XLA receives it later, when its client is created."""
        self._lines.setdefault((name, platform), frames)
        self._note_platform(name, platform)

    def wrap(self, name: str, handlers: Any, platform: str, api_version: int) -> Any:
        """Wrap handlers for registration, or return them unchanged if they cannot be wrapped."""
        try:
            wrapped, stages = self._wrap(name, handlers, platform, api_version)
        except Exception:  # jaxlib reports invalid handlers
            wrapped, stages = None, []
        self._note_platform(name, platform)
        self._library.describe(
            "ffi_target",
            {
                "target": name,
                "platform": platform,
                "api_version": api_version,
                "stages": stages,
                "is_wrapped": wrapped is not None,
                "is_of_program": self._is_of_program(name, platform),
                "registered_at": self._lines.get((name, platform), ()),
            },
        )
        return handlers if wrapped is None else wrapped

    def _note_platform(self, name: str, platform: str) -> None:
        platforms = self.platforms.setdefault(name, [])
        if platform not in platforms:
            platforms.append(platform)

    def _wrap(self, name: str, handlers: Any, platform: str, api_version: int) -> tuple[Any, list[str]]:
        if isinstance(handlers, _CAPSULE):
            handlers = {"execute": handlers}
        pointers = {stage: _address(capsule) for stage, capsule in handlers.items() if stage in STAGES}
        if api_version == _UNTYPED:
            self.untyped.add(name)
            trampoline = self._library.wrap_untyped(name, pointers["execute"])
            wrapped = None if trampoline is None else self._capsule_like(handlers["execute"], trampoline)
            return wrapped, ["execute"]
        # GPU executables serialise the states of their custom calls, so our states must not replace them.
        is_on_host = platform not in _GPU_PLATFORMS
        keeps_results = platform in _HOST_PLATFORMS and self._is_of_program(name, platform)
        addresses = self._library.wrap(name, pointers, has_instances=is_on_host, keeps_results=keeps_results)
        if addresses is None:
            return None, list(pointers)
        template = handlers["execute"]
        capsules = {stage: self._capsule_like(handlers.get(stage, template), a) for stage, a in addresses.items()}
        return {**handlers, **capsules}, list(pointers)

    def _is_of_program(self, name: str, platform: str) -> bool:
        """Whether the program registered the target, not JAX or the mock TPU."""
        frames = self._lines.get((name, platform), ())
        callers = (frame for frame in frames if not frame[0].endswith(_REGISTERING_FILE))
        return (caller := next(callers, None)) is not None and self._user_frames.has(caller)

    def _capsule_like(self, capsule: Any, address: int) -> Any:
        name = _capsule_name(capsule)
        kept = self._names.setdefault(name, None if name is None else ctypes.create_string_buffer(name))
        return _new_capsule(address, None if kept is None else ctypes.addressof(kept), None)


def _address(capsule: Any) -> int:
    address: int = _capsule_pointer(capsule, _capsule_name(capsule))
    return address


def wrap_registrations(xla_client: Any, registrations: Registrations) -> None:
    """Wrap all registrations through `jaxlib.xla_client` from now on."""
    _note_lines(xla_client, registrations)
    register_handler = xla_client.register_custom_call_handler

    @functools.wraps(register_handler)
    def register_custom_call_handler(platform: str, handler: Handler) -> None:
        register_handler(platform, _wrapping(handler, registrations))

    xla_client.register_custom_call_handler = register_custom_call_handler
    with xla_client._custom_callback_lock:
        handlers: dict[str, Handler] = xla_client._custom_callback_handler
        for platform, handler in list(handlers.items()):
            handlers[platform] = _wrapping(handler, registrations)


def _note_lines(xla_client: Any, registrations: Registrations) -> None:
    register_target = xla_client.register_custom_call_target

    @functools.wraps(register_target)
    def register_custom_call_target(name: str, fn: Any, platform: str = "cpu", *args: Any, **kwargs: Any) -> None:
        canonical = xla_client.xla_platform_names.get(platform, platform)
        registrations.note_line(name, canonical, frames_from(sys._getframe(1)))
        register_target(name, fn, platform, *args, **kwargs)

    xla_client.register_custom_call_target = register_custom_call_target


def _wrapping(handler: Handler, registrations: Registrations) -> Handler:
    @functools.wraps(handler)
    def register(name: str, fn: Any, platform: str, api_version: int = _UNTYPED, *args: Any, **kwargs: Any) -> None:
        wrapped = registrations.wrap(name, fn, platform, api_version)
        handler(name, wrapped, platform, api_version, *args, **kwargs)

    return register
