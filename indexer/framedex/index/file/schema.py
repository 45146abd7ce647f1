"""The tables of the index, and the views meant for people who open it with the tools they know.

Raise `version.VERSION` with every change that an older framedex could not read.
The shape in one paragraph: a *call* points to a *stack*; a stack to the leaf of a path in the tree of *nodes*
(outermost frame first, prefixes shared; parent 0 is the root); where it is the run of an FFI handler, also to the
handler below the Python stack of its `ffi_call`; a node to a *frame*; a frame to a *function* and a place
in a *file*. `stack_calls`, `steps`, `edges`, `line_calls` and `calls` columns are aggregates kept up to date by every
write, so that a question about a line or a function never scans calls or stacks.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

import sqlite_utils
from sqlite_utils.db import Table

from framedex.index.file.shape import SEARCH_TABLE, SEARCH_TRIGGER
from framedex.index.file.version import APPLICATION_ID, VERSION


def create(connection: sqlite3.Connection) -> None:
    """Create every table, index and view. Runs inside the caller's transaction."""
    database = sqlite_utils.Database(connection, execute_plugins=False)
    _create_captures(database)
    _create_frames(database)
    _create_calls(database)
    _create_objects(database)
    _create_ffi(database)
    _create_aggregates(database)
    _create_sources(database)
    for statement in _SEARCH:
        connection.execute(statement)
    for name, query in _VIEWS.items():
        database.create_view(name, query)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def drop_everything(connection: sqlite3.Connection) -> None:
    """Drop every table and view of an index of any version. Runs inside the caller's transaction."""
    objects = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    for kind, name in objects:
        quoted = name.replace('"', '""')
        connection.execute(f'DROP {kind} IF EXISTS "{quoted}"')  # a virtual table takes its own tables with it


def _create_captures(database: sqlite_utils.Database) -> None:
    _table(database, "files", {"id": int, "path": str}).create_index(["path"], unique=True)
    versions = {
        "id": int,
        "file": int,
        "modified": int,
        "size": int,
        "blob": str,  # its content, as git names it; empty: it had changed before anybody looked
    }
    _table(database, "file_versions", versions, [("file", "files")]).create_index(["file", "blob"], unique=True)
    captures = {
        "id": int,
        "path": str,  # where it was last seen
        "identity": str,  # what it is, wherever it lies
        "signature": str,  # of its content when it was read: it may have grown since
        "started": float,
        "command": str,
        "calls": int,
        "stacks": int,
        "first_call": int,  # the ids of a capture's calls are one range, in order of start
        "last_call": int,
        "metadata": str,
        "problems": str,
        "stops": str,  # why it ends before its program did, as JSON of `model.Stops`; NULL where it does not
    }
    _table(database, "captures", captures).create_index(["identity"], unique=True)
    thread = {"id": int, "capture": int, "tid": int, "name": str, "label": str}  # label: what tells it from the others
    threads = _table(database, "threads", thread, ["capture"])
    threads.create_index(["capture"])
    modules = _table(database, "modules", {"id": int, "path": str, "build_id": str, "fingerprint": str})
    modules.create_index(["path", "build_id", "fingerprint"], unique=True)
    builds = {
        "id": int,
        "capture": int,
        "component": str,  # xla, jax, jaxlib, cpython
        "version": str,  # of the release that it came in
        "revision": str,  # the commit or tag of its repository, empty if unknown
        "folder": str,  # where it was installed when it was recorded
    }
    _table(database, "builds", builds, ["capture"]).create_index(["capture"])


