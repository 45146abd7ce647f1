"""Queries on any line of a statement use the frames on its other lines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lsprotocol import types

from tests.gitrepository import commit_all
from tests.server.lsp_requests import (
    ONE_EDITOR,
    Connect,
    definition,
    framedex_request,
    hover,
    listed_targets,
    open_document,
    position_params,
    target_lines,
)
from tests.server.spread import CPP, FOO, INNER, RUN, WITH_X, WITH_Y, Spread, record_spread

pytestmark = pytest.mark.asyncio


@pytest.fixture
def spread(tmp_path: Path) -> Spread:
    return record_spread(tmp_path)


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_definition_works_on_every_line_of_a_macro_call(spread: Spread, connect: Connect, editor: str) -> None:
    client = await connect(spread.root, editor)
    for line in (2, 3, 4):
        assert await definition(client, spread.cpp, line) == [("callee.cc", FOO)]


async def test_the_adjacent_statement_is_not_affected(spread: Spread, connect: Connect) -> None:
    client = await connect(spread.root)
    for line in (5, 6, 12):
        assert await definition(client, spread.cpp, line) == []
        assert await hover(client, spread.cpp, line) is None


async def test_a_line_of_chained_calls_has_its_own_and_the_others_have_all(spread: Spread, connect: Connect) -> None:
    client = await connect(spread.root)
    assert await definition(client, spread.cpp, 8) == [("callee.cc", WITH_X)]
    assert await definition(client, spread.cpp, 10) == [("callee.cc", WITH_Y)]
    for line in (7, 9, 11):
        assert await listed_targets(client, "waysIn", spread.cpp, line) == [
            ("callee.cc", WITH_X),
            ("callee.cc", WITH_Y),
        ]


async def test_lambda_bodies_are_separate_statements(spread: Spread, connect: Connect) -> None:
    client = await connect(spread.root)
    assert [await definition(client, spread.cpp, line) for line in (14, 19, 20)] == [[("callee.cc", RUN)]] * 3
    assert [await definition(client, spread.cpp, line) for line in (15, 16)] == [[("callee.cc", INNER)]] * 2
    assert [await definition(client, spread.cpp, line) for line in (17, 18)] == [[], []]


async def test_every_line_of_a_python_statement_answers(spread: Spread, connect: Connect) -> None:
    client = await connect(spread.root)
    first = await definition(client, spread.python, 3)
    assert first
    assert [await definition(client, spread.python, line) for line in (4, 5)] == [first, first]
    assert [await definition(client, spread.python, line) for line in (6, 7)] == [[], []]


async def test_hover_names_the_line_of_the_frames(spread: Spread, connect: Connect) -> None:
    client = await connect(spread.root)
    own_line, other = await hover(client, spread.cpp, 2), await hover(client, spread.cpp, 4)
    assert own_line is not None and "this statement" not in own_line
    assert other is not None and "the frame of this statement is on line 2" in other
    several = await hover(client, spread.cpp, 9)
    assert several is not None and "2 recorded calls" in several
    assert "the frames of this statement are on lines 8 and 10" in several


async def test_other_requests_about_a_line_answer(spread: Spread, connect: Connect) -> None:
    client = await connect(spread.root)
    (item,) = (
        await client.text_document_prepare_call_hierarchy_async(
            types.CallHierarchyPrepareParams(*position_params(spread.cpp, 4))
        )
        or ()
    )
    assert item.name == "serve"
    declared = await client.text_document_declaration_async(types.DeclarationParams(*position_params(spread.cpp, 4)))
    assert target_lines(declared) == [("spread.py", 3)]
    stepped = await framedex_request(client, "stepIn", spread.cpp, 4)
    assert (Path(stepped["location"]["uri"]).name, stepped["location"]["range"]["start"]["line"] + 1) == (
        "callee.cc",
        FOO,
    )
    assert [each["stack"] for each in await framedex_request(client, "stacks", spread.cpp, 4)] == [
        each["stack"] for each in await framedex_request(client, "stacks", spread.cpp, 2)
    ]


async def test_steps_continue_from_any_line_of_the_reached_statement(spread: Spread, connect: Connect) -> None:
    client = await connect(spread.root)
    assert ("spread.cc", 8) in await listed_targets(client, "waysIn", spread.python, 3)
    assert await definition(client, spread.cpp, 8) == [("callee.cc", WITH_X)]


async def test_unsaved_lines_move_statements(spread: Spread, connect: Connect) -> None:
    client = await connect(spread.root)
    await definition(client, spread.cpp, 2)
    open_document(client, spread.cpp.as_uri(), "// one\n// two\n" + CPP, "cpp")
    assert await definition(client, spread.cpp, 6) == [("callee.cc", FOO)]
    text = await hover(client, spread.cpp, 6)
    assert text is not None and "the frame of this statement is on line 4" in text


async def test_a_file_changed_since_is_followed(spread: Spread, connect: Connect) -> None:
    before = spread.cpp.stat()
    commit_all(spread.root)
    os.utime(spread.cpp, ns=(before.st_mtime_ns, before.st_mtime_ns))
    spread.cpp.write_text("// one\n" + CPP.replace("client->Foo(a,\n", "client->Foo(a,\n                1,\n"))
    client = await connect(spread.root)
    for line in (3, 4, 5, 6):
        assert await definition(client, spread.cpp, line) == [("callee.cc", FOO)]
    assert await definition(client, spread.cpp, 7) == []
