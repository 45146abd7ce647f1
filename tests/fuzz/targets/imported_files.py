"""Files of other recorders: each is imported completely and consistently, or refused with a message."""

from __future__ import annotations

import hashlib

import numpy as np

from framedex.base.errors import FramedexError
from framedex.imports.reading import detect_format, read_profile
from framedex.model import ImportOrigin
from tests.fuzz.inputs import scratch

MAX_SIZE = 1 << 14


def run(data: bytes) -> None:
    """Parse a file, and follow every reference in the result."""
    path = scratch() / "profile"
    path.write_bytes(data)
    try:
        form = detect_format(path)
        builder = read_profile(path, ImportOrigin(form.name, str(path), hashlib.sha256(data).hexdigest()))
    except FramedexError as error:
        assert error.message and error.remedy
        return
    table = builder.table()
    assert len(table) and np.all(table[1:, 1] >= table[:-1, 1]) and np.all(table[:, 1:4] >= 0)
    assert np.all(table[:, 3] > 0) and np.max(table[:, 4]) < len(builder.arguments)
    for stack, thread in np.array(builder.kinds)[table[:, 0]].tolist():
        assert thread < len(builder.threads)
        assert builder.stacks[stack].frames
    assert all(0 <= frame < len(builder.frames) for stack in builder.stacks for frame in stack.frames)
    assert int(table[:, 2].sum()) + int(table[:, 3].sum()) == builder.weight
