"""The counts of named and located frames."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of frames in the index: native frames with a name, an exact line or a definition, and Python frames.

    `native_frames` and `native_named` count physical frames. The counts of lines include inlined logical frames.
    `native_released` counts native frames located in release maps, and `native_nearest` those in a map of the nearest
    release.
    """

    native_frames: int
    native_named: int
    native_exact: int
    native_defined: int
    python_frames: int
    python_exact: int
    native_released: int = 0
    native_nearest: int = 0
