"""Rules that `.importlinter` and ruff do not check: native includes, descriptions of rooms, dependencies."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import grimp

REPOSITORY = Path(__file__).parents[2]
INDEXER = REPOSITORY / "indexer" / "framedex"
NATIVE = REPOSITORY / "native"

# The folders from which a native room may include, besides its own.
NATIVE_NEEDS = {
    "abi": set[str](),
    "architecture": set[str](),
    "recorder": {"architecture"},
    "extractor": set[str](),
    "line_scanner": set[str](),
    "capture_reader": {"recorder/base", "recorder/format"},
    "call_stream": {"capture_reader", "recorder/format"},
    "sqlite_image": set[str](),
    "pjrt": {"abi", "architecture", "recorder", "recorder/base", "recorder/process"},
    "pjrt/behaviours": {"abi", "recorder", "recorder/base", "pjrt", "pjrt/mock/base"},
    "pjrt/mock": {"abi", "recorder", "recorder/base", "pjrt", "pjrt/behaviours"},
    "ffi": {"abi", "recorder", "recorder/base", "recorder/format", "recorder/process"},
    "boundary": {"architecture", "recorder", "recorder/base", "recorder/process"},
    "tpu_legacy": {"recorder", "recorder/base", "pjrt/mock/base", "pjrt/mock/machine", "pjrt/mock/devices"},
    "bindings": {
        "recorder/format",
        *("call_stream", "capture_reader", "extractor", "extractor/preprocessing", "line_scanner"),
        *("recorder", "recorder/process", "sqlite_image"),
    },
    "replay": {"recorder/base", "recorder/format", "ffi", "pjrt"},
    "examples": set[str](),
    "fuzz": {
        *("call_stream", "capture_reader", "extractor", "extractor/cpp", "extractor/preprocessing"),
        "extractor/source",
        *("ffi", "line_scanner", "pjrt", "pjrt/mock/delegate", "pjrt/mock/machine", "replay"),
        *("recorder", "recorder/format", "recorder/process", "recorder/walks"),
    },
}
# Layers of the large rooms: a folder may include the folders before it. Files beside the folders may include all.
NATIVE_LAYERS = {
    "recorder": ("base", "format", "process", "streams", "walks", "stacks"),
    "extractor": ("trees", "source", "preprocessing", "cpp"),
    "pjrt/mock": ("base", "machine", "arrays", "delegate", "devices", "buffers", "executables", "extensions"),
}
# The rooms that import these names from a module.
IMPORTERS = {
    "framedex.base.nativepart._call_stream": ("captures/", "index/write/bulk_rows.py", "index/write/tree.py"),
    "framedex.base.nativepart._extractor": ("sources/",),
    "framedex.base.nativepart._native": ("captures/",),
    "framedex.base.nativepart._scanner": ("text_stacks/",),
    "framedex.base.nativepart.framedex_native": ("commands/", "integrations/"),
    "framedex.base.nativepart.protobuf": ("base/protobuf.py", "programs/options.py", "plugins/conformance/programs.py"),
    "framedex.sources.git.start_git": ("sources/fetching/",),
}
_FROM = re.compile(r"^ *from ([\w.]+) import (\([^)]*\)|.*)", re.MULTILINE)
# JAX, pytest and IPython are always installed where these rooms are imported; the scripts of replays run where JAX is.
IMPORTED_BY_OTHERS = (
    *("framedex.demo.", "framedex.integrations.notebook.", "framedex.integrations.pytesting."),
    *("framedex.plugins.replay.probed_program", "framedex.plugins.replay.standalone"),
)


def test_every_package_has_a_docstring_that_names_existing_files() -> None:
    for package in (*INDEXER.rglob("__init__.py"), *(REPOSITORY / "server").rglob("__init__.py")):
        room, text = package.parent, ast.get_docstring(ast.parse(package.read_text()))
        assert text is not None, f"{package} has no docstring"
        assert len(text.partition("\n")[0]) <= 117
        for name in re.findall(r"`([\w/]+\.(?:py|sql|h|cc))`", text):
            assert any((base / name).exists() for base in (room, *room.parents)), f"{package}: {name}"


def test_root_pages_are_short_and_name_existing_files() -> None:
    assert len((REPOSITORY / "README.md").read_bytes()) <= 4096
    architecture = (REPOSITORY / "ARCHITECTURE.md").read_text()
    assert len(architecture.encode()) <= 12288
    named = re.findall(r"`((?:tests|native|indexer)/[\w./]+)`", architecture)
    assert named
    assert [name for name in named if not (REPOSITORY / name).exists()] == []
    rooms = {file.relative_to(INDEXER).parts[0] for file in INDEXER.glob("*/**/*.py")}
    assert {room for room in rooms if f"`{room}/" not in architecture} == {"demo"}


def test_no_room_has_many_modules_and_none_is_beside_the_rooms() -> None:
    rooms = {folder.parent for folder in INDEXER.rglob("*.py")}
    assert {room: n for room in rooms if (n := len([*room.glob("*.py")])) > 24} == {}
    assert {file.name for file in INDEXER.glob("*.py")} - {"_version.py"} == {
        "__init__.py",
        "__main__.py",
        "settings.py",
    }


def test_only_listed_packages_import_a_restricted_name() -> None:
    importers: dict[str, set[str]] = {name: set() for name in IMPORTERS}
    for folder in (INDEXER, REPOSITORY / "server" / "framedex_server"):
        for file in folder.rglob("*.py"):
            for module, names in _FROM.findall(file.read_text()):
                for name in importers.keys() & {f"{module}.{each}" for each in re.findall(r"\w+", names)}:
                    importers[name].add(str(file.relative_to(folder)))

    assert all(importers.values())
    assert {
        (name, file) for name, files in importers.items() for file in files if not file.startswith(IMPORTERS[name])
    } == set()


def test_every_imported_package_is_declared() -> None:
    """A transitive dependency may disappear with the next version of the package that requires it."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    required = [
        *project["dependencies"],
        *(each for name in ("export", "fleet", "fleet-dask", "guidebook", "mcp") for each in extras[name]),
    ]
    declared = {re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in required}
    distributions = packages_distributions()
    graph = grimp.build_graph("framedex", "framedex_server", include_external_packages=True)
    ours = {module for module in graph.modules if not graph.is_module_squashed(module)}
    imported = {
        needed
        for module in ours
        if not module.startswith(IMPORTED_BY_OTHERS)
        for needed in graph.find_modules_directly_imported_by(module) - ours
    }

    others = imported - sys.stdlib_module_names - {"framedex_native"}

    assert others
    assert {name for name in others if not declared & {*distributions.get(name, ())}} == set()


