"""A real JupyterLab on a folder, in a real browser."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browsers import opened_page
from tests.run.notebook.notebooks import kernel_environment

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_TOKEN = "of-this-test"


@contextmanager
def serving(folder: Path, settings: Path) -> Iterator[str]:
    """The address of a new JupyterLab for a folder; its settings are elsewhere."""
    own = {name: str(settings / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0", f"--IdentityProvider.token={_TOKEN}"]
    command = [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={folder}"]
    with subprocess.Popen(
        command, env=kernel_environment() | own, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        found = (re.search(r"http://127\.0\.0\.1:\d+", line) for line in server.stderr)
        address = next(match[0] for match in found if match)
        rest = threading.Thread(target=server.stderr.read)
        rest.start()
        try:
            yield address
        finally:
            server.terminate()
            rest.join()


@contextmanager
def opened(browser: Browser, address: str, notebook: str) -> Iterator[Page]:
    """A notebook of the folder, with its kernel."""
    with opened_page(browser, viewport={"width": 1280, "height": 1000}) as page:
        page.goto(f"{address}/lab/tree/{notebook}?token={_TOKEN}&reset")
        page.locator(".jp-Notebook .jp-Cell").first.wait_for()
        page.get_by_text("| Idle").wait_for()
        yield page


def run_all(page: Page) -> None:
    """Start all cells of the notebook without waiting."""
    page.get_by_text("Run", exact=True).first.click()
    page.get_by_text("Run All Cells", exact=True).click()
