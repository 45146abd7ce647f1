"""The interface of a decoder: instructions with their control flow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

MAX_LOAD_DISTANCE = 24
"""The number of instructions to search backwards for the load of a called pointer."""


class ControlFlow:
    """The successors of an instruction. Plain numbers, as in iced-x86's `FlowControl`: an enum compares slower."""

    NEXT = 0
    UNCONDITIONAL_BRANCH = 1
    INDIRECT_BRANCH = 2
    CONDITIONAL_BRANCH = 3
    RETURN = 4
    CALL = 5
    INDIRECT_CALL = 6
    EXCEPTION = 9


class Instruction(Protocol):
    """One instruction."""

    @property
    def flow_control(self) -> int:
        """A `ControlFlow`."""

    @property
    def ip(self) -> int:
        """Its address."""

    @property
    def next_ip(self) -> int:
        """The address of the next instruction."""

    @property
    def near_branch_target(self) -> int:
        """The target of a direct branch or call; 0 for others."""


class PointerLoad(NamedTuple):
    """The memory from which a called pointer was loaded: an address, or an offset in a structure; None if unknown."""

    address: int | None
    slot: int | None


_Decoded = TypeVar("_Decoded", bound=Instruction)


class Machine(Protocol[_Decoded]):
    """The decoder of an architecture."""

    def decode(self, code: bytes, address: int) -> Iterable[_Decoded]:
        """The instructions of code at an address. Skips invalid bytes."""

    def find_pointer_load(self, instructions: Sequence[_Decoded], number: int) -> PointerLoad | None:
        """The load of the pointer that the indirect call or branch `instructions[number]` uses."""

    def find_constants(self, instructions: Iterable[_Decoded]) -> list[int]:
        """The constants that instructions store in registers or memory, as 32-bit values."""

    def find_addresses(self, instructions: Iterable[_Decoded]) -> list[int]:
        """The code-relative addresses that instructions load into registers."""
