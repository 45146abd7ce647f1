"""Tests which values may stay in a redacted file: names of JAX, XLA and the C API, and data without user text."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from framedex.guidebook.api_functions import read_api_functions
from framedex.programs.objects.table import PJRT_BOUNDARIES, load_boundary_functions
from framedex.programs.options import read_option_types

_DTYPE = (
    r"(?:pred|token|bool|bf16|bfloat16|c64|c128|complex(?:64|128)|float0|key<(?:fry|u?rbg|unsafe_rbg)>"
    r"|[suf](?:int|loat)?\d{1,2}|int\d{1,2})"
)
_SMALL_FLOAT = r"(?:f|float)[468]_?e\d{1,2}m\d{1,2}(?:b11)?(?:fn|fnu|fnuz)?"
_ELEMENT = rf"(?:{_DTYPE}|{_SMALL_FLOAT})"
_ARRAY = rf"{_ELEMENT}\[[\d,? <=]*\](?:\{{[\d,]*\}})?"
_ARRAYS = re.compile(rf"\(?{_ARRAY}(?:, {_ARRAY})*\)?(?:, )?(?:\.\.\.)?", re.IGNORECASE)
_ELEMENTS = re.compile(rf"(?:{_ELEMENT}|INVALID)(?:, (?:{_ELEMENT}|INVALID))*", re.IGNORECASE)
_NUMBER = r"[\[({]*-?\d+(?:\.\d+)?[\])}]*"
_NUMBERS = re.compile(rf"0x[0-9a-f]{{1,16}}|<[\d,.]+ bytes>|{_NUMBER}(?:(?:, ?|x){_NUMBER})*|[\[\](){{}}, ]*")

_MEMORY = r"(?:device|pinned_host|unpinned_host|tpu_hbm)"
_GPU = (
    r"(?:NVIDIA|Tesla|AMD|Instinct|Radeon|GeForce|RTX|GTX|Quadro|Ti|SUPER|PCIe|SXM\d?|NVL|HBM\d[a-z]?|Graphics"
    r"|[A-Z]{1,2}\d{2,4}[a-zA-Z]?|\d{2,4}(?:GB)?)"
)
_PLATFORMS = r"(?:tpu|cpu|gpu|cuda|rocm|sycl|metal|host|interpreter)"
_BUILT = r"Built on [A-Z][a-z]{2} {1,2}\d{1,2} \d{4} \d\d:\d\d:\d\d \(\d+\) cl/-?\d+"
_SIZE = r"(?:temporaries|code|arguments|results|aliased|peak)=\d{1,18}"  # of a program
_FIELDS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(("arguments", "results"), _ARRAYS),
    **dict.fromkeys(("type", "dtype"), _ELEMENTS),
    **dict.fromkeys(("kind", "memory_kinds"), re.compile(rf"{_MEMORY}(?:, {_MEMORY})*")),
    "missing_function": re.compile("null|null in several plug-ins|beyond the table"),
    "extension_sizes": re.compile(r"(?:[A-Z][A-Za-z]+|\d+)=\d+(?:, (?:[A-Z][A-Za-z]+|\d+)=\d+)*"),
    "memory": re.compile(rf"{_SIZE}(?:, {_SIZE})*"),
    "device_kind": re.compile(rf"cpu|TPU v\d{{1,2}}[a-z]?(?: lite| pod)?|{_GPU}(?:[ -]{_GPU})*"),
    "host_buffer_semantics": re.compile(
        r"ImmutableOnlyDuringCall|ImmutableUntilTransferCompletes|(?:Imm|M)utableZeroCopy"
    ),
    "platform_name": re.compile(_PLATFORMS, re.IGNORECASE),
    "platform_version": re.compile(
        rf"(?:PJRT C API\n)?(?:(?:framedex mock TPU|TFRT TPU v\d{{1,2}}[a-z]?(?: lite)?)\n{_BUILT}"
        r"|(?:cuda|rocm) \d+)|cpu"
    ),
    "plugin": re.compile("the mock TPU"),
    "program.format": re.compile("hlo|hlo_with_config|mlir"),
    "stage": re.compile("execute|instantiate|prepare|initialize"),
}
_RECORDED_FIELDS = frozenset(  # fields that the recorder adds to a call
    {
        *(
            "address",
            "asynchronous",
            "bytes",
            "device",
            "instance",
            "jax",
            "kept",
            "optimized",
            "read",
            "result",
            "results",
            "run_id",
            "site",
        ),
        *("arguments", "extensions", "major_version", "minor_version", "plugin", "untraced_extensions"),
        *("changed", "error_msg", "has_error", "header", "timeout_in_ms", "transformed_hlo_module"),
        *("untraced_functions", "extension_sizes", "null_functions"),
        *("unfilled", "exception", "missing_function", "error_object"),
        *("answer", "answered", "send_channels", "receive_channels", "signature", "hash", "shapes"),
    }
)
_MOCK_FUNCTIONS = frozenset({"DeviceMemory::Allocate", "DeviceMemory::Free", "DeviceMemory::HandOver"})
_PROFILED = re.compile(
    r"(?:cpu|wall|alloc_(?:objects|space)|inuse_(?:objects|space)|allocations|samples|contentions|delay|cycles|time"
    r"|instructions|weight|space|objects)"
    r"(?: \((?:count|samples?|bytes|(?:nano|micro|milli)?seconds?|ns|us|ms|s)\))?"
)
_FLAG = re.compile(r"true|false|inf|-inf|nan|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:, -?\d+)*")
_DEFAULTS = frozenset({"./cuda_sdk_lib", "inf"})  # XLA's own defaults of text options
_RELEASE = re.compile(r"v?\d+(?:\.\d+){1,3}(?:(?:a|b|rc|\.post|\.dev)\d+)?")
_REVISION = re.compile(r"[0-9a-f]{7,40}|(?:jax|jaxlib)?-?v\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?|")
_SIGNATURE = re.compile(rf"(?:any|string|dictionary|dtype\d+|{_ELEMENT})(?: of rank \d+|\[\])?|\.\.\.", re.IGNORECASE)
_SHARDING = re.compile(
    r"\{(?:devices|replicated|maximal|manual|unknown|device|last_tile_dims|last_tile_dim_replicate|T|<="
    r"|[\d=,\[\]() ])*\}"
)
_TARGET = re.compile(
    r"lapack_[sdcz][a-z]{4,6}(?:_ffi)?|blas_[sdcz][a-z]{4,6}(?:_ffi)?|xla_(?:ffi_)?(?:partitioned_)?python_[cg]pu_callback"
    r"|cu_threefry2x32(?:_ffi)?|(?:cu|hip)(?:solver|blas)_[a-z]{4,8}(?:_ffi)?"
)
_ASYNCHRONOUS = re.compile("-(?:start|update|done)$")  # suffixes of an HLO op
_DIGEST = re.compile(r"(?:0x|hlo:)?[0-9a-f]{1,64}(?:-[0-9a-f]{1,8})?")
_REASONS = re.compile(
    r"not kept: (?:FRAMEDEX_PROGRAMS=0|\d+ bytes are too many|No space left on device"
    r"|earlier files took all the space that is allowed"
    r"|the programs before it took all the space there is for them)"  # until index version 9
)
_STANDARD_MODULES = frozenset(sys.stdlib_module_names)


def is_field(name: str) -> bool:
    """Whether a field of a call is public: from the C API, or added by the recorder."""
    return all(part in _fields() for part in name.split("."))


def is_plain_value(field: str, value: str) -> bool:
    """Whether a value of a field is numeric, or a string that the runtime defines."""
    return (
        _NUMBERS.fullmatch(value) is not None or _matches(_FIELDS.get(field), value) or _is_list_of_names(field, value)
    )


def is_digest(value: str) -> bool:
    """Whether a text is a digest, or an id with a digest."""
    return _DIGEST.fullmatch(value) is not None


def is_reason(value: str) -> bool:
    """Whether a text is one of the recorder's reasons for not keeping a program."""
    return _REASONS.fullmatch(value) is not None


