"""Draw the pictures of framedex's output: docs/trace.svg for the README.

python docs/make_pictures.py

The demo is recorded again, with this Python's framedex and JAX; the picture states the jaxlib version. `make
screenshots` takes the pictures of VS Code. tests/docs/test_pictures.py fails when a picture is outdated.
"""

from __future__ import annotations

import html
import importlib.metadata
import importlib.util
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

DOCS = Path(__file__).resolve().parent
COMMAND = ("trace", "DeviceMemory::Allocate")
OMITTED_FIELDS = ("arguments", "capture")
"""The lines of a trace's heading that do not matter in a picture."""

FRAMEDEX = "from framedex.commands.main import cli; cli(prog_name='framedex')"


def main() -> None:
    """Draw every picture."""
    with tempfile.TemporaryDirectory() as folder:
        lines = trace_lines(Path(folder))
    (DOCS / "trace.svg").write_text(draw_picture(lines), encoding="utf-8")


def trace_lines(folder: Path) -> list[str]:
    """The terminal output of the demo's trace, recorded in `folder`, with paths as in any checkout."""
    command = [sys.executable, "-P", "-c", FRAMEDEX]
    subprocess.run([*command, "demo"], cwd=folder, check=True, capture_output=True)
    shown = terminal_output([*command, *COMMAND], folder / "framedex-demo")
    jax = importlib.util.find_spec("jax")
    assert jax is not None and jax.origin is not None
    shown = shown.replace(str(Path(jax.origin).parents[1]), "site-packages").replace(str(folder), "~/framedex")
    shown = re.sub(r"\x1b]8;[^\x1b]*\x1b\\", "", shown)  # the links, which contain absolute paths
    # The native part may have been built in another checkout.
    shown = re.sub(r"/[^\s\x1b]*/build/[\w-]+/native/", "~/framedex/build/…/", shown)
    shown = re.sub(r"/[^\s\x1b]*/native/", "~/framedex/native/", shown)
    return [line for line in shown.splitlines() if not line.lstrip().startswith(OMITTED_FIELDS)]


def draw_picture(lines: list[str]) -> str:
    """The picture of a terminal with these output lines below the command."""
    texts = [Text(f"$ framedex {' '.join(COMMAND)}", style="bold"), *map(Text.from_ansi, lines)]
    width = max(text.cell_len for text in texts)
    console = Console(record=True, width=width, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    for text in texts:
        console.print(text)
    return console.export_svg(title=f"what really happens under jax.device_put (jaxlib {jaxlib_version()})")


def jaxlib_version() -> str:
    """The installed version of jaxlib."""
    return importlib.metadata.version("jaxlib")


def jaxlib_of_picture(picture: str) -> str:
    """The version of jaxlib in a picture."""
    found = re.search(r"\(jaxlib ([^)]+)\)", html.unescape(picture).replace("\N{NO-BREAK SPACE}", " "))
    assert found is not None, "the picture does not state its jaxlib version"
    return found[1]


def lines_of(picture: str) -> list[str]:
    """The lines in a picture, from top to bottom, without trailing blanks."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(r'<text class="[^"]*-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)<', picture):
        rows.setdefault(float(y), []).append((float(x), html.unescape(text).replace("\N{NO-BREAK SPACE}", " ")))
    return ["".join(text for _, text in sorted(rows[y])).rstrip() for y in sorted(rows)]


def strip_styles(line: str) -> str:
    """A line of a terminal without its escape sequences."""
    return Text.from_ansi(line).plain.rstrip()


def terminal_output(command: list[str], folder: Path) -> str:
    """The terminal output of a command, including escape sequences."""
    leader, follower = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "240", "FORCE_HYPERLINK": "1"}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=follower) as process:
        os.close(follower)
        chunks = []
        try:
            while chunk := os.read(leader, 65536):
                chunks.append(chunk)
        except OSError:  # the other side is closed: all output is read
            pass
        process.wait()
    return b"".join(chunks).decode()


if __name__ == "__main__":
    main()
