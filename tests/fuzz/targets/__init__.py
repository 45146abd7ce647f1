"""The Python fuzz targets: a module for each parser.

Each has `run(data)` and `MAX_SIZE`, the maximum input size in bytes.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")

PROGRAM_VARIABLE = "FRAMEDEX_FUZZ_PROGRAM"
"""The program that libFuzzer restarts when it merges corpora."""


class Target(Protocol):
    """A module of this folder. `run` raises if the parser fails a check, and in no other case."""

    MAX_SIZE: int

    def run(self, data: bytes) -> None: ...


def load(name: str) -> Target:
    """The target of this name."""
    return cast(Target, import_module(f"tests.fuzz.targets.{name}"))
