"""Lines inside `jit`: hover, callers and callees, and the reason for empty answers on other lines."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import cast

import pytest
from lsprotocol import types

from framedex.model import NearestLines, ProgramRun, ProgramUse
from framedex_server.answers.programs import format_nearby, format_program_runs, format_program_uses
from framedex_server.markup import Markup
from tests.once import made_once
from tests.run.costs.test_fusions import PROGRAM as FUSED
from tests.run.costs.test_fusions import SECOND, Recorded
from tests.server.lsp_requests import (
    Connect,
    definition,
    definition_links,
    framedex_request,
    hover,
    position_params,
    target_lines,
)
from tests.shapes_of_programs import Marked, recorded_shapes

pytestmark = pytest.mark.asyncio


@pytest.fixture(scope="module")
def shapes() -> Marked:
    """The recorded program."""
    return recorded_shapes()


async def test_hover_inside_jit_shows_ops_compilation_and_runs(shapes: Marked, connect: Connect) -> None:
    client = await connect(shapes.path.parent)
    text = await hover(client, shapes.path, shapes.line("plain", "sine")) or ""
    first, compiled, run = text.split("  \n")
    runs = f"`{shapes.path.name}:{shapes.line('plain', 'runs')}` in `main`"
    assert first == "**framedex: inside** `jit(plain)`: op `sine`"
    assert compiled.startswith(f"compiled into `jit_plain` once from {runs}, ")
    assert run.startswith(f"→ run 3 times from {runs}, ") and run.endswith(" each")


async def test_hover_on_a_fused_line_shows_all_lines_with_their_shares(tmp_path: Path, connect: Connect) -> None:
    fused = made_once("fusions", Recorded)
    (tmp_path / ".framedex").mkdir()
    shutil.copy(fused.index, tmp_path / ".framedex" / "index.db")
    client = await connect(tmp_path)
    text = await hover(client, FUSED, SECOND) or ""
    (shown,) = [line for line in text.split("  \n") if line.startswith("fused ")]
    (fusion,) = fused.fusions(SECOND)
    shares = [f"`{FUSED.name}:{line.location.line}` ({share:.0%})" for line, share in fusion.shares]
    assert len(shares) == 3
    assert shown == f"fused once as `{fusion.instruction}`: {', '.join(shares)}"


async def test_hover_on_the_line_that_runs_a_program_names_it_and_its_lines(shapes: Marked, connect: Connect) -> None:
    client = await connect(shapes.path.parent)
    text = await hover(client, shapes.path, shapes.line("plain", "runs")) or ""
    (told,) = [line for line in text.split("  \n") if line.startswith("runs ")]
    assert told.startswith("runs `jit_plain` 3 times, ")
    assert told.endswith(f"compiled once, with lines `{shapes.path.name}:{shapes.line('plain', 'sine')}`")


async def test_definition_follows_the_trace_inward_and_then_to_the_running_line(
    shapes: Marked, connect: Connect
) -> None:
    client = await connect(shapes.path.parent)
    name = shapes.path.name
    inner = shapes.line("helper", "sine")
    assert await definition(client, shapes.path, shapes.line("helper", "calls")) == [(name, inner)]
    assert await definition(client, shapes.path, inner) == [(name, shapes.line("helper", "runs"))]


async def test_a_step_that_turned_outward_says_so_and_does_not_turn_back(shapes: Marked, connect: Connect) -> None:
    client = await connect(shapes.path.parent)
    inner, runs = shapes.line("helper", "sine"), shapes.line("helper", "runs")
    (way,) = await framedex_request(client, "waysIn", shapes.path, inner)
    assert way["detail"].startswith("turned outward: this line runs the program")
    assert await definition(client, shapes.path, inner) == [(shapes.path.name, runs)]
    further = await definition_links(client, shapes.path, runs, _first_column(shapes.path, runs))
    inside = {shapes.line("helper", "calls"), inner}
    assert not [each for each in target_lines(further) if each[0] == shapes.path.name and each[1] in inside]


def _first_column(path: Path, line: int) -> int:
    text = path.read_text().splitlines()[line - 1]
    return len(text) - len(text.lstrip())


async def test_the_name_of_a_jitted_function_leads_to_its_line_inside(shapes: Marked, connect: Connect) -> None:
    client = await connect(shapes.path.parent)
    number = shapes.line("plain", "runs")
    column = shapes.path.read_text().splitlines()[number - 1].index("plain")
    document, position = position_params(shapes.path, number, column + 1)
    answer = await client.text_document_definition_async(types.DefinitionParams(document, position))
    assert target_lines(answer)[0] == (shapes.path.name, shapes.line("plain", "sine"))


async def test_declaration_returns_to_the_line_that_called_it_during_tracing(shapes: Marked, connect: Connect) -> None:
    client = await connect(shapes.path.parent)
    document, position = position_params(shapes.path, shapes.line("helper", "sine"))
    answer = await client.text_document_declaration_async(types.DeclarationParams(document, position))
    lines = [(shapes.path.name, shapes.line("helper", mark)) for mark in ("calls", "runs")]
    assert target_lines(answer) == lines[:1]


async def test_references_of_a_line_inside_jit_are_the_running_lines(shapes: Marked, connect: Connect) -> None:
    client = await connect(shapes.path.parent)
    document, position = position_params(shapes.path, shapes.line("scan", "sine"))
    params = types.ReferenceParams(types.ReferenceContext(True), document, position)
    found = cast("list[types.Location]", await client.text_document_references_async(params))
    assert shapes.line("scan", "runs") in {each.range.start.line + 1 for each in found}


async def test_an_empty_answer_names_the_nearest_lines(shapes: Marked, connect: Connect) -> None:
    client = await connect(shapes.path.parent)
    line = shapes.line("here", "nothing")
    answer = await framedex_request(client, "why", shapes.path, line, request="textDocument/definition")
    assert answer["text"].startswith("No recorded call went through this line: nothing in never was recorded")
    assert f"Nearest: line {shapes.line('generator', 'runs')} (" in answer["text"]
    assert Path(shapes.path).is_file()


async def test_program_texts_of_a_capture_are_not_markup() -> None:
    hostile = "it was not kept: [here](command:x)\n<b>\u202e"
    run = ProgramRun("", compiled=0, calls=1, total_duration=1, latest_call=1, lines=(), problem=hostile)
    use = ProgramUse("f", 1, "", (), (), (), (), 0, (), (), problem=hostile)
    told = [*format_program_runs(Markup(markdown=True), [run]), *format_program_uses(Markup(markdown=True), [use])]
    assert sum("`it was not kept: [here](command:x)\\x0a<b>\\u202e`" in line for line in told) == 2
    assert "f\\x0a\\u202e" in format_nearby(NearestLines("no op of f\n\u202e comes from it", ()))
