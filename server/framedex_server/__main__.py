"""`python -m framedex_server`: the server without the `framedex` command line around it."""

from __future__ import annotations

import gc
import sys

if __name__ == "__main__":
    # Making the protocol's classes is most of the start-up, and leaves no garbage to look for (10 ms of 290).
    gc.disable()
    from framedex_server.server import main

    sys.exit(main())
