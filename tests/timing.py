"""How long something takes, for tests that must not depend on what else a process or a machine does."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def seconds_of(work: Callable[[], object]) -> float:
    """The processor time of this thread in s, without collections of the garbage that other tests have left."""
    gc.disable()
    try:
        begin = time.thread_time()
        work()
        return time.thread_time() - begin
    finally:
        gc.enable()
