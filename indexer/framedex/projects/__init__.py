"""IDE projects for a C++ tree without CMake: `framedex cmake`.

Start at `includes.py`, then `cmakelists.py`.
"""

from framedex.projects.cmakelists import cmakelists_text
from framedex.projects.compile_commands import compile_commands_text
from framedex.projects.includes import find_include_roots
from framedex.projects.macros import is_definition
from framedex.projects.model import IncludeRoots, Project, SourceTree, is_compiled
from framedex.projects.tree import find_tree

__all__ = [
    "IncludeRoots",
    "Project",
    "SourceTree",
    "cmakelists_text",
    "compile_commands_text",
    "find_include_roots",
    "find_tree",
    "is_compiled",
    "is_definition",
]
