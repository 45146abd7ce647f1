"""Walks continue unaffected by other queries, clients, edits and recordings in between."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from framedex.index import Store
from framedex.ingest import SilentProgress, ingest_captures, skip_sources
from tests.running import PROGRAMS, run
from tests.server.lsp_requests import Connect, definition_links, hover, position_params

pytestmark = pytest.mark.asyncio

Place = tuple[str, int]
"""A path and a line of its recorded text."""

PROGRAM = """\
import jax
import numpy as np


def wrapper(function, value):
    return function(value)


def put(value):
    return jax.device_put(value)


def get(value):
    return np.asarray(value)


on_device = wrapper(put, np.ones(3, np.float32))
print(wrapper(get, on_device))
print(float(on_device.sum()))
wrapper(get, jax.device_put(on_device))
"""
STARTS = (17, 18, 19, 20)
OTHER = "import jax\n\nprint(jax.device_put(1.0))\n"


@dataclass
class Project:
    """A recorded program, another recording beside it, and the number of lines inserted at the program's top."""

    program: Path
    capture: Path
    other: Path
    has_other: bool = False
    inserted: int = 0

    @property
    def index(self) -> Path:
        return self.program.parent / ".framedex" / "index.db"

    def now(self, place: Place) -> tuple[Path, int]:
        """The location in the current file."""
        path, line = place
        return Path(path), line + self.inserted if path == str(self.program) else line

    def recorded(self, path: str, line: int) -> Place:
        return path, line - self.inserted if path == str(self.program) else line

    def edit(self, lines: int) -> None:
        self.inserted = lines
        self.program.write_text("# inserted\n" * lines + PROGRAM)

    def add_other(self) -> None:
        with Store(self.index) as store:
            ingest_captures(store, [self.other], [], SilentProgress(), skip_sources)
        self.has_other = True

    def remove_other(self) -> None:
        with Store(self.index) as store:
            (number,) = [each.id for each in store.captures() if each.path == self.other]
            store.remove_captures([number])
        self.has_other = False


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("walks").resolve()
    program, other = folder / "program.py", folder / "other.py"
    program.write_text(PROGRAM)
    other.write_text(OTHER)
    captures = []
    for each in (program, other):
        (folder / each.stem).mkdir()
        captures.append(run(os.path.relpath(each, PROGRAMS), folder=folder / each.stem).capture)
    (folder / ".framedex").mkdir()
    with Store(folder / ".framedex" / "index.db") as store:
        ingest_captures(store, captures[:1], [], SilentProgress(), skip_sources)
    return Project(program, captures[0], captures[1])


async def next_place(client: LanguageClient, project: Project, place: Place) -> Place | None:
    found = await definition_links(client, *project.now(place))
    if not found:
        return None
    path = found[0].target_uri.removeprefix("file://")
    return project.recorded(path, found[0].target_selection_range.start.line + 1)


async def walk_alone(connect: Connect, project: Project, start: Place) -> list[Place]:
    client = await connect(project.program.parent)
    places = [start]
    while (place := await next_place(client, project, places[-1])) is not None:
        places.append(place)
    return places


@dataclass
class Walker:
    """A client, and for each location the latest walk that led there, with its position in that walk."""

    client: LanguageClient
    led: dict[Place, tuple[Sequence[Place], int]] = field(default_factory=dict)

    async def step(self, project: Project, walk: Sequence[Place], position: int) -> None:
        expected = walk[position + 1] if position + 1 < len(walk) else None
        assert await next_place(self.client, project, walk[position]) == expected
        if expected is not None:
            self.led[expected] = walk, position + 1

    async def look(self, project: Project, place: Place, number: int) -> None:
        path, line = project.now(place)
        document, position = position_params(path, line)
        match number % 4:
            case 0:
                await hover(self.client, path, line)
            case 1:
                context = types.ReferenceContext(include_declaration=True)
                await self.client.text_document_references_async(types.ReferenceParams(context, document, position))
            case 2:
                parameters = types.CallHierarchyPrepareParams(document, position)
                await self.client.text_document_prepare_call_hierarchy_async(parameters)
            case 3:
                automatic = types.CodeActionContext([], trigger_kind=types.CodeActionTriggerKind.Automatic)
                request = types.CodeActionParams(document, types.Range(position, position), automatic)
                await self.client.text_document_code_action_async(request)


@pytest.mark.exhaustive(keep=["600"])
@pytest.mark.parametrize("operations", [600, 5000])
async def test_random_interleavings_give_each_walk_its_own_answers(
    project: Project, connect: Connect, operations: int
) -> None:
    walks = [await walk_alone(connect, project, (str(project.program), line)) for line in STARTS]
    assert all(len(walk) > 3 for walk in walks)
    assert len({walk[1] for walk in walks}) < len(walks)  # some share the wrapper
    walkers = [Walker(await connect(project.program.parent)) for _ in range(3)]
    chance = random.Random(operations)
    for number in range(operations):
        walker = chance.choice(walkers)
        kind = chance.random()
        if kind < 0.02:
            project.edit(chance.randrange(4))
        elif kind < 0.03 and project.has_other:
            project.remove_other()
            for each in walkers:
                each.led.clear()
        elif kind < 0.03:
            project.add_other()
        elif kind < 0.3:
            await walker.look(project, chance.choice(chance.choice(walks)), number)
        elif kind < 0.5 or not walker.led:
            await walker.step(project, chance.choice(walks), 0)
        else:
            walk, position = chance.choice(list(walker.led.values()))
            await walker.step(project, walk, position)


async def test_a_question_elsewhere_does_not_turn_a_walk(project: Project, connect: Connect) -> None:
    walk = await walk_alone(connect, project, (str(project.program), 17))
    client = await connect(project.program.parent)
    for place, expected in pairwise(walk):
        assert await next_place(client, project, place) == expected
        await next_place(client, project, (str(project.program), 19))


async def test_a_walk_does_not_survive_the_removal_of_a_capture(project: Project, connect: Connect) -> None:
    client, stranger = await connect(project.program.parent), await connect(project.program.parent)
    start = str(project.program), 18
    wrapper = await next_place(client, project, start)
    assert wrapper is not None
    with Store(project.index) as store:
        store.remove_captures([each.id for each in store.captures()])
        ingest_captures(store, [project.capture], [], SilentProgress(), skip_sources)
    assert await next_place(client, project, wrapper) == await next_place(stranger, project, wrapper)
