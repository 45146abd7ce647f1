"""What an installer wrote: the files of one distribution, with their digests.

Source: the RECORD of an installed distribution (packaging.python.org, "Recording installed projects"): CSV rows of
path, digest (`sha256=` and URL-safe base64 without padding) and size in bytes.
"""

from __future__ import annotations

import base64
import csv
import hashlib
from pathlib import Path

from framedex.regularfile import read_regular, read_regular_text


def installed_together(binary: Path, source: Path) -> bool:
    """Whether one distribution installed both files, and `source` still has the content that it installed.

    Installers give each file the time of its own writing, so a source can be newer than the binary made of it.
    """
    for site in binary.parents:
        records = list(site.glob("*.dist-info/RECORD"))
        if records:
            return source.is_relative_to(site) and any(
                _proves(record, binary.relative_to(site).as_posix(), source.relative_to(site).as_posix())
                for record in records
            )
    return False


def _proves(record: Path, binary: str, source: str) -> bool:
    """`binary` and `source` are paths below the folder of the distribution."""
    try:
        content = read_regular_text(record)
        if source not in content:
            return False
        digests = {row[0]: row[1] for row in csv.reader(content.splitlines()) if len(row) > 1}
        return binary in digests and digests.get(source) == _digest(record.parents[1] / source)
    except (OSError, csv.Error):
        return False


def _digest(path: Path) -> str:
    digest = hashlib.sha256(read_regular(path)).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
