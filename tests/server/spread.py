"""A recorded program whose statements go over several lines: `spread.py` calls `spread.cc`, that calls `callee.cc`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from framedex.index import Store
from framedex.index.write.records import CaptureRecord, FrameRecord, FunctionRecord
from framedex.model import BinaryId, FrameRole, Language, Location, LocationEvidence
from tests.oracle.whole_captures import add_whole
from tests.server.synthetic_captures import consecutive_calls, synthetic_capture

CPP = """\
Result serve(Client* client, int a) {
  TF_ASSIGN_OR_RETURN(auto x,
                      client->Foo(a,
                                  2));
  Other(a,
        3);
  return Make()
      .WithX(
          a)
      .WithY(x)
      .Done();
}
void later(Client* client, int a) {
  Run([&] {
    Inner(
        a);
    Quiet(
        a);
  },
      a);
}
"""
PYTHON = """\
def main(client,
         a):
    client.serve(
        a,
        2)
    client.other(
        a)
"""

FOO, WITH_X, WITH_Y, RUN, INNER = 10, 20, 30, 40, 50
"""Lines of `callee.cc` with the callees."""

STACKS = [
    [("main", 3), ("serve", 2), ("Foo", FOO)],
    [("main", 3), ("serve", 8), ("WithX", WITH_X)],
    [("main", 3), ("serve", 10), ("WithY", WITH_Y)],
    [("main", 3), ("later", 14), ("Run", RUN), ("lambda", 15), ("Inner", INNER)],
]
_BEGINS = {"main": 1, "serve": 1, "later": 13, "lambda": 14}


@dataclass(frozen=True)
class Spread:
    """The program's files."""

    root: Path

    @property
    def python(self) -> Path:
        return self.root / "spread.py"

    @property
    def cpp(self) -> Path:
        return self.root / "spread.cc"

    @property
    def callee(self) -> Path:
        return self.root / "callee.cc"

    @property
    def index(self) -> Path:
        return self.root / ".framedex" / "index.db"


def record_spread(root: Path, chains: Sequence[Sequence[tuple[str, int]]] = STACKS) -> Spread:
    """Write the program below `root`, and an index of a run of it: a call with each stack, as function and line."""
    spread = Spread(root.resolve())
    for path, text in ((spread.python, PYTHON), (spread.cpp, CPP), (spread.callee, "//\n" * 60)):
        path.write_text(text, encoding="utf-8")
    frames = list(dict.fromkeys(frame for stack in chains for frame in stack))
    stacks = [[frames.index(frame) for frame in reversed(stack)] for stack in chains]
    calls = consecutive_calls([(0, number, 1000 * (len(stacks) - number)) for number in range(len(stacks))])
    path = spread.root / ".framedex" / "captures" / "run"
    capture = synthetic_capture(path, len(frames), stacks, ["PJRT_Client_Compile"], calls)
    with Store(spread.index) as store:
        records = [[_frame(spread, offset, *frame)] for offset, frame in enumerate(frames)]
        add_whole(store, CaptureRecord(capture, 1_700_000_000.0, "python spread.py", records))
    return spread


def _frame(spread: Spread, offset: int, name: str, line: int) -> FrameRecord:
    is_native = name != "main"
    path = spread.python if not is_native else spread.cpp if name in _BEGINS else spread.callee
    first = _BEGINS.get(name, line)
    language = Language.NATIVE if is_native else Language.PYTHON
    module = "/opt/lib/libtpu.so" if is_native else str(path)
    begin = Location(str(path), first, LocationEvidence.EXACT)
    first_line = 0 if is_native else first
    function = FunctionRecord(language, FrameRole.CODE, name, name, name, "", module, "", first_line, begin)
    where = Location(str(path), line, LocationEvidence.EXACT)
    return FrameRecord(function, BinaryId(module, "", "libtpu") if is_native else None, offset, 0, where)
