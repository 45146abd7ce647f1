"""From a line outward: declaration goes one frame out, implementation to the origins of stacks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.server.lsp_requests import ONE_EDITOR, Connect, definition, listed_targets, position_params, target_lines
from tests.server.recording import Recording
from tests.server.roads import Roads, record_roads

pytestmark = pytest.mark.asyncio


@pytest.fixture
def roads(tmp_path: Path) -> Roads:
    return record_roads(tmp_path)


async def declaration(client: LanguageClient, path: Path, line: int) -> list[tuple[str, int]]:
    return target_lines(
        await client.text_document_declaration_async(types.DeclarationParams(*position_params(path, line)))
    )


async def implementation(client: LanguageClient, path: Path, line: int) -> list[tuple[str, int]]:
    return target_lines(
        await client.text_document_implementation_async(types.ImplementationParams(*position_params(path, line)))
    )


async def references(client: LanguageClient, path: Path, line: int) -> list[tuple[str, int]]:
    document, position = position_params(path, line)
    context = types.ReferenceContext(include_declaration=True)
    return target_lines(await client.text_document_references_async(types.ReferenceParams(context, document, position)))


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_declaration_leads_one_readable_frame_outward_across_languages(
    recording: Recording, connect: Connect, editor: str
) -> None:
    client = await connect(recording.root, editor)
    assert await declaration(client, recording.mock, recording.mock_allocates) == [("client.cc", 4)]
    assert await declaration(client, recording.client, recording.client_definition) == [("library.py", 4)]
    both = [("demo.py", recording.main_calls_make_input), ("demo.py", recording.main_calls_both)]
    assert await declaration(client, recording.demo, recording.make_input_calls_device_put) == both[:1]
    assert await listed_targets(client, "waysOut", recording.demo, recording.make_input_calls_device_put) == both


async def test_declaration_targets_the_whole_function_for_clients_with_links(
    recording: Recording, connect: Connect
) -> None:
    client = await connect(recording.root)
    params = types.DeclarationParams(*position_params(recording.library, recording.device_put_enters_cpp))
    answer = await client.text_document_declaration_async(params)
    assert isinstance(answer, Sequence)
    (link,) = answer
    assert isinstance(link, types.LocationLink)
    assert (link.target_range.start.line, link.target_range.end.line) == (2, 4)
    assert link.target_selection_range.start.line == 4


async def test_declaration_returns_along_the_path_of_definition(roads: Roads, connect: Connect) -> None:
    client = await connect(roads.project)
    await definition(client, roads.demo, 2)
    await definition(client, roads.library, 2)
    assert await declaration(client, roads.library, 8) == [("library.py", 2)]
    assert await declaration(client, roads.library, 2) == [("demo.py", 2)]
    assert await definition(client, roads.demo, 2) == [("library.py", 2)]


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_implementation_leads_to_boundary_functions_longest_first(
    recording: Recording, connect: Connect, editor: str
) -> None:
    client = await connect(recording.root, editor)
    assert await implementation(client, recording.demo, recording.main_calls_both) == [("mock.cc", 4), ("mock.cc", 9)]
    assert await implementation(client, recording.demo, recording.main_calls_make_input) == [("mock.cc", 4)]


async def test_the_end_of_a_stack_does_not_implement_itself(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    assert await implementation(client, recording.mock, recording.mock_allocates) == []


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_references_are_the_program_lines_at_which_stacks_start(
    roads: Roads, connect: Connect, editor: str
) -> None:
    client = await connect(roads.project, editor)
    # The library is not in an environment here, so its own wrapper is the program's innermost line.
    assert await references(client, roads.table, 40) == [("library.py", 8)]
    # Most calls first: the first line of the demo also created the client.
    assert await references(client, roads.library, 2) == [("demo.py", 1), ("demo.py", 3), ("demo.py", 2)]


async def test_unrecorded_code_has_no_answer(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    for ask in (declaration, implementation, references):
        assert await ask(client, recording.demo, recording.nothing_recorded) == []
        assert await ask(client, recording.root / "other.py", 1) == []


async def test_the_outermost_frame_has_neither_declaration_nor_references(
    recording: Recording, connect: Connect
) -> None:
    client = await connect(recording.root)
    assert await declaration(client, recording.demo, 11) == []
    assert await references(client, recording.demo, 11) == []
