"""`CaptureContents`: all queries for one capture, each implemented in its own module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex.index.ask.capture.check import check_capture
from framedex.index.ask.capture.contents import boundary_totals, calls_of_boundary
from framedex.index.ask.capture.named import named_frames, named_handler, recorded_builds, recorded_states
from framedex.index.read.asked import AskedCapture

if TYPE_CHECKING:
    from framedex.model import FlameGraph, Timeline


class CaptureContents(AskedCapture):
    """The contents of one capture. These queries may read all of it."""

    boundaries = boundary_totals
    calls = calls_of_boundary
    builds = recorded_builds
    check = check_capture
    named_frames = named_frames
    named_handler = named_handler
    recorded_states = recorded_states

    def flame_graph(
        self, boundary: int | None = None, *, with_glue: bool = True, most: int | None = None
    ) -> FlameGraph:
        """Return the flame graph of the capture, or of one `boundary` function's calls (its id); see `flame.py`."""
        from framedex.index.ask.capture.flame import MOST_NODES, flame_graph  # few commands need it

        return flame_graph(self, boundary, with_glue=with_glue, most=MOST_NODES if most is None else most)

    def timeline(self) -> Timeline:
        """Return the activity of the capture's threads over time; see `timeline.py`."""
        from framedex.index.ask.capture.timeline import timeline  # needs numpy

        return timeline(self)
