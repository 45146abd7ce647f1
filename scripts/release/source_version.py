"""The version of these sources, which nobody types: what a build of them is, and what `framedex --version` then says.

    python scripts/release/source_version.py               print it
    python scripts/release/source_version.py --is v0.2.0   exit with 1 unless it is the release of this tag

The first of these that answers:

1. PKG-INFO, in a source distribution.
2. git, in a checkout: 0.2.0 on a commit with the tag v0.2.0, without changes; else what the next release is going to
   be, the number of commits since the last one and the commit, as 0.3.0.dev12+g1a2b3c4d, with .dirty where tracked
   files differ. Which release is next, the newest section of CHANGELOG.md says; where that is out, the next patch.
   A shallow clone cannot count: 0.3.0.dev0+g1a2b3c4d.
3. .git_archival.txt, in an archive that git made (GitHub's "Source code" and "Download ZIP").
4. The newest section of CHANGELOG.md alone: 0.3.0.dev0.

scikit-build-core asks `dynamic_metadata` (pyproject.toml) and writes the answer into framedex/_version.py.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from changelog import NAME, Release, release_of_tag, sections, text_of

ROOT = Path(__file__).resolve().parents[2]


def dynamic_metadata(_settings: Mapping[str, object], _project: Mapping[str, object]) -> dict[str, str]:
    """The entry point that scikit-build-core calls for metadata."""
    return {"version": version(ROOT)}


def version(folder: Path) -> str:
    """The version of the sources in a folder. Raises OSError or ValueError if CHANGELOG.md has no release."""
    return (
        _package_version(folder)
        or _checkout_version(folder)
        or _archive_version(folder)
        or _next_release(folder, None) + ".dev0"
    )


def _package_version(folder: Path) -> str | None:
    try:
        text = (folder / "PKG-INFO").read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    found = re.search(r"^Version: *(\S+)$", text.partition("\n\n")[0], re.MULTILINE)
    return found[1] if found else None


def _checkout_version(folder: Path) -> str | None:
    # Its own repository: a copy of these sources may be inside another repository, whose tags do not apply.
    if not (folder / ".git").exists():
        return None
    commit = _run_git(folder, "rev-parse", "--short=8", "HEAD")
    if not commit:
        return None
    dirty = bool(_run_git(folder, "status", "--porcelain", "--untracked-files=no"))
    if not dirty and (release := _newest_release(_run_git(folder, "tag", "--points-at", "HEAD"))):
        return text_of(release)
    last = _newest_release(_run_git(folder, "tag", "--merged", "HEAD"))
    count = 0
    if _run_git(folder, "rev-parse", "--is-shallow-repository") != "true":
        since = [f"^v{text_of(last)}"] if last else []
        count = int(_run_git(folder, "rev-list", "--count", "HEAD", *since) or 0)
    return f"{_next_release(folder, last)}.dev{count}+g{commit}{'.dirty' if dirty else ''}"


def _archive_version(folder: Path) -> str | None:
    """The content that git wrote into .git_archival.txt (.gitattributes: export-subst).

    A checkout has only placeholders.
    """
    try:
        lines = (folder / ".git_archival.txt").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return None
    fields = dict(line.split(": ", 1) for line in lines if ": " in line)
    commit = fields.get("commit", "")
    if not re.fullmatch("[0-9a-f]{7,}", commit):
        return None
    found = re.fullmatch(r"(v[\d.]+?)(?:-(\d+)-g[0-9a-f]+)?", fields.get("describe", ""))
    last = release_of_tag(found[1]) if found else None
    if found and last and found[2] is None:
        return text_of(last)
    count = int(found[2]) if found and last else 0
    return f"{_next_release(folder, last)}.dev{count}+g{commit[:8]}"


def _next_release(folder: Path, last: Release | None) -> str:
    """The release after the last one."""
    found = sections((folder / NAME).read_text(encoding="utf-8"))
    if not found:
        raise ValueError(f"{folder / NAME} has no section of a release, such as ## 0.2.0")
    coming = found[0].release
    if last is not None and coming <= last:
        coming = (last[0], last[1], last[2] + 1)
    return text_of(coming)


def _newest_release(tags: str) -> Release | None:
    return max((release for tag in tags.split() if (release := release_of_tag(tag))), default=None)


def _run_git(folder: Path, *arguments: str) -> str:
    """Git's data on a checkout; None if git fails or is missing."""
    # A hook of another repository may run this build. Another user's repository (in a container, root builds) is
    # accepted: a build executes its contents anyway.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", os.fspath(folder), "-c", f"safe.directory={folder}", "-c", "core.fsmonitor=", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints the version of these sources.")
    parser.add_argument(
        "--is", dest="tag", metavar="TAG", help="fail unless it is the release of this tag, such as v0.2.0"
    )
    options = parser.parse_args()
    try:
        found = version(ROOT)
    except (OSError, ValueError) as error:
        sys.exit(f"The version of these sources is unknown: {error}")
    release = release_of_tag(options.tag) if options.tag is not None else None
    if options.tag is not None and release is None:
        sys.exit(f"{options.tag!r} is not a release tag: write v and three numbers, such as v0.2.0")
    if release is not None and found != text_of(release):
        sys.exit(f"These sources are version {found}, not {options.tag}: check out the tag, without changes.")
    print(found)


if __name__ == "__main__":
    main()
