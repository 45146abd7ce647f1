"""The example notebook in a real JupyterLab: it runs, its flame graph is clickable, and it displays untrusted.

It is also tested as exported by nbconvert.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from tests.browsers import HAS_BROWSER, opened_page
from tests.pythons import ROOT
from tests.run.notebook.jupyterlab import opened, run_all, serving
from tests.run.notebook.notebooks import run_through

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

HAS_JUPYTERLAB = HAS_BROWSER and importlib.util.find_spec("jupyterlab")
pytestmark = pytest.mark.skipif(
    not HAS_JUPYTERLAB, reason="no JupyterLab with Chromium and Playwright; `make test-editors` sets them up"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped example, and a copy saved elsewhere with its outputs, which is untrusted."""
    folder = tmp_path_factory.mktemp("notebooks")
    example = ROOT / "docs" / "notebook.ipynb"
    (folder / "new.ipynb").write_text(example.read_text())
    nbformat.write(run_through(nbformat.read(example, 4), folder), folder / "saved.ipynb")
    return folder


@pytest.fixture(scope="module")
def address(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab on that folder."""
    with serving(folder, tmp_path_factory.mktemp("settings")) as found:
        yield found


@pytest.fixture
def lab(browser: Browser, folder: Path, address: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The notebook in the test's parameter."""
    with opened(browser, address, request.param) as page:
        yield page


@pytest.mark.parametrize("lab", ["new.ipynb"], indirect=True)
def test_a_cell_is_recorded_and_its_flame_graph_clickable(lab: Page) -> None:
    run_all(lab)
    # Cells that still run would move the page below the mouse.
    lab.locator(".jp-CodeCell .jp-InputPrompt").last.filter(has_text=re.compile(r"\[\d+\]")).wait_for()
    _is_opened_and_clicked(lab.locator(".jp-OutputArea-output .framedex").first)


def test_an_exported_notebook_is_clickable(browser: Browser, folder: Path) -> None:
    exporter = importlib.import_module("nbconvert").HTMLExporter()  # installed with JupyterLab, without types
    exported, _ = exporter.from_filename(str(folder / "saved.ipynb"))
    (folder / "saved.html").write_text(exported)
    with opened_page(browser) as page:
        page.route(re.compile("^https?:"), lambda route: route.abort())  # nbconvert's own page requests MathJax
        page.goto((folder / "saved.html").as_uri())
        _is_opened_and_clicked(page.locator(".framedex").first)


@pytest.mark.parametrize("lab", ["saved.ipynb"], indirect=True)
def test_an_untrusted_notebook_shows_answers_and_an_image(lab: Page) -> None:
    recorded = lab.locator(".jp-OutputArea-output .framedex").first
    recorded.scroll_into_view_if_needed()
    assert recorded.locator("script, style").count() == 0
    assert recorded.locator("summary").count() >= 5
    assert "cell In[3] line 5" in (recorded.text_content() or "")
    drawn = recorded.locator("img").first
    drawn.scroll_into_view_if_needed()
    assert drawn.evaluate("async picture => { await picture.decode(); return picture.naturalHeight; }") > 100


def _is_opened_and_clicked(recorded: Locator) -> None:
    recorded.get_by_text("Compiles:").click()
    recorded.get_by_text("batch was float32[4,16], [8,16], [12,16]").wait_for()
    box = recorded.locator(".flames svg svg", has_text="PJRT_Client_Compile").first
    before = box.bounding_box()
    box.click()
    picked = recorded.locator(".picked")
    assert picked.inner_text().startswith("PJRT_Client_Compile: ")
    after = box.bounding_box()
    assert before is not None and after is not None and after["width"] > before["width"]
    assert "cell In[3]" in (recorded.locator(".flames svg svg").first.text_content() or "")
