"""Where a store lies: a folder, or a bucket of S3 or GCS. Files come there whole, and are never changed.

A file of an object store is there once all of it has come. In a folder it is written beside its place, under a name
that no reader takes for data, and renamed: who is killed leaves a `.part`, which others remove when it is an hour old.
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

from framedex.errors import FramedexError
from framedex.fleet.libraries import fsspec
from framedex.fleet.schema import MARKER, VERSION
from framedex.plaintext import printable
from framedex.regularfile import open_regular, read_regular

_FORMAT = "framedex-fleet"
_PART = ".part"
_LEFT = re.compile(r"\.[0-9a-f]{16}\.part$")  # others have files that end so, too: browsers those that still come
GRACE = timedelta(hours=1)
"""How long what is needed no more stays for those who are at it: reading a store, or adding a capture."""
_CLOCK = "going/clock"  # what files are named for that are there for a moment, to tell the time
_S3, _GCS = "framedex[fleet-s3]", "framedex[fleet-gcs]"
_LIBRARIES = {"s3": _S3, "s3a": _S3, "gs": _GCS, "gcs": _GCS}
_OBJECT_STORES = frozenset({*_LIBRARIES, "memory"})
_FOLDERS = frozenset({"file", "local"})
_LARGEST = 4 << 30
"""Bytes of a file that is read whole: the rows of all captures of a day may be in one."""


class Place:
    """A store's files, by their names: paths with `/` below its address."""

    def __init__(self, address: str) -> None:
        """Raises FramedexError where the address is none, or of a kind whose library is not installed."""
        protocol = fsspec.utils.get_protocol(address)
        self.is_local = protocol in _FOLDERS
        if not address or (not self.is_local and protocol not in _OBJECT_STORES):
            # Elsewhere a file may be seen before all of it is there, as where renaming is copying.
            raise FramedexError(
                f"{printable(address)!r} is no address that a store can have.",
                "Name a folder, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER; what is mounted as a folder is one.",
            )
        try:
            self.files, self._root = fsspec.core.url_to_fs(address, use_listings_cache=False, skip_instance_cache=True)
        except ImportError as error:
            raise FramedexError(
                f"Stores at {protocol}:// need a library that is not installed here.",
                f"Install it: `pip install '{_LIBRARIES[protocol]}'`",
            ) from error
        self._root = self._root.rstrip("/")
        self.address: str = self._root if self.is_local else self.files.unstrip_protocol(self._root)

    def begin(self) -> None:
        """Make the store where there is none yet. Raises FramedexError where something else is there."""
        if not self._is_store():
            with self._told("made"):
                there = [name for name in self._listed("") if not _LEFT.search(name)]
            if there and MARKER not in there:
                raise FramedexError(
                    f"{self.address} is not empty, and no store of framedex.", "Name a new folder, or that of a store."
                )
            with self._told("made"):
                self._put_bytes(MARKER, json.dumps({"format": _FORMAT, "version": VERSION}).encode() + b"\n")
        self.clean("")  # only now is it known that what is there is a store's

    def check(self) -> None:
        """Raise FramedexError where no store is that is read here."""
        if not self._is_store():
            raise FramedexError(
                f"{self.address} is no store of framedex: it has no {MARKER}.",
                f"`framedex fleet add CAPTURE... --store {self.address}` creates one.",
            )

    def _is_store(self) -> bool:
        with self._told("read"):
            told = self.read(MARKER)
        if told is None:
            return False
        version = None
        with suppress(ValueError, RecursionError):
            marker = json.loads(told)
            if isinstance(marker, dict) and marker.get("format") == _FORMAT:
                version = marker.get("version")
        if version != VERSION:
            raise FramedexError(
                f"{self.address} has {'no version' if version is None else f'version {version}'} of a store;"
                f" this framedex knows {VERSION}.",
                "Use the framedex that made it, or begin a new store.",
            )
        return True

    def names(self, folder: str, suffix: str = ".parquet") -> list[str]:
        """The names of the files of a kind right in a folder, in their order; none where there is no such folder."""
        with self._told("listed"):
            return [f"{folder}/{name}" for name in self._listed(folder) if name.endswith(suffix)]

    def folders(self, folder: str) -> list[str]:
        """The names of the folders of days or jobs in a folder."""
        with self._told("listed"):
            return [f"{folder}/{name}" for name in self._listed(folder) if "=" in name]

    def below(self, folder: str) -> list[str]:
        """The names of the Parquet files in the folders in a folder."""
        return [name for inner in self.folders(folder) for name in self.names(inner)]

    def modified(self, name: str) -> datetime | None:
        """When a file was written, None where there is none."""
        with self._told("read"):
            try:
                return _utc(self.files.modified(self.path(name)))
            except FileNotFoundError:
                return None

    def now(self) -> datetime:
        """The time by the clock of the store, by which its files say when they were written: this host's may differ."""
        name = f"{_CLOCK}.{secrets.token_hex(8)}{_PART}"
        with self._told("written"):
            if self.is_local:
                self.files.makedirs(self.path(name).rpartition("/")[0], exist_ok=True)
            self.files.pipe_file(self.path(name), b"\n")
        when = self.modified(name)
        self.remove(name)
        if when is None:
            raise FramedexError(
                f"What is written to the store {self.address} is not there.", "Run the same command again."
            )
        return when

    def size(self, name: str) -> int:
        """Bytes of a file, 0 where there is none."""
        with self._told("read"):
            try:
                return int(self.files.size(self.path(name)) or 0)
            except FileNotFoundError:
                return 0

    @contextmanager
    def opened(self, name: str) -> Iterator[Any]:
        """A file that is there, open for reading: a context manager. Never waits for a pipe that has this name."""
        with self._told("read"):
            file = open_regular(Path(self.path(name))) if self.is_local else self.files.open(self.path(name), "rb")
        with file:
            yield file

    def read(self, name: str) -> bytes | None:
        """The content of a file, None where there is none. A pipe or a device has no content."""
        if self.is_irregular(name):
            return b""
        with self._told("read"):
            try:
                path = self.path(name)
                content: bytes = read_regular(Path(path), _LARGEST) if self.is_local else self.files.cat_file(path)
            except FileNotFoundError:
                return None
        return content

    def is_irregular(self, name: str) -> bool:
        """Whether a pipe or a device has this name, whose reading may never end."""
        if not self.is_local:
            return False
        with self._told("read"):
            try:
                mode = os.stat(self.path(name)).st_mode  # noqa: PTH116 - a path as text
            except FileNotFoundError:
                return False
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))

    def put(self, name: str, file: Path) -> None:
        """Have a file there with the content of a local one, in place of one with this name."""
        with self._told("written"):
            self._put(name, file)

    def put_bytes(self, name: str, content: bytes) -> None:
        """Have a file there with this content."""
        with self._told("written"):
            self._put_bytes(name, content)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with self._told("written"), suppress(FileNotFoundError):
            self.files.rm_file(self.path(name))

    def clean(self, folder: str) -> None:
        """Remove what processes that were killed have left in a folder."""
        with self._told("cleaned"):
            left = [f"{folder}/{name}".lstrip("/") for name in self._listed(folder) if _LEFT.search(name)]
        if not left:
            return
        latest = self.now() - GRACE
        for name in left:
            when = self.modified(name)
            if when is not None and when < latest:
                self.remove(name)

    def path(self, name: str) -> str:
        """The path of a file in its file system."""
        return f"{self._root}/{name}"

    def url(self, name: str) -> str:
        """The address of a file."""
        return f"{self.address}/{name}"

    def _listed(self, folder: str) -> list[str]:
        try:
            entries = self.files.ls(self.path(folder).rstrip("/"), detail=False)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(os.fspath(entry).rstrip("/").rpartition("/")[2] for entry in entries)

    def _put_bytes(self, name: str, content: bytes) -> None:
        if not self.is_local:
            self.files.pipe_file(self.path(name), content)
            return
        with self._in_place_of(name) as part:
            self.files.pipe_file(part, content)

    def _put(self, name: str, file: Path) -> None:
        if not self.is_local:
            self.files.put_file(str(file), self.path(name))
            return
        with self._in_place_of(name) as part:
            self.files.put_file(str(file), part)

    @contextmanager
    def _in_place_of(self, name: str) -> Iterator[str]:
        """A path to write, which gets the name once the block has ended well, and is gone otherwise."""
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
            os.fsync(file.fileno())  # its name is not to be there before its content
        os.replace(part, path)  # noqa: PTH105

    @contextmanager
    def _told(self, done: str) -> Iterator[None]:
        """Inside, the file system is used: whatever it raises is told. Libraries raise errors of their own kinds."""
        try:
            yield
        except FramedexError:
            raise
        except Exception as error:
            said = (
                error.strerror if isinstance(error, OSError) and error.strerror else str(error) or type(error).__name__
            )
            raise FramedexError(
                f"The store {self.address} cannot be {done}: {said.rstrip('.')}.",
                "Check that it is there and that you may write to it, then run the same command again: it goes on.",
            ) from error


def _utc(moment: Any) -> datetime:
    told: datetime = moment
    return told if told.tzinfo else told.replace(tzinfo=UTC)
