"""Costs on their lines: as lenses, as diagnostics, and with the stacks behind each number."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient

from framedex.index import Index
from framedex_server.answers.costs import COST_KINDS, query_rows, query_rows_by_path
from framedex_server.features.line_marks import fit_columns
from tests.gitrepository import commit_all
from tests.indexer.forgotten import forget_states
from tests.indexer.unplaced import index_without_sources
from tests.running import PROGRAMS, TIMEOUT, Run, mock_environment
from tests.server.lsp_requests import (
    ONE_EDITOR,
    Connect,
    framedex_request,
    open_document,
    send_request,
    to_json,
    wait_for_settings,
)
from tests.server.raw_client import RawClient

pytestmark = pytest.mark.asyncio

PROGRAM = PROGRAMS / "costs" / "growing_batches.py"
COMPILED = r"compiled 6 times, [\d.]+ m?s: shape of x, float32\[128\.\.768\]"
MOVED = r"implicit transfer, 13\.5 KiB, 12 times: host to device, operand of a call"
KEPT = r"holds 10\.5 KiB at the peak, leaks 1\.75 KiB a step"

SLOW = """\
import time
import jax
import numpy as np

def asleep(x):
    time.sleep(0.05)
    return np.asarray(x)

@jax.jit
def slow(x):
    return jax.pure_callback(asleep, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

for _ in range(4):
    result = slow(np.float32(1))
    result.block_until_ready()
"""


@dataclass(frozen=True)
class Project:
    """A folder with the recorded program."""

    root: Path

    @property
    def program(self) -> Path:
        return self.root / PROGRAM.name

    @property
    def index(self) -> Path:
        return self.root / ".framedex" / "index.db"

    def line(self, case: str) -> int:
        """The 1-based line of a case in the recorded program."""
        lines = PROGRAM.read_text().splitlines()
        return next(number for number, text in enumerate(lines, start=1) if text.endswith(f"# case: {case}"))

    def set(self, **settings: bool | int | str) -> None:
        """Write the editor's settings of the project."""
        values = ", ".join(f"{key.replace('_', '-')} = {json.dumps(value)}" for key, value in settings.items())
        (self.root / "pyproject.toml").write_text(f"[tool.framedex]\neditor = {{ {values} }}\n")

    def record(self) -> None:
        """Run the program, and index its recording."""
        folder = self.root / "recorded"
        folder.mkdir(exist_ok=True)
        ran = Run.of([sys.executable, str(self.program)], folder, mock_environment(folder), TIMEOUT)
        assert ran.status == 0, ran.stderr
        self.index.parent.mkdir(exist_ok=True)
        index_without_sources(self.index, *ran.captures)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The program, recorded twice."""
    project = Project(tmp_path_factory.mktemp("training").resolve())
    shutil.copy(PROGRAM, project.program)
    for _ in range(2):
        project.record()
    return project


@pytest.fixture
def project(tmp_path: Path, recorded: Project) -> Iterator[Project]:
    """The recorded program, restored after each test."""
    shutil.copytree(recorded.root, tmp_path / "before")
    yield recorded
    shutil.rmtree(recorded.root)
    shutil.copytree(tmp_path / "before", recorded.root)


async def lenses(client: LanguageClient, path: Path) -> list[types.CodeLens]:
    params = types.CodeLensParams(types.TextDocumentIdentifier(path.as_uri()))
    return list(await client.text_document_code_lens_async(params) or ())


async def titles(client: LanguageClient, path: Path, counted: str = "latest run") -> dict[int, list[str]]:
    """The lens texts of a file by 1-based line, without the capture count at the end of a line's last one."""
    found: dict[int, list[str]] = {}
    for lens in await lenses(client, path):
        assert lens.command is not None
        found.setdefault(lens.range.start.line + 1, []).append(lens.command.title)
    for texts in found.values():
        assert len(" | ".join(texts)) <= 100
        assert [text.endswith(f" · {counted}") for text in texts] == [*([False] * (len(texts) - 1)), True]
        texts[-1] = texts[-1].removesuffix(f" · {counted}")
    return found


async def pulled(client: LanguageClient, path: Path) -> list[types.Diagnostic]:
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(path.as_uri()))
    report = await client.text_document_diagnostic_async(params)
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return list(report.items)


