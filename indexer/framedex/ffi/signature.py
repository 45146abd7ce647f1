"""Parse the signature of an FFI handler from the arguments of its C++ type, and find mismatches of a call.

The tags are those of xla/ffi/api/api.h (`ArgTag`, `RetTag`, `AttrTag` and their optional and remaining forms). dtypes
are the numbers of XLA_FFI_DataType, ranks those of `Buffer<dtype, rank>`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from framedex.ffi.model import Signature
from framedex.words import count

REST = "..."
ANY = "any"
DICTIONARY = "dictionary"

_TAG = re.compile(r"xla::ffi::internal::(\w+)Tag(?:<(.*)>)?$", re.DOTALL)
_BUFFER = re.compile(r"xla::ffi::Buffer<\(xla::ffi::DataType\)(\d+), (\d+)(?:ul|u|l)*>")
_SPAN = re.compile(r"xla::ffi::Span<(.+?)(?: const)?>")
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
_TYPED = re.compile(r"([a-z]\w*)([(\[])")
_TYPES_BY_START = {'"': "string", "{": DICTIONARY}
_SHAPE = re.compile(r"(?<!\w)([a-z]\w*)\[([\d,]*)\]")


def signature_of(type_arguments: Sequence[str]) -> Signature:
    """Parse a handler's signature from the arguments of its type `xla::ffi::Handler<stage, function, tags...>`."""
    found: dict[str, list[str]] = {"Arg": [], "Ret": [], "Attr": []}
    for text in type_arguments[2:]:
        tag = _TAG.match(text)
        if tag is None:
            continue
        kind, inner = tag[1], (tag[2] or "").strip()
        if kind in ("Arg", "Ret"):
            found[kind].append(_buffer(inner))
        elif kind in ("OptionalArg", "RemainingArgs"):
            found["Arg"].append(REST)
        elif kind in ("OptionalRet", "RemainingRets"):
            found["Ret"].append(REST)
        elif kind == "Attr":
            found["Attr"].append(_attribute(inner))
        elif kind == "Attrs":
            found["Attr"].append(DICTIONARY)
    return Signature(tuple(found["Arg"]), tuple(found["Ret"]), tuple(found["Attr"]))


def signature_text(signature: Signature) -> str:
    """Return the signature on one line: `(f32, f32) -> (f32), attributes (f32)`."""
    attributes = f", attributes ({', '.join(signature.attributes)})" if signature.attributes else ""
    return f"({', '.join(signature.arguments)}) -> ({', '.join(signature.results)}){attributes}"


def mismatches(signature: Signature, arguments: Mapping[str, object]) -> list[str]:
    """Return sentences for each mismatch between a run's values and its handler's signature, if both are known."""
    found: list[str] = []
    for noun, taken, given in (
        ("argument", signature.arguments, arguments.get("arguments")),
        ("result", signature.results, arguments.get("results")),
    ):
        if isinstance(given, str) and not given.endswith("..."):
            found.extend(_buffer_mismatches(noun, taken, _SHAPE.findall(given)))
    names = attribute_names(arguments.get("attributes"))
    if names is not None and DICTIONARY not in signature.attributes and len(names) != len(signature.attributes):
        named = f" ({', '.join(names)})" if names else ""
        found.append(f"It takes {count(len(signature.attributes), 'attribute')}; the call gives {len(names)}{named}.")
    return found


def attribute_names(attributes: object) -> list[str] | None:
    """Return the names in a text such as `eps=f32(1e-05), how="x"`: empty if absent, None if truncated."""
    if attributes is None:
        return []
    if not isinstance(attributes, str) or attributes.endswith("..."):
        return None
    return [name for name, _ in _top_level_attributes(attributes)]


def attribute_types(attributes: object) -> dict[str, str]:
    """Return the types in such an attribute text by name: `f32`, `s64[]`, `string`, `dictionary`; empty if it has none.

    Recordings of earlier versions have numbers without types.
    """
    return (
        {name: _type_of(value) for name, value in _top_level_attributes(attributes)}
        if isinstance(attributes, str)
        else {}
    )


def _type_of(value: str) -> str:
    if match := _TYPED.match(value):
        return match[1] if match[2] == "(" else f"{match[1]}[]"
    return _TYPES_BY_START.get(value[:1], "pred" if value in ("true", "false") else "")


def _buffer_mismatches(noun: str, taken: Sequence[str], given: Sequence[tuple[str, str]]) -> Iterator[str]:
    is_open = REST in taken
    fixed = list(taken[: taken.index(REST)]) if is_open else list(taken)
    if len(given) < len(fixed) or (len(given) > len(fixed) and not is_open):
        least = "at least " if is_open else ""
        yield f"It takes {least}{count(len(fixed), noun)}; the call gives {len(given)}."
        return
    for place, (wanted, (dtype, dims)) in enumerate(zip(fixed, given, strict=False)):
        wanted_dtype, _, wanted_rank = wanted.partition(" of rank ")
        rank = len(dims.split(",")) if dims else 0
        if wanted_dtype not in (ANY, dtype):
            yield f"{noun.capitalize()} {place} is {dtype}[{dims}]; the handler takes {wanted}."
        elif wanted_rank and int(wanted_rank) != rank:
            yield f"{noun.capitalize()} {place} is {dtype}[{dims}], of rank {rank}; the handler takes {wanted}."


def _buffer(text: str) -> str:
    match = _BUFFER.fullmatch(text)
    if match is None:
        return ANY if text == "xla::ffi::AnyBuffer" else text.rpartition("::")[2]
    dtype = _dtypes().get(match[1], f"dtype{match[1]}")
    return dtype if int(match[2]) == _ANY_RANK else f"{dtype} of rank {match[2]}"


def _attribute(text: str) -> str:
    if text in _SCALARS:
        return _SCALARS[text]
    if "basic_string_view<" in text:
        return "string"
    span = _SPAN.fullmatch(text)
    if span is not None:
        return f"{_attribute(span[1])}[]"
    return DICTIONARY if text == "xla::ffi::Dictionary" else text.rpartition("::")[2]


def _top_level_attributes(attributes: str) -> Iterator[tuple[str, str]]:
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
def _dtypes() -> dict[str, str]:
    text = Path(__file__).with_name("ffi_enumerators.json").read_text("utf-8")
    dtypes: dict[str, str] = json.loads(text)["dtypes"]
    return dtypes
