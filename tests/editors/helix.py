"""Read the location of the cursor from Helix's status line: before 25.07, no command prints it."""

from __future__ import annotations

import re
from pathlib import Path

STATUS_LINE = '[editor.statusline]\nleft = ["file-base-name"]\nright = ["position"]\n'


def show_places(settings: Path) -> None:
    """Make a Helix with this settings folder show the file and line of the cursor."""
    (settings / "config.toml").write_text(STATUS_LINE)


def shown_place(screen: str) -> tuple[str, int] | None:
    """The file and the 1-based line of the cursor; None while Helix shows another buffer."""
    found = re.search(r"^ +([\w-]+\.\w+) +(\d+):\d+ *$", screen, re.MULTILINE)
    return (found[1], int(found[2])) if found else None
