"""git in a folder that may be anybody's: its configuration must not make git run anything.

Hooks, file system monitors, and helpers that fetch missing objects are switched off; nothing is locked or written, and
nobody is asked for a password. Filters cannot be switched off together, so whoever has git look into files overrules
them by name. Commands that git has for people obey more of the configuration than can be listed: `git log` verifies
signatures with a program of the folder's choice. So commands that git has for programs are used, where there are some.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from framedex.onpath import absolute_search_path, program_on_path

_PATIENCE = 10.0  # seconds; a status of XLA takes 0.1
_OFF = {"core.fsmonitor": "", "core.hooksPath": "/dev/null", "log.showSignature": "false"}
_USERS_OWN = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")


class Git:
    """git in a folder. Never raises: where git is missing, slow or refuses, there is no answer.

    `overruled` is configuration that goes before the folder's own. `error` is what the last command that failed said,
    in a line.
    """

    def __init__(self, folder: Path, patience: float = _PATIENCE) -> None:
        """A command may take `patience` seconds."""
        self._folder = folder
        self._patience = patience
        self.overruled: Mapping[str, str] = {}
        self.error = ""

    def content(self, *arguments: str) -> bytes | None:
        """What a command prints; None where it fails, takes too long, or there is no git."""
        git = program_on_path("git")
        if git is None:
            self.error = "there is no git on the PATH"
            return None
        options = [part for name, value in _OFF.items() for part in ("-c", f"{name}={value}")]
        try:
            done = subprocess.run(
                [git, *options, "-C", self._folder, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self._patience,
                check=False,
                env=_environment(self.overruled),
            )
        except subprocess.TimeoutExpired:
            self.error = f"it took more than {self._patience:.0f} s"
            return None
        except (OSError, ValueError) as error:  # a zero byte in a name
            self.error = str(error)
            return None
        self.error = " ".join(os.fsdecode(done.stderr).split())
        return done.stdout if done.returncode == 0 else None

    def text(self, *arguments: str) -> str | None:
        """What a command prints, as text; bytes that are no UTF-8 are as Python has them in names of files."""
        content = self.content(*arguments)
        return None if content is None else os.fsdecode(content)


def _environment(overruled: Mapping[str, str]) -> dict[str, str]:
    """This process's environment, without what would have git use another repository, ask, lock, fetch or translate.

    Overruled configuration goes in here: on the command line, a name ends at its first `=`.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _USERS_OWN}
    own = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    # No protocol at all, whatever the folder's `protocol.NAME.allow` says: git before 2.44 fetches otherwise.
    own |= {"GIT_ALLOW_PROTOCOL": "", "PATH": absolute_search_path()}
    for number, (name, value) in enumerate(overruled.items()):
        own |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return kept | own | {"GIT_CONFIG_COUNT": str(len(overruled))}
