"""The packages for building wheels: pinned versions, and handling of files with other contents."""

from __future__ import annotations

import hashlib
import re
import subprocess
from itertools import chain
from pathlib import Path

import pytest

from scripts.wheels.machines import MACHINES
from scripts.wheels.packages import Package, Pins, unpack


def _package(folder: Path, version: str = "1") -> Package:
    """A Debian package with a file, and links like libc6-dev's; among the downloads."""
    tree = folder / f"tree-{version}"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(
        f"Package: example\nVersion: {version}\nArchitecture: amd64\nMaintainer: A <a@example.org>\nDescription: none\n"
    )
    (tree / "lib").mkdir()
    (tree / "lib" / "libc.so.6").write_text(version)
    (tree / "usr" / "lib").mkdir(parents=True)
    (tree / "usr" / "lib" / "libc.so").symlink_to("/lib/libc.so.6")
    downloads = folder / "downloads"
    downloads.mkdir(exist_ok=True)
    file = downloads / f"example_{version}_amd64.deb"
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", str(tree), str(file)], check=True, capture_output=True)
    return Package(
        "example", version, f"http://nowhere.invalid/{file.name}", hashlib.sha256(file.read_bytes()).hexdigest()
    )


def test_links_lead_to_files_inside_the_root(tmp_path: Path) -> None:
    unpack([_package(tmp_path)], tmp_path / "downloads", tmp_path / "root")
    link = tmp_path / "root" / "usr" / "lib" / "libc.so"
    assert link.resolve() == tmp_path / "root" / "lib" / "libc.so.6"


def test_a_root_is_rebuilt_only_for_other_packages(tmp_path: Path) -> None:
    root, downloads = tmp_path / "root", tmp_path / "downloads"
    package = _package(tmp_path)
    unpack([package], downloads, root)
    (downloads / "example_1_amd64.deb").unlink()
    unpack([package], downloads, root)
    unpack([_package(tmp_path, "2")], downloads, root)
    assert (root / "lib" / "libc.so.6").read_text() == "2"


def test_a_file_with_another_hash_than_pinned_is_refused(tmp_path: Path) -> None:
    package = _package(tmp_path)
    (tmp_path / "downloads" / "example_1_amd64.deb").write_bytes(b"something else")
    with pytest.raises(SystemExit, match=r"is not the file that packages\.json pins"):
        unpack([package], tmp_path / "downloads", tmp_path / "root")
    assert not (tmp_path / "root").exists()


def test_a_missing_package_says_how_to_pin_another(tmp_path: Path) -> None:
    package = _package(tmp_path)
    (tmp_path / "downloads" / "example_1_amd64.deb").unlink()
    with pytest.raises(SystemExit, match=r"scripts\.wheels\.pins"):
        unpack([package], tmp_path / "downloads", tmp_path / "root")


def test_every_pin_has_a_hash_and_every_python_its_headers() -> None:
    pins = Pins.read()
    assert set(pins.headers) == {"3.11", "3.12", "3.13", "3.14"}
    assert set(pins.sysroots) == set(MACHINES)
    packages = [*chain.from_iterable(pins.sysroots.values()), *pins.headers.values(), *pins.arm64]
    assert all(re.fullmatch("[0-9a-f]{64}", package.sha256) for package in packages)
