"""git in a folder that may be anybody's: its configuration must not make git run anything.

Hooks, file system monitors, and helpers that fetch missing objects are switched off; nothing is locked or written, and
nobody is asked for a password. Filters cannot be switched off together, so whoever has git look into files overrules
them by name. Commands that git has for people obey more of the configuration than can be listed: `git log` verifies
signatures with a program of the folder's choice. So commands that git has for programs are used, where there are some.

Only `started` may talk to others, by the protocols that it is given, and only for a repository of our own.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from framedex.onpath import absolute_search_path, program_on_path

_PATIENCE = 10.0  # seconds; a status of XLA takes 0.1
_OFF = {"core.fsmonitor": "", "core.hooksPath": "/dev/null", "log.showSignature": "false"}
_USERS_OWN = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")
_OF_CONNECTIONS = (
    *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_PROXY_COMMAND", "GIT_PROXY_SSL_CAINFO"),
    *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_NO_VERIFY"),
)


class Git:
    """git in a folder. Never raises: where git is missing, slow or refuses, there is no answer.

    `overruled` is configuration that goes before the folder's own. `error` is what the last command that failed said,
    in a line.
    """

    def __init__(self, folder: Path, patience: float = _PATIENCE, objects: Sequence[Path] = ()) -> None:
        """A command may take `patience` seconds. It finds objects in these other folders of objects too."""
        self._folder = folder
        self._patience = patience
        self._objects = objects
        self.overruled: Mapping[str, str] = {}
        self.error = ""

    def content(self, *arguments: str, given: bytes = b"") -> bytes | None:
        """What a command prints that is given this to read; None where it fails, takes too long, or there is no git."""
        git = program_on_path("git")
        if git is None:
            self.error = "there is no git on the PATH"
            return None
        try:
            done = subprocess.run(  # noqa: TID251
                _command(git, self._folder, arguments),
                stdin=None if given else subprocess.DEVNULL,
                input=given or None,
                capture_output=True,
                timeout=self._patience,
                check=False,
                env=git_environment(self.overruled, objects=self._objects),
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


def started(
    folder: Path,
    *arguments: str,
    stdin: int | IO[bytes],
    stdout: int | IO[bytes],
    overruled: Mapping[str, str],
    protocols: str = "",
    objects: Sequence[Path] = (),
    held: Sequence[int] = (),
) -> subprocess.Popen[bytes]:  # noqa: TID251
    """Start a long command for a repository of our own; what it says is in the pipe `stderr`.

    It may talk by `protocols` (`http:https`), finds objects in these other folders of objects too, and keeps the
    descriptors `held` open. It has no terminal on which anything could ask, and is a group of processes, so that all of
    it can be ended.
    Raises FileNotFoundError where there is no git, and other kinds of OSError.
    """
    git = program_on_path("git")
    if git is None:
        raise FileNotFoundError("there is no git on the PATH")
    return subprocess.Popen(  # noqa: TID251
        _command(git, folder, arguments),
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=git_environment(overruled, protocols, objects),
        pass_fds=held,
        start_new_session=True,
    )


def _command(git: str, folder: Path, arguments: Sequence[str]) -> list[str | Path]:
    options = [part for name, value in _OFF.items() for part in ("-c", f"{name}={value}")]
    return [git, *options, "-C", folder, *arguments]


def git_environment(overruled: Mapping[str, str], protocols: str = "", objects: Sequence[Path] = ()) -> dict[str, str]:
    """This process's environment, without what would have git use another repository, ask, lock, fetch or translate.

    Overruled configuration goes in here: on the command line, a name ends at its first `=`.
    """
    users_own = (*_USERS_OWN, *_OF_CONNECTIONS) if protocols else _USERS_OWN
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in users_own}
    own = {
        "GIT_ASKPASS": "",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "LC_ALL": "C",
    }
    # No other protocol, whatever the folder's `protocol.NAME.allow` says: git before 2.44 fetches otherwise.
    own |= {"GIT_ALLOW_PROTOCOL": protocols, "PATH": absolute_search_path()}
    if objects:
        own["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.pathsep.join(map(_quoted, objects))
    for number, (name, value) in enumerate(overruled.items()):
        own |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return kept | own | {"GIT_CONFIG_COUNT": str(len(overruled))}


def _quoted(folder: Path) -> str:
    """A folder in a list of folders as git reads it."""
    text = str(folder)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"' if os.pathsep in text or escaped != text else text
