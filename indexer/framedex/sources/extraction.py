"""Extract definitions and calls from source files. native/extractor works on its own threads, without the GIL."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from framedex.base.nativepart import _extractor
from framedex.model import Definition, DefinitionRow, ExtractedFile, SourceFile
from framedex.model.sources import parse_call_sites
from framedex.sources.files import find_language

_LANGUAGES = {
    "cpp": _extractor.CPP,
    "python": _extractor.PYTHON,
    "protobuf": _extractor.PROTO,
    "tablegen": _extractor.TABLEGEN,
}


def extract_files(paths: Sequence[str], macros: str = "", threads: int | None = None) -> Iterator[ExtractedFile]:
    """Yield the definitions of files in order of completion.

    Never raises: `problems` lists the errors of a file. `macros` is the result of `find_macros` for the tree.
    `threads` defaults to the number of processors.
    """
    languages = [find_language(Path(path)) or "cpp" for path in paths]
    requests = [(os.fsencode(path), _LANGUAGES[language]) for path, language in zip(paths, languages, strict=True)]
    run = _load_extractor().run(requests, macros, threads or count_processors())
    for index, modified, size, content, errors, definitions, problems in run:
        path, language = paths[index], languages[index]
        yield ExtractedFile(path, language, modified, size, content, errors, definitions, problems)


def find_macros(paths: Sequence[str], threads: int | None = None) -> str:
    """The macros in these files that change how other source is parsed, as text, one per line."""
    return _extractor.learn_macros([os.fsencode(path) for path in paths], threads or count_processors())


def find_long_statements(source: bytes, language: str, macros: str = "") -> list[list[tuple[int, int]]]:
    """The statements longer than one line, each as ranges of lines: 1-based, inclusive.

    The ranges exclude nested statements: the body of a lambda, local class or loop. Statements with a syntax error are
    skipped, as are texts with too many errors. `macros` as for `extract_files`.
    """
    try:
        return _load_extractor().statements(source, _LANGUAGES[language], macros)
    except RuntimeError:
        return []


def count_processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


@cache
def _load_extractor() -> _extractor.Extractor:
    import tree_sitter_cpp  # installed only with the native part, so imported after it
    import tree_sitter_python

    return _extractor.Extractor(tree_sitter_cpp.language(), tree_sitter_python.language())


def parse_file(path: Path) -> SourceFile:
    """The definitions of a source file. Never raises: `problems` lists the errors."""
    (found,) = extract_files([str(path)], threads=1)
    return SourceFile(
        path=found.path,
        language=found.language,
        modified=found.modified,
        size=found.size,
        definitions=tuple(map(_build_definition, found.definitions)),
        problems=tuple(found.problems),
    )


def _build_definition(row: DefinitionRow) -> Definition:
    name, _, kind, parameters, line, end_line, is_const, _, calls = row
    return Definition(name, kind, parameters, line, end_line, is_const, parse_call_sites(calls))