def test_native_folders_include_only_allowed_folders() -> None:
    allowed = dict(NATIVE_NEEDS)
    for room, layers in NATIVE_LAYERS.items():
        folders = [f"{room}/{layer}" for layer in layers]
        allowed |= {folder: NATIVE_NEEDS[room] | {*folders[:i]} for i, folder in enumerate((*folders, room))}
    included = {(_native_room(file), _native_room(header)) for file, header in _native_includes()}
    across = {(room, needed) for room, needed in included if needed != room}
    assert across
    assert {(room, needed) for room, needed in across if needed not in allowed.get(room, set())} == set()


def test_native_includes_have_no_cycle() -> None:
    """A header and its source file count as one."""
    needs: dict[Path, set[Path]] = {}
    for file, header in _native_includes():
        needs.setdefault(file.with_suffix(""), set()).add(header.with_suffix(""))
    assert list(TopologicalSorter({file: needed - {file} for file, needed in needs.items()}).static_order())


def test_native_code_uses_one_dialect() -> None:
    assert [str(file) for file in NATIVE.rglob("*.h") if "#pragma once\n" not in file.read_text()] == []
    qualified = re.compile(r"\bstd::(size_t|u?int\d+_t|u?intptr_t|ptrdiff_t)\b")
    assert [str(file) for file in _native_files() if qualified.search(file.read_text())] == []


def _native_files() -> Iterator[Path]:
    yield from (*NATIVE.rglob("*.cc"), *NATIVE.rglob("*.h"))


def _native_includes() -> Iterator[tuple[Path, Path]]:
    """Each native file with each header of framedex that it includes, relative to native/."""
    for file in _native_files():
        for included in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
            if (NATIVE / included).is_file():
                yield file.relative_to(NATIVE), Path(included)


def _native_room(file: Path) -> str:
    """The room of a file: `recorder`, or `extractor/cpp` within a large room."""
    folder = file.parent.as_posix()
    is_own = folder in NATIVE_NEEDS or any(f"{folder}/".startswith(f"{room}/") for room in NATIVE_LAYERS)
    return folder if is_own else file.parts[0]
