"""Facts about a compiled program that JAX knows and the program itself does not contain.

They are weak types, static arguments, unused arguments, and donated arguments, whether or not a result can reuse their
memory. They are read where JAX creates the options of a compilation, right before the compilation. The thread carries
them to the recorded call. The hooks leave no frame on the stack of later code. JAX before 0.5 stores these facts
differently, so there are no notes.
"""

from __future__ import annotations

import functools
import json
import sys
import threading
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

from .library import Library
from .statics import static_arguments, text
from .trace_keys import Fact, trace_keys

MAX_ARGUMENTS = 1_000
"""The maximum number of arguments noted for a program."""

_MARK = "_framedex_notes"
_NEAR = 8  # maximum frames between the creation of options and the frame that knows the program


class AnnotatedOrigin(str):
    """JAX's reason for a trace, with the facts that JAX's cache compares. It prints, hashes and pickles as a str."""

    __slots__ = ("keys", "statics")
    statics: Sequence[tuple[str, str]]
    keys: Sequence[Fact]

    def __reduce__(self) -> tuple[type, tuple[str]]:
        """Pickle as plain text, which loads without framedex."""
        return str, (str(self),)


def note_traces(pjit: Any) -> None:
    """Add the static arguments to the debug info that `jax._src.pjit` creates for each traced function."""
    original = getattr(pjit, "debug_info", None)
    if original is None or hasattr(pjit, _MARK):
        return
    setattr(pjit, _MARK, original)

    @functools.wraps(original)
    def debug_info(*args: Any, **kwargs: Any) -> Any:
        found = original(*args, **kwargs)
        try:
            return _collect_note(found, args[1], args[2], args[3], kwargs)
        except Exception:  # on any failure the program must continue without a note
            return found

    pjit.debug_info = debug_info


def _collect_note(
    found: Any, fun: Any, args: Sequence[Any], kwargs: Mapping[str, Any], options: Mapping[str, Any]
) -> Any:
    numbers, names = options.get("static_argnums", ()), options.get("static_argnames", ())
    signature = options.get("signature")
    static = static_arguments(args, kwargs, numbers, names, signature)
    origin = AnnotatedOrigin(found.traced_for)
    origin.statics = [(name, text(value)) for name, value in static.items()]
    long = {name: static[name] for name, written in origin.statics if "..." in written or "PyTreeDef #" in written}
    parameters = [name for name in getattr(signature, "parameters", ()) if name not in static]
    try:
        origin.keys = trace_keys(fun, parameters, long)
    except Exception:  # an unknown kind of tree
        origin.keys = ()
    return found._replace(traced_for=origin)


class ProgramNotes:
    """The note on the program that each thread compiles or loads next."""

    def __init__(self) -> None:
        self._library: Library | None = None
        self._thread = threading.local()

    def attach(self, library: Library) -> None:
        """Pass the notes to a library from now on."""
        self._library = library

    def set(self, note: dict[str, Any] | None) -> None:
        """Replace this thread's note; None clears it."""
        self._thread.note = note
        if self._library is not None:
            self._library.note(None if note is None else json.dumps(note))

    def add(self, **facts: Any) -> None:
        """Add facts to this thread's note. Without a note, no program is being compiled, and nothing happens."""
        note = getattr(self._thread, "note", None)
        if note is not None:
            self.set(note | facts)


def note_compilations(compiler: Any, notes: ProgramNotes) -> None:
    """Note each program right before `jax._src.compiler` compiles it."""
    original = getattr(compiler, "get_compile_options", None)
    if original is None or hasattr(compiler, _MARK):
        return
    setattr(compiler, _MARK, original)

    @functools.wraps(original)
    def get_compile_options(*args: Any, **kwargs: Any) -> Any:
        try:
            notes.set(_note(sys._getframe(1)))
        except Exception:  # as above
            notes.set(None)
        return original(*args, **kwargs)

    compiler.get_compile_options = get_compile_options


def _note(frame: FrameType | None) -> dict[str, Any] | None:
    """The note of the program whose compile options are being created; None without facts."""
    for _ in range(_NEAR):
        if frame is None:
            return None
        if frame.f_code.co_name == "from_hlo":
            break
        frame = frame.f_back
    else:
        return None
    known = frame.f_locals
    if _is_of_jaxlib(known.get("backend")):
        return None
    info: Any = known["all_args_info"]
    debug_info = info.debug_info
    types = info.in_avals[:MAX_ARGUMENTS]
    names = (debug_info.arg_names or ())[: len(types)]
    return {
        "name": known["name"],
        "function": debug_info.func_src_info,
        "arguments": [
            (names[place] if place < len(names) else "", _type(each), bool(getattr(each, "weak_type", False)))
            for place, each in enumerate(types)
        ],
        "statics": getattr(debug_info.traced_for, "statics", ()),
        "keys": getattr(debug_info.traced_for, "keys", ()),
        "donated": _donated_positions(frame.f_back),
    }


def _donated_positions(frame: FrameType | None) -> list[int]:
    """The positions of the first donated arguments in the program compiled below a frame."""
    for _ in range(_NEAR):
        if frame is None:
            break
        donated = getattr(frame.f_locals.get("self"), "_donated_invars", None)
        if donated is not None:
            return [place for place, is_donated in enumerate(donated) if is_donated][:MAX_ARGUMENTS]
        frame = frame.f_back
    return []


def _is_of_jaxlib(backend: Any) -> bool:
    """Whether a backend is jaxlib's own CPU backend.

    Its calls are not recorded, so no call would take the note. The next program loaded for another backend would then
    receive it.
    """
    return getattr(backend, "platform", "") == "cpu" and not getattr(backend, "is_c_api", False)


def _type(aval: Any) -> str:
    """The type as programs print it, such as `float32[3,4]`."""
    shape, dtype = getattr(aval, "shape", None), getattr(aval, "dtype", None)
    return type(aval).__name__ if shape is None or dtype is None else f"{dtype}[{','.join(map(str, shape))}]"
