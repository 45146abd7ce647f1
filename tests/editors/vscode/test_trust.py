"""An untrusted workspace starts none of its own programs; after trust, its environment's server starts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.editors.vscode.code_server import QUIETED, CodeServer
from tests.editors.vscode.project import Project, path_with
from tests.editors.vscode.workbench import Workbench

STATUS = "[id='framedex.framedex.framedex.status']"
TRUST = {"security.workspace.trust.enabled": True, "security.workspace.trust.startupPrompt": "never"}


@pytest.fixture
def hostile(project: Project, tmp_path: Path) -> Path:
    """A copy of the project whose every framedex path runs a command that leaves a trace."""
    folder = project.copy_to(tmp_path / "hostile").folder
    binaries = folder / ".venv" / "bin"
    binaries.mkdir(parents=True)
    for name in ("python", "framedex"):
        (binaries / name).write_text(f'#!/bin/sh\ntouch "{folder}/ran"\nexec "{project.framedex}" "$@"\n')
        (binaries / name).chmod(0o755)
    settings = {
        "framedex.server.path": str(binaries / "framedex"),
        "framedex.server.package": "hostile",
        "python.defaultInterpreterPath": str(binaries / "python"),
    }
    (folder / ".vscode").mkdir(exist_ok=True)
    (folder / ".vscode" / "settings.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture
def window(hostile: Path, project: Project, browser: Browser, tmp_path: Path) -> Iterator[Workbench]:
    """A window on it, in an editor without default trust; the PATH finds the workspace first."""
    switched_off = [switch for switch in QUIETED if switch != "workspace-trust"]
    path = f"{hostile / '.venv' / 'bin'}:{path_with(project.framedex)}"
    with CodeServer(tmp_path / "editor", path=path, settings=TRUST, switched_off=switched_off) as server:
        window = Workbench(server, browser, hostile)
        window.load()
        yield window
        window.close()


def test_an_untrusted_workspace_runs_nothing(window: Workbench, hostile: Path, project: Project) -> None:
    window.open(hostile / project.program.name, project.put_scalar_line)
    expect_server(window, "PATH")
    window.run("framedex: Restart the language server")
    expect_server(window, "PATH")
    assert not (hostile / "ran").exists()

    window.run("Workspaces: Manage Workspace Trust")
    window.page.get_by_role("button", name="Trust", exact=True).click()
    expect_server(window, "setting")
    assert (hostile / "ran").exists()


def expect_server(window: Workbench, origin: str) -> None:
    """Wait for a server that was found in the workspace."""
    runs = re.compile(rf"The server runs\..*\({origin}\)", re.DOTALL)
    expect(window.page.locator(STATUS)).to_have_attribute("aria-label", runs)
