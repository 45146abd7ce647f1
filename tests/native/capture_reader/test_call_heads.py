"""The heads of calls and returns, short and long, match docs/reference/capture-format.md."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import pytest

from framedex.captures.reader import object_table
from framedex_native._call_stream import CallStream
from tests.fuzz.capture_folder import unpack

CALL, RETURN, BASE = 7, 8, 15
LONG = 8
THREAD = bytes((0, 1, 0, 4))  # thread-1.fdx in version 3, with times in nanoseconds
FIRST, ENTERED = 70_000, 2**50  # the base: the number of the next call, and the time


def record(kind: int, body: bytes, detail: int = 0) -> bytes:
    """A record in the form that unpack() accepts."""
    return bytes((1, kind, detail | -len(body) % 8)) + struct.pack("<H", len(body)) + body


def base() -> bytes:
    """The base record of a head."""
    return record(BASE, struct.pack("<QQ", FIRST, ENTERED))


def short_call(time: int, call: int, function: int, stack: int) -> bytes:
    """A call by its numbers after the base."""
    head = time & 0xFFFFFFFF | call << 32 | function << 46 | stack << 56 | (time >> 32 & 7) << 69
    return record(CALL, head.to_bytes(9, "little"), time >> 35 << 4)


def short_return(time: int, call: int) -> bytes:
    """A return by its numbers after the base."""
    return record(RETURN, (time | call << 40).to_bytes(7, "little"))


def calls_of(folder: Path, *records: bytes) -> tuple[dict[str, Any], list[str]]:
    """The calls of a thread with these records, by column, and the capture's problems."""
    unpack(THREAD + b"".join(records), folder)
    stream = CallStream(os.fsencode(folder), 0, object_table(), lacks_calls=False)
    tables = stream.definitions()
    batch = stream.next(stream.calls)
    kinds = [batch["kinds"][kind] for kind in batch["kind"]]
    names = [tables["functions"][function][1] for function, _, _, _ in kinds]
    calls = {
        "function": names,
        "error": [error for _, _, _, error in kinds],
        "start": batch["start"].tolist(),
        "duration": batch["duration"].tolist(),
        "arguments": [batch["arguments"][argument] for argument in batch["argument"]],
    }
    left_out = [f"{stream.damaged} damaged records were left out."] if stream.damaged else []
    return calls, tables["problems"] + left_out


@pytest.mark.parametrize("time", [0, 2**32 - 1, 2**32, 2**35 - 1, 2**35, 2**39 - 1])
def test_a_short_head_is_relative_to_the_base(tmp_path: Path, time: int) -> None:
    calls, problems = calls_of(
        tmp_path, base(), short_call(time, 2**14 - 1, 1023, 2**13 - 1), short_return(time + 5, 2**14 - 1)
    )
    assert (calls["start"], calls["duration"], calls["error"]) == ([ENTERED + time], [5], [0])
    assert (calls["function"], problems) == (["function_1023"], [])


def test_a_long_head_is_absolute(tmp_path: Path) -> None:
    start = record(CALL, struct.pack("<QQII", 1, 2**60, 4000, 2**30), LONG)
    end = record(RETURN, struct.pack("<QQiI", 1, 2**60 + 5, 13, 0), LONG)
    calls, problems = calls_of(tmp_path, start, end)
    assert (calls["start"], calls["duration"], calls["error"]) == ([2**60], [5], [13])
    assert (calls["function"], problems) == (["function_4000"], [])


def test_long_returns_end_short_calls_and_vice_versa(tmp_path: Path) -> None:
    first = record(CALL, struct.pack("<QQII", FIRST, ENTERED + 1, 1, 1), LONG)
    second = record(RETURN, struct.pack("<QQiI", FIRST + 1, ENTERED + 9, 0, 0), LONG)
    calls, _ = calls_of(tmp_path, base(), first, short_call(2, 1, 2, 2), second, short_return(10, 0))
    assert (calls["start"], calls["duration"]) == ([ENTERED + 1, ENTERED + 2], [9, 7])


def test_a_later_base_serves_a_call_and_a_missing_base_is_damage(tmp_path: Path) -> None:
    calls, problems = calls_of(tmp_path, short_call(3, 0, 1, 1), base())
    assert (calls["start"], problems) == ([ENTERED + 3], [])
    calls, problems = calls_of(tmp_path, short_call(3, 0, 1, 1))
    assert (calls["start"], problems) == ([], ["1 damaged records were left out."])


def test_a_truncated_head_is_damage(tmp_path: Path) -> None:
    calls, problems = calls_of(tmp_path, base(), record(CALL, b""), record(RETURN, b"", 7), record(CALL, b"", LONG))
    assert (calls["start"], problems) == ([], ["3 damaged records were left out."])
