"""Names without a recorded call: their kind, their location, and similar names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.index import Store
from framedex.model import ExtractedFile
from tests.indexer.recorded import Project
from tests.shapes_of_programs import Marked, recorded_shapes

Run = Callable[..., str]


def said(*arguments: str) -> str:
    """The output of a verb that finds nothing in the current folder."""
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 1, result.output
    return result.stderr


@pytest.fixture
def run(indexed_once: Project, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The output of a verb that finds nothing in an indexed project's folder."""
    monkeypatch.chdir(indexed_once.folder)
    return said


@pytest.fixture(scope="module")
def shapes() -> Marked:
    """A recorded program with functions inside jit."""
    return recorded_shapes()


@pytest.mark.exhaustive(keep=["trace"])
@pytest.mark.parametrize("verb", ["callers", "callees", "trace"])
def test_a_function_inside_jit_leads_to_the_operations_of_its_lines(
    shapes: Marked, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.chdir(shapes.path.parent)
    told = said(verb, "plain")

    assert "plain makes no calls itself: it is compiled into jit_plain." in told
    (proposed,) = re.findall("`framedex ([^`]*)`", told)
    assert proposed == f"where {shapes.path}:{shapes.line('plain', 'sine')}"
    assert "is inside jit(plain)" in CliRunner().invoke(cli, shlex.split(proposed)).stdout


def test_a_program_function_inside_jit_is_listed_beside_installed_namesakes(shapes: Marked) -> None:
    told = CliRunner().invoke(cli, ["--index", str(shapes.index), "callees", "__call__"]).stderr

    place = f"{shapes.path}:{shapes.line('method', 'sine')}"
    assert "In your code: " in told and f"`framedex --index {shapes.index} where {place}`" in told


@pytest.mark.exhaustive(keep=["callees"])
@pytest.mark.parametrize("verb", ["callers", "callees", "trace"])
def test_a_location_with_spaces_can_be_typed_as_proposed(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verb: str
) -> None:
    project.ingest().close()
    monkeypatch.chdir(project.folder)
    source = tmp_path / "a folder" / "never.cc"
    source.parent.mkdir()
    source.write_text("void never() {}\n")
    with Store(Path(".framedex/index.db")) as store, store.transaction():
        rows = [("never", "never", "function", "()", 1, 1, False, False, None)]
        store.sources.replace_files([ExtractedFile(str(source), "cpp", 0, 0, 0, 0, rows, ())], {})

    told = said(verb, "never")

    assert f"`framedex where '{source}:1'`" in told


@pytest.mark.exhaustive(keep=["trasnfer-transfer-callers", "Client_BufferFromHostBufer-Client_-trace"])
@pytest.mark.parametrize("verb", ["callers", "callees", "trace"])
@pytest.mark.parametrize(("typed", "meant"), [("trasnfer", "transfer"), ("Client_BufferFromHostBufer", "Client_")])
def test_a_misspelt_function_proposes_the_intended_one(run: Run, verb: str, typed: str, meant: str) -> None:
    assert f"Did you mean '{meant}" in run(verb, typed).replace("PJRT_", "")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("find", "Bufer"), "buffer"),
        (("find", "trasnfer"), "transfer"),
        (("calls", "--function", "Clietn"), "client"),
        (("summary", "--function", "PJRT_Client_BufferFromHostBufer"), "pjrt_client_bufferfromhostbuffer"),
    ],
)
def test_a_misspelt_part_of_a_name_proposes_a_similar_word(run: Run, arguments: tuple[str, ...], meant: str) -> None:
    assert f"did you mean '{meant}'?" in run(*arguments).lower()


def test_an_unknown_name_proposes_nothing(run: Run) -> None:
    assert "Did you mean" not in run("callees", "xyzzyxyzzy")


def test_call_ids_and_locations_are_redirected_to_their_verbs(run: Run) -> None:
    assert "1 is a call id, not a function." in run("callers", "1") and "`framedex trace 1`" in run("callees", "1")
    assert "No function like '99999'" in run("callers", "99999")
    assert "`framedex where demo.py:2`" in run("callees", "demo.py:2")
    assert "`framedex where demo.py`" in run("trace", "demo.py")


def test_the_error_for_a_call_of_another_capture_names_that_capture(run: Run) -> None:
    told = run("trace", "99", "--capture", "1")

    assert "Call 99 is not in the captures of --capture" in told and "`framedex trace 99`" in told


def test_line_zero_is_refused_and_a_range_means_its_first_line(run: Run) -> None:
    assert "demo.py has no line 0." in run("where", "demo.py:0")
    assert "No recorded call passes demo.py:7:" in run("where", "demo.py:7-9")
