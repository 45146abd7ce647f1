"""Go to frame: from a line to the callee that was executed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from lsprotocol import types

from framedex.index import Index
from framedex.texts.traces import format_trace
from tests.server.lsp_requests import (
    EDITORS,
    ONE_EDITOR,
    Connect,
    definition,
    definition_links,
    listed_targets,
    open_document,
    position_params,
    wait_for_settings,
)
from tests.server.recording import Recording

pytestmark = pytest.mark.asyncio

UNITS: dict[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
    "utf-32": len,
}


@pytest.mark.parametrize("editor", EDITORS)
async def test_definition_leads_to_the_line_where_the_callee_continued(
    recording: Recording, connect: Connect, editor: str
) -> None:
    client = await connect(recording.root, editor)
    assert await definition(client, recording.demo, recording.main_calls_make_input) == [("demo.py", 5)]


async def test_definition_crosses_from_python_into_cpp_over_frames_without_source(
    recording: Recording, connect: Connect
) -> None:
    client = await connect(recording.root)
    assert await definition(client, recording.library, recording.device_put_enters_cpp) == [("client.cc", 4)]


async def test_definition_continues_within_cpp(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    assert await definition(client, recording.client, recording.client_definition) == [("mock.cc", 4)]


async def test_of_several_callees_definition_leads_to_the_longest(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    assert await definition(client, recording.demo, recording.main_calls_both) == [("demo.py", 5)]
    assert await listed_targets(client, "waysIn", recording.demo, recording.main_calls_both) == [
        ("demo.py", 5),
        ("library.py", 7),
    ]


async def test_definition_leads_to_all_callees_if_set(recording: Recording, connect: Connect) -> None:
    (recording.root / "framedex.toml").write_text("[editor]\nall-places = true\n")
    client = await connect(recording.root)
    await wait_for_settings(client, recording.root)
    found = await definition(client, recording.demo, recording.main_calls_both)
    assert found == [("demo.py", 5), ("library.py", 7)]


async def test_unrecorded_or_uncalled_code_has_no_definition(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    for path, line in (
        (recording.demo, recording.nothing_recorded),
        (recording.mock, recording.mock_allocates),
    ):
        assert await client.text_document_definition_async(types.DefinitionParams(*position_params(path, line))) is None


@pytest.mark.exhaustive(keep=["utf-8", "utf-16"])
@pytest.mark.parametrize("encoding", UNITS)
async def test_ranges_use_the_encoding_of_the_client(recording: Recording, connect: Connect, encoding: str) -> None:
    client = await connect(recording.root, encodings=[encoding])
    count = UNITS[encoding]
    (link,) = await definition_links(client, recording.demo, recording.main_calls_make_input, 30)
    origin = recording.line(recording.demo, recording.main_calls_make_input)
    target = recording.line(recording.demo, recording.make_input_calls_device_put)
    assert link.origin_selection_range == types.Range(types.Position(7, 4), types.Position(7, count(origin)))
    assert link.target_selection_range == types.Range(types.Position(4, 4), types.Position(4, count(target)))
    assert link.target_range == types.Range(types.Position(2, 0), types.Position(4, count(target)))


async def test_a_client_without_links_gets_locations(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root, links=False)
    params = types.DefinitionParams(*position_params(recording.demo, recording.main_calls_make_input))
    answer = await client.text_document_definition_async(params)
    assert isinstance(answer, Sequence)
    (location,) = answer
    assert isinstance(location, types.Location)
    assert location.uri == recording.demo.as_uri()
    assert location.range.start == types.Position(4, 4)


async def test_unsaved_text_of_the_target_defines_its_columns(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    text = recording.demo.read_text(encoding="utf-8").replace("    label", "\t\tlabel")
    open_document(client, recording.demo.as_uri(), text.replace("\n", "\r\n"))
    (link,) = await definition_links(client, recording.demo, recording.main_calls_make_input)
    assert link.target_selection_range.start == types.Position(4, 2)


async def test_answers_use_the_path_by_which_the_editor_opened_the_workspace(
    tmp_path: Path, recording: Recording, connect: Connect
) -> None:
    alias = tmp_path.with_name(tmp_path.name + "-alias")
    alias.symlink_to(recording.root)
    client = await connect(alias)
    (link,) = await definition_links(client, alias / "demo.py", recording.main_calls_make_input)
    assert link.target_uri == (alias / "demo.py").as_uri()


async def test_a_document_without_a_file_has_no_recording(recording: Recording, connect: Connect) -> None:
    client = await connect(recording.root)
    open_document(client, "untitled:Untitled-1", "x = 1\n")
    assert await definition(client, "untitled:Untitled-1", 1) == []


class TestTraceDocuments:
    """A frame line of a trace document leads to its source, for clients that know no document links."""

    @pytest.fixture
    def trace(self, recording: Recording) -> Path:
        with Index.open(recording.index) as index:
            call = index.calls.trace(1)
            assert call is not None
            path = recording.root / "call-1.fdtrace"
            path.write_text(format_trace(call), encoding="utf-8")
        return path

    @staticmethod
    def line_with(trace: Path, text: str) -> int:
        return next(number for number, line in enumerate(trace.read_text().split("\n"), 1) if text in line)

    @pytest.mark.parametrize("editor", ONE_EDITOR)
    async def test_a_frame_line_leads_to_its_source(
        self, recording: Recording, connect: Connect, editor: str, trace: Path
    ) -> None:
        client = await connect(recording.root, editor)
        assert await definition(client, trace, self.line_with(trace, "P device_put")) == [("library.py", 4)]
        assert await definition(client, trace, self.line_with(trace, "N xla::Client")) == [("client.cc", 4)]

    async def test_other_lines_lead_nowhere(self, recording: Recording, connect: Connect, trace: Path) -> None:
        client = await connect(recording.root)
        for text in ("framedex trace", "thread:", "N jax::Glue"):
            assert await definition(client, trace, self.line_with(trace, text)) == []
        assert await definition(client, trace, 10_000) == []

    async def test_an_unsaved_document_is_recognised_by_its_language(
        self, recording: Recording, connect: Connect
    ) -> None:
        client = await connect(recording.root)
        text = f"  0 P main at {recording.demo}:8\r\n  1 P make_input at {recording.demo}:5\r\n"
        open_document(client, "untitled:trace", text, language="framedex-trace")
        assert await definition(client, "untitled:trace", 2) == [("demo.py", 5)]
