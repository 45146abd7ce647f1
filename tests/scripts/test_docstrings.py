"""`scripts/docstrings.py` writes docstrings for the prose linter, each on its own lines of the Python file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "docstrings.py"
SOURCE = '''"""A module."""

TEXT = """No docstring."""


class Frame:
    """A frame.

    It has a line.
    """

    def line(self) -> int:
        r"""The line."""
        return 1
'''


def test_docstrings_keep_their_lines_and_files_of_deleted_modules_are_removed(tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (room / "frame.py").write_text(SOURCE)
    (room / "gone.py").write_text(SOURCE)
    command = [sys.executable, str(SCRIPT), "pages", "room"]

    subprocess.run(command, cwd=tmp_path, check=True)
    (room / "gone.py").unlink()
    subprocess.run(command, cwd=tmp_path, check=True)

    (page,) = (tmp_path / "pages").rglob("*.md")
    assert page == tmp_path / "pages" / "room" / "frame.py.md"
    lines = {number: line for number, line in enumerate(page.read_text().splitlines(), 1) if line}
    assert lines == {1: "A module.", 7: "A frame.", 9: "It has a line.", 13: "The line."}
