"""Several processes index and query at once: each succeeds, and none disturbs another."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from framedex.index import Index
from framedex.index.file.seal import seal_path
from tests.running import plain_environment

FRAMEDEX = str(Path(sys.executable).with_name("framedex"))


@pytest.mark.exhaustive
def test_concurrent_indexers_and_readers_share_one_index(tmp_path: Path, captures: Path) -> None:
    """Three processes create one index while others query: it is complete, sealed, and answers correctly."""
    small, large = sorted(captures.iterdir())
    indexers = [_start(tmp_path, "index", str(each)) for each in (captures, small, large)]
    asked = 0
    while any(process.poll() is None for process in indexers):
        reader = _start(tmp_path, "captures")
        _, told = reader.communicate(timeout=60)
        assert reader.returncode == 0 or "There is no index" in told or "is empty" in told, told
        assert "was changed" not in told
        asked += 1
    for process in indexers:
        _, told = process.communicate(timeout=60)
        assert process.returncode == 0, told
    assert asked
    with Index.open(tmp_path / ".framedex" / "index.db") as index:
        assert {Path(row.path) for row in index.captures()} == {small, large}
        assert not index.was_changed
    assert _start(tmp_path, "index").wait(timeout=60) == 0  # readers keep the last of them from sealing
    assert seal_path(tmp_path / ".framedex" / "index.db").read_text()


def _start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [FRAMEDEX, *arguments],
        cwd=folder,
        env=plain_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
