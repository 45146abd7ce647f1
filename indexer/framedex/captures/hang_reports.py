"""The answer of `framedex hang` in a capture, written by `framedex run --hang-after` if the program stalls."""

from __future__ import annotations

from pathlib import Path

from framedex.base.regularfile import read_regular_text

HANG_FILE = "hang.txt"


def write_hang_report(capture: Path, text: str) -> None:
    """Write the answer into the capture. Raises OSError if writing fails."""
    temporary_path = capture / f"{HANG_FILE}.tmp"
    temporary_path.write_text(text, encoding="utf-8", errors="replace")
    temporary_path.replace(capture / HANG_FILE)


def read_hang_report(capture: Path) -> str:
    """The answer; empty if there is none."""
    try:
        return read_regular_text(capture / HANG_FILE)
    except (OSError, ValueError):
        return ""
