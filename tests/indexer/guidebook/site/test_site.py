"""A complete site: its pages exist, have valid links, are small, and show texts of captures as text."""

from __future__ import annotations

import html
import posixpath
import re
from functools import cache
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from framedex.base.errors import FramedexError
from framedex.guidebook.api_functions import read_api_functions
from framedex.guidebook.site import addresses
from framedex.guidebook.site.writer import MARK, write_site
from framedex.model.guidebook import Observations, ObservedFunction
from tests.indexer.commands.report.pages import Page
from tests.indexer.guidebook.site.small import (
    FETCH,
    HOSTILE,
    LINKING,
    OWNED,
    PUT,
    SILENT,
    SIZES,
    TITLE,
    built_site,
    functions,
    observations,
)
from tests.tiers import exhaustive_unless

_ADDRESS = re.compile(r'(?:href|src)="([^"]*)"')
_ID = re.compile(r'\bid="([^"]*)"')


@pytest.fixture(scope="module", params=exhaustive_unless(SIZES, "few"))
def size(request: pytest.FixtureRequest) -> str:
    """The functions with a page: a few of each table, or all."""
    size: str = request.param
    return size


@pytest.fixture(scope="module")
def site(size: str) -> Path:
    return built_site(size)


@cache
def page(path: Path) -> str:
    return path.read_text()


def function(site: Path, name: str) -> str:
    return page(site / addresses.function_page(name))


def test_every_function_has_a_page_with_its_name(site: Path, size: str) -> None:
    for each in functions(size):
        assert f"<code>{each.name}</code></h1>" in function(site, each.name)


def test_every_internal_link_has_a_target(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    ids = {path.relative_to(site).as_posix(): set(_ID.findall(page(path))) for path in pages}
    lost = set()
    for path in pages:
        name = path.relative_to(site).as_posix()
        for found in _ADDRESS.findall(page(path)):
            target, _, anchor = html.unescape(found).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            led = posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) if target else name
            if led not in files or (anchor and anchor not in ids[led]):
                lost.add((name, found))
    assert sorted(lost) == []


def test_web_links_are_complete_addresses_of_public_pages(site: Path) -> None:
    found = {each for path in site.rglob("*.html") for each in _ADDRESS.findall(page(path)) if ":" in each}
    assert found
    for each in found:
        assert re.fullmatch(r"https?://[\w.-]+\.[a-z]+(?::\d+)?(?:/[^\s<>]*)?", each), each


def test_pages_load_no_external_resources(site: Path) -> None:
    for path in site.rglob("*.html"):
        text = page(path)
        assert "Content-Security-Policy\" content=\"default-src 'none'; script-src 'self' 'sha256-" in text
        assert not re.search(r'<(?:script|img|iframe)[^>]* src="[a-z]+:', text)
        assert not re.search(r'<link [^>]*href="[a-z]+:', text)


