"""What git says of a source folder: its commit, and whether files were changed since.

A source folder may be anybody's: its configuration must not make git run anything. Hooks, file system monitors, filters
and helpers that fetch missing objects are switched off, submodules are not entered, nothing is locked or written.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_PATIENCE = 10.0  # seconds; a status of XLA takes 0.1
_OFF = {"core.fsmonitor": "", "core.hooksPath": "/dev/null", "protocol.allow": "never"}
_USERS_OWN = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")
_FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder in a git working tree, whose top is `top`. `commit` is that of HEAD, empty before the first commit.

    `is_changed`: tracked files differ from it; None if that is not known. `problem` is a sentence that says why what is
    missing here could not be told, with a remedy.
    """

    top: Path
    commit: str
    is_changed: bool | None
    problem: str | None = None


def read_checkout(folder: Path) -> Checkout | None:
    """The state of the git working tree that a folder is in; None where there is none, or no git. Never raises."""
    git = _Git(folder)
    top = git.ask("rev-parse", "--show-toplevel")
    if top is None:
        if "dubious ownership" not in git.error:
            return None
        advice = f"git config --global --add safe.directory {shlex.quote(str(folder))}"
        return Checkout(folder, "", None, f"git does not read it, as it belongs to another user; allow it: `{advice}`.")
    top_folder = Path(top.removesuffix("\n"))
    commit = (git.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}") or "").strip()
    filters = git.ask("config", "-z", "--name-only", "--get-regexp", _FILTERS) or ""
    git.overruled = dict.fromkeys(filter(None, filters.split("\0")), "")
    one = next(iter(git.overruled), None)
    if one is not None and (git.ask("config", "--get", one) or "").strip():
        return Checkout(top_folder, commit, None, "this git is too old (before 2.31) to look for changes safely.")
    status = git.ask("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    problem = None if status is not None else f"git cannot tell whether files were changed: {git.error}."
    return Checkout(top_folder, commit, None if status is None else bool(status), problem)


def commit_of(folder: Path, revision: str) -> str | None:
    """The commit that a tag or a commit's id means in a checkout; None if it is not there."""
    found = _Git(folder).ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return found.strip() if found else None


class _Git:
    """git in a folder. `error` is what the last command that failed said, in a line."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.overruled: Mapping[str, str] = {}
        self.error = ""

    def ask(self, *arguments: str) -> str | None:
        """What a command prints; None where it fails, takes too long, or there is no git."""
        options = [part for name, value in _OFF.items() for part in ("-c", f"{name}={value}")]
        try:
            done = subprocess.run(
                ["git", *options, "-C", self._folder, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="surrogateescape",
                timeout=_PATIENCE,
                check=False,
                env=_environment(self.overruled),
            )
        except subprocess.TimeoutExpired:
            self.error = f"it took more than {_PATIENCE:.0f} s"
            return None
        except (OSError, ValueError) as error:  # no git; a zero byte in a name
            self.error = str(error)
            return None
        self.error = " ".join(done.stderr.split())
        return done.stdout if done.returncode == 0 else None


def _environment(overruled: Mapping[str, str]) -> dict[str, str]:
    """This process's, without what leads git to another repository or lets it ask, lock, fetch or translate.

    What is overruled of the configuration goes here: on the command line, a name with a `=` would be another's.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _USERS_OWN}
    own = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}
    for number, (name, value) in enumerate(overruled.items()):
        own |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return kept | own | {"GIT_CONFIG_COUNT": str(len(overruled))}
