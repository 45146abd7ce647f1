"""The generated project files: CMakeLists.txt for CLion, and compile_commands.json for clangd.

The CMake project cannot be built. compile_commands.json follows Clang's "JSON Compilation Database Format
Specification".
"""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from framedex.base.regularfile import open_regular
from framedex.export.projects.tree import Project, is_c, is_compiled

_MARK = "# Written by `framedex cmake`"

# CMake splits lists at semicolons outside brackets. It treats backslashes as separators or escapes, `$<` as a generator
# expression, and `${` as a variable. In a target's list of sources, quoting does not prevent this.
_INEXPRESSIBLE = re.compile(r"[;\[\]\\\x00-\x1f\x7f]|\$<|\$\w*\{")


def build_cmakelists(project: Project, output: Path) -> str:
    """Return the file's text, for the folder `output`; files that are `is_inexpressible` are left out."""
    files = _filter_expressible(project.tree.files)
    languages = "C CXX" if any(map(is_c, files)) else "CXX"
    parts = partition_targets(files)
    macros = [each for each in project.defines if not is_dropped_by_cmake(each)]
    options = [f"-D{each}" for each in project.defines if is_dropped_by_cmake(each)]
    lines = [
        f"{_MARK}: it lets CLion open this tree. Nothing here can be built.",
        "cmake_minimum_required(VERSION 3.16)",
        f"project({_project_name(project.tree.root)} LANGUAGES {languages})",
        "",
        f"set(CMAKE_CXX_STANDARD {project.standard})",
        "set(CMAKE_CXX_EXTENSIONS OFF)",
        f"set(tree {_format_tree(project.tree.root, output)})",
        "",
        *_format_call("include_directories", map(_format_source, _filter_expressible(project.roots.own))),
        *_format_call("include_directories", map(_quote, _filter_expressible(project.roots.foreign)), "SYSTEM"),
        *_format_call("add_compile_definitions", map(_format_literal, macros)),
        *_format_call("add_compile_options", map(_format_literal, options)),
    ]
    for target in parts:
        lines += ["", *_format_library(target)]
    lines += [
        "",
        "# A target with only headers needs an explicit linker language.",
        *_format_call("set_target_properties", [target.name for target in parts], "", "PROPERTIES LINKER_LANGUAGE CXX"),
    ]
    if cuda := [path for path in files if path.lower().endswith(".cu")]:
        lines += _format_call("set_source_files_properties", map(_format_source, cuda), "", "PROPERTIES LANGUAGE CXX")
    return "\n".join(lines) + "\n"


def is_inexpressible(path: str) -> bool:
    """Return whether CMake cannot represent the name of this file or folder."""
    return bool(_INEXPRESSIBLE.search(path))


def is_own_cmakelists(path: Path) -> bool:
    """Return whether `build_cmakelists` wrote this file. Raises OSError if it is unreadable."""
    with open_regular(path) as file:
        return file.read(len(_MARK)) == _MARK.encode()


def _filter_expressible(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if not is_inexpressible(path)]


def _format_library(target: Target) -> list[str]:
    sources = sorted(target.files, key=lambda path: (not is_compiled(path), path))
    return _format_call("add_library", map(_format_source, sources), f"{target.name} OBJECT EXCLUDE_FROM_ALL")


def _format_call(command: str, arguments: Iterable[str], first: str = "", last: str = "") -> list[str]:
    """Return the lines of a command call, one argument per line; empty without arguments."""
    given: Sequence[str] = [f"  {argument}" for argument in arguments]
    return [f"{command}({first}".rstrip(), *given, *([f"  {last})"] if last else [")"])] if given else []


def _format_source(path: str) -> str:
    return f'"{_below_tree(path)}"'


def _below_tree(path: str) -> str:
    return f"${{tree}}/{_escape(path)}" if path else "${tree}"


def _format_tree(root: Path, output: Path) -> str:
    """Return the root relative to the file if the file is inside the tree, so that both can be moved together."""
    inside = os.path.relpath(os.path.realpath(output), root)
    if inside == ".":
        return '"${CMAKE_CURRENT_LIST_DIR}"'
    if inside.split("/")[0] == "..":
        return _quote(str(root))
    return f'"${{CMAKE_CURRENT_LIST_DIR}}/{"/".join([".."] * (inside.count("/") + 1))}"'


def _quote(text: str) -> str:
    return f'"{_escape(text)}"'


def _format_literal(text: str) -> str:
    """Quote a string that may contain generator expressions: `$<` is produced by an expression of its own."""
    return _quote(text.replace("$<", "$$<1:<>"))


def _escape(text: str) -> str:
    return re.sub(r'(["$\\;])', r"\\\1", text)


