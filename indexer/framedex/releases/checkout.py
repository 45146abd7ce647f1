"""The git state of a source folder: its commit, and whether files were changed.

`git status` reads files and enters submodules. So the folder's filters are disabled and submodules are ignored.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from framedex.git import Git

_FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"


@dataclass(frozen=True, slots=True)
class Checkout:
    """The git working tree of a folder, with root `top`. `commit` is HEAD's, empty before the first commit.

    `is_changed`: tracked files differ from the commit; None if unknown. `problem` is a sentence with the reason for
    missing data, and a remedy.
    """

    top: Path
    commit: str
    is_changed: bool | None
    problem: str | None = None


def read_checkout(folder: Path) -> Checkout | None:
    """The state of a folder's git working tree. Never raises.

    None without a working tree or without git. Also None for a folder without tracked files inside a working tree, such
    as an ignored `.venv`. The root of a working tree is never None.
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
    """The commit of a tag or commit id in a checkout; None if missing."""
    found = Git(folder).text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return found.strip() if found else None
