"""Add the first inputs of fuzz targets to their archives: `python -m tests.fuzz.make_seeds TARGET...`

The archives in tests/fuzz/corpus grew from these seeds and from long runs. `python -m tests.fuzz --minimise` keeps them
small.
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from framedex.guidebook.observation_files import format_observations
from framedex.model import ExtractedFile, SourceMapInfo
from framedex.model.guidebook import (
    DisplayedLocation,
    Example,
    LifeCycle,
    NameCount,
    Observations,
    ObservedError,
    ObservedFunction,
    PathNode,
    Run,
    Step,
    StepCall,
    Task,
)
from framedex.sources.extraction import extract_files
from framedex.sources.release_maps import ReleaseSources, build_released_file, write_release_maps
from framedex.sources.release_maps.format import read_content
from framedex.sources.source_map import encode_file, encode_header
from framedex_native.ffi.protobuf import integer_field as integer
from framedex_native.ffi.protobuf import message_field as message
from tests.crash_corpus import corpus
from tests.fuzz.corpus_archive import CorpusError, read_inputs, write_inputs

ROOT = Path(__file__).parents[2]
STACKS = ROOT / "tests" / "fixtures" / "stacks"
Seeds = Iterator[bytes]


def captures() -> Seeds:
    """Two calls with a merged stack, with their thread's stream and as a ring, in every version of the format."""
    clock = {1: 3, 2: 1, 3: 5}

    def record(kind: int, body: bytes) -> bytes:
        return bytes((1, kind)) + struct.pack("<H", len(body)) + body

    def short(kind: int, body: bytes) -> bytes:
        return bytes((1, kind, -len(body) % 8)) + struct.pack("<H", len(body)) + body

    def stream(number: int, *records: bytes, version: int = 2) -> bytes:
        return bytes((0, number, 0, clock[version])) + b"".join(records)

    code = main.__code__.co_linetable
    module = record(2, struct.pack("<IIIIQQ", 1, 7, 4, 0, 0x1000, 0x2000) + bytes(32) + b"/lib.so" + b"\1\2\3\4")
    old_module = record(2, struct.pack("<IIIIQQ", 1, 7, 4, 0, 0x1000, 0x2000) + b"/lib.so" + b"\1\2\3\4")
    thread = record(13, struct.pack("<II", 1, 0)) + record(14, struct.pack("<QQ", 10, 5))
    function = record(3, struct.pack("<II", 5, 2) + b"PJRT\0PJRT_Client_Compile\0client\0options\0")
    handler = record(11, struct.pack("<IIQ", 5, 1, 0x40))
    description = record(12, b'ffi\0{"a": 1}\0')
    clocks = record(9, struct.pack("<QQ", 0, 0)) + record(9, struct.pack("<QQ", 10**9, 2 * 10**9))
    codes = record(4, struct.pack("<IiIIII", 1, 40, 5, 4, len(code), 0) + b"/a.py" + b"main" + code)
    frames = record(5, struct.pack("<IIIIQ", 1, 0, 1, 0, 0x44)) + record(5, struct.pack("<IIIIQ", 2, 1, 1, 1, 12))
    stack = record(6, struct.pack("<IIIIIII", 1, 0, 2, 1, 1, 2, 2))
    values, packed = call_values()
    calls = record(7, struct.pack("<QQII", 1, 1000, 5, 1) + values) + record(8, struct.pack("<QQiI", 1, 2000, 3, 0))
    calls += record(7, struct.pack("<QQII", 2, 3000, 6, 9))
    process = stream(0, module, thread, function, handler, description, clocks)
    definitions = stream(1, codes, frames, stack)
    yield process + definitions + calls
    ring = record(10, struct.pack("<Q", 2)) + calls + b"\3" + record(10, struct.pack("<Q", 1)) + calls
    yield process + definitions + stream(5, ring)
    old = stream(0, old_module, function, handler, clocks, version=1)
    yield old + stream(1, codes, frames, stack, version=1) + calls
    yield process + definitions + calls + b"\4" + b"\5\x10\0\0\xff"
    base = short(15, struct.pack("<QQ", 1, 1000))
    calls = base * 2 + short(7, struct.pack("<Q", 10 | (5 << 14 | 1 << 24) << 32) + b"\0" + packed)
    calls += short(8, struct.pack("<IBH", 2000, 0, 0) + packed) + short(7, struct.pack("<Q", 3000 | 1 << 32) + b"\0")
    long = bytes((1, 8, 8)) + struct.pack("<H", 24) + struct.pack("<QQiI", 2, 2**40, 3, 0)
    segment = short(10, struct.pack("<Q", 1))
    yield process + definitions + stream(3, calls, long, calls, b"\3", calls, version=3)
    yield process + definitions + stream(5, segment, calls, long, version=3)


