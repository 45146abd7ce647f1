"""Write what each release of jaxlib was built from, as the JAX repository pins it at the release's tag.

    python scripts/make_release_commits.py JAX_CHECKOUT [FILE]    # a clone of github.com/jax-ml/jax with its tags

The commit of XLA stands in one of the files below; that of JAX is the tag's own: `jaxlib-vX` where there is one, else
`jax-vX`, from which both were released.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).parents[1] / "indexer" / "framedex" / "releases" / "commits.json"
_TAG = re.compile(r"(jaxlib|jax)-v(\d+(?:\.\d+)+)")
_PIN = re.compile(r'^XLA_COMMIT = "([0-9a-f]{40})"|/openxla/xla/archive/([0-9a-f]{40})', re.MULTILINE)
_PINNED_IN = ("third_party/xla/revision.bzl", "third_party/xla/workspace.bzl", "WORKSPACE")  # the latest first


def main(checkout: Path, target: Path = TARGET) -> None:
    tags = _tags(checkout)
    releases = {}
    for version in sorted({version for _, version in tags}, key=lambda text: [int(part) for part in text.split(".")]):
        tag = tags.get(("jaxlib", version)) or tags["jax", version]
        if xla := _xla_commit(checkout, tag):
            releases[version] = {"jax": _git(checkout, "rev-parse", f"{tag}^{{commit}}").strip(), "xla": xla}
    target.write_text(json.dumps({"jaxlib": releases}, indent=1) + "\n", encoding="utf-8")


def _tags(checkout: Path) -> dict[tuple[str, str], str]:
    found = (_TAG.fullmatch(tag) for tag in _git(checkout, "tag").split())
    return {(match[1], match[2]): match[0] for match in found if match}


def _xla_commit(checkout: Path, tag: str) -> str | None:
    for file in _PINNED_IN:
        if match := _PIN.search(_git(checkout, "show", f"{tag}:{file}")):
            return match[1] or match[2]
    return None


def _git(checkout: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", checkout, *arguments], capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
