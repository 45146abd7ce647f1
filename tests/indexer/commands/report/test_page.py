"""The page of a report: its contents, its markup, and hostile names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.model import CodeObject, Metadata, Thread
from tests.indexer.commands.report.pages import Page
from tests.indexer.recorded import Project

Run = Callable[..., Result]
HOSTILE = "</script></title><img src=x onerror=alert(1)>\"'`{{ 7 * 7 }}{% raw %}\u202eevil\x1b[31m\r\n"


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ("report", *arguments))


@pytest.fixture
def run(project: Project, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the verb in the indexed project's folder."""
    project.ingest(project.library.parent).close()
    monkeypatch.chdir(project.folder)
    return _run


@pytest.fixture(scope="module")
def page(indexed_once: Project) -> Page:
    """The report of a project."""
    return Page.of(CliRunner().invoke(cli, ["--index", str(indexed_once.index), "report", "-o", "-"]).stdout)


def test_each_section_has_a_heading_and_a_link(page: Page) -> None:
    sections = [element.attributes["id"] for element in page.all("section")]
    assert sections == [
        *("summary", "compiles", "transfers", "memory", "waits", "timeline", "flames", "functions", "findings"),
        *(("files",) if "files" in sections else ()),
    ]
    assert page.problems == []
    linked = [element.attributes["href"] for element in page.all("a") if "nav" in element.within]
    assert linked == [f"#{section}" for section in sections if section != "files"]
    assert [len(page.all("h1")), len(page.all("main")), len(page.all("nav"))] == [1, 1, 1]


def test_screen_readers_can_read_the_page_structure(page: Page) -> None:
    ids = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert all(element.attributes["aria-labelledby"] in ids for element in page.all("section"))
    assert len(page.all("caption")) == len(page.all("table")) > 0
    assert all(element.attributes.get("scope") in ("col", "row") for element in page.all("th"))
    pictures = [element for element in page.all("svg") if "svg" not in element.within]
    assert pictures
    assert all(each.attributes["role"] == "img" and each.attributes["aria-label"] for each in pictures)


def test_errors_and_called_functions_are_listed(page: Page, indexed_once: Project) -> None:
    project = indexed_once
    text = page.all("main")[0].text
    assert "PJRT_Client_BufferFromHostBuffer" in text and "never-returned" in text
    links = {element.attributes["href"] for element in page.all("a")}
    assert f"vscode://file{project.program}:{project.line('return value')}" in links
    boxes = [element for element in page.all("svg") if "svg" in element.within]
    assert {"transfer", "put", "main"} <= {element.text.partition(":")[0] for element in boxes}


@pytest.mark.exhaustive(keep=["pycharm-pycharm://open?file="])
@pytest.mark.parametrize(
    ("editor", "begins"),
    [("pycharm", "pycharm://open?file="), ("framedex", "framedex:///"), ("cursor", "cursor://file/")],
)
def test_links_use_the_named_editor(run: Run, editor: str, begins: str) -> None:
    page = Page.of(run("-o", "-", "--editor", editor).stdout)
    outside = [each.attributes["href"] for each in page.all("a") if not each.attributes["href"].startswith("#")]
    assert outside and all(link.startswith((begins, "https://")) for link in outside)


def test_without_an_editor_there_are_no_links_to_files(run: Run) -> None:
    page = Page.of(run("-o", "-", "--editor", "none").stdout)
    assert all(each.attributes["href"].startswith(("#", "https://")) for each in page.all("a"))


def test_names_are_rendered_as_text(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names with markup, template or terminal sequences are shown as text."""
    codes = tuple(
        CodeObject(f"/{HOSTILE}/{code.filename}", f"{HOSTILE}{code.qualname}", code.first_line, code.line_table)
        for code in project.capture.codes
    )
    capture = project.again(
        "hostile",
        codes=codes,
        threads=(Thread(100, HOSTILE), Thread(101, "")),
        functions=tuple(replace(each, name=f"{each.name}{HOSTILE}") for each in project.capture.functions),
        metadata=Metadata(started_unix_ns=1_700_000_000_000_000_000, argv=("python", HOSTILE), cwd="/"),
    )
    project.ingest(capture=capture).close()
    monkeypatch.chdir(project.folder)
    result = CliRunner().invoke(cli, ["report", "-o", "-"])
    assert result.exit_code == 0, result.output
    page = Page.of(result.stdout)
    assert page.problems == []
    assert {element.tag for element in page.elements} <= KNOWN
    assert not [name for element in page.elements for name in element.attributes if name.startswith("on")]
    assert "{{ 7 * 7 }}" in page.all("h1")[0].text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\uffff]", result.stdout)
    assert not re.search(r"&#(?:8238|27|13|10);", result.stdout)


KNOWN = {
    *("html", "head", "meta", "title", "style", "body", "header", "nav", "main", "section", "footer", "script"),
    *("h1", "h2", "h3", "p", "ul", "li", "dl", "dt", "dd", "div", "span", "a", "code", "strong", "br"),
    *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "figure", "figcaption"),
    *("svg", "path", "rect", "text"),
}


def test_the_same_captures_give_the_same_file(run: Run, tmp_path: Path) -> None:
    first, second = tmp_path / "first.html", tmp_path / "second.html"
    assert [run("-o", str(each)).exit_code for each in (first, second)] == [0, 0]
    assert first.read_bytes() == second.read_bytes()
    assert run("-o", "-").stdout == first.read_text()


def test_a_file_that_is_not_a_report_is_not_overwritten(run: Run) -> None:
    """An existing report is replaced; another file only on request."""
    assert run().exit_code == run().exit_code == 0
    other = Path("framedex-report.html")
    other.write_text("<!DOCTYPE html>\n<p>framedex report</p>\n")
    refused = run()
    assert refused.exit_code == 1 and "--force" in refused.stderr
    assert other.read_text().endswith("</p>\n")
    assert run("--force").exit_code == 0
    assert run("-o", ".").exit_code == 2
    assert run("-o", "nowhere/report.html").exit_code == 1
    assert run("-o", "-", "--open").exit_code == 2


def test_without_an_index_the_error_says_how_to_create_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, ["report"])
    assert result.exit_code == 1
    assert "framedex run SCRIPT" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_page_opens_on_request(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    assert run("-o", "a report.html", "--open").exit_code == 0
    assert (tmp_path / "opened").read_text().strip() == Path("a report.html").absolute().as_uri()