def call_values() -> Seeds:
    """One value of each kind in format versions 2 and 3."""
    header = struct.Struct("<HBBI")
    word = struct.pack("<q", -5)
    kinds = {1: (1, word), 2: (1, struct.pack("<d", 0.5)), 4: (1, word), 5: (3, b'a"b'.ljust(8, b"\0"))}
    kinds |= {6: (2, word * 2), 7: (2, word * 2), 8: (1, word), 9: (0, b""), 10: (7, b""), 11: (1, b"")}
    kinds |= {12: (5, struct.pack("<5q", 2, 1, 2, 3, 4))}
    yield b"".join(header.pack(kind % 6, kind, 0, count) + payload for kind, (count, payload) in kinds.items())
    packed = {1: word, 2: struct.pack("<d", 0.5), 4: word[:6], 5: b'\3a"b', 6: b"\2\1\1\xff", 7: b"\2\6" + bytes(12)}
    packed |= {8: word, 9: b"", 10: b"\x80\4", 11: b"\1", 12: b"\5\1\2\1\2\3\4", 13: b"", 14: word}
    yield b"".join(bytes((kind | kind % 6 << 4,)) + payload for kind, payload in packed.items()) + b"\xfa\xff\xff\7"


def followed_calls() -> Seeds:
    """A client that makes a buffer on a native thread; another uses and destroys it, then uses it once more."""

    def value(field: int, address: int) -> bytes:
        return struct.pack("<HBBIQ", field, 4, 0, 1, address)

    def call(thread: int, function: int, values: bytes = b"", results: bytes = b"", duration: int = 3) -> bytes:
        head = struct.pack("<BBBhb", 5, thread, function, duration, 0) + (b"\0" if thread < 2 else b"")
        return head + bytes((len(values),)) + values + bytes((len(results),)) + results

    client, buffer = value(2, 0x10), value(0, 0x20)
    buffers = struct.pack("<HBBIQQ", 0, 7, 0, 2, 0x20, 0x20) + struct.pack("<HBBIQQQ", 1, 12, 0, 3, 1, 0x30, 0x40)
    yield b"\3\0" + b"".join(
        (
            call(0, 0, b"", client),
            call(2, 1, client, buffer + struct.pack("<HBBI", 3, 10, 0, 64), duration=7),
            call(3, 2, buffers, duration=20),
            call(0, 3, buffer),
            call(1, 4, buffer, struct.pack("<HBBI", 5, 11, 0, 1)),
            call(0, 5, client, struct.pack("<HBBIQHBBI", 0, 4, 0, 1, 0x50, 4, 10, 0, 7)),
            call(0, 6, buffer, duration=-1),
            call(1, 7, buffer),
            call(0, 3, buffer),
            call(0, 8, client),
        )
    )


def location_tables() -> Seeds:
    """The mangled names of functions in this file."""
    for function in (captures, call_values, main):
        yield struct.pack("<iQ", 40, 12) + function.__code__.co_linetable


def unwind_tables() -> Seeds:
    """A function with a frame pointer, and one with a realigned stack."""
    common = b"\0\0\0\0" + b"\x01zR\0" + b"\x01\x78\x10" + b"\x01\x1b" + b"\x0c\x07\x08\x90\x01\0\0"
    pushed = b"\x41\x0e\x10\x86\x02\x43\x0d\x06" + b"\x0a\x0c\x07\x08\x0b"
    realigned = b"\x41\x0c\x0a\x00\x10\x06\x02\x76\x00\x0f\x03\x76\x78\x06"
    for instructions in (pushed, realigned):
        function = b"\x1c\0\0\0" + b"\0\x10\0\0" + b"\x40\0\0\0" + b"\0" + instructions
        yield struct.pack("<QI", 0x1000, 0x20) + struct.pack("<H", len(common)) + common + function


def elf_notes() -> Seeds:
    """A property, then a build-id."""
    yield b"".join(
        struct.pack("<III", 4, len(content), kind) + b"GNU\0" + content
        for kind, content in ((5, bytes(16)), (3, bytes(range(20))))
    )


def log_lines() -> Seeds:
    """The seeds of `crash_texts`."""
    yield from crash_texts()


def crash_texts() -> Seeds:
    """The texts of the tests, and their parts."""
    for path in sorted(STACKS.glob("*.*")):
        if path.suffix in (".txt", ".json", ".mlir"):
            yield path.read_bytes()[:6000]
    for text in corpus():
        yield text.text.encode()[:3000]


