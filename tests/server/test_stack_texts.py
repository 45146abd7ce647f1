"""Trace documents, logs and crash texts: outline, folding, tokens, links, definition, hover, selection."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from framedex.index import Index
from framedex.texts.traces import format_trace
from framedex_server.features.semantic_tokens import LEGEND
from tests.server.lsp_requests import Connect, definition, hover, open_document, wait_for_settings
from tests.server.raw_client import RawClient
from tests.server.recording import Recording, write_index

ONE_EDITOR = ["visual-studio-code", "neovim@v0.7.0", "neovim@v0.11.0", "emacs"]

UNITS: dict[str, Callable[[str], int]] = {
    "utf-8": lambda text: len(text.encode()),
    "utf-16": lambda text: len(text.encode("utf-16-le")) // 2,
    "utf-32": len,
}


@pytest.fixture
def log(recording: Recording) -> Path:
    """A crash of the recorded program: a Python traceback, absl's frames with only a symbol, and a remark."""
    path = recording.root / "crash.log"
    path.write_text(
        "🚀 a line of the log\n"
        "*** SIGSEGV received at time=1700 on cpu 0 ***\n"
        "PC: @     0x7f1bb00a8eec  (unknown)  (unknown)\n"
        "    @     0x7f1bb00a8eed        112  xla::Client::BufferFromHost()\n"
        "    @     0x7f1bb00a8eed         16  std::__invoke<>()\n"
        "    @     0x7f1bb00a8eed         16  _PyEval_EvalFrameDefault\n"
        "🚀 another line\n"
        "Traceback (most recent call last):\n"
        f'  File "{recording.demo}", line 8, in main\n'
        "    y = make_input(1)\n"
        '  File "elsewhere/library.py", line 4, in device_put\n'
        "ValueError: 🚀 no\n"
    )
    return path


@pytest.fixture
def trace(recording: Recording) -> Path:
    """The trace document of the first call."""
    with Index.open(recording.index) as index:
        call = index.calls.trace(1)
    assert call is not None
    path = recording.root / "call-1.fdtrace"
    path.write_text(format_trace(call), encoding="utf-8")
    return path


def document(path: Path) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(path.as_uri())


def line_with(path: Path, text: str) -> int:
    """The 1-based line with a text."""
    return next(number for number, line in enumerate(path.read_text().split("\n"), 1) if text in line)


@pytest.mark.asyncio
class TestDefinitionAndHover:
    @pytest.mark.parametrize("editor", ONE_EDITOR)
    async def test_every_frame_line_of_a_log_leads_to_its_source(
        self, recording: Recording, connect: Connect, log: Path, editor: str
    ) -> None:
        client = await connect(recording.root, editor, links=editor != "emacs")
        assert await definition(client, log, line_with(log, "in main")) == [("demo.py", 8)]

    async def test_a_symbol_alone_leads_to_its_definition(
        self, recording: Recording, connect: Connect, log: Path
    ) -> None:
        client = await connect(recording.root)
        assert await definition(client, log, line_with(log, "BufferFromHost")) == [("client.cc", 4)]
        assert "[definition]" in (await hover(client, log, line_with(log, "BufferFromHost")) or "")

    async def test_the_call_hierarchy_begins_at_a_frame_with_a_shortened_name(
        self, recording: Recording, connect: Connect, log: Path
    ) -> None:
        """For absl's `f()` without its parameters, the hierarchy begins at the recorded function."""
        client = await connect(recording.root)
        where = types.Position(line_with(log, "xla::Client::BufferFromHost()") - 1, 40)
        params = types.CallHierarchyPrepareParams(document(log), where)
        (item,) = await client.text_document_prepare_call_hierarchy_async(params) or ()
        assert item.name == "xla::Client::BufferFromHost"

    async def test_a_foreign_path_is_found_by_its_name_if_nothing_else_is_known(
        self, recording: Recording, connect: Connect
    ) -> None:
        client = await connect(recording.root)
        open_document(client, "untitled:spy", 'Thread 1 (idle): "Main"\n    device_put (library.py:4)\n', "log")
        assert await definition(client, "untitled:spy", 2) == [("library.py", 4)]

    async def test_a_location_that_the_file_contradicts_is_marked(self, recording: Recording, connect: Connect) -> None:
        client = await connect(recording.root)
        text = f'Traceback (most recent call last):\n  File "{recording.demo}", line 8, in nobody\nValueError: no\n'
        open_document(client, "untitled:doubt", text, "log")
        assert "[doubtful]" in (await hover(client, "untitled:doubt", 2) or "")
        behind = text.replace("line 8", "line 4000")
        open_document(client, "untitled:behind", behind, "log")
        lines = recording.demo.read_text().count("\n")
        assert await definition(client, "untitled:behind", 2) == [("demo.py", lines)]
        assert "was line 4000, edited since" in (await hover(client, "untitled:behind", 2) or "")

    async def test_a_frame_without_source_says_so(self, recording: Recording, connect: Connect, log: Path) -> None:
        client = await connect(recording.root)
        line = line_with(log, "elsewhere")
        assert await definition(client, log, line) == []
        assert "file not on this machine" in (await hover(client, log, line) or "")

    async def test_other_lines_and_sources_have_no_answers(
        self, recording: Recording, connect: Connect, log: Path
    ) -> None:
        client = await connect(recording.root)
        assert await definition(client, log, 1) == []
        source = recording.root / "notes.py"
        source.write_text(log.read_text())
        for language in ("python", "cpp", "markdown"):
            open_document(client, source.as_uri(), log.read_text(), language)
            assert await definition(client, source, line_with(log, "in main")) == []
            assert not await client.text_document_document_symbol_async(types.DocumentSymbolParams(document(source)))

    async def test_without_an_index_paths_are_still_links(self, tmp_path: Path, connect: Connect) -> None:
        source = tmp_path / "a.py"
        source.write_text("x = 1\n")
        log = tmp_path / "a.log"
        log.write_text(f'  File "{source}", line 1, in f\n')
        client = await connect(tmp_path)
        assert await definition(client, log, 1) == [("a.py", 1)]


