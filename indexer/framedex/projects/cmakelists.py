"""CMakeLists.txt: the tree as CMake targets, for CLion. Nothing of it is meant to be built."""

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

# CMake splits lists at semicolons that no bracket holds, takes backslashes for separators or escapes, `$<` for a
# generator expression and `${` for a variable; once a name is in a target's list of sources, no quoting stops it.
_UNSPEAKABLE = re.compile(r"[;\[\]\\\x00-\x1f\x7f]|\$<|\$\w*\{")


def cmakelists_text(project: Project, output: Path) -> str:
    """The file's text, for the folder `output`; files that `is_unspeakable` are left out."""
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
    """Whether no CMakeLists.txt can name this file or folder."""
    return bool(_UNSPEAKABLE.search(path))


def is_own(path: Path) -> bool:
    """Whether this is a file that `cmakelists_text` made. Raises OSError where it cannot be read."""
    with open_regular(path) as file:
        return file.read(len(_MARK)) == _MARK.encode()


def _speakable(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if not is_unspeakable(path)]


def _library(target: Target) -> list[str]:
    sources = sorted(target.files, key=lambda path: (not is_compiled(path), path))
    return _call("add_library", map(_source, sources), f"{target.name} OBJECT EXCLUDE_FROM_ALL")


def _call(command: str, arguments: Iterable[str], first: str = "", last: str = "") -> list[str]:
    """A call of a command, an argument a line; none without arguments."""
    given: Sequence[str] = [f"  {argument}" for argument in arguments]
    return [f"{command}({first}".rstrip(), *given, *([f"  {last})"] if last else [")"])] if given else []


def _source(path: str) -> str:
    return f'"{_below_tree(path)}"'


def _below_tree(path: str) -> str:
    return f"${{tree}}/{_escaped(path)}" if path else "${tree}"


def _tree(root: Path, output: Path) -> str:
    """The root, by way of the file itself where it lies in the tree, so that both can be moved together."""
    inside = os.path.relpath(os.path.realpath(output), root)
    if inside == ".":
        return '"${CMAKE_CURRENT_LIST_DIR}"'
    if inside.split("/")[0] == "..":
        return _quoted(str(root))
    return f'"${{CMAKE_CURRENT_LIST_DIR}}/{"/".join([".."] * (inside.count("/") + 1))}"'


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _literal(text: str) -> str:
    """The text where generator expressions are evaluated: its `<` behind a `$` comes out of one."""
    return _quoted(text.replace("$<", "$$<1:<>"))


def _escaped(text: str) -> str:
    return re.sub(r'(["$\\;])', r"\\\1", text)


def _project_name(root: Path) -> str:
    return re.sub(r"\W+", "_", root.name, flags=re.ASCII).strip("_") or "tree"
