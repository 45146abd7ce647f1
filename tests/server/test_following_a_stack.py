"""Repeated go-to-frame walks one real stack, across all source trees."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_lsp import LanguageClient

from tests.indexer.forgotten import forget_states
from tests.server.lsp_requests import Connect, definition, definition_links, hover, listed_targets
from tests.server.roads import Roads, record_roads

pytestmark = pytest.mark.asyncio

PUT = [("library.py", 2), ("library.py", 5), ("table.cc", 21), ("table.cc", 30)]
GET = [("library.py", 2), ("library.py", 8), ("table.cc", 40)]


@pytest.fixture
def roads(tmp_path: Path) -> Roads:
    return record_roads(tmp_path)


async def walk(client: LanguageClient, path: Path, line: int) -> list[tuple[str, int]]:
    """The locations on the way, going to the first frame until there is none."""
    way: list[tuple[str, int]] = []
    while found := await definition_links(client, path, line):
        path = Path(found[0].target_uri.removeprefix("file://"))
        line = found[0].target_selection_range.start.line + 1
        assert (path.name, line) not in way
        way.append((path.name, line))
    return way


async def test_steps_stay_on_the_stacks_they_began_with(roads: Roads, connect: Connect) -> None:
    client = await connect(roads.project)
    assert await walk(client, roads.demo, 1) == PUT
    assert await walk(client, roads.demo, 2) == GET
    assert await walk(client, roads.demo, 1) == PUT


async def test_while_stepping_only_callees_on_the_stack_are_offered(roads: Roads, connect: Connect) -> None:
    client = await connect(roads.project)
    await definition(client, roads.demo, 2)
    for _ in range(2):
        assert await definition(client, roads.library, 2) == [("library.py", 8)]


async def test_the_callee_that_creates_the_client_comes_last_despite_its_time(roads: Roads, connect: Connect) -> None:
    client = await connect(roads.project)
    await definition(client, roads.demo, 1)
    assert await listed_targets(client, "waysIn", roads.library, 2) == [("library.py", 5), ("library.py", 11)]


async def test_while_creating_the_client_the_longest_call_comes_first(roads: Roads, connect: Connect) -> None:
    client = await connect(roads.project)
    assert await listed_targets(client, "waysIn", roads.library, 11) == [("table.cc", 10), ("table.cc", 15)]


async def test_an_unvisited_line_offers_every_callee_longest_first(roads: Roads, connect: Connect) -> None:
    client = await connect(roads.project)
    assert await listed_targets(client, "waysIn", roads.library, 2) == [
        ("library.py", 8),
        ("library.py", 5),
        ("library.py", 11),
    ]


async def test_a_selected_path_is_continued(roads: Roads, connect: Connect) -> None:
    client = await connect(roads.project)
    assert ("library.py", 5) in await listed_targets(client, "waysIn", roads.library, 2)
    assert await walk(client, roads.library, 5) == PUT[2:]


async def test_the_callee_named_under_the_cursor_comes_first(roads: Roads, connect: Connect) -> None:
    client = await connect(roads.project)
    text = '    """🚀"""; return put(x) or get(x)\n'
    library = roads.library.read_text().replace("    return function(x)\n", text)
    forget_states(roads.index)  # otherwise a changed line has no target
    roads.library.write_text(library, encoding="utf-8")
    for name, line in (("put", 5), ("get", 8)):
        column = len(text[: text.index(name)].encode("utf-16-le")) // 2
        found = await definition_links(client, roads.library, 2, column)
        assert found[0].target_selection_range.start.line + 1 == line


@pytest.mark.exhaustive(keep=["project", "runtime"])
@pytest.mark.parametrize("workspace", ["project", "", "env/library", "runtime"])
async def test_steps_cross_separate_source_trees(roads: Roads, connect: Connect, workspace: str) -> None:
    client = await connect(roads.tree / workspace)
    assert await walk(client, roads.demo, 1) == PUT
    text = await hover(client, roads.table, 21)
    assert text is not None
    assert "Allocate" in text


async def test_an_index_inside_the_workspace_answers_for_a_library_outside(roads: Roads, connect: Connect) -> None:
    client = await connect(roads.tree)
    assert await definition(client, roads.library, 8) == [("table.cc", 40)]


async def test_an_index_that_contains_the_document_precedes_a_nearer_one(
    roads: Roads, connect: Connect, tmp_path: Path
) -> None:
    elsewhere = record_roads(tmp_path / "elsewhere")
    nearer = roads.tree / ".framedex" / "index.db"
    nearer.parent.mkdir()
    elsewhere.index.rename(nearer)
    client = await connect(roads.tree)
    assert await definition(client, roads.library, 8) == [("table.cc", 40)]
    assert await definition(client, roads.demo, 2) == [("library.py", 2)]


async def test_problems_of_another_projects_index_are_not_shown(roads: Roads, connect: Connect) -> None:
    broken = roads.tree / "another" / ".framedex" / "index.db"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"no database" * 1000)
    client = await connect(roads.tree)
    assert await definition(client, roads.library, 8) == [("table.cc", 40)]
    assert client.messages == []
