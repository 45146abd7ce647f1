"""What is fuzzed in Python: a module for each parser, with `run(data)` and `LONGEST`, the most bytes to try."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

NAMES = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")

PROGRAM_VARIABLE = "FRAMEDEX_FUZZ_PROGRAM"
"""Names the program that libFuzzer is to start anew when it merges corpora."""


class Target(Protocol):
    """A module of this folder. `run` raises where the parser breaks a promise, and nothing otherwise."""

    LONGEST: int

    def run(self, data: bytes) -> None: ...


def load(name: str) -> Target:
    """The target of that name."""
    return cast(Target, import_module(f"tests.fuzz.targets.{name}"))