def ffi_calls() -> Seeds:
    """Two arguments, one result, one attribute of each kind."""
    buffer = b"\x01" + b"\x0b\x02" + struct.pack("<qq", 4, 8)
    name = struct.pack("<H", 3) + b"eps"
    attributes = b"\x04" + name + b"\x01\x0b" + bytes(8) + name + b"\x03" + name + name + b"\x02\x00"
    yield b"\x02" + buffer * 2 + b"\x01" + buffer + attributes


def replay_plans() -> Seeds:
    """Each operation."""
    name = "0123456789abcdef-30"
    yield f"""\
framedex-plan 1
option 0 a%20b int64 3
answer 2 my%20kernel -5 {name} {name}
compile 1 0 {name} {name} mlir
send 2 1 0 - F32 {name},{name} 2 3 4
execute 3 0 7 -1 2 1 1 1 1 2 3 1 0
execute 9 0 7 -1 2 1 1 1 1 4 5 0 1 8 1 9 2 0 9 {name} 1 9 {name}
copy 4 4 2 1 pinned_host
read 5 4 {name}
delete 6 4
destroy 7 1
unload 8 0
""".encode()


def replayed_calls() -> Seeds:
    """A machine, a program, a transfer, an execution, a copy and a read; the functions are numbers of the target."""
    from framedex.plugins.replay.recorded_calls import _CREATES_MANAGER, _MANAGER
    from tests.fuzz.targets.replayed_calls import NAMES

    buffers: dict[str, object] = {"argument_lists": [["0x9"]], "output_lists": [["0xa"]], "num_args": 1}
    calls: list[tuple[str, dict[str, object]]] = [
        ("PJRT_Client_AddressableDevices", {"addressable_devices": ["0x1", "0x2"]}),
        ("PJRT_DeviceDescription_Kind", {"device_kind": "TPU v4"}),
        ("PJRT_Device_AddressableMemories", {"device": "0x1", "memories": ["0x5"]}),
        ("PJRT_Memory_Kind", {"memory": "0x5", "kind": "pinned_host"}),
        ("PJRT_Client_Compile", {"program.kept": "0-1", "compile_options.kept": "0-1", "executable": "0x8"}),
        ("PJRT_Client_BufferFromHostBuffer", {"device": "0x1", "type": "F32", "dims": [2], "buffer": "0x9"}),
        ("PJRT_LoadedExecutable_Execute", {"executable": "0x8", "options.launch_id": 1, **buffers}),
        (
            "PJRT_LoadedExecutable_Execute",
            {
                "executable": "0x8",
                "options.launch_id": 1,
                "argument_lists": [],
                "output_lists": [["0xc"]],
                "num_args": 0,
                "options.num_send_ops": 1,
                "options.num_recv_ops": 1,
                "send_channels": [8],
                "receive_channels": [9],
                "answered": 1,
            },
        ),
        ("PJRT_CopyToDeviceStream_AddChunk", {"chunk.kept": "0123456789abcdef-4", "answer": [1, 0, 9, 1]}),
        ("PJRT_Device_DefaultMemory", {"device": "0x1", "memory": "0x6"}),
        (f"{_CREATES_MANAGER}", {"memory": "0x6", "shapes": "F32[2] S32[]", "transfer_manager": "0x7"}),
        (f"{_MANAGER}TransferData", {"transfer_manager": "0x7", "buffer_index": 0, "offset": 0, "data.kept": "00-8"}),
        (f"{_MANAGER}RetrieveBuffer", {"transfer_manager": "0x7", "buffer_index": 0, "buffer_out": "0xd"}),
        (f"{_MANAGER}Destroy", {"transfer_manager": "0x7"}),
        ("PJRT_Buffer_CopyToMemory", {"buffer": "0xa", "dst_memory": "0x5", "dst_buffer": "0xb"}),
        ("PJRT_Buffer_ToHostBuffer", {"src": "0xb", "dst": "0xff", "dst.read": 1}),
        ("PJRT_Buffer_Destroy", {"buffer": "0xb"}),
        ("kernel", {"signature": -5, "arguments.hash": "00-1", "results.kept": "00-4"}),
        ("PJRT_Executable_DeserializeAndLoad", {"loaded_executable": "0x8"}),
    ]
    lines = (f"{NAMES.index(name)} {start * 10} 5 0 {json.dumps(values)}" for start, (name, values) in enumerate(calls))
    yield "\n".join(lines).encode()


