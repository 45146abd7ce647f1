"""The parameters that a compiled program donates to its results.

The field numbers come from xla/service/hlo.proto (HloModuleProto, HloInputOutputAliasProto). The mock TPU also loads
this module as part of its own package.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import protobuf

_INPUT_OUTPUT_ALIAS = 8
_ENTRIES = 1
_OUTPUT_INDEX, _PARAMETER_NUMBER, _PARAMETER_INDEX = 1, 2, 3


def donations(module: bytes) -> list[tuple[int, int]]:
    """The pairs of a donated parameter and the result that reuses its memory, in a compiled HloModuleProto.

    The numbers count array parameters and results without their tuples. Raises ValueError for a malformed module.
    """
    aliases = [alias for number, alias in _messages(module) if number == _INPUT_OUTPUT_ALIAS]
    entries = [entry for alias in aliases for number, entry in _messages(alias) if number == _ENTRIES]
    return sorted((_parameter(entry), _element(entry, _OUTPUT_INDEX, 0)) for entry in entries)


def _parameter(entry: bytes) -> int:
    numbers = (value for field, value, _ in protobuf.fields(entry) if field == _PARAMETER_NUMBER)
    number = next((value for value in numbers if isinstance(value, int)), 0)
    return _element(entry, _PARAMETER_INDEX, number)


def _element(entry: bytes, field_number: int, default: int) -> int:
    """The index of an array within a tuple, or `default` without a tuple."""
    path = next((content for number, content in _messages(entry) if number == field_number), b"")
    return next(protobuf.packed(path)) if path else default


def _messages(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields."""
    return ((number, value) for number, value, _ in protobuf.fields(message) if isinstance(value, bytes))
