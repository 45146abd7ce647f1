"""Wheels assembled by scripts/wheels: reproducible bytes, and the files that pip installs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from scripts.wheels.assemble import add_licences, metadata_folder, read_folder, read_wheel, write_wheel

_PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"
TAG = f"{_PYTHON}-{_PYTHON}-linux_x86_64"
METADATA = b"Metadata-Version: 2.4\nName: example\nVersion: 1.0\nLicense-File: LICENSE\n\nWhat it is.\n\nMore of it.\n"
FILES = {
    "example/__init__.py": b"VALUE = 1\n",
    "example/libnative.so": b"\x7fELF",
    "example-1.0.dist-info/METADATA": METADATA,
    "example-1.0.dist-info/WHEEL": b"Tag: py3-none-any\n",
    "example-1.0.dist-info/RECORD": b"of the pure wheel",
    "example-1.0.dist-info/licenses/LICENSE": b"Apache",
}
EPOCH = 1_700_000_000


def test_order_and_age_of_files_do_not_matter(tmp_path: Path) -> None:
    first = write_wheel(FILES, TAG, EPOCH, tmp_path / "first")
    second = write_wheel(dict(reversed(FILES.items())), TAG, EPOCH, tmp_path / "second")
    assert first.name == second.name == f"example-1.0-{TAG}.whl"
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes() != write_wheel(FILES, TAG, EPOCH + 60, tmp_path / "later").read_bytes()
    assert list((tmp_path / "first").iterdir()) == [first]


def test_pip_installs_it_and_finds_every_recorded_file(tmp_path: Path) -> None:
    wheel = write_wheel(add_licences(FILES, {"LICENSE.other": b"MIT"}), TAG, EPOCH, tmp_path)
    target = tmp_path / "installed"
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    assert (target / "example" / "libnative.so").read_bytes() == b"\x7fELF"
    assert (target / "example-1.0.dist-info" / "licenses" / "LICENSE.other").read_bytes() == b"MIT"


def test_the_metadata_has_name_and_text_of_each_licence() -> None:
    files = add_licences(FILES, {"LICENSE.b": b"B", "LICENSE.a": b"A"})
    metadata = message_from_bytes(files["example-1.0.dist-info/METADATA"])
    assert metadata.get_all("License-File") == ["LICENSE", "LICENSE.a", "LICENSE.b"]
    assert metadata.get_payload() == "What it is.\n\nMore of it.\n"


@pytest.mark.parametrize("epoch", [0, EPOCH])
def test_every_file_has_the_same_time_and_libraries_are_executable(tmp_path: Path, epoch: int) -> None:
    with zipfile.ZipFile(write_wheel(FILES, TAG, epoch, tmp_path)) as archive:
        entries = archive.infolist()
    assert {entry.date_time[0] for entry in entries} == {2023 if epoch else 1980}  # the earliest time in zip files
    modes = {entry.filename: entry.external_attr >> 16 for entry in entries}
    assert (modes["example/libnative.so"], modes["example/__init__.py"]) == (0o100755, 0o100644)


@pytest.mark.parametrize(("tag", "is_pure"), [(TAG, "false"), ("py3-none-any", "true")])
def test_a_wheel_without_native_parts_says_so(tmp_path: Path, tag: str, is_pure: str) -> None:
    stated = read_wheel(write_wheel(FILES, tag, EPOCH, tmp_path))["example-1.0.dist-info/WHEEL"].decode().splitlines()
    assert {f"Root-Is-Purelib: {is_pure}", f"Tag: {tag}"} <= set(stated)


def test_a_written_wheel_is_read_back_and_equals_its_folder(tmp_path: Path) -> None:
    wheel = write_wheel(FILES, TAG, EPOCH, tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "folder")
    files = read_wheel(wheel)
    assert files == read_folder(tmp_path / "folder")
    assert metadata_folder(files) == "example-1.0.dist-info"
