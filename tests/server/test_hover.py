"""Hover: the recorded calls through a line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from lsprotocol import types

from framedex.index import Index
from framedex.texts.traces import format_trace
from tests.gitrepository import commit_all
from tests.indexer.forgotten import forget_states
from tests.server.lsp_requests import ONE_EDITOR, Connect, hover, hover_answer
from tests.server.recording import Recording, write_hostile_index, write_index

pytestmark = pytest.mark.asyncio

LATEST = "latest run that executed this file"


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_hover_shows_counts_boundaries_neighbours_and_arguments(
    recording: Recording, connect: Connect, editor: str
) -> None:
    client = await connect(recording.root, editor)
    text = await hover(client, recording.demo, recording.main_calls_both)
    assert text is not None
    lines = text.split("  \n")
    assert lines[:-1] == [
        "**framedex: 3 recorded calls**, 6 µs",
        "into `make_input` (2), `devices` (1); from `<module>` (3)",
        "→ `PJRT_Client_BufferFromHostBuffer` (2, 4 µs)",
        "→ `PJRT_Client_Devices` (1, 2 µs)",
        "with `F32[2,3] 24 B`, `S32[]`",
    ]
    assert re.fullmatch(rf"location: exact; {LATEST}, [-\d]+ [:\d]+, `python demo\.py`", lines[-1])


async def test_hover_shows_location_evidence_and_callees_without_source(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    assert "location: definition;" in (await hover(client, recording.client, recording.client_definition) or "")
    text = await hover(client, recording.library, recording.device_put_enters_cpp) or ""
    assert "into `jax::Moved` (5)" in text
    assert "past `_PyObject_Vectorcall` (5): interpreter, glue, or no source" in text


async def test_native_code_names_the_python_callers(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    text = await hover(client, recording.mock, recording.mock_allocates) or ""
    assert "from `xla::Client::BufferFromHost` (5)" in text
    assert "from Python at `library.py:4` in `device_put`" in text


async def test_hover_links_use_the_commands_allowed_by_the_client(recording: Recording, connect: Connect) -> None:
    allowed = {"framedex": {"commandLinks": ["framedex.openTrace", "framedex.showCalls"]}}
    client = await connect(recording.root, experimental=allowed)
    text = await hover(client, recording.demo, recording.main_calls_both) or ""
    targets = dict(re.findall(r"\[([a-z ]+)\]\(command:(\S+?)\)", text.split("  \n")[2]))
    name, _, argument = targets["open trace"].partition("?")
    assert name == "framedex.openTrace"
    assert json.loads(unquote(argument)) == [
        {
            "textDocument": {"uri": recording.demo.as_uri()},
            "position": {"line": recording.main_calls_both - 1, "character": 0},
            "call": 6,
        }
    ]
    assert targets["show all"].startswith("framedex.showCalls?")


async def test_unrecorded_code_has_no_hover(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    assert await hover(client, recording.demo, recording.nothing_recorded) is None
    assert await hover(client, recording.root / "other.py", 1) is None


async def test_a_client_without_markdown_gets_plain_text(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root, markdown=False)
    answer = await hover_answer(client, recording.demo, recording.main_calls_both)
    assert isinstance(answer.contents, types.MarkupContent)
    assert answer.contents.kind == types.MarkupKind.PlainText
    assert "; from <module> (3)\n→ PJRT_Client_BufferFromHostBuffer (2, 4 µs)\n" in answer.contents.value


@pytest.mark.exhaustive(keep=["utf-16-35"])
@pytest.mark.parametrize(("encoding", "end"), [("utf-8", 37), ("utf-16", 35), ("utf-32", 34)])
async def test_hover_marks_the_line_in_the_encoding_of_the_client(
    recording: Recording, connect: Connect, encoding: str, end: int
) -> None:
    client = await connect(recording.root, encodings=[encoding])
    answer = await hover_answer(client, recording.demo, recording.main_calls_make_input)
    assert answer.range == types.Range(types.Position(7, 4), types.Position(7, end))


async def test_hostile_names_stay_inside_their_code_spans(recording: Recording, connect: Connect) -> None:
    write_hostile_index(recording)
    client = await connect(recording.root)
    text = await hover(client, recording.demo, recording.main_calls_both)
    assert text is not None
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert "command:" not in outside
    assert "<img" not in outside
    assert "\u202e" not in text
    assert "\n\n" not in text


async def test_new_calls_appear_as_they_are_indexed(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    assert "3 recorded calls" in (await hover(client, recording.demo, recording.main_calls_make_input) or "")
    write_index(recording, puts=4)
    text = await hover(client, recording.demo, recording.main_calls_make_input) or ""
    assert "4 recorded calls" in text
    assert f"; {LATEST}, " in text.splitlines()[-1]


async def test_a_frame_line_of_a_trace_document_shows_symbol_module_and_source(
    recording: Recording, connect: Connect
) -> None:
    with Index.open(recording.index) as index:
        trace = index.calls.trace(1)
    assert trace is not None
    document = recording.root / "call.fdtrace"
    document.write_text(format_trace(trace))
    client = await connect(recording.root)
    assert await hover(client, document, _line_with(document, "N PJRT_Client_BufferFromHostBuffer")) == "  \n".join(
        [
            "`PJRT_Client_BufferFromHostBuffer(void const*)`",
            "in `/opt/lib/libtpu.so`",
            f"`{recording.mock}:{recording.mock_allocates}`",
            "`args->buffer = allocate(args->dims);`",
        ]
    )
    assert await hover(client, document, 1) is None


def _line_with(document: Path, text: str) -> int:
    return next(number for number, line in enumerate(document.read_text().split("\n"), 1) if text in line)


def _insert_a_line(path: Path) -> None:
    path.write_text(f"# new\n{path.read_text(encoding='utf-8')}", encoding="utf-8")


async def test_a_line_of_a_changed_file_is_not_exact(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    line = recording.main_calls_make_input
    assert f"location: exact; {LATEST}" in (await hover(client, recording.demo, line) or "")
    forget_states(recording.index)
    _insert_a_line(recording.demo)

    assert f"location: exact, file changed since; {LATEST}" in (await hover(client, recording.demo, line) or "")


async def test_a_line_mapped_by_git_shows_its_recorded_number(recording: Recording, connect: Connect) -> None:
    commit_all(recording.root)
    client = await connect(recording.root)
    line = recording.main_calls_make_input
    _insert_a_line(recording.demo)

    text = await hover(client, recording.demo, line + 1) or ""
    assert f"location: exact, moved from line {line}; {LATEST}" in text
    assert await hover(client, recording.library, recording.device_put_enters_cpp) is not None
    assert "moved" not in (await hover(client, recording.library, recording.device_put_enters_cpp) or "")