async def connected(project: Project, connect: Connect, *more: Any, **others: Any) -> LanguageClient:
    client = await connect(project.root, *more, **others)
    await wait_for_settings(client, project.root)
    return client


async def costs(client: LanguageClient, **params: object) -> Any:
    return to_json(await send_request(client, "costs", params))


async def test_by_default_only_a_recompiling_line_has_a_lens(project: Project, connect: Connect) -> None:
    client = await connected(project, connect)
    ((line, (title,)),) = (await titles(client, project.program)).items()
    assert line == project.line("runs") and re.fullmatch(COMPILED, title)
    assert await pulled(client, project.program) == []


async def test_no_cost_lens_is_shown_if_switched_off(project: Project, connect: Connect) -> None:
    project.set(compiles=False, transfers=False, memory=False, waits=False)
    client = await connected(project, connect)
    assert await lenses(client, project.program) == []


async def test_recorded_lines_are_listed_for_gutter_marks(project: Project, connect: Connect) -> None:
    client = await connected(project, connect)
    document = {"uri": project.program.as_uri()}
    found = to_json(await send_request(client, "recordedLines", {"textDocument": document}))
    lines = {each["line"] + 1: each for each in found["lines"]}
    assert {project.line(case) for case in ("runs", "first way", "keeps", "second way")} <= lines.keys()
    assert all(each["calls"] > 0 for each in lines.values())
    assert found["unshown"] >= 2
    library = {"uri": Path(json.__file__).as_uri()}
    assert await send_request(client, "recordedLines", {"textDocument": library}) is None
    with pytest.raises(JsonRpcException):
        await send_request(client, "recordedLines", {})


async def test_the_lenses_of_a_line_share_100_columns() -> None:
    long = "implicit transfer, 13.5 KiB, 12 times: host to device, operand of a call"
    assert fit_columns([long]) == [long]
    for texts in ([long, long], [long, "waited 1.2 s", long], ["x" * 300], [long] * 4):
        cut = fit_columns(texts)
        assert len(" | ".join(cut)) <= 100
    assert fit_columns(["short", long, long])[0] == "short"
    assert fit_columns([long, long])[0] == "implicit transfer, 13.5 KiB, 12 times: host to…"


@pytest.mark.parametrize("editor", ONE_EDITOR)
async def test_lenses_show_line_costs(project: Project, connect: Connect, editor: str) -> None:
    project.set(compiles="lenses", transfers="lenses", memory="lenses")
    client = await connected(project, connect, editor)
    found = await titles(client, project.program)
    compiled, moved, held = found[project.line("runs")]
    assert compiled.startswith("compiled 6 times, ")
    assert moved.startswith("implicit transfer, 13.5")
    assert held.startswith("holds ")
    moved, held = found[project.line("keeps")]
    assert moved.startswith("transfer, 10.5 KiB, 6 times: host to")
    assert held.startswith("holds 10.5 KiB at the peak")
    compiled, moved, _ = found[project.line("second way")]
    assert compiled.startswith("compiled 2 times, 2")
    assert moved.startswith("implicit transfer, 48 B, 12")
    assert await pulled(client, project.program) == []


async def test_a_waiting_line_names_the_cause(tmp_path: Path, connect: Connect) -> None:
    project = Project(tmp_path.resolve())
    project.program.write_text(SLOW)
    project.record()
    project.set(waits=True, compiles=False, transfers=False, memory=False)
    client = await connected(project, connect)
    line = len(SLOW.splitlines())
    (title,) = (await titles(client, project.program))[line]
    assert re.fullmatch(r"waited [\d.]+ m?s, 4 times: result", title)
    (hint,) = [each for each in await pulled(client, project.program) if each.range.start.line + 1 == line]
    assert hint.code == "waits"
    assert hint.message.split("\n")[1].startswith("result, thread main: 4 times, ")


async def test_each_cost_has_its_own_setting(project: Project, connect: Connect) -> None:
    project.set(memory="lenses", compiles="diagnostics", transfers=False, waits=False)
    client = await connected(project, connect)
    found = await titles(client, project.program)
    (held,) = found[project.line("keeps")]
    assert re.fullmatch(KEPT, held)
    assert all(text.startswith("holds ") for texts in found.values() for text in texts)
    assert {each.code for each in await pulled(client, project.program)} == {"compiles"}


