"""Generate the C++ tables of TPU kinds from `tpu_kinds.json`: `python generate_tpu_kinds.py OUTPUT_FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def tables(data: dict[str, Any]) -> str:
    """The C++ definitions of the tables that `tpu_kind.h` declares."""
    spaces = ", ".join(f'{{"{space["name"]}", {space["kind_id"]}}}' for space in data["memory_spaces"]["kinds"])
    kinds = ",\n".join(_kind(kind) for kind in data["kinds"])
    return "\n".join(
        [
            "// Generated from tpu_kinds.json; do not edit.",
            '#include "pjrt/mock/machine/tpu_kind.h"',
            "namespace framedex::mock {",
            f"const std::vector<MemorySpaceKind> kMemorySpaceKinds = {{{spaces}}};",
            f"const std::vector<TpuKind> kTpuKinds = {{\n{kinds}}};",
            "}  // namespace framedex::mock",
            "",
        ]
    )


def _kind(kind: dict[str, Any]) -> str:
    names = [configuration["name"] for configuration in kind["configurations"]]
    fields = [
        f'"{kind["name"]}"',
        f'"{kind["device_kind"]}"',
        str(kind["dimensions"]),
        _braces(kind["chips_per_host"]),
        _braces(kind["smallest_slice"]),
        _braces(map(_configuration, kind["configurations"])),
        str(names.index(kind["client"])),
        str(names.index(kind["topology"])),
    ]
    return _braces(fields)


def _configuration(configuration: dict[str, Any]) -> str:
    fields = (configuration[name] for name in ("devices_per_chip", "cores_per_device", "memory"))
    return _braces([f'"{configuration["name"]}"', *fields])


def _braces(values: Any) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


if __name__ == "__main__":
    text = tables(json.loads((Path(__file__).parent / "tpu_kinds.json").read_text()))
    output = Path(sys.argv[1])
    output.parent.mkdir(parents=True, exist_ok=True)
    if not output.exists() or output.read_text() != text:
        output.write_text(text)
