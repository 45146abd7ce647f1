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

DEMO = Path(__file__).parents[2] / "indexer" / "framedex" / "demo" / "device_put.py"

PROGRAM = """\
import jax
import numpy as np


def put(array):
    return jax.device_put(array)


np.asarray(put(np.zeros((2, 3), np.float32)))
"""


COMPILING = """\
import jax
import numpy as np

jax.jit(lambda x: x + 1)(np.zeros(3, np.float32))
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that was recorded and indexed."""
    return _record(tmp_path_factory.mktemp("real").resolve() / "program.py", PROGRAM)


@pytest.fixture(scope="module")
def compiling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that has another compiled, recorded and indexed."""
    return _record(tmp_path_factory.mktemp("compiling").resolve() / "program.py", COMPILING)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's program, recorded and indexed in a subfolder of a checkout."""
    checkout = tmp_path_factory.mktemp("checkout").resolve()
    (checkout / ".git").mkdir()
    (checkout / "demo").mkdir()
    # The way in follows what took longest: the transfer of 64 MB does on a busy machine too, that of 24 bytes may not.
    text, small = DEMO.read_text(), "np.arange(6, dtype=np.float32).reshape(2, 3)"
    assert small in text
    return _record(checkout / "demo" / DEMO.name, text.replace(small, "np.zeros((4096, 4096), np.float32)"))


def _record(path: Path, text: str) -> Path:
    path.write_text(text)
    for verb in (["run", path.name], ["index"]):
        done = subprocess.run([*FRAMEDEX, *verb], cwd=path.parent, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
    return path


async def test_hover_tells_what_a_line_had_compiled_whatever_thread_did_it(compiling: Path, connect: Connect) -> None:
    client = await connect(compiling.parent, command=(*FRAMEDEX, "serve"))
    text = await hover(client, compiling, 4)
    assert text is not None
    (told,) = [line for line in text.split("  \n") if "`PJRT_Client_Compile`" in line]
    assert told.startswith("→") or (told.startswith("⇢") and told.endswith("on a thread without Python [handed-over]"))


async def test_hover_names_what_took_longest_and_the_neighbours(program: Path, connect: Connect) -> None:
    client = await connect(program.parent, command=(*FRAMEDEX, "serve"))
    text = await hover(client, program, 6)
    assert text is not None
    assert "`PJRT_Client_BufferFromHostBuffer`" in text
    assert "F32[2,3] 24 B" in text
    assert "from `<module>`" in text
    assert "into `device_put`" in text


@pytest.mark.parametrize("line", [8, 12])
async def test_go_to_frame_leads_from_the_demo_through_jax_down_to_the_allocator(
    demo: Path, connect: Connect, line: int
) -> None:
    # As after `make demo`: the editor has the checkout open, the index is in a folder of it, jax in a tree of its own.
    client = await connect(demo.parent.parent, command=(*FRAMEDEX, "serve"))
    column = demo.read_text().splitlines()[line - 1].index("device_put")
    names = [path.name for path in await _way_in(client, demo, line, column)]
    assert names[0] == "api.py"
    assert names[-1] == "device_memory.cc"
    assert "pxla.py" in names
    assert "buffer.cc" in names
    assert "xla_bridge.py" not in names


async def test_the_call_hierarchy_reaches_the_program_from_every_python_frame(program: Path, connect: Connect) -> None:
    client = await connect(program.parent, command=(*FRAMEDEX, "serve"))
    params = types.CallHierarchyPrepareParams(*at(program, 6))
    (put,) = await client.text_document_prepare_call_hierarchy_async(params) or ()
    (call,) = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(put)) or ()
    assert (put.name, call.from_.name) == ("put", "<module>")
    assert [where.start.line + 1 for where in call.from_ranges] == [9]


async def _way_in(client: LanguageClient, path: Path, line: int, column: int) -> list[Path]:
    """The files one comes through by going to the first frame, again and again, from a place in a program."""
    way: list[Path] = []
    seen = set()
    while (path, line) not in seen and (found := await links(client, path, line, 0 if way else column)):
        seen.add((path, line))
        path, line = Path(found[0].target_uri.removeprefix("file://")), found[0].target_selection_range.start.line + 1
        way.append(path)
    return way