async def test_a_single_cost_on_a_line_is_shown_in_full(project: Project, connect: Connect) -> None:
    project.set(compiles=False, transfers="lenses", memory=False, waits=False)
    client = await connected(project, connect)
    found = await titles(client, project.program)
    (moved,) = found[project.line("runs")]
    assert re.fullmatch(MOVED, moved)
    assert found[project.line("keeps")] == ["transfer, 10.5 KiB, 6 times: host to device, device_put"]
    (both,) = found[project.line("second way")]
    assert both == "implicit transfer, 48 B, 12 times: host to device and device to host, indexing and…"


async def test_diagnostics_are_on_expensive_lines(project: Project, connect: Connect) -> None:
    project.set(compiles="diagnostics", transfers="diagnostics", memory="diagnostics")
    client = await connected(project, connect)
    assert await lenses(client, project.program) == []
    found = {(each.range.start.line + 1, each.code): each for each in await pulled(client, project.program)}
    assert {each.source for each in found.values()} == {"framedex"}
    assert {each.severity for each in found.values()} == {types.DiagnosticSeverity.Information}
    again, why = found[project.line("runs"), "compiles"].message.split("\n")
    assert re.fullmatch(COMPILED, again)
    assert why == "update: x was float32[128], [256], [384], [512], [640], [768]; pad or bucket dimension 0"
    assert (project.line("runs"), "transfers") in found
    grown = found[project.line("keeps"), "memory"].message.split("\n")
    assert "device 0: each of 6 iterations leaves 1.75 KiB on average: a leak, unless the program needs them" in grown
    # Explicit transfers and single compilations are not highlighted.
    assert (project.line("keeps"), "transfers") not in found
    assert (project.line("second way"), "compiles") not in found


async def test_the_limit_counts_displayed_lenses(project: Project, connect: Connect) -> None:
    """With a cost on an earlier line that no default lens shows, the first notable line has its lens."""
    program = project.program.read_text()
    head, _, rest = program.partition("import jax\n")
    project.program.write_text(f"{head}import jax\nonce = jax.numpy.zeros(7) + 1\n{rest}")
    project.record()
    project.set(limit=1)
    client = await connected(project, connect)
    (line,) = await titles(client, project.program)
    assert line == project.line("runs") + 1


async def test_each_cost_has_its_own_severity(project: Project, connect: Connect) -> None:
    project.set(compiles=True, transfers=True, memory=True, compiles_severity="warning", transfers_severity="off")
    client = await connected(project, connect)
    found = {each.code: each.severity for each in await pulled(client, project.program)}
    assert found == {
        "compiles": types.DiagnosticSeverity.Warning,
        "memory": types.DiagnosticSeverity.Information,
    }


async def test_a_diagnostic_offers_its_stacks_and_the_previous_run(project: Project, connect: Connect) -> None:
    """With two runs, the actions on a recompile show its shapes, and compare."""
    project.set(compiles=True)
    project.record()
    with RawClient() as client:
        client.initialize(
            project.root, capabilities={"experimental": {"framedex": {"commandLinks": ["framedex.openHowTo"]}}}
        )
        uri = {"textDocument": {"uri": project.program.as_uri()}}
        report = client.request("textDocument/diagnostic", uri, "pull")["result"]
        (diagnostic,) = [each for each in report["items"] if each["code"] == "compiles"]
        about = {**uri, "range": diagnostic["range"], "context": {"diagnostics": [diagnostic], "triggerKind": 2}}
        shown, compared, explained = client.request("textDocument/codeAction", about, "actions")["result"]
        other = {**diagnostic, "source": "another"}
        about["context"] = {"diagnostics": [other], "triggerKind": 2}
        assert client.request("textDocument/codeAction", about, "others")["result"] is None
        assert (shown["title"], shown["command"]["command"]) == ("Show the shapes that differ", "framedex.openTrace")
        assert (compared["title"], compared["kind"]) == ("Compare with the run before", "quickfix")
        assert explained["title"] == "Open the how-to: recompiles"
        assert explained["command"]["arguments"] == [{"page": "recompiles"}]
        (arguments,) = compared["command"]["arguments"]
        assert (arguments["before"], arguments["after"]) == (2, 3)
        asked = {"command": compared["command"]["command"], "arguments": [arguments]}
        text = client.request("workspace/executeCommand", asked, "compare")["result"]["text"]
        assert "before → after" in text


