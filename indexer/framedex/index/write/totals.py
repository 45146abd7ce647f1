"""How much of what was recorded is known."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Totals:
    """Frames in the index: native ones, how many have a name, an exact line, or a definition; and the Python ones.

    `native_frames` and `native_named` count physical frames; the lines are those of logical frames, inlined ones too.
    `native_released` of the native ones are in release maps, `native_nearest` of those in one of the nearest release.
    """

    native_frames: int
    native_named: int
    native_exact: int
    native_defined: int
    python_frames: int
    python_exact: int
    native_released: int = 0
    native_nearest: int = 0
