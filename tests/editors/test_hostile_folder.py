"""Editors in a folder with hostile modules and commands: framedex's processes execute none of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.editors.sessions import EDITORS
from tests.editors.test_emacs import has_eglot
from tests.hostile import HostileFolder, make_hostile
from tests.run.invoking import FRAMEDEX
from tests.server.raw_client import RawClient
from tests.tiers import exhaustive_unless

TOLD_BY_NEOVIM = """
vim.opt.runtimepath:append(vim.env.PLUGIN)
local told = require("framedex.server").configuration()
vim.fn.writefile({ vim.json.encode({ command = told.cmd, environment = told.cmd_env }) }, vim.env.TOLD)
vim.cmd("qall!")
"""
TOLD_BY_EMACS = """
(progn (package-initialize) (add-to-list 'load-path (getenv "PLUGIN")) (require 'json) (require 'framedex-server)
  (with-temp-file (getenv "TOLD") (insert (json-encode `(("command" . ,(vconcat (cdr (framedex--contact)))))))))
"""


@pytest.fixture
def hostile(tmp_path: Path) -> HostileFolder:
    return make_hostile(tmp_path / "workspace")


@pytest.fixture(params=exhaustive_unless([":", ".", "lib:/nowhere"], "."))
def environment(request: pytest.FixtureRequest, hostile: HostileFolder) -> Mapping[str, str]:
    """A PATH and a PYTHONPATH with the folder before framedex."""
    path = (
        f"{hostile.environment()['PATH'].removesuffix(os.environ['PATH'])}{Path(FRAMEDEX).parent}:{os.environ['PATH']}"
    )
    (hostile.folder / "lib").mkdir()
    shutil.copy(hostile.folder / "re.py", hostile.folder / "lib" / "re.py")
    return hostile.environment(PATH=path, PYTHONPATH=request.param)


@pytest.mark.skipif(shutil.which("nvim") is None, reason="needs Neovim (Debian: apt-get install neovim)")
def test_neovim_runs_nothing_of_a_hostile_folder(
    hostile: HostileFolder, environment: Mapping[str, str], tmp_path: Path
) -> None:
    script = tmp_path / "tell.lua"
    script.write_text(TOLD_BY_NEOVIM)
    nvim = [str(shutil.which("nvim")), "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", str(script)]
    told = _told_by(nvim, EDITORS / "neovim", hostile, environment, tmp_path)
    _serve(told["command"], hostile, {**environment, **told["environment"]})


@pytest.mark.skipif(not has_eglot(), reason="needs Emacs with eglot (Debian: apt-get install emacs-nox elpa-eglot)")
def test_emacs_runs_nothing_of_a_hostile_folder(
    hostile: HostileFolder, environment: Mapping[str, str], tmp_path: Path
) -> None:
    emacs = [str(shutil.which("emacs")), "--batch", "--eval", TOLD_BY_EMACS]
    _serve(_told_by(emacs, EDITORS / "emacs", hostile, environment, tmp_path)["command"], hostile, environment)


def _told_by(
    editor: list[str], plugin: Path, hostile: HostileFolder, environment: Mapping[str, str], folder: Path
) -> Any:
    """The commands that a plug-in would start in the folder."""
    told = folder / "told.json"
    given = {**environment, "PLUGIN": str(plugin), "TOLD": str(told)}
    done = subprocess.run(
        editor, cwd=hostile.folder, env=given, capture_output=True, stdin=subprocess.DEVNULL, timeout=60
    )
    assert told.exists(), done.stderr
    return json.loads(told.read_text())


def _serve(command: list[str], hostile: HostileFolder, environment: Mapping[str, str]) -> None:
    with RawClient(command=command, cwd=hostile.folder, env=environment) as client:
        assert client.initialize(hostile.folder)["result"]["serverInfo"]["name"] == "framedex"
        assert client.request("shutdown", None, 1)["result"] is None
    assert hostile.ran() == []
