"""What tells a binary that has no build-id from others, jaxlib's among them: `process.executable.build_id.htlhash`.

OpenTelemetry (https://opentelemetry.io/docs/specs/otel/profiles/mappings) describes it: the SHA-256 of the first 4 KiB,
the last 4 KiB and the length (8 bytes, big-endian), of which the first 16 bytes are kept.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from framedex.regularfile import open_regular

_PAGE = 4096  # bytes that are hashed at each end


def htlhash(path: Path) -> str:
    """The `htlhash` of a file, in hex. Raises OSError where it cannot be read."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        first = file.read(_PAGE)
        file.seek(max(size - _PAGE, 0))
        return hashlib.sha256(first + file.read(_PAGE) + size.to_bytes(8, "big")).hexdigest()[:32]