def topologies() -> Seeds:
    """Option names, and a serialized option."""
    yield b"\x00\x00\x00\x00v5e:2x4"
    yield b"\x00\x01" + bytes(4) + b"\x00\x00" + b"\x02\x01" + b"v4:2x2x2"
    text = b"v5e 2 4 1 2 2 1 0 0 0 1 1 0 default"
    anything = b"\x0a\x29type.googleapis.com/framedex.Topology\x12" + bytes([len(text)]) + text
    anything = anything.replace(b"\x29", bytes([len(b"type.googleapis.com/framedex.Topology")]), 1)
    yield b"\x01" + b"\x12\x03tpu" + b"\x4a" + bytes([len(anything)]) + anything


def mock_settings() -> Seeds:
    """A machine and failure rules."""
    yield b"v5p:2x2x4\n\n2\n4\n1\n1000000\nPJRT_Client_Compile:3+=INTERNAL:no;device:2@100ms"
    yield b"v4\n8\n\n2\n\n\nevent:PJRT_Buffer_ReadyEvent:1=ABORTED;device:1@5executes=UNAVAILABLE"


def programs() -> Seeds:
    """A program with one parameter and one result."""

    def text(value: bytes) -> bytes:
        return struct.pack("<q", len(value)) + value

    def integers(*values: int) -> bytes:
        return struct.pack(f"<{len(values) + 1}q", len(values), *values)

    value = (
        struct.pack("<q", 11) + integers(2, 3) + integers(1, 0) + integers(1)[:8] + integers(8, 128) + text(b"device")
    )
    values = struct.pack("<q", 1) + value
    start = text(b"jit_f") + struct.pack("<qq", 1, 1) + integers(0) + integers(0) + text(b"assigned")
    donated = struct.pack("<qqq", 1, 0, 0)
    counts = struct.pack("<q", 1) + text(b"flops")
    rest = text(b"optimized") + counts + struct.pack("<d", 6.0) + counts + struct.pack("<q", 24)
    yield start + values * 2 + donated + rest + text(b"fingerprint") + struct.pack("<q", 0)


def cpp_sources() -> Seeds:
    """Files in framedex's format, and difficult parts of other formats."""
    for path in sorted((ROOT / "native").rglob("*.*")):
        if path.suffix in (".cc", ".h") and path.stat().st_size < 2500:
            yield path.read_bytes()
    for test in sorted((ROOT / "tests/indexer/sources").glob("test_*.py")):
        yield from _texts_in(test)


def python_sources() -> Seeds:
    """Programs written by hand."""
    for path in sorted((ROOT / "tests/programs").glob("*.py")):
        if path.stat().st_size < 2000:
            yield path.read_bytes()


def interface_files() -> Seeds:
    """The example texts in the tests of such files."""
    yield from _texts_in(ROOT / "tests/indexer/sources/test_interface_files.py")


def source_maps() -> Seeds:
    """Two files written by hand."""
    info = SourceMapInfo("xla", "https://example.org/xla", "0" * 40, False, "framedex 0.1.0")
    header = {"format": "framedex source map", "version": 1, **encode_header(info)}
    paths = [str(ROOT / "native/capture_reader" / name) for name in ("line_table.cc", "timeline.cc")]
    files = sorted(extract_files(paths), key=lambda file: file.path)
    lines: list[object] = [header, *(_as_mapped(file) for file in files)]
    lines.append({"files": len(files), "definitions": sum(len(file.definitions) for file in files)})
    yield b"l" + b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def release_maps() -> Seeds:
    """Files of two releases, as one file and as the parts of one."""
    paths = [str(ROOT / "native/recorder/base" / name) for name in ("flat_map.h", "json.h")]
    files = {
        f"xla/{Path(file.path).name}": build_released_file(file, Path(file.path).read_bytes())
        for file in sorted(extract_files(paths), key=lambda file: file.path)
    }
    old, new = dict(list(files.items())[:1]), files
    infos = [SourceMapInfo("xla", "https://example.org/xla", digit * 40, False, "") for digit in "01"]
    made = write_release_maps(["0.10.2", "0.11.0"], [ReleaseSources(infos, [old, new])])
    yield made
    content = read_content(made)
    parts = [b"p", _sized(content.names), b"\0", bytes([len(content.paths)])]
    for number, language in enumerate(content.languages):
        parts += bytes([language]), _sized(content.file(number))
    yield b"".join(parts)


def _sized(data: bytes) -> bytes:
    return len(data).to_bytes(2, "little") + data


def _as_mapped(file: ExtractedFile) -> list[object]:
    return [Path(file.path).name, *encode_file(file)[1:]]


