"""The site in a real browser, from the file system: its layout, search, and absence of network requests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from framedex.guidebook.site import addresses
from tests.browsers import needs_browser, offline_page
from tests.indexer.guidebook.site.small import FETCH, HOSTILE, PUT, built_site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser

PAGES = (
    *("index.html", "runs.html", "lines.html", "versions.html", "tables/pjrt.html", "tasks/put.html"),
    *("objects/buffer.html", "docs/tutorial.html", addresses.function_page(PUT), addresses.function_page(HOSTILE)),
)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page without network access, which fails on browser errors and on requests other than files."""
    with offline_page(browser, viewport={"width": 1280, "height": 900}) as opened:
        yield opened


def address(path: str) -> str:
    return f"{built_site().as_uri()}/{path}"


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_pages_fit_windows_of_any_width(page: Page, width: int, tmp_path: Path) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    for path in PAGES:
        page.goto(address(path))
        assert page.evaluate("document.documentElement.scrollWidth") == width, path
        assert page.evaluate("document.compatMode") == "CSS1Compat"
        assert len(page.screenshot(path=tmp_path / "page.png")) > 10_000, path


@pytest.mark.parametrize(("scheme", "is_dark"), [("light", False), ("dark", True)])
def test_pages_follow_the_systems_colour_scheme_until_switched(
    page: Page, scheme: Literal["light", "dark"], is_dark: bool
) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(address("index.html"))
    assert is_dark_now(page) is is_dark
    page.locator("label[for^=__palette]:visible").click()
    assert is_dark_now(page) is not is_dark


def is_dark_now(page: Page) -> bool:
    red, *_ = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    return bool(red < 128)


@pytest.mark.parametrize(
    ("typed", "path", "is_first"),
    [
        (FETCH, addresses.function_page(FETCH), True),
        ("tohostbuffer", addresses.function_page(FETCH), True),
        ("PJRT_Client_Create", addresses.function_page("PJRT_Client_Create"), True),
        ("importlinter", "ARCHITECTURE.html", False),
        ("RESOURCE_EXHAUSTED room", addresses.function_page(PUT), False),
        ("device_put", addresses.task_page("put"), False),
        ("put.py", addresses.LINES, False),
    ],
)
def test_the_search_finds_functions_observations_and_documentation(
    page: Page, typed: str, path: str, is_first: bool
) -> None:
    from playwright.sync_api import expect

    page.goto(address("index.html"))
    page.locator("input[name=query]").click()
    page.locator("input[name=query]").press_sequentially(typed)
    # While it is typed, its beginning has other results.
    link = page.locator(".md-search-result__link" + ("" if is_first else f"[href*='{path}']")).first
    expect(link).to_have_attribute("href", re.compile(re.escape(path) + r"([?#]|$)"))


def test_stack_paths_open_by_keyboard(page: Page) -> None:
    page.goto(address(addresses.function_page(PUT)))
    closed = page.locator("details.branch:not([open])").first
    closed.locator("summary").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open") is True


def test_pages_are_read_without_scripts_and_printed(browser: Browser) -> None:
    with offline_page(browser, java_script_enabled=False) as page:
        page.goto(address(addresses.function_page(PUT)))
        assert page.locator("h2:visible").count() >= 8
        assert page.locator("svg.orders:visible").count() == 1
        printed = page.pdf(format="A4")
        assert printed.startswith(b"%PDF") and printed.count(b"/Type /Page\n") > 1
