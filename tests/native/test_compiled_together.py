"""Native libraries compiled as one file (native/faster_compilation.cmake)."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.pythons import ROOT

_CONSTANT = re.compile(r"^(?:inline )?constexpr [^=({]*?\b(k[A-Z]\w*)", re.MULTILINE)


@pytest.mark.parametrize("library", ["extractor", "capture_reader", "call_stream"])
def test_no_constant_hides_one_of_another_file(library: str) -> None:
    """Several files compiled as one: unnamed-namespace constants with one name would silently replace each other."""
    files: dict[str, set[Path]] = defaultdict(set)
    for path in (ROOT / "native" / library).rglob("*.[ch]*"):
        for name in _CONSTANT.findall(path.read_text()):
            files[name].add(path.relative_to(ROOT))

    assert len(files) > 2
    assert {name: paths for name, paths in files.items() if len(paths) > 1} == {}