def _project_name(root: Path) -> str:
    return re.sub(r"\W+", "_", root.name, flags=re.ASCII).strip("_") or "tree"


_MAX_TARGET_FILES = 300

# CMake's own targets (policy CMP0037) and those added by its generators.
_RESERVED = frozenset(
    (
        *("all", "clean", "depend", "edit_cache", "help", "install", "list_install_components", "package"),
        *("package_source", "preinstall", "rebuild_cache", "test"),
        *("ALL_BUILD", "INSTALL", "PACKAGE", "RUN_TESTS", "ZERO_CHECK"),
    )
)


@dataclass(frozen=True, slots=True)
class Target:
    """A CMake target: its name and its files, relative to the tree."""

    name: str
    files: tuple[str, ...]


def partition_targets(files: Sequence[str]) -> list[Target]:
    """Return the targets of these files: one per folder with all subfolders, split if it has more than 300 files."""
    taken: set[str] = set()
    return [Target(_target_name(folder, taken), tuple(part)) for folder, part in _split_folder("", files)]


def _split_folder(folder: str, files: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    if len(files) <= _MAX_TARGET_FILES:
        yield folder, files
        return
    start = len(folder) + 1 if folder else 0
    direct = []
    below = defaultdict(list)
    for path in files:
        first, slash, _ = path[start:].partition("/")
        if slash:
            below[f"{path[:start]}{first}"].append(path)
        else:
            direct.append(path)
    if direct:
        yield folder, direct
    for inner, inside in sorted(below.items()):
        yield from _split_folder(inner, inside)


def _target_name(folder: str, taken: set[str]) -> str:
    plain = re.sub(r"\W+", "_", folder, flags=re.ASCII).strip("_") or "root"
    name = f"{plain}_files" if plain in _RESERVED else plain
    number = 2
    while name in taken:
        name = f"{plain}_{number}"
        number += 1
    taken.add(name)
    return name


_NAME = r"[^\W\d]\w*"
_PARAMETERS = rf"\( *(?:(?:{_NAME} *, *)*(?:{_NAME}(?: *\.\.\.)?|\.\.\.))? *\)"
_DEFINITION = re.compile(rf"{_NAME}(?:{_PARAMETERS})?(?:=[^\x00-\x1f\x7f\ud800-\udfff]*)?")
_DROPPED_BY_CMAKE = re.compile(rf"{_NAME}\(|.*#")


def is_definition(text: str) -> bool:
    """Return whether compilers accept this after `-D`: NAME, NAME=VALUE, or NAME(PARAMETERS)=VALUE, on one line."""
    return _DEFINITION.fullmatch(text) is not None


def is_dropped_by_cmake(definition: str) -> bool:
    """Return whether CMake drops this from compile definitions, with a warning. A compile option passes it on.

    CMake's cmLocalGenerator::CheckDefinition drops macros with parameters, and values with a `#`.
    """
    return _DROPPED_BY_CMAKE.match(definition) is not None


# Clang rejects unknown keys, so the output path marks a file as ours.
_OUTPUT = "framedex-cmake/"
_HEAD_BYTES = 400


def compile_commands_text(project: Project) -> str:
    """Return the file's text: an entry per translation unit, or per header if the tree has only headers.

    Headers need no entry: clangd uses the command of the most similar translation unit.
    """
    units = [path for path in project.tree.files if is_compiled(path)]
    common = _build_common_arguments(project)
    lines = [_format_entry(project, path, common) for path in units or project.tree.files]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def is_own_compile_commands(path: Path) -> bool:
    """Return whether `compile_commands_text` wrote this file. Raises OSError if it is unreadable."""
    with open_regular(path) as file:
        return f'{{"output": "{_OUTPUT}'.encode() in file.read(_HEAD_BYTES)


def _format_entry(project: Project, path: str, common: list[str]) -> str:
    if is_c(path):
        compiler = ["cc"]
    elif is_compiled(path):
        compiler = ["c++", f"-std=c++{project.standard}", "-x", "c++"]
    else:
        compiler = ["c++", f"-std=c++{project.standard}", "-x", "c++-header"]
    file = str(project.tree.root / path)
    return json.dumps(
        {
            "output": f"{_OUTPUT}{path}.o",
            "directory": str(project.tree.root),
            "file": file,
            "arguments": [*compiler, *common, "-c", file],
        }
    )


def _build_common_arguments(project: Project) -> list[str]:
    own = [f"-I{project.tree.root / root}" for root in project.roots.own]
    foreign = [argument for root in project.roots.foreign for argument in ("-isystem", root)]
    return [*own, *foreign, *(f"-D{define}" for define in project.defines)]
