"""A real VS Code for the extension's tests, installed by `make test-editors`."""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browsers import chromium
from tests.editors.vscode.code_server import EDITORS, CodeServer
from tests.editors.vscode.project import Project, make_project, make_public, path_with
from tests.once import made_once

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.editors.vscode.workbench import Scheme, Workbench

IS_SET_UP = (EDITORS / "set-up").is_file() and importlib.util.find_spec("playwright") is not None
FAILURES = EDITORS / "failures"
"""A folder for each failed test of this session: screenshots of its windows, and the editor's logs."""

collect_ignore_glob = [] if IS_SET_UP else ["test_*.py"]

OPEN = pytest.StashKey[list["Workbench"]]()
FAILED = pytest.StashKey[bool]()


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        shutil.rmtree(FAILURES, ignore_errors=True)


@pytest.fixture(scope="session")
def project() -> Project:
    """The recorded demo, which tests must not change (nor other shared projects); `Project.copy_to` makes a copy."""
    return made_once("vscode-project", make_project)


@pytest.fixture(scope="session")
def twice(project: Project) -> Project:
    """The demo, recorded twice."""

    def make(root: Path) -> Project:
        made = project.copy_to(root / "demo")
        made.run("run", made.program.name)
        made.run("index")
        return made

    return made_once("vscode-twice", make)


@pytest.fixture(scope="session")
def two_programs(project: Project) -> Project:
    """Two recorded programs, first.py and second.py, which share no executed line."""

    def make(root: Path) -> Project:
        made = replace(project, folder=root / "My Project")
        made.folder.mkdir()
        for name in ("first.py", "second.py"):
            (made.folder / name).write_text("import jax\njax.device_put(1)\n")
            made.run("run", str(made.folder / name), "--size", "a b")
        made.run("index")
        return made

    return made_once("vscode-two-programs", make)


@pytest.fixture(scope="session")
def public(project: Project) -> Project:
    """The recorded demo with a frame whose source is public but not on this machine."""
    return made_once("vscode-public", lambda root: make_public(project, root))


@pytest.fixture(scope="session")
def code_server(tmp_path_factory: pytest.TempPathFactory, project: Project) -> Iterator[CodeServer]:
    """VS Code with the packaged extension, which finds `framedex` on its PATH."""
    root = tmp_path_factory.mktemp("code-server")
    with CodeServer(root, path=path_with(project.framedex)) as server:
        yield server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, whose windows of VS Code are shared by all files."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def new_window(
    request: pytest.FixtureRequest, code_server: CodeServer, browser: Browser
) -> Iterator[Callable[..., Workbench]]:
    """Create windows on a folder, with an optional colour scheme; they are not loaded yet, and close after the test.

    For tests that change files or settings, or check what the extension offers only once.
    """
    from tests.editors.vscode.workbench import Workbench

    opened: list[Workbench] = []

    def new(folder: Path, scheme: Scheme = "light") -> Workbench:
        opened.append(Workbench(code_server, browser, folder, scheme))
        request.node.stash.setdefault(OPEN, []).append(opened[-1])
        return opened[-1]

    yield new
    for window in opened:
        window.close()


@pytest.fixture(scope="session")
def free_windows() -> dict[Path, Workbench]:
    """The unused loaded windows by their folder."""
    return {}


@pytest.fixture
def shared_window(
    request: pytest.FixtureRequest, free_windows: dict[Path, Workbench], code_server: CodeServer, browser: Browser
) -> Iterator[Callable[..., Workbench]]:
    """Return a loaded, reset window on a folder, with an optional colour scheme.

    A new window takes ten times the processor time of a reset. Windows of failed tests are closed.
    """
    from tests.editors.vscode.workbench import Workbench

    used: dict[Path, Workbench] = {}

    def take(folder: Path, scheme: Scheme = "light") -> Workbench:
        free = free_windows.pop(folder, None)
        window = used[folder] = free or Workbench(code_server, browser, folder, scheme)
        request.node.stash.setdefault(OPEN, []).append(window)
        if free is None:
            window.load()
        else:
            window.reset(scheme)
        return window

    yield take
    if request.node.stash.get(FAILED, False):
        for window in used.values():
            window.close()
    else:
        free_windows.update(used)


@pytest.fixture
def window(shared_window: Callable[[Path], Workbench], project: Project) -> Workbench:
    """A window on the recorded project."""
    return shared_window(project.folder)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Save screenshots of a failed test's windows, while they are open, and the logs."""
    report = yield
    server: CodeServer | None = item.funcargs.get("code_server")  # type: ignore[attr-defined]
    if call.when == "teardown":  # the windows are closed or free
        item.stash[OPEN], item.stash[FAILED] = [], False
    else:
        item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
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
