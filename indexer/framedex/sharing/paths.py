"""Paths of one machine as paths that tell nothing of it: what is public stays, the rest loses its beginning."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import PureWindowsPath

PROJECT, PYTHON, ELSEWHERE = "/project", "/python", "/elsewhere"

_INSTALLED = re.compile(r".*?(/(?:site|dist)-packages(?:/.*)?)")
_LIBRARY = re.compile(r".*?(/lib(?:64)?/python\d+\.\d+(?:/.*)?)")
_COMPILED = re.compile(
    r".*?(/(?:external/[\w.+~-]*(?:xla|jax|tsl|absl)|c?python[^/]*/(?:Include|Modules|Objects|Parser|Programs|Python))/.*)",
    re.IGNORECASE,
)
# What compilers call the folder that they work in tells nothing of the builds of XLA and JAX alone.
_BUILDS = r"proc/self/cwd/(?:bazel-out|external|jax|jaxlib|tensorflow|third_party|torch_xla|tsl|xla)"
_SYSTEM = re.compile(rf"/(?:usr(?!/local/(?:home|users))|lib|lib32|lib64|bin|sbin|{_BUILDS}|dev)(?:/|$)")
_OWN = re.compile(rf"(?:{PROJECT}|{PYTHON}|{ELSEWHERE})(?:/|$)")


# Relative, of Windows, or of a URL: neither absolute, nor `xla@5a9e73cbd929:xla/shape.cc` of a map or `<string>`.
_OTHER = re.compile(r"(?![/<])[^:@]*[/\\].*|[A-Za-z]:[/\\].*|[a-z]+://.*", re.DOTALL)


class PlainPaths:
    """Rewrites paths. Those below one of `projects` are told from there on."""

    def __init__(self, projects: Sequence[str]) -> None:
        real = dict.fromkeys(each.rstrip("/") for name in projects if name for each in (name, os.path.realpath(name)))
        self._projects = sorted((each for each in real if each.startswith("/")), key=len, reverse=True)

    def plain(self, path: str) -> str:
        """A path that is absolute."""
        if _SYSTEM.match(path) or _OWN.match(path):
            return path
        for pattern in (_INSTALLED, _LIBRARY, _COMPILED):
            if match := pattern.fullmatch(path):
                return PYTHON + match[1]
        for folder in self._projects:
            if path == folder or path.startswith(f"{folder}/"):
                return PROJECT + path[len(folder) :]
        return f"{ELSEWHERE}/{path.rstrip('/').rpartition('/')[2]}"

    def file(self, name: str) -> str:
        """A name of a file, of which only the last part is left; one that is absolute, or no file's, stays."""
        if _OTHER.fullmatch(name) is None:
            return name
        return f"{ELSEWHERE}/{PureWindowsPath(name).name}"
