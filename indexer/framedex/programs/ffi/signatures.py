"""Signatures of FFI handlers, and explanations of the calls that do not match them.

The signature comes from the template arguments of the handler's C++ type. Its tags are defined in xla/ffi/api/api.h
(`ArgTag`, `RetTag`, `AttrTag` and their optional and remaining forms). dtypes are the numbers of XLA_FFI_DataType,
ranks those of `Buffer<dtype, rank>`.

An explanation uses the caller's terms and has a remedy. XLA's own messages are about operands and canonical platforms.
The recognised texts are those of xla/ffi/api/api.h and xla/ffi/ffi_registry.cc.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.words import count, find_nearest_name
from framedex.programs.ffi.model import Signature

if TYPE_CHECKING:
    from framedex.programs.ffi.model import Signature, UnknownTarget

REST = "..."
ANY = "any"
DICTIONARY = "dictionary"

_TAG = re.compile(r"xla::ffi::internal::(\w+)Tag(?:<(.*)>)?$", re.DOTALL)
_BUFFER_TYPE = re.compile(r"xla::ffi::Buffer<\(xla::ffi::DataType\)(\d+), (\d+)(?:ul|u|l)*>")
_SPAN_TYPE = re.compile(r"xla::ffi::Span<(.+?)(?: const)?>")
_ANY_RANK = 2**64 - 1
_SCALARS = {
    "bool": "pred",
    "signed char": "s8",
    "short": "s16",
    "int": "s32",
    "long": "s64",
    "long long": "s64",
    "unsigned char": "u8",
    "unsigned short": "u16",
    "unsigned int": "u32",
    "unsigned long": "u64",
    "unsigned long long": "u64",
    "float": "f32",
    "double": "f64",
}
_TYPED_VALUE = re.compile(r"([a-z]\w*)([(\[])")
_TYPES_BY_START = {'"': "string", "{": DICTIONARY}
_SHAPE = re.compile(r"(?<!\w)([a-z]\w*)\[([\d,]*)\]")


def parse_signature(type_arguments: Sequence[str]) -> Signature:
    """Parse a handler's signature from the arguments of its type `xla::ffi::Handler<stage, function, tags...>`."""
    found: dict[str, list[str]] = {"Arg": [], "Ret": [], "Attr": []}
    for text in type_arguments[2:]:
        tag = _TAG.match(text)
        if tag is None:
            continue
        kind, inner = tag[1], (tag[2] or "").strip()
        if kind in ("Arg", "Ret"):
            found[kind].append(_parse_buffer_type(inner))
        elif kind in ("OptionalArg", "RemainingArgs"):
            found["Arg"].append(REST)
        elif kind in ("OptionalRet", "RemainingRets"):
            found["Ret"].append(REST)
        elif kind == "Attr":
            found["Attr"].append(_parse_attribute_type(inner))
        elif kind == "Attrs":
            found["Attr"].append(DICTIONARY)
    return Signature(tuple(found["Arg"]), tuple(found["Ret"]), tuple(found["Attr"]))


def format_signature(signature: Signature) -> str:
    """Return the signature on one line: `(f32, f32) -> (f32), attributes (f32)`."""
    attributes = f", attributes ({', '.join(signature.attributes)})" if signature.attributes else ""
    return f"({', '.join(signature.arguments)}) -> ({', '.join(signature.results)}){attributes}"


def find_mismatches(signature: Signature, arguments: Mapping[str, object]) -> list[str]:
    """Return a sentence for each mismatch between a run's values and its handler's signature, if both are known."""
    found: list[str] = []
    for noun, taken, given in (
        ("argument", signature.arguments, arguments.get("arguments")),
        ("result", signature.results, arguments.get("results")),
    ):
        if isinstance(given, str) and not given.endswith("..."):
            found.extend(_find_buffer_mismatches(noun, taken, _SHAPE.findall(given)))
    names = parse_attribute_names(arguments.get("attributes"))
    if names is not None and DICTIONARY not in signature.attributes and len(names) != len(signature.attributes):
        named = f" ({', '.join(names)})" if names else ""
        found.append(f"It takes {count(len(signature.attributes), 'attribute')}; the call passes {len(names)}{named}.")
    return found