async def test_a_client_without_pull_diagnostics_gets_them_until_switched_off(
    project: Project, connect: Connect
) -> None:
    project.set(compiles="diagnostics")
    client = await connected(project, connect, "neovim@v0.7.0")
    uri = project.program.as_uri()
    open_document(client, uri, project.program.read_text())
    await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert [each.code for each in client.diagnostics[uri]] == ["compiles"]
    project.set(compiles=False)
    changed = types.FileEvent((project.root / "pyproject.toml").as_uri(), types.FileChangeType.Changed)
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
    while client.diagnostics[uri]:
        await client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)


async def test_a_lens_opens_the_stacks_behind_its_number(project: Project, connect: Connect) -> None:
    project.set(compiles=False, transfers="lenses", memory=False)
    allowed = {"framedex": {"commandLinks": ["framedex.showCosts"]}}
    client = await connected(project, connect, experimental=allowed)
    (moved,) = [
        lens.command
        for lens in await lenses(client, project.program)
        if lens.command and re.match(MOVED, lens.command.title)
    ]
    assert moved.command == "framedex.showCosts" and moved.arguments is not None
    (about,) = to_json(moved.arguments)
    assert about["answer"] == "transfers"
    (line,) = (await costs(client, **about))["lines"]
    ways = [stack["outward"][0] for stack in line["stacks"]]
    assert ways == [
        {"function": "train", "place": f"{project.program}:{project.line(way)}"} for way in ("second way", "first way")
    ]
    assert [stack["text"].partition(": ")[2] for stack in line["stacks"]] == [
        "implicit transfer, 3 KiB, 6 times: host to device, operand of a call",
        "implicit transfer, 10.5 KiB, 6 times: host to device, operand of a call",
    ]
    with Index.open(project.index) as index:
        for stack in line["stacks"]:
            trace = index.calls.trace(stack["call"])
            assert trace is not None and trace.call.function == "PJRT_Client_BufferFromHostBuffer"


async def test_without_client_command_a_lens_opens_the_trace_of_the_latest_call(
    project: Project, connect: Connect
) -> None:
    project.set(compiles="lenses")
    client = await connected(project, connect)
    lens = next(
        lens for lens in await lenses(client, project.program) if lens.range.start.line + 1 == project.line("runs")
    )
    assert lens.command is not None and lens.command.command == "framedex.openTrace"
    params = types.ExecuteCommandParams(lens.command.command, lens.command.arguments)
    uri = await client.workspace_execute_command_async(params)
    assert isinstance(uri, str)
    assert "PJRT_Client_Compile" in Path(uri.removeprefix("file://")).read_text()


async def test_numbers_belong_to_the_latest_run_or_the_selected_capture(project: Project, connect: Connect) -> None:
    """Of two runs, the later of which compiles half as often, selecting the first shows its numbers."""
    sizes = "(128, 256, 384, 512, 640, 768)"
    text = project.program.read_text()
    assert sizes in text
    project.program.write_text(text.replace(sizes, "(128, 256, 384)"))
    project.record()
    project.set(compiles="lenses")
    client = await connected(project, connect)
    line = project.line("runs")
    assert (await titles(client, project.program))[line][0].startswith("compiled 3 times, ")
    await send_request(client, "selectCapture", {"capture": 1})
    assert (await titles(client, project.program, "capture 1"))[line][0].startswith("compiled 6 times, ")
    await send_request(client, "selectCapture", {"capture": None})
    assert (await titles(client, project.program))[line][0].startswith("compiled 3 times, ")


async def test_where_all_captures_count_the_lens_says_so(project: Project, connect: Connect) -> None:
    (project.root / "framedex.toml").write_text('captures = "all"\n')
    client = await connected(project, connect)
    (title,) = (await titles(client, project.program, "all captures"))[project.line("runs")]
    assert title.startswith("compiled 12 times, ")


async def test_unsaved_edits_move_lenses(project: Project, connect: Connect) -> None:
    project.set(compiles=True)
    client = await connected(project, connect)
    open_document(client, project.program.as_uri(), "# new\n# new\n" + project.program.read_text())
    line = project.line("runs") + 2
    assert re.fullmatch(COMPILED, (await titles(client, project.program))[line][0])
    assert [each.range.start.line + 1 for each in await pulled(client, project.program)] == [line]


