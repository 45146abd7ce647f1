"""What a capture of the guidebook was made of: it is recorded anew where this has changed."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import framedex_native
from guidebook.launching import HEADER, Ready
from guidebook.plan import Recording


def key_of(recording: Recording, ready: Ready) -> str:
    """A digest of the program, how it is run, its environment's versions, and framedex's native part."""
    source = recording.program.read_bytes() + (HEADER.read_bytes() if recording.program.suffix == ".c" else b"")
    parts = [source, repr(recording).encode(), "\n".join(ready.versions).encode(), _native()]
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


@cache
def _native() -> bytes:
    """A digest of what records: the libraries, and the mocks' and FFI's Python halves beside them."""
    folder = framedex_native.library_path().parent
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".so", ".py", ".json"))
    return b"".join(hashlib.sha256(path.read_bytes()).digest() for path in files if _records(path))


def _records(path: Path) -> bool:
    """Whether it has a part in recordings; modules that read captures have none."""
    return not path.name.startswith(("_call_stream", "_extractor", "_scanner"))
