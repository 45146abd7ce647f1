"""What an imported profile has of a recorded call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProfiledOp:
    """An op as a profile has it, and the id of its sample, which is a call of the import.

    `start` is in ns since the profile began, `duration` in ns.
    """

    name: str
    start: int
    duration: int
    sample: int


@dataclass(frozen=True, slots=True)
class ProfiledRun:
    """The run of a program that a call had made, in an imported profile: the id of its capture."""

    capture: int
    program: str
    ops: tuple[ProfiledOp, ...]
