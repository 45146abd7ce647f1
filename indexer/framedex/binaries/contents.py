"""SHA-256 digests of whole files: a file is read again only when it is in another state than before.

A digest of jaxlib's library (350 MB) takes 0.25 s of a processor, so digests are kept, in the user's cache folder.
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
    """The digests of files, by the states in which they were."""

    def __init__(self, kept_in: Path | None = None) -> None:
        """`kept_in` is the file that digests are kept in, by default one in the user's cache folder.

        Where that file cannot be read or written, digests last as long as this object.
        """
        cache = user_folder("XDG_CACHE_HOME")
        self._path = kept_in or (cache / "framedex" / "contents.json" if cache else None)
        self._digests: dict[str, str] | None = None
        self._lock = Lock()

    def of(self, path: Path) -> str:
        """The SHA-256 of a file as it is now, in hexadecimal; empty if it cannot be read, or changes meanwhile."""
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
        """The digest of a file in a state in which it was once asked for; empty if it never was."""
        with self._lock:
            return self._load().get(state_key(path, state), "")

    def _keep(self, key: str, digest: str) -> None:
        with self._lock:
            self._digests = None  # others may have written meanwhile
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
    """The state of a file, as the recorder notes it; None if there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return BinaryState(status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)


def state_key(path: Path, state: BinaryState) -> str:
    """A text that is another one for any other path or state."""
    times = f"{state.modified_ns:x}-{state.changed_ns:x}"
    return f"{state.size:x}-{state.inode:x}-{times} {os.fsencode(path).hex()}"
