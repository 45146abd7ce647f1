"""The path of each page of the site, and relative links between pages."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

HOME = "index.html"
FUNCTIONS = "functions/index.html"
OBJECTS = "objects/index.html"
TASKS = "tasks/index.html"
RUNS = "runs.html"
LINES = "lines.html"
VERSIONS = "versions.html"
CHANGES = "changes.html"
COMPARISON = "comparison.html"


def function_page(name: str) -> str:
    """Return the page of a function. Editors compute it from a name in a source, so it depends on nothing else."""
    return f"functions/{_file_name(name)}.html"


def object_page(type_name: str) -> str:
    """Return the page of an object type: `PJRT_LoadedExecutable` and `loaded_executable` share one."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type_name.removeprefix("PJRT_"))
    return f"objects/{_file_name(words.lower())}.html"


def task_page(name: str) -> str:
    """Return the page of a task (a program)."""
    return f"tasks/{_file_name(name)}.html"


def relative_link(page: str, target: str) -> str:
    """Return the relative link from a page to a target, which may have an anchor."""
    path, separator, anchor = target.partition("#")
    return posixpath.relpath(path, posixpath.dirname(page) or ".") + separator + anchor


def anchor(text: str) -> str:
    """Return an element id for a text; it begins with a letter."""
    return "at-" + (re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-") or "it")


def make_unique(paths: Iterable[str]) -> list[str]:
    """Return the paths, with a number appended to make them unique without regard to case.

    File systems may ignore case, and names may be truncated.
    """
    taken: set[str] = set()
    found = []
    for path in paths:
        stem, extension = posixpath.splitext(path)
        number = 1
        while path.lower() in taken:
            number += 1
            path = f"{stem}-{number}{extension}"
        taken.add(path.lower())
        found.append(path)
    return found


def _file_name(name: str) -> str:
    shown = re.sub(r"[^A-Za-z0-9_]+", "-", name)[:120].strip("-")
    return shown if shown and shown.lower() != "index" else f"{shown or 'it'}-"
