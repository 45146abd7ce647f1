"""Links in the documentation to this repository have targets: files, and headings of pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
FOLDERS = (".github", "benchmarks", "docs", "editors", "native", "tests")
PAGES = sorted(
    page.relative_to(REPOSITORY).as_posix()
    for page in (*REPOSITORY.glob("*.md"), *(page for name in FOLDERS for page in (REPOSITORY / name).rglob("*.md")))
    if "node_modules" not in page.parts
)

_FENCED = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|srcset|href)=\"([^\"]+)\"")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:")


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_a_page_has_a_target(page: str) -> None:
    folder = (REPOSITORY / page).parent
    for target in links(REPOSITORY / page):
        path, _, heading = target.partition("#")
        file = folder / path if path else REPOSITORY / page
        assert file.exists(), f"{page}: {target} does not exist"
        if heading and file.suffix == ".md":
            assert heading in anchors(file), f"{page}: {path or page} has no heading for #{heading}"


def links(page: Path) -> Iterator[str]:
    """The links of a page outside code blocks, except web addresses."""
    for found in _LINK.finditer(_FENCED.sub("", page.read_text())):
        target = found[1] or found[2]
        if not _ADDRESS.match(target):
            yield target


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", _FENCED.sub("", page.read_text()), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        number = 0
        while (name := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(name)
    return found