def parse_attribute_names(attributes: object) -> list[str] | None:
    """Return the names in a text such as `eps=f32(1e-05), how="x"`: empty if absent, None if truncated."""
    if attributes is None:
        return []
    if not isinstance(attributes, str) or attributes.endswith("..."):
        return None
    return [name for name, _ in _split_attributes(attributes)]


def parse_attribute_types(attributes: object) -> dict[str, str]:
    """Return the types in such an attribute text by name: `f32`, `s64[]`, `string`, `dictionary`; empty if it has none.

    Recordings of earlier versions have numbers without types.
    """
    return (
        {name: _parse_value_type(value) for name, value in _split_attributes(attributes)}
        if isinstance(attributes, str)
        else {}
    )


def _parse_value_type(value: str) -> str:
    if match := _TYPED_VALUE.match(value):
        return match[1] if match[2] == "(" else f"{match[1]}[]"
    return _TYPES_BY_START.get(value[:1], "pred" if value in ("true", "false") else "")


def _find_buffer_mismatches(noun: str, taken: Sequence[str], given: Sequence[tuple[str, str]]) -> Iterator[str]:
    is_open = REST in taken
    fixed = list(taken[: taken.index(REST)]) if is_open else list(taken)
    if len(given) < len(fixed) or (len(given) > len(fixed) and not is_open):
        least = "at least " if is_open else ""
        yield f"It takes {least}{count(len(fixed), noun)}; the call passes {len(given)}."
        return
    for place, (wanted, (dtype, dims)) in enumerate(zip(fixed, given, strict=False)):
        wanted_dtype, _, wanted_rank = wanted.partition(" of rank ")
        rank = len(dims.split(",")) if dims else 0
        if wanted_dtype not in (ANY, dtype):
            yield f"{noun.capitalize()} {place} is {dtype}[{dims}]; the handler takes {wanted}."
        elif wanted_rank and int(wanted_rank) != rank:
            yield f"{noun.capitalize()} {place} is {dtype}[{dims}], of rank {rank}; the handler takes {wanted}."


def _parse_buffer_type(text: str) -> str:
    match = _BUFFER_TYPE.fullmatch(text)
    if match is None:
        return ANY if text == "xla::ffi::AnyBuffer" else text.rpartition("::")[2]
    dtype = _load_dtypes().get(match[1], f"dtype{match[1]}")
    return dtype if int(match[2]) == _ANY_RANK else f"{dtype} of rank {match[2]}"


def _parse_attribute_type(text: str) -> str:
    if text in _SCALARS:
        return _SCALARS[text]
    if "basic_string_view<" in text:
        return "string"
    span = _SPAN_TYPE.fullmatch(text)
    if span is not None:
        return f"{_parse_attribute_type(span[1])}[]"
    return DICTIONARY if text == "xla::ffi::Dictionary" else text.rpartition("::")[2]


def _split_attributes(attributes: str) -> Iterator[tuple[str, str]]:
    """Yield the names before `=` outside of strings, dictionaries and arrays, with their values."""
    depth, is_text, start = 0, False, 0
    position = 0
    name: str | None = None
    while position < len(attributes):
        character = attributes[position]
        if is_text:
            position += character == "\\"
            is_text = character != '"'
        elif character == '"':
            is_text = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
        elif character == "=" and depth == 0:
            if name is None:
                name, start = attributes[start:position].strip(), position + 1
        elif character == "," and depth == 0:
            if name is not None:
                yield name, attributes[start:position].strip()
            name, start = None, position + 1
        position += 1
    if name is not None:
        yield name, attributes[start:].strip()


@cache
def _load_dtypes() -> dict[str, str]:
    text = Path(__file__).with_name("ffi_enumerators.json").read_text("utf-8")
    dtypes: dict[str, str] = json.loads(text)["dtypes"]
    return dtypes


