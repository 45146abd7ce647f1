"""The invariants of ARCHITECTURE.md that can be read off the imports: which room knows which."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.docs.import_graph import imports, modules, needs_of_modules, tree_of

REPOSITORY = Path(__file__).parents[2]
INDEXER = REPOSITORY / "indexer" / "framedex"
SERVER = REPOSITORY / "server" / "framedex_server"
NATIVE = REPOSITORY / "native"

# What of ours a native room may include beside itself.
NATIVE_NEEDS = {
    "abi": set[str](),
    "recorder": set[str](),
    "extractor": set[str](),
    "line_scanner": set[str](),
    "capture_reader": {"recorder/base", "recorder/format"},
    "call_stream": {"capture_reader", "recorder/format"},
    "sqlite_image": set[str](),
    "pjrt": {"abi", "recorder", "recorder/base"},
    "pjrt/behaviours": {"abi", "recorder", "recorder/base", "pjrt", "pjrt/mock/base"},
    "pjrt/mock": {"abi", "recorder", "recorder/base", "pjrt", "pjrt/behaviours"},
    "ffi": {"abi", "recorder", "recorder/base"},
    "tpu_legacy": {"recorder", "recorder/base", "pjrt/mock/base", "pjrt/mock/machine", "pjrt/mock/devices"},
    "bindings": {
        *("call_stream", "capture_reader", "extractor", "extractor/preprocessing", "line_scanner"),
        *("recorder", "recorder/process", "sqlite_image"),
    },
    "examples": set[str](),
    "fuzz": {
        *("call_stream", "capture_reader", "extractor", "extractor/cpp", "extractor/preprocessing"),
        "extractor/source",
        *("ffi", "line_scanner", "pjrt", "pjrt/mock/delegate", "pjrt/mock/machine"),
        *("recorder", "recorder/format", "recorder/process", "recorder/walks"),
    },
}
# The rooms within a big one: each may include those before it, and what stands beside them may include all.
NATIVE_ROOMS = {
    "recorder": ("base", "format", "process", "streams", "walks", "stacks"),
    "extractor": ("trees", "source", "preprocessing", "cpp"),
    "pjrt/mock": ("base", "machine", "arrays", "delegate", "devices", "buffers", "executables", "extensions"),
}

# The rooms within a big package, and modules that stand above them: each may import those of the lines before its own.
ROOMS = {
    "framedex.interchange": (("text",), ("readers",), ("placing",), ("lines",), ("detect",), ("stream",)),
    "framedex.index": (("file",), ("write", "read"), ("ask",), ("within",), ("reader",), ("opening",)),
    "framedex.index.ask": (
        *(("answers",), ("name",), ("ffi_sites",), ("ffi",), ("call",)),
        *(("costs",), ("line", "capture", "frame_sources"), ("sources", "guidebook"), ("below_lines",)),
    ),
    "framedex.commands": (
        *(("output",), ("reading",), ("editor",), ("report",), ("launching",), ("checking",), ("completing",)),
        *(("agents",), ("verbs",), ("main",)),
    ),
    "framedex_server": (("documents",), ("answers",), ("features",), ("server",)),
}
# Rooms whose modules know none of one another.
APART = ("framedex.commands.verbs", "framedex_server.features")


def files_importing(module: str, *folders: Path) -> set[str]:
    """The files below folders that import a module or something of it, relative to the repository."""
    files = (file for folder in folders for file in folder.rglob("*.py"))
    found = (file for file in files if any(f"{name}.".startswith(f"{module}.") for name in imports(file)))
    return {str(file.relative_to(REPOSITORY)) for file in found}


@pytest.mark.parametrize(
    ("module", "rooms"),
    [
        ("sqlite3", ("indexer/framedex/index/",)),
        ("framedex_native", ("indexer/framedex/nativepart.py",)),
        ("framedex.nativepart._native", ("indexer/framedex/captures/",)),
        ("framedex.nativepart.framedex_native", ("indexer/framedex/commands/", "indexer/framedex/inprocess.py")),
        (
            "framedex.nativepart._call_stream",
            ("indexer/framedex/captures/", "indexer/framedex/index/write/bulk.py"),
        ),
        ("framedex.nativepart._extractor", ("indexer/framedex/sources/",)),
        ("framedex.nativepart._scanner", ("indexer/framedex/interchange/",)),
        (
            "framedex.nativepart.protobuf",
            ("indexer/framedex/programs/options.py", "indexer/framedex/imports/wire.py"),
        ),
        (
            "lsprotocol",
            (
                "server/framedex_server/answers/",
                "server/framedex_server/features/",
                "server/framedex_server/server.py",
                "server/framedex_server/protocol.py",
            ),
        ),
        ("framedex_server", ("server/",)),
        ("framedex.git.started", ("indexer/framedex/fetching/",)),
        (
            "framedex.ingest",
            (
                *("indexer/framedex/commands/", "indexer/framedex/ingest/", "indexer/framedex/pytesting/"),
                "indexer/framedex/fleet/",
                "indexer/framedex/notebook/",
                "indexer/framedex/sharing/",
                "server/framedex_server/worker",
            ),
        ),
    ],
)
def test_only_these_rooms_know_it(module: str, rooms: tuple[str, ...]) -> None:
    known_by = files_importing(module, INDEXER, SERVER)
    assert known_by
    assert {file for file in known_by if not file.startswith(rooms)} == set()


def test_no_two_rooms_of_the_indexer_need_each_other() -> None:
    needs: dict[str, set[str]] = {}
    for file in INDEXER.rglob("*.py"):
        room = file.relative_to(INDEXER).parts[0].removesuffix(".py")
        needed = {name.split(".")[1] for name in imports(file) if name.startswith("framedex.")}
        needs.setdefault(room, set()).update(needed - {room})
    assert list(TopologicalSorter(needs).static_order())


def test_every_room_of_the_indexer_has_a_short_row() -> None:
    _, _, table = (REPOSITORY / "ARCHITECTURE.md").read_text().partition("### Rooms of the indexer")
    rows = re.findall(r"^\| `(\w+)/` \| (.+) \|$", table.partition("\n## ")[0], re.MULTILINE)
    assert [room for room, _ in rows] == sorted(
        {file.relative_to(INDEXER).parts[0] for file in INDEXER.glob("*/**/*.py")}
    )
    assert [told for _, told in rows if len(told) > 120] == []


def test_no_two_modules_need_each_other() -> None:
    """Imports inside functions count: they only put a circle off. Those for type checkers alone do not."""
    assert list(TopologicalSorter(needs_of_modules(for_types=False)).static_order())


@pytest.mark.parametrize("package", ROOMS)
def test_rooms_need_only_those_before_them(package: str) -> None:
    place = {f"{package}.{room}": number for number, rooms in enumerate(ROOMS[package]) for room in rooms}
    room_of = {module: room for module in modules() for room in place if f"{module}.".startswith(f"{room}.")}
    assert set(room_of.values()) == place.keys()
    needs = needs_of_modules()
    found = [(module, each) for module in room_of for each in needs[module] if each in room_of]
    assert [
        (module, each)
        for module, each in found
        if room_of[each] != room_of[module] and place[room_of[each]] >= place[room_of[module]]
    ] == []


@pytest.mark.parametrize("room", APART)
def test_modules_of_these_rooms_do_not_know_one_another(room: str) -> None:
    within = {
        (module, needed)
        for module, needs in needs_of_modules().items()
        for needed in needs
        if module.startswith(f"{room}.") and needed.startswith(f"{room}.")
    }
    assert within == set()


def test_what_writes_the_index_and_what_reads_it_do_not_know_each_other() -> None:
    """What both need (fragments of queries, limits) is in `file/`."""
    needs = needs_of_modules()
    writing = {module for module in needs if module.startswith("framedex.index.write.")}
    reading = {module for module in needs if module.startswith(("framedex.index.read.", "framedex.index.ask."))}
    assert writing and reading
    assert {
        (module, each) for module in writing for each in needs[module] & {*reading, "framedex.index.reader"}
    } == set()
    assert {(module, each) for module in reading for each in needs[module] & writing} == set()


def test_verbs_are_known_to_the_table_of_verbs_only() -> None:
    assert files_importing("framedex.commands.verbs", INDEXER, SERVER) == set()


def test_native_rooms_include_what_they_may() -> None:
    allowed = dict(NATIVE_NEEDS)
    for big, names in NATIVE_ROOMS.items():
        inner = [f"{big}/{name}" for name in names]
        allowed |= {room: NATIVE_NEEDS[big] | {*inner[:i]} for i, room in enumerate((*inner, big))}
    rooms = {(native_room(file), native_room(included)) for file, included in native_includes()}
    found = {(room, included) for room, included in rooms if included != room}
    assert found
    assert {(room, included) for room, included in found if included not in allowed.get(room, set())} == set()


def test_no_two_native_files_need_each_other() -> None:
    """A header and the file of its name are one: what either includes, both need."""
    needs: dict[Path, set[Path]] = {}
    for file, included in native_includes():
        needs.setdefault(file.with_suffix(""), set()).add(included.with_suffix(""))
    assert list(TopologicalSorter({file: needed - {file} for file, needed in needs.items()}).static_order())


def test_native_code_is_one_dialect() -> None:
    guards = [str(file) for file in NATIVE.rglob("*.h") if "#pragma once\n" not in file.read_text()]
    assert guards == []
    qualified = re.compile(r"\bstd::(size_t|u?int\d+_t|u?intptr_t|ptrdiff_t)\b")
    assert [str(file) for file in native_files() if qualified.search(file.read_text())] == []


def native_files() -> Iterator[Path]:
    yield from (*NATIVE.rglob("*.cc"), *NATIVE.rglob("*.h"))


def native_includes() -> Iterator[tuple[Path, Path]]:
    """Each native file, with each file of ours that it includes, relative to native/."""
    for file in native_files():
        for included in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
            if (NATIVE / included).is_file():
                yield file.relative_to(NATIVE), Path(included)


def native_room(file: Path) -> str:
    """`recorder`; within a big room that which the file is in, `extractor/cpp`."""
    folder = file.parent.as_posix()
    is_own = folder in NATIVE_NEEDS or any(f"{folder}/".startswith(f"{big}/") for big in NATIVE_ROOMS)
    return folder if is_own else file.parts[0]


STARTERS = {
    *("run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"),
    *("create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell", "open_process"),
    *("system", "popen", "posix_spawn", "posix_spawnp", "startfile", "fork", "forkpty"),
    *(f"{kind}{form}" for kind in ("exec", "spawn") for form in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
}
STARTING_MODULES = {"anyio", "subprocess", "asyncio", "os", "pty", "multiprocessing", "loop"}


def calls_starting_processes(file: Path) -> Iterator[ast.Call]:
    for node in ast.walk(tree_of(file)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)) if (
                module in STARTING_MODULES
                and name in STARTERS
                and (module, name) not in (("asyncio", "run"), ("anyio", "run"))
            ):
                yield node


def test_interpreters_are_started_in_one_place() -> None:
    """An interpreter made elsewhere would import from the folder that an editor has opened."""
    files = [file for folder in (INDEXER, SERVER) for file in folder.rglob("*.py")]
    started = {
        f"{file.relative_to(REPOSITORY)}: {ast.unparse(call.args[0])}"
        for file in files
        for call in calls_starting_processes(file)
    }
    assert started == {
        "indexer/framedex/interpreters.py: command",
        "indexer/framedex/index/file/seal.py: [*command, os.path.realpath(file)]",
        "indexer/framedex/git.py: _command(git, self._folder, arguments)",
        "indexer/framedex/git.py: _command(git, folder, arguments)",
        "indexer/framedex/commands/verbs/open.py: [program, *command[1:]]",  # the user's editor
        "indexer/framedex/commands/editor/browser.py: [program, *command[1:]]",  # the user's browser, in a terminal
        "indexer/framedex/commands/editor/browser.py: command",  # and with windows of its own
        "indexer/framedex/commands/launching/launch.py: [what.python, *what.arguments]",  # the user's program
        "indexer/framedex/commands/verbs/demo.py: [*own_code(cli, ()), *arguments]",
        "indexer/framedex/commands/agents/asking.py: [*own_code(_CODE, ()), *self._before, *command]",
        "indexer/framedex/commands/checking/software.py: own_module('framedex_server', ())",  # as an editor starts it
        "indexer/framedex/fleet/cluster/local.py: own_module('framedex.fleet.cluster.local_worker', ())",
        "server/framedex_server/jobs.py: *own_module('framedex_server.worker', self._opened())",
        "server/framedex_server/jobs.py: *own_code(cli, opened)",
    }
    naming = {str(file.relative_to(REPOSITORY)) for file in files if b"sys.executable" in file.read_bytes()}
    assert naming == {
        "indexer/framedex/interpreters.py",
        "indexer/framedex/commands/verbs/demo.py",  # the default of --python
        "indexer/framedex/commands/verbs/run.py",  # the same
        "indexer/framedex/commands/verbs/doctor.py",  # the same
        "indexer/framedex/commands/checking/software.py",  # in the commands that mend things
        "indexer/framedex/commands/checking/recording.py",  # whether a command has to name the other one
        "indexer/framedex/commands/completing/installing.py",  # whose command a shell is to ask
        "indexer/framedex/commands/output/proposals.py",  # how the user has called it
        "indexer/framedex/commands/launching/launch.py",  # whether the program's is this one
        "indexer/framedex/pytesting/apart.py",  # pytest's, for a test that runs in a process of its own
        "indexer/framedex/notebook/kernel.py",  # the kernel's, which is recorded itself
        "indexer/framedex/notebook/recording.py",  # the same, and for a cell that runs in a process of its own
    }
    assert not files_importing("multiprocessing", INDEXER, SERVER) | files_importing("pty", INDEXER, SERVER)


def test_what_is_imported_is_declared() -> None:
    """What another package brings may be gone with its next version.

    In programs that are recorded, JAX brings all; the plug-in of pytest is imported by pytest, as IPython's is by that.
    """
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    declared = [*project["dependencies"], *extras["export"], *extras["guidebook"], *extras["mcp"]]
    declared += [*extras["fleet"], *extras["fleet-dask"]]
    says_what_to_install = {"indexer/framedex/export/parquet.py", "indexer/framedex/fleet/libraries.py"}
    assert files_importing("pyarrow", INDEXER, SERVER) == says_what_to_install
    names = {re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in declared}
    known = packages_distributions()
    ours = {file for folder in (INDEXER, SERVER) for file in folder.rglob("*.py")}
    brought = {file for room in ("demo", "notebook", "pytesting") for file in (INDEXER / room).glob("*.py")}
    imported = {name.split(".")[0] for file in ours - brought for name in imports(file)}
    others = {name for name in imported - sys.stdlib_module_names if not name.startswith("framedex")}
    assert others
    assert {name for name in others if not names & {*known[name]}} == set()


def test_programs_are_looked_for_in_one_place() -> None:
    """Elsewhere an empty entry of the PATH would have commands taken from the folder that an editor has opened."""
    files = [file for folder in (INDEXER, SERVER) for file in folder.rglob("*.py")]
    looking = {str(file.relative_to(REPOSITORY)) for file in files if b"shutil.which" in file.read_bytes()}
    assert looking == {"indexer/framedex/onpath.py"}