def is_type(value: str) -> bool:
    """Whether a text is a type with a shape, such as `float32[3,4]`."""
    return _ARRAYS.fullmatch(value) is not None


def is_part_of_signature(value: str) -> bool:
    """Whether a text is a type that XLA defines for arguments or attributes of FFI handlers."""
    return _SIGNATURE.fullmatch(value) is not None


def is_sharding(value: str) -> bool:
    """Whether a text is a sharding without mesh axis names."""
    return _SHARDING.fullmatch(value) is not None


def is_boundary(name: str) -> bool:
    """Whether a boundary of this name has public functions only."""
    return name in (*PJRT_BOUNDARIES, "tpu_executor", "mock_tpu", "profile")


def is_function(boundary: str, name: str) -> bool:
    """Whether a function of a boundary is public: from the C API, the mock TPU, or a profiler's value."""
    if boundary == "mock_tpu":
        return name in _MOCK_FUNCTIONS
    return _PROFILED.fullmatch(name) is not None if boundary == "profile" else name in _functions()


def is_object_type(name: str) -> bool:
    """Whether the C API defines this object type."""
    return name in _object_types()


def is_op(name: str) -> bool:
    """Whether a dialect that JAX lowers to has this op, or HLO: `all-reduce`, `copy-start`."""
    return _ASYNCHRONOUS.sub("", name).replace("-", "_") in _load_public_names("ops")


