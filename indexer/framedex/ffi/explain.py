"""Explain errors of FFI calls in the caller's terms, with a remedy.

XLA's own messages are about operands and canonical platforms. The recognised texts are those of xla/ffi/api/api.h and
xla/ffi/ffi_registry.cc.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framedex.ffi.signature import attribute_names, attribute_types, mismatches, signature_text
from framedex.nearest import nearest
from framedex.words import count

if TYPE_CHECKING:
    from framedex.ffi.model import Problem, Signature

_NAMESAKE = 0.75  # difflib ratio: allows two swapped letters, or one missing
_PLATFORMS = {"Host": "cpu", "TPU": "tpu"}  # by XLA's names; the others are the same in JAX
_WRONG_COUNT = re.compile(r"Wrong number of (arguments|results|attributes): expected (?:at least )?(\d+) but got (\d+)")
# Diagnostics follow each other without a separator.
_WRONG_NAME = re.compile(r"Attribute name mismatch: (\S+) vs (\S+?)(?=Wrong |Attribute |\s|$)")
_WRONG_DTYPE = re.compile(r"Wrong buffer dtype: expected (\w+) but got ([A-Z][A-Z0-9]*(?![a-z]))")
_WRONG_RANK = re.compile(r"Wrong buffer rank: expected (\d+) but got (\d+)")
_WRONG_ATTRIBUTE = re.compile(
    r"Wrong (attribute|scalar data|array data) type"
    r"(?:: expected (\w+) but got (array|dictionary|scalar|string|[A-Z][A-Z0-9]*(?![a-z])))?"
)
_KINDS = {"scalar": "a scalar", "array": "an array", "string": "a string", "dictionary": "a dictionary"}
_NUMPY = {"pred": "np.bool_", "bf16": "ml_dtypes.bfloat16"}
_NUMPY_KINDS = {"s": "int", "u": "uint", "f": "float", "c": "complex"}
_PYTHON_NUMBERS = "JAX passes Python's int as s64 and its float as f64."
_REFUSED = re.compile(r"Failed to decode all FFI handler operands|Wrong number of ")


@dataclass(frozen=True, slots=True)
class Explanation:
    """The error and its remedy, in sentences; the remedy is empty if unknown."""

    text: str
    remedy: str


def platform_name(platform: str) -> str:
    """Return the name that `jax.ffi.register_ffi_target` uses for one of XLA's platforms."""
    return _PLATFORMS.get(platform, platform)


def explain_problem(problem: Problem, registered: Iterable[str] = ()) -> Explanation:
    """Explain why a target was not found when a program that calls it was compiled; `registered` are known targets."""
    wanted = platform_name(problem.platform)
    others = [platform_name(platform) for platform in problem.registered_for if platform != problem.platform]
    if others:
        return Explanation(
            f"'{problem.target}' is registered for {', '.join(others)}, but the program was compiled for {wanted}.",
            f"Register a handler for it: jax.ffi.register_ffi_target({problem.target!r}, ..., platform={wanted!r});"
            " or choose by platform with jax.lax.platform_dependent.",
        )
    near = nearest(problem.target, registered, _NAMESAKE)
    return Explanation(
        f"No handler of this name is registered for any platform, and the program calls it on {wanted}.",
        f"Call jax.ffi.register_ffi_target({problem.target!r}, ..., platform={wanted!r}) before the call is compiled,"
        f" and check the spelling of the name.{f' Did you mean {near!r}?' if near is not None else ''}",
    )


def explain_error(message: str, signature: Signature | None, arguments: Mapping[str, object]) -> Explanation | None:
    """Explain why XLA refused to run a handler; None if the error is the handler's own."""
    if _REFUSED.search(message) is None:
        return None
    differing = mismatches(signature, arguments) if signature is not None else []
    takes = f" The handler takes {signature_text(signature)}." if signature is not None else ""
    found = _recognised(message, arguments)
    if found is None and not differing:
        return None
    # The signature also identifies the argument, but it has no names of attributes.
    is_of_names = found is not None and "attribute" in found.text.lower()
    text = found.text if found is not None and (is_of_names or not differing) else " ".join(differing)
    remedy = (
        found.remedy if found is not None else "Make the ffi_call fit the handler's binding, or the other way round."
    )
    return Explanation(text + takes, remedy)


