"""Impossible times in a capture: their sums are still numbers."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from framedex.captures import CaptureStream
from framedex.index import Store
from framedex.ingest import CaptureFrameNamer
from framedex.ingest.captures import CaptureReading
from tests.fuzz.capture_folder import unpack
from tests.native.capture_reader.test_call_heads import CALL, LONG, RETURN, THREAD, record

FOREVER = (1 << 63) - 1


def calls_until(end: int, count: int) -> bytes:
    """Calls that all end at that time, with errors of several kinds."""
    return b"".join(
        record(CALL, struct.pack("<QQII", number, 1000 + number, 4, 1), LONG)
        + record(RETURN, struct.pack("<QQiI", number, end, number % 5, 0), LONG)
        for number in range(count)
    )


@pytest.mark.parametrize("began", [0, FOREVER])
def test_endless_calls_are_indexed_with_consistent_totals(tmp_path: Path, began: int) -> None:
    folder = tmp_path / "capture"
    folder.mkdir()
    unpack(THREAD + calls_until(FOREVER, 40), folder)
    told = {"format": "framedex-capture", "version": 3, "started_clock_ns": began}
    (folder / "capture.json").write_text(json.dumps(told))
    with Store(tmp_path / "index.db") as store:
        reading = CaptureReading(store, CaptureStream(folder), CaptureFrameNamer())
        reading.add_batch()
        ask = store._connection.execute
        calls = ask("SELECT count(*), sum(duration) FROM call_rows").fetchone()
        assert reading.is_done
        assert calls[0] == 40
        assert ask("SELECT sum(calls), sum(duration) FROM call_kinds").fetchone() == calls
        assert ask("SELECT sum(calls), sum(duration) FROM stack_calls").fetchone() == calls