@pytest.mark.asyncio
class TestOutline:
    async def symbols(self, client: LanguageClient, path: Path) -> Sequence[Any]:
        return await client.text_document_document_symbol_async(types.DocumentSymbolParams(document(path))) or ()

    async def test_document_symbols_of_stacks_contain_frames(
        self, recording: Recording, connect: Connect, log: Path
    ) -> None:
        client = await connect(recording.root)
        failure, python = cast("Sequence[types.DocumentSymbol]", await self.symbols(client, log))
        assert (failure.name, python.name) == ("*** SIGSEGV received at time=1700 on cpu 0 ***", "ValueError: 🚀 no")
        assert [frame.name for frame in python.children or ()] == ["main", "device_put"]
        assert (python.range.start.line, python.range.end.line) == (7, 11)
        for stack in (failure, python):
            assert stack.range.start <= stack.selection_range.start <= stack.selection_range.end <= stack.range.end
            assert all(stack.range.start <= frame.range.start for frame in stack.children or ())

    async def test_a_client_without_trees_gets_a_list(self, recording: Recording, connect: Connect, log: Path) -> None:
        client = await connect(recording.root, "emacs")
        flat = await self.symbols(client, log)
        if flat and isinstance(flat[0], types.SymbolInformation):
            assert [each.name for each in flat][-2:] == ["main", "device_put"]

    async def test_a_trace_document_is_named_after_its_call(
        self, recording: Recording, connect: Connect, trace: Path
    ) -> None:
        client = await connect(recording.root)
        (call,) = cast("Sequence[types.DocumentSymbol]", await self.symbols(client, trace))
        assert call.name.startswith("call 1: PJRT_Client_BufferFromHostBuffer")
        assert [frame.name for frame in call.children or ()][:3] == ["<module>", "main", "make_input"]


