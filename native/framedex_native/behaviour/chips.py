"""Custom chips: consistent changes to all runtime functions that describe a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .abi import ALLOCATE, functions
from .behaviours import Behaviour, attach_to_functions
from .calls import Call
from .handles import Handle
from .objects import addressable_devices
from .table_calls import call_table

_KIND = "PJRT_DeviceDescription_Kind"
_ATTRIBUTES = "PJRT_DeviceDescription_Attributes", "PJRT_Device_GetAttributes"  # JAX calls the second one
_STATISTICS = "PJRT_Device_MemoryStats"
_BEYOND_NUMBERS = 1 << 63
_LIMIT_ATTRIBUTE = "device_memory_bytes_limit"
Value = str | int | Sequence[int]


def chip(
    kind: str | None = None, *, memory: int | None = None, attributes: Mapping[str, Value] | None = None
) -> Behaviour:
    """Present all devices as chips with this kind, this much memory in bytes and these additional attributes.

    `memory` becomes the limit in the statistics and of the mock's allocator. With a plug-in only the statistics change.
    Raises ValueError if no change is requested or `memory` is not positive. Raises TypeError for a kind or an attribute
    that no device can have.
    """
    if kind is None and memory is None and not attributes:
        raise ValueError('chip() needs an argument: chip(kind="MyChip 1", memory=1 << 30, attributes={...})')
    if kind is not None and not _is_text(kind):
        raise TypeError(f"a chip's kind must be a str, not {kind!r}")
    if memory is not None and not (_is_number(memory) and memory > 0):
        raise ValueError(f"a chip's memory must be a positive number of bytes, not {memory!r}")
    for name, value in (attributes or {}).items():
        if not _is_text(name) or not _is_attribute(value):
            raise TypeError(
                f"the attribute {name!r} cannot be {value!r}: JAX aborts on values other than UTF-8 strings,"
                " 64-bit integers and sequences of them"
            )
    behaviour = _Chip(kind, memory, dict(attributes or {}))
    changed = {_KIND: kind, _STATISTICS: memory, ALLOCATE: memory, **dict.fromkeys(_ATTRIBUTES, attributes or memory)}
    attach_to_functions(behaviour, [functions()[name].number for name, value in changed.items() if value is not None])
    return behaviour


class _Chip(Behaviour):
    """The behaviour of the functions that describe a chip."""

    def __init__(self, kind: str | None, memory: int | None, attributes: dict[str, Value]) -> None:
        super().__init__(self._answer_call)
        self.name = "chip"
        self._kind = kind
        self._memory = memory
        self._attributes = attributes

    def _answer_call(self, call: Call) -> None:
        if call.function == _KIND:
            call.result = self._kind
        elif call.function in _ATTRIBUTES:
            call.result = {"attributes": self._add_own_attributes(call.run().attributes)}
        elif call.function == _STATISTICS and self._memory is not None:
            call.result = _lower_memory_limit(call.run(), self._memory)
        elif call.function == ALLOCATE and self._memory is not None:
            self._check_allocation(call, self._memory)

    def _add_own_attributes(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        limit = {_LIMIT_ATTRIBUTE: self._memory} if self._memory and _LIMIT_ATTRIBUTE in attributes else {}
        return {**attributes, **limit, **self._attributes}

    def _check_allocation(self, call: Call, limit: int) -> None:
        """Fail an allocation that exceeds the chip's memory."""
        number, wanted = call.arguments.device, call.arguments.bytes
        devices = addressable_devices()
        in_use = sum(call_table(_STATISTICS, device=each).bytes_in_use for each in devices if _number(each) == number)
        if in_use + wanted > limit:
            call.fail(
                "RESOURCE_EXHAUSTED",
                f"Out of memory while trying to allocate {wanted} bytes: {in_use} of {limit} bytes are in use.",
            )


def _is_attribute(value: object) -> bool:
    """Whether jaxlib accepts a value as a device attribute."""
    if isinstance(value, str):
        return _is_text(value)
    return all(map(_is_number, value if isinstance(value, Sequence) else (value,)))


def _is_number(value: object) -> bool:
    """Whether the value is a 64-bit integer."""
    return isinstance(value, int) and not isinstance(value, bool) and -_BEYOND_NUMBERS <= value < _BEYOND_NUMBERS


def _is_text(value: object) -> bool:
    """Whether the value is a str that jaxlib can decode as UTF-8."""
    return isinstance(value, str) and value == value.encode("utf-8", "replace").decode()


def _lower_memory_limit(statistics: Mapping[str, Any], limit: int) -> dict[str, int]:
    """Lower the memory limit in a device's statistics, without adding statistics that the plug-in lacks."""
    free = max(limit - statistics["bytes_in_use"], 0)
    limits = {"bytes_limit": limit, "bytes_reservable_limit": limit, "largest_free_block_bytes": free}
    return {name: value for name, value in limits.items() if name in statistics}


def _number(device: Handle) -> int:
    """The number that identifies a device to the mock's allocator."""
    number: int = call_table("PJRT_Device_LocalHardwareId", device=device).local_hardware_id
    return number
