"""Unrecorded calls in the source: the second kind of the call hierarchy."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from framedex.index import Store
from framedex.model import ExtractedFile
from tests.server.lsp_requests import ONE_EDITOR, Connect, position_params, wait_for_settings
from tests.server.recording import Recording

pytestmark = pytest.mark.asyncio


@pytest.fixture
def read(recording: Recording) -> Recording:
    """The recording with its sources: `main` also calls `unused`, which calls `deeper`, in another file."""
    unused = recording.root / "unused.py"
    unused.write_text("def unused():\n    deeper()\n\ndef deeper():\n    pass\n")
    calls = '[[8, 5, "call", "make_input", ""], [9, 5, "call", "unused", ""], [9, 9, "call", "no_such", ""]]'
    with Store(recording.index) as store, store.transaction():
        store.sources.replace_files(
            [
                _file(recording.demo, [("main", 7, 9, calls), ("make_input", 3, 5, None)]),
                _file(unused, [("unused", 1, 2, '[[2, 5, "call", "deeper", ""]]'), ("deeper", 4, 5, None)]),
            ],
            {},
        )
    return recording


def _file(path: Path, definitions: list[tuple[str, int, int, str | None]]) -> ExtractedFile:
    rows = [(name, name, "function", "()", line, end, False, False, calls) for name, line, end, calls in definitions]
    return ExtractedFile(str(path), "python", 0, 0, 0, 0, rows, ())


async def outgoing(client: LanguageClient, item: types.CallHierarchyItem) -> list[types.CallHierarchyOutgoingCall]:
    params = types.CallHierarchyOutgoingCallsParams(item)
    return list(await client.call_hierarchy_outgoing_calls_async(params) or ())


async def main_of(client: LanguageClient, recording: Recording) -> types.CallHierarchyItem:
    await wait_for_settings(client, recording.root)
    params = types.CallHierarchyPrepareParams(*position_params(recording.demo, recording.main_calls_make_input))
    (item,) = await client.text_document_prepare_call_hierarchy_async(params) or ()
    return item


async def test_only_recorded_callees_are_listed_by_default(read: Recording, connect: Connect) -> None:
    client = await connect(read.root)
    assert [call.to.name for call in await outgoing(client, await main_of(client, read))] == ["make_input", "devices"]


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_unrecorded_callees_follow_marked_and_can_be_expanded(
    read: Recording, connect: Connect, editor: str
) -> None:
    (read.root / "pyproject.toml").write_text("[tool.framedex]\neditor = { static-calls = true }\n")
    client = await connect(read.root, editor)
    calls = await outgoing(client, await main_of(client, read))
    assert [(call.to.name, call.to.detail) for call in calls] == [
        ("make_input", "5 calls · demo.py"),
        ("devices", "1 call · library.py"),
        ("unused", "static, never recorded"),
    ]
    assert [where.start.line + 1 for where in calls[2].from_ranges] == [9]
    (deeper,) = await outgoing(client, calls[2].to)
    assert (deeper.to.name, deeper.to.selection_range.start.line + 1) == ("deeper", 4)
    assert await outgoing(client, deeper.to) == []


@pytest.fixture
def called(recording: Recording) -> Recording:
    """The recording with sources where other functions call `make_input`, and some only may."""
    others = recording.root / "others.py"
    others.write_text("".join(f"line {line}\n" for line in range(1, 31)))
    plain = '[[2, 5, "call", "make_input"], [3, 5, "call", "make_input"]]'
    through_module = '[[6, 5, "call", "make_input", "demo.make_input"]]'
    of_something = '[[9, 5, "call", "make_input", "thing.make_input"]]'
    of_itself = '[[12, 5, "call", "make_input", "self.make_input"]]'
    calls = '[[8, 5, "call", "make_input", ""], [9, 5, "call", "unused", ""]]'
    with Store(recording.index) as store, store.transaction():
        store.sources.replace_files(
            [
                _file(
                    recording.demo,
                    [
                        ("main", 7, 9, calls),
                        ("make_input", 3, 5, None),
                        ("<module>", 1, 9, '[[9, 1, "call", "make_input"]]'),
                    ],
                ),
                _file(
                    others,
                    [
                        ("plainly", 1, 3, plain),
                        ("by_module", 5, 6, through_module),
                        ("by_something", 8, 9, of_something),
                        ("itself", 11, 12, of_itself),
                        ("leads_on", 14, 15, '[[15, 5, "call", "by_module"]]'),
                    ],
                ),
            ],
            {},
        )
    return recording


async def incoming(client: LanguageClient, item: types.CallHierarchyItem) -> list[types.CallHierarchyIncomingCall]:
    params = types.CallHierarchyIncomingCallsParams(item)
    return list(await client.call_hierarchy_incoming_calls_async(params) or ())


async def make_input_of(client: LanguageClient, recording: Recording) -> types.CallHierarchyItem:
    await wait_for_settings(client, recording.root)
    where = types.CallHierarchyPrepareParams(*position_params(recording.demo, recording.make_input_calls_device_put))
    (item,) = await client.text_document_prepare_call_hierarchy_async(where) or ()
    return item


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_unrecorded_callers_follow_the_recorded_ones_and_are_marked(
    called: Recording, connect: Connect, editor: str
) -> None:
    client = await connect(called.root, editor)
    calls = await incoming(client, await make_input_of(client, called))
    assert [(call.from_.name, call.from_.detail) for call in calls] == [
        ("main", "5 calls · demo.py"),
        ("<module>", "static, never recorded"),
        ("by_module", "static, never recorded"),
        ("plainly", "static, never recorded, may call another of this name"),
        ("by_something", "static, never recorded, may call another of this name"),
    ]
    assert [where.start.line + 1 for where in calls[3].from_ranges] == [2, 3]


async def test_callers_of_a_static_caller_are_listed(called: Recording, connect: Connect) -> None:
    client = await connect(called.root)
    calls = await incoming(client, await make_input_of(client, called))
    by_module = next(call.from_ for call in calls if call.from_.name == "by_module")
    assert [call.from_.name for call in await incoming(client, by_module)] == ["leads_on"]


async def test_only_recorded_callers_are_listed_if_static_calls_are_switched_off(
    called: Recording, connect: Connect
) -> None:
    (called.root / "pyproject.toml").write_text("[tool.framedex]\neditor = { static-calls = false }\n")
    client = await connect(called.root)
    calls = await incoming(client, await make_input_of(client, called))
    assert [call.from_.detail for call in calls] == ["5 calls · demo.py"]
