"""Write the source commits of each jaxlib release, as the JAX repository pins them at the release's tag.

python scripts/make_release_commits.py JAX_CHECKOUT [FILE]  # a clone of github.com/jax-ml/jax with its tags

JAX's build files name the XLA commit (framedex.sources.releases.builds). The JAX commit is the tag's: `jaxlib-vX` if it
exists, else `jax-vX`, from which both were released. The last entry is the checked-out commit, if it is later than all
releases. It has the version that JAX gives to a build from it, and is the nearest to later releases.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from framedex.sources.releases.builds import find_pinned_xla_commit

TARGET = Path(__file__).parents[1] / "indexer" / "framedex" / "sources" / "releases" / "commits.json"
_BASE = re.compile(r'^_version = "(\d+(?:\.\d+)+)"', re.MULTILINE)
_TAG = re.compile(r"(jaxlib|jax)-v(\d+(?:\.\d+)+)")


def main(checkout: Path, target: Path = TARGET) -> None:
    tags = _list_tags(checkout)
    revisions = {version: tags.get(("jaxlib", version)) or tags["jax", version] for _, version in tags}
    revisions = dict(sorted(revisions.items(), key=lambda entry: _version_numbers(entry[0])))
    revisions |= _upcoming_release(checkout, max(map(_version_numbers, revisions), default=()))
    releases = {}
    for version, revision in revisions.items():
        if xla := find_pinned_xla_commit(partial(_read_file_at, checkout, revision)):
            releases[version] = {"jax": _run_git(checkout, "rev-parse", f"{revision}^{{commit}}").strip(), "xla": xla}
    target.write_text(json.dumps({"jaxlib": releases}, indent=1) + "\n", encoding="utf-8")


def _upcoming_release(checkout: Path, newest: tuple[int, ...]) -> dict[str, str]:
    """HEAD by its version in JAX's build (`_version_from_git_tree`); empty unless it is later."""
    found = _BASE.search(_run_git(checkout, "show", "HEAD:jax/version.py"))
    if found is None or _version_numbers(found[1]) <= newest:
        return {}
    commit, written = _run_git(checkout, "show", "-s", "--format=%H %at", "HEAD").split()
    date = datetime.fromtimestamp(int(written), UTC)
    return {f"{found[1]}.dev{date:%Y%m%d}+{commit[:9]}": "HEAD"}


def _version_numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _list_tags(checkout: Path) -> dict[tuple[str, str], str]:
    found = (_TAG.fullmatch(tag) for tag in _run_git(checkout, "tag").split())
    return {(match[1], match[2]): match[0] for match in found if match}


def _read_file_at(checkout: Path, revision: str, file: str) -> str:
    return _run_git(checkout, "show", f"{revision}:{file}")


def _run_git(checkout: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", checkout, *arguments], capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
