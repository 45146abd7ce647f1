"""Which parameters a compiled program gives to its results.

The field numbers are of xla/service/hlo.proto (HloModuleProto, HloInputOutputAliasProto). The mock of a TPU reads with
it too, from a package of another name.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import protobuf

_INPUT_OUTPUT_ALIAS = 8
_ENTRIES = 1
_OUTPUT_INDEX, _PARAMETER_NUMBER, _PARAMETER_INDEX = 1, 2, 3


def donations(module: bytes) -> list[tuple[int, int]]:
    """The parameters whose memory a compiled HloModuleProto gives to a result, with that result.

    Parameters and results are numbered as if they never came as a tuple. Raises ValueError for what is no such module.
    """
    aliases = [alias for number, alias in _messages(module) if number == _INPUT_OUTPUT_ALIAS]
    entries = [entry for alias in aliases for number, entry in _messages(alias) if number == _ENTRIES]
    return sorted((_parameter(entry), _element(entry, _OUTPUT_INDEX, 0)) for entry in entries)


def _parameter(entry: bytes) -> int:
    numbers = (value for field, value, _ in protobuf.fields(entry) if field == _PARAMETER_NUMBER)
    number = next((value for value in numbers if isinstance(value, int)), 0)
    return _element(entry, _PARAMETER_INDEX, number)


def _element(entry: bytes, field_number: int, alone: int) -> int:
    """The number of an array within a tuple; `alone` where there is no tuple."""
    path = next((content for number, content in _messages(entry) if number == field_number), b"")
    return next(protobuf.packed(path)) if path else alone


def _messages(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields that have bytes."""
    return ((number, value) for number, value, _ in protobuf.fields(message) if isinstance(value, bytes))
