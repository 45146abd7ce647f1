"""Take the screenshots of a report for the README: docs/report-light.png and docs/report-dark.png.

.venv/bin/python docs/make_report_pictures.py

They show the report of a small training loop, recorded again, in the Chromium of `make test-editors`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser, ViewportSize  # noqa: E402

from tests.browsers import chromium  # noqa: E402

PROGRAM = ROOT / "tests" / "programs" / "costs" / "training.py"
SIZE = ViewportSize(width=1100, height=1110)
FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]


def main() -> None:
    """Record the program, write its report, and take_screenshot a screenshot in both colour schemes."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name)
        shutil.copy(PROGRAM, folder / "train.py")
        for arguments in (("run", "train.py"), ("index",), ("report",)):
            subprocess.run([*FRAMEDEX, *arguments], cwd=folder, check=True)
        take_screenshot("light", browser, folder / "framedex-report.html")
        take_screenshot("dark", browser, folder / "framedex-report.html")


def take_screenshot(scheme: Literal["light", "dark"], browser: Browser, report: Path) -> None:
    """Write docs/report-SCHEME.png: the beginning of the report."""
    page = browser.new_page(viewport=SIZE, color_scheme=scheme)
    page.goto(report.as_uri())
    page.screenshot(path=ROOT / "docs" / f"report-{scheme}.png")
    page.close()


if __name__ == "__main__":
    main()
