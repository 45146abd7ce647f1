"""Measuring durations, independent of other activity in the process or on the machine."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def seconds_of(work: Callable[[], object]) -> float:
    """The processor time of this thread in s, without garbage collections caused by other tests."""
    gc.disable()
    try:
        begin = time.thread_time()
        work()
        return time.thread_time() - begin
    finally:
        gc.enable()
