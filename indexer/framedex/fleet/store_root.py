"""The files of a store, in a folder or in a bucket of S3 or GCS. Files are written atomically, and never changed.

An object store shows an object only when its upload is complete. In a folder, a file is written under a temporary name
and then renamed. A killed process leaves a `.part` file, which other processes remove after an hour.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.regularfile import open_regular, read_regular
from framedex.fleet.libraries import fsspec
from framedex.fleet.schema import MARKER, VERSION

_FORMAT = "framedex-fleet"
_PART = ".part"
_PARTIAL_FILE = re.compile(r"\.[0-9a-f]{16}\.part$")  # browsers name downloads `.part` too
GRACE_PERIOD = timedelta(hours=1)
"""How long unused files are kept for running queries and adds."""
_CLOCK_PREFIX = "going/clock"  # the prefix of temporary files whose times show the store's clock
_S3, _GCS = "framedex[fleet-s3]", "framedex[fleet-gcs]"
_LIBRARIES = {"s3": _S3, "s3a": _S3, "gs": _GCS, "gcs": _GCS}
_OBJECT_STORES = frozenset({*_LIBRARIES, "memory"})
_FOLDERS = frozenset({"file", "local"})
_MAX_FILE_BYTES = 4 << 30
"""The maximum size of a file read into memory, in bytes. One file may have the rows of all captures of a day."""


class StoreRoot:
    """The files of a store, by name: a path with `/`, relative to the store's address."""

    def __init__(self, address: str) -> None:
        """Open a file system. Raises FramedexError if the address is invalid, or its library is not installed."""
        protocol = fsspec.utils.get_protocol(address)
        self.is_local = protocol in _FOLDERS
        if not address or (not self.is_local and protocol not in _OBJECT_STORES):
            # Other file systems may show incomplete files, for example if they rename by copying.
            raise FramedexError(
                f"{make_printable(address)!r} is not a valid store address.",
                "Name a folder (also on a mounted file system), s3://BUCKET/FOLDER or gs://BUCKET/FOLDER.",
            )
        try:
            self.files, self._root = fsspec.core.url_to_fs(address, use_listings_cache=False, skip_instance_cache=True)
        except ImportError as error:
            raise FramedexError(
                f"Stores at {protocol}:// need a library that is not installed.",
                f"Install it: `pip install '{_LIBRARIES[protocol]}'`",
            ) from error
        self._root = self._root.rstrip("/")
        self.address: str = self._root if self.is_local else self.files.unstrip_protocol(self._root)

    def begin(self) -> None:
        """Create the store if it does not exist. Raises FramedexError if the address has other files."""
        if not self._is_store():
            with self._converting_errors("created"):
                there = [name for name in self._list_folder("") if not _PARTIAL_FILE.search(name)]
            if there and MARKER not in there:
                raise FramedexError(
                    f"{self.address} is neither empty nor a framedex store.", "Name a new folder, or an existing store."
                )
            with self._converting_errors("created"):
                self._put_bytes(MARKER, json.dumps({"format": _FORMAT, "version": VERSION}).encode() + b"\n")
        self.clean("")  # after the checks: never in a foreign folder

    def check(self) -> None:
        """Raise FramedexError if the address has no store of a supported version."""
        if not self._is_store():
            raise FramedexError(
                f"{self.address} is not a framedex store: it has no {MARKER}.",
                f"`framedex fleet add CAPTURE... --store {self.address}` creates one.",
            )

    def _is_store(self) -> bool:
        with self._converting_errors("read"):
            content = self.read(MARKER)
        if content is None:
            return False
        version = None
        with suppress(ValueError, RecursionError):
            marker = json.loads(content)
            if isinstance(marker, dict) and marker.get("format") == _FORMAT:
                version = marker.get("version")
        if version != VERSION:
            raise FramedexError(
                f"The store {self.address} has {'no version' if version is None else f'version {version}'};"
                f" this framedex supports version {VERSION}.",
                "Use the framedex release that created the store, or create a new store.",
            )
        return True

    def names(self, folder: str, suffix: str = ".parquet") -> list[str]:
        """Return the sorted names of files with a suffix directly in a folder; none if there is no such folder."""
        with self._converting_errors("listed"):
            return [f"{folder}/{name}" for name in self._list_folder(folder) if name.endswith(suffix)]

    def folders(self, folder: str) -> list[str]:
        """Return the names of the day or job folders in a folder."""
        with self._converting_errors("listed"):
            return [f"{folder}/{name}" for name in self._list_folder(folder) if "=" in name]

    def files_below(self, folder: str) -> list[str]:
        """Return the names of the Parquet files in the subfolders of a folder."""
        return [name for inner in self.folders(folder) for name in self.names(inner)]

    def modification_time(self, name: str) -> datetime | None:
        """Return when a file was written; None if it does not exist."""
        with self._converting_errors("read"):
            try:
                return _to_utc(self.files.modified(self.path(name)))
            except FileNotFoundError:
                return None

    def now(self) -> datetime:
        """Return the time by the store's clock, which dates its files. This host's clock may differ."""
        name = f"{_CLOCK_PREFIX}.{secrets.token_hex(8)}{_PART}"
        with self._converting_errors("written"):
            if self.is_local:
                self.files.makedirs(self.path(name).rpartition("/")[0], exist_ok=True)
            self.files.pipe_file(self.path(name), b"\n")
        when = self.modification_time(name)
        self.remove(name)
        if when is None:
            raise FramedexError(
                f"A file just written to the store {self.address} is missing.", "Run the same command again."
            )
        return when

    def size(self, name: str) -> int:
        """Return the size of a file in bytes; 0 if it does not exist."""
        with self._converting_errors("read"):
            try:
                return int(self.files.size(self.path(name)) or 0)
            except FileNotFoundError:
                return 0

    @contextmanager
    def open_file(self, name: str) -> Iterator[Any]:
        """Open an existing file for reading: a context manager. Never blocks on a pipe."""
        with self._converting_errors("read"):
            file = open_regular(Path(self.path(name))) if self.is_local else self.files.open(self.path(name), "rb")
        with file:
            yield file

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it does not exist. A pipe or a device has empty content."""
        if self.is_irregular(name):
            return b""
        with self._converting_errors("read"):
            try:
                path = self.path(name)
                content: bytes = (
                    read_regular(Path(path), _MAX_FILE_BYTES) if self.is_local else self.files.cat_file(path)
                )
            except FileNotFoundError:
                return None
        return content

    def is_irregular(self, name: str) -> bool:
        """Return whether this name is a pipe or a device, where a read may block forever."""
        if not self.is_local:
            return False
        with self._converting_errors("read"):
            try:
                mode = os.stat(self.path(name)).st_mode  # noqa: PTH116 - a path as text
            except FileNotFoundError:
                return False
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))

    def put(self, name: str, file: Path) -> None:
        """Copy a local file to the store. An existing file with this name is replaced."""
        with self._converting_errors("written"):
            self._put(name, file)

    def put_bytes(self, name: str, content: bytes) -> None:
        """Write a file with this content."""
        with self._converting_errors("written"):
            self._put_bytes(name, content)

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        with self._converting_errors("written"), suppress(FileNotFoundError):
            self.files.rm_file(self.path(name))

    def clean(self, folder: str) -> None:
        """Remove the old temporary files of killed processes from a folder."""
        with self._converting_errors("cleaned"):
            left = [f"{folder}/{name}".lstrip("/") for name in self._list_folder(folder) if _PARTIAL_FILE.search(name)]
        if not left:
            return
        latest = self.now() - GRACE_PERIOD
        for name in left:
            when = self.modification_time(name)
            if when is not None and when < latest:
                self.remove(name)

    def path(self, name: str) -> str:
        """Return the path of a file in its file system."""
        return f"{self._root}/{name}"

    def url(self, name: str) -> str:
        """Return the address of a file."""
        return f"{self.address}/{name}"

    def _list_folder(self, folder: str) -> list[str]:
        try:
            entries = self.files.ls(self.path(folder).rstrip("/"), detail=False)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(os.fspath(entry).rstrip("/").rpartition("/")[2] for entry in entries)

    def _put_bytes(self, name: str, content: bytes) -> None:
        if not self.is_local:
            self.files.pipe_file(self.path(name), content)
            return
        with self._replacing(name) as part:
            self.files.pipe_file(part, content)

    def _put(self, name: str, file: Path) -> None:
        if not self.is_local:
            self.files.put_file(str(file), self.path(name))
            return
        with self._replacing(name) as part:
            self.files.put_file(str(file), part)

    @contextmanager
    def _replacing(self, name: str) -> Iterator[str]:
        """Yield a temporary path. It is renamed after the block, or removed if the block fails."""
        path = self.path(name)
        part = f"{path}.{secrets.token_hex(8)}{_PART}"
        self.files.makedirs(path.rpartition("/")[0], exist_ok=True)
        try:
            yield part
            self._rename(part, path)
        except BaseException:
            with suppress(Exception):
                self.files.rm_file(part)
            raise

    def _rename(self, part: str, path: str) -> None:
        with open(part, "rb") as file:  # noqa: PTH123 - a path of the file system's, as text
            os.fsync(file.fileno())  # content before name
        os.replace(part, path)  # noqa: PTH105

    @contextmanager
    def _converting_errors(self, action: str) -> Iterator[None]:
        """Convert any error of the file system to FramedexError. Its libraries raise errors of many types."""
        try:
            yield
        except FramedexError:
            raise
        except Exception as error:
            reason = (
                error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
            )
            raise FramedexError(
                f"The store {self.address} cannot be {action}: {reason.rstrip('.')}.",
                "Check that it exists and is writable, then run the same command again: it continues.",
            ) from error


def _to_utc(moment: Any) -> datetime:
    parsed: datetime = moment
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
