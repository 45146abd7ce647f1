"""The indexer's table of FFI enumerators, generated from the ABI's description."""

from __future__ import annotations

import subprocess
import sys

from tests.pythons import ROOT

TABLE = ROOT / "indexer" / "framedex" / "programs" / "ffi" / "ffi_enumerators.json"


def test_the_committed_table_matches_the_data() -> None:
    make = "import generate_ffi as g, pjrt_abi; print(g.table(pjrt_abi.load(g.DATA)), end='')"
    folder = ROOT / "native" / "abi"
    made = subprocess.run([sys.executable, "-c", make], cwd=folder, capture_output=True, text=True, check=True)
    assert made.stdout == TABLE.read_text(), "run `python native/abi/generate_ffi.py`"
