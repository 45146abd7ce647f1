"""A synthetic capture of thousands of calls: nested, on three threads, with objects.

It is based on the recording of `Project`.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from framedex.index import Store
from framedex.index.write.records import CaptureRecord
from framedex.ingest import CaptureFrameNamer
from framedex.ingest.ffi import name_ffi
from framedex.model import Calls, Capture, Function, ObjectDescription, Thread
from framedex.sources.releases import FunctionOrigins
from tests.indexer.recorded import Project

CALLS = 3_000
_SITE = {"site": "0x1", "target": "norm", "user_frame": 0, "frames": [["/me.py", 9, "step"]]}
_WITH_KIND = ("call_rows", "call_spans", "created_objects")
_FUNCTIONS = ("PJRT_Event_Create", "PJRT_Event_Destroy", "PJRT_Event_IsReady", "norm")


def busy_capture(project: Project, name: str = "busy", calls: int = CALLS) -> Capture:
    """Events that are created, used and destroyed.

    Each second call is nested in the one before it; some are FFI runs. One call in fifty fails, two never return.
    """
    rng = np.random.default_rng(7)
    function = np.arange(calls) // 2 % len(_FUNCTIONS)
    is_inner = np.arange(calls) % 2 == 1
    error = np.where(rng.integers(0, 50, calls) == 0, 3, 0).astype(np.int32)
    duration = np.where(is_inner, rng.integers(1, 90, calls), rng.integers(200, 9_000, calls))
    never = [calls // 3, calls - 1]
    error[never], duration[never] = -1, -1
    texts = [_arguments(int(each), place) for place, each in enumerate(function)]
    return replace(
        project.capture,
        path=project.capture.path.with_name(name),
        functions=tuple(Function("ffi" if each == "norm" else "pjrt", each) for each in _FUNCTIONS),
        threads=(Thread(100, "MainThread"), Thread(101, "pool"), Thread(102, "pool")),
        calls=Calls(
            thread=(np.arange(calls) // 2 % 3).astype(np.uint32),
            function=function.astype(np.uint32),
            stack=rng.integers(0, len(project.capture.stacks), calls).astype(np.uint32),
            start=(np.arange(calls) // 2 * 10_000 + is_inner * 100).astype(np.int64),
            duration=duration.astype(np.int64),
            error=error,
            arguments=tuple(texts),
        ),
        descriptions=(ObjectDescription("ffi_site", _SITE),),
    )


def _arguments(function: int, place: int) -> str:
    if _FUNCTIONS[function] == "norm":
        known = {"site": "0x1"} if place % 3 else {"instance": place % 5}
        return json.dumps({"arguments": f"f32[{place % 7}]"} | known)
    # A few reused addresses, as in a program that drops its results.
    return json.dumps({"event": f"{0x1000 + place // 8 % 5 * 64:#x}"})


def record_of(capture: Capture, signature: str = "whole") -> CaptureRecord:
    """The capture with names."""
    namer = CaptureFrameNamer()
    frames, _ = namer.name_frames(capture)
    ffi = name_ffi(capture, namer, FunctionOrigins())
    return CaptureRecord(capture, 1.0, "demo", frames, signature=signature, ffi=ffi, identity=capture.path.name)


def rows_of(store: Store, *, without: tuple[str, ...] = ()) -> dict[str, list[tuple[object, ...]]]:
    """All rows of the tables that captures are written to."""
    tables = store._connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%' AND name NOT LIKE 'name%'"
    ).fetchall()
    key = "(SELECT json_array(k.capture, k.stack, k.boundary, k.thread, k.error) FROM call_kinds k"
    found = {}
    for (name,) in tables:
        columns = [row[1] for row in store._connection.execute(f"PRAGMA table_info({name})")]
        if name in _WITH_KIND:  # ids follow the order of the batches
            columns = [f"{key} WHERE k.id = t.kind)" if column == "kind" else column for column in columns]
        if name == "call_kinds":
            columns.remove("id")
        if name not in without:
            found[name] = sorted(store._connection.execute(f"SELECT {', '.join(columns)} FROM {name} t"), key=repr)
    return found