def is_jax_function(name: str) -> bool:
    """Whether JAX has a function or primitive of this name."""
    return name in _load_public_names("functions") or name in _load_public_names("ops")


def is_option(name: str) -> bool:
    """Whether XLA has a compile option of this name."""
    return name in read_option_types()


def is_flag(name: str, value: str) -> bool:
    """Whether the value of a compile option is a flag, a number or an XLA default."""
    return value in _DEFAULTS or (
        read_option_types().get(name, "text") != "text" and _FLAG.fullmatch(value) is not None
    )


def is_target(name: str) -> bool:
    """Whether JAX registers an FFI target of this name."""
    return _TARGET.fullmatch(name) is not None


def is_platform(name: str) -> bool:
    """Whether XLA has a platform of this name."""
    return re.fullmatch(_PLATFORMS, name, re.IGNORECASE) is not None


def is_standard_module(name: str) -> bool:
    """Whether a dotted name belongs to Python's standard library."""
    return re.fullmatch(r"[\w.]+", name) is not None and name.partition(".")[0] in _STANDARD_MODULES


def find_leading_release(text: str) -> str:
    """The release at the start of a version, such as `0.12.0` in `0.12.0+acme`; empty if there is none."""
    match = _RELEASE.match(text)
    return match[0] if match else ""


def find_public_revision(text: str) -> str:
    """Return the text if it is a commit or a release tag, else an empty text."""
    return text if _REVISION.fullmatch(text) else ""


def _matches(pattern: re.Pattern[str] | None, value: str) -> bool:
    return pattern is not None and pattern.fullmatch(value) is not None


def _is_list_of_names(field: str, value: str) -> bool:
    """Whether a value lists extensions, functions or fields of the C API."""
    known = {
        "extensions": _tables,
        "untraced_extensions": _tables,
        "null_functions": _functions,
        "unfilled": _fields,
    }
    return field in known and all(each in known[field]() for each in value.split(", "))


@cache
def _fields() -> frozenset[str]:
    of_api = (
        part for each in read_api_functions() for parameter in each.parameters for part in parameter.name.split(".")
    )
    return _RECORDED_FIELDS.union(of_api)


@cache
def _functions() -> frozenset[str]:
    return frozenset({"GetPjrtApi", *(each.name for each in read_api_functions())})


@cache
def _object_types() -> frozenset[str]:
    return frozenset(known.type for each in load_boundary_functions().values() for known in each.objects)


@cache
def _tables() -> frozenset[str]:
    return frozenset(each.table for each in read_api_functions())


@cache
def _load_public_names(kind: str) -> frozenset[str]:
    public_names: Mapping[str, Any] = json.loads(files(__package__).joinpath("public_names.json").read_text("utf-8"))
    return frozenset(public_names[kind])
