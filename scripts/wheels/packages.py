"""The distributions' packages that wheels are built with: downloaded, compared with their pins, unpacked."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError

from scripts.wheels.pins import PINS


@dataclass(frozen=True)
class Package:
    """A pinned package of Debian or Ubuntu; `sha256` is of its file."""

    package: str
    version: str
    url: str
    sha256: str


@dataclass(frozen=True)
class Pins:
    """What makes the sysroot, and whose headers a version of CPython (`3.12`) is compiled with."""

    sysroot: Sequence[Package]
    headers: Mapping[str, Package]

    @classmethod
    def read(cls) -> Pins:
        """Those of this checkout."""
        pins = json.loads(PINS.read_text(encoding="utf-8"))
        headers = {version: Package(**package) for version, package in pins["headers"].items()}
        return cls([Package(**package) for package in pins["sysroot"]], headers)


def unpack(packages: Iterable[Package], downloads: Path, target: Path) -> None:
    """Make a folder of the files of packages, anew only where other packages are pinned than it was made of.

    Ends the program with a remedy when one cannot be downloaded or is not what was pinned.
    """
    packages = list(packages)
    made_of, wanted = target.with_name(f"{target.name}.made-of"), "\n".join(package.sha256 for package in packages)
    if made_of.is_file() and made_of.read_text(encoding="utf-8") == wanted:
        return
    files = [_downloaded(package, downloads) for package in packages]
    shutil.rmtree(target, ignore_errors=True)
    for file in files:
        subprocess.run(["dpkg-deb", "--extract", str(file), str(target)], check=True)
    _keep_links_inside(target)
    made_of.write_text(wanted, encoding="utf-8")


def _downloaded(package: Package, downloads: Path) -> Path:
    file = downloads / package.url.rpartition("/")[2]
    if not file.is_file():
        downloads.mkdir(parents=True, exist_ok=True)
        try:
            with urllib.request.urlopen(package.url) as answer:
                file.write_bytes(answer.read())
        except URLError as error:
            sys.exit(
                f"wheels: {package.url}: {error}. Where it has gone, python -m scripts.wheels.pins pins its successor."
            )
    if hashlib.sha256(file.read_bytes()).hexdigest() != package.sha256:
        sys.exit(f"wheels: {file} is not the file that packages.json pins. Remove it and try again.")
    return file


def _keep_links_inside(root: Path) -> None:
    """Have absolute links, which would lead to this machine's own libraries, lead to the root's."""
    for folder, folders, files in os.walk(root):
        for link in (Path(folder, name) for name in (*folders, *files)):
            if link.is_symlink() and link.readlink().is_absolute():
                inside = os.path.relpath(f"{root}{link.readlink()}", folder)
                link.unlink()
                link.symlink_to(inside)
