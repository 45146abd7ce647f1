"""The guidebook's facts about functions match the ABI data."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

from framedex.guidebook.api_functions import read_api_functions, read_api_releases
from framedex.model.guidebook import Kind
from tests.pythons import ROOT

DATA = ROOT / "native" / "abi"


def test_the_committed_table_matches_the_data() -> None:
    make = "import generate_guidebook as g; print(g.table(), end='')"
    made = subprocess.run([sys.executable, "-c", make], cwd=DATA, capture_output=True, text=True, check=True)

    committed = ROOT / "indexer" / "framedex" / "guidebook" / "abi.json"
    assert made.stdout == committed.read_text(), "run `python native/abi/generate_guidebook.py`"


def test_every_function_is_described_once_in_table_order() -> None:
    pjrt = json.loads((DATA / "pjrt_c_api.json").read_text())
    tpu = json.loads((DATA / "tpu_c_api_jaxlib_0.4.13.json").read_text())
    names = {kind: [each.name for each in read_api_functions() if each.kind is kind] for kind in Kind}

    assert names[Kind.API] == [function["name"] for function in pjrt["functions"]]
    assert names[Kind.LEGACY] == [function["name"] for function in tpu["functions"]]
    assert {"PLUGIN_Profiler_Start", "PJRT_Layouts_MemoryLayout_Serialize"} <= {*names[Kind.EXTENSION]}
    assert "PJRT_Memory_FunctionTable.set_user_data" in names[Kind.OBJECT]
    assert max(Counter(each.name for each in read_api_functions()).values()) == 1


def test_a_field_has_the_version_that_added_it() -> None:
    (execute,) = (each for each in read_api_functions() if each.name == "PJRT_LoadedExecutable_Execute")
    since = {parameter.name: parameter.since for parameter in execute.parameters}

    assert execute.since is None
    assert since["executable"] is None
    assert since["options.call_location"] == 76
    (mapped,) = (each for each in read_api_functions() if each.name == "PJRT_Client_DmaMap")
    assert mapped.since == 67


def test_outputs_are_distinguished_from_inputs() -> None:
    (put,) = (each for each in read_api_functions() if each.name == "PJRT_Client_BufferFromHostBuffer")

    assert {each.name for each in put.parameters if each.is_output} == {"done_with_host_buffer", "buffer"}


def test_functions_link_to_their_declarations_at_a_commit() -> None:
    sources = {each.name: each.source for each in read_api_functions()}

    assert sources["PJRT_Buffer_ToHostBuffer"] == (
        "https://github.com/openxla/xla/blob/dcf304bc5dca1932b99f740b911dbd73631a1a69/xla/pjrt/c/pjrt_c_api.h#L2466"
    )
    assert [name for name, source in sources.items() if source is None] == [
        *("PJRT_Example_example_method", "PJRT_Example_create", "PJRT_Example_destroy"),
        # declared by older headers
        *("PJRT_HostAllocator_GetPreferredAlignment", "PJRT_HostAllocator_Allocate", "PJRT_HostAllocator_Free"),
    ]


def test_jaxlib_releases_are_listed_with_their_api_version() -> None:
    assert (read_api_releases()[0].jaxlib, read_api_releases()[0].minor) == ("0.4.26", 47)
    assert [each.functions for each in read_api_releases()] == sorted(each.functions for each in read_api_releases())
