"""Addresses without names: which binary they are in, and whether that is the one that is here.

Only what is proved gives names: by a build-id, or by `htlhash`, by which profilers know binaries that have none.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from framedex.binaries import Binary
from framedex.binaries.recorded_files import htlhash
from framedex.captures import fingerprint_of
from framedex.imports.building import Builder
from framedex.model import Language, Module, NativeFrame, ToldFrame


@dataclass(frozen=True, slots=True)
class Mapping:
    """A binary in the memory of a process: its bytes from `offset` on lie at the addresses from `start` to `end`.

    `build_id` is what tells its content, in hex: a GNU build-id, or `htlhash`. Empty where nothing does.
    """

    path: str
    start: int
    end: int
    offset: int
    build_id: str


class Modules:
    """The binaries of a profile, each looked at once."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        self._known: dict[tuple[str, str], tuple[int, Binary] | None] = {}

    def frame(self, mapping: Mapping | None, address: int) -> NativeFrame | ToldFrame:
        """The frame of a code address without a name: `address` is of the instruction, not of the one to return to."""
        if mapping is None or not mapping.start <= address < max(mapping.end, mapping.start + 1):
            return ToldFrame(Language.NATIVE, f"{address:#x}")
        in_file = address - mapping.start + mapping.offset
        found = self._module(mapping.path, mapping.build_id)
        loaded = None if found is None else found[1].address_of(in_file)
        if found is None or loaded is None:
            return _unnamed(mapping.path, in_file)
        return NativeFrame(found[0], loaded + 1)  # frames are looked up by the address to return to

    def frame_at(self, path: str, build_id: str, address: int) -> NativeFrame | ToldFrame:
        """The same of an address as the binary itself counts them; `build_id` as in `Mapping`."""
        found = self._module(path, build_id)
        return NativeFrame(found[0], address + 1) if found and address < 1 << 62 else _unnamed(path, address)

    def _module(self, path: str, build_id: str) -> tuple[int, Binary] | None:
        """The binary and its number in the capture; None where nothing proves that the file here is that one."""
        if (path, build_id) not in self._known:
            self._known[path, build_id] = self._find(path, build_id)
        return self._known[path, build_id]

    def _find(self, told: str, build_id: str) -> tuple[int, Binary] | None:
        path = Path(told)
        if not told.startswith("/") or not build_id or "\0" in told or not path.is_file():
            return None
        binary = Binary.open(path)
        if build_id not in (binary.build_id, htlhash(path)):
            return None
        self._builder.modules.append(Module(told, 0, 0, binary.build_id, fingerprint_of(path)))
        return len(self._builder.modules) - 1, binary


def _unnamed(path: str, address: int) -> ToldFrame:
    """A frame of which nothing is known but where it is; `path` is empty where not even its binary is."""
    name = f"{path.rpartition('/')[2]}+{address:#x}" if path else f"{address:#x}"
    return ToldFrame(Language.NATIVE, name, module=path)
