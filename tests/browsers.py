"""A real browser: Debian's Chromium, driven by Playwright. `make test-editors` sets both up."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE = 180.0  # seconds, on a busy machine

_PROGRAM = shutil.which(os.environ.get("FRAMEDEX_TEST_CHROMIUM", "chromium"))
HAS_BROWSER = importlib.util.find_spec("playwright") is not None and _PROGRAM is not None

needs_browser = pytest.mark.skipif(
    not HAS_BROWSER, reason="no Chromium with Playwright; `make test-editors` sets it up"
)

_running: list[Browser] = []


@contextmanager
def chromium() -> Iterator[Browser]:
    """Chromium from Debian, or the one that $FRAMEDEX_TEST_CHROMIUM names.

    A process can have only one Playwright, so a nested block reuses the outer block's browser.
    """
    from playwright.sync_api import expect, sync_playwright

    if _running:
        yield _running[0]
        return
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_PROGRAM)
        _running.append(browser)
        try:
            yield browser
        finally:
            _running.clear()
        browser.close()


@contextmanager
def opened_page(browser: Browser, **options: Any) -> Iterator[Page]:
    """A page with a state of its own, and Playwright's options of `new_page`."""
    page = browser.new_page(**options)
    page.set_default_timeout(PATIENCE * 1000)
    try:
        yield page
    finally:
        page.close()


def is_local(url: str) -> bool:
    """Whether a URL needs no network."""
    return url.startswith(("file:", "data:"))


@contextmanager
def offline_page(browser: Browser, is_expected: Callable[[str], bool] = is_local, **options: Any) -> Iterator[Page]:
    """A page without a network. At its end, the browser must have no complaints, and only expected requests (URLs)."""
    with opened_page(browser, offline=True, **options) as page:
        complaints: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: complaints.append(f"{page.url}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
        page.on("dialog", lambda dialog: complaints.append(f"{page.url}: {dialog.message}"))
        page.on("request", lambda request: asked.append(request.url))
        yield page
        assert complaints == []
        assert [url for url in asked if not is_expected(url)] == []
