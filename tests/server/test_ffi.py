"""FFI in editors: from the line of an `ffi_call` to its handler, and from C++ back to Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.ffi_running import EXAMPLES
from tests.indexed_ffi import IndexedRun, indexed, line_of
from tests.server.lsp_requests import (
    Connect,
    definition,
    definition_links,
    framedex_request,
    hover,
    position_params,
    target_lines,
)

pytestmark = pytest.mark.asyncio

EXAMPLE = EXAMPLES / "ffi_examples.py"
RMS_NORM = EXAMPLES / "rms_norm.cc"
CALL = line_of(EXAMPLE, 'jax.ffi.ffi_call("rms_norm", ')
WRITTEN = line_of(RMS_NORM, "ffi::Error rms_norm(")
REGISTERED = line_of(RMS_NORM, "    RmsNorm,") - 1


@pytest.fixture(scope="module")
def calls() -> IndexedRun:
    """Every example handler called once or a few times."""
    return indexed("ffi_calls.py")


async def references(client: LanguageClient, path: Path, line: int) -> set[tuple[str, int]]:
    """File name and line of the references from a line."""
    params = types.ReferenceParams(
        text_document=types.TextDocumentIdentifier(path.as_uri()),
        position=types.Position(line - 1, 0),
        context=types.ReferenceContext(include_declaration=False),
    )
    found = await client.text_document_references_async(params) or ()
    return {(Path(each.uri).name, each.range.start.line + 1) for each in found}


async def items(client: LanguageClient, path: Path, line: int) -> list[types.CallHierarchyItem]:
    """The functions of the call hierarchy at a line."""
    params = types.CallHierarchyPrepareParams(*position_params(path, line))
    return list(await client.text_document_prepare_call_hierarchy_async(params) or ())


async def test_hover_on_an_ffi_call_shows_its_handler(calls: IndexedRun, connect: Connect) -> None:
    client = await connect(calls.index.parent.parent)
    text = await hover(client, EXAMPLE, CALL)
    assert text is not None
    assert "**FFI target** `rms_norm`: 4 runs" in text
    assert "median" in text
    assert f"rms_norm.cc:{WRITTEN}" in text
    assert "(f32[4,8]) -> (f32[4,8])" in text


async def test_hover_in_a_handler_shows_the_python_lines(calls: IndexedRun, connect: Connect) -> None:
    client = await connect(calls.index.parent.parent)
    for line in (WRITTEN, WRITTEN + 2, REGISTERED):
        text = await hover(client, RMS_NORM, line)
        assert text is not None
        assert "**FFI target** `rms_norm`: 4 runs" in text
        assert f"ffi_examples.py:{CALL}" in text


async def test_hover_shows_the_error_of_the_latest_run_that_failed(calls: IndexedRun, connect: Connect) -> None:
    client = await connect(calls.index.parent.parent)
    text = await hover(client, EXAMPLE, line_of(EXAMPLE, 'jax.ffi.ffi_call("fail"'))
    assert text is not None
    assert "latest error: `UNKNOWN: the handler was left by an exception`" in text


async def test_hover_between_handlers_shows_nothing(calls: IndexedRun, connect: Connect) -> None:
    client = await connect(calls.index.parent.parent)
    assert await hover(client, RMS_NORM, line_of(RMS_NORM, "struct Rows")) is None


async def test_definition_on_an_ffi_call_leads_to_the_handler(calls: IndexedRun, connect: Connect) -> None:
    client = await connect(calls.index.parent.parent)
    found = await definition_links(client, EXAMPLE, CALL)
    names = target_lines(found)
    assert names[0] == ("rms_norm.cc", WRITTEN)
    assert ("rms_norm.cc", REGISTERED) not in names, "it has nothing that the kernel has not"
    assert len(names) == len(set(names)), "each place once"
    assert found[0].target_range.end.line > found[0].target_range.start.line, "the whole kernel"


async def test_the_line_that_creates_an_ffi_call_leads_to_the_handler(calls: IndexedRun, connect: Connect) -> None:
    """A line that only creates the `ffi_call`, called on another line, answers by the target's name."""
    client = await connect(calls.index.parent.parent)
    made = line_of(EXAMPLE, 'call = jax.ffi.ffi_call("counter"')
    (found,) = await definition(client, EXAMPLE, made)
    assert found == (await definition(client, EXAMPLE, made + 1))[0]
    assert "**FFI target** `counter`" in (await hover(client, EXAMPLE, made) or "")


