"""Lazily importing packages supply each name that they list."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PACKAGES = (
    "framedex.binaries",
    "framedex.programs.ffi",
    "framedex.index",
    "framedex.model",
    "framedex.programs",
    "framedex.sources.release_maps",
    "framedex.sources.releases",
    "framedex.sources",
)
REPOSITORY = Path(__file__).parents[2]
ROOTS = (REPOSITORY / "indexer" / "framedex", REPOSITORY / "server" / "framedex_server")
# Modules loaded before those of a package.
LOADERS = {
    "framedex.commands.verbs.": "framedex.commands.main",
    "framedex_server.answers.": "framedex_server.server",
    "framedex_server.documents.": "framedex_server.server",
    "framedex_server.features.": "framedex_server.server",
}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_listed_name_exists(package: str) -> None:
    module = import_module(package)
    assert module.__all__
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name_is_refused(package: str) -> None:
    assert not hasattr(import_module(package), "no_such_name")


def test_a_name_is_looked_up_once() -> None:
    package = import_module("framedex.sources")
    vars(package).pop("find_files", None)

    found = package.find_files

    assert vars(package)["find_files"] is found


def test_a_local_import_loads_a_module_not_loaded_by_its_file() -> None:
    """Such an import keeps a start quick, so it needs no comment. Any other import is at the top of its file."""
    files = {_module_of(file, root): file for root in ROOTS for file in sorted(root.rglob("*.py"))}
    imports = {module: [*_imports(ast.parse(file.read_text()), files)] for module, file in files.items()}
    needed = {module: {name for names, top in found for name in names if top} for module, found in imports.items()}

    for module, found in imports.items():
        loaded = _closure({module, *(loader for part, loader in LOADERS.items() if module.startswith(part))}, needed)
        assert [names for names, at_top in found if not at_top and names and names <= loaded] == [], module


def _module_of(file: Path, root: Path) -> str:
    return ".".join(file.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")


def _imports(tree: ast.AST, files: Mapping[str, Path], at_top: bool = True) -> Iterator[tuple[set[str], bool]]:
    """For each import at run time: the modules of framedex that it loads, and whether it is outside functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield {alias.name for alias in node.names} & files.keys(), at_top
        elif isinstance(node, ast.ImportFrom):
            yield {_home(str(node.module), alias.name, files) for alias in node.names} & files.keys(), at_top
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield from _imports(node, files, at_top and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _home(package: str, name: str, files: Mapping[str, Path]) -> str:
    """The module that the import of a name from a package loads last."""
    if f"{package}.{name}" in files:
        return f"{package}.{name}"
    is_lazy = package in files and "__getattr__" in files[package].read_text()
    if is_lazy and hasattr(module := import_module(package), "__getattr__"):
        value = getattr(module, name)
        return str(getattr(value, "__name__" if isinstance(value, ModuleType) else "__module__", package))
    return package


def _closure(modules: set[str], needed: Mapping[str, set[str]]) -> set[str]:
    """These modules, the modules that they import, and so on, with their packages."""
    reached: set[str] = set()
    waiting = [*modules]
    while waiting:
        module = waiting.pop()
        if module not in reached:
            reached.add(module)
            waiting += [*needed.get(module, ()), *filter(None, [module.rpartition(".")[0]])]
    return reached


def test_the_server_starts_without_the_native_module() -> None:
    asked = "import sys, framedex_server.server; print(*(name for name in sys.modules if name.startswith('framedex')))"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert "framedex_server.server" in loaded
    assert [name for name in loaded if name.startswith(("framedex_native", "framedex.captures"))] == []


def test_importing_one_module_loads_no_others() -> None:
    asked = "import sys; from framedex.model import Location; print(*sorted(m for m in sys.modules if 'framedex' in m))"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout.split()
    assert "framedex.model.locations" in loaded
    assert not {"framedex.model.rows", "framedex.model.capture"} & set(loaded)


def test_every_lazily_compiled_expression_is_valid() -> None:
    """A mistake in one would otherwise only appear on a line that uses it."""
    texts = {_module_of(file, ROOTS[0]): file.read_text() for file in ROOTS[0].rglob("*.py")}
    modules = [import_module(name) for name, text in texts.items() if "import compile_on_use" in text]
    patterns = [
        value for module in modules for value in _values(module) if type(value).__module__ == "framedex.base.lazy"
    ]

    assert len(patterns) > 100
    for pattern in patterns:
        assert isinstance(pattern.pattern, str)  # compiles it


def _values(module: ModuleType) -> Iterator[Any]:
    """The members of a module and of its classes."""
    for value in vars(module).values():
        yield value
        if isinstance(value, type):
            yield from vars(value).values()
