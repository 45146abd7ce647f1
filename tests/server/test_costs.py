"""What lines cost, on the lines: as lenses, as diagnostics, and with the stacks behind each number."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from lsprotocol import types
from pytest_lsp import LanguageClient

from framedex.index import Index, Store
from framedex.ingest import Silence, ingest_captures
from tests.running import PROGRAMS, TIMEOUT, Run, mock_environment
from tests.server.asking import Connect, ask, own, plain, settled

pytestmark = pytest.mark.asyncio

PROGRAM = PROGRAMS / "costs" / "growing_batches.py"
WITH_STACKS = {"framedex": {"commandLinks": ["framedex.showCosts"]}}


@dataclass(frozen=True)
class Project:
    """A folder with the recorded program."""

    root: Path

    @property
    def program(self) -> Path:
        return self.root / PROGRAM.name

    def line(self, case: str) -> int:
        """The line of a case as the program was recorded, 1-based."""
        lines = PROGRAM.read_text().splitlines()
        return next(number for number, text in enumerate(lines, start=1) if text.endswith(f"# case: {case}"))

    def set(self, **settings: object) -> None:
        """Write the editor's settings of the project."""
        values = ", ".join(
            f"{key} = {str(value).lower() if value is True else repr(value)}" for key, value in settings.items()
        )
        (self.root / "pyproject.toml").write_text(f"[tool.framedex]\neditor = {{ {values} }}\n")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The program, recorded twice."""
    project = Project(tmp_path_factory.mktemp("training").resolve())
    shutil.copy(PROGRAM, project.program)
    for _ in range(2):
        ran = Run.of([sys.executable, str(project.program)], project.root, mock_environment(project.root), TIMEOUT)
        assert ran.status == 0, ran.stderr
    (project.root / ".framedex").mkdir()
    with Store(project.root / ".framedex" / "index.db") as store:
        ingest_captures(store, ran.captures, [], Silence())
    return project


@pytest.fixture
def project(recorded: Project) -> Iterator[Project]:
    """The recorded program, as it was when a test is over."""
    yield recorded
    shutil.copy2(PROGRAM, recorded.program)
    (recorded.root / "pyproject.toml").unlink(missing_ok=True)


async def lenses(client: LanguageClient, path: Path) -> list[types.CodeLens]:
    return list(
        await client.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(path.as_uri())))
        or ()
    )


async def titles(client: LanguageClient, path: Path) -> dict[int, list[str]]:
    """What the lenses of a file say, by line, 1-based."""
    found: dict[int, list[str]] = {}
    for lens in await lenses(client, path):
        assert lens.command is not None
        found.setdefault(lens.range.start.line + 1, []).append(lens.command.title)
    return found


async def pulled(client: LanguageClient, path: Path) -> list[types.Diagnostic]:
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(path.as_uri()))
    report = await client.text_document_diagnostic_async(params)
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return list(report.items)


async def test_nothing_is_shown_unless_asked_for(project: Project, connect: Connect) -> None:
    client = await connect(project.root)
    await settled(client, project.root)
    assert await lenses(client, project.program) == []
    assert await pulled(client, project.program) == []


async def test_lenses_say_what_lines_cost(project: Project, connect: Connect) -> None:
    project.set(compiles="lenses", memory="lenses")
    client = await connect(project.root)
    await settled(client, project.root)
    found = await titles(client, project.program)
    print(found)
    assert await pulled(client, project.program) == []


async def test_diag(project: Project, connect: Connect) -> None:
    project.set(compiles=True, memory=True)
    client = await connect(project.root)
    await settled(client, project.root)
    print(await pulled(client, project.program))
    with Index.open(project.root / ".framedex" / "index.db") as index:
        for c in index.captures():
            print(plain(await ask(client, "costs", {"capture": c.id, "answer": "compiles"})))
            print(plain(await ask(client, "costs", {"capture": c.id, "answer": "memory"})))
    print(await own(client, "costs", project.program, project.line("runs"), answer="compiles"))
