"""Real JAX programs, recorded and indexed, queried through `framedex serve`."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.editors.demo_checkout import recorded_demo
from tests.server.lsp_requests import Connect, definition_links, hover, position_params
from tests.server.real_program import CALL, COMPILE, FRAMEDEX, PUT, recorded_program

pytestmark = pytest.mark.asyncio


@pytest.fixture(scope="module")
def program() -> Path:
    """A recorded and indexed program."""
    return recorded_program()


@pytest.fixture(scope="module")
def demo() -> Path:
    """The demo's program, recorded and indexed in a subfolder of a checkout."""
    return recorded_demo()


async def test_hover_shows_compilations_of_a_line_on_any_thread(program: Path, connect: Connect) -> None:
    client = await connect(program.parent, command=(*FRAMEDEX, "serve"))
    text = await hover(client, program, COMPILE)
    assert text is not None
    (told,) = [line for line in text.split("  \n") if "`PJRT_Client_Compile`" in line]
    assert told.startswith("→") or (told.startswith("⇢") and told.endswith("on a native thread [handed-over]"))


async def test_hover_names_the_longest_call_and_the_neighbours(program: Path, connect: Connect) -> None:
    client = await connect(program.parent, command=(*FRAMEDEX, "serve"))
    text = await hover(client, program, PUT)
    assert text is not None
    assert "`PJRT_Client_BufferFromHostBuffer`" in text
    assert "F32[2,3] 24 B" in text
    assert "from `<module>`" in text
    assert "into `device_put`" in text


@pytest.mark.exhaustive(keep=["8"])
@pytest.mark.parametrize("line", [8, 12])
async def test_go_to_frame_leads_from_the_demo_through_jax_to_the_mock(demo: Path, connect: Connect, line: int) -> None:
    # As after `make demo`: the editor has the checkout open, the index is in one of its folders, jax in another tree.
    client = await connect(demo.parent.parent, command=(*FRAMEDEX, "serve"))
    column = demo.read_text().splitlines()[line - 1].index("device_put")
    names = [path.name for path in await _way_in(client, demo, line, column)]
    assert names[0] == "api.py"
    assert "pxla.py" in names
    assert "xla_bridge.py" not in names
    assert not any(name.endswith(".cc") for name in names)


async def test_the_call_hierarchy_reaches_the_program_from_every_python_frame(program: Path, connect: Connect) -> None:
    client = await connect(program.parent, command=(*FRAMEDEX, "serve"))
    params = types.CallHierarchyPrepareParams(*position_params(program, PUT))
    (put,) = await client.text_document_prepare_call_hierarchy_async(params) or ()
    (call,) = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(put)) or ()
    assert (put.name, call.from_.name) == ("put_on_device", "<module>")
    assert [where.start.line + 1 for where in call.from_ranges] == [CALL]


async def _way_in(client: LanguageClient, path: Path, line: int, column: int) -> list[Path]:
    """The files visited by repeatedly going to the first frame, from a location in a program."""
    way: list[Path] = []
    seen = set()
    while (path, line) not in seen and (found := await definition_links(client, path, line, 0 if way else column)):
        seen.add((path, line))
        path, line = Path(found[0].target_uri.removeprefix("file://")), found[0].target_selection_range.start.line + 1
        way.append(path)
    return way
