"""The documentation site builds without warnings, and every page opens in a real browser."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from tests.browsers import needs_browser, offline_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REPOSITORY = Path(__file__).parents[2]
PHONE_WIDTH = 360


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=REPOSITORY,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


def test_every_page_is_built(site: Path) -> None:
    pages = {file.relative_to(REPOSITORY / "docs").with_suffix(".html") for file in (REPOSITORY / "docs").rglob("*.md")}
    assert {page for page in pages if not (site / page).is_file()} == set()


@needs_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_opens_offline_on_a_phone_in_both_colour_schemes(
    site: Path, browser: Browser, scheme: Literal["light", "dark"]
) -> None:
    phone = {"width": PHONE_WIDTH, "height": 800}
    with offline_page(browser, viewport=phone, color_scheme=scheme, reduced_motion="reduce") as page:
        for file in sorted(site.rglob("*.html")):
            if file.name == "404.html":
                continue
            page.goto(file.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE_WIDTH, file
            assert (
                page.evaluate("document.body.getAttribute('data-md-color-scheme')")
                == {
                    "light": "default",
                    "dark": "slate",
                }[scheme]
            )
            broken = page.evaluate(
                "[...document.images].filter(image => image.complete && !image.naturalWidth).map(image => image.src)"
            )
            assert broken == [], file


@needs_browser
def test_the_search_finds_a_page(site: Path, browser: Browser) -> None:
    with offline_page(browser, viewport={"width": 1280, "height": 800}) as page:
        page.goto((site / "index.html").as_uri())
        page.locator("input[name=query]").click()
        page.locator("input[name=query]").press_sequentially("recompiles")
        page.locator(".md-search-result__link[href*='how-to/recompiles.html']").first.wait_for()
