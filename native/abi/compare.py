"""Report the parts of another version of the PJRT C API that the description in this folder lacks; exit with 1 if any.

    python compare.py XLA_CHECKOUT       # the headers xla/pjrt/c/*.h, xla/pjrt/extensions/, ... of a checkout
    python compare.py HEADER.h...        # individual headers
    python compare.py jaxlib-1.2.3.whl   # a wheel
    python compare.py /path/to/python    # the jaxlib of an interpreter

Headers contain everything: functions, structs, fields, offsets, sizes, enumerators, extensions. A jaxlib has no
headers. Its binary contains the names of structs that it exchanges with a plug-in, and at run time it logs its version
of the API. The report on a jaxlib is therefore a hint, not a complete list.

`--write FILE` writes a new description from the headers, for this folder. Types that only older headers have stay
described, for older plug-ins. The FFI API has versions of its own and stays as it is:

    python compare.py XLA_CHECKOUT --write pjrt_c_api.json --jaxlib 0.13.0 --commit 0123abc...
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import headers
from headers import Description

HERE = Path(__file__).parent
DESCRIPTION = HERE / "pjrt_c_api.json"

_NAME = re.compile(rb"PJRT_\w+_(?:Args|Extension)")
_FFI = re.compile("XLA_FFI_")
_WORD = re.compile(rb"\w+")
# Structs that XLA's messages name although no header declares them.
_NOT_DECLARED = {"PJRT_KeyValueGet_Args", "PJRT_KeyValuePut_Args", "PJRT_KeyValueTryGet_Args"}
# XLA logs both versions when it initialises a plug-in.
_FRAMEWORK_VERSION = re.compile(r"framework PJRT API version is (\d+)\.(\d+)")
_INITIALIZE = """
import sys, jaxlib
from jaxlib import xla_client
print(jaxlib.__path__[0])
xla_client.load_pjrt_plugin_dynamically("tpu", sys.argv[1])
xla_client.initialize_pjrt_plugin("tpu")
"""


def missing_parts(description: Description, other: Description) -> list[str]:
    """The parts of `other` that `description` lacks, one line each."""
    types = description["typedefs"].keys() | description["structs"].keys()
    return [
        *_missing_version(description, other),
        *_missing_functions(description, other),
        *_missing_structs(description, other),
        *_missing_enumerators(description, other),
        *(f"type {name}" for name in other["typedefs"] if name not in types),
    ]


def merge_descriptions(description: Description, other: Description) -> Description:
    """The description to write: `other`, the types that only `description` has, and the FFI API of `description`."""
    kinds = ("structs", "enums", "typedefs")
    newer = {kind: {name: entry for name, entry in other[kind].items() if not _FFI.match(name)} for kind in kinds}
    return other | {kind: description[kind] | newer[kind] for kind in kinds}


def names_in(jaxlib: Path) -> set[str]:
    """The names of argument structs and extensions in the binaries of a wheel or an installed jaxlib."""
    return {name.decode() for data in _binaries(jaxlib) for name in _api_names(data)} - _NOT_DECLARED


def _missing_version(description: Description, other: Mapping[str, Any]) -> Iterator[str]:
    mine, theirs = (tuple(entry["pjrt_api_version"].values()) for entry in (description, other))
    if theirs > mine:
        yield f"version {_dotted(theirs)}; the description is of {_dotted(mine)}"


def _missing_functions(description: Description, other: Description) -> Iterator[str]:
    mine = [entry["name"] for entry in description["functions"]]
    theirs = [entry["name"] for entry in other["functions"]]
    yield from (f"function {name}" for name in theirs if name not in mine)
    common = [name for name in theirs if name in mine]
    if common != [name for name in mine if name in theirs] or mine[: len(common)] != common:
        yield "the order of the functions: the table is not the same with entries appended"


def _missing_structs(description: Description, other: Description) -> Iterator[str]:
    for name, theirs in other["structs"].items():
        mine = description["structs"].get(name)
        if mine is None:
            yield f"{'extension' if name.endswith('_Extension') else 'struct'} {name}"
            continue
        fields = {field["name"]: field for field in mine["fields"]}
        for field in theirs["fields"]:
            known = fields.get(field["name"])
            if known is None:
                yield f"field {name}.{field['name']}"
            elif (known["offset"], known["type"]) != (field["offset"], field["type"]):
                place, described = (f"{entry['type']} at {entry['offset']}" for entry in (field, known))
                yield f"field {name}.{field['name']} is {place}; described as {described}"
        for size in ("size", "struct_size"):
            if theirs.get(size) != mine.get(size):
                yield f"{size} of {name} is {theirs.get(size)}; described as {mine.get(size)}"


def _missing_enumerators(description: Description, other: Description) -> Iterator[str]:
    for name, members in other["enums"].items():
        mine = description["enums"].get(name, {})
        for member, value in members.items():
            if member not in mine:
                yield f"enumerator {member} = {value} of {name}"
            elif mine[member] != value:
                yield f"enumerator {member} is {value}; described as {mine[member]}"


def _missing_structs_of(description: Description, names: set[str]) -> list[str]:
    return [f"struct {name}" for name in sorted(names - set(description["structs"]))]


def _query_jaxlib(python: Path) -> tuple[tuple[int, ...], Path]:
    """The API version of an interpreter's jaxlib, and the folder of that jaxlib.

    Raises SystemExit if the interpreter has no jaxlib, or framedex is not installed here: jaxlib loads framedex's mock.
    """
    from framedex_native import library_path

    command = [str(python), "-c", _INITIALIZE, str(library_path())]
    quiet = {"FRAMEDEX_RECORD": "0", "TF_CPP_MIN_LOG_LEVEL": "0"}
    done = subprocess.run(command, env=os.environ | quiet, capture_output=True, text=True)
    version = _FRAMEWORK_VERSION.search(done.stderr)
    if done.returncode or not version:
        raise SystemExit(f"{python} failed to load a plug-in:\n{done.stderr}")
    return tuple(map(int, version.groups())), Path(done.stdout.splitlines()[0])


def _binaries(jaxlib: Path) -> Iterator[bytes]:
    if jaxlib.suffix == ".whl":
        with zipfile.ZipFile(jaxlib) as wheel:
            yield from (wheel.read(name) for name in wheel.namelist() if ".so" in name)
    else:
        yield from (path.read_bytes() for path in jaxlib.glob("*.so*"))


def _api_names(data: bytes) -> Iterator[bytes]:
    """The API's names in a binary: in strings, and in mangled C++ names, which contain the length before each name."""
    start = data.find(b"PJRT_")
    while start >= 0:
        word = _WORD.match(data, start)
        lengths = [int(data[start - digits : start]) for digits in (1, 2, 3) if data[start - digits : start].isdigit()]
        for length in lengths or [len(word[0]) if word else 0]:
            if _NAME.fullmatch(name := data[start : start + length]):
                yield name
        start = data.find(b"PJRT_", start + 1)


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", type=Path, help="a checkout, headers, a wheel or a Python")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write a description from the headers to FILE")
    parser.add_argument("--jaxlib", default="", metavar="VERSION", help="with --write: the jaxlib of these headers")
    parser.add_argument("--commit", default="", metavar="HASH", help="with --write: the XLA commit of these headers")
    return parser.parse_args()


def main() -> int:
    """Compare as the command line says, and return the exit status."""
    arguments = _arguments()
    description: Description = json.loads(DESCRIPTION.read_text())
    first: Path = arguments.what[0]
    if first.suffix == ".whl":
        problems = _missing_structs_of(description, names_in(first))
    elif first.is_dir() or first.suffix == ".h":
        other = headers.describe(headers.headers_of(first) if first.is_dir() else arguments.what)
        if not other["structs"]:
            raise SystemExit(f"{first} contains no PJRT headers ({', '.join(headers.HEADERS)}).")
        problems = missing_parts(description, other)
        if arguments.write:
            origin = {"jaxlib": arguments.jaxlib, "xla_commit": arguments.commit}
            written = {"about": description["about"]} | origin | merge_descriptions(description, other)
            arguments.write.write_text(json.dumps(written, indent=1))
    else:
        version, jaxlib = _query_jaxlib(first)
        speaks = {"pjrt_api_version": dict(zip(("major", "minor"), version, strict=True))}
        problems = [*_missing_version(description, speaks), *_missing_structs_of(description, names_in(jaxlib))]
    print("\n".join(problems) or f"{DESCRIPTION.name} covers this version completely.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
