"""The indexer's table of struct sizes, generated from the ABI's description and history."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.pythons import ROOT

TABLE = ROOT / "indexer" / "framedex" / "plugins" / "validation" / "struct_sizes.json"


def test_the_committed_table_matches_the_data() -> None:
    make = "import generate_struct_sizes as g, pjrt_abi; print(g.table(pjrt_abi.load(g.DATA, g.HISTORY)), end='')"
    made = subprocess.run(
        [sys.executable, "-c", make], cwd=ROOT / "native" / "abi", capture_output=True, text=True, check=True
    )

    assert made.stdout == TABLE.read_text(), "run `python native/abi/generate_struct_sizes.py`"


def test_a_struct_that_grew_has_two_sizes() -> None:
    functions = json.loads(TABLE.read_text())["functions"]
    assert functions["PJRT_Buffer_Destroy"] == {"struct_size": [24, 24]}
    assert functions["PJRT_LoadedExecutable_Execute"]["options.struct_size"][0] == 72
    assert functions["PJRT_LoadedExecutable_Execute"]["options.struct_size"][1] > 72
