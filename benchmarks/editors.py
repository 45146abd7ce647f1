"""Cost of editor integration: opening a source line, the VS Code extension and its answers, and CMake projects."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure
from benchmarks.processes import EMPTY_PYTHON, FRAMEDEX, Command, run_measured
from framedex.export.projects import find_tree, is_compiled
from framedex.index import Index
from framedex.model import CallFilter, FrameRow, Language

# --- framedex open ----------------------------------------------------------------------------------------------------


@click.command()
@click.option("--index", type=click.Path(exists=True, path_type=Path), required=True, help="Index with sources.")
@click.option("--rounds", type=int, default=9, show_default=True, help="Number of rounds.")
def open_place(index: Path, rounds: int) -> list[Figure]:
    """Measure `framedex open` until an editor that ends at once has ended.

    The benchmark takes a file, its path in a build, and the symbol of a recorded frame from the index. Python alone
    and Python with click take turns in the same rounds. Wall-clock milliseconds.
    """
    index = index.resolve()
    file, path, symbol = _choose_targets(index)
    opens: list[str | Path] = [*FRAMEDEX, "--index", index, "open"]
    commands: dict[str, Command] = {
        "python -c pass": EMPTY_PYTHON,
        "python -c 'import click'": [sys.executable, "-c", "import click"],
        "framedex open FILE:LINE": [*opens, f"{file}:1"],
        "framedex open BUILD_PATH:LINE": [*opens, f"{path}:1"],
        "framedex open SYMBOL": [*opens, symbol],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    environment = os.environ | {"FRAMEDEX_EDITOR": "true {file}:{line}"}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds + 1):
            for name, command in commands.items():
                taken[name].append(run_measured(command, Path(folder), environment).wall_s * 1e3)
    medians = {name: statistics.median(times[1:]) for name, times in taken.items()}  # the first fills the file cache
    table = Table("command", "median ms", "min ms")
    for name, median in medians.items():
        table.add_row(name, f"{median:.0f}", f"{min(taken[name][1:]):.0f}")
    Console().print(table)
    empty = medians["python -c pass"]
    names = [name for name in commands if name.startswith("framedex")]
    return [Figure(name, medians[name], "ms", "python -c pass", medians[name] / empty) for name in names]


def _choose_targets(path: Path) -> tuple[str, str, str]:
    """Choose a source file, the end of its path in a build, and a recorded symbol with one definition."""
    with Index.open(path) as index:
        for root in index.sources.roots():
            inside = (file for file in sorted(index.sources.files()) if file.startswith(f"{root.path}/"))
            file = next((file for file in inside if file[len(root.path) :].count("/") > 1), None)
            if file is not None:
                break
        else:
            sys.exit("The index has no source tree: `framedex index --source FOLDER` adds one.")
        for call in index.calls.find(CallFilter(), limit=100):
            trace = index.calls.trace(call.id)
            for frame in reversed(trace.frames if trace else ()):
                if _has_one_location(index, frame):
                    return file, f"external/{file[len(root.path) + 1 :]}", frame.function.name
    sys.exit("The index has no recorded frame with a source that is here: `framedex run`, then `framedex index`.")


def _has_one_location(index: Index, frame: FrameRow) -> bool:
    """Whether a frame is of a C++ function with one definition in an existing file."""
    name = frame.function.name
    if frame.function.language is not Language.NATIVE or "::" not in name or frame.location is None:
        return False
    return len(index.names.find_locations(name)) == 1 and Path(frame.location.path).is_file()


# --- VS Code ----------------------------------------------------------------------------------------------------------

Times = dict[str, float]


@click.command()
@click.option("--rounds", type=int, default=9, show_default=True, help="Number of rounds.")
def vscode_activation(rounds: int) -> list[Figure]:
    """Measure the activation of the VS Code extension, above that of an empty extension.

    Needs code-server and Chromium: run `make test-editors` first. Each round opens a window on a folder that activates
    neither extension, then activates the empty one and ours in the same host.
    """
    with tempfile.TemporaryDirectory() as folder:
        found = _activate(rounds, Path(folder))
    rows = {
        "activation of an empty extension": [times["empty"] for times in found],
        "activation of framedex": [times["framedex"] for times in found],
        "activation above an empty extension": [times["framedex"] - times["empty"] for times in found],
        "activation to a running server": [times["server"] for times in found],
    }
    for name, values in rows.items():
        print(f"{name:38}{statistics.median(values):8.1f}  ({min(values):.1f} to {max(values):.1f})")
    return [Figure(name, statistics.median(values), "ms") for name, values in list(rows.items())[2:]]


def _activate(count: int, root: Path) -> list[Times]:
    """Milliseconds of each window, after a window that warms the file cache."""
    from tests.browsers import chromium
    from tests.editors.vscode import in_host
    from tests.editors.vscode.code_server import CodeServer
    from tests.editors.vscode.project import path_with, write_command
    from tests.editors.vscode.workbench import Workbench

    opened = root / "opened"
    opened.mkdir()
    with CodeServer(root / "code-server", path=path_with(write_command(root / "bin"))) as server, chromium() as browser:
        found = []
        for _ in range(count + 1):
            window = Workbench(server, browser, opened)
            found.append(in_host.run(in_host.HOST / "activation.ts", root, window))
            window.close()
    return found[1:]


_BLOCK = """
def copy_{number}():
    x = jax.device_put(HOST[:{length}])
    total = float(x[0])
    return x, total