async def test_definition_leads_from_the_program_to_the_ffi_call(calls: IndexedRun, connect: Connect) -> None:
    client = await connect(calls.index.parent.parent)
    line = line_of(EXAMPLE, "return rms_norm(x, eps)")
    found = await definition(client, EXAMPLE, line)
    assert found, "the line of a wrapper leads on"
    assert not [name for name, _ in found if name.endswith(".cc")]


async def test_lines_of_a_handler_template_are_on_its_stacks(calls: IndexedRun, connect: Connect) -> None:
    client = await connect(calls.index.parent.parent)
    for line in (WRITTEN, WRITTEN + 2):
        listed = await framedex_request(client, "stacks", RMS_NORM, line)
        assert {each["boundary"] for each in listed} == {"rms_norm"}
        assert len(await framedex_request(client, "callsThrough", RMS_NORM, line)) == 4
        gone_round = [(await framedex_request(client, "nextStack", RMS_NORM, line))["stack"] for _ in listed]
        assert sorted(gone_round) == sorted(each["stack"] for each in listed)
        assert "rms_norm" in (await framedex_request(client, "traceDocument", RMS_NORM, line))["text"]
        assert await framedex_request(client, "stepOut", RMS_NORM, line) == await framedex_request(
            client, "stepOut", RMS_NORM, REGISTERED
        )
        assert await framedex_request(client, "stepIn", RMS_NORM, line) is None, "a stack ends in its handler"
    assert await framedex_request(client, "stacks", RMS_NORM, line_of(RMS_NORM, "struct Rows")) == []


async def test_declaration_leads_from_a_kernel_to_its_ffi_call(calls: IndexedRun, connect: Connect) -> None:
    client = await connect(calls.index.parent.parent)
    registered = target_lines(
        await client.text_document_declaration_async(types.DeclarationParams(*position_params(RMS_NORM, REGISTERED)))
    )
    for line in (WRITTEN, WRITTEN + 2):
        found = target_lines(
            await client.text_document_declaration_async(types.DeclarationParams(*position_params(RMS_NORM, line)))
        )
        assert found == registered
    assert (EXAMPLE.name, CALL) in registered


async def test_references_cross_from_cpp_to_python(calls: IndexedRun, connect: Connect) -> None:
    client = await connect(calls.index.parent.parent)
    assert await references(client, RMS_NORM, WRITTEN) == {("ffi_examples.py", CALL)}
    pivots = EXAMPLES / "lu_pivots.cc"
    line = line_of(pivots, "ffi::Error lu_pivots_to_permutation(")
    assert {name for name, _ in await references(client, pivots, line)} == {"ffi_examples.py", calls.program.name}
    assert await references(client, RMS_NORM, 1) == set()


async def test_the_call_hierarchy_crosses_in_both_directions(calls: IndexedRun, connect: Connect) -> None:
    client = await connect(calls.index.parent.parent)
    (handler,) = await items(client, RMS_NORM, WRITTEN + 2)
    assert handler.name == "RmsNorm"
    incoming = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(handler)) or ()
    (caller,) = [call for call in incoming if call.from_.name == "rms_norm"]
    assert [where.start.line + 1 for where in caller.from_ranges] == [CALL]

    (function,) = await items(client, EXAMPLE, CALL)
    outgoing = await client.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(function)) or ()
    (callee,) = [call for call in outgoing if call.to.name == "RmsNorm"]
    assert Path(callee.to.uri).name == "rms_norm.cc"
    assert callee.to.selection_range.start.line + 1 == REGISTERED