@pytest.mark.exhaustive(keep=["few-index.html", "few-functions/index.html", "few-docs/tutorial.html", "few-hostile"])
@pytest.mark.parametrize(
    "path",
    [
        *("index.html", "runs.html", "lines.html", "versions.html", "changes.html", "functions/index.html"),
        *("tables/pjrt.html", "objects/buffer.html", "tasks/put.html", "tasks/put-2.html", "docs/tutorial.html"),
        *("about.html", addresses.function_page(PUT), addresses.function_page(SILENT)),
        pytest.param(addresses.function_page(HOSTILE), id="hostile"),
    ],
)
def test_pages_are_well_formed(site: Path, path: str) -> None:
    parsed = Page.of(page(site / path))
    assert parsed.problems == []
    ids = [element.attributes["id"] for element in parsed.elements if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert len(parsed.all("h1")) == 1
    assert {element.attributes.get("lang") for element in parsed.all("html")} == {"en"}


def test_pages_are_small(site: Path) -> None:
    assert max(path.stat().st_size for path in site.rglob("*.html")) <= 300_000


def test_the_page_of_a_function_shows_its_observations(site: Path) -> None:
    text = function(site, PUT)
    for said in (
        "14 calls",
        "jax 0.12.0",
        "1.2 µs",
        "put.py:3",
        "RESOURCE_EXHAUSTED",
        "client#1",
        "no\nroom",
        "xla::Put",
    ):
        assert said in text, said
    assert 'href="https://example.org/api.py#L12"' in text
    assert f'href="../{addresses.object_page("buffer")}"' in text
    assert f'href="{FETCH}.html"' in text


def test_handwritten_notes_are_marked_and_link_to_other_pages(site: Path) -> None:
    words = function(site, PUT).split('<section class="words">')[1].split("</section>")[0]
    assert "Written by hand." in words
    assert re.search(rf'<p>[^\n]*<a href="{FETCH}\.html"><code>{FETCH}', function(site, LINKING))
    assert '<section class="words">' in page(site / "objects" / "buffer.html")


def test_the_page_of_an_uncalled_function_names_the_recorded_runs(site: Path) -> None:
    text = function(site, SILENT)
    assert "Never called" in text and "2 recorded runs" in text
    assert "jax 0.12.0 on the mock TPU, API 0.112" in text
    owned = function(site, OWNED)
    assert "are not recorded" in owned and "Never called" not in owned


def test_capture_texts_are_shown_literally(site: Path) -> None:
    """Given names with markup, template and Markdown syntax, then pages show them literally."""
    seen = 0
    for path in site.rglob("*.html"):
        text = page(path)
        seen += text.count("alert(1)")
        assert "<script>alert" not in text and "<b title" not in text, path
        assert "javascript:" not in "".join(_ADDRESS.findall(text)), path
        assert "49" not in re.findall(r"title=(?:&#34;|&quot;)(\S*)", text), path
    assert seen > 20


def test_the_documentation_is_part_of_the_site(site: Path) -> None:
    text = page(site / "docs" / "tutorial.html")
    assert "<h1" in text and "mock TPU" in text
    assert (site / "docs" / "trace.svg").is_file()
    assert TITLE.replace("&", "&amp;") in text


def test_the_same_observations_give_the_same_bytes(tmp_path: Path) -> None:
    few = read_api_functions()[:4]
    for name in ("one", "two"):
        write_site(observations(), few, tmp_path / name, title=TITLE)
    one, two = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "one", tmp_path / "two")
    )
    assert one == two


def test_a_site_is_replaced_completely_or_unchanged(tmp_path: Path) -> None:
    few = read_api_functions()[:2]
    out = tmp_path / "site"
    write_site(observations(), few, out, title="First")
    before = (out / "index.html").read_bytes()
    lost = ObservedFunction(*("nobody", PUT, "pjrt", 1, 1, 1, 1), *((),) * 2, 0, *((),) * 9)
    with pytest.raises(UndefinedError):
        write_site(Observations((), (lost,), (), ()), few, out, title="Second")
    assert (out / "index.html").read_bytes() == before
    write_site(Observations((), (), (), ()), few, out, title="Third")
    assert b"Third" in (out / "index.html").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_that_is_not_a_guidebook_is_not_changed(tmp_path: Path) -> None:
    kept = tmp_path / "site" / "thesis.tex"
    kept.parent.mkdir()
    kept.write_text("ten years")
    with pytest.raises(FramedexError, match="not a framedex guidebook"):
        write_site(observations(), (), kept.parent, title=TITLE)
    assert kept.read_text() == "ten years"
    assert not (kept.parent / MARK).exists()


def test_a_guidebook_with_foreign_files_is_not_changed(tmp_path: Path) -> None:
    write_site(observations(), read_api_functions()[:2], tmp_path / "site", title=TITLE)
    kept = tmp_path / "site" / ".git" / "HEAD"
    kept.parent.mkdir()
    kept.write_text("ref: refs/heads/pages")
    with pytest.raises(FramedexError, match=r"has \.git, which is not part of a guidebook"):
        write_site(observations(), (), tmp_path / "site", title=TITLE)
    assert kept.read_text() == "ref: refs/heads/pages"
