"""The data of an imported profile for a recorded call."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProfiledOp:
    """An op in a profile, with the id of its sample, which is a call of the import.

    `start` is in ns since the profile began, `duration` in ns.
    """

    name: str
    start: int
    duration: int
    sample: int


@dataclass(frozen=True, slots=True)
class ProfiledRun:
    """A program run that a recorded call caused, in an imported profile; `capture` is the id of the import."""

    capture: int
    program: str
    ops: tuple[ProfiledOp, ...]
