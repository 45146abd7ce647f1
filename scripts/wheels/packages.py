"""The distribution packages for building wheels: downloaded, compared with their pins, unpacked."""

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
    """A pinned Debian or Ubuntu package; `sha256` is its file's."""

    package: str
    version: str
    url: str
    sha256: str


@dataclass(frozen=True)
class Pins:
    """The packages of the sysroot, those with the headers of a CPython version (`3.12`), and those of `make arm64`."""

    sysroot: Sequence[Package]
    headers: Mapping[str, Package]
    arm64: Sequence[Package]

    @classmethod
    def read(cls) -> Pins:
        """The pins of this checkout."""
        pins = json.loads(PINS.read_text(encoding="utf-8"))
        headers = {version: Package(**package) for version, package in pins["headers"].items()}
        arm64 = [Package(**package) for package in pins["arm64"]]
        return cls([Package(**package) for package in pins["sysroot"]], headers, arm64)


def unpack(packages: Iterable[Package], downloads: Path, target: Path) -> None:
    """Unpack packages into a folder, and rebuild it only if the pins have changed.

    Exits with a remedy if a package cannot be downloaded or differs from its pin.
    """
    packages = list(packages)
    made_of, wanted = target.with_name(f"{target.name}.made-of"), "\n".join(package.sha256 for package in packages)
    if made_of.is_file() and made_of.read_text(encoding="utf-8") == wanted:
        return
    files = [_download_once(package, downloads) for package in packages]
    shutil.rmtree(target, ignore_errors=True)
    for file in files:
        subprocess.run(["dpkg-deb", "--extract", str(file), str(target)], check=True)
    _redirect_links(target)
    made_of.write_text(wanted, encoding="utf-8")


def _download_once(package: Package, downloads: Path) -> Path:
    file = downloads / package.url.rpartition("/")[2]
    if not file.is_file():
        downloads.mkdir(parents=True, exist_ok=True)
        try:
            with urllib.request.urlopen(package.url) as answer:
                file.write_bytes(answer.read())
        except URLError as error:
            sys.exit(f"wheels: {package.url}: {error}. If it was removed, run python -m scripts.wheels.pins.")
    if hashlib.sha256(file.read_bytes()).hexdigest() != package.sha256:
        sys.exit(f"wheels: {file} is not the file that packages.json pins. Remove it and try again.")
    return file


def _redirect_links(root: Path) -> None:
    """Redirect absolute links, which would lead to this machine's libraries, to the root's."""
    for folder, folders, files in os.walk(root):
        for link in (Path(folder, name) for name in (*folders, *files)):
            if link.is_symlink() and link.readlink().is_absolute():
                inside = os.path.relpath(f"{root}{link.readlink()}", folder)
                link.unlink()
                link.symlink_to(inside)
