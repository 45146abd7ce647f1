"""Parses frames that recorders write as one text: function, file and line."""

from __future__ import annotations

import re
from functools import lru_cache

from framedex.base.lazy import compile_on_use
from framedex.model import ImportedFrame, Language

# py-spy: `f (path/to/file.py:12)`, and without a line for native code `f (libfoo.so)`. Folders may have brackets.
_IN_BRACKETS = compile_on_use(r"(?P<function>.+?) \((?P<file>(?:[^()]|\([^()]*\))*?)(?::(?P<line>\d{1,9}))?\)$")
# austin's collapsed stacks: `path/to/file.py:f:12`.
_WITH_COLONS = compile_on_use(r"(?P<file>.*?\.pyx?|<[^<>]+>):(?P<function>[^:]*):(?P<line>\d{1,9})$")
# The same in files known to be from austin. This also matches scripts without a suffix, unreadable names (`:f:12`), and
# entries that are not functions (`:GC:`).
_AUSTIN = compile_on_use(r"(?P<file>.*):(?P<function>[^:]+):(?P<line>\d{0,9})$")
# CPython's Python/perf_trampoline.c.
_PERF_MAP = compile_on_use(r"py::(?P<function>[^:]+):(?P<file>.+)$")
# JAX's profiler: `$file.py:12 f`, with the first line of the function.
_DOLLAR = compile_on_use(r"\$(?P<file>[^:]+?):(?P<line>\d{1,9}) (?P<function>.+)$")

# PyTorch's profiler: `path/to/file.py(12): f`.
_NUMBERED = compile_on_use(r"(?P<file>.+\.pyx?)\((?P<line>\d{1,9})\): (?P<function>.+)$")
# py-spy's labels for processes and threads: `process 1:"python a.py"` and `thread (0x7f): MainThread`.
_THREAD = compile_on_use(r"thread \((?P<tid>[\w ]+)\)(?:: (?P<name>.*))?$")
_PROCESS = compile_on_use(r"process \d+:.*$")

_PYTHON = (".py", ".pyx", ".pyi", ".pxd")
_LIBRARY = re.compile(r"\.so(?:\.[\d.]+)?$|\.dylib$|\.dll$|\.exe$")


@lru_cache(1 << 16)
def parse_frame(text: str) -> ImportedFrame:
    """Parse the text of a frame. A string in an unknown form becomes the name of a function."""
    for pattern in (_PERF_MAP, _DOLLAR, _NUMBERED, _WITH_COLONS, _IN_BRACKETS):
        match = pattern.match(text)
        if match is not None:
            parts = match.groupdict()
            line = int(parts.get("line") or 0)
            if pattern is _DOLLAR:
                return build_imported_frame(parts["function"], parts["file"], first_line=line)
            if pattern is not _IN_BRACKETS or line or is_python(parts["file"]) or _LIBRARY.search(parts["file"]):
                return build_imported_frame(parts["function"], parts["file"], line)
    return build_imported_frame(text)


def parse_austin_frame(text: str) -> ImportedFrame:
    """Parse the text of a frame from austin."""
    match = _AUSTIN.match(text)
    if match is None:
        return parse_frame(text)
    return build_imported_frame(match["function"], match["file"], int(match["line"] or 0))


def build_imported_frame(
    function: str, file: str = "", line: int = 0, *, module: str = "", first_line: int = 0, is_inlined: bool = False
) -> ImportedFrame:
    """Build a frame from recorded fields. A library in `file` becomes the module."""
    if not module and _LIBRARY.search(file) and not line:
        file, module = "", file
    language = Language.PYTHON if is_python(file) else Language.NATIVE
    return ImportedFrame(language, function, file, max(line, 0), max(first_line, 0), module, is_inlined)


def parse_thread_label(text: str) -> tuple[int, str] | None:
    """Parse py-spy's label of a thread into id and name; None if the text is a frame.

    A label of a process gives id 0 and an empty name.
    """
    match = _THREAD.match(text)
    if match is None:
        return None if _PROCESS.match(text) is None else (0, "")
    return parse_thread_id(match["tid"]), match["name"] or ""


def parse_thread_id(text: str) -> int:
    """Parse the id of a thread; 0 if the text is not numeric."""
    try:
        return int(text, 16 if text.startswith("0x") else 10)
    except ValueError:
        return 0


def is_python(file: str) -> bool:
    """Whether a file name is Python code, such as `<string>` and `<frozen runpy>`."""
    return file.endswith(_PYTHON) or (file.startswith("<") and file.endswith(">"))
