"""An editor in a tmux terminal: tests send keys and read the screen."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

PATIENCE = 30.0  # timeout in seconds

POLL_S = 0.02
"""Seconds between two reads of the screen. Each read starts a process, which slows the editor."""

HAS_TMUX = shutil.which("tmux") is not None


class Screen:
    """A command in a terminal of 120 columns and 40 lines."""

    def __init__(self, command: str, folder: Path, environment: Mapping[str, str]) -> None:
        self._tmux = ["tmux", "-L", f"framedex-{uuid.uuid4().hex}"]
        session = ["new-session", "-d", "-x", "120", "-y", "40", command]
        given = {**os.environ, "TERM": "xterm-256color", **environment}
        subprocess.run([*self._tmux, "-f", os.devnull, *session], check=True, cwd=folder, env=given)

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Kill the terminal and its command."""
        subprocess.run([*self._tmux, "kill-server"], check=True)

    @property
    def text(self) -> str:
        """The text on the screen."""
        return subprocess.run([*self._tmux, "capture-pane", "-p"], check=True, capture_output=True, text=True).stdout

    def type(self, *keys: str) -> None:
        """Press keys, as tmux names them."""
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until the condition holds."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, self.text
            time.sleep(POLL_S)