def hlo_protos() -> Seeds:
    """A module with a custom call, its stack frames, an alias and a shape."""

    shape = (
        integer(2, 11) + message(3, b"\x02\x03") + message(5, message(1, b"\x01\x00") + message(6, message(1, b"\x08")))
    )
    called = message(1, b"call") + message(2, b"custom-call") + message(3, shape) + message(28, b"target")
    called += message(7, message(2, b"op") + integer(15, 1)) + integer(35, 1) + message(38, b"\x01") + integer(36, 1)
    computation = message(2, called) + integer(5, 1)
    frames = message(1, b"a.py") + message(2, b"f") + message(3, integer(1, 1) + integer(2, 1) + integer(3, 7))
    frames += message(4, integer(1, 1))
    program = message(1, shape) + message(2, integer(2, 13) + message(4, shape))
    schedule = message(1, integer(1, 1) + message(2, message(1, b"\x01")))
    alias = message(1, message(1, b"\x00") + integer(2, 0) + message(3, b"\x00"))
    yield (
        message(1, b"jit_f") + message(3, computation) + integer(6, 1) + message(7, schedule)
        + message(4, program) + message(8, alias) + message(17, frames)
    )  # fmt: skip


def compiled_programs() -> Seeds:
    """A module `m` with one op in a function, on line 7 of a file, in MLIR bytecode."""

    def numbers(*values: int) -> bytes:
        return bytes(value << 1 | 1 for value in values)

    def section(number: int, content: bytes) -> bytes:
        return bytes([number]) + numbers(len(content)) + content

    texts = [b"builtin", b"vhlo", b"module", b"sine_v2", b"m", b"a.py", b"jit(f)/sin", b"f"]
    sizes = numbers(len(texts), *(len(text) + 1 for text in reversed(texts)))
    strings = section(0, sizes + b"".join(text + b"\0" for text in texts))
    dialects = section(1, numbers(2, 0 << 1, 1 << 1, 2, 0, 1, 2 << 1, 1, 1, 3 << 1))
    # Strings, a line, the enclosing function, the name of the enclosing op, and an unknown location.
    attributes = [numbers(2, 4), numbers(2, 5), numbers(2, 6), numbers(2, 7)]
    attributes += [numbers(11, 1, 7, 3), numbers(14, 3, 4), numbers(14, 2, 5), numbers(15)]
    extents = numbers(len(attributes), 0, 0, len(attributes), *(len(each) << 1 | 1 for each in attributes))
    tables = section(2, b"".join(attributes)) + section(3, extents)
    op = numbers(1) + b"\0" + numbers(6)
    module = numbers(0) + b"\x50" + numbers(7, 0, 1 << 1) + numbers(1, 0, 1 << 1) + op
    properties = section(8, numbers(1, 1, 0 << 1 | 1))
    yield b"ML\xefR\x0dx\0" + dialects + tables + section(4, numbers(1 << 1) + module) + strings + properties


def kept_observations() -> Seeds:
    """A run with a function, its stack path and an error; a task; an empty file."""
    place = DisplayedLocation("a.py:1", "https://example.org/a.py#L1", "exact")
    node = PathNode(
        "main", "python", place, 2, 1, (PathNode("put", "native", DisplayedLocation("a.so", None, ""), 2, 0, ()),)
    )
    run = Run("jax", "a.py", "jax", "0.12", "the mock TPU", "0.112", (("jax", "0.12"),), 2, "")
    seen, example = ObservedError("INTERNAL", "no", 1), Example((("client", "client#1"),), place)
    counted = (NameCount("PJRT_Event_Destroy", 1),)
    lists = (((place, 2),), (node,), 0, (example,), (seen,), *(counted,) * 7)
    function = ObservedFunction("jax", "PJRT_Client_Create", "pjrt", 2, 5, None, 9, *lists)
    life = LifeCycle("jax", "client", 1, *(counted,) * 4, 0)
    call = StepCall("PJRT_Client_Create", 0, "main", None, "", (node,), 0)
    task = Task("jax", "a", "A", "", (Step("One", "", "x()", (call,), 0),))
    for observations in (
        Observations((run,), (function,), (life,), (task,)),
        Observations((run,), (), (), ()),
        Observations((), (), (), ()),
    ):
        yield format_observations(observations).encode()


