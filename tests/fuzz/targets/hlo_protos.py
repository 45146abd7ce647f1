"""Serialized HLO modules: unreadable parts are omitted by the reader, and refused by the mock."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path

import framedex_native
from framedex_native.ffi.donations import donations
from framedex_native.ffi.hlo import read_program

MAX_SIZE = 1 << 14


def _mock_part(name: str) -> types.ModuleType:
    """A module of the mock's Python half, loaded alone because its package would import JAX."""
    folder = Path(framedex_native.__file__).parent / "mock_tpu"
    package = "fuzzed_mock_tpu"
    if package not in sys.modules:
        module = types.ModuleType(package)
        module.__path__ = [str(folder), str(folder.with_name("ffi"))]
        sys.modules[package] = module
    return importlib.import_module(f"{package}.{name}")


hlo_proto = _mock_part("hlo_proto")
program = _mock_part("program")


def run(data: bytes) -> None:
    """Parse a module for its custom calls, and as the mock does."""
    for call in read_program(data).custom_calls:
        assert isinstance(call.target, str) and len(call.frames) <= 500
    value = program.Value(11, [2, 3], [1, 0], [[8, 128]], "pinned_host")
    try:
        donations(data)
        hlo_proto.module_with_config(data, [value] * 3, [value], (1, 1), data)
    except ValueError:
        pass  # refused
