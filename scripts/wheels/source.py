"""Build the source distribution into dist/, and check that it has exactly the files for a build: `make sdist`."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

from scripts.wheels.epoch import ROOT, epoch

_REQUIRED_FILES = {
    "CMakeLists.txt",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "indexer",
    "native",
    "pyproject.toml",
    "server",
}
_ALLOWED = {
    *_REQUIRED_FILES,
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Makefile",
    "SECURITY.md",
    "scripts",
}


def main() -> None:
    """Build, and print the results."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch())}
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(ROOT / "dist"), str(ROOT)]
    output = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout
    archive = ROOT / "dist" / output.strip().rpartition("built ")[2]
    with tarfile.open(archive) as opened:
        found = {Path(name).parts[1] for name in opened.getnames() if "/" in name}
    if missing := sorted(_REQUIRED_FILES - found):
        sys.exit(f"sdist: {archive} lacks {', '.join(missing)}: see sdist.exclude in pyproject.toml")
    if junk := sorted(found - _ALLOWED):
        sys.exit(f"sdist: {archive} has {', '.join(junk)}, which no build needs: see sdist.exclude in pyproject.toml")
    print(f"sdist: {archive} ({archive.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
