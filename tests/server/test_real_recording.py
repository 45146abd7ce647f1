"""The whole road: a real JAX program, recorded and indexed by the command line, seen through `framedex serve`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.server.asking import Connect, at, hover, links

pytestmark = pytest.mark.asyncio

FRAMEDEX = (sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')")

PROGRAM = """\
import jax
import numpy as np


def put(array):
    return jax.device_put(array)


np.asarray(put(np.zeros((2, 3), np.float32)))
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that was recorded and indexed."""
    path = tmp_path_factory.mktemp("real").resolve() / "program.py"
    path.write_text(PROGRAM)
    for verb in (["run", path.name], ["index"]):
        done = subprocess.run([*FRAMEDEX, *verb], cwd=path.parent, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    return path


async def test_hover_names_what_took_longest_and_the_neighbours(program: Path, connect: Connect) -> None:
    client = await connect(program.parent, command=(*FRAMEDEX, "serve"))
    text = await hover(client, program, 6)
    assert text is not None
    assert "`PJRT_Client_BufferFromHostBuffer`" in text
    assert "F32[2,3] 24 B" in text
    assert "from `<module>`" in text
    assert "into `device_put`" in text


async def test_go_to_frame_leads_from_the_program_through_jax_into_the_plugin(program: Path, connect: Connect) -> None:
    client = await connect(program.parent, command=(*FRAMEDEX, "serve"))
    way = await _way_in(client, program, 6)
    names = [path.name for path in way]
    assert names[0] == "api.py"
    assert all(path.suffix == ".py" for path in way[:-1])
    assert way[-1].suffix == ".cc", names


async def test_the_call_hierarchy_reaches_the_program_from_every_python_frame(program: Path, connect: Connect) -> None:
    client = await connect(program.parent, command=(*FRAMEDEX, "serve"))
    params = types.CallHierarchyPrepareParams(*at(program, 6))
    (put,) = await client.text_document_prepare_call_hierarchy_async(params) or ()
    (call,) = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(put)) or ()
    assert (put.name, call.from_.name) == ("put", "<module>")
    assert [where.start.line + 1 for where in call.from_ranges] == [9]


async def _way_in(client: LanguageClient, path: Path, line: int) -> list[Path]:
    """The files one comes through by going to the frame with the most calls, again and again."""
    way: list[Path] = []
    seen = set()
    while (path, line) not in seen and (found := await links(client, path, line)):
        seen.add((path, line))
        path, line = Path(found[0].target_uri.removeprefix("file://")), found[0].target_selection_range.start.line + 1
        way.append(path)
    return way
