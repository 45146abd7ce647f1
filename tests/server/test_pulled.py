"""What editors show of captures that were pulled from a store: what they show of the captures themselves."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.server.asking import Connect, at, definition, hover

pytestmark = pytest.mark.asyncio

PROGRAM = """\
import jax
import numpy as np


def put(array):
    return jax.device_put(array)


np.asarray(put(np.zeros((2, 3), np.float32)))
"""


async def _callers(client: LanguageClient, program: Path, line: int) -> list[str]:
    prepared = await client.text_document_prepare_call_hierarchy_async(
        types.CallHierarchyPrepareParams(*at(program, line))
    )
    (item,) = prepared or ()
    calls = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item))
    return [call.from_.name for call in calls or ()]


async def _shown(connect: Connect, program: Path) -> list[object]:
    """What an editor shows on the lines of a program."""
    client = await connect(program.parent)
    shown: list[object] = [await _callers(client, program, 6)]
    for line in (6, 9):
        text = await hover(client, program, line)
        assert text is not None and "PJRT_" in text
        text = re.sub(r"`(shared )?\S*python\S* ", "`", text)  # as such a capture is marked
        shown += [re.findall(r"`[^`]+`", text), await definition(client, program, line)]
    return shown


async def test_hover_definition_and_call_hierarchy_are_those_of_the_captures(tmp_path: Path, connect: Connect) -> None:
    """Given a program whose captures and index are gone."""
    program, store = tmp_path / "program.py", tmp_path / "store"
    program.write_text(PROGRAM)

    def framedex(*arguments: str) -> None:
        command = [sys.executable, "-m", "framedex", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr

    framedex("run", program.name)
    framedex("index")
    expected = await _shown(connect, program)
    framedex("fleet", "add", ".framedex/captures", "--store", str(store))
    shutil.rmtree(tmp_path / ".framedex")

    framedex("fleet", "pull", "--store", str(store))

    assert await _shown(connect, program) == expected
    assert "put" in str(expected) and "api.py" in str(expected)
