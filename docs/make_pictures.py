"""Draw the pictures that are made of what framedex prints: docs/trace.svg, the README's.

    python docs/make_pictures.py

The demo is recorded anew, by the framedex and the JAX of this Python; the picture says which jaxlib that is. Those of
VS Code are `make screenshots`'s. tests/docs/test_pictures.py tells when a picture is no longer what would be drawn.
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
LEFT_OUT = ("arguments", "capture")
"""The lines of a trace's head that say nothing to who has not recorded it."""

FRAMEDEX = "from framedex.commands.main import cli; cli(prog_name='framedex')"


def main() -> None:
    """Draw every picture."""
    with tempfile.TemporaryDirectory() as folder:
        lines = trace_lines(Path(folder))
    (DOCS / "trace.svg").write_text(drawn(lines), encoding="utf-8")


def trace_lines(folder: Path) -> list[str]:
    """What a terminal shows of the demo's trace, recorded in `folder`, with paths as they are in any checkout."""
    command = [sys.executable, "-P", "-c", FRAMEDEX]
    subprocess.run([*command, "demo"], cwd=folder, check=True, capture_output=True)
    shown = terminal_output([*command, *COMMAND], folder / "framedex-demo")
    jax = importlib.util.find_spec("jax")
    assert jax is not None and jax.origin is not None
    shown = shown.replace(str(Path(jax.origin).parents[1]), "site-packages").replace(str(folder), "~/framedex")
    shown = re.sub(r"\x1b]8;[^\x1b]*\x1b\\", "", shown)  # the links, which name whole paths
    # The checkout in which the native part was built may be another one.
    shown = re.sub(r"/[^\s\x1b]*/build/[\w-]+/native/", "~/framedex/build/…/", shown)
    shown = re.sub(r"/[^\s\x1b]*/native/", "~/framedex/native/", shown)
    return [line for line in shown.splitlines() if not line.lstrip().startswith(LEFT_OUT)]


def drawn(lines: list[str]) -> str:
    """The picture of a terminal that shows these lines below the command."""
    texts = [Text(f"$ framedex {' '.join(COMMAND)}", style="bold"), *map(Text.from_ansi, lines)]
    width = max(text.cell_len for text in texts)
    console = Console(record=True, width=width, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    for text in texts:
        console.print(text)
    return console.export_svg(title=f"what really happens under jax.device_put (jaxlib {jaxlib()})")


def jaxlib() -> str:
    """The version of jaxlib here."""
    return importlib.metadata.version("jaxlib")


def jaxlib_of(picture: str) -> str:
    """The version of jaxlib that a picture is of."""
    found = re.search(r"\(jaxlib ([^)]+)\)", html.unescape(picture).replace("\N{NO-BREAK SPACE}", " "))
    assert found is not None, "the picture does not say of which jaxlib it is"
    return found[1]


def lines_of(picture: str) -> list[str]:
    """The lines that a picture shows, from above, without blanks at their ends."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(r'<text class="[^"]*-r\d+" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)<', picture):
        rows.setdefault(float(y), []).append((float(x), html.unescape(text).replace("\N{NO-BREAK SPACE}", " ")))
    return ["".join(text for _, text in sorted(rows[y])).rstrip() for y in sorted(rows)]


def plain(line: str) -> str:
    """A line of a terminal without its escape sequences."""
    return Text.from_ansi(line).plain.rstrip()


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


if __name__ == "__main__":
    main()
