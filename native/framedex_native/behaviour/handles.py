"""Opaque handles of the runtime's objects. Only the plug-in knows their contents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Handle:
    """An object of the runtime, by address. `type` is its PJRT type, such as `PJRT_Buffer`.

    Handles of the same object are equal. After its destruction another object may reuse the address.
    """

    type: str
    address: int

    def __repr__(self) -> str:
        return f"<{self.type} {self.address:#x}>"
