"""Where a Helix is, by its status line: what the commands of later versions tell, those before 25.07 do not."""

from __future__ import annotations

import re
from pathlib import Path

STATUS_LINE = '[editor.statusline]\nleft = ["file-base-name"]\nright = ["position"]\n'


def show_places(settings: Path) -> None:
    """Have a Helix with this folder of settings show the file and the line of the cursor."""
    (settings / "config.toml").write_text(STATUS_LINE)


def shown_place(screen: str) -> tuple[str, int] | None:
    """The file and the 1-based line of the cursor; None while Helix shows something else."""
    found = re.search(r"^ +([\w-]+\.\w+) +(\d+):\d+ *$", screen, re.MULTILINE)
    return (found[1], int(found[2])) if found else None
