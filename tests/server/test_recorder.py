"""Whether an editor's framedex can record programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hiding import ANOTHER_SYSTEM, FUNCTIONS, NATIVE_PART, python_without
from tests.server.lsp_requests import Connect, send_request, to_json

pytestmark = pytest.mark.asyncio

SERVE = "import framedex_server.server\nsys.exit(framedex_server.server.main([]))"


async def test_a_complete_installation_can_record(tmp_path: Path, connect: Connect) -> None:
    answer = to_json(await send_request(await connect(tmp_path), "recorder", {}))
    assert answer == {"canRecord": True, "isSupported": True, "message": None, "remedy": None}


async def test_an_installation_without_the_native_part_says_that_it_cannot(tmp_path: Path, connect: Connect) -> None:
    client = await connect(tmp_path, command=tuple(python_without(NATIVE_PART, SERVE)))
    answer = to_json(await send_request(client, "recorder", {}))
    assert (answer["canRecord"], answer["isSupported"]) == (False, True)
    assert "native part of framedex is missing" in answer["message"] and "pip install" in answer["remedy"]


async def test_an_unsupported_system_cannot_record(tmp_path: Path, connect: Connect) -> None:
    serve = f"import platform; platform.machine = lambda: 'riscv64'\n{SERVE}"
    client = await connect(tmp_path, command=tuple(python_without(ANOTHER_SYSTEM, serve, FUNCTIONS)))
    answer = to_json(await send_request(client, "recorder", {}))
    assert (answer["canRecord"], answer["isSupported"]) == (False, False)
    assert "does not exist for" in answer["message"]