def settings() -> Seeds:
    """Every key in each of the three files."""
    own = """sources = ["../xla", "~/jax"]
index = "i.db"
[links]
xla = "https://example.org/{commit}/{path}#L{line}"
"../jax" = "https://example.org/{path}"
[[path-map]]
from = "/build"
to = "../xla"
[editor]
code-lens = true
limit = 5
"""
    yield b"f" + own.encode()
    yield b"p[tool.framedex]\nsources = ['a']\n[tool.framedex.editor]\nfold-glue = false\n"
    values = {
        "sources": ["a"],
        "pathMap": [],
        "path-map": [{"from": "/b", "to": "c"}],
        "links": {"xla": "http://{path}"},
    }
    yield json.dumps({**values, "index": "i", "editor": {"limit": 1}}).encode()


def elf_files() -> Seeds:
    """A library with and without debug lines, and a stripped one."""
    source = "namespace shop { __attribute__((noinline)) int ring(int p) { volatile int q = p; return q * 2; } }\n"
    source += 'extern "C" int sell(int p) { return shop::ring(p) + shop::ring(p + 1); }\n'
    for options in (["-g1"], ["-s"], ["-Wl,--build-id"]):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "shop.cc").write_text(source)
            command = [
                "g++",
                "-O1",
                "-shared",
                "-fPIC",
                "-nostdlib",
                *options,
                "-Wl,-z,noseparate-code",
                "-Wl,-z,norelro",
            ]
            subprocess.run([*command, "-o", "shop.so", "shop.cc"], cwd=folder, check=True)
            yield (Path(folder) / "shop.so").read_bytes()


def core_files() -> Seeds:
    """A core of one thread with a mapped file, a stack and a signal."""

    def note(kind: int, content: bytes) -> bytes:
        return struct.pack("<III", 5, len(content), kind) + b"CORE\0\0\0\0" + content + bytes(-len(content) % 4)

    base, stack = 0x10000, 0x7000
    registers = [0] * 16 + [base + 0x100, 0, 0, stack, *[0] * 7]
    status = struct.pack("<iiih", 11, 0, 0, 11).ljust(32, b"\0") + struct.pack("<i", 7).ljust(80, b"\0")
    status += struct.pack("<27Q", *registers) + bytes(8)
    information = struct.pack("<iiixxxxQ", 11, 0, 1, 0x10).ljust(128, b"\0")
    process = bytes(24) + struct.pack("<iiii", 7, 1, 7, 7) + b"sh".ljust(16, b"\0") + b"sh -c true".ljust(80, b"\0")
    auxiliary = struct.pack("<6Q", 3, base + 64, 33, stack, 0, 0)
    files = struct.pack("<5Q", 1, 4096, base, base + 0x1000, 0) + b"/bin/sh\0"
    notes = note(1, status) + note(3, process) + note(0x53494749, information) + note(6, auxiliary)
    notes += note(0x46494C45, files)
    content = struct.pack("<4Q", base + 0x200, 0, 0, 0)
    first = 64 + 2 * 56
    header = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0
    )
    segments = struct.pack("<IIQQQQQQ", 4, 0, first, 0, 0, len(notes), 0, 4)
    segments += struct.pack("<IIQQQQQQ", 1, 6, first + len(notes), stack, 0, len(content), len(content), 8)
    yield header + segments + notes + content


def machine_code() -> Seeds:
    """A call, a jump over it, a return."""
    yield bytes.fromhex("554889e5bf01000000e80a000000750548c3e8f0ffffff5dc3ff15100000000f1f00c3")


def symbol_names() -> Seeds:
    """A mangled name, its forms by two demanglers, and the arguments of a handler's type."""
    names = """N4xla3ffi7HandlerILi3EE4CallEPK17XLA_FFI_CallFrame
absl::StatusOr<int> ns::(anonymous namespace)::Foo<int>::bar<long>(char*) const::{lambda(int)#2}::operator()(int)
void (*name(int))(char)
a::operator<< <int>(std::basic_string<char, std::char_traits<char>, std::allocator<char> > const&) [clone .cold]
ns::$_4::operator()(char) const
xla::ffi::internal::ArgTag<xla::ffi::Buffer<(xla::ffi::DataType)11, 2ul> >
xla::ffi::internal::AttrTag<xla::ffi::Span<float const> >
f32[4,8], s32[] eps=f32(1e-05), mode="fast"
x::y::operator std::vector<int>() const
_M_invoke.isra.0.cold.5"""
    for name in names.splitlines():
        yield name.encode()


def pasted_texts() -> Seeds:
    """Paths, links and frames."""
    texts = """here.py:3:4
/build/here.py:3
file:///tmp/a%20b.py#L12-L20
  File "here.py", line 3, in f
shop::Till::ring(int) const
source_file="here.py" source_line=3
#1  0x00007f in f (x=1) at here.py:3
https://example.org/a.py
a.py(3)
~nobody/x.py:1
\\x41\\U0001f600"""
    for text in texts.splitlines():
        yield text.encode()


