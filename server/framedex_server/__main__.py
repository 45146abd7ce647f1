"""`python -m framedex_server`: the server without the `framedex` command line."""

from __future__ import annotations

import gc
import sys

if __name__ == "__main__":
    # Creating the LSP classes takes most of the start-up and leaves no garbage to collect (10 ms of 290).
    gc.disable()
    from framedex_server.server import main

    sys.exit(main())
