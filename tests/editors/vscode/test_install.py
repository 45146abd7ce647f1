"""From one file: the extension installed where there is no framedex, and its buttons."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.editors.vscode.code_server import CodeServer
from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench

STATUS = "[id='framedex.framedex.framedex.status']"
INSTALLING = 300_000  # milliseconds: pip brings what the server depends on


@pytest.fixture
def window(project: Project, browser: Browser, tmp_path: Path) -> Iterator[Workbench]:
    """A window on the recorded project, in an editor that finds a Python and no framedex."""
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    path = f"{python.parent}:/usr/bin:/bin"
    assert shutil.which("framedex", path=path) is None
    with CodeServer(tmp_path / "editor", path=path) as server:
        window = Workbench(server, browser, project.folder)
        window.load()
        yield window
        window.close()


def test_a_button_installs_the_server_and_another_mends_it(window: Workbench, project: Project, tmp_path: Path) -> None:
    window.open(project.program, project.put_scalar_line)
    window.answer_message("framedex was not found on the PATH.", "Install")
    expect_server(window)
    window.expect_captures("1 capture")
    window.run("Notifications: Show Notifications")
    expect(window.page.locator(".notifications-center")).to_contain_text("It can show recordings but cannot record.")
    window.run("framedex: Record this file")
    told = window.message("The framedex that serves this editor cannot record. The native part of framedex is missing")
    expect(told.get_by_role("button", name="Install")).to_be_visible()
    window.run("Open the walkthrough")
    expect(window.page.get_by_role("checkbox", name=re.compile("^Install a recorder"))).to_be_visible()
    expect(window.page.get_by_role("checkbox", name=re.compile("^Record a program"))).to_have_count(0)
    window.open(project.program, project.put_scalar_line, 16)
    window.press("Control+K", "Control+I")
    expect(window.hover.filter(has_text="recorded call")).to_be_visible()

    (installed,) = tmp_path.glob("editor/data/User/globalStorage/framedex.framedex/environments/*")
    mark = installed / "framedex.json"
    mark.write_text(json.dumps({"requirement": "framedex==0.0.1"}))
    window.run("framedex: Restart the language server")
    expect(
        window.message("The installed server is framedex==0.0.1; this version of the extension comes with framedex==")
    ).to_be_visible()

    (package,) = installed.glob("lib/python*/site-packages/framedex")
    shutil.rmtree(package)
    window.run("framedex: Restart the language server")
    window.answer_message("did not start: it reports: ModuleNotFoundError", "Reinstall")
    expect_server(window)
    assert [each.name for each in installed.parent.iterdir()] != [installed.name]

    window.run("framedex: Remove the server installed for this editor")
    expect(window.page.locator(STATUS)).to_have_attribute("aria-label", re.compile("framedex was not found"))
    assert not installed.parent.exists()


def expect_server(window: Workbench) -> None:
    """Wait until the server of the extension's own environment runs."""
    runs = re.compile(r"The server runs\..*/environments/\d+/.*\(extension\)", re.DOTALL)
    expect(window.page.locator(STATUS)).to_have_attribute("aria-label", runs, timeout=INSTALLING)
