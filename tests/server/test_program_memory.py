"""The memory inside programs for editors: the temporaries along a schedule, by line."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from tests.once import made_once
from tests.run.costs.test_program_memory import PROGRAM, Recorded
from tests.server.lsp_requests import Connect, send_request, to_json

pytestmark = pytest.mark.asyncio

MAX_PROGRAMS, MAX_LINES = 8, 7  # with the entry of all other lines


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return made_once("program-memory", Recorded)


async def _connect(recorded: Recorded, folder: Path, connect: Connect) -> LanguageClient:
    (folder / ".framedex").mkdir()
    shutil.copy(recorded.index, folder / ".framedex" / "index.db")
    client: LanguageClient = await connect(folder)
    return client


async def _answer(client: LanguageClient, **params: object) -> Any:
    return to_json(await send_request(client, "programMemory", params))


async def test_the_lines_fill_each_program_up_to_its_peak(recorded: Recorded, tmp_path: Path, connect: Connect) -> None:
    answer = await _answer(await _connect(recorded, tmp_path, connect), capture=1)
    expected = {name: device.program for name, device in recorded.devices().items() if device.large_program}
    assert len(answer["programs"]) == MAX_PROGRAMS
    assert answer["more"] == len(expected) - MAX_PROGRAMS
    peaks = [each["peak"] for each in answer["programs"]]
    assert peaks == sorted((program.peak for program in expected.values() if program), reverse=True)[:MAX_PROGRAMS]
    for found in answer["programs"]:
        program = expected[found["function"]]
        assert program is not None
        assert (found["steps"], found["points"]) == (program.steps, [list(point) for point in program.over_time])
        assert len(found["lines"]) <= MAX_LINES
        sums = [sum(sizes) for sizes in zip(*(line["sizes"] for line in found["lines"]), strict=True)]
        assert all(size <= alive for size, (_, alive) in zip(sums, found["points"], strict=True))
        at_peak = [step for step, _ in found["points"]].index(found["peakStep"])
        assert sums[at_peak] == sum(line["size"] for line in found["lines"]) == found["peak"]


async def test_a_line_has_its_function_its_location_and_its_largest_buffer(
    recorded: Recorded, tmp_path: Path, connect: Connect
) -> None:
    answer = await _answer(await _connect(recorded, tmp_path, connect), capture=1)
    (sort,) = [each for each in answer["programs"] if each["function"] == "sort"]
    program = recorded.devices()["sort"].program
    assert program is not None
    step = f"step {program.peak_step + 1} of {program.steps}"
    assert sort["text"] == f"device 9: 512 KiB of temporaries alive at {step}, as the compiler placed them"
    line = sort["lines"][0]
    assert (line["function"], line["location"]["uri"]) == ("sort", PROGRAM.as_uri())
    assert "of the peak: f32[" in line["text"]


async def test_wrong_parameters_and_captures_have_no_answer(
    recorded: Recorded, tmp_path: Path, connect: Connect
) -> None:
    client = await _connect(recorded, tmp_path, connect)
    assert await _answer(client, capture=7) is None
    for wrong in ({}, {"capture": "1"}, {"capture": True}, None):
        with pytest.raises(JsonRpcException):
            await send_request(client, "programMemory", wrong)
