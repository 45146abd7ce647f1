"""A base class with the four cost tables of an index, for a test block or a notebook cell."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.index.reader import Index
    from framedex.model import Compiles, DeviceMemory, Table, Transfers, WaitsAndLoops


class CostTables(ABC):
    """A part of a program with the cost tables of its own index. Durations are in ns, sizes in bytes."""

    @property
    @abstractmethod
    def index(self) -> Index:
        """The index of this part alone. Raises FramedexError if there is none."""

    def compiles(self, *, all_lines: bool = False) -> Table[Compiles]:
        """Return compilations by line, longest total duration first."""
        return self.index.compiles(all_lines=all_lines)

    def transfers(self, *, all_lines: bool = False) -> Table[Transfers]:
        """Return transfers between host and devices by line, most bytes first."""
        return self.index.transfers(all_lines=all_lines)

    def memory(self, *, all_lines: bool = False) -> Table[DeviceMemory]:
        """Return the live memory of each device that this part allocated."""
        return self.index.memory(all_lines=all_lines)

    def waits(self, *, all_lines: bool = False) -> WaitsAndLoops:
        """Return the waits of Python for the runtime, and the steps of its loops."""
        return self.index.waits(all_lines=all_lines)
