"""The one timestamp of all files in a release."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def epoch() -> int:
    """Seconds since 1970: SOURCE_DATE_EPOCH, or the commit's time. Exits if neither is available."""
    stated = os.environ.get("SOURCE_DATE_EPOCH", "")
    if stated:
        if not stated.isdecimal():
            sys.exit(f"wheels: SOURCE_DATE_EPOCH is {stated!r}, which is not a number of seconds since 1970")
        return int(stated)
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(
            "wheels: there is no git commit with a time for the wheels: set SOURCE_DATE_EPOCH (seconds since 1970)"
        )
    return int(done.stdout)
