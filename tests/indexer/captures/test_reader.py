"""Reading real captures from any path."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from framedex.captures import count_records, fingerprint_of, read_capture
from tests.one_put import recorded_put


def test_a_capture_in_an_undecodable_folder_name_is_read(tmp_path: Path) -> None:
    recorded = recorded_put()
    odd = Path(shutil.copytree(recorded, tmp_path / os.fsdecode(b"odd\xff")))

    read, counts = read_capture(odd), count_records(odd)

    assert len(read.calls) == counts.calls > 0
    assert len(read.threads) == counts.threads > 0
    assert read.problems == read_capture(recorded).problems
    assert fingerprint_of(odd / "capture.json") == fingerprint_of(recorded / "capture.json") != ""
