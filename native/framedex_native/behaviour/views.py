"""The inputs and outputs of a running call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from . import memory
from .abi import Field, Struct
from .element_types import array_bytes
from .reading import Fields, copy_value, is_known, read, rows

_BYTES = "bytes"
_HIDDEN = ("_is_set", "_deleter")


class Arguments(Fields):
    """The inputs of a call. If they describe an array, `bytes` is its size."""

    __slots__ = ()

    def __init__(self, struct: Struct, address: int, check_alive: Callable[[], None]) -> None:
        """The inputs in the struct at `address`. `check_alive` raises once the call has ended."""

        def is_available(field: Field) -> bool:
            check_alive()
            return field.is_input

        super().__init__(struct, address, is_available)

    def _value(self, field: Field) -> Any:
        return copy_value(super()._value(field))

    def __getitem__(self, name: str) -> Any:
        if name == _BYTES and self._struct.array:
            element, dims = self._struct.array
            return array_bytes(self[element], self[dims])
        return super().__getitem__(name)

    def __iter__(self) -> Iterator[str]:
        yield from super().__iter__()
        if self._struct.array and all(name in self._struct.fields for name in self._struct.array):
            yield _BYTES


class Outputs(Fields):
    """The outputs of a call, without optional outputs that the plug-in did not set."""

    __slots__ = ("_results",)

    def __init__(
        self, struct: Struct, address: int, check_alive: Callable[[], None], results: Callable[[], int] = lambda: 0
    ) -> None:
        """The outputs in the struct at `address`. `check_alive` raises once the call has ended.

        `results` returns the program's number of results, if result buffers are an output.
        """
        self._results = results

        def is_available(field: Field) -> bool:
            check_alive()
            is_set = struct.fields.get(f"{field.name}_is_set")
            return (
                field.is_output
                and not field.name.endswith(_HIDDEN)
                and (is_set is None or (is_known(struct, is_set, address) and read(struct, is_set, address)))
            )

        super().__init__(struct, address, is_available)

    def _value(self, field: Field) -> Any:
        if field.kind != "rows":
            return copy_value(super()._value(field))
        target = memory.number(memory.ADDRESS, self._address + field.offset)
        count = read(self._struct, self._struct.fields[field.count[0]], self._address)
        return rows(field.element_type, target, count, self._results())
