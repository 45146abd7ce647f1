"""A problem of the server or an index is reported once, and its mark disappears when it is solved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.editors.vscode.code_server import CodeServer
from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench

STATUS = "[id='framedex.framedex.framedex.status']"


@pytest.fixture
def window_without_framedex(project: Project, browser: Browser, tmp_path: Path) -> Iterator[Workbench]:
    """A window on the recorded project, in an editor without framedex."""
    with CodeServer(tmp_path / "editor", path="/usr/bin:/bin") as server:
        window = Workbench(server, browser, project.folder)
        window.load()
        yield window
        window.close()


def test_a_missing_server_is_reported_once_with_the_install_action_first(
    window_without_framedex: Workbench, project: Project
) -> None:
    window = window_without_framedex
    window.open(project.program, project.put_scalar_line)
    message = window.message("framedex was not found")
    expect(message.get_by_role("button").first).to_be_visible()
    assert next(each for each in message.get_by_role("button").all_inner_texts() if each) == "Install"

    window.run("framedex: Record this file")
    window.run("framedex: Index this project")
    expect(window.message("framedex was not found")).to_have_count(1)
    expect(window.page.locator(".notifications-center .notification-list-item")).to_have_count(1)

    window.show_view("framedex")
    buttons = window.page.locator(".welcome-view-content .monaco-button")
    expect(buttons.first).to_have_text("Install it")
    window.page.locator(STATUS).click()
    expect(window.page.locator(".quick-input-list .monaco-list-row").first).to_contain_text("Install the server")


def test_a_damaged_index_stays_in_the_status_bar_until_rebuilt(
    project: Project, new_window: Callable[[Path], Workbench], tmp_path: Path
) -> None:
    damaged = project.copy_to(tmp_path / "damaged")
    (damaged.folder / ".framedex" / "index.db").write_bytes(b"spoilt " * 1000)
    window = new_window(damaged.folder)
    window.load()
    window.open(damaged.program, damaged.put_scalar_line)
    status = window.page.locator(STATUS)
    expect(status).to_contain_text("index damaged")
    expect(status).to_have_class(re.compile("warning-kind"))

    status.click()
    window.answer("Rebuild the index")
    window.expect_captures("1 capture")
    expect(status).not_to_have_class(re.compile("warning-kind"))
