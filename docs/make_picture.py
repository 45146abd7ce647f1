"""Draw docs/trace.svg, the README's picture: what `framedex trace` prints in a terminal after `make demo`.

python docs/make_picture.py FRAMEDEX
"""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 146


def main(framedex: str) -> None:
    """Run the command in a pseudo-terminal and save what it shows, with paths shortened to what any machine has."""
    shown = terminal_output([framedex, "trace", "DeviceMemory::Allocate"], ROOT / "framedex-demo")
    for path, short in ((site_packages(framedex), "site-packages"), (str(ROOT), "~/framedex")):
        shown = shown.replace(path, short)
    shown = re.sub(r"/build/\w+-\w+-\w+/native/", "/build/…/", shown)
    lines = [line for line in shown.splitlines() if not line.lstrip().startswith(("arguments", "capture"))]
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    console.print(Text("$ framedex trace DeviceMemory::Allocate", style="bold"))
    console.print(Text.from_ansi("\n".join(lines)))
    (ROOT / "docs" / "trace.svg").write_text(console.export_svg(title="what really happens under jax.device_put"))


def terminal_output(command: list[str], folder: Path) -> str:
    """What a command writes to a terminal, escape sequences included."""
    leader, follower = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "240", "FORCE_HYPERLINK": "1"}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=follower) as process:
        os.close(follower)
        chunks = []
        try:
            while chunk := os.read(leader, 65536):
                chunks.append(chunk)
        except OSError:  # the other side is closed: all is read
            pass
        process.wait()
    return b"".join(chunks).decode()


def site_packages(framedex: str) -> str:
    """The folder of installed packages beside a command."""
    python = Path(framedex).with_name("python")
    query = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.run([python, "-c", query], check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main(sys.argv[1])
