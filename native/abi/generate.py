"""Generate C++ from the data in this folder: `python generate.py OUTPUT_FOLDER`.

For PJRT: the header, its layout check, the traced table, and the tables of UNIMPLEMENTED answers, fault injection and
behaviours. For the legacy TPU C API: the same kinds of files, with individually exported functions. For CPython: the
layouts.

Writes a file only if its text changes, so that builds stay incremental.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import generate_behaviours
import generate_faults
import generate_header
import generate_tpu_header
import generate_tpu_trace
import generate_trace
import pjrt_abi
import tpu_abi

HERE = Path(__file__).parent


def main(output: Path) -> None:
    """Write every generated file into `output`."""
    abi = pjrt_abi.load(HERE / "pjrt_c_api.json", HERE / "pjrt_c_api_history.json")
    tpu = tpu_abi.load()
    files = {
        "pjrt_c_api.h": generate_header.header(abi),
        "pjrt_layout_check.cc": generate_header.layout_check(abi),
        "pjrt_enumerators.h": generate_trace.enumerators(abi),
        "pjrt_traced_table.cc": generate_trace.traced_table(abi, 0),
        "pjrt_second_traced_table.cc": generate_trace.traced_table(abi, 1),
        "pjrt_behaviour_table.cc": generate_behaviours.behaviour_table(abi),
        "pjrt_fault_table.cc": generate_faults.fault_table(abi),
        "pjrt_unimplemented.cc": generate_trace.unimplemented_table(abi),
        "tpu_c_api.h": generate_tpu_header.header(tpu),
        "tpu_layout_check.cc": generate_tpu_header.layout_check(tpu),
        "tpu_exported_functions.cc": generate_tpu_trace.exported_functions(tpu),
        "tpu_unimplemented.cc": generate_tpu_trace.unimplemented_table(tpu),
        "python_layout.h": cpython_layouts(json.loads((HERE / "cpython_layout.json").read_text())["layouts"]),
    }
    output.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = output / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def cpython_layouts(layouts: dict[str, dict[str, int]]) -> str:
    """A header with the struct `PythonLayout` and its value for each minor version. -1 marks a missing member."""
    names = sorted({name for layout in layouts.values() for name in layout})
    lines = [generate_trace.NOTICE, "#pragma once", "namespace framedex::recorder {", "struct PythonLayout {"]
    lines += ["  int minor;", *(f"  int {name.replace('.', '_')};" for name in names), "};"]
    lines.append("inline constexpr PythonLayout kPythonLayouts[] = {")
    for version, layout in layouts.items():
        offsets = ", ".join(str(layout.get(name, -1)) for name in names)
        lines.append(f"    {{{version.split('.')[1]}, {offsets}}},")
    return "\n".join([*lines, "};", "}  // namespace framedex::recorder", ""])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
