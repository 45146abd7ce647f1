"""Take the screenshot of a recorded cell for docs/how-to/notebooks.md: docs/notebook.png.

.venv/bin/python docs/make_notebook_picture.py

It shows docs/notebook.ipynb, run again in the JupyterLab and the Chromium of `make test-editors`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browsers import chromium  # noqa: E402
from tests.run.notebook.jupyterlab import opened, run_all, serving  # noqa: E402


def main() -> None:
    """Run the example, and take a screenshot of its recorded cell."""
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name) / "notebooks"
        folder.mkdir()
        shutil.copy(ROOT / "docs" / "notebook.ipynb", folder)
        with serving(folder, Path(name)) as address, opened(browser, address, "notebook.ipynb") as page:
            page.set_viewport_size({"width": 1400, "height": 1700})
            page.get_by_text("No", exact=True).click()  # news
            page.keyboard.press("Control+b")  # the list of files
            run_all(page)
            cell = page.locator(".jp-CodeCell", has=page.get_by_text("cell In[3]", exact=False)).first
            cell.locator(".framedex .flames").wait_for()
            page.get_by_text("| Idle").wait_for()
            cell.get_by_text("Compiles:").click()
            cell.scroll_into_view_if_needed()
            cell.screenshot(path=ROOT / "docs" / "notebook.png")


if __name__ == "__main__":
    main()
