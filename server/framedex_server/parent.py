"""Exit with the editor: a language server must not outlive its client.

A client that dies closes the server's stdin, which ends the server. But another child of the client may hold the pipe
open, so the process named in `initialize` is watched too.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable

_log = logging.getLogger(__name__)


def call_when_dead(pid: int, action: Callable[[], None]) -> Callable[[], None]:
    """Have the running loop call `action` once process `pid` has ended; return a function that ends the watch.

    Uses pidfd_open(2): no polling, no pid reuse. A pid that does not exist here is ignored: it may belong to another
    machine or container.
    """
    try:
        descriptor = os.pidfd_open(pid)
    except (OSError, AttributeError) as error:  # macOS and Windows have no pidfd_open
        _log.info("the client's process %d cannot be watched (%s); end of input ends this server", pid, error)
        return lambda: None
    loop = asyncio.get_running_loop()

    def end_watch() -> None:
        if loop.remove_reader(descriptor):
            os.close(descriptor)

    def on_death() -> None:
        end_watch()
        action()

    loop.add_reader(descriptor, on_death)
    return end_watch
