"""Definitions and calls of source files, taken in by native/extractor on threads of its own, without the GIL."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from framedex.model import ExtractedFile
from framedex.nativepart import _extractor
from framedex.sources.files import language_of

_LANGUAGES = {
    "cpp": _extractor.CPP,
    "python": _extractor.PYTHON,
    "protobuf": _extractor.PROTO,
    "tablegen": _extractor.TABLEGEN,
}


def extract_files(paths: Sequence[str], macros: str = "", threads: int | None = None) -> Iterator[ExtractedFile]:
    """Take files in, in whatever order they are finished. Never raises: what is wrong with one is among its problems.

    `macros` is what `learn_macros` made of the tree that they belong to. Threads: as many as there are processors.
    """
    languages = [language_of(Path(path)) or "cpp" for path in paths]
    requests = [(os.fsencode(path), _LANGUAGES[language]) for path, language in zip(paths, languages, strict=True)]
    run = _extractor_of_process().run(requests, macros, threads or processors())
    for index, modified, size, content, errors, definitions, problems in run:
        path, language = paths[index], languages[index]
        yield ExtractedFile(path, language, modified, size, content, errors, definitions, problems)


def learn_macros(paths: Sequence[str], threads: int | None = None) -> str:
    """The macros in these files that change how the source around them is read, as text, one a line."""
    return _extractor.learn_macros([os.fsencode(path) for path in paths], threads or processors())


def long_statements(source: bytes, language: str, macros: str = "") -> list[list[tuple[int, int]]]:
    """The statements over more than one line, each as ranges of lines: 1-based, both ends count.

    What other statements have inside of one is left out: the body of a lambda, of a local class, of a loop. Statements
    with a syntax error are left out, and all of a text that is too far from the language. `macros` as for
    `extract_files`.
    """
    try:
        return _extractor_of_process().statements(source, _LANGUAGES[language], macros)
    except RuntimeError:
        return []


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


@cache
def _extractor_of_process() -> _extractor.Extractor:
    import tree_sitter_cpp  # after the native part, without which nobody has them
    import tree_sitter_python

    return _extractor.Extractor(tree_sitter_cpp.language(), tree_sitter_python.language())
