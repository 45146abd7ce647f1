"""The conformance kit's description of the C API matches the ABI data."""

from __future__ import annotations

import subprocess
import sys

from tests.pythons import ROOT


def test_the_committed_description_matches_the_data() -> None:
    make = "import generate_conformance as g; print(g.description(), end='')"
    made = subprocess.run(
        [sys.executable, "-c", make], cwd=ROOT / "native" / "abi", capture_output=True, text=True, check=True
    )

    committed = ROOT / "indexer" / "framedex" / "plugins" / "conformance" / "api.json"
    assert made.stdout == committed.read_text(), "run `python native/abi/generate_conformance.py`"
