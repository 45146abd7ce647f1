"""Safe use of git in an untrusted folder: the folder's configuration must not make git run a program.

Hooks, file system monitors and helpers that fetch missing objects are disabled. git takes no locks, writes nothing and
never asks for a password. Filters cannot be disabled all at once, so a caller that lets git read files overrides them
by name. Porcelain commands obey more configuration than can be listed: `git log` verifies signatures with a program of
the folder's choice. So plumbing commands are used where they exist. Only `start_git` may use the network, with the
given protocols, and only for a repository of our own.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from framedex.base.folders import find_program, make_search_path_absolute

_TIMEOUT_S = 10.0  # seconds; a status of XLA takes 0.1
_DISABLED = {"core.fsmonitor": "", "core.hooksPath": "/dev/null", "log.showSignature": "false"}
_USER_VARIABLES = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")
_CONNECTION_VARIABLES = (
    *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_PROXY_COMMAND", "GIT_PROXY_SSL_CAINFO"),
    *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_NO_VERIFY"),
)


class Git:
    """git in a folder. Methods never raise: they return None if git is missing, slow or fails.

    `overrides` is configuration that overrides the folder's own. `error` is the output of the last failed command, on
    one line.
    """

    def __init__(self, folder: Path, timeout_s: float = _TIMEOUT_S, objects: Sequence[Path] = ()) -> None:
        """Run git in `folder`, at most `timeout_s` seconds per command, with `objects` as additional object folders."""
        self._folder = folder
        self._timeout_s = timeout_s
        self._objects = objects
        self.overrides: Mapping[str, str] = {}
        self.error = ""

    def output(self, *arguments: str, input_bytes: bytes = b"") -> bytes | None:
        """The output of a command with `input_bytes` as input; None if it fails or times out, or git is missing."""
        git = find_program("git")
        if git is None:
            self.error = "there is no git on the PATH"
            return None
        try:
            done = subprocess.run(  # noqa: TID251
                _build_command(git, self._folder, arguments),
                stdin=None if input_bytes else subprocess.DEVNULL,
                input=input_bytes or None,
                capture_output=True,
                timeout=self._timeout_s,
                check=False,
                env=build_git_environment(self.overrides, objects=self._objects),
            )
        except subprocess.TimeoutExpired:
            self.error = f"it took more than {self._timeout_s:.0f} s"
            return None
        except (OSError, ValueError) as error:  # ValueError: a zero byte in a name
            self.error = str(error)
            return None
        self.error = " ".join(os.fsdecode(done.stderr).split())
        return done.stdout if done.returncode == 0 else None

    def text(self, *arguments: str) -> str | None:
        """The output of a command as text; bytes that are not UTF-8 are decoded with surrogate escapes."""
        content = self.output(*arguments)
        return None if content is None else os.fsdecode(content)


def start_git(
    folder: Path,
    *arguments: str,
    stdin: int | IO[bytes],
    stdout: int | IO[bytes],
    overrides: Mapping[str, str],
    protocols: str = "",
    objects: Sequence[Path] = (),
    held: Sequence[int] = (),
) -> subprocess.Popen[bytes]:  # noqa: TID251
    """Start a long command for a repository of our own, with its messages in the pipe `stderr`.

    The command may use `protocols` (`http:https`) and the additional object folders `objects`. It keeps the descriptors
    `held` open. It has no terminal, so it cannot ask for input. It is a process group of its own, so that all its
    processes can be killed.

    Raises FileNotFoundError if git is missing, and other kinds of OSError.
    """
    git = find_program("git")
    if git is None:
        raise FileNotFoundError("there is no git on the PATH")
    return subprocess.Popen(  # noqa: TID251
        _build_command(git, folder, arguments),
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=build_git_environment(overrides, protocols, objects),
        pass_fds=held,
        start_new_session=True,
    )


def _build_command(git: str, folder: Path, arguments: Sequence[str]) -> list[str | Path]:
    options = [part for name, value in _DISABLED.items() for part in ("-c", f"{name}={value}")]
    return [git, *options, "-C", folder, *arguments]


def build_git_environment(
    overrides: Mapping[str, str], protocols: str = "", objects: Sequence[Path] = ()
) -> dict[str, str]:
    """The environment for git: no variable makes git use another repository, prompt, lock, fetch or translate.

    `overrides` is passed as environment variables: on the command line, a name ends at its first `=`.
    """
    users_own = (*_USER_VARIABLES, *_CONNECTION_VARIABLES) if protocols else _USER_VARIABLES
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in users_own}
    own = {
        "GIT_ASKPASS": "",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "LC_ALL": "C",
    }
    # Restrict protocols regardless of the folder's `protocol.NAME.allow`: git before 2.44 fetches missing objects.
    own |= {"GIT_ALLOW_PROTOCOL": protocols, "PATH": make_search_path_absolute()}
    if objects:
        own["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.pathsep.join(map(_quote_folder, objects))
    for number, (name, value) in enumerate(overrides.items()):
        own |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return kept | own | {"GIT_CONFIG_COUNT": str(len(overrides))}


def _quote_folder(folder: Path) -> str:
    """A folder, quoted for git's list of folders."""
    text = str(folder)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"' if os.pathsep in text or escaped != text else text