"""
_BLOCKS = 400  # of five lines each
_LIMITS_MS = {"definition": 100, "hover": 150, "lenses": 200, "first": 1500}


@click.command()
def vscode_answers() -> list[Figure]:
    """Measure answers in a real VS Code, at its extension host: definition, hover, lenses, first answer.

    Needs code-server and Chromium: run `make test-editors` first. The file has 2,000 lines, and as many lenses as one
    answer may have. Definition and hover are about 400 recorded lines, each once. The first answer is a definition,
    timed from the start of the server.
    """
    with tempfile.TemporaryDirectory() as folder:
        times = _time_answers(Path(folder))
    names = {
        "definition": "definition at the client, p95",
        "hover": "hover at the client, p95",
        "lenses": f"{times['shown']:,} lenses of {times['lines']:,} lines at the client, p95",
        "first": "first answer after a start of the server, p95",
    }
    figures = []
    for key, name in names.items():
        values = sorted(times[key])
        p95 = values[min(len(values) - 1, round(0.95 * len(values)))]
        print(f"{name:55}{p95:8.1f}  (median {statistics.median(values):.1f}, limit {_LIMITS_MS[key]:,})")
        figures.append(Figure(name, p95, "ms", note=f"The limit is {_LIMITS_MS[key]:,} ms."))
    return figures


def _time_answers(root: Path) -> dict[str, Any]:
    from tests.browsers import chromium
    from tests.editors.vscode import in_host
    from tests.editors.vscode.code_server import CodeServer
    from tests.editors.vscode.project import Project, path_with, write_command
    from tests.editors.vscode.workbench import Workbench

    project = Project(root / "opened", write_command(root / "bin"))
    project.folder.mkdir()
    blocks = [_BLOCK.format(number=number, length=number + 1).lstrip("\n") for number in range(_BLOCKS)]
    calls = "for copy in [value for name, value in list(globals().items()) if name.startswith('copy_')]:\n    copy()\n"
    head = "import jax\nimport numpy as np\nHOST = np.ones(1000, np.float32)\n"
    (project.folder / "large.py").write_text("\n".join([head, *blocks, calls]))
    shown = "compiles = true\ntransfers = true\nmemory = true\nwaits = true\n"
    (project.folder / "framedex.toml").write_text(f"[editor]\n{shown}")
    project.run("run", "large.py")
    project.run("index")
    with (
        CodeServer(root / "code-server", path=path_with(project.framedex)) as server,
        chromium() as browser,
    ):
        window = Workbench(server, browser, project.folder)
        times: dict[str, Any] = in_host.run(in_host.HOST / "answers.ts", root, window)
        window.close()
    return times


# --- CMake projects ---------------------------------------------------------------------------------------------------

_GLOB_PROJECT = """cmake_minimum_required(VERSION 3.16)
project(globbed LANGUAGES CXX)
include_directories("{tree}")
file(GLOB_RECURSE sources CONFIGURE_DEPENDS "{tree}/*.cc" "{tree}/*.cpp" "{tree}/*.h")
list(FILTER sources EXCLUDE REGEX "_test\\\\.|/tests?/")
add_library(globbed OBJECT EXCLUDE_FROM_ALL ${{sources}})
"""
_NAMES_PER_FILE = 20
_CALLED = re.compile(r"(\w+)\(")
_KEYWORDS = frozenset(("if", "for", "while", "switch", "return", "sizeof", "decltype", "defined", "alignof", "catch"))


@click.command()
@click.argument("tree", type=click.Path(exists=True, path_type=Path))
@click.option("--include", "includes", type=click.Path(path_type=Path), multiple=True, help="Passed on; repeatable.")
@click.option("--rounds", type=int, default=5, show_default=True, help="Number of rounds.")
@click.option("--files", type=int, default=12, show_default=True, help="Files to ask clangd about.")
def cmake_project(tree: Path, includes: tuple[Path, ...], rounds: int, files: int) -> list[Figure]:
    """Measure `framedex cmake` on a large tree, and the use of its project by CMake and clangd.

    TREE is for example a checkout of XLA. CMake is timed on the project and on a hand-written one with
    file(GLOB_RECURSE). clangd looks up the definitions of called names without a project, with the project, and with
    the include folders.
    """
    tree = tree.resolve()
    with tempfile.TemporaryDirectory() as folder:
        figures = _measure_project_times(Path(folder), tree, rounds)
        return figures + _measure_clangd(Path(folder), tree, includes, files)


def _measure_project_times(folder: Path, tree: Path, rounds: int) -> list[Figure]:
    project, globbed = folder / "project", folder / "globbed"
    globbed.mkdir()
    (globbed / "CMakeLists.txt").write_text(_GLOB_PROJECT.format(tree=tree))
    own_name, hand_written = "cmake on its project", "cmake on a hand-written project"
    taken: dict[str, list[float]] = {}
    for _ in range(rounds):
        shutil.rmtree(project, ignore_errors=True)
        commands: dict[str, Command] = {
            "framedex cmake": _cmake_command(tree, project),
            "framedex cmake again, nothing changed": _cmake_command(tree, project),
            own_name: ["cmake", "-S", project, "-B", folder / "build"],
            hand_written: ["cmake", "-S", globbed, "-B", folder / "globbed-build"],
        }
        for name, command in commands.items():
            taken.setdefault(name, []).append(run_measured(command).wall_s)
        for build in ("build", "globbed-build"):
            shutil.rmtree(folder / build)
    found = find_tree(tree, project, [], with_tests=False)
    table = Table("step", "median s", "min s", title=f"{len(found.files):,} files, {found.tests:,} tests left out")
    medians = {name: statistics.median(times) for name, times in taken.items()}
    for name, median in medians.items():
        table.add_row(name, f"{median:.2f}", f"{min(taken[name]):.2f}")
    Console().print(table)
    ratio = medians[own_name] / medians[hand_written]
    return [
        Figure(f"framedex cmake of {len(found.files):,} files", medians["framedex cmake"], "s"),
        Figure(own_name, medians[own_name], "s", hand_written, ratio),
    ]


def _measure_clangd(folder: Path, tree: Path, includes: Sequence[Path], count: int) -> list[Figure]:
    """Measure the share of called names that clangd finds in another file, in files spread over the tree."""
    found = find_tree(tree, folder, [], with_tests=False)
    compiled = [path for path in found.files if is_compiled(path)]
    chosen = [tree / compiled[(2 * number + 1) * len(compiled) // (2 * count)] for number in range(count)]
    none, bare, full = folder / "none", folder / "bare", folder / "full"
    none.mkdir()
    run_measured(_cmake_command(tree, bare))
    settings = {"no project": none, "framedex cmake": bare}
    if includes:
        run_measured([*_cmake_command(tree, full), *(word for path in includes for word in ("--include", path))])
        settings["framedex cmake --include"] = full
    table = Table("clangd with", "names", "in another file", title=f"go to definition, {count} files")
    figures = []
    for name, project in settings.items():
        total, elsewhere = asyncio.run(_navigate(project, chosen))
        share = 100 * elsewhere / total
        table.add_row(name, str(total), f"{share:.0f} %")
        figures.append(Figure(f"names that clangd with {name} finds in another file", share, f"% of {total}"))
    Console().print(table)
    return figures


async def _navigate(project: Path, files: Sequence[Path]) -> tuple[int, int]:
    """Count the called names in files, and those that clangd finds in another file.

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
    total = elsewhere = 0
    for file in files:
        text = file.read_text(errors="replace")
        item = types.TextDocumentItem(uri=file.as_uri(), language_id="cpp", version=1, text=text)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await diagnosed[file.as_uri()].wait()
        for position in _called_names(text):
            found = await client.text_document_definition_async(
                types.DefinitionParams(types.TextDocumentIdentifier(file.as_uri()), position)
            )
            locations = (
                [place for place in found if isinstance(place, types.Location)] if isinstance(found, list) else []
            )
            total += 1
            elsewhere += any(place.uri != file.as_uri() for place in locations)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    return total, elsewhere


def _called_names(text: str) -> list[types.Position]:
    """Names that are called in a file, spread evenly over it."""
    locations = [
        types.Position(number, match.start(1))
        for number, line in enumerate(text.splitlines())
        if not line.lstrip().startswith(("//", "#", "*"))
        for match in _CALLED.finditer(line)
        if match[1] not in _KEYWORDS and line.isascii()
    ]
    return locations[:: max(1, len(locations) // _NAMES_PER_FILE)][:_NAMES_PER_FILE]


def _cmake_command(tree: Path, output: Path) -> list[str | Path]:
    return [*FRAMEDEX, "cmake", tree, "-o", output]
