"""The cells of a notebook that a capture keeps: what is written is read, and nothing else is taken for a cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framedex.captures import Cell, read_cells, write_cells
from framedex.placetext import cell_name


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A folder of a capture that began at a known moment."""
    (tmp_path / "capture.json").write_text(
        json.dumps({"format": "framedex-capture", "version": 3, "started_unix_ns": 10**18})
    )
    return tmp_path


def test_cells_are_read_as_they_were_written(capture: Path) -> None:
    write_cells(capture, [Cell("/tmp/ipykernel_1/1.py", "In[1]", "a = 1\n"), Cell("<ipython-2>", "In[2]", "ä\udc80\n")])
    found = read_cells(capture)
    assert {name: Path(path).name for name, path in found.items()} == {
        "/tmp/ipykernel_1/1.py": "In[1].py",
        "<ipython-2>": "In[2].py",
    }
    assert Path(found["/tmp/ipykernel_1/1.py"]).read_text() == "a = 1\n"
    assert Path(found["<ipython-2>"]).read_bytes() == b"\xc3\xa4\x80\n"


def test_files_are_as_old_as_the_recording(capture: Path) -> None:
    """A newer one would be taken for one that was changed since."""
    write_cells(capture, [Cell("a", "In[1]", "")])
    assert (capture / "cells" / "In[1].py").stat().st_mtime_ns == 10**18


def test_two_cells_of_one_name_have_files_of_their_own(capture: Path) -> None:
    write_cells(capture, [Cell("a", "In[1]", "a"), Cell("b", "In[1]", "b")])
    found = read_cells(capture)
    assert [Path(found[name]).read_text() for name in "ab"] == ["a", "b"]
    assert [cell_name(found[name]) for name in "ab"] == ["cell In[1]", "cell In[1]"]


def test_what_is_no_name_of_a_cell_is_left_out(capture: Path) -> None:
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
    assert cell_name("/home/me/In[1].py") == ""
