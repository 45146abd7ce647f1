"""IDE projects for a C++ tree without CMake: `framedex cmake`.

Start at `tree.py` (files and include roots), then `project_files.py` (CMakeLists.txt and compile_commands.json).
"""

from framedex.export.projects.project_files import build_cmakelists, compile_commands_text, is_definition
from framedex.export.projects.tree import IncludeRoots, Project, SourceTree, find_include_roots, find_tree, is_compiled

__all__ = [
    "IncludeRoots",
    "Project",
    "SourceTree",
    "build_cmakelists",
    "compile_commands_text",
    "find_include_roots",
    "find_tree",
    "is_compiled",
    "is_definition",
]
