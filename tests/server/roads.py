"""A recorded program whose calls share a wrapper, with project, library and runtime in separate trees.

tree/.git: the checkout that an editor may have open.

tree/project/demo.py: the recorded program; its index is in tree/project/.framedex.

tree/env/library/library.py: a library in its own tree (with .git).

tree/runtime/table.cc: the plug-in.

Line 1 of the demo puts, line 2 gets, line 3 does both; the first put creates the runtime's client.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from framedex.index import Store
from framedex.index.write.records import CaptureRecord, FrameRecord, FunctionRecord
from framedex.model import BinaryId, FrameRole, Language, Location, LocationEvidence
from tests.oracle.whole_captures import add_whole
from tests.server.synthetic_captures import consecutive_calls, synthetic_capture

DEMO = """\
wrapper(put, 1)
wrapper(get, 1)
label = "🚀"; wrapper(put, wrapper(get, 1))
"""
LIBRARY = """\
def wrapper(function, x):
    return function(x)

def put(x):
    native.put(x)

def get(x):
    native.get(x)

def initialise():
    native.initialise()
"""


@dataclass(frozen=True)
class Roads:
    """The program's files."""

    tree: Path

    @property
    def project(self) -> Path:
        return self.tree / "project"

    @property
    def index(self) -> Path:
        return self.project / ".framedex" / "index.db"

    @property
    def demo(self) -> Path:
        return self.project / "demo.py"

    @property
    def library(self) -> Path:
        return self.tree / "env" / "library" / "library.py"

    @property
    def table(self) -> Path:
        return self.tree / "runtime" / "table.cc"


def record_roads(root: Path) -> Roads:
    """Write the program and an index of one run to `root`."""
    roads = Roads(root.resolve() / "tree")
    for folder in (roads.tree, roads.library.parent):
        (folder / ".git").mkdir(parents=True)
    for path, text in ((roads.demo, DEMO), (roads.library, LIBRARY), (roads.table, "//\n" * 50)):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    _write_index(roads)
    return roads


def _write_index(roads: Roads) -> None:
    frames: dict[tuple[str, int], FrameRecord] = {}
    stacks: dict[tuple[int, ...], int] = {}
    functions: dict[str, int] = {}
    rows = []
    for boundary, places, calls, duration in _calls():
        chain = []
        for function, line in places:
            frames.setdefault((function, line), _frame(roads, function, line))
            chain.append(list(frames).index((function, line)))
        stack = stacks.setdefault(tuple(reversed(chain)), len(stacks))
        rows += [(functions.setdefault(boundary, len(functions)), stack, duration)] * calls
    path = roads.project / ".framedex" / "captures" / "run"
    capture = synthetic_capture(path, len(frames), stacks, functions, consecutive_calls(rows))
    with Store(roads.index) as store:
        records = [[record] for record in frames.values()]
        add_whole(store, CaptureRecord(capture, 1_700_000_000.0, "python demo.py", records))


def _calls() -> list[tuple[str, list[tuple[str, int]], int, int]]:
    """Boundary function, stack (outermost first, as function and line), number of calls, ns of each."""
    first, second, third = ([("<module>", line), ("wrapper", 2)] for line in (1, 2, 3))
    put, get, initialise = ("put", 5), ("get", 8), ("initialise", 11)
    both = []
    for road in (first, third):
        # A boundary function that calls another one: its own call is recorded at one line, the inner one from the next.
        both.append(("PJRT_Client_BufferFromHostBuffer", [*road, put, ("BufferFromHostBuffer", 20)], 1, 50))
        both.append(("Allocate", [*road, put, ("BufferFromHostBuffer", 21), ("Allocate", 30)], 1, 5))
    for road in (second, third):
        both.append(("PJRT_Buffer_ToHostBuffer", [*road, get, ("ToHostBuffer", 40)], 1, 100))
    return [
        ("PJRT_Client_Create", [*first, initialise, ("Create", 10)], 1, 9000),
        ("PJRT_Client_Devices", [*first, initialise, ("Devices", 15)], 20, 1),
        *both,
    ]


def _frame(roads: Roads, name: str, line: int) -> FrameRecord:
    is_native = name[0].isupper()
    path = roads.table if is_native else roads.demo if name == "<module>" else roads.library
    language = Language.NATIVE if is_native else Language.PYTHON
    symbol = f"runtime::{name}" if is_native else name
    module = "/opt/lib/libtpu.so" if is_native else str(path)
    first_line = 0 if is_native else max(line - 1, 1)
    begin = None if is_native else Location(str(path), first_line, LocationEvidence.EXACT)
    function = FunctionRecord(language, FrameRole.CODE, symbol, name, symbol, "", module, "", first_line, begin)
    where = Location(str(path), line, LocationEvidence.EXACT)
    return FrameRecord(function, BinaryId(module, "", "libtpu") if is_native else None, line, 0, where)