_MIN_NAME_SIMILARITY = 0.75  # difflib ratio: allows two swapped letters, or one missing
_PLATFORMS = {"Host": "cpu", "TPU": "tpu"}  # JAX's names of platforms, by XLA's; all others are equal
_WRONG_COUNT = re.compile(r"Wrong number of (arguments|results|attributes): expected (?:at least )?(\d+) but got (\d+)")
# Diagnostics follow each other without a separator.
_WRONG_NAME = re.compile(r"Attribute name mismatch: (\S+) vs (\S+?)(?=Wrong |Attribute |\s|$)")
_WRONG_DTYPE = re.compile(r"Wrong buffer dtype: expected (\w+) but got ([A-Z][A-Z0-9]*(?![a-z]))")
_WRONG_RANK = re.compile(r"Wrong buffer rank: expected (\d+) but got (\d+)")
_WRONG_ATTRIBUTE = re.compile(
    r"Wrong (attribute|scalar data|array data) type"
    r"(?:: expected (\w+) but got (array|dictionary|scalar|string|[A-Z][A-Z0-9]*(?![a-z])))?"
)
_KIND_PHRASES = {"scalar": "a scalar", "array": "an array", "string": "a string", "dictionary": "a dictionary"}
_NUMPY_SPECIAL_TYPES = {"pred": "np.bool_", "bf16": "ml_dtypes.bfloat16"}
_NUMPY_KINDS = {"s": "int", "u": "uint", "f": "float", "c": "complex"}
_PYTHON_NUMBERS_HINT = "JAX passes Python's int as s64 and its float as f64."
_REFUSAL = re.compile(r"Failed to decode all FFI handler operands|Wrong number of ")


@dataclass(frozen=True, slots=True)
class Explanation:
    """The error and its remedy, in sentences; the remedy is empty if unknown."""

    text: str
    remedy: str


def jax_platform_name(platform: str) -> str:
    """Return the name that `jax.ffi.register_ffi_target` uses for one of XLA's platforms."""
    return _PLATFORMS.get(platform, platform)


def explain_problem(problem: UnknownTarget, registered: Iterable[str] = ()) -> Explanation:
    """Explain why a target was not found when a program that calls it was compiled; `registered` are known targets."""
    wanted = jax_platform_name(problem.platform)
    others = [jax_platform_name(platform) for platform in problem.registered_for if platform != problem.platform]
    if others:
        return Explanation(
            f"'{problem.target}' is registered for {', '.join(others)}, but the program was compiled for {wanted}.",
            f"Register a handler for it: jax.ffi.register_ffi_target({problem.target!r}, ..., platform={wanted!r});"
            " or choose by platform with jax.lax.platform_dependent.",
        )
    near = find_nearest_name(problem.target, registered, _MIN_NAME_SIMILARITY)
    return Explanation(
        f"No handler with this name is registered for any platform, and the program calls it on {wanted}.",
        f"Call jax.ffi.register_ffi_target({problem.target!r}, ..., platform={wanted!r}) before the call is compiled,"
        f" and check the spelling of the name.{f' Did you mean {near!r}?' if near is not None else ''}",
    )


def explain_error(message: str, signature: Signature | None, arguments: Mapping[str, object]) -> Explanation | None:
    """Explain why XLA refused to run a handler; None if the error is the handler's own."""
    if _REFUSAL.search(message) is None:
        return None
    differing = find_mismatches(signature, arguments) if signature is not None else []
    takes = f" The handler takes {format_signature(signature)}." if signature is not None else ""
    found = _explain_message(message, arguments)
    if found is None and not differing:
        return None
    # The signature also identifies the argument, but it has no names of attributes.
    is_of_names = found is not None and "attribute" in found.text.lower()
    text = found.text if found is not None and (is_of_names or not differing) else " ".join(differing)
    remedy = found.remedy if found is not None else "Change the ffi_call or the handler's binding so that they agree."
    return Explanation(text + takes, remedy)


