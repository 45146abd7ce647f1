"""Changes of files since their recorded states."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from framedex.model import FileState
from framedex.sources import file_versions
from framedex.sources.file_versions import FileChanges, compute_blob_name


def test_the_cache_of_old_texts_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_versions, "_MAX_TEXT_LENGTH", 4_000_000)
    found = FileChanges(lambda _: b"x" * 1_000_000)
    tracemalloc.start()
    try:
        for number in range(20):
            file = tmp_path / f"{number}.py"
            file.write_text("y = 1\n")
            change = found.change_since(str(file), FileState(1, 1_000_000, compute_blob_name(b"x" * 1_000_000)))
            assert change is not None and len(change.text) == 1_000_000
        assert tracemalloc.get_traced_memory()[0] < 10_000_000
    finally:
        tracemalloc.stop()
