"""The report of a real run: its figures match the index, and a real browser displays it without requests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.index import Index
from tests.browsers import needs_browser, offline_page
from tests.indexer.commands.report.pages import Page as Parsed
from tests.once import made_once
from tests.run.costs.trained import PROGRAM, index_of_training, line_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def report() -> Path:
    """The report of a training loop, beside its index."""
    return made_once("costs-report", _write)


def _write(folder: Path) -> Path:
    index, written = folder / "index.db", folder / "report.html"
    shutil.copy(index_of_training(), index)
    result = CliRunner().invoke(cli, ["--index", str(index), "report", "-o", str(written)])
    assert result.exit_code == 0, result.output
    return written


def section(report: Path, name: str) -> Parsed:
    """A section of the report by itself."""
    text = report.read_text()
    start = text.index(f'<section id="{name}"')
    return Parsed.of(text[start : text.index("</section>", start) + len("</section>")])


def test_the_report_has_the_rows_of_each_answer(report: Path) -> None:
    with Index.open(report.with_name("index.db")) as index:
        answers: dict[str, Sequence[object]] = {"compiles": index.compiles(), "transfers": index.transfers()}
        (device,) = index.memory()
    for name, rows in answers.items():
        assert [len(section(report, name).all("tr")) - 1] == [len(rows)] != [0], name
    assert len(section(report, "memory").all("tr")) - 1 == len(device.lines) > 0
    (kept,) = [held for held in device.lines if held.line and held.line.location.line == line_of("kept.append")]
    assert kept.growth
    assert f"each of {kept.rounds} iterations leaves" in section(report, "memory").elements[0].text


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("compiles", "params = step(", "x was float32[16,64], [32,64], [26,64], [36,64]"),
        ("transfers", "params = step(", "operand of a call"),
        ("transfers", "float(kept", "device to host"),
        ("memory", "kept.append", "leaves"),
        ("flames", "def main", "main"),
    ],
)
def test_each_line_links_to_the_program(report: Path, name: str, line: str, said: str) -> None:
    found = section(report, name)
    links = {element.attributes["href"] for element in found.all("a")}
    assert said in found.elements[0].text
    if name != "flames":
        assert f"vscode://file{PROGRAM}:{line_of(line)}" in links


def test_compilations_take_most_time_of_the_main_thread(report: Path) -> None:
    (main, *_) = [each.text for each in section(report, "timeline").all("tr") if each.text.startswith("main")]
    assert main
    outlines = [each for each in section(report, "timeline").all("path") if each.attributes["class"] == "compile"]
    assert outlines and len(outlines[0].attributes["d"]) > 40


@pytest.fixture
def opened(browser: Browser, report: Path) -> Iterator[Page]:
    """The report in a browser without a network; it must cause no errors and no requests besides the file."""
    with offline_page(browser, report.as_uri().__eq__, viewport={"width": 1280, "height": 900}) as page:
        page.goto(report.as_uri())
        yield page


@needs_browser
@pytest.mark.parametrize("width", [1280, 800, 390])
def test_the_report_fits_windows_of_any_width(opened: Page, width: int) -> None:
    opened.set_viewport_size({"width": width, "height": 900})
    assert opened.evaluate("document.documentElement.scrollWidth") == width
    assert opened.evaluate("document.compatMode") == "CSS1Compat"


@needs_browser
@pytest.mark.parametrize(("scheme", "is_dark"), [("light", False), ("dark", True)])
def test_the_report_follows_the_systems_colour_scheme(
    opened: Page, scheme: Literal["light", "dark"], is_dark: bool
) -> None:
    opened.emulate_media(color_scheme=scheme)
    red, *_ = opened.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (red < 128) is is_dark
    opened.emulate_media(color_scheme=scheme, media="print")
    red, *_ = opened.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert red > 128


@needs_browser
def test_a_click_selects_a_function_and_its_location(opened: Page) -> None:
    """A clicked function of the flame graph fills its width, and its line is a link."""
    box = opened.locator(".flames svg svg", has_text="zeros").first
    before = box.bounding_box()
    box.click()
    after = box.bounding_box()
    whole = opened.locator(".flames > svg").bounding_box()
    assert before is not None and after is not None and whole is not None
    # Its share of the time depends on the machine's load.
    assert before["width"] < whole["width"] * 0.9 and after["width"] == pytest.approx(whole["width"], rel=0.01)
    assert opened.locator(".picked").inner_text().startswith("zeros: ")
    link = opened.locator(".picked a").get_attribute("href")
    assert link is not None and link.startswith("vscode://file/")
    opened.locator(".flames svg svg").first.click()
    restored = box.bounding_box()
    assert restored is not None and restored["width"] == pytest.approx(before["width"], rel=0.01)


@needs_browser
def test_the_report_is_readable_without_scripts_and_in_print(browser: Browser, report: Path) -> None:
    with offline_page(browser, java_script_enabled=False) as page:
        page.goto(report.as_uri())
        assert page.locator("main section:visible").count() >= 8
        assert page.locator(".flames rect").count() > 50
        assert page.locator(".with-script:visible").count() == 0
        printed = page.pdf(format="A4")
        assert printed.startswith(b"%PDF") and printed.count(b"/Type /Page\n") > 1