@pytest.mark.asyncio
class TestTheRest:
    async def test_stacks_and_runs_of_glue_fold(self, recording: Recording, connect: Connect, log: Path) -> None:
        client = await connect(recording.root)
        ranges = await client.text_document_folding_range_async(types.FoldingRangeParams(document(log))) or ()
        assert [(each.start_line, each.end_line) for each in ranges] == [(1, 5), (7, 11), (4, 5)]
        assert ranges[-1].collapsed_text == "… 2 glue or interpreter frames"

    async def test_recorded_glue_folds_despite_its_name(
        self, recording: Recording, connect: Connect, trace: Path
    ) -> None:
        with closing(sqlite3.connect(recording.index)) as database, database:
            names = ("jax::Moved", "xla::Client::BufferFromHost")
            database.execute("UPDATE functions SET role = 'glue' WHERE name IN (?, ?)", names)
        client = await connect(recording.root)
        ranges = await client.text_document_folding_range_async(types.FoldingRangeParams(document(trace))) or ()
        first, last = (line_with(trace, f" N {name} at /") - 1 for name in names)
        assert (first, last) in [(each.start_line, each.end_line) for each in ranges if each.kind == "framedex.glue"]

    async def test_folding_glue_can_be_switched_off(self, recording: Recording, connect: Connect, log: Path) -> None:
        (recording.root / "framedex.toml").write_text("[editor]\nfold-glue = false\n")
        client = await connect(recording.root)
        await wait_for_settings(client, recording.root)
        ranges = await client.text_document_folding_range_async(types.FoldingRangeParams(document(log))) or ()
        assert [(each.start_line, each.end_line) for each in ranges] == [(1, 5), (7, 11)]

    @pytest.mark.exhaustive(keep=["utf-16"])
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
    async def test_semantic_tokens_are_functions_paths_and_numbers(
        self, recording: Recording, connect: Connect, encoding: str
    ) -> None:
        client = await connect(recording.root, encodings=[encoding])
        text = f'🚀 File "{recording.demo}", line 8, in main\n'
        open_document(client, "untitled:log", text, "log")
        params = types.SemanticTokensParams(types.TextDocumentIdentifier("untitled:log"))
        tokens = await client.text_document_semantic_tokens_full_async(params)
        assert tokens is not None
        expected: list[int] = []
        before = 0
        for piece, after, kind in (
            (str(recording.demo), '"', "string"),
            ("8", "line ", "number"),
            ("main", "in ", "function"),
        ):
            start = UNITS[encoding](text[: text.index(after + piece) + len(after)])
            expected += [0, start - before, len(piece), LEGEND.token_types.index(kind), 0]
            before = start
        assert list(tokens.data) == expected

    async def test_tokens_of_a_range_are_those_of_its_lines(
        self, recording: Recording, connect: Connect, log: Path
    ) -> None:
        client = await connect(recording.root)
        where = types.Range(types.Position(8, 0), types.Position(8, 80))
        tokens = await client.text_document_semantic_tokens_range_async(
            types.SemanticTokensRangeParams(document(log), where)
        )
        assert tokens is not None
        assert tokens.data[0] == 8
        assert len(tokens.data) == 15

    async def test_document_links_lead_to_lines(self, recording: Recording, connect: Connect, log: Path) -> None:
        client = await connect(recording.root)
        links = await client.text_document_document_link_async(types.DocumentLinkParams(document(log))) or ()
        found = {link.range.start.line + 1: link.target for link in links}
        assert found == {
            line_with(log, "BufferFromHost"): f"{recording.client.as_uri()}#L4",
            line_with(log, "in main"): f"{recording.demo.as_uri()}#L8",
        }

    async def test_a_missing_file_links_to_its_public_source_without_opening(
        self, recording: Recording, connect: Connect
    ) -> None:
        (recording.root / "framedex.toml").write_text(
            '[links]\n"/build/machine" = "https://git.example.org/{path}?line={line}"\n'
        )
        log = recording.root / "crash.log"
        log.write_text("#0 0x4 in f() /build/machine/a.cc:3:1\n")
        client = await connect(recording.root)
        await wait_for_settings(client, recording.root)
        (link,) = await client.text_document_document_link_async(types.DocumentLinkParams(document(log))) or ()
        assert link.target == "https://git.example.org/a.cc?line=3"
        assert await definition(client, log, 1) == []
        assert "https://git.example.org/a.cc?line=3" in (await hover(client, log, 1) or "")

    async def test_the_selection_expands_from_a_word_to_the_document(
        self, recording: Recording, connect: Connect, log: Path
    ) -> None:
        client = await connect(recording.root)
        line = log.read_text().split("\n")[8]
        position = types.Position(8, line.index("demo.py"))
        params = types.SelectionRangeParams(document(log), [position])
        (selection,) = await client.text_document_selection_range_async(params) or ()
        texts = []
        around: types.SelectionRange | None = selection
        while around is not None:
            texts.append((around.range.start.line, around.range.end.line, around.range.start.character))
            around = around.parent
        assert texts == [(8, 8, line.index("/")), (8, 8, 2), (7, 11, 0), (0, 12, 0)]

    async def test_a_changed_text_is_parsed_again(self, recording: Recording, connect: Connect) -> None:
        client = await connect(recording.root)
        open_document(client, "untitled:log", "nothing yet\n", "log")
        assert await definition(client, "untitled:log", 2) == []
        change = types.TextDocumentContentChangeWholeDocument(f'nothing yet\n  File "{recording.demo}", line 8, in f\n')
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(2, "untitled:log"), [change])
        )
        assert await definition(client, "untitled:log", 2) == [("demo.py", 8)]


