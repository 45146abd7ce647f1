"""Check that dist/ has one release of these sources: a source distribution and wheels, all of the current version.

python scripts/release/check_dist.py [FOLDER]

All files in that folder would be published, including leftovers of earlier builds. Exits with 1 and a line for each
problem.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from source_version import ROOT, version

_SDIST = re.compile(r"framedex-(?P<version>[^-]+)\.tar\.gz")
_WHEEL = re.compile(r"framedex-(?P<version>[^-]+)(-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl")


def problems(names: list[str], version: str) -> Iterator[str]:
    """The problems of these file names as the release of a version: a line for each."""
    for name in names:
        found = _SDIST.fullmatch(name) or _WHEEL.fullmatch(name)
        if found is None:
            yield f"{name} is neither a source distribution nor a wheel of framedex"
        elif found["version"] != version:
            yield f"{name} is not of version {version}, the version of these sources: remove it, or build again"
    if not any(map(_SDIST.fullmatch, names)):
        yield "there is no source distribution: make sdist"
    if not any(map(_WHEEL.fullmatch, names)):
        yield "there are no wheels: make wheels"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    try:
        names = sorted(file.name for file in folder.iterdir())
        found = list(problems(names, version(ROOT)))
    except (OSError, ValueError) as error:
        sys.exit(f"The version of these sources is unknown: {error}. make sdist and make wheels fill dist/.")
    if found:
        sys.exit("\n".join(f"{folder.name}: {problem}" for problem in found))


if __name__ == "__main__":
    main()
