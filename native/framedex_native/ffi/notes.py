"""What JAX knows of a program that it has compiled and the program does not say: weak types, static arguments, the
arguments that the function does not use, and those that were donated, whether or not a result can have their memory.

It is read where JAX makes the options of a compilation, right before that, and travels with the thread to the call that
is recorded. What is done here leaves no frame on the stack of what follows. Where JAX has it in another form than here
(before 0.5), there is no note.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

from .library import Library
from .statics import static_arguments, text
from .trace_keys import Fact, trace_keys

MOST_ARGUMENTS = 1_000
"""Arguments of a program that are told: the first."""

_MARK = "_framedex_notes"
_NEAR = 8  # frames from where the options are made to where a program is known


class NotedOrigin(str):
    """Why a function is traced, with the facts that JAX's cache compares. It prints, hashes and pickles as its text."""

    __slots__ = ("keys", "statics")
    statics: Sequence[tuple[str, str]]
    keys: Sequence[Fact]

    def __reduce__(self) -> tuple[type, tuple[str]]:
        """Pickled as plain text: it may be read where there is no framedex."""
        return str, (str(self),)


def note_traces(pjit: Any) -> None:
    """Have what `jax._src.pjit` says of a function that it traces know the static arguments."""
    original = getattr(pjit, "debug_info", None)
    if original is None or hasattr(pjit, _MARK):
        return
    setattr(pjit, _MARK, original)

    @functools.wraps(original)
    def debug_info(*args: Any, **kwargs: Any) -> Any:
        found = original(*args, **kwargs)
        try:
            return _noted(found, args[1], args[2], args[3], kwargs)
        except Exception:  # whatever it is: the program has to go on without a note
            return found

    pjit.debug_info = debug_info


def _noted(found: Any, fun: Any, args: Sequence[Any], kwargs: Mapping[str, Any], options: Mapping[str, Any]) -> Any:
    numbers, names = options.get("static_argnums", ()), options.get("static_argnames", ())
    signature = options.get("signature")
    static = static_arguments(args, kwargs, numbers, names, signature)
    origin = NotedOrigin(found.traced_for)
    origin.statics = [(name, text(value)) for name, value in static.items()]
    parameters = [name for name in getattr(signature, "parameters", ()) if name not in static]
    try:
        origin.keys = trace_keys(fun, parameters, static)
    except Exception:  # a tree of a kind that is not known here
        origin.keys = ()
    return found._replace(traced_for=origin)


def note_compilations(compiler: Any, library: Library) -> None:
    """Note what `jax._src.compiler` is about to have compiled."""
    original = getattr(compiler, "get_compile_options", None)
    if original is None or hasattr(compiler, _MARK):
        return
    setattr(compiler, _MARK, original)

    @functools.wraps(original)
    def get_compile_options(*args: Any, **kwargs: Any) -> Any:
        try:
            library.note(_note(sys._getframe(1)))
        except Exception:  # as above
            library.note(None)
        return original(*args, **kwargs)

    compiler.get_compile_options = get_compile_options


def _note(frame: FrameType | None) -> str | None:
    """What is known of the program for which options are made; None where that is nothing."""
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
    types = info.in_avals[:MOST_ARGUMENTS]
    names = (debug_info.arg_names or ())[: len(types)]
    told = {
        "name": known["name"],
        "function": debug_info.func_src_info,
        "arguments": [
            (names[place] if place < len(names) else "", _type(each), bool(getattr(each, "weak_type", False)))
            for place, each in enumerate(types)
        ],
        "statics": getattr(debug_info.traced_for, "statics", ()),
        "keys": getattr(debug_info.traced_for, "keys", ()),
        "donated": _donated(frame.f_back),
    }
    return json.dumps(told)


def _donated(frame: FrameType | None) -> list[int]:
    """The places of donated arguments in the program that is compiled below a frame, the first of them."""
    for _ in range(_NEAR):
        if frame is None:
            break
        donated = getattr(frame.f_locals.get("self"), "_donated_invars", None)
        if donated is not None:
            return [place for place, is_donated in enumerate(donated) if is_donated][:MOST_ARGUMENTS]
        frame = frame.f_back
    return []


def _is_of_jaxlib(backend: Any) -> bool:
    """Whether a back end is jaxlib's own for the CPU, whose calls are not recorded: none would take the note, and the
    next to load something for another back end would be told by it."""
    return getattr(backend, "platform", "") == "cpu" and not getattr(backend, "is_c_api", False)


def _type(aval: Any) -> str:
    """`float32[3,4]`, as programs have it."""
    shape, dtype = getattr(aval, "shape", None), getattr(aval, "dtype", None)
    return type(aval).__name__ if shape is None or dtype is None else f"{dtype}[{','.join(map(str, shape))}]"
