"""What pages say that commands print is what they print."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
README = DOCS.parent / "README.md"
SESSIONS: dict[str, Any] = runpy.run_path(str(DOCS / "make_sessions.py"))


@pytest.mark.exhaustive(keep=["README.md", "tutorial.md"])
@pytest.mark.parametrize("page", SESSIONS["pages"](), ids=lambda page: page.name)
def test_the_sessions_of_a_page_are_as_it_says(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / page.stem
    folder.mkdir()
    # The home folder of a page is new; hashes and names of JAX's libraries are those of the other tests.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache.mkdir(parents=True, exist_ok=True)
    (tmp_path / ".cache").symlink_to(cache)
    _, differences = SESSIONS["play"](page, folder)
    assert not differences, "\n\n".join(map(str, differences)) + f"\n\nrun: python docs/make_sessions.py {page.name}"
    if page == README:
        run_the_commands_of_the_table(folder)


def run_the_commands_of_the_table(folder: Path) -> None:
    (folder / "crash.log").write_text('Traceback (most recent call last):\n  File "train.py", line 18, in <module>\n')
    commands = re.findall(r"^\| `(framedex [^`]+)` \|", README.read_text(), re.MULTILINE)
    assert commands
    for command in commands:
        ran = subprocess.run(
            [SESSIONS["TOOLS"] / "framedex", *shlex.split(command)[1:]],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, f"{command}: {ran.stderr}"


def test_a_page_without_sessions_is_refused() -> None:
    with pytest.raises(
        SystemExit, match=r"the name how-to/ci\.md, nothing\.md; the pages are README\.md, .*tutorial\.md"
    ):
        SESSIONS["main"](["how-to/ci.md", "nothing.md"])


def test_times_may_differ_and_all_else_is_compared() -> None:
    taken_over = SESSIONS["taken_over"]
    printed = ["id  seconds   duration", " 1  0.015963   4.83 µs  main", "", "two", "three"]
    assert taken_over(["id seconds duration", " 1  0.2 s main", "..."], printed) is None
    assert taken_over(["id seconds duration", " 1  0.999999   7 ns  main", "..."], printed) == [*printed[:2], "..."]
    assert taken_over(["...", "tw...", "three"], printed) == ["...", "tw...", "three"]
    assert taken_over(["...", "two"], printed) is None
    assert taken_over(printed[:-1], printed) is None
