"""What git says of a source folder: its commit, and whether files were changed since.

A status looks into files and submodules, so the folder's filters are overruled and submodules are not entered.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from framedex.git import Git

_FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder of a git working tree, whose top is `top`. `commit` is that of HEAD, empty before the first commit.

    `is_changed`: tracked files differ from it; None if that is not known. `problem` is a sentence that says why what is
    missing here could not be told, with a remedy.
    """

    top: Path
    commit: str
    is_changed: bool | None
    problem: str | None = None


def read_checkout(folder: Path) -> Checkout | None:
    """The state of the git working tree that a folder is of. Never raises.

    None where there is none, or no git, and for a folder that only lies in one: git tracks nothing of a `.venv` that it
    ignores. The top of a working tree is of it whatever is tracked.
    """
    git = Git(folder)
    top = git.text("rev-parse", "--show-toplevel")
    if top is None:
        if "dubious ownership" not in git.error:
            return None
        advice = f"git config --global --add safe.directory {shlex.quote(str(folder))}"
        return Checkout(folder, "", None, f"git does not read it, as it belongs to another user; allow it: `{advice}`.")
    if git.content("ls-files") == b"" and git.text("rev-parse", "--show-prefix") != "\n":
        return None
    top_folder = Path(top.removesuffix("\n"))
    commit = (git.text("rev-parse", "--verify", "--quiet", "HEAD^{commit}") or "").strip()
    filters = git.text("config", "-z", "--name-only", "--get-regexp", _FILTERS) or ""
    git.overruled = dict.fromkeys(filter(None, filters.split("\0")), "")
    one = next(iter(git.overruled), None)
    if one is not None and (git.text("config", "--get", one) or "").strip():
        return Checkout(top_folder, commit, None, "this git is too old (before 2.31) to look for changes safely.")
    status = git.text("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    problem = None if status is not None else f"git cannot tell whether files were changed: {git.error}."
    return Checkout(top_folder, commit, None if status is None else bool(status), problem)


def commit_of(folder: Path, revision: str) -> str | None:
    """The commit that a tag or a commit's id means in a checkout; None if it is not there."""
    found = Git(folder).text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return found.strip() if found else None
