"""Real git repositories for tests, independent of this user's git configuration."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    **{f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder and return its output."""
    done = subprocess.run(
        ["git", "-C", folder, *arguments], capture_output=True, text=True, check=True, env=_ENVIRONMENT
    )
    return done.stdout.strip()


def commit_all(folder: Path) -> str:
    """Make the folder a repository if necessary, and commit all its files; return the commit id."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "--initial-branch=main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "a state")
    return git(folder, "rev-parse", "HEAD")


def make_checkout(folder: Path, files: Mapping[str, str]) -> str:
    """Create a repository with one commit of these files; return the commit id."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return commit_all(folder)
