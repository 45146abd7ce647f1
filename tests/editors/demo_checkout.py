"""A folder like a checkout after `make demo`, for the commands of editors/README.md's "Right after `make demo`"."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tests.editors.helix import show_places
from tests.editors.sessions import EDITORS
from tests.once import made_once

DEMO = EDITORS.parent / "indexer" / "framedex" / "demo" / "device_put.py"
FRAMEDEX = "from framedex.commands.main import cli; cli(prog_name='framedex')"


def demo_checkout() -> Path:
    """The paths in the commands: editors/, the recorded framedex-demo/, and .venv/bin/framedex. Tests only read it."""
    return made_once("demo_checkout", _make_checkout)


def recorded_demo() -> Path:
    """The program of the demo in that checkout; its index is in `.framedex` beside it."""
    return demo_checkout() / "framedex-demo" / DEMO.name


def _make_checkout(root: Path) -> Path:
    root = root.resolve()
    (root / ".git").mkdir()
    (root / "framedex-demo").mkdir()
    # Go-to-frame follows the longest call: a 64 MB transfer is the longest even on a busy machine.
    text, small = DEMO.read_text(), "np.arange(6, dtype=np.float32).reshape(2, 3)"
    assert small in text
    (root / "framedex-demo" / DEMO.name).write_text(text.replace(small, "np.zeros((4096, 4096), np.float32)"))
    shutil.copytree(EDITORS, root / "editors", ignore=shutil.ignore_patterns("node_modules"))
    show_places(root / "editors" / "helix")
    framedex = root / ".venv" / "bin" / "framedex"
    framedex.parent.mkdir(parents=True)
    framedex.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-c", FRAMEDEX])} "$@"\n')
    framedex.chmod(0o755)
    for arguments in (["run", DEMO.name], ["index"]):
        done = subprocess.run(
            [framedex, *arguments], cwd=root / "framedex-demo", capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
    return root


def readme_line(checkout: Path, beginning: str) -> str:
    """The README's line for an editor: the last line with this beginning."""
    lines = (checkout / "editors" / "README.md").read_text().splitlines()
    return [line for line in lines if line.startswith(beginning)][-1]
