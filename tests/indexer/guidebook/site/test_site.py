"""A whole site: its pages are there, lead somewhere, are small, and hold what captures say as text."""

from __future__ import annotations

import html
import posixpath
import re
from functools import cache
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from framedex.errors import FramedexError
from framedex.guidebook.described import described
from framedex.guidebook.site import addresses
from framedex.guidebook.site.replacing import MARK
from framedex.guidebook.site.writing import write_site
from framedex.model.guidebook.observed import Observations, Observed
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
    """How many functions have a page: few of each table, or all."""
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


def test_every_function_has_a_page_of_its_name(site: Path, size: str) -> None:
    for each in functions(size):
        assert f"<code>{each.name}</code></h1>" in function(site, each.name)


def test_every_link_within_the_site_leads_to_a_page_and_to_a_place_on_it(site: Path) -> None:
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


def test_links_to_the_web_are_whole_addresses_of_public_pages(site: Path) -> None:
    found = {each for path in site.rglob("*.html") for each in _ADDRESS.findall(page(path)) if ":" in each}
    assert found
    for each in found:
        assert re.fullmatch(r"https?://[\w.-]+\.[a-z]+(?::\d+)?(?:/[^\s<>]*)?", each), each


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
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


def test_the_page_of_a_function_says_what_was_seen(site: Path) -> None:
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


def test_what_is_said_by_hand_is_marked_and_leads_to_other_pages(site: Path) -> None:
    words = function(site, PUT).split('<section class="words">')[1].split("</section>")[0]
    assert "Written by hand." in words
    assert re.search(rf'<p>[^\n]*<a href="{FETCH}\.html"><code>{FETCH}', function(site, LINKING))
    assert '<section class="words">' in page(site / "objects" / "buffer.html")


def test_what_nothing_called_says_for_what_that_holds(site: Path) -> None:
    text = function(site, SILENT)
    assert "Nothing called it" in text and "2 recorded runs" in text
    assert "jax 0.12.0 on the mock TPU, API 0.112" in text
    owned = function(site, OWNED)
    assert "are not recorded" in owned and "Nothing called it" not in owned


def test_what_captures_say_is_text(site: Path) -> None:
    """Given names of markup, of templates and of Markdown, when pages show them, then they are what they look like."""
    seen = 0
    for path in site.rglob("*.html"):
        text = page(path)
        seen += text.count("alert(1)")
        assert "<script>alert" not in text and "<b title" not in text, path
        assert "javascript:" not in "".join(_ADDRESS.findall(text)), path
        assert "49" not in re.findall(r"title=(?:&#34;|&quot;)(\S*)", text), path
    assert seen > 20


def test_the_documentation_is_part_of_it(site: Path) -> None:
    text = page(site / "docs" / "tutorial.html")
    assert "<h1" in text and "mock TPU" in text
    assert (site / "docs" / "trace.svg").is_file()
    assert TITLE.replace("&", "&amp;") in text


def test_the_same_observations_give_the_same_bytes(tmp_path: Path) -> None:
    few = described()[:4]
    for name in ("one", "two"):
        write_site(observations(), few, tmp_path / name, title=TITLE)
    one, two = (
        {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for root in (tmp_path / "one", tmp_path / "two")
    )
    assert one == two


def test_a_site_is_replaced_whole_or_stays(tmp_path: Path) -> None:
    few = described()[:2]
    out = tmp_path / "site"
    write_site(observations(), few, out, title="First")
    before = (out / "index.html").read_bytes()
    lost = Observed(*("nobody", PUT, "pjrt", 1, 1, 1, 1), *((),) * 2, 0, *((),) * 9)
    with pytest.raises(UndefinedError):
        write_site(Observations((), (lost,), (), ()), few, out, title="Second")
    assert (out / "index.html").read_bytes() == before
    write_site(Observations((), (), (), ()), few, out, title="Third")
    assert b"Third" in (out / "index.html").read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_that_is_no_guidebook_is_left_alone(tmp_path: Path) -> None:
    kept = tmp_path / "site" / "thesis.tex"
    kept.parent.mkdir()
    kept.write_text("ten years")
    with pytest.raises(FramedexError, match="not a framedex guidebook"):
        write_site(observations(), (), kept.parent, title=TITLE)
    assert kept.read_text() == "ten years"
    assert not (kept.parent / MARK).exists()


def test_a_guidebook_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    write_site(observations(), described()[:2], tmp_path / "site", title=TITLE)
    kept = tmp_path / "site" / ".git" / "HEAD"
    kept.parent.mkdir()
    kept.write_text("ref: refs/heads/pages")
    with pytest.raises(FramedexError, match=r"has \.git, which is not part of a guidebook"):
        write_site(observations(), (), tmp_path / "site", title=TITLE)
    assert kept.read_text() == "ref: refs/heads/pages"
