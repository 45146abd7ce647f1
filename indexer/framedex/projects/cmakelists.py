"""CMakeLists.txt: the tree as CMake targets, for CLion. It cannot be built."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from framedex.projects.macros import is_dropped_by_cmake
from framedex.projects.model import Project, is_c, is_compiled
from framedex.projects.targets import Target, targets
from framedex.regularfile import open_regular

_MARK = "# Written by `framedex cmake`"

# CMake splits lists at semicolons outside brackets. It treats backslashes as separators or escapes, `$<` as a generator
# expression, and `${` as a variable. In a target's list of sources, quoting does not prevent this.
_UNSPEAKABLE = re.compile(r"[;\[\]\\\x00-\x1f\x7f]|\$<|\$\w*\{")


def cmakelists_text(project: Project, output: Path) -> str:
    """Return the file's text, for the folder `output`; files that are `is_unspeakable` are left out."""
    files = _speakable(project.tree.files)
    languages = "C CXX" if any(map(is_c, files)) else "CXX"
    parts = targets(files)
    macros = [each for each in project.defines if not is_dropped_by_cmake(each)]
    options = [f"-D{each}" for each in project.defines if is_dropped_by_cmake(each)]
    lines = [
        f"{_MARK}: it lets CLion open this tree. Nothing here can be built.",
        "cmake_minimum_required(VERSION 3.16)",
        f"project({_project_name(project.tree.root)} LANGUAGES {languages})",
        "",
        f"set(CMAKE_CXX_STANDARD {project.standard})",
        "set(CMAKE_CXX_EXTENSIONS OFF)",
        f"set(tree {_tree(project.tree.root, output)})",
        "",
        *_call("include_directories", map(_source, _speakable(project.roots.own))),
        *_call("include_directories", map(_quoted, _speakable(project.roots.foreign)), "SYSTEM"),
        *_call("add_compile_definitions", map(_literal, macros)),
        *_call("add_compile_options", map(_literal, options)),
    ]
    for target in parts:
        lines += ["", *_library(target)]
    lines += [
        "",
        "# A target of headers alone names no language of its own.",
        *_call("set_target_properties", [target.name for target in parts], "", "PROPERTIES LINKER_LANGUAGE CXX"),
    ]
    if cuda := [path for path in files if path.lower().endswith(".cu")]:
        lines += _call("set_source_files_properties", map(_source, cuda), "", "PROPERTIES LANGUAGE CXX")
    return "\n".join(lines) + "\n"


def is_unspeakable(path: str) -> bool:
    """Return whether CMake cannot represent the name of this file or folder."""
    return bool(_UNSPEAKABLE.search(path))


def is_own(path: Path) -> bool:
    """Return whether `cmakelists_text` wrote this file. Raises OSError if it is unreadable."""
    with open_regular(path) as file:
        return file.read(len(_MARK)) == _MARK.encode()


def _speakable(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if not is_unspeakable(path)]


def _library(target: Target) -> list[str]:
    sources = sorted(target.files, key=lambda path: (not is_compiled(path), path))
    return _call("add_library", map(_source, sources), f"{target.name} OBJECT EXCLUDE_FROM_ALL")


def _call(command: str, arguments: Iterable[str], first: str = "", last: str = "") -> list[str]:
    """Return the lines of a command call, one argument per line; empty without arguments."""
    given: Sequence[str] = [f"  {argument}" for argument in arguments]
    return [f"{command}({first}".rstrip(), *given, *([f"  {last})"] if last else [")"])] if given else []


def _source(path: str) -> str:
    return f'"{_below_tree(path)}"'


def _below_tree(path: str) -> str:
    return f"${{tree}}/{_escaped(path)}" if path else "${tree}"


def _tree(root: Path, output: Path) -> str:
    """Return the root relative to the file if the file is inside the tree, so that both can be moved together."""
    inside = os.path.relpath(os.path.realpath(output), root)
    if inside == ".":
        return '"${CMAKE_CURRENT_LIST_DIR}"'
    if inside.split("/")[0] == "..":
        return _quoted(str(root))
    return f'"${{CMAKE_CURRENT_LIST_DIR}}/{"/".join([".."] * (inside.count("/") + 1))}"'


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _literal(text: str) -> str:
    """Quote a text that may contain generator expressions: `$<` is produced by an expression of its own."""
    return _quoted(text.replace("$<", "$$<1:<>"))


def _escaped(text: str) -> str:
    return re.sub(r'(["$\\;])', r"\\\1", text)


def _project_name(root: Path) -> str:
    return re.sub(r"\W+", "_", root.name, flags=re.ASCII).strip("_") or "tree"
