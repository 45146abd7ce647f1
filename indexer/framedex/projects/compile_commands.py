"""compile_commands.json: the compile command of each translation unit, for clangd.

The form is that of Clang's "JSON Compilation Database Format Specification".
"""

from __future__ import annotations

import json
from pathlib import Path

from framedex.projects.model import Project, is_c, is_compiled
from framedex.regularfile import open_regular

# Clang rejects unknown keys, so the output path marks a file as ours.
_OUTPUT = "framedex-cmake/"
_BEGINNING = 400


def compile_commands_text(project: Project) -> str:
    """Return the file's text: an entry per translation unit, or per header if the tree has only headers.

    Headers need no entry: clangd uses the command of the most similar translation unit.
    """
    units = [path for path in project.tree.files if is_compiled(path)]
    common = _common_arguments(project)
    lines = [_entry(project, path, common) for path in units or project.tree.files]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def is_own(path: Path) -> bool:
    """Return whether `compile_commands_text` wrote this file. Raises OSError if it is unreadable."""
    with open_regular(path) as file:
        return f'{{"output": "{_OUTPUT}'.encode() in file.read(_BEGINNING)


def _entry(project: Project, path: str, common: list[str]) -> str:
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


def _common_arguments(project: Project) -> list[str]:
    own = [f"-I{project.tree.root / root}" for root in project.roots.own]
    foreign = [argument for root in project.roots.foreign for argument in ("-isystem", root)]
    return [*own, *foreign, *(f"-D{define}" for define in project.defines)]
