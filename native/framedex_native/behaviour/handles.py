"""The runtime's objects as behaviours meet them: what they are is known to the plug-in alone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Handle:
    """An object of the runtime, by its address: `type` is the API's name for it, such as `PJRT_Buffer`.

    Two are equal when they are the same object; after its end another one may have its address.
    """

    type: str
    address: int

    def __repr__(self) -> str:
        return f"<{self.type} {self.address:#x}>"
