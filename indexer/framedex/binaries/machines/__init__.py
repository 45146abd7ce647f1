"""Machine code of the supported architectures.

- `control_flow.py`: the interface of a decoder
- `x86_64.py`, `aarch64.py`: the decoders
- `linkage.py`: the dynamic linker's stubs and relocations, of both architectures

`load_machine` is the entry point. `../code.py` has the calls of a function and their order, independent of the
architecture.
"""

from __future__ import annotations

from typing import Any

from framedex.binaries.machines.control_flow import Machine

__all__ = ("load_machine",)


def load_machine(architecture: str) -> Machine[Any] | None:
    """The decoder of an architecture (`Elf.architecture`); None if it is unsupported, or needs a missing package."""
    if architecture == "aarch64":
        from framedex.binaries.machines import aarch64

        return aarch64
    if architecture == "x86_64":
        try:
            from framedex.binaries.machines import x86_64
        except ImportError:  # iced-x86 is missing; `framedex doctor` reports it
            return None
        return x86_64
    return None
