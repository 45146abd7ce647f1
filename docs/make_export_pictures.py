"""Take screenshots of exports in other viewers: docs/export-perfetto.png and docs/export-speedscope.png.

.venv/bin/python docs/make_export_pictures.py

They show a small training loop, recorded again, in the Chromium and the viewers of `make test-editors`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browsers import chromium  # noqa: E402
from tests.run.export.viewers import asked, perfetto, speedscope  # noqa: E402

PROGRAM = ROOT / "tests" / "programs" / "costs" / "training.py"
FRAMEDEX = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')"]
EXPORT = ("export", "--format")
_LONGEST_COMPILATION = "SELECT id FROM slice WHERE name LIKE '%PJRT_Client_Compile' ORDER BY dur DESC LIMIT 1"
_SELECT = "id => app.trace.selection.selectSqlEvent('slice', id, {scrollToSelection: true})"


def main() -> None:
    """Record the program, export it, and take a screenshot of both viewers."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name)
        shutil.copy(PROGRAM, folder / "train.py")
        trace, profile = folder / "train.pftrace", folder / "train.speedscope.json"
        for arguments in (
            ("run", "train.py"),
            ("index",),
            (*EXPORT, "perfetto", "-o", str(trace)),
            (*EXPORT, "speedscope", "-o", str(profile)),
        ):
            subprocess.run([*FRAMEDEX, *arguments], cwd=folder, check=True)
        with perfetto(browser, trace) as page:
            page.wait_for_timeout(2_000)  # until its tracks are loaded
            page.evaluate(_SELECT, asked(page, _LONGEST_COMPILATION)[0][0])
            page.wait_for_timeout(1_000)
            page.keyboard.press("f")  # shows the selection in its full width
            page.wait_for_timeout(2_000)  # until the view has moved
            page.screenshot(path=ROOT / "docs" / "export-perfetto.png")
        with speedscope(browser, profile) as page:
            page.get_by_text("Left Heavy").click()
            page.wait_for_timeout(1_000)  # until it is drawn
            page.screenshot(path=ROOT / "docs" / "export-speedscope.png")


if __name__ == "__main__":
    main()
