"""Snapshots and diagnoses as JSON documents, with the names of `model.py`.

For a job, `live --json` is {"job", "ranks": [{"rank", "look"}]}. `hang --json` is the document of `framedex ranks`,
with "diagnoses": [{"rank", "diagnosis"}].
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from framedex.live.diagnosis import Diagnosis
from framedex.live.model import LiveThread, ProcessSnapshot


def build_snapshot_document(snapshot: ProcessSnapshot) -> dict[str, Any]:
    """A process and its threads. `time_ns`, `since_ns`, `until_ns` and `last_record_ns` are on CLOCK_MONOTONIC."""
    return asdict(snapshot) | {
        "calls": snapshot.calls,
        "threads": [_build_thread_document(thread) for thread in snapshot.threads],
    }


def _build_thread_document(thread: LiveThread) -> dict[str, Any]:
    document = asdict(thread)
    if thread.python is not None:
        del document["python"]["evaluators"]  # addresses that readers of the document cannot use
        document["python"]["frames"] = [
            asdict(frame) | {"is_users": frame.is_user_code} for frame in thread.python.frames
        ]
    return document


def build_diagnosis_document(diagnosis: Diagnosis, snapshot: ProcessSnapshot) -> dict[str, Any]:
    """A diagnosis with the later one of its snapshots."""
    return asdict(diagnosis) | {"look": build_snapshot_document(snapshot)}
