"""Write the memory inside programs: their sizes as reported by the plug-in, and the temporaries at their peaks."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Sequence

from framedex.index.file.paths import is_installed
from framedex.index.file.values import to_storable
from framedex.index.write.program_frames import BUFFERS_OF_PROGRAM, ProgramFrameWriter
from framedex.index.write.records import StoredMemory
from framedex.model import ProgramBuffer, ProgramCollective, ProgramFusion

_SIZE = re.compile(r"(\w+)=(\d{1,18})(?:, |$)")


def read_program_sizes(text: str | None) -> str | None:
    """Return the sizes of a program as JSON, in bytes by name, from their recorded text; None if not recorded."""
    return None if text is None else json.dumps({name: int(size) for name, size in _SIZE.findall(text)})


def intern_program_memory(
    connection: sqlite3.Connection, frames: ProgramFrameWriter, stored: StoredMemory
) -> int | None:
    """Return the row of the memory inside a program, adding it if missing; None if its schedule is unreadable."""
    known = connection.execute("SELECT id FROM program_memory WHERE digest = ?", (stored.digest,)).fetchone()
    if known is not None:
        frames.store_versions(BUFFERS_OF_PROGRAM, int(known[0]))
        return int(known[0])
    memory = stored.read()
    if memory is None:
        return None
    row = connection.execute(
        "INSERT INTO program_memory(digest, is_exact, peak, peak_step, steps, over_time) VALUES (?, ?, ?, ?, ?, ?)",
        (
            *(stored.digest, memory.is_exact, memory.peak, memory.peak_step, memory.steps),
            json.dumps(memory.over_time),
        ),
    ).lastrowid
    assert row is not None
    connection.executemany(
        f"INSERT INTO program_buffers VALUES ({', '.join('?' * 11)})",
        [(row, number, *_build_buffer_values(buffer)) for number, buffer in enumerate(memory.buffers)],
    )
    lines = [
        (row, number, is_fused, position, to_storable(op), frame)
        for number, buffer in enumerate(memory.buffers)
        for is_fused, ops in enumerate(([("", frame) for frame in buffer.frames], buffer.fused))
        for position, (op, frame) in enumerate(ops)
    ]
    ids = frames.intern({frame for *_, frame in lines if frame is not None})
    connection.executemany(
        "INSERT INTO program_buffer_lines VALUES (?, ?, ?, ?, ?, ?)",
        [(*values, None if frame is None else ids[frame]) for *values, frame in lines],
    )
    _add_collectives(connection, frames, row, memory.collectives)
    _add_fusions(connection, frames, row, memory.fusions)
    frames.store_versions(BUFFERS_OF_PROGRAM, row)
    return row


def _add_collectives(
    connection: sqlite3.Connection, frames: ProgramFrameWriter, memory: int, collectives: Sequence[ProgramCollective]
) -> None:
    lines = [
        next((frame for frame in each.frames if not is_installed(frame.path)), next(iter(each.frames), None))
        for each in collectives
    ]
    ids = frames.intern({frame for frame in lines if frame is not None})
    connection.executemany(
        f"INSERT INTO program_collectives VALUES ({', '.join('?' * 10)})",
        [
            (
                *(memory, number, *map(to_storable, (each.opcode, each.op, each.shape)), each.size, each.devices),
                *(each.is_repeated, each.is_requested, None if line is None else ids[line]),
            )
            for number, (each, line) in enumerate(zip(collectives, lines, strict=True))
        ],
    )


def _add_fusions(
    connection: sqlite3.Connection, frames: ProgramFrameWriter, memory: int, fusions: Sequence[ProgramFusion]
) -> None:
    connection.executemany(
        "INSERT INTO program_fusions VALUES (?, ?, ?, ?, ?)",
        [
            (memory, number, to_storable(each.instruction), to_storable(each.op), each.count)
            for number, each in enumerate(fusions)
        ],
    )
    ids = frames.intern({frame for each in fusions for frame, _ in each.lines})
    ops: Counter[tuple[int, int]] = Counter()  # several names may mean one file
    for number, each in enumerate(fusions):
        for frame, count in each.lines:
            ops[number, ids[frame]] += count
    connection.executemany(
        "INSERT INTO program_fusion_lines VALUES (?, ?, ?, ?)",
        [(memory, number, frame, count) for (number, frame), count in ops.items()],
    )


def _build_buffer_values(buffer: ProgramBuffer) -> tuple[object, ...]:
    texts = (buffer.instruction, buffer.opcode, buffer.op, buffer.shape)
    lives = (buffer.size, buffer.first, buffer.last)
    return (*map(to_storable, texts), *lives, to_storable(buffer.last_instruction), buffer.is_near)


def delete_unused_memory(connection: sqlite3.Connection) -> None:
    """Remove the memory of programs without a compilation."""
    connection.execute(
        "DELETE FROM program_memory WHERE id NOT IN (SELECT memory FROM compilations WHERE memory IS NOT NULL)"
    )
    for table in ("buffers", "buffer_lines", "collectives", "fusions", "fusion_lines"):
        connection.execute(f"DELETE FROM program_{table} WHERE memory NOT IN (SELECT id FROM program_memory)")
