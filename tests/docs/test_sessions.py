"""Sessions on pages match the real output of their commands."""

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
def test_sessions_of_a_page_match_real_output(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / page.stem
    folder.mkdir()
    # The home folder of a page is new. Hashes and names of JAX's libraries come from the other tests.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache.mkdir(parents=True, exist_ok=True)
    (tmp_path / ".cache").symlink_to(cache)
    _, differences = SESSIONS["replay_page"](page, folder)
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


def test_a_line_with_elided_text_gets_its_current_figures() -> None:
    update_documented_lines = SESSIONS["update_documented_lines"]
    printed = ["   1.2 s until call 12 of step  trace 80", " 900 ms   75.0 %  imports"]
    documented = ["1.98 s until call ... of step  trace ...", "..."]
    assert update_documented_lines(documented, printed) == ["   1.2 s until call ... of step  trace ...", "..."]


def test_times_may_differ_but_all_other_text_is_compared() -> None:
    update_documented_lines = SESSIONS["update_documented_lines"]
    printed = ["id  seconds   duration", " 1  0.015963   4.83 µs  main", "", "two", "three"]
    assert update_documented_lines(["id seconds duration", " 1  0.2 s main", "..."], printed) is None
    assert update_documented_lines(["id seconds duration", " 1  0.999999   7 ns  main", "..."], printed) == [
        *printed[:2],
        "...",
    ]
    assert update_documented_lines(["...", "tw...", "three"], printed) == ["...", "tw...", "three"]
    assert update_documented_lines(["...", "two"], printed) is None
    assert update_documented_lines(printed[:-1], printed) is None
