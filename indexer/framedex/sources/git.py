"""What git knows of a folder. Nothing here raises: where git is missing, slow or refuses, there is no answer."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_SECONDS = 20.0


def git(folder: Path | str, *arguments: str) -> bytes | None:
    """What a git command prints; None where it fails. It asks nobody, writes nothing and fetches nothing."""
    # A hook's variables would point git to the repository of the hook.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    command = ["git", "-C", str(folder), "-c", "protocol.allow=never", "-c", "core.fsmonitor=", *arguments]
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None


def blob(folder: Path | str, name: str) -> bytes | None:
    """The content with this name, if the repository around a folder has it."""
    return git(folder, "cat-file", "blob", name)