def _recognised(message: str, arguments: Mapping[str, object]) -> Explanation | None:
    if match := _WRONG_COUNT.search(message):
        noun, expected, given = match.groups()
        where = {
            "arguments": "arrays that the ffi_call is called with, or .Arg<> of the binding",
            "results": "result_shape_dtypes of the ffi_call, or .Ret<> of the binding",
            "attributes": "keyword arguments that the ffi_call is called with, or .Attr<> of the binding",
        }[noun]
        return Explanation(
            f"The handler takes {count(int(expected), noun[:-1])}; the call gives {given}.", f"Look at the {where}."
        )
    if match := _WRONG_NAME.search(message):
        given, expected = match.groups()
        names = attribute_names(arguments.get("attributes")) or [given]
        return Explanation(
            f"The handler has no attribute '{given}'; where it stands it takes '{expected}' (the call gives"
            f" {', '.join(names)}).",
            f"Rename the keyword argument {given} to {expected}, or the .Attr<>({expected!r}) of the binding.",
        )
    if match := _WRONG_DTYPE.search(message):
        expected, given = (name.lower() for name in match.groups())
        return Explanation(
            f"The handler takes an array of {expected} where the call gives {given}.",
            f"Convert it before the call, as in x.astype(...), or register a handler for {given}.",
        )
    if match := _WRONG_RANK.search(message):
        expected, given = match.groups()
        return Explanation(
            f"The handler takes an array of rank {expected} where the call gives one of rank {given}.",
            "Reshape it before the call; under vmap, vmap_method decides which axes the handler gets.",
        )
    if match := _WRONG_ATTRIBUTE.search(message):
        what, expected, given = match.groups()
        return _of_attribute_type(what, (expected or "").lower(), (given or "").lower(), arguments)
    return None


def _of_attribute_type(what: str, expected: str, given: str, arguments: Mapping[str, object]) -> Explanation:
    """Explain why an attribute was refused: XLA's message has the types, the recorded attributes have the name."""
    if not given:
        return Explanation(
            "An attribute has another type than the handler takes.",
            f"Pass a NumPy scalar or array of the type of the .Attr<>. {_PYTHON_NUMBERS}",
        )
    is_array = what == "array data"
    types = attribute_types(arguments.get("attributes"))
    names = [name for name, kind in types.items() if _is_of_type(kind, what, given)]
    name = names[0] if len(names) == 1 else ""
    said = f"Attribute {name}" if name else f"One of the attributes {', '.join(names)}" if names else "An attribute"
    if what == "attribute":
        taken = _KINDS.get(expected, expected)
        text = f"{said} is {_KINDS.get(given, given)}; the handler takes {taken}."
        return Explanation(text, f"Pass {taken} (NumPy's have a type), or change the .Attr<> of the binding.")
    suffix = "[]" if is_array else ""
    text = f"{said} is {given}{suffix}; the handler takes {expected}{suffix}."
    dtype = _numpy_type(expected)
    value = f"np.array([...], {dtype})" if is_array else f"{dtype}(...)"
    return Explanation(text, f"Pass {name}={value}. {_PYTHON_NUMBERS}" if name else f"Pass {value}. {_PYTHON_NUMBERS}")


def _is_of_type(kind: str, what: str, given: str) -> bool:
    if what != "attribute":
        return kind == (f"{given}[]" if what == "array data" else given)
    is_array = kind.endswith("[]")
    return given == ("array" if is_array else kind if kind in ("string", "dictionary") else "scalar")


def _numpy_type(dtype: str) -> str:
    """Return NumPy's name for one of XLA's types: np.int32 for s32."""
    kind, bits = dtype[:1], dtype[1:]
    known = f"np.{_NUMPY_KINDS[kind]}{bits}" if kind in _NUMPY_KINDS and bits.isdecimal() else f"the type {dtype}"
    return _NUMPY.get(dtype, known)
