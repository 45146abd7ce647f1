"""The output of `compare.py` for another version of the API: headers, wheels and interpreters."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.pythons import ROOT

ABI_FOLDER = ROOT / "native" / "abi"
DESCRIPTION = ABI_FOLDER / "pjrt_c_api.json"
ABI: dict[str, Any] = json.loads(DESCRIPTION.read_text())


@pytest.fixture(scope="module")
def header(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The description as a C header in the API's own style, with its macros."""
    folder = tmp_path_factory.mktemp("header")
    subprocess.run([sys.executable, str(ABI_FOLDER / "generate.py"), str(folder)], check=True)
    text = re.sub(r"typedef FRAMEDEX_ENUM\((\w+)\)", r"typedef enum \1", (folder / "pjrt_c_api.h").read_text())
    functions = {function["name"]: function for function in ABI["functions"]}
    table = re.compile(r"  \S+ \(\*(\w+)\)\(\w+\*\);")
    types = [f"typedef {entry['returns']} {name}({entry['args']}* args);" for name, entry in functions.items()]
    text = table.sub(
        lambda match: f"  _PJRT_API_STRUCT_FIELD({match[1]});" if match[1] in functions else match[0], text
    )
    text = re.sub(r"#define (\w+)_STRUCT_SIZE \d+", lambda match: traits(match[1]), text)
    return text.replace("struct PJRT_Api {", "\n".join([*types, "struct PJRT_Api {"]))


def traits(struct: str) -> str:
    """The macro that names the last required field."""
    if struct not in ABI["structs"]:
        return ""
    description = ABI["structs"][struct]
    counted = [
        field for field in description["fields"] if field["name"] and field["offset"] < description["struct_size"]
    ]
    last = max(counted, key=lambda field: field["offset"])
    return f"PJRT_DEFINE_STRUCT_TRAITS({struct}, {last['name']});"


def compare(*arguments: str | Path) -> tuple[int, list[str]]:
    """The exit status of `compare.py ARGUMENTS...` and its output lines."""
    command = [sys.executable, str(ABI_FOLDER / "compare.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout.splitlines()


def changed(folder: Path, header: str, *replacements: tuple[str, str]) -> tuple[int, list[str]]:
    """The output for the header with these texts replaced."""
    for old, new in replacements:
        assert old in header
        header = header.replace(old, new, 1)
    path = folder / "pjrt_c_api.h"
    path.write_text(header)
    return compare(path)


def test_equal_apis_have_no_differences(tmp_path: Path, header: str) -> None:
    assert changed(tmp_path, header) == (0, ["pjrt_c_api.json covers this version completely."])


def test_an_added_function_is_reported(tmp_path: Path, header: str) -> None:
    last = ABI["functions"][-1]["name"]
    new = "typedef PJRT_Error* PJRT_New(PJRT_New_Args* args);\nstruct PJRT_New_Args { size_t struct_size; };\n"
    entry = f"  _PJRT_API_STRUCT_FIELD({last});"
    replacements = (
        ("struct PJRT_Api {", new + "struct PJRT_Api {"),
        (entry, f"{entry}\n  _PJRT_API_STRUCT_FIELD(PJRT_New);"),
    )
    assert changed(tmp_path, header, *replacements) == (1, ["function PJRT_New", "struct PJRT_New_Args"])


@pytest.mark.exhaustive
def test_a_reordered_table_is_reported(tmp_path: Path, header: str) -> None:
    first, second = (f"_PJRT_API_STRUCT_FIELD({entry['name']});" for entry in ABI["functions"][:2])
    status, lines = changed(tmp_path, header, (first, "FIRST"), (second, first), ("FIRST", second))
    assert (status, lines) == (1, ["the order of the functions: the table is not the same with entries appended"])


def test_added_and_moved_fields_are_reported(tmp_path: Path, header: str) -> None:
    old = "struct PJRT_Event_IsReady_Args {\n  size_t struct_size;\n"
    status, lines = changed(tmp_path, header, (old, old + "  int32_t added;  // out\n"))
    assert status == 1
    assert lines == [
        "field PJRT_Event_IsReady_Args.added",
        "field PJRT_Event_IsReady_Args.extension_start is PJRT_Extension_Base* at 16; "
        "described as PJRT_Extension_Base* at 8",
        "field PJRT_Event_IsReady_Args.event is PJRT_Event* at 24; described as PJRT_Event* at 16",
        "field PJRT_Event_IsReady_Args.is_ready is bool at 32; described as bool at 24",
        "size of PJRT_Event_IsReady_Args is 40; described as 32",
        "struct_size of PJRT_Event_IsReady_Args is 33; described as 25",
    ]


def test_enumerators_extensions_and_versions_are_compared(tmp_path: Path, header: str) -> None:
    status, lines = changed(
        tmp_path,
        header,
        ("#define PJRT_API_MINOR 114", "#define PJRT_API_MINOR 115"),
        ("PJRT_Error_Code_ABORTED = 10", "PJRT_Error_Code_ABORTED = 11, PJRT_Error_Code_NEW = 77"),
        ("struct PJRT_Api {", "struct PJRT_New_Extension { PJRT_Extension_Base base; };\nstruct PJRT_Api {"),
    )
    assert status == 1
    assert lines == [
        "version 0.115; the description is of 0.114",
        "extension PJRT_New_Extension",
        "enumerator PJRT_Error_Code_ABORTED is 11; described as 10",
        "enumerator PJRT_Error_Code_NEW = 77 of PJRT_Error_Code",
    ]


def test_the_generated_description_equals_the_headers(tmp_path: Path, header: str) -> None:
    path = tmp_path / "pjrt_c_api.h"
    path.write_text(header)
    compare(path, "--write", tmp_path / "written.json", "--jaxlib", ABI["jaxlib"], "--commit", ABI["xla_commit"])
    written = json.loads((tmp_path / "written.json").read_text())
    assert {name: written[name] for name in ("jaxlib", "xla_commit", "functions")} == {
        name: ABI[name] for name in ("jaxlib", "xla_commit", "functions")
    }
    assert set(written["structs"]) == set(ABI["structs"])


def test_names_are_compared_with_a_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "jaxlib-9.9.9-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("jaxlib/xla.so", b"\0PJRT_Client_Create_Args\0_Z3foo13PJRT_New_Argsv\0PJRT_Newer_Extension\0")
    assert compare(wheel) == (1, ["struct PJRT_New_Args", "struct PJRT_Newer_Extension"])


def test_the_installed_jaxlib_is_compared_by_version() -> None:
    status, lines = compare(sys.executable)
    import jaxlib.version

    if jaxlib.version.__version__ == ABI["jaxlib"]:
        assert (status, lines) == (0, ["pjrt_c_api.json covers this version completely."])
    else:
        assert all(re.match(r"version 0\.\d+; the description|struct ", line) for line in lines) == (status == 1)