async def test_an_edited_line_has_no_lens(project: Project, connect: Connect) -> None:
    project.set(compiles=True)
    client = await connected(project, connect)
    edited = project.program.read_text().replace("return update(batch)  # case: runs", "return update(2 * batch)")
    open_document(client, project.program.as_uri(), edited)
    assert list(await titles(client, project.program)) == [project.line("second way")]
    assert await pulled(client, project.program) == []


async def test_lenses_follow_lines_mapped_by_git_while_the_server_runs(project: Project, connect: Connect) -> None:
    commit_all(project.root)
    project.set(compiles=True)
    client = await connected(project, connect)
    line = project.line("runs")
    assert line in await titles(client, project.program)
    project.program.write_text(f"# new\n{PROGRAM.read_text()}")
    assert re.fullmatch(COMPILED, (await titles(client, project.program))[line + 1][0])


async def test_numbers_of_an_untraceable_file_say_so(project: Project, connect: Connect) -> None:
    project.set(compiles=True)
    forget_states(project.root / ".framedex" / "index.db")
    project.program.write_text(f"# new\n{PROGRAM.read_text()}")
    client = await connected(project, connect)
    (title,) = (await titles(client, project.program))[project.line("runs")]
    assert re.fullmatch(COMPILED + r" \[file changed since\]", title)


async def test_the_costs_of_a_capture_are_listed_by_line(project: Project, connect: Connect) -> None:
    client = await connected(project, connect)
    found = await costs(client, folder=str(project.root), capture=1, answer="compiles")
    assert re.fullmatch(r"8 compiles, [\d.]+ m?s", found["text"])
    assert [each["location"]["range"]["start"]["line"] + 1 for each in found["lines"]] == [
        project.line("runs"),
        project.line("second way"),
    ]
    first = found["lines"][0]
    assert first["place"] == f"{project.program}:{project.line('runs')}"
    assert first["function"] == "run_on"
    (stack,) = first["stacks"]
    outward = [each for each in stack["outward"] if each["place"].startswith(f"{project.program}:")]
    assert outward == [
        {"function": "train", "place": f"{project.program}:{project.line('first way')}"},
        {"function": "<module>", "place": f"{project.program}:27"},
    ]
    less = await costs(client, capture=1, answer="compiles", limit=1)
    assert (less["lines"], less["more"]) == ([first], 1)
    assert (await costs(client, capture=1, answer="transfers"))["text"] == "30 transfers, 24 of them implicit, 24 KiB"
    assert (await costs(client, capture=2, answer="memory"))["text"] == "peak 17.5 KiB"


async def test_a_line_without_costs_and_an_unknown_capture_have_no_stacks(project: Project, connect: Connect) -> None:
    client = await connected(project, connect)
    nothing = {"text": "", "lines": [], "more": 0}
    assert await framedex_request(client, "costs", project.program, 1, answer="compiles") == nothing
    assert await framedex_request(client, "costs", project.root / "other.py", 1, answer="memory") == nothing
    assert await costs(client, capture=99, answer="compiles") is None


async def test_a_malformed_request_is_refused(recorded: Project, connect: Connect) -> None:
    client = await connected(recorded, connect)
    wrong: list[dict[str, Any]] = [
        {"capture": 1},
        {"capture": 1, "answer": "nothing"},
        {"capture": 1, "answer": ["compiles"]},
        {"answer": "compiles"},
        {"answer": "compiles", "capture": "1"},
        {"answer": "compiles", "capture": 1, "limit": "all"},
        {"answer": "compiles", "position": {"line": -1}, "textDocument": {"uri": "file:///a.py"}},
    ]
    for params in wrong:
        with pytest.raises(JsonRpcException):
            await send_request(client, "costs", params)


async def test_the_stacks_to_lines_are_listed_by_line_latest_first(recorded: Project) -> None:
    answer = COST_KINDS["transfers"]
    with Index.open(recorded.index) as index:
        rows = query_rows(index, answer, [1, 2])
        found = query_rows_by_path(index, answer, [1, 2], rows)
        every_way = query_rows(index, answer, [1, 2], all_lines=True)
    assert len(found) > 1 and found.keys() == {row.line for row in rows}
    for line, ways in found.items():
        framedex_request = [way for way in every_way if way.line == line]
        assert ways == sorted(framedex_request, key=lambda way: -way.latest_call)
