"""The signal that ended a program, stored in a file next to its capture's streams.

The recorder cannot write it, because a program may be killed at any instruction. So `framedex run` writes it after the
program has ended.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from framedex.model import Metadata
from framedex.regularfile import read_regular_text

END_FILE = "end.json"
_FORMAT = "framedex-end"


def write_end(capture: Path, signal: str) -> None:
    """Write the name of the signal that ended the capture's program. Raises OSError if writing fails."""
    unfinished = capture / f"{END_FILE}.tmp"
    unfinished.write_text(json.dumps({"format": _FORMAT, "signal": signal}) + "\n", encoding="utf-8")
    unfinished.replace(capture / END_FILE)


def read_end(capture: Path) -> str | None:
    """The name of the signal; None if missing or malformed."""
    try:
        signal = json.loads(read_regular_text(capture / END_FILE))["signal"]
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return None
    return signal if isinstance(signal, str) and signal else None


def with_end(metadata: Metadata, signal: str | None) -> Metadata:
    """The metadata with the signal, which is also added to the text that the index stores."""
    if signal is None:
        return metadata
    text = json.dumps({**json.loads(metadata.text), "ended_by": signal})
    return replace(metadata, ended_by=signal, text=text)
