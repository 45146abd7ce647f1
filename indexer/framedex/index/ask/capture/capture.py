"""Every question that can be asked of one capture: each is answered in a module of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framedex.index.ask.capture.check import check_capture
from framedex.index.ask.capture.contents import boundary_totals, calls_of_boundary
from framedex.index.read.asked import AskedCapture

if TYPE_CHECKING:
    from framedex.model import FlameGraph


class CaptureContents(AskedCapture):
    """What one capture holds. These questions may read all of it."""

    boundaries = boundary_totals
    calls = calls_of_boundary
    check = check_capture

    def flame_graph(self, boundary: int | None = None, *, with_glue: bool = True) -> FlameGraph:
        """The flame graph of the capture, or of the calls of one `boundary` function (its id); see `flame.py`."""
        from framedex.index.ask.capture.flame import flame_graph  # the command line shows none

        return flame_graph(self, boundary, with_glue=with_glue)
