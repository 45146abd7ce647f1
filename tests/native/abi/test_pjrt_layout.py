"""The generated C header has the layout that the ABI's description states, as a C compiler sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.pythons import ROOT

ABI_FOLDER = ROOT / "native" / "abi"
ABI: dict[str, Any] = json.loads((ABI_FOLDER / "pjrt_c_api.json").read_text())


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """The sizeof and offsetof values of a C program, by name: `PJRT_Error`, `PJRT_Error.vtable`, ..."""
    folder = tmp_path_factory.mktemp("layout")
    subprocess.run([sys.executable, str(ABI_FOLDER / "generate.py"), str(folder)], check=True)
    lines = [f'  printf("{name} %zu\\n", (size_t)({expression}));' for name, expression in questions().items()]
    source = folder / "layout.c"
    source.write_text(
        "\n".join(['#include "pjrt_c_api.h"', "#include <stdio.h>", "int main(void) {", *lines, "  return 0;", "}", ""])
    )
    subprocess.run(["cc", "-Wall", "-Werror", source, "-o", folder / "layout"], check=True)
    answer = subprocess.run([folder / "layout"], check=True, capture_output=True, text=True).stdout
    return {name: int(value) for name, value in (line.split() for line in answer.splitlines())}


def questions() -> dict[str, str]:
    """Every struct, field and enumerator of the description, and the C expression that measures it."""
    asked = {"PJRT_Api": "sizeof(PJRT_Api)", "major": "PJRT_API_MAJOR", "minor": "PJRT_API_MINOR"}
    for name, struct in ABI["structs"].items():
        asked[name] = f"sizeof({name})"
        if "struct_size" in struct:
            asked[f"{name}_STRUCT_SIZE"] = f"{name}_STRUCT_SIZE"
        for field, _ in offsets(struct["fields"]):
            asked[f"{name}.{field}"] = f"offsetof({name}, {field})"
    asked |= {
        f"PJRT_Api.{function['name']}": f"offsetof(PJRT_Api, {function['name']})" for function in ABI["functions"]
    }
    return asked | {member: member for members in ABI["enums"].values() for member in members}


def offsets(fields: list[dict[str, Any]], base: int = 0) -> list[tuple[str, int]]:
    """The fields and their offsets in bytes; the members of an unnamed union count as fields."""
    found = []
    for field in fields:
        if field["name"] is None:
            found += offsets(field["fields"], base + field["offset"])
        else:
            found.append((field["name"], base + field["offset"]))
    return found


def test_every_struct_has_its_size(measured: dict[str, int]) -> None:
    structs = ABI["structs"]
    assert {name: measured[name] for name in structs} == {name: struct["size"] for name, struct in structs.items()}
    sized = {name: struct["struct_size"] for name, struct in structs.items() if "struct_size" in struct}
    assert {name: measured[f"{name}_STRUCT_SIZE"] for name in sized} == sized


def test_every_field_has_its_offset(measured: dict[str, int]) -> None:
    expected = {
        f"{name}.{field}": offset
        for name, struct in ABI["structs"].items()
        for field, offset in offsets(struct["fields"])
    }
    assert {name: measured[name] for name in expected} == expected
    assert len(expected) > 1000


def test_every_enumerator_has_its_value(measured: dict[str, int]) -> None:
    expected = {member: value for members in ABI["enums"].values() for member, value in members.items()}
    assert {name: measured[name] for name in expected} == expected


def test_the_table_has_all_138_functions_in_order(measured: dict[str, int]) -> None:
    # The header of the table: struct_size, extension_start, and the version by value.
    first = 16 + ABI["structs"]["PJRT_Api_Version"]["size"]
    names = [function["name"] for function in ABI["functions"]]
    assert [measured[f"PJRT_Api.{name}"] for name in names] == [first + 8 * index for index in range(138)]
    assert measured["PJRT_Api"] == first + 8 * 138
    assert (measured["major"], measured["minor"]) == (0, 114)


def test_regenerating_changes_no_file(tmp_path: Path) -> None:
    generate = [sys.executable, str(ABI_FOLDER / "generate.py"), str(tmp_path)]
    subprocess.run(generate, check=True)
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    subprocess.run(generate, check=True)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before
    assert len(before) == 13