def _create_frames(database: sqlite_utils.Database) -> None:
    functions = {
        "id": int,
        "language": str,
        "role": str,
        "name": str,
        "short_name": str,
        "symbol": str,  # empty where no symbol covers the address
        "mangled": str,
        "module": str,
        "unit": str,  # the translation unit: static functions of one name are several functions
        "first_line": int,  # of a Python code object; 0 for native functions
        "file": int,
        "line": int,
        "how": str,
        "version": int,  # the state of the file that an exact line is about; NULL for lines found in indexed sources
        "end_line": int,
        "recorded_file": int,  # of a Python code object, as recorded: `file` may be another one here
        "calls": int,
    }
    table = _table(
        database,
        "functions",
        functions,
        [("file", "files"), ("version", "file_versions"), ("recorded_file", "files")],
    )
    table.create_index(["module", "name", "symbol", "unit", "first_line"], unique=True)
    table.create_index(["short_name"])
    table.create_index(["name"])
    table.create_index(["file", "line"])
    frames = {
        "id": int,
        "function": int,
        "module": int,  # NULL for Python frames
        "offset": int,  # native: the return address from the module's base; Python: the instruction's byte offset
        "depth": int,  # 0: the physical function; inlined ones count inwards from it
        "inlined": int,
        "is_returning": int,  # a Python frame that has ended, while what it held is being destroyed
        "file": int,
        "line": int,
        "how": str,
        "version": int,  # as for functions
        "recorded_file": int,  # what debug information or the code object say; `file` and `line` are what it is here
        "recorded_line": int,
    }
    keys = [
        ("function", "functions"),
        ("module", "modules"),
        ("file", "files"),
        ("version", "file_versions"),
        ("recorded_file", "files"),
    ]
    table = _table(database, "frames", frames, keys)
    table.create_index(["recorded_file"])
    table.create_index(["file", "line"])
    table.create_index(["function", "offset", "line", "is_returning"])
    table.create_index(["module", "offset", "depth"])
    candidates = {"frame": int, "rank": int, "file": int, "line": int, "how": str}
    _table(database, "candidates", candidates, [("frame", "frames"), ("file", "files")], ("frame", "rank"))
    nodes = {
        "id": int,
        "parent": int,
        "frame": int,
        "depth": int,
        "calls": int,  # of all stacks that end here or below
        "busiest": int,  # calls of the stack and boundary function below that has most: where to look first
        "longest": int,  # nanoseconds, all calls together, of the stack and boundary function below that took longest
        "makes_client": int,  # whether the runtime's client was made here or below
    }
    table = _table(database, "nodes", nodes, [("frame", "frames")])
    table.create_index(["parent", "frame"], unique=True)
    table.create_index(["frame", "longest"])
    stacks = {
        "id": int,
        "leaf": int,
        "python_leaf": int,  # 0, or the leaf of the Python stack where the two could not be merged
        "site_leaf": int,  # 0, or the handler below the stack of the ffi_call that it was run for
        "outcome": str,  # of merging the native and the Python frames
        "is_truncated": int,  # its outermost frames are missing
    }
    table = _table(database, "stacks", stacks)
    table.create_index(["leaf", "python_leaf", "site_leaf", "outcome", "is_truncated"], unique=True)
    table.create_index(["python_leaf"])
    table.create_index(["site_leaf"])


def _create_calls(database: sqlite_utils.Database) -> None:
    boundaries = _table(database, "boundaries", {"id": int, "boundary": str, "name": str})
    boundaries.create_index(["name", "boundary"], unique=True)
    arguments = {"id": int, "json": str, "has_shape": int}  # once per capture, not looked up by their text
    _table(database, "arguments", arguments)
    calls = {
        "id": int,
        "capture": int,
        "boundary": int,
        "thread": int,
        "stack": int,
        "parent": int,  # the call of a boundary function in which this one was made, NULL outside all
        "start": int,
        "duration": int,
        "error": int,
        "arguments": int,
    }
    keys = [
        ("capture", "captures"),
        ("boundary", "boundaries"),
        ("thread", "threads"),
        ("stack", "stacks"),
        ("arguments", "arguments"),
    ]
    table = _table(database, "calls", calls, keys)
    table.create_index(["boundary"])
    table.create_index(["stack"])
    # The Python stack, on another thread, that had a call made: an inference, and `how` it was made.
    links = {"call": int, "thread": int, "node": int, "how": str}
    keys = [("call", "calls"), ("thread", "threads"), ("node", "nodes")]
    _table(database, "call_links", links, keys, ("call", "thread")).create_index(["node"])


