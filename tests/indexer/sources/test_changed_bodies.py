"""Bodies of functions are read only from files in the state that was parsed."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from framedex.index import Store
from framedex.ingest import SilentProgress, find_sources
from framedex.ingest.locations import read_parsed_text
from framedex.sources.bodies import CallForm, build_bodies
from framedex.sources.calls import WrittenCall

TEXT = "int inner(int x);\nint outer(int x) {\n  return inner(x);\n}\n"


def test_a_file_that_changed_after_it_was_parsed_has_no_calls(tmp_path: Path) -> None:
    """Its definitions have lines of the earlier text, so their bodies would be other lines."""
    folder = tmp_path / "tree"
    folder.mkdir()
    file = folder / "outer.cc"
    file.write_text(TEXT)
    with Store(tmp_path / "index.db") as store:
        with store.transaction():
            store.sources.add_root(str(folder))
        find_sources(store, SilentProgress())
        tables = store.sources
        known = tables.known_files()

        def calls() -> tuple[int, int]:
            """The calls that outer writes, and how often it reaches inner."""
            read = partial(read_parsed_text, known)
            bodies = build_bodies(tables.definitions, tables.find_definitions_with_calls, read)
            written = sum(map(len, bodies.calls_in_file(str(file)).values()))
            return written, bodies.reaches(WrittenCall(1, "call", "outer", 1), CallForm("inner", "call", 1), 1)

        assert calls() == (1, 1)
        state = file.stat()
        file.write_text(TEXT.replace("int inner(int x);", "int other(int x);"))
        os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
        assert calls() == (0, 0)
