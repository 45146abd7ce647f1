"""Notebook cells of a capture: written cells are read, and no other file counts as a cell."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from framedex.captures import Cell, read_cells, write_cells
from framedex.commands.launching.outcome import RecorderEventFile
from framedex.commands.output.terminal import Terminal, paint, render_location_line
from framedex.model import Location, LocationEvidence
from framedex.texts.places import format_cell_name, format_location


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """The folder of a capture with a known start time."""
    (tmp_path / "capture.json").write_text(
        json.dumps({"format": "framedex-capture", "version": 3, "started_unix_ns": 10**18})
    )
    return tmp_path


def test_cells_are_read_back_as_written(capture: Path) -> None:
    write_cells(capture, [Cell("/tmp/ipykernel_1/1.py", "In[1]", "a = 1\n"), Cell("<ipython-2>", "In[2]", "ä\udc80\n")])
    found = read_cells(capture)
    assert {name: Path(path).name for name, path in found.items()} == {
        "/tmp/ipykernel_1/1.py": "In[1].py",
        "<ipython-2>": "In[2].py",
    }
    assert Path(found["/tmp/ipykernel_1/1.py"]).read_text() == "a = 1\n"
    assert Path(found["<ipython-2>"]).read_bytes() == b"\xc3\xa4\x80\n"


def test_cell_files_have_the_time_of_the_recording(capture: Path) -> None:
    """A newer file would count as changed after the recording."""
    write_cells(capture, [Cell("a", "In[1]", "")])
    assert (capture / "cells" / "In[1].py").stat().st_mtime_ns == 10**18


def test_two_cells_of_one_name_have_separate_files(capture: Path) -> None:
    write_cells(capture, [Cell("a", "In[1]", "a"), Cell("b", "In[1]", "b")])
    found = read_cells(capture)
    assert [Path(found[name]).read_text() for name in "ab"] == ["a", "b"]
    assert [format_cell_name(found[name]) for name in "ab"] == ["cell In[1]", "cell In[1]"]


def test_invalid_cell_names_are_ignored(capture: Path) -> None:
    cases: list[str] = [
        "",
        "[]",
        "[" * 100_000,
        '{"a": 1}',
        '{"a": "../../../etc/passwd"}',
        '{"a": "In[1].py/../../x"}',
        '{"a": "/etc/passwd"}',
        '{"a": "In[1].py\\n"}',
    ]
    for names in cases:
        (capture / "cells").mkdir(exist_ok=True)
        (capture / "cells" / "names.json").write_text(names)
        assert read_cells(capture) == {}


def test_a_capture_without_cells_has_none(capture: Path) -> None:
    assert read_cells(capture) == {}
    assert format_cell_name("/home/me/In[1].py") == ""


@pytest.mark.parametrize(
    ("notebook", "file", "name"),
    [
        ("", "In[3].py", "cell In[3]"),
        ("train.ipynb", "train.ipynb.In[3].py", "train.ipynb cell In[3]"),
        ("größe 2.ipynb", "größe 2.ipynb.In[3].py", "größe 2.ipynb cell In[3]"),
        ("../a\0b:\n.ipynb", ".._a_b__.ipynb.In[3].py", ".._a_b__.ipynb cell In[3]"),
        ("n" * 300, "n" * 100 + ".In[3].py", "n" * 100 + " cell In[3]"),
    ],
)
def test_cell_files_are_named_after_notebook_and_cell(capture: Path, notebook: str, file: str, name: str) -> None:
    write_cells(capture, [Cell("/tmp/ipykernel_1/2.py", "In[3]", "x = 1\n", notebook)])
    path = Path(read_cells(capture)["/tmp/ipykernel_1/2.py"])
    assert path == capture / "cells" / file
    assert path.read_text() == "x = 1\n"
    assert format_cell_name(str(path)) == name
    assert format_location(str(path), 4) == f"{name} line 4"


def test_other_files_are_not_treated_as_cells() -> None:
    assert format_location("/x/train.py", 4) == "/x/train.py:4"
    assert format_cell_name("/x/In[3].py") == ""


def test_a_terminal_with_links_shows_the_cell_and_others_show_the_file(capture: Path) -> None:
    write_cells(capture, [Cell("<ipython-input-3>", "In[3]", "x = 1\n", "train.ipynb")])
    path = read_cells(capture)["<ipython-input-3>"]
    line = render_location_line(Location(path, 1, LocationEvidence.EXACT))
    with_links = paint(line, Terminal(colors=False, links=True))
    assert "train.ipynb cell In[3] line 1" in with_links and "In%5B3%5D.py#1" in with_links
    assert paint(line, Terminal(colors=False, links=False)) == f"{path}:1"


def test_malformed_cells_in_a_report_are_ignored() -> None:
    cell = {"pid": 7, "file": "f", "number": 1, "notebook": "", "text": "old"}
    entries = [cell, cell | {"text": "new"}, cell | {"pid": "x"}, {"pid": 7}, [], cell | {"pid": 8, "number": 2}]
    with RecorderEventFile() as report:
        file = os.open(report.variables()["FRAMEDEX_REPORT"], os.O_WRONLY | os.O_APPEND)
        for entry in (*(json.dumps(each).encode() for each in entries), b"{", b"\xff"):
            os.write(file, b"cell " + entry + b"\0")
        os.close(file)
        cells = report.read().cells
    assert cells == {7: [Cell("f", "In[1]", "new")], 8: [Cell("f", "In[2]", "old")]}