def _create_objects(database: sqlite_utils.Database) -> None:
    objects = {
        "id": int,
        "capture": int,
        "type": str,
        "number": int,  # people know it as `type#number`
        "address": int,
        "born": int,  # nanoseconds since the recording began: from then on the address is this object
        "created_call": int,  # NULL: it belongs to another object, or was there before
        "first_call": int,
        "last_call": int,
        "deleted_call": int,
        "destroyed_call": int,
        "uses": int,
        "client": int,
        "size": int,  # bytes, NULL where no call tells
    }
    keys = [("capture", "captures"), ("client", "objects")]
    table = _table(database, "objects", objects, keys)
    table.create_index(["capture", "type", "number"])
    table.create_index(["capture", "type", "address", "born"])
    violations = {"id": int, "kind": str, "object": int, "call": int, "earlier_call": int}
    keys = [("object", "objects"), ("call", "calls")]
    _table(database, "violations", violations, keys).create_index(["object"])


def _create_ffi(database: sqlite_utils.Database) -> None:
    targets = {
        "id": int,
        "capture": int,
        "name": str,
        "platform": str,
        "api_version": int,
        "stages": str,
        "is_wrapped": int,
        "registered_at": str,  # the Python stack, innermost frame first
    }
    _table(database, "ffi_targets", targets, ["capture"]).create_index(["capture", "name"])
    functions = {"boundary": int, "target": str, "stage": str}
    table = _table(database, "ffi_functions", functions, [("boundary", "boundaries")], "boundary")
    table.create_index(["target"])
    handlers = {"frame": int, "signature": str, "implementation": int}
    keys = [("frame", "frames"), ("implementation", "frames")]
    _table(database, "ffi_handlers", handlers, keys, "frame").create_index(["implementation"])
    sites = {
        "id": int,
        "key": str,  # a hash of its content: the same in every capture
        "target": str,
        "leaf": int,  # the node of its innermost frame; 0: no capture describes it, as yet
        "user_node": int,  # the node of the program's innermost frame
        "from_metadata": int,
    }
    _table(database, "ffi_sites", sites).create_index(["key"], unique=True)
    joins = {"id": int, "capture": int, "how": str}
    _table(database, "ffi_joins", joins, ["capture"]).create_index(["capture"])
    candidates = {"join_id": int, "site": int}
    keys = [("join_id", "ffi_joins"), ("site", "ffi_sites")]
    _table(database, "ffi_candidates", candidates, keys, ("join_id", "site")).create_index(["site"])
    runs = {"call": int, "join_id": int}
    _table(database, "ffi_runs", runs, [("call", "calls"), ("join_id", "ffi_joins")], "call").create_index(["join_id"])
    problems = {
        "id": int,
        "capture": int,
        "target": str,
        "platform": str,
        "registered_for": str,
        "sites": str,
        "message": str,
    }
    _table(database, "ffi_problems", problems, ["capture"]).create_index(["capture"])


def _create_aggregates(database: sqlite_utils.Database) -> None:
    totals = {"calls": int, "duration": int, "latest_call": int}
    stack = {"stack": int, "boundary": int}
    stack_keys = [("stack", "stacks"), ("boundary", "boundaries")]
    _table(database, "stack_calls", stack | totals, stack_keys, ("stack", "boundary"))
    # The same by capture, for questions about one run of several.
    of_capture = {"capture": int} | stack | totals
    _table(database, "capture_stacks", of_capture, ["capture", *stack_keys], ("stack", "capture", "boundary"))
    samples = stack | {"arguments": int}
    _table(database, "stack_samples", samples, stack_keys, ("stack", "boundary", "arguments"))
    line = {"file": int, "line": int}
    keys = [("file", "files"), ("boundary", "boundaries")]
    _table(database, "line_calls", line | {"boundary": int} | totals, keys, ("file", "line", "boundary"))
    # The calls on threads without Python that a line had made, which do not pass it.
    linked = line | {"boundary": int, "how": str} | totals
    _table(database, "line_links", linked, keys, ("file", "line", "boundary", "how"))
    _table(database, "line_samples", line | {"arguments": int}, [("file", "files")], ("file", "line", "arguments"))
    # Neighbours in stacks, as frames and as functions: `steps` and `edges` the direct ones, `code_...` those that
    # remain when interpreter and glue frames are passed over, `readable_steps` without frames that have no source too.
    steps = {"origin": int, "target": int, "calls": int}
    keys = [("origin", "frames"), ("target", "frames")]
    for name in ("steps", "code_steps", "readable_steps"):
        _table(database, name, steps, keys, ("origin", "target")).create_index(["target"])
    edges = {"caller": int, "callee": int, "calls": int}
    keys = [("caller", "functions"), ("callee", "functions")]
    for name in ("edges", "code_edges"):
        _table(database, name, edges, keys, ("caller", "callee")).create_index(["callee"])