class TestVirtualDocuments:
    def test_a_client_can_request_the_text_of_a_call(self, recording: Recording) -> None:
        with RawClient() as client:
            reply = client.initialize(recording.root)["result"]
            assert reply["capabilities"]["workspace"]["textDocumentContent"]["schemes"] == ["framedex-trace"]
            given = client.request("framedex/traceDocument", {"call": 1}, 1)["result"]
            assert given["languageId"] == "framedex-trace"
            assert given["text"].startswith("framedex trace, format 1\ncall 1: ")
            content = client.request("workspace/textDocumentContent", {"uri": given["uri"]}, 2)["result"]
            assert content["text"] == given["text"]

    def test_an_unknown_document_is_null(self, recording: Recording) -> None:
        with RawClient() as client:
            client.initialize(recording.root)
            for number, params in enumerate(({"call": 999}, {"stack": 999}, {"call": 1, "capture": 7}), 1):
                assert client.request("framedex/traceDocument", params, number)["result"] is None, params

    def test_other_uris_are_refused(self, recording: Recording) -> None:
        uris = ("framedex-trace:/x/call-999.fdtrace", "framedex-trace:/x/y", "file:///x", "")
        with RawClient() as client:
            client.initialize(recording.root)
            for number, uri in enumerate(uris, 1):
                reply = client.request("workspace/textDocumentContent", {"uri": uri}, number)
                assert reply["error"]["code"] == -32602, uri

    def test_a_library_folder_outside_the_project_uses_the_project_index(
        self, recording: Recording, tmp_path: Path
    ) -> None:
        """A URI made by `framedex/traceDocument` for a position in a library leads to that trace."""
        with RawClient() as client:
            client.initialize(recording.root)
            content = client.request(
                "workspace/textDocumentContent", {"uri": f"framedex-trace:{tmp_path}/call-1.fdtrace"}, 1
            )["result"]
            assert content["text"].startswith("framedex trace, format 1\ncall 1: ")

    def test_a_folder_of_another_project_uses_its_own_index(
        self, recording: Recording, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        other = tmp_path_factory.mktemp("other")
        write_index(Recording(other, other / ".framedex" / "index.db"), puts=8)
        with RawClient() as client:
            client.initialize(recording.root)
            texts = [
                client.request(
                    "workspace/textDocumentContent", {"uri": f"framedex-trace:{folder}/call-8.fdtrace"}, number
                ).get("result", {"text": "none"})["text"]
                for number, folder in enumerate((other, recording.root), 1)
            ]
        assert texts[0].startswith("framedex trace, format 1\ncall 8: ")
        assert texts[1] == "none"

    def test_a_named_index_answers_for_every_folder(
        self, recording: Recording, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        other = tmp_path_factory.mktemp("other")
        write_index(Recording(other, other / ".framedex" / "index.db"), puts=8)
        with RawClient("--index", str(recording.index)) as client:
            client.initialize(recording.root)
            uri = f"framedex-trace:{other}/call-8.fdtrace"
            assert (
                "The index has no call 8"
                in client.request("workspace/textDocumentContent", {"uri": uri}, 1)["error"]["message"]
            )

    def test_a_folder_that_does_not_exist_has_no_traces(self, recording: Recording, tmp_path: Path) -> None:
        with RawClient() as client:
            client.initialize(recording.root)
            uri = f"framedex-trace:{tmp_path}/nope/call-1.fdtrace"
            error = client.request("workspace/textDocumentContent", {"uri": uri}, 1)["error"]
            assert error["code"] == -32602
            assert f"The folder {tmp_path}/nope does not exist" in error["message"]
