"""Assemble a wheel: the Python files of the pure wheel, and the native files of one CPython.

The build backend makes the pure wheel with all metadata, and CMake compiles for every Python at once; this module
writes the archive. It depends only on the content: sorted names, one time for all, and no attributes of this machine.
"""

from __future__ import annotations

import base64
import hashlib
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

_EARLIEST = 315532800  # 1980, the earliest time in zip archives; in seconds since 1970


def read_wheel(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def read_folder(folder: Path) -> dict[str, bytes]:
    """The files of an installation by path below its folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def metadata_folder(files: Mapping[str, bytes]) -> str:
    """The folder name of a wheel's metadata."""
    return next(name for name in files if name.endswith(".dist-info/METADATA")).rpartition("/")[0]


def add_licences(files: Mapping[str, bytes], licences: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a wheel with the licences of linked components, also listed in its metadata (PEP 639)."""
    information = metadata_folder(files)
    head, blank, text = files[f"{information}/METADATA"].decode().partition("\n\n")
    head += "".join(f"\nLicense-File: {name}" for name in sorted(licences))
    added = {f"{information}/licenses/{name}": content for name, content in licences.items()}
    return {**files, **added, f"{information}/METADATA": (head + blank + text).encode()}


def write_wheel(files: Mapping[str, bytes], tag: str, epoch: int, folder: Path) -> Path:
    """Write the wheel of a tag (`cp312-cp312-manylinux_2_27_x86_64`); `epoch` is its time, in seconds since 1970."""
    information = metadata_folder(files)
    content = dict(files)
    content[f"{information}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: framedex scripts/wheels\n"
        f"Root-Is-Purelib: {str(tag.endswith('-none-any')).lower()}\nTag: {tag}\n"
    ).encode()
    record = f"{information}/RECORD"
    content.pop(record, None)
    lines = [f"{name},sha256={_record_hash(data)},{len(data)}\n" for name, data in sorted(content.items())]
    content[record] = "".join([*lines, f"{record},,\n"]).encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{information.removesuffix('.dist-info')}-{tag}.whl"
    unfinished = wheel.with_suffix(".part")
    with zipfile.ZipFile(unfinished, "w") as archive:
        # The metadata last, as PEP 427 recommends.
        for name in sorted(content, key=lambda name: (name.startswith(information), name)):
            entry = zipfile.ZipInfo(name, time.gmtime(max(epoch, _EARLIEST))[:6])
            entry.create_system = 3  # Unix permissions
            entry.external_attr = (0o100755 if ".so" in name else 0o100644) << 16
            archive.writestr(entry, content[name], zipfile.ZIP_DEFLATED, 9)
    unfinished.replace(wheel)
    return wheel


def _record_hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
