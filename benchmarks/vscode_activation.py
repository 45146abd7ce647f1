"""How long VS Code's extension host waits for the activation of the extension, above that of an empty one.

    make test-editors   # sets up code-server and Chromium
    python benchmarks/vscode_activation.py [--rounds 9]

Each round opens a new window of a real VS Code on a folder that activates neither extension, and activates first the
empty one, then ours, in the same host. The server starts then too; the last line tells when it ran. Milliseconds,
medians and the whole range.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.editors.vscode import in_host  # noqa: E402
from tests.editors.vscode.code_server import CodeServer  # noqa: E402
from tests.editors.vscode.project import path_with, write_command  # noqa: E402
from tests.editors.vscode.workbench import Workbench, chromium  # noqa: E402

Times = dict[str, float]


def main() -> None:
    """Run the rounds and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show(rounds(options.rounds, Path(folder)))


def rounds(count: int, root: Path) -> list[Times]:
    """What each window measured, after one that warms the file cache."""
    opened = root / "opened"
    opened.mkdir()
    with CodeServer(root / "code-server", path=path_with(write_command(root / "bin"))) as server, chromium() as browser:
        found = []
        for _ in range(count + 1):
            window = Workbench(server, browser, opened)
            found.append(in_host.run(in_host.HOST / "activation.ts", root, window))
            window.close()
    return found[1:]


def show(found: Sequence[Times]) -> None:
    """Print medians and ranges."""
    rows = {
        "activation of an empty extension": [times["empty"] for times in found],
        "activation of framedex": [times["framedex"] for times in found],
        "above the empty one": [times["framedex"] - times["empty"] for times in found],
        "from there to a running server": [times["server"] for times in found],
    }
    for name, values in rows.items():
        print(f"{name:34}{statistics.median(values):8.1f}  ({min(values):.1f} to {max(values):.1f})")


if __name__ == "__main__":
    main()
