"""What `framedex report` takes to be written, and a browser to open it, beside an empty page.

    python benchmarks/report.py INDEX [--rounds 5]

INDEX is any, as that of a training loop which `benchmarks/ingest.py` makes. The browser is Chromium (`make
test-editors` sets it up); "opened" is the time until the page and its pictures are complete, as it tells itself.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser  # noqa: E402

from framedex.index import Index  # noqa: E402
from tests.editors.vscode.workbench import chromium  # noqa: E402

FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]
EMPTY = "<!DOCTYPE html>\n<title>empty</title>\n"
COMPLETE = "performance.getEntriesByType('navigation')[0].domComplete"


def main() -> None:
    """Measure, and print a table for RESULTS.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with Index.open(options.index) as index:
        calls = sum(capture.calls for capture in index.captures())
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        report, empty = Path(folder, "report.html"), Path(folder, "empty.html")
        empty.write_text(EMPTY)
        command = [*FRAMEDEX, "--index", str(options.index.resolve()), "report", "-o", str(report)]
        written = [_processor_seconds(command) for _ in range(options.rounds)]
        started = [_processor_seconds([*FRAMEDEX, "--version"]) for _ in range(options.rounds)]
        pages = [(_opened(browser, report), _opened(browser, empty)) for _ in range(options.rounds)]
        size = report.stat().st_size
    print(
        "| calls | kB | written, s of a processor | of which to start | opened, ms | an empty page |",
        "|---|---|---|---|---|---|",
        sep="\n",
    )
    print(
        f"| {calls:,} | {size / 1e3:,.0f} | {statistics.median(written):.2f} | {statistics.median(started):.2f}"
        f" | {statistics.median(page for page, _ in pages):.0f} | {statistics.median(page for _, page in pages):.0f} |"
    )


def _processor_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _opened(browser: Browser, page: Path) -> float:
    """How long it takes until a page is complete, in ms."""
    tab = browser.new_page()
    tab.goto(page.as_uri())
    taken = float(tab.evaluate(COMPLETE))
    tab.close()
    return taken


if __name__ == "__main__":
    main()
