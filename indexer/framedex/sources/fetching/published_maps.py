"""Download release maps that are newer than the maps that framedex ships.

They are published as `releases.json`, which `scripts/make_release_maps.py` writes, with `releases.fdmaps` beside it.
The index has the SHA-256 of the maps. An incomplete or changed file is rejected.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from framedex.base.errors import FramedexError
from framedex.base.web import download
from framedex.sources.release_maps.format import FORMAT_VERSION, MAX_FILE_BYTES
from framedex.sources.release_maps.reader import (
    SHIPPED,
    downloaded_maps_path,
    open_release_maps,
    remove_development_versions,
)

INDEX_NAME = "releases.json"
_MAX_INDEX_BYTES = 1 << 20


def download_release_maps(address: str) -> list[str]:
    """Download the release maps that `address` publishes, and return their new releases.

    Empty, without a download, if no release is new. Raises FramedexError; the maps are then unchanged.
    """
    if urlsplit(address).scheme not in ("http", "https"):
        raise FramedexError(f"{address} is not a web address.", f"Name the address of a {INDEX_NAME}: https://...")
    target = downloaded_maps_path()
    if target is None:
        raise FramedexError("There is no cache folder, because the home folder is unknown.", "Set XDG_CACHE_HOME.")
    size, digest, releases = _read_index(address, download(address, _MAX_INDEX_BYTES))
    known = open_release_maps().releases
    new = [each for each in remove_development_versions(releases) if each not in known]
    if not new:
        return []
    content = download(urljoin(address, SHIPPED.name), MAX_FILE_BYTES)
    if len(content) != size or hashlib.sha256(content).hexdigest() != digest:
        raise _index_error(address, f"{SHIPPED.name} beside it has another SHA-256")
    try:
        _replace_maps(target, content)
    except OSError as error:
        raise FramedexError(
            f"{target} cannot be written: {error.strerror or error}.", "Set XDG_CACHE_HOME to another folder."
        ) from error
    return new


def _read_index(address: str, content: bytes) -> tuple[int, str, list[str]]:
    """The size, the SHA-256 and the releases of published maps. Raises FramedexError if the index is malformed."""
    try:
        index = json.loads(content)
        version, size, digest = index["format"], index["bytes"], index["sha256"]
        releases = list(index["components"]["xla"]["releases"])
    except (ValueError, RecursionError, LookupError, TypeError) as error:
        raise _index_error(address, "it is not an index of release maps") from error
    if version != FORMAT_VERSION:
        raise FramedexError(
            f"The release maps of {address} have version {version!r}; this framedex reads version {FORMAT_VERSION}.",
            "Upgrade framedex: `pip install --upgrade framedex`.",
        )
    return size, digest, releases


def _index_error(address: str, problem: str) -> FramedexError:
    return FramedexError(f"The release maps of {address} were rejected: {problem}.", "Check the address.")


def _replace_maps(target: Path, content: bytes) -> None:
    """Write the maps if they are valid. Raises OSError or SourceMapError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        open_release_maps(Path(name))
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
