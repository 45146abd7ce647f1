"""Add the release maps of new jaxlib releases, if any. Print the new releases.

python scripts/update_release_maps.py CLONES [--jax ADDRESS] [--xla ADDRESS]

Without a new tag in JAX's repository, no repository is cloned and no file changes. Otherwise the repositories are
cloned into the folder CLONES, and make_release_commits.py and make_release_maps.py rewrite their files. In a GitHub
workflow, the output `releases` has the new releases.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).parent
COMMITS = SCRIPTS.parent / "indexer" / "framedex" / "sources" / "releases" / "commits.json"
MAPS = SCRIPTS.parent / "indexer" / "framedex" / "sources" / "release_maps" / "releases.fdmaps"
_TAG = re.compile(r"refs/tags/(?:jaxlib|jax)-v(\d+(?:\.\d+)+)(?:\^\{\})?")


def main() -> None:
    """Write the commits and the maps of all releases if one is new."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--jax", default="https://github.com/jax-ml/jax")
    parser.add_argument("--xla", default="https://github.com/openxla/xla")
    parser.add_argument("--commits", type=Path, default=COMMITS)
    parser.add_argument("--maps", type=Path, default=MAPS)
    arguments = parser.parse_args()
    before = _known_releases(arguments.commits)
    if max(_tagged_releases(arguments.jax), default=()) <= max(before):
        print("No release of jaxlib is new.")
        return
    jax, xla = (
        _clone_repository(getattr(arguments, name), arguments.clones / f"{name}.git") for name in ("jax", "xla")
    )
    _run_command(sys.executable, SCRIPTS / "make_release_commits.py", jax, arguments.commits)
    new = sorted(_known_releases(arguments.commits) - before)
    files = ("--commits", arguments.commits, "-o", arguments.maps)
    _run_command(sys.executable, SCRIPTS / "make_release_maps.py", xla, jax, *files)
    releases = ", ".join(".".join(map(str, each)) for each in new)
    print(f"New: {releases}.")
    if output := os.environ.get("GITHUB_OUTPUT"):
        with Path(output).open("a") as file:
            file.write(f"releases={releases}\n")


def _known_releases(commits: Path) -> set[tuple[int, ...]]:
    """The releases in commits.json, without JAX's main branch."""
    versions = json.loads(commits.read_text(encoding="utf-8"))["jaxlib"]
    return {tuple(map(int, each.split("."))) for each in versions if ".dev" not in each}


def _tagged_releases(address: str) -> set[tuple[int, ...]]:
    """The releases with tags in a repository."""
    command = ["git", "ls-remote", "--tags", address]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = (_TAG.fullmatch(line.partition("\t")[2]) for line in listed.splitlines())
    return {tuple(map(int, match[1].split("."))) for match in found if match}


def _clone_repository(address: str, folder: Path) -> Path:
    if folder.is_dir():
        _run_command("git", "-C", folder, "fetch", "--quiet", "--tags", "origin", "+refs/heads/*:refs/heads/*")
    else:
        _run_command("git", "clone", "--quiet", "--bare", address, folder)
    return folder


def _run_command(*command: object) -> None:
    subprocess.run([*map(str, command)], check=True)


if __name__ == "__main__":
    main()
