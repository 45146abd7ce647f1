"""The views for people with common SQL tools."""

from __future__ import annotations

import sqlite_utils

from tests.indexer.recorded import Project


def test_calls_frames_and_stacks_can_be_read_with_sqlite_utils(project: Project) -> None:
    project.ingest(project.library.parent).close()
    database = sqlite_utils.Database(project.index)

    calls = list(database["calls_readable"].rows)
    assert [call["function"] for call in calls[:2]] == ["PJRT_Client_BufferFromHostBuffer"] * 2
    assert calls[3]["microseconds"] is None
    frames = {frame["function"]: frame for frame in database["frames_readable"].rows}
    assert frames["put"]["path"] == str(project.program)
    assert frames["glue::convert"]["how"] == "definition"
    stack = database.query("SELECT function FROM stacks_readable WHERE stack = 1 ORDER BY depth")
    assert [row["function"] for row in stack][:4] == ["<module>", "main", "transfer", "put"]
    assert {row["callee"] for row in database["edges_readable"].rows_where("caller = 'put'")} == {"glue::convert"}
    assert sum(row["calls"] for row in database["lines_readable"].rows_where("line = 2 AND path LIKE '%demo.py'")) == 4
    assert {row["name"] for row in database["functions_readable"].rows} >= {"put", "runtime::allocate"}


def test_every_view_can_be_queried(project: Project) -> None:
    project.ingest().close()
    database = sqlite_utils.Database(project.index)

    empty = {name for name in database.view_names() if not list(database[name].rows)}
    empty_here = {"links_readable", "objects", "objects_readable", "ffi_runs_readable", "program_lines_readable"}
    costs = {"compiles_readable", "memory_readable", "waits_readable"}
    assert empty == empty_here | costs, (
        "no call waits for another here, none has addresses, an FFI handler, or a program"
    )
