"""Answers right after ordinary edits of a program without git, saved and unsaved."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framedex.index import Index
from framedex.texts.traces import format_trace
from tests.indexer.unplaced import index_without_sources
from tests.running import PROGRAMS, run
from tests.server.lsp_requests import Connect, definition, hover, open_document

pytestmark = pytest.mark.asyncio

PROGRAM = """\
import jax
import numpy as np


def put(array):
    return jax.device_put(array)


value = put(np.zeros((2, 3), np.float32))
print(float(value.sum()))
"""
PUT, CALL, NEXT = 6, 9, 10


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("edited")
    program = folder / "program.py"
    program.write_text(PROGRAM)
    capture = run(os.path.relpath(program, PROGRAMS), folder=folder).capture
    (folder / ".framedex").mkdir()
    index_without_sources(folder / ".framedex" / "index.db", capture)
    return program


@pytest.fixture
def program(recorded: Path) -> Path:
    recorded.write_text(PROGRAM)
    return recorded


async def test_lines_follow_edits_on_disk_and_in_the_editor(program: Path, connect: Connect) -> None:
    client = await connect(program.parent)
    before = {line: await definition(client, program, line) for line in (PUT, CALL, NEXT)}
    assert before[CALL] == [("program.py", PUT)]
    assert before[PUT] and before[PUT] != before[NEXT] != []

    program.write_text("# on the disk\n" + PROGRAM)
    assert await definition(client, program, CALL + 1) == [("program.py", PUT + 1)]
    assert await definition(client, program, PUT + 1) == before[PUT]
    assert await definition(client, program, NEXT + 1) == before[NEXT]
    assert f"moved from line {CALL}" in (await hover(client, program, CALL + 1) or "")
    assert await hover(client, program, 1) is None

    open_document(client, program.as_uri(), "# on the screen\n" + program.read_text())
    assert await definition(client, program, CALL + 2) == [("program.py", PUT + 2)]
    assert await definition(client, program, PUT + 2) == before[PUT]
    assert await hover(client, program, 1) is None


async def test_a_frame_on_a_changed_line_shows_the_recorded_text(program: Path, connect: Connect) -> None:
    client = await connect(program.parent)
    program.write_text(PROGRAM.replace("value = put(", "worth = put("))
    with Index.open(program.parent / ".framedex" / "index.db") as index:
        call = index.calls.latest("PJRT_Client_BufferFromHostBuffer")
        trace = index.calls.trace(call.id) if call is not None else None
        assert trace is not None
        text = format_trace(trace)
    open_document(client, "untitled:trace", text, "framedex-trace")
    frame = next(n for n, line in enumerate(text.splitlines(), 1) if f"program.py:{CALL} [" in line)
    shown = await hover(client, "untitled:trace", frame) or ""
    assert "as recorded: value = put(np.zeros((2, 3), np.float32))" in shown
    assert "worth" not in shown


async def test_a_changed_or_new_line_has_no_answer(program: Path, connect: Connect) -> None:
    client = await connect(program.parent)
    program.write_text(PROGRAM.replace("value = put(", "worth = put("))
    assert await definition(client, program, CALL) == []
    assert await hover(client, program, CALL) is None
    assert await definition(client, program, NEXT) != []
