"""Firefox's profiler with its command line: it loads a profile and answers queries about it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.run.export.viewers import EDITORS, VIEWERS

_NODE = EDITORS / "bin" / "node"
_PROFILER = VIEWERS / "node_modules" / "@firefox-devtools" / "profiler-cli" / "dist" / "profiler-cli.js"


Asking = Callable[..., dict[str, Any]]


@contextmanager
def firefox_profiler(profile: Path, folder: Path) -> Iterator[Asking]:
    """A query process for the profiler with a loaded profile.

    Its sockets are in the folder. Its log is a pipe here, so tests wait for the line that reports the load.
    """
    environment = {**os.environ, "PROFILER_CLI_SESSION_DIR": str(folder)}
    log = folder / "session.log"
    os.mkfifo(log)
    process = subprocess.Popen([_NODE, _PROFILER, "--daemon", profile, "--session", log.stem], env=environment)

    def ask(*words: str) -> dict[str, Any]:
        command = [str(_NODE), str(_PROFILER), *words, "--json", "--session", log.stem]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    try:
        with log.open() as steps:
            assert any("Profile loaded successfully" in step for step in steps)
            yield ask
    finally:
        process.terminate()
        process.wait()
