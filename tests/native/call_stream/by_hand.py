"""Hand-written captures of calls without stacks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from framedex.model import Calls, Capture, Function, Metadata, Thread

Row = tuple[int, str, int, int, int, Mapping[str, object]]  # thread, function, start, duration, error, arguments


def calls_of(rows: Sequence[Row]) -> Capture:
    """A capture of these calls, in order of their starts."""
    names = list(dict.fromkeys(row[1] for row in rows))
    return Capture(
        path=Path("/made/by/hand"),
        metadata=Metadata(),
        modules=(),
        codes=(),
        frames=(),
        stacks=(),
        functions=tuple(Function("pjrt", name) for name in names),
        threads=tuple(Thread(100 + thread, "") for thread in range(1 + max(row[0] for row in rows))),
        calls=Calls(
            thread=np.array([row[0] for row in rows], np.uint32),
            function=np.array([names.index(row[1]) for row in rows], np.uint32),
            stack=np.zeros(len(rows), np.uint32),
            start=np.array([row[2] for row in rows], np.int64),
            duration=np.array([row[3] for row in rows], np.int64),
            error=np.array([row[4] for row in rows], np.int32),
            arguments=tuple(json.dumps(row[5]) for row in rows),
        ),
        problems=(),
    )