def paths() -> Seeds:
    """Recorded paths, rules and addresses."""
    tree = "xla/pjrt/pjrt_client.h\nxla/pjrt/c/api.cc\nxla/a.proto\na.td\n"
    for recorded in (
        "/proc/self/cwd/external/+repos+xla/xla/pjrt/c/api.cc",
        "/env/site-packages/jax/_src/api.py",
        "bazel-out/k8-opt/bin/xla/a.pb.h",
        "/tmp/cpython-3.12/Python/ceval.c",
    ):
        yield f"{recorded}\n/build\nhttps://gitlab.example.org/x\nxla::PjRtClient::Make\n{tree}".encode()


def moved_lines() -> Seeds:
    """A file with added, deleted and duplicated lines."""
    old = [f"line {n % 7}" for n in range(60)]
    yield "\n".join(old).encode() + b"\0" + "\n".join([*old[5:30], "new", *old[28:]]).encode()


def capture_metadata() -> Seeds:
    """Metadata as the recorder and the launcher write it."""
    launcher = json.dumps({"packages": {"jax": "0.10.2"}})
    values = {
        "started_unix_ns": 1,
        "started_clock_ns": 2,
        "pid": 1,
        "host": "h",
        "python": "3.11.7",
        "launcher": launcher,
    }
    yield json.dumps({"format": "framedex-capture", "version": 1, **values}).encode()


def recorded_values() -> Seeds:
    """Arguments of a call."""
    values = {"type": "PJRT_Buffer_Type_F32", "dims": [2, 3], "bytes": 24, "address": "0x1", "error_message": "no"}
    yield json.dumps(values).encode()
    yield json.dumps({"arguments": "f32[2]", "results": "s32[]", "attributes": 'a="b"'}).encode()
    yield b"a\\x41 \x1b[0m \\u202e"


def _texts_in(test: Path) -> Seeds:
    """The triple-quoted strings in a test."""
    for number, text in enumerate(test.read_text(encoding="utf-8").split('"""')):
        if number % 2 and "\n" in text.strip() and len(text) < 3000:
            yield text.encode()


def compile_options() -> Seeds:
    """An option override, two devices, an XLA optimisation level; and a note."""
    override = message(1, b"xla_embed_ir_in_executable") + message(2, integer(2, 1))
    devices = message(9, message(3, message(1, bytes([3, 1]))))
    level = message(3, integer(31, 2))
    yield message(7, override) + message(3, devices + level) + integer(5, 1)
    arguments = [["x", "float32[3]", False], ["y", "float32[]", True]]
    told = {"name": "jit(f)", "function": "f at a.py:3", "arguments": arguments, "statics": [["n", "4"]]}
    yield json.dumps(told).encode()


def imported_files() -> Seeds:
    """A stack of two frames in each recorder's format."""
    yield b"# mode: full\nP1;T0:2;a.py:f:3;a.py:g:4 20,0,16\n"
    yield b"thread (0x7f);f (a.py:3);g (lib.so) 12\nf;std::sort<int> 3\n"
    yield b"allocator,num_allocations,size,tid,thread_name,stack_trace\nMALLOC,2,64,1,0x1,g;a.py;4|f;a.py;3\n"
    yield (
        b"python 7 1.5:  50000000 cpu-clock: \n\t          1ceff0 f+0x70 (/lib/a.so)\n"
        b"\t               0 [unknown] ([unknown])\n\n"
    )
    cost = {"version": 0, "costs": [{"description": "Memory", "unit": "bytes"}]}
    events = {"events": [{"callchain": [0], "cost": [7]}], "functions": [{"name": "f", "module": "a.py"}]}
    yield json.dumps(cost | events).encode()
    frames = {"shared": {"frames": [{"name": "f", "file": "a.py", "line": 3}, {"name": "g"}]}}
    sampled = {"type": "sampled", "name": "t", "unit": "seconds", "samples": [[0, 1]], "weights": [0.5]}
    opened = [{"type": "O", "at": 0, "frame": 0}, {"type": "C", "at": 2, "frame": 0}]
    yield json.dumps(
        frames | {"profiles": [sampled, {"type": "evented", "unit": "seconds", "events": opened}]}
    ).encode()
    told = [
        {"ph": "X", "name": "f (a.py:3)", "pid": 1, "tid": 2, "ts": 0, "dur": 9, "sf": 1},
        {"ph": "B", "name": "g", "ts": 1},
    ]
    yield json.dumps({"stackFrames": {"1": {"name": "main"}}, "traceEvents": told}).encode()
    types = message(1, integer(1, 1) + integer(2, 2)) + message(2, message(1, bytes([1])) + message(2, bytes([5])))
    location = message(4, integer(1, 1) + message(4, integer(1, 1) + integer(2, 3))) + message(
        5, integer(1, 1) + integer(2, 3)
    )
    yield types + location + b"".join(message(6, text) for text in (b"", b"cpu", b"ns", b"f"))
    stack = integer(1, 1) + integer(2, 1)
    interned = message(5, integer(1, 1) + message(2, b"f")) + message(6, stack) + message(7, stack)
    begins = message(11, integer(9, 1) + message(23, b"step") + integer(56, 1)) + integer(13, 1)
    ends = integer(8, 9) + integer(10, 1) + message(11, integer(9, 2)) + message(66, integer(3, 7) + integer(4, 1))
    yield message(1, integer(8, 5) + integer(10, 1) + begins + message(12, interned)) + message(1, ends)
    line = message(3, message(2, b"python") + message(4, integer(1, 1) + integer(2, 5000) + integer(3, 9000)))
    name = message(4, integer(1, 1) + message(2, integer(1, 1) + message(2, b"$a.py:3 f")))
    yield message(1, message(2, b"/host:CPU") + line + name)


