"""A small synthetic recorded program: its sources on disk and a real index, written by framedex's own Store.

The program crosses every border that a feature must handle, outermost frame first:

demo.py <module> -> main -> make_input: Python; non-BMP characters before the calls

library.py device_put: Python

(missing) _PyObject_Vectorcall: the interpreter, whose source is not on this machine

(none) jax::Glue: C++ of a binary without known source

(missing) jax::Moved: C++ whose source is known, but not on this machine

client.cc xla::Client::BufferFromHost: C++, known by its definition only

mock.cc PJRT_Client_BufferFromHostBuffer: C++, exact line

`main` has a second line, which makes two such transfers and reaches another boundary, PJRT_Client_Devices, once.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import numpy as np

from framedex.index import Store
from framedex.index.write.records import CaptureRecord, FrameRecord, FunctionPlacement, FunctionRecord
from framedex.model import (
    BinaryId,
    Calls,
    Capture,
    FrameRole,
    Function,
    Language,
    Location,
    LocationEvidence,
    Metadata,
    NativeFrame,
    Stack,
    Thread,
)
from tests.oracle.whole_captures import add_whole
from tests.server.synthetic_captures import synthetic_capture

DEMO = '''\
import library

def make_input(x):
    """🚀"""
    label = "🚀🚀é"; return library.device_put(x)  # 🚀

def main():
    label = "🚀"; y = make_input(1)
    return y, library.devices(), make_input(2)

main()
'''
LIBRARY = """\
import native

def device_put(x):
    return native.put(x)

def devices():
    return native.devices()
"""
CLIENT = """\
namespace xla {

// The definition is all that is known of it.
Buffer* Client::BufferFromHost(const void* data) {
  return api_->buffer_from_host(data);
}

}  // namespace xla
"""
MOCK = """\
extern "C" {

PJRT_Error* PJRT_Client_BufferFromHostBuffer(Args* args) {
  args->buffer = allocate(args->dims);
  return nullptr;
}

PJRT_Error* PJRT_Client_Devices(Args* args) {
  return nullptr;
}
}
"""

HOSTILE = "evil`](command:x) <img src=x>\n\u202e**"
"""A function name that tries to leave its code span, its line and its direction."""


@dataclass(frozen=True)
class Recording:
    """The program's files and its index, with the 1-based lines that tests use."""

    root: Path
    index: Path

    main_calls_make_input = 8
    main_calls_both = 9
    make_input_calls_device_put = 5
    device_put_enters_cpp = 4
    client_definition = 4
    mock_allocates = 4
    nothing_recorded = 1

    @property
    def demo(self) -> Path:
        return self.root / "demo.py"

    @property
    def library(self) -> Path:
        return self.root / "library.py"

    @property
    def client(self) -> Path:
        return self.root / "client.cc"

    @property
    def mock(self) -> Path:
        return self.root / "mock.cc"

    def line(self, path: Path, number: int) -> str:
        """The text of a 1-based line."""
        return path.read_text(encoding="utf-8").split("\n")[number - 1]


def record(root: Path, *, index: Path | None = None, puts: int = 3) -> Recording:
    """Write the program below `root`, and an index of a run of it that made `puts` transfers from its first line."""
    root = root.resolve()
    recording = Recording(root, index or root / ".framedex" / "index.db")
    for path, text in (
        (recording.demo, DEMO),
        (recording.library, LIBRARY),
        (recording.client, CLIENT),
        (recording.mock, MOCK),
    ):
        path.write_text(text, encoding="utf-8")
    write_index(recording, puts)
    return recording


def write_index(recording: Recording, puts: int) -> None:
    """Add a run to the recording's index, which is made if missing: `puts` calls, then two, then one."""
    frames = _frames(recording)
    put = (7, 6, 11, 5, 4, 3, 2, 1, 0)
    put_again = (7, 6, 11, 5, 4, 3, 2, 8, 0)
    devices = (10, 5, 9, 8, 0)
    functions = ("PJRT_Client_BufferFromHostBuffer", "PJRT_Client_Devices")
    runs = recording.root / ".framedex" / "captures"
    with Store(recording.index) as store, store.transaction():
        number = next(number for number in count() if store.known_capture(str(runs / f"run-{number}")) is None)
        path, stacks = runs / f"run-{number}", (put, put_again, devices)
        capture = synthetic_capture(path, len(frames), stacks, functions, _calls(puts))
        started = 1_700_000_000.0 + number
        add_whole(store, CaptureRecord(capture, started, "python demo.py", [[frame] for frame in frames]))
        store.sources.write_placements(
            [_placement(recording, unplaced.id, unplaced.record) for unplaced in store.sources.stale_functions()]
        )


