"""The commands of editors/README.md's "Right after the demo", run in a checkout after the demo."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.editors.demo_checkout import demo_checkout, readme_line
from tests.editors.test_emacs import has_eglot

SCRIPTS = Path(__file__).parent


@pytest.fixture(scope="module")
def checkout() -> Path:
    """A checkout after the demo."""
    return demo_checkout()


@pytest.mark.skipif(shutil.which("nvim") is None, reason="needs Neovim (Debian: apt-get install neovim)")
def test_neovim_steps_right_after_the_demo(checkout: Path, tmp_path: Path) -> None:
    script = SCRIPTS / "demo_walk.lua"
    assert_walks_through_jax(walk(checkout, tmp_path, "nvim ", ["--headless", "-c", f"luafile {script}"]))


@pytest.mark.skipif(not has_eglot(), reason="needs Emacs with eglot (Debian: apt-get install emacs-nox elpa-eglot)")
def test_emacs_steps_right_after_the_demo(checkout: Path, tmp_path: Path) -> None:
    assert_walks_through_jax(walk(checkout, tmp_path, "emacs ", ["--batch", "-l", str(SCRIPTS / "demo_walk.el")]))


def assert_walks_through_jax(places: Sequence[str]) -> None:
    files = [place.rpartition(":")[0] for place in places]
    assert places[0] == "device_put.py:8"
    assert files[1] == "api.py"
    # the mock belongs to framedex: a walk ends before it
    assert "pxla.py" in files and files[-1].endswith(".py"), places


def walk(checkout: Path, home: Path, editor: str, headless: Sequence[str]) -> list[str]:
    """The locations visited by the editor's README line and repeated go-to-definition."""
    line = readme_line(checkout, editor)
    report = home / "report.txt"
    environment = {**os.environ, "FRAMEDEX_REPORT": str(report), "HOME": str(home)}
    environment |= {f"XDG_{kind}_HOME": str(home) for kind in ("CONFIG", "STATE", "CACHE", "DATA")}
    # Neovim opens a stdin that is not a terminal as a document.
    ours, theirs = os.openpty()
    try:
        done = subprocess.run(
            [*shlex.split(line), *headless],
            cwd=checkout,
            env=environment,
            timeout=120,
            capture_output=True,
            text=True,
            stdin=theirs,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert report.is_file(), done.stderr
    return report.read_text().splitlines()
