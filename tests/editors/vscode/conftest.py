"""A real VS Code for the tests of its extension; `make test-editors` sets up what it needs."""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.editors.vscode.code_server import EDITORS, CodeServer
from tests.editors.vscode.project import Project, make_project, path_with

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.editors.vscode.workbench import Scheme, Workbench

IS_SET_UP = (EDITORS / "set-up").is_file() and importlib.util.find_spec("playwright") is not None
FAILURES = EDITORS / "failures"
"""A folder for each test that failed in this session: pictures of its windows, and the logs of the editor."""

collect_ignore_glob = [] if IS_SET_UP else ["test_*.py"]

OPEN = pytest.StashKey[list["Workbench"]]()


def pytest_sessionstart() -> None:
    shutil.rmtree(FAILURES, ignore_errors=True)


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The recorded demo. Tests leave it as it is."""
    return make_project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="session")
def code_server(tmp_path_factory: pytest.TempPathFactory, project: Project) -> Iterator[CodeServer]:
    """VS Code with the packaged extension, which finds `framedex` on its PATH."""
    root = tmp_path_factory.mktemp("code-server")
    with CodeServer(root, path=path_with(project.framedex)) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; closed with each module, as a process can have one Playwright at a time."""
    from tests.editors.vscode.workbench import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture
def new_window(
    request: pytest.FixtureRequest, code_server: CodeServer, browser: Browser
) -> Iterator[Callable[..., Workbench]]:
    """Makes windows on a folder (and for a colour scheme), not loaded yet. They are closed after the test."""
    from tests.editors.vscode.workbench import Workbench

    opened: list[Workbench] = request.node.stash.setdefault(OPEN, [])

    def new(folder: Path, scheme: Scheme = "light") -> Workbench:
        opened.append(Workbench(code_server, browser, folder, scheme))
        return opened[-1]

    yield new
    while opened:
        opened.pop().close()


@pytest.fixture
def window(new_window: Callable[[Path], Workbench], project: Project) -> Workbench:
    """A window on the recorded project."""
    window = new_window(project.folder)
    window.load()
    return window


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep what the windows of a failed test show, while they are open, and the logs."""
    report = yield
    server: CodeServer | None = item.funcargs.get("code_server")  # type: ignore[attr-defined]
    if report.failed and server is not None:
        folder = FAILURES / re.sub(r"\W+", "-", item.name)
        folder.mkdir(parents=True, exist_ok=True)
        windows: list[Workbench] = item.stash.get(OPEN, [])
        for number, window in enumerate(windows, 1):
            window.page.screenshot(path=folder / f"window-{number}.png")
        for log in server.logs():
            shutil.copy(log, folder / "-".join(log.parts[-3:]))
        report.sections.append(("VS Code", f"Pictures and logs are in {folder}"))
    return report
