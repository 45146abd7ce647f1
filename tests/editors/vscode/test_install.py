"""Installing the extension from one file without framedex, and its buttons."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from scripts.wheels.assemble import read_folder, read_wheel, write_wheel
from tests.editors.vscode.code_server import LINUX, VSIX, CodeServer, build_packages, packages_locked
from tests.editors.vscode.project import Project
from tests.editors.vscode.workbench import Workbench

STATUS = "[id='framedex.framedex.framedex.status']"
INSTALLING = 300_000  # milliseconds: pip installs the server's dependencies


def path_with_python(folder: Path) -> str:
    """A PATH with this Python and no framedex."""
    python = folder / "bin" / "python3"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    path = f"{python.parent}:/usr/bin:/bin"
    assert shutil.which("framedex", path=path) is None
    return path


@pytest.fixture
def window(project: Project, browser: Browser, tmp_path: Path) -> Iterator[Workbench]:
    """A window on the recorded project, in an editor with a Python but no framedex."""
    with CodeServer(tmp_path / "editor", path=path_with_python(tmp_path)) as server:
        window = Workbench(server, browser, project.folder)
        window.load()
        yield window
        window.close()


def test_one_button_installs_the_server_and_another_repairs_it(
    window: Workbench, project: Project, tmp_path: Path
) -> None:
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


@pytest.fixture
def window_of_linux(browser: Browser, tmp_path: Path) -> Iterator[Workbench]:
    """A window of the package for linux-x64, on a project whose environment has JAX but no framedex."""
    project = tmp_path / "project"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", project / ".venv"], check=True)
    (packages,) = (project / ".venv").glob("lib/python3*/site-packages")
    for each in Path(sysconfig.get_path("purelib")).iterdir():
        if "framedex" not in each.name:
            (packages / each.name).symlink_to(each)
    (project / "put.py").write_text("import jax\njax.device_put(1)\n")
    wheels = tmp_path / "wheels"
    native = read_folder(Path(sysconfig.get_path("purelib")) / "framedex_native")
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    with packages_locked():
        (pure,) = (VSIX.parent / "wheels").glob("*-py3-none-any.whl")
        files = read_wheel(pure) | {f"framedex_native/{name}": data for name, data in native.items()}
        write_wheel(files, f"{tag}-{tag}-manylinux_2_27_x86_64", 0, wheels)
        build_packages(wheels)
        package = LINUX.rename(tmp_path / LINUX.name)
    with CodeServer(tmp_path / "editor", path=path_with_python(tmp_path), package=package) as server:
        window = Workbench(server, browser, project)
        window.load()
        yield window
        window.close()


def test_the_package_for_linux_records_after_one_button(window_of_linux: Workbench, tmp_path: Path) -> None:
    window = window_of_linux
    program = tmp_path / "project" / "put.py"
    window.open(program, 2)
    told = window.message("framedex was not found in the environment of")
    told.get_by_role("button", name="Install", exact=True).click()
    expect_server(window)
    window.run("framedex: Record this file")
    expect(window.message("put.py was recorded.")).to_be_visible()
    window.expect_captures("1 capture")
    window.open(program, 2, 5)
    window.press("Control+K", "Control+I")
    expect(window.hover.filter(has_text="recorded call")).to_be_visible()


def expect_server(window: Workbench) -> None:
    """Wait for the server of the extension's own environment."""
    runs = re.compile(r"The server runs\..*/environments/\d+/.*\(extension\)", re.DOTALL)
    expect(window.page.locator(STATUS)).to_have_attribute("aria-label", runs, timeout=INSTALLING)
