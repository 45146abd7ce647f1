"""The four answers of an index, for what has one of its own: a block of a test, a cell of a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.index.reader import Index
    from framedex.model import Compiles, DeviceMemory, Table, Transfers, Waiting


class Answered(ABC):
    """A part of a program that can be asked as `framedex.open_index()` is. Durations are in ns, sizes in bytes."""

    @property
    @abstractmethod
    def index(self) -> Index:
        """The index of this part alone. Raises FramedexError where there is none."""

    def compiles(self, *, all_lines: bool = False) -> Table[Compiles]:
        """What lines compiled, what took longest first."""
        return self.index.compiles(all_lines=all_lines)

    def transfers(self, *, all_lines: bool = False) -> Table[Transfers]:
        """What lines moved between host and devices, most bytes first."""
        return self.index.transfers(all_lines=all_lines)

    def memory(self, *, all_lines: bool = False) -> Table[DeviceMemory]:
        """What was alive on each device, of what was made in this part."""
        return self.index.memory(all_lines=all_lines)

    def waits(self, *, all_lines: bool = False) -> Waiting:
        """Where Python waited for the runtime, and the steps of its loops."""
        return self.index.waits(all_lines=all_lines)
