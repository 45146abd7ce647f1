"""Download debug files from the configured debuginfod servers into the cache that all debuginfod clients share.

Variables, cache layout and requests follow debuginfod_find_debuginfo(3) and debuginfod(8) of elfutils 0.188.
docs/explanation/decisions.md says why framedex does not call the elfutils library.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from framedex.base.progress import AdvanceCallback, Progress
from framedex.base.web import build_web_opener
from framedex.binaries.debug_files import find_debuginfod_cache, has_build_id

_BUILD_ID = re.compile(r"[0-9a-f]{8,128}")
_MIN_BYTES_PER_TIMEOUT = 100 << 10  # the number of bytes that a server must send within `timeout`
_MAX_FILE_BYTES = 4 << 30  # bytes
_MAX_DOWNLOAD_S = 24 * 3600  # seconds
_CHUNK_BYTES = 1 << 16
_MISS_LIFETIME_S = 600  # seconds for which a cached "not found" is valid


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for a server: the longest silence and the longest download, in seconds, and the largest file, in bytes."""

    timeout: int
    max_seconds: int
    max_bytes: int


class _DownloadResult(Enum):
    GIVEN, MISSING, FAILED = range(3)


class Debuginfod:
    """A client that downloads debug files by build-id. `problems` reports a failing server, which is then skipped."""

    def __init__(self, servers: list[str], cache: Path, limits: Limits, progress: Progress) -> None:
        self.problems: list[str] = []
        self.downloads: dict[str, list[str]] = {}  # binaries with a downloaded debug file, by server
        self._servers = servers
        self._cache = cache
        self._limits = limits
        self._progress = progress
        self._opener = build_web_opener()

    def fetch(self, build_id: str, name: str) -> None:
        """Download the debug file of a binary into the cache, if a server has it. `name` appears in messages."""
        folder = self._cache / build_id
        if not _BUILD_ID.fullmatch(build_id) or self._is_known_missing(folder / "debuginfo"):
            return
        servers = list(self._servers)
        has_failed = False
        for server in servers:
            answer = self._request(server, build_id, name, folder)
            if answer is _DownloadResult.GIVEN:
                self.downloads.setdefault(server, []).append(name)
                return
            has_failed |= answer is _DownloadResult.FAILED
        if servers and not has_failed:
            with suppress(OSError):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                (folder / "debuginfo").touch()  # an empty file tells all clients that no server has it

    def _request(self, server: str, build_id: str, name: str, folder: Path) -> _DownloadResult:
        address = f"{server.rstrip('/')}/buildid/{build_id}/debuginfo"
        request = urllib.request.Request(address, headers={"User-Agent": "framedex"})
        try:
            with self._progress.task(f"Asking {urlsplit(server).netloc} for {name}", None):
                response = self._opener.open(request, timeout=self._limits.timeout)
            with response:
                self._download(response, build_id, name, folder)
        except HTTPError as error:
            error.close()
            if error.code == 404:
                return _DownloadResult.MISSING
            self._drop_server(server, name, f"it answered {error.code}")
        except _DownloadLimitError as error:
            self.problems.append(f"{server} has debug information of {name}, but {error}.")
        except (OSError, HTTPException, ValueError) as error:
            self._drop_server(server, name, _describe_error(error, self._limits))
        else:
            return _DownloadResult.GIVEN
        return _DownloadResult.FAILED

    def _download(self, response: Any, build_id: str, name: str, folder: Path) -> None:
        """Download a file into the cache, if its build-id matches.

        Raises ValueError for another file, _DownloadLimitError over the size or time limit.
        """
        content_length = response.headers.get("Content-Length", "")
        size = int(content_length) if content_length.isascii() and content_length.isdigit() else None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if (size or 0) > (max_size := min(self._limits.max_bytes, shutil.disk_usage(folder).free)):
            raise _DownloadLimitError(f"its {size:,} bytes are more than the {max_size:,} that are allowed or free")
        descriptor, unfinished = tempfile.mkstemp(dir=folder, prefix="debuginfo.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                kilobytes = None if size is None else max(size >> 10, 1)
                with self._progress.task(f"Debug information of {name} (kB)", kilobytes) as advance:
                    self._copy(response, file, max_size, size, advance)
            if not has_build_id(Path(unfinished), build_id):
                raise ValueError("the file is not the debug information of this binary")
            Path(unfinished).replace(folder / "debuginfo")
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            with suppress(OSError):
                folder.rmdir()
            raise

    def _copy(self, response: Any, file: IO[bytes], max_size: int, size: int | None, advance: AdvanceCallback) -> None:
        """Copy a response into a file, within the limits for speed, time and size.

        Raises TimeoutError if it is too slow, _DownloadLimitError over a limit, and ValueError if it is truncated.
        """
        started = since = time.monotonic()
        received = received_since = 0
        while chunk := response.read1(_CHUNK_BYTES):
            file.write(chunk)
            advance((received + len(chunk) >> 10) - (received >> 10))
            received, received_since = received + len(chunk), received_since + len(chunk)
            now = time.monotonic()
            if received > max_size:
                raise _DownloadLimitError(f"it is larger than the {max_size:,} bytes that are allowed or free")
            if now - started > self._limits.max_seconds:
                raise _DownloadLimitError(f"it took longer than {self._limits.max_seconds} s (DEBUGINFOD_MAXTIME)")
            if now - since > self._limits.timeout:
                if received_since < _MIN_BYTES_PER_TIMEOUT:
                    raise TimeoutError
                since, received_since = now, 0
        if size is not None and received != size:
            raise ValueError(f"it sent {received:,} of {size:,} bytes")

    def _drop_server(self, server: str, name: str, reason: str) -> None:
        self._servers.remove(server)
        self.problems.append(
            f"{server} did not send debug information for {name}: {reason}. It is skipped for the rest of this run."
            " `framedex index` tries it again. Unset DEBUGINFOD_URLS to use no server."
        )

    def _is_known_missing(self, kept: Path) -> bool:
        """Whether to skip a build-id: an empty file marks a recent "not found" of any client."""
        try:
            status = kept.lstat()
            if status.st_size or time.time() - status.st_mtime < self._miss_lifetime_s():
                return True
            kept.unlink()
        except OSError:
            return False
        return False

    def _miss_lifetime_s(self) -> float:
        try:
            return float((self._cache / "cache_miss_s").read_bytes()[:20])
        except (OSError, ValueError):
            return _MISS_LIFETIME_S


def configure_debuginfod(environment: Mapping[str, str], progress: Progress) -> Debuginfod | None:
    """A client of the servers in `DEBUGINFOD_URLS`; None without servers or without a cache folder."""
    named = environment.get("DEBUGINFOD_URLS", "").split()
    servers = [each for each in dict.fromkeys(named) if each.lower().startswith(("http://", "https://"))]
    cache = find_debuginfod_cache()
    if not servers or cache is None:
        return None
    limits = Limits(
        timeout=_read_number(environment, "DEBUGINFOD_TIMEOUT") or 90,
        max_seconds=_read_number(environment, "DEBUGINFOD_MAXTIME") or _MAX_DOWNLOAD_S,
        max_bytes=_read_number(environment, "DEBUGINFOD_MAXSIZE") or _MAX_FILE_BYTES,
    )
    return Debuginfod(servers, cache, limits, progress)


class _DownloadLimitError(Exception):
    """A download exceeded the size or time limit; the server stays in use for other files."""


def _read_number(environment: Mapping[str, str], variable: str) -> int:
    """The non-negative integer in a variable; 0 if missing or malformed."""
    text = environment.get(variable, "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _describe_error(error: Exception, limits: Limits) -> str:
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, TimeoutError):
        return f"it was silent or slow for {limits.timeout} s (DEBUGINFOD_TIMEOUT)"
    if isinstance(reason, OSError):
        return f"it cannot be reached, or its answer cannot be stored ({reason.strerror or reason})"
    return str(reason) or type(reason).__name__