def shared_files() -> Seeds:
    """A capture of two calls on one stack with a stored source text, and the same without calls."""
    frame = [[0, 7, 0, [0, 3, "exact"], None, False, 3]]
    function = ["python", "f", "f", "", 0, "", 1]
    program = [9, "jit_f", [["sine", "jit(f)/sin", [[0, 3, "f"]], 1]], "", None]
    rest = [[], [["ffi_site", '{"site": "a"}']], [], [], [], {"a-1": program}, {"b-1": "{}"}]
    note = {"c-1": ["jit_f", "f", "a.py:3", [["x", "f32", False]], [["mode", "1"]]]}
    stops = [[], 0, 0, False]
    for calls in (2, 0):
        told = [
            *('{"argv": ["shared", "a.py"]}', ["/p/a.py"], [function], [frame], [[[0], [], "merged", False]]),
            *([["pjrt", "PJRT_Execute"]], [[1, "main"]], calls, [], stops, rest[1], *rest[2:4], [], *rest[5:], note),
            [[0, "sources/000000", False]],
        ]
        definitions = json.dumps(told).encode()
        yield len(definitions).to_bytes(2, "little") + definitions + _shared_batch(calls)


def _shared_batch(calls: int) -> bytes:
    """A batch of calls of one kind that create no objects."""
    columns = [[0] * calls, [0] * calls, [5] * calls, [2] * calls, [0] * calls]
    totals = [[0], [calls], [2 * calls], [2 * calls], [2], [0], [0], [max(calls - 1, 0)]] if calls else [[]] * 8
    tables = [[0, 0], [0, 0, calls - 1], [0, 0, 2, calls], [], [], [], []] if calls else [[]] * 7
    every = [*columns, *totals, *tables, *([[]] * 14)]
    head = {
        **{"first": 0, "kinds": [[0, 0, 0, 0]] if calls else [], "arguments": ["{}"] if calls else []},
        **{"types": ["buffer"], "chains": [], "columns": [[1, len(column)] for column in every]},
    }
    told = json.dumps(head).encode()
    return len(told).to_bytes(4, "little") + told + bytes(value for column in every for value in column)


SEEDS = (
    captures, call_values, followed_calls, location_tables, unwind_tables, elf_notes, log_lines, crash_texts, ffi_calls,
    replay_plans, replayed_calls, topologies, mock_settings, programs, cpp_sources, python_sources, interface_files,
    source_maps, release_maps,
    hlo_protos, compiled_programs, settings, elf_files, core_files, machine_code, symbol_names, pasted_texts, paths,
    moved_lines, capture_metadata, recorded_values, compile_options, kept_observations, imported_files, shared_files,
)  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Add the seeds of the targets on the command line to their archives. Return the exit code."""
    seeds_of = {make.__name__: make for make in SEEDS}
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.make_seeds", description=__doc__)
    parser.add_argument("targets", nargs="+", metavar="TARGET", choices=seeds_of, help=f"one of {', '.join(seeds_of)}")
    try:
        for target in parser.parse_args(arguments).targets:
            write_inputs(target, [*read_inputs(target).values(), *seeds_of[target]()])
    except CorpusError as error:
        print(f"make_seeds: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
