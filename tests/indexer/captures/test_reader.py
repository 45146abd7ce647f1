"""Reading real captures from any path."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path

import numpy as np

from framedex.captures import CaptureStream, compute_fingerprint, count_records, read_capture
from framedex.captures.folders import capture_folders
from framedex.captures.open_calls import read_open_calls
from tests.indexer.live.programs import FRAMEDEX, started_process, wait_for
from tests.one_put import recorded_put
from tests.running import PROGRAMS


def test_a_capture_in_an_undecodable_folder_name_is_read(tmp_path: Path) -> None:
    recorded = recorded_put()
    odd = Path(shutil.copytree(recorded, tmp_path / os.fsdecode(b"odd\xff")))

    read, counts = read_capture(odd), count_records(odd)

    assert len(read.calls) == counts.calls > 0
    assert len(read.threads) == counts.threads > 0
    assert read.problems == read_capture(recorded).problems
    assert compute_fingerprint(odd / "capture.json") == compute_fingerprint(recorded / "capture.json") != ""


def test_a_callback_that_is_invoked_after_the_streams_were_read_is_still_pending(tmp_path: Path) -> None:
    run = (*FRAMEDEX, "run", "-o", str(tmp_path), str(PROGRAMS / "live_callback.py"))
    with started_process(*run) as (process, _):
        assert process.stdin is not None and process.stdout is not None
        (capture,) = capture_folders(tmp_path)
        pending = partial(_pending_callbacks, capture)
        registered = wait_for(pending, bool)
        stream = CaptureStream(capture)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n"
        wait_for(pending, lambda left: left == 0)

        while len(stream.next(1 << 16).kind):
            pass

        assert stream.callbacks()[:, 1].tolist().count(np.iinfo(np.int64).max) == registered


def _pending_callbacks(capture: Path) -> int:
    return sum(len(thread.pending) for thread in read_open_calls(capture))
