"""A folder as a checkout is after `make demo`, for the commands of editors/README.md's "Right after `make demo`"."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tests.editors.sessions import EDITORS

DEMO = EDITORS.parent / "indexer" / "framedex" / "demo" / "device_put.py"
FRAMEDEX = "from framedex.commands.main import cli; cli(prog_name='framedex')"


def make_checkout(root: Path) -> Path:
    """Below `root`, what the commands name: editors/, the recorded framedex-demo/, and .venv/bin/framedex."""
    root = root.resolve()
    (root / ".git").mkdir()
    (root / "framedex-demo").mkdir()
    shutil.copy(DEMO, root / "framedex-demo")
    shutil.copytree(EDITORS, root / "editors", ignore=shutil.ignore_patterns("node_modules"))
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
    """The README's line for an editor: the last that begins so."""
    lines = (checkout / "editors" / "README.md").read_text().splitlines()
    return [line for line in lines if line.startswith(beginning)][-1]
