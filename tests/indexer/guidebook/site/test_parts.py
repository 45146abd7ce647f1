"""The parts that pages are made of."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from framedex.guidebook.notes import read_note, read_object_note
from framedex.guidebook.site import addresses
from framedex.guidebook.site.book import GuidebookData
from framedex.guidebook.site.contents import Table
from framedex.guidebook.site.documents import heading_anchor
from framedex.guidebook.site.functions import draw_order
from framedex.guidebook.site.home import build_lines_page
from framedex.guidebook.site.html_text import CharacterBudget, render_path, render_paths, render_prose
from framedex.guidebook.site.tasks import prioritize_calls
from framedex.guidebook.site.templates import Templates
from framedex.model.guidebook import DisplayedLocation, NameCount, StepCall
from tests.hiding import python_without
from tests.indexer.commands.report.pages import Page
from tests.indexer.guidebook.site import small
from tests.indexer.guidebook.site.small import HOSTILE, path_of

LINKS = {"PJRT_Event_Await": "PJRT_Event_Await.html"}


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("PJRT_Client_Create", "functions/PJRT_Client_Create.html"),
        ("DeviceMemory::Allocate", "functions/DeviceMemory-Allocate.html"),
        ("index", "functions/index-.html"),
        ("../../etc/passwd", "functions/etc-passwd.html"),
        ("", "functions/it-.html"),
    ],
)
def test_the_address_of_a_function_contains_its_name(name: str, path: str) -> None:
    assert addresses.function_page(name) == path


@pytest.mark.parametrize("name", ["PJRT_LoadedExecutable", "loaded_executable"])
def test_both_spellings_of_a_type_have_one_address(name: str) -> None:
    assert addresses.object_page(name) == "objects/loaded_executable.html"


def test_addresses_that_differ_only_in_case_are_made_unique() -> None:
    assert addresses.make_unique(["a/X.html", "a/x.html", "a/X.html"]) == ["a/X.html", "a/x-2.html", "a/X-3.html"]
    assert addresses.relative_link("functions/A.html", "runs.html#at-x") == "../runs.html#at-x"


def test_prose_supports_paragraphs_lists_code_and_links() -> None:
    shown = render_prose("One `a < b`.\nStill one.\n\n- two https://example.org/x\n- `PJRT_Event_Await`", LINKS)
    assert shown == (
        "<p>One <code>a &lt; b</code>. Still one.</p>\n"
        '<ul><li>two <a href="https://example.org/x">https://example.org/x</a></li>'
        '<li><a href="PJRT_Event_Await.html"><code>PJRT_Event_Await</code></a></li></ul>'
    )


def test_prose_allows_no_markup_and_only_web_addresses() -> None:
    shown = render_prose(f"{HOSTILE} [y](javascript:x) <img src=x>", {})
    assert Page.of(shown).problems == []
    assert {element.tag for element in Page.of(shown).elements} <= {"p", "code"}


@pytest.mark.parametrize("name", ["../notes/PJRT_Client_Create", "objects/buffer", "", HOSTILE, "PJRT_Nothing"])
def test_a_note_belongs_to_one_name(name: str) -> None:
    assert read_note(name) is None and read_object_note(name) is None
    assert read_note("PJRT_Client_Create") and read_object_note("buffer")


def test_an_unbranched_path_section_is_one_list() -> None:
    assert len(Page.of(render_paths([path_of("a", "b", "c")], CharacterBudget(10_000))).all("ol")) == 1
    both = replace(path_of("a"), callees=(path_of("b", "c", calls=2), path_of("d")), calls=3)
    page = Page.of(render_paths([both], CharacterBudget(10_000)))
    assert page.problems == []
    assert [element.text.split()[:3] for element in page.all("summary")] == [["2", "calls", "b"], ["1", "call", "d"]]
    assert ["open" in element.attributes for element in page.all("details")] == [True, False]


def test_stack_paths_beyond_the_budget_are_counted() -> None:
    html = render_paths([path_of("a", calls=5), path_of("b", calls=7)], CharacterBudget(0))
    assert "12 calls on stack paths that are not shown." in html
    assert "<details" not in html


def test_deep_stack_paths_are_shown_completely() -> None:
    names = [f"f{number}" for number in range(300)]
    assert len(Page.of(render_path([path_of(name) for name in names])).all("li")) == 300
    assert len(Page.of(render_paths([path_of(*names)], CharacterBudget(10**6))).all("li")) == 300


def test_the_longest_call_of_each_function_gets_its_stack_path_first() -> None:
    took = [("ask", 5), ("ask", 9), ("compile", 900), ("ask", None), ("free", None)]
    calls = [StepCall(function, 0, "main", duration, "", (), 0) for function, duration in took]
    assert prioritize_calls(calls) == [2, 1, 4, 0, 3]


def test_omitted_lines_of_a_file_are_counted() -> None:
    lines = tuple((DisplayedLocation(f"long.py:{number}", None, "exact"), 1) for number in range(1, 71))
    observations = small.observations()
    observed = replace(observations.functions[0], lines=lines)
    book = GuidebookData("Lines", replace(observations, functions=(observed,)), ())
    page = build_lines_page(book, Templates(book))
    assert '<p class="left-out">10 lines more.</p>' in page.html
    assert page.html.count('<th scope="row"') == 60


def test_call_orders_have_a_text_for_screen_readers() -> None:
    before, after = [NameCount("PJRT_Event_Await", 1200)], [NameCount(HOSTILE, 1)]
    page = Page.of(draw_order("PJRT_Event_Destroy", before, after, LINKS))
    assert page.problems == []
    (said,) = page.all("desc")
    assert said.text.startswith("Before: PJRT_Event_Await 1,200 times. After: </title>")
    assert [link.attributes["href"] for link in page.all("a")] == ["PJRT_Event_Await.html"]


def test_headings_have_the_same_anchors_as_on_github() -> None:
    assert heading_anchor("The `--plugin` option, and why?", "-") == "the---plugin-option-and-why"


def test_a_table_lists_its_functions() -> None:
    assert Table("p", "t", "", (("A", ("a", "b")), ("B", ("c",)))).functions == ("a", "b", "c")


def test_without_mkdocs_the_error_names_the_package_to_install(tmp_path: Path) -> None:
    code = "from framedex.commands.main import cli; cli(['guidebook', '--out', 'site'])"
    ran = subprocess.run(
        python_without(["mkdocs", "material"], code), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "pip install 'framedex[guidebook]'" in ran.stderr
    assert list(tmp_path.iterdir()) == []
