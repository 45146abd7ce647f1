"""SHA-256 digests of whole files. A file is hashed again only after its state changed.

Hashing jaxlib's library (350 MB) takes 0.25 s of CPU time, so digests are cached in the user's cache folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Lock

from framedex.model import BinaryState
from framedex.regularfile import open_regular, read_regular_text
from framedex.userfolders import user_folder

_MOST_KEPT = 1_000


class Contents:
    """A cache of file digests, keyed by path and file state."""

    def __init__(self, kept_in: Path | None = None) -> None:
        """Cache digests in the file `kept_in`, by default in the user's cache folder.

        If that file is unreadable or read-only, digests live as long as this object.
        """
        cache = user_folder("XDG_CACHE_HOME")
        self._path = kept_in or (cache / "framedex" / "contents.json" if cache else None)
        self._digests: dict[str, str] | None = None
        self._lock = Lock()

    def of(self, path: Path) -> str:
        """The current SHA-256 of a file in hex; empty if the file is unreadable or changes while it is read."""
        state = state_of(path)
        if state is None:
            return ""
        if known := self.known(path, state):
            return known
        try:
            with open_regular(path) as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return ""
        if state_of(path) != state:
            return ""
        self._keep(state_key(path, state), digest)
        return digest

    def known(self, path: Path, state: BinaryState) -> str:
        """The cached digest of a file in this state; empty if not cached."""
        with self._lock:
            return self._load().get(state_key(path, state), "")

    def _keep(self, key: str, digest: str) -> None:
        with self._lock:
            self._digests = None  # reload: another process may have written the cache
            digests = self._load()
            digests[key] = digest
            for oldest in list(digests)[:-_MOST_KEPT]:
                del digests[oldest]
            with suppress(OSError):
                self._save(digests)

    def _load(self) -> dict[str, str]:
        if self._digests is None:
            try:
                kept = json.loads(read_regular_text(self._path)) if self._path else {}
            except (OSError, ValueError, RecursionError):
                kept = {}
            pairs = kept.items() if isinstance(kept, dict) else ()
            self._digests = {key: value for key, value in pairs if isinstance(value, str)}
        return self._digests

    def _save(self, digests: dict[str, str]) -> None:
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, unfinished = tempfile.mkstemp(dir=self._path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(digests, file)
            Path(unfinished).replace(self._path)
        except OSError:
            Path(unfinished).unlink(missing_ok=True)
            raise


def state_of(path: Path) -> BinaryState | None:
    """The state of a file, as the recorder writes it; None if the file is missing."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return BinaryState(status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)


def state_key(path: Path, state: BinaryState) -> str:
    """A unique key of a path and a file state."""
    times = f"{state.modified_ns:x}-{state.changed_ns:x}"
    return f"{state.size:x}-{state.inode:x}-{times} {os.fsencode(path).hex()}"