def _create_sources(database: sqlite_utils.Database) -> None:
    _table(database, "source_roots", {"id": int, "path": str}).create_index(["path"], unique=True)
    source_maps = {
        "id": int,
        "prefix": str,  # of the paths of its files, which are no local ones
        "component": str,
        "repository": str,
        "revision": str,  # the commit
        "is_dirty": int,
        "tool": str,
        "path": str,  # where the map was read, and its state then
        "modified": int,
        "size": int,
    }
    _table(database, "source_maps", source_maps).create_index(["component"], unique=True)
    # Where recorded paths are here, by the project's settings when the index was last brought up to date.
    _table(database, "path_rules", {"before": str, "after": str}, pk="before")
    source_files = {
        "file": int,
        "root": int,  # NULL: read because a recorded frame points to it, or from a map
        "map": int,
        "language": str,
        "modified": int,
        "size": int,
        "content": int,  # a hash of its bytes
        "blob": str,  # its content, as git names it; empty unless something is placed in it
        "errors": int,  # places that the grammar could not read
        "problems": str,
    }
    keys = [("file", "files"), ("root", "source_roots"), ("map", "source_maps")]
    table = _table(database, "source_files", source_files, keys, "file")
    table.create_index(["root"])
    table.create_index(["map"])
    definitions = {
        "id": int,
        "file": int,
        "name": str,
        "short_name": str,
        "kind": str,
        "parameters": str,
        "line": int,
        "end_line": int,
        "is_const": int,
        "is_broken": int,  # a syntax error in it
    }
    table = _table(database, "definitions", definitions, [("file", "files")])
    table.create_index(["short_name"])
    table.create_index(["file"])
    # One row for each definition that calls something; `sites` is JSON, as there are millions of them.
    sites = {"definition": int, "sites": str}
    _table(database, "call_sites", sites, [("definition", "definitions")], "definition")
    # What was learnt from the #defines of all source files, and changes how they are read.
    _table(database, "macros", {"macro": str}, pk="macro")
    # Short names whose definitions or functions changed since functions were last matched: what a run still owes.
    _table(database, "unmatched", {"short_name": str}, pk="short_name")


def _table(
    database: sqlite_utils.Database,
    name: str,
    columns: Mapping[str, type],
    foreign_keys: Sequence[str | tuple[str, str]] = (),
    pk: str | tuple[str, ...] = "id",
) -> Table:
    pairs = [(key, f"{key}s") if isinstance(key, str) else key for key in foreign_keys]
    targets = [(column, table, "id" if table == name else database.table(table).pks[0]) for column, table in pairs]
    table = database.table(name)
    assert isinstance(table, Table)
    return table.create(dict(columns), pk=pk, foreign_keys=targets)


# Every short name of a definition, and the names of what was recorded, once: the only text that is searched for parts.
_SEARCH = (
    "CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_recorded INTEGER NOT NULL)",
    "CREATE UNIQUE INDEX names_by_name ON names(name COLLATE NOCASE, name)",
    "CREATE INDEX names_recorded ON names(id) WHERE is_recorded",
    SEARCH_TABLE,
    SEARCH_TRIGGER,
)

