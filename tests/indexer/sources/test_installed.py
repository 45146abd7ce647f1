"""A distribution's RECORD shows that a source and a binary were installed together."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest

from framedex.sources.file_versions import are_installed_together


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with one distribution: a library, a source with a name that CSV quotes, and its RECORD."""
    package = tmp_path / "site" / "kernels"
    package.mkdir(parents=True)
    (package / "kernels.so").write_bytes(b"\x7fELF")
    rows = ["kernels/kernels.so,,"]
    for name in ("add.cc", "a, b.cc"):
        (package / name).write_text(f"// {name}\n")
        digest = hashlib.sha256((package / name).read_bytes()).digest()
        encoded = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        rows.append(f'"kernels/{name}",sha256={encoded},{len(name) + 4}')
    record = tmp_path / "site" / "kernels-1.0.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("\n".join(rows))
    return package


@pytest.mark.parametrize("name", ["add.cc", "a, b.cc"])
def test_a_source_and_a_binary_of_one_distribution_match(site: Path, name: str) -> None:
    assert are_installed_together(site / "kernels.so", site / name)


def test_a_source_edited_after_installation_does_not_match(site: Path) -> None:
    (site / "add.cc").write_text("// edited\n")
    assert not are_installed_together(site / "kernels.so", site / "add.cc")


def test_a_file_outside_any_distribution_does_not_match(site: Path, tmp_path: Path) -> None:
    for other in (site / "new.cc", tmp_path / "add.cc"):
        other.write_text("// add.cc\n")
        assert not are_installed_together(site / "kernels.so", other)
    assert not are_installed_together(tmp_path / "other.so", site / "add.cc")
    assert not are_installed_together(site / "other.so", site / "add.cc")


def test_a_deleted_source_does_not_match(site: Path) -> None:
    (site / "add.cc").unlink()
    assert not are_installed_together(site / "kernels.so", site / "add.cc")


@pytest.mark.parametrize("damage", ["", "kernels/add.cc", '\x00,,,\n"', "pipe"])
def test_a_damaged_record_lists_no_files(site: Path, damage: str) -> None:
    record = site.parent / "kernels-1.0.dist-info" / "RECORD"
    record.unlink()
    if damage == "pipe":
        os.mkfifo(record)
    else:
        record.write_text(damage)
    assert not are_installed_together(site / "kernels.so", site / "add.cc")
