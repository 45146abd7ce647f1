"""Files of an installed distribution: its RECORD lists their digests.

Source: packaging.python.org, "Recording installed projects". A RECORD has CSV rows of path, digest (`sha256=` and
URL-safe base64 without padding) and size in bytes.
"""

from __future__ import annotations

import base64
import csv
import hashlib
from pathlib import Path

from framedex.regularfile import read_regular, read_regular_text


def installed_together(binary: Path, source: Path) -> bool:
    """Whether one distribution installed both files, and `source` still has its installed content.

    Installers set each file's mtime to the time of installation, so a source can be newer than the binary built from
    it.
    """
    sites = (folder for folder in binary.parents if source.is_relative_to(folder))
    records = next(filter(None, (list(site.glob("*.dist-info/RECORD")) for site in sites)), [])
    return any(_lists_both(record, binary, source) for record in records)


def _lists_both(record: Path, binary: Path, source: Path) -> bool:
    site = record.parents[1]
    name = source.relative_to(site).as_posix()
    try:
        content = read_regular_text(record)
        if name not in content:
            return False
        digests = {row[0]: row[1] for row in csv.reader(content.splitlines()) if len(row) > 1}
        return binary.relative_to(site).as_posix() in digests and digests.get(name) == _digest(source)
    except (OSError, csv.Error):
        return False


def _digest(path: Path) -> str:
    digest = hashlib.sha256(read_regular(path)).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
