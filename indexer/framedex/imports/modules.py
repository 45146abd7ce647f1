"""Finds the local binaries for addresses without names.

A binary must have the build-id of the profile, or the `htlhash` that profilers use for binaries without a build-id.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from framedex.binaries import Binary
from framedex.binaries.recorded_files import compute_htlhash
from framedex.captures import compute_fingerprint
from framedex.imports.building import ProfileBuilder
from framedex.model import ImportedFrame, Language, Module, NativeFrame


@dataclass(frozen=True, slots=True)
class Mapping:
    """A binary mapped into a process: its bytes from `offset` on are at the addresses from `start` to `end`.

    `build_id` identifies its content, in hex: a GNU build-id or an `htlhash`; empty if unknown.
    """

    path: str
    start: int
    end: int
    offset: int
    build_id: str


class Modules:
    """The binaries of a profile. Each is opened once."""

    def __init__(self, builder: ProfileBuilder) -> None:
        self._builder = builder
        self._known: dict[tuple[str, str], tuple[int, Binary] | None] = {}

    def frame(self, mapping: Mapping | None, address: int) -> NativeFrame | ImportedFrame:
        """The frame at a code address without a name. `address` is the instruction, not the return address."""
        if mapping is None or not mapping.start <= address < max(mapping.end, mapping.start + 1):
            return ImportedFrame(Language.NATIVE, f"{address:#x}")
        in_file = address - mapping.start + mapping.offset
        found = self._module(mapping.path, mapping.build_id)
        loaded = None if found is None else found[1].address_of(in_file)
        if found is None or loaded is None:
            return _address_frame(mapping.path, in_file)
        return NativeFrame(found[0], loaded + 1)  # frames are looked up by return address

    def frame_at(self, path: str, build_id: str, address: int) -> NativeFrame | ImportedFrame:
        """The frame at an address of the binary's own address space. `build_id` is as in `Mapping`."""
        found = self._module(path, build_id)
        return NativeFrame(found[0], address + 1) if found and address < 1 << 62 else _address_frame(path, address)

    def _module(self, path: str, build_id: str) -> tuple[int, Binary] | None:
        """The binary and its number in the capture; None unless the local file is provably the same."""
        if (path, build_id) not in self._known:
            self._known[path, build_id] = self._find(path, build_id)
        return self._known[path, build_id]

    def _find(self, recorded_path: str, build_id: str) -> tuple[int, Binary] | None:
        path = Path(recorded_path)
        if not recorded_path.startswith("/") or not build_id or "\0" in recorded_path or not path.is_file():
            return None
        binary = Binary.open(path)
        if build_id not in (binary.build_id, compute_htlhash(path)):
            return None
        self._builder.modules.append(Module(recorded_path, 0, 0, binary.build_id, compute_fingerprint(path)))
        return len(self._builder.modules) - 1, binary


def _address_frame(path: str, address: int) -> ImportedFrame:
    """A frame named after its address. `path` is empty if the binary is unknown."""
    name = f"{path.rpartition('/')[2]}+{address:#x}" if path else f"{address:#x}"
    return ImportedFrame(Language.NATIVE, name, module=path)