def write_hostile_index(recording: Recording) -> None:
    """An index in which a function with a hostile name called `main`."""
    frames = _frames(recording)
    caller = replace(frames[0], function=replace(frames[0].function, name=HOSTILE, short_name=HOSTILE, symbol=HOSTILE))
    frames = [caller, frames[8]]
    capture = Capture(
        path=recording.root / ".framedex" / "captures" / "hostile",
        metadata=Metadata(),
        modules=(),
        codes=(),
        frames=tuple(NativeFrame(-1, offset) for offset in range(2)),
        stacks=(Stack((1, 0)),),
        functions=(Function("pjrt", HOSTILE),),
        threads=(Thread(1, HOSTILE),),
        calls=Calls(
            thread=np.zeros(1, np.uint32),
            function=np.zeros(1, np.uint32),
            stack=np.zeros(1, np.uint32),
            start=np.zeros(1, np.int64),
            duration=np.ones(1, np.int64),
            error=np.zeros(1, np.int32),
            arguments=(json.dumps({HOSTILE: HOSTILE}),),
        ),
        problems=(),
    )
    with Store(recording.index) as store:
        add_whole(store, CaptureRecord(capture, 1_700_000_000.0, HOSTILE, [[frame] for frame in frames]))


def _calls(puts: int) -> Calls:
    stack = np.array([0] * puts + [1, 1, 2], np.uint32)
    total = len(stack)
    shapes = [
        {"type": "PJRT_Buffer_Type_F32", "dims": [2, 3], "bytes": 24},
        {"type": "PJRT_Buffer_Type_S32", "dims": []},
    ]
    arguments = [json.dumps(shapes[number % 2]) for number in range(total - 1)]
    return Calls(
        thread=np.zeros(total, np.uint32),
        function=(stack == 2).astype(np.uint32),
        stack=stack,
        start=np.arange(total, dtype=np.int64) * 1_000_000,
        duration=np.full(total, 2_000, np.int64),
        error=np.zeros(total, np.int32),
        arguments=(*arguments, "{}"),
    )


def _frames(recording: Recording) -> list[FrameRecord]:
    demo, library = recording.demo, recording.library
    main = ("main", 7)
    return [
        _python(demo, "<module>", 1, 11),
        _python(demo, *main, recording.main_calls_make_input),
        _python(demo, "make_input", 3, recording.make_input_calls_device_put),
        _python(library, "device_put", 3, recording.device_put_enters_cpp),
        _native("libpython3.11.so", "_PyObject_Vectorcall", 0x10, FrameRole.INTERPRETER, (Path("/build/call.c"), 299)),
        _native("libjax_common.so", "jax::Glue", 0x20),
        _native("libjax_common.so", "xla::Client::BufferFromHost", 0x30),
        _native("libtpu.so", "PJRT_Client_BufferFromHostBuffer", 0x40, line=(recording.mock, recording.mock_allocates)),
        _python(demo, *main, recording.main_calls_both),
        _python(library, "devices", 6, 7),
        _native("libtpu.so", "PJRT_Client_Devices", 0x50, line=(recording.mock, 9)),
        _native("libjax_common.so", "jax::Moved", 0x60),
    ]


def _python(path: Path, name: str, first_line: int, line: int) -> FrameRecord:
    begin = Location(str(path), first_line, LocationEvidence.EXACT)
    function = FunctionRecord(Language.PYTHON, FrameRole.CODE, name, name, name, "", str(path), "", first_line, begin)
    return FrameRecord(function, None, line, 0, Location(str(path), line, LocationEvidence.EXACT))


def _native(
    module: str, name: str, offset: int, role: FrameRole = FrameRole.CODE, line: tuple[Path, int] | None = None
) -> FrameRecord:
    short = name.rpartition("::")[2]
    path = f"/opt/lib/{module}"
    function = FunctionRecord(Language.NATIVE, role, name, short, f"{name}(void const*)", "", path, "", 0, None)
    location = Location(str(line[0]), line[1], LocationEvidence.EXACT) if line else None
    return FrameRecord(function, BinaryId(path, "", module), offset, 0, location)


def _placement(recording: Recording, function: int, record: FunctionRecord) -> FunctionPlacement:
    """The result of a source search: every function except the glue."""
    demo, library = str(recording.demo), str(recording.library)
    found = {
        "<module>": (demo, 1, 11),
        "main": (demo, 7, 9),
        "make_input": (demo, 3, 5),
        "device_put": (library, 3, 4),
        "devices": (library, 6, 7),
        "_PyObject_Vectorcall": ("/build/call.c", 290, 310),
        "jax::Moved": ("/build/moved.cc", 20, 30),
        "xla::Client::BufferFromHost": (str(recording.client), recording.client_definition, 6),
        "PJRT_Client_BufferFromHostBuffer": (str(recording.mock), 3, 6),
        "PJRT_Client_Devices": (str(recording.mock), 8, 10),
    }
    if record.name not in found:
        return FunctionPlacement(function, None, 0)
    path, line, end_line = found[record.name]
    how = LocationEvidence.EXACT if record.language is Language.PYTHON else LocationEvidence.DEFINITION
    return FunctionPlacement(function, Location(path, line, how), end_line)