def _explain_message(message: str, arguments: Mapping[str, object]) -> Explanation | None:
    if match := _WRONG_COUNT.search(message):
        noun, expected, given = match.groups()
        where = {
            "arguments": "arrays passed to the ffi_call, or .Arg<> in the binding",
            "results": "result_shape_dtypes of the ffi_call, or .Ret<> in the binding",
            "attributes": "keyword arguments passed to the ffi_call, or .Attr<> in the binding",
        }[noun]
        return Explanation(
            f"The handler takes {count(int(expected), noun[:-1])}; the call passes {given}.", f"Check the {where}."
        )
    if match := _WRONG_NAME.search(message):
        given, expected = match.groups()
        names = parse_attribute_names(arguments.get("attributes")) or [given]
        return Explanation(
            f"The handler has no attribute '{given}'; at that position it takes '{expected}' (the call passes"
            f" {', '.join(names)}).",
            f"Rename the keyword argument {given} to {expected}, or the .Attr<>({expected!r}) of the binding.",
        )
    if match := _WRONG_DTYPE.search(message):
        expected, given = (name.lower() for name in match.groups())
        return Explanation(
            f"The handler takes an array of {expected} where the call passes {given}.",
            f"Convert it before the call, as in x.astype(...), or register a handler for {given}.",
        )
    if match := _WRONG_RANK.search(message):
        expected, given = match.groups()
        return Explanation(
            f"The handler takes an array of rank {expected} where the call passes one of rank {given}.",
            "Reshape it before the call. Under vmap, vmap_method decides which axes the handler gets.",
        )
    if match := _WRONG_ATTRIBUTE.search(message):
        what, expected, given = match.groups()
        return _explain_attribute_type(what, (expected or "").lower(), (given or "").lower(), arguments)
    return None


def _explain_attribute_type(what: str, expected: str, given: str, arguments: Mapping[str, object]) -> Explanation:
    """Explain why an attribute was refused: XLA's message has the types, the recorded attributes have the name."""
    if not given:
        return Explanation(
            "An attribute does not have the type that the handler takes.",
            f"Pass a NumPy scalar or array of the type of the .Attr<>. {_PYTHON_NUMBERS_HINT}",
        )
    is_array = what == "array data"
    types = parse_attribute_types(arguments.get("attributes"))
    names = [name for name, kind in types.items() if _has_type(kind, what, given)]
    name = names[0] if len(names) == 1 else ""
    subject = f"Attribute {name}" if name else f"One of the attributes {', '.join(names)}" if names else "An attribute"
    if what == "attribute":
        taken = _KIND_PHRASES.get(expected, expected)
        text = f"{subject} is {_KIND_PHRASES.get(given, given)}; the handler takes {taken}."
        return Explanation(text, f"Pass {taken} (NumPy values have a type), or change the .Attr<> of the binding.")
    suffix = "[]" if is_array else ""
    text = f"{subject} is {given}{suffix}; the handler takes {expected}{suffix}."
    dtype = _numpy_name(expected)
    value = f"np.array([...], {dtype})" if is_array else f"{dtype}(...)"
    return Explanation(
        text, f"Pass {name}={value}. {_PYTHON_NUMBERS_HINT}" if name else f"Pass {value}. {_PYTHON_NUMBERS_HINT}"
    )


def _has_type(kind: str, what: str, given: str) -> bool:
    if what != "attribute":
        return kind == (f"{given}[]" if what == "array data" else given)
    is_array = kind.endswith("[]")
    return given == ("array" if is_array else kind if kind in ("string", "dictionary") else "scalar")


def _numpy_name(dtype: str) -> str:
    """Return NumPy's name for one of XLA's types: np.int32 for s32."""
    kind, bits = dtype[:1], dtype[1:]
    known = f"np.{_NUMPY_KINDS[kind]}{bits}" if kind in _NUMPY_KINDS and bits.isdecimal() else f"the type {dtype}"
    return _NUMPY_SPECIAL_TYPES.get(dtype, known)
