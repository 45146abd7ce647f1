"""Reads and writes the archive of a shared file: a zip of known parts, each with its size and digest in the manifest.

`framedex.base.untrusted` has the limits of the reader.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from framedex.base.errors import FramedexError
from framedex.base.untrusted import MAX_PARTS, DamagedArchiveError, UntrustedArchive, grows_too_large, parse_json
from framedex.base.version import VERSION as FRAMEDEX

FORMAT = "framedex-share"
VERSION = 1
SUFFIX = ".fdx.zip"
MANIFEST = "manifest.json"
_FOREIGN = "it was not written by `framedex share`"
DEFINITIONS = "definitions.json"

_PARTS = re.compile(r"definitions\.json|calls/\d{6}|sources/\d{6}")

_MAX_MANIFEST_BYTES = 16 << 20
_MAX_PART_BYTES = {"definitions.json": 512 << 20, "calls": 256 << 20, "sources": 16 << 20}

_EPOCH = (1980, 1, 1, 0, 0, 0)  # fixed, so that equal contents give equal bytes


class ArchiveWriter:
    """Writes the parts of a shared file, then its manifest. Use it as a context manager."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=False)
        self._parts: dict[str, dict[str, object]] = {}

    def __enter__(self) -> ArchiveWriter:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # after a failed write, closing the zip fails again
            self._zip.close()

    def add(self, name: str, data: bytes) -> None:
        """Add a part. Raises FramedexError if the file gets too large."""
        self._parts[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        self._write(name, data)

    def finish(self, members: Mapping[str, object]) -> None:
        """Add the manifest with the members of `members`, and close the archive."""
        manifest = {"format": FORMAT, "version": VERSION, "framedex": FRAMEDEX, **members, "parts": self._parts}
        self._write(MANIFEST, json.dumps(manifest, indent=1).encode())
        self._zip.close()

    def _write(self, name: str, data: bytes) -> None:
        info = zipfile.ZipInfo(name, _EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        info.create_system = 3  # Unix, on every system
        info.external_attr = 0o100644 << 16
        is_json = name in (DEFINITIONS, MANIFEST)
        if len(data) > (_max_bytes(name) or 0) or len(self._parts) > MAX_PARTS or (is_json and grows_too_large(data)):
            raise too_large_error()
        try:
            self._zip.writestr(info, data)
        except zipfile.LargeZipFile as error:
            raise too_large_error() from error


def too_large_error() -> FramedexError:
    """Return the error for a capture that exceeds the limits of the reader."""
    return FramedexError(
        "The capture is too large for one file.", "Record fewer calls with --include, --sample or --limit."
    )


class ArchiveReader:
    """Reads an untrusted shared file. Raises DamagedArchiveError if it is malformed, OSError if it cannot be read."""

    def __init__(self, path: Path) -> None:
        self._archive = UntrustedArchive(path, MANIFEST, _FOREIGN, _max_bytes)
        manifest = parse_json(self._archive.read(MANIFEST))
        _check_version(manifest)
        self.manifest: Mapping[str, Any] = manifest
        parts = manifest.get("parts")
        if not isinstance(parts, dict) or {MANIFEST, *parts} != set(self._archive.sizes):
            raise DamagedArchiveError("its parts differ from those in its manifest")
        self._parts = parts

    @property
    def batches(self) -> list[str]:
        """The names of the parts that hold calls, in order."""
        return sorted(name for name in self._archive.sizes if name.startswith("calls/"))

    def read(self, name: str) -> bytes:
        """The content of a part. Raises DamagedArchiveError if it does not match its digest."""
        ((_, data),) = self.read_all([name])
        return data

    def read_all(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield parts with their contents. Raises DamagedArchiveError if one does not match its digest."""
        for name, data in self._archive.read_all(names):
            part = self._parts.get(name)
            if not isinstance(part, dict) or part.get("sha256") != hashlib.sha256(data).hexdigest():
                raise DamagedArchiveError(f"its part {name} does not match its digest")
            yield name, data

    def read_json(self, name: str) -> Any:
        """Parse the JSON of a part. Raises DamagedArchiveError."""
        return parse_json(self.read(name))


def matches(head: bytes) -> bool:
    """Return whether a file with these first bytes may be a shared file."""
    return head.startswith(b"PK\3\4")


def _max_bytes(name: str) -> int | None:
    """The maximum size of a part; None if its name is unknown."""
    if name == MANIFEST:
        return _MAX_MANIFEST_BYTES
    return _MAX_PART_BYTES[name.partition("/")[0]] if _PARTS.fullmatch(name) else None


def _check_version(manifest: object) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DamagedArchiveError(_FOREIGN)
    if manifest.get("version") != VERSION:
        version = manifest.get("version")
        written = f"version {version}" if isinstance(version, int) else "an unknown version"
        raise DamagedArchiveError(f"its format has {written}; this framedex reads version {VERSION}: update framedex")
