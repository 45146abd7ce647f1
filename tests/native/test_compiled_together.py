"""Native libraries that are compiled as one file (native/faster_compilation.cmake)."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.pythons import ROOT

_CONSTANT = re.compile(r"^(?:inline )?constexpr [^=({]*?\b(k[A-Z]\w*)", re.MULTILINE)


@pytest.mark.parametrize("library", ["extractor", "capture_reader", "call_stream"])
def test_no_constant_hides_that_of_another_file(library: str) -> None:
    """Given files compiled as one, a constant in an unnamed namespace would silently replace one of the same name."""
    files: dict[str, set[Path]] = defaultdict(set)
    for path in (ROOT / "native" / library).rglob("*.[ch]*"):
        for name in _CONSTANT.findall(path.read_text()):
            files[name].add(path.relative_to(ROOT))

    assert len(files) > 2
    assert {name: paths for name, paths in files.items() if len(paths) > 1} == {}
