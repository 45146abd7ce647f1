"""The hash that identifies binaries without a build-id, such as jaxlib's: `process.executable.build_id.htlhash`.

OpenTelemetry (https://opentelemetry.io/docs/specs/otel/profiles/mappings) defines it: the first 16 bytes of the SHA-256
of the first 4 KiB, the last 4 KiB and the length (8 bytes, big-endian).
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from framedex.regularfile import open_regular

_PAGE = 4096  # bytes hashed at each end


def htlhash(path: Path) -> str:
    """The `htlhash` of a file, in hex. Raises OSError if the file is unreadable."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        first = file.read(_PAGE)
        file.seek(max(size - _PAGE, 0))
        return hashlib.sha256(first + file.read(_PAGE) + size.to_bytes(8, "big")).hexdigest()[:32]
