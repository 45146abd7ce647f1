"""Find the lines on which the public headers declare each function: `python find_declarations.py XLA_CLONE`.

The clone needs the commits of both descriptions (`pjrt_c_api.json`, `tpu_c_api_*.json`). `declarations.json` stores
only the commit, and the file and line of each declaration.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import generate_guidebook
import tpu_abi

TARGET = Path(__file__).with_name("declarations.json")
FOLDERS = {
    "pjrt": ("xla/pjrt/c/", "xla/pjrt/extensions/", "xla/backends/profiler/plugin/"),
    "tpu": ("xla/stream_executor/tpu/",),
}

_TYPEDEF = re.compile(r"typedef\s+[\w\s*]+?\(?\*?\b(?P<name>(?:PJRT|PLUGIN)_\w+)\)?\s*\(")
_MEMBER = re.compile(r"\(\*(?P<name>\w+)\)\s*\(")
_STRUCT = re.compile(r"^(?:typedef )?struct (?P<name>\w+) \{(?P<body>.*?)^\}", re.DOTALL | re.MULTILINE)
_FUNCTION = re.compile(r"^(?:TFTPU_CAPI_EXPORT\s+)?[A-Za-z_][\w\s*]*?\b(?P<name>\w+)\s*\([^;{}]*\);", re.MULTILINE)


def main(clone: Path) -> None:
    """Write the declaration lines of both APIs, and print the functions without a declaration."""
    pjrt = json.loads(generate_guidebook.DATA.read_text())
    tpu = json.loads(tpu_abi.DATA.read_text())
    names = {function.name for function in generate_guidebook.functions()}
    found = {
        "pjrt": _of_api(clone, pjrt["xla_commit"], "pjrt", names),
        "tpu": _of_api(clone, tpu["xla_commit"], "tpu", names),
    }
    TARGET.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
    lines = {name for api in found.values() for name in api["lines"]}
    print(f"found {len(lines)} of {len(names)} declarations; missing: {', '.join(sorted(names - lines)) or 'none'}")


def _of_api(clone: Path, commit: str, api: str, names: set[str]) -> dict[str, Any]:
    lines: dict[str, tuple[str, int]] = {}
    for path in _git(clone, "ls-tree", "-r", "--name-only", commit).splitlines():
        if path.endswith(".h") and path.startswith(FOLDERS[api]):
            text = _git(clone, "show", f"{commit}:{path}")
            for name, position in _declared(text) if api == "pjrt" else _exported(text):
                if name in names:
                    lines.setdefault(name, (path, text.count("\n", 0, position) + 1))
    return {"commit": _git(clone, "rev-parse", f"{commit}^{{commit}}").strip(), "lines": lines}


def _declared(text: str) -> Iterator[tuple[str, int]]:
    """The functions of tables with the position of each declaration: as a type, or in the table itself."""
    yield from ((match["name"], match.start()) for match in _TYPEDEF.finditer(text))
    for struct in _STRUCT.finditer(text):
        for member in _MEMBER.finditer(struct["body"]):
            position = struct.start("body") + member.start("name")
            yield f"{struct['name']}.{member['name']}", position
            yield f"{struct['name']}_{member['name']}", position


def _exported(text: str) -> Iterator[tuple[str, int]]:
    yield from ((match["name"], match.start("name")) for match in _FUNCTION.finditer(text))


def _git(clone: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", clone, *arguments], capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