_VIEWS = {
    "functions_readable": """
        SELECT fn.id, fn.language, fn.role, fn.name, f.path, fn.line, fn.how, fn.module, fn.calls
        FROM functions fn LEFT JOIN files f ON f.id = fn.file
    """,
    "frames_readable": """
        SELECT fr.id, fn.language, fn.name AS function, f.path, fr.line, fr.how, m.path AS module,
               fr.offset, fr.inlined, fr.is_returning
        FROM frames fr JOIN functions fn ON fn.id = fr.function
        LEFT JOIN files f ON f.id = fr.file LEFT JOIN modules m ON m.id = fr.module
    """,
    "calls_readable": """
        SELECT c.id, p.path AS capture, c.start / 1e9 AS seconds, b.boundary, b.name AS function, t.label AS thread,
               CASE WHEN c.duration >= 0 THEN c.duration / 1e3 END AS microseconds, c.error,
               a.json AS arguments, c.stack
        FROM calls c JOIN captures p ON p.id = c.capture JOIN boundaries b ON b.id = c.boundary
        JOIN threads t ON t.id = c.thread JOIN arguments a ON a.id = c.arguments
    """,
    "links_readable": """
        SELECT l.call, b.name AS function, t.label AS thread, l.how, r.function AS from_function, r.path, r.line
        FROM call_links l JOIN calls c ON c.id = l.call JOIN boundaries b ON b.id = c.boundary
        JOIN threads t ON t.id = l.thread JOIN nodes n ON n.id = l.node JOIN frames_readable r ON r.id = n.frame
    """,
    "objects_readable": """
        SELECT o.type || '#' || o.number AS name, p.path AS capture, o.size AS bytes, o.uses,
               o.created_call, o.first_call, o.last_call, o.deleted_call, o.destroyed_call,
               k.type || '#' || k.number AS client
        FROM objects o JOIN captures p ON p.id = o.capture LEFT JOIN objects k ON k.id = o.client
    """,
    "stacks_readable": """
        WITH RECURSIVE up(stack, chain, node) AS (
            SELECT id, 'merged', leaf FROM stacks
            UNION ALL SELECT id, 'python', python_leaf FROM stacks WHERE python_leaf
            UNION ALL SELECT id, 'site', site_leaf FROM stacks WHERE site_leaf
            UNION ALL SELECT up.stack, up.chain, n.parent FROM up JOIN nodes n ON n.id = up.node WHERE n.parent
        )
        SELECT up.stack, up.chain, n.depth, r.function, r.path, r.line, r.how
        FROM up JOIN nodes n ON n.id = up.node JOIN frames_readable r ON r.id = n.frame
    """,
    "edges_readable": """
        SELECT a.name AS caller, b.name AS callee, e.calls
        FROM code_edges e JOIN functions a ON a.id = e.caller JOIN functions b ON b.id = e.callee
    """,
    "ffi_runs_readable": """
        SELECT r.call, p.path AS capture, x.target, x.stage, j.how, s.key AS site, f.path, fr.line,
               CASE WHEN c.duration >= 0 THEN c.duration / 1e3 END AS microseconds, c.error
        FROM ffi_runs r JOIN ffi_joins j ON j.id = r.join_id JOIN ffi_candidates k ON k.join_id = j.id
        JOIN ffi_sites s ON s.id = k.site JOIN calls c ON c.id = r.call JOIN captures p ON p.id = c.capture
        JOIN ffi_functions x ON x.boundary = c.boundary LEFT JOIN nodes n ON n.id = s.user_node
        LEFT JOIN frames fr ON fr.id = n.frame LEFT JOIN files f ON f.id = fr.file
    """,
    "call_sites_readable": """
        SELECT d.id AS definition, d.name AS caller, f.path, json_extract(site.value, '$[0]') AS line,
               json_extract(site.value, '$[1]') AS column, json_extract(site.value, '$[2]') AS kind,
               json_extract(site.value, '$[3]') AS callee
        FROM call_sites c JOIN definitions d ON d.id = c.definition JOIN files f ON f.id = d.file,
             json_each(c.sites) site
    """,
    "lines_readable": """
        SELECT f.path, l.line, b.name AS function, l.calls, l.duration / 1e3 AS microseconds
        FROM line_calls l JOIN files f ON f.id = l.file JOIN boundaries b ON b.id = l.boundary
    """,
}
