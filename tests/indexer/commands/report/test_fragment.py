"""Captures as part of another page: no leaked styles, no scripts, and names as plain text."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from framedex.commands.report.charts import drop_callers_of_cells
from framedex.commands.report.contents import read_contents
from framedex.commands.report.fragment import build_trace_fragment, render_fragment
from framedex.index import Index
from framedex.model import CallFilter, FlameGraph, FlameKind, FlameNode, Location, LocationEvidence
from tests.indexer.commands.report.pages import Page
from tests.run.costs.trained import index_of_training


@pytest.fixture(scope="module")
def training() -> str:
    """The fragment for the training loop's captures."""
    with Index.open(index_of_training()) as index:
        return render_fragment(read_contents(index, index.answer_of(), 400), "none")


def test_a_fragment_is_one_element_with_scoped_styles(training: str) -> None:
    page = Page.of(training)
    assert page.problems == []
    assert {element.within[:1] for element in page.elements[1:]} == {("div",)}
    style = next(element.text for element in page.all("style"))
    assert style.startswith(".framedex {") and style.count("{") == style.count("}")


def test_without_scripts_a_fragment_has_tables_and_an_image(training: str) -> None:
    page = Page.of(training)
    assert len(page.all("table")) >= 5
    picture = page.all("img")[0].attributes["src"]
    drawn = base64.b64decode(picture.removeprefix("data:image/svg+xml;base64,")).decode("ascii")
    assert drawn.startswith("<svg xmlns=") and "PJRT_Client_Compile" in drawn and "<script" not in drawn


def test_a_trace_shows_its_frames_and_the_number_of_omitted_ones() -> None:
    with Index.open(index_of_training()) as index:
        trace = index.calls.trace(index.calls.find(CallFilter(function="PJRT_Client_Compile"), 1)[0].id)
    assert trace is not None
    frame = replace(trace.frames[-1], function=replace(trace.frames[-1].function, name="<script>alert(1)</script>"))
    page = build_trace_fragment(replace(trace, frames=(*trace.frames, frame)), "none")
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "of the interpreter and glue left out" in page


def test_frames_that_call_the_cell_are_omitted(tmp_path: Path) -> None:
    cell = Location(str(tmp_path / "cells" / "In[3].py"), 2, LocationEvidence.EXACT)

    def node(parent: int, name: str, location: Location | None = None) -> FlameNode:
        return FlameNode(parent, FlameKind.PYTHON, name, 1, 1, None, location, 0)

    nodes = (
        *(node(-1, "main"), node(0, "run_cell"), node(1, "<module>", cell), node(2, "ones"), node(1, "log")),
        *(node(-1, "thread"), node(5, "callback", cell), node(-1, "native")),
    )
    shown = drop_callers_of_cells(FlameGraph(8, 8, 0, 0, nodes)).nodes
    assert [(each.parent, each.name) for each in shown] == [
        *((-1, "cell In[3]"), (0, "ones"), (-1, "log"), (-1, "callback"), (-1, "native")),
    ]
