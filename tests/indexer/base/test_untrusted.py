"""ZIP files of strangers: their limits hold whatever the end of the file declares."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from framedex.base.untrusted import DamagedArchiveError, UntrustedArchive


def _open(path: Path) -> UntrustedArchive:
    return UntrustedArchive(path, "manifest.json", "not ours", lambda _: 1000)


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive whose end is in the form of those over 4 GiB (zip64)."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 0)
    path = tmp_path / "large.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", "{}")
    assert b"PK\6\6" in path.read_bytes()
    return path


def test_a_large_archive_is_read(large: Path) -> None:
    assert _open(large).read("manifest.json") == b"{}"


def test_all_parts_are_read_with_one_opening(tmp_path: Path) -> None:
    parts = {"manifest.json": b"{}", "one": b"1", "two": b"22"}
    path = tmp_path / "parts.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    read = _open(path).read_all(parts)
    first = next(read)
    path.unlink()
    assert dict([first, *read]) == parts


@pytest.mark.parametrize(("field", "value"), [("entries", 1 << 30), ("directory", 1 << 40)])
def test_limits_hold_for_the_end_of_a_large_archive(large: Path, field: str, value: int) -> None:
    data = bytearray(large.read_bytes())
    struct.pack_into("<Q", data, data.index(b"PK\6\6") + {"entries": 32, "directory": 40}[field], value)
    large.write_bytes(data)

    with pytest.raises(DamagedArchiveError, match="too many parts"):
        _open(large)


def test_a_locator_that_points_elsewhere_is_malformed(large: Path) -> None:
    data = bytearray(large.read_bytes())
    struct.pack_into("<Q", data, data.index(b"PK\6\7") + 8, 1)
    large.write_bytes(data)

    with pytest.raises(DamagedArchiveError, match="zip64 record is malformed"):
        _open(large)
