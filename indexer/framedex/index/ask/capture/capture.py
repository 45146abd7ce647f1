"""Every question that can be asked of one capture: each is answered in a module of its own."""

from __future__ import annotations

from framedex.index.ask import ffi
from framedex.index.ask.capture.check import check_capture
from framedex.index.ask.capture.contents import boundary_totals, calls_of_boundary
from framedex.index.ask.capture.flame import flame_graph as flame_graph_of
from framedex.index.read.asked import AskedCapture


class CaptureContents(AskedCapture):
    """What one capture holds. These questions may read all of it."""

    boundaries = boundary_totals
    calls = calls_of_boundary
    flame_graph = flame_graph_of
    check = check_capture
    ffi_targets = ffi.targets
