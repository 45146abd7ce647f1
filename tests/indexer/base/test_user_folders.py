"""The user's own folders."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from framedex.base.folders import user_folder
from framedex.binaries import DigestCache


def test_an_xdg_variable_sets_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_folder("XDG_CACHE_HOME") == tmp_path


def test_a_relative_value_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert user_folder("XDG_DATA_HOME") == tmp_path / ".local/share"


def test_without_a_home_nothing_is_stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "no-home")
    monkeypatch.chdir(tmp_path)
    library = tmp_path / "library.so"
    library.write_bytes(b"code")

    assert user_folder("XDG_CACHE_HOME") is None
    assert DigestCache().compute_digest(library) == hashlib.sha256(b"code").hexdigest()
    assert list(tmp_path.iterdir()) == [library]
