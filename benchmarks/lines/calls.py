"""Calls of a built library with their true lines: drawn from machine code, and from recorded stacks of its workload.

llvm-symbolizer reads the truth from debug information. The calls of a build are saved beside it, so that they stay the
same until the build or their number changes.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection
from iced_x86 import Decoder, FlowControl, Mnemonic, OpKind, Register

from benchmarks.lines.libraries import HERE, Build
from framedex.binaries import Binary
from framedex.binaries.demangle import demangle
from framedex.binaries.elf import Elf
from framedex.binaries.symbols import read_symbols

# --- recorded stacks --------------------------------------------------------------------------------------------------

_TIMEOUT_S = 120
_DRIVERS = HERE / "drivers"


class FramePair(NamedTuple):
    """The return addresses of a frame and the frame below it.

    `module` of the lower frame is empty for the library.
    """

    returns_to: int
    module: str
    below: int


def record_frame_pairs(build: Build) -> list[FramePair]:
    """Each frame of the library with the frame below; empty if no workload runs."""
    record = build.folder / "stacks.bin"
    if not record.exists():
        _record_stacks(build, record)
    return list(_parse_pairs(record.read_bytes(), build))


def _record_stacks(build: Build, record: Path) -> None:
    tools = build.folder.parent.parent / "tools"
    sampler, runner = _build_driver(tools, "sampler.c", ["-shared", "-fPIC"]), _build_driver(tools, "runner.c", [])
    library = build.library
    with tempfile.TemporaryDirectory() as scratch:
        filled = [text.format(out=scratch, source=build.sources) for text in library.arguments]
        for name in library.files:
            copied = Path(scratch) / name
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(build.sources / name, copied)
        program = [sys.executable, str(_DRIVERS / library.python)] if library.python else [str(runner)]
        environment = {**os.environ, "LINES_RECORD": str(record), "LINES_LIBRARY": build.described.name}
        environment |= {"LD_PRELOAD": str(sampler), "TEST_TMPDIR": scratch}
        done = subprocess.run(
            [*program, str(build.described), *filled],
            cwd=scratch,
            env=environment,
            timeout=_TIMEOUT_S,
            check=False,
            capture_output=True,
        )
    if not record.exists():
        message = done.stderr.decode(errors="replace")[-1000:]
        print(
            f"{library.name} {build.options.name}: nothing was recorded (exit {done.returncode}) {message}", flush=True
        )
        record.write_bytes(b"")


def _build_driver(folder: Path, source: str, flags: list[str]) -> Path:
    built = folder / source.removesuffix(".c")
    if not built.exists() or built.stat().st_mtime < (_DRIVERS / source).stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        partial = built.with_suffix(".partial")
        subprocess.run(["gcc", "-O2", *flags, "-o", str(partial), str(_DRIVERS / source), "-ldl"], check=True)
        partial.rename(built)
    return built


def _parse_pairs(record: bytes, build: Build) -> Iterator[FramePair]:
    """Parse a record: a list of modules, `index path` by line, an empty line, then stacks: a count, and its frames.

    A frame is the number of its module and an address in it, both 64 bits; innermost first.
    """
    head, _, stacks = record.partition(b"\n\n")
    modules = [line.decode(errors="replace").partition(" ")[2] for line in head.split(b"\n")]
    own = {i for i, path in enumerate(modules) if path and Path(path).name == build.described.name}
    position = 0
    while position + 8 <= len(stacks):
        (count,) = struct.unpack_from("<q", stacks, position)
        frames = list(struct.iter_unpack("<qq", stacks[position + 8 : position + 8 + 16 * count]))
        position += 8 + 16 * count
        for (below_module, below), (module, returns_to) in pairwise(frames):
            if module in own and 0 <= below_module < len(modules):
                yield FramePair(returns_to, "" if below_module in own else modules[below_module], below)


# --- drawn calls ------------------------------------------------------------------------------------------------------

_VERSION = 3  # of the saved files
_SYMBOLIZERS = ("llvm-symbolizer-19", "llvm-symbolizer")
_BATCH = 2000
_MAX_TEST_SHARE = 1 / 5
_NEVER_A_FRAME = ("_Unwind_Resume",)


@dataclass(frozen=True, slots=True)
class Call:
    """A call in a function of the project.

    `callee` is the demangled name of the called function; for a call of a recorded stack, that of the frame below.
    `kind` is direct or plt, and for recorded stacks also indirect and tail: the target differs from the frame below.
    `path` and `line` are those in the compiled function. `is_inlined`: the call is written in a function that was
    inlined there. `frames` are all functions at the address, as `symbolize` returns them.
    """

    returns_to: int
    callee: str
    kind: str
    is_of_stack: bool
    is_callee_in_project: bool
    path: str
    line: int
    is_inlined: bool
    frames: list[list[Any]]


def draw_calls(build: Build, count: int, of_stacks: int) -> list[Call]:
    """Draw this many calls of the machine code and of recorded stacks, or all if there are fewer."""
    saved = build.folder / f"calls-{_VERSION}-{count}-{of_stacks}.json"
    if not saved.exists():
        found = list(_sample_calls(build, count, of_stacks))
        partial = saved.with_suffix(".partial")
        partial.write_text(json.dumps([asdict(call) for call in found]))
        partial.rename(saved)
    return [Call(**entry) for entry in json.loads(saved.read_text())]


def _sample_calls(build: Build, count: int, of_stacks: int) -> Iterator[Call]:
    dice = random.Random(f"{build.library.name} {build.options.name}")
    code = _CallInstructions(build.described)
    every = list(code.calls())
    dice.shuffle(every)
    project = Project(build.sources)
    yield from _with_truth(build, code, project, every, count, is_of_stack=False)
    stacks = sorted(_stack_calls(build, code))
    dice.shuffle(stacks)
    yield from _with_truth(build, code, project, stacks, of_stacks, is_of_stack=True)


DrawnCall = tuple[int, str, str, int]
"""The return address of a call, the callee's name, the kind of call, the callee's address here or 0."""


def _with_truth(
    build: Build, code: _CallInstructions, project: Project, drawn: Sequence[DrawnCall], count: int, is_of_stack: bool
) -> Iterator[Call]:
    found = tests = 0
    for begin in range(0, len(drawn), _BATCH):
        batch = drawn[begin : begin + _BATCH]
        truths = symbolize(build.described, [returns_to - 1 for returns_to, *_ in batch])
        places = dict(zip(*_callees_in_build(build, batch), strict=True))
        for (returns_to, callee, kind, address), frames in zip(batch, truths, strict=True):
            own = _without_partial_functions(frames)
            if not own or not project.contains(own[-1][1]) or own[-1][2] <= 0:
                continue
            _, path, line, _ = own[-1]
            is_test = build.library.is_test(project.relative_path(path))
            if is_test and tests >= count * _MAX_TEST_SHARE:
                continue
            is_in_project = project.contains(places.get(address, ""))
            yield Call(returns_to, callee, kind, is_of_stack, is_in_project, path, line, len(own) > 1, frames)
            found += 1
            tests += is_test
            if found == count:
                return


def _callees_in_build(build: Build, batch: Sequence[DrawnCall]) -> tuple[list[int], list[str]]:
    addresses = sorted({address for *_, address in batch if address})
    return addresses, [frames[-1][1] if frames else "" for frames in symbolize(build.described, addresses)]


def _without_partial_functions(frames: list[list[Any]]) -> list[list[Any]]:
    """Drop the frame of a function around a part of the same function.

    GCC splits functions (`-fpartial-inlining`) and may inline the parts again. Such a part appears as a function of the
    same name, called on the line of the function's name, where the source has no call.
    """
    while len(frames) > 1 and frames[-2][0] == frames[-1][0] and frames[-1][2] == frames[-1][3]:
        frames = frames[:-1]
    return frames


class Project:
    """The files of a library's sources."""

    def __init__(self, sources: Path) -> None:
        self._folder = f"{sources.resolve()}/"

    def contains(self, path: str) -> bool:
        """Whether a path in the debug information is that of a file of the project."""
        return path.startswith(self._folder)

    def relative_path(self, path: str) -> str:
        """The path of a file of the project, relative to the project's folder."""
        return path.removeprefix(self._folder)


def symbolize(binary: Path, addresses: Sequence[int]) -> list[list[list[Any]]]:
    """The functions at each address, innermost first: mangled name, path, line, the line of the declaration."""
    if not addresses:
        return []
    tool = next(filter(None, map(shutil.which, _SYMBOLIZERS)), None)
    if tool is None:
        raise RuntimeError("no llvm-symbolizer is installed: `apt install llvm-19`")
    command = [tool, f"--obj={binary}", "--output-style=JSON", "--inlines", "--no-demangle"]
    addresses_text = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run(command, input=addresses_text, capture_output=True, text=True, check=True)
    return [
        [
            [frame["FunctionName"], _normalise(frame["FileName"]), frame["Line"], frame["StartLine"]]
            for frame in json.loads(line)["Symbol"]
        ]
        for line in done.stdout.splitlines()
    ]


def _normalise(path: str) -> str:
    return str(Path(path).resolve()) if path.startswith("/") else path


class _CallInstructions:
    """The call instructions of a library with a known target."""

    def __init__(self, path: Path) -> None:
        self._elf = Elf.open(path)
        self._functions = list(read_symbols(self._elf))
        self._starting = {function.start: function.mangled for function in self._functions}
        with path.open("rb") as file:
            self._stubs = _stubs(ELFFile(file))
        self._by_name = {function.mangled: function.start for function in self._functions}

    def calls(self) -> Iterator[DrawnCall]:
        """Every direct call and call through the PLT."""
        for function in self._functions:
            for instruction in Decoder(64, self._elf.content(function.start, function.end), ip=function.start):
                if instruction.flow_control == FlowControl.CALL:
                    target = instruction.near_branch_target
                    called = self.target(target)
                    if called and called[0] not in _NEVER_A_FRAME:
                        yield (instruction.next_ip, *called)

    def target(self, address: int) -> tuple[str, str, int] | None:
        """The name of the function at an address, the kind of call, and its address if it is in this library."""
        if mangled := self._starting.get(address):
            return demangle(mangled), "direct", address
        if stub := self._stubs.get(address):
            return demangle(stub), "plt", self._by_name.get(stub, 0)
        return None

    def call_before(self, returns_to: int) -> tuple[str, str, int] | None:
        """The target of the direct call or PLT call that ends at an address."""
        code = self._elf.content(returns_to - 5, returns_to)
        instruction = Decoder(64, code, ip=returns_to - 5).decode()
        if instruction.flow_control != FlowControl.CALL or instruction.next_ip != returns_to:
            return None
        return self.target(instruction.near_branch_target)


def _stubs(elf: ELFFile) -> dict[int, str]:
    """The mangled names of the targets of PLT stubs, by address."""
    slots: dict[int, str] = {}
    for name in (".rela.plt", ".rela.dyn"):
        section = elf.get_section_by_name(name)
        if not isinstance(section, RelocationSection):
            continue
        symbols = elf.get_section(section["sh_link"])
        assert isinstance(symbols, SymbolTableSection)
        for relocation in section.iter_relocations():
            if number := relocation["r_info_sym"]:
                slots[relocation["r_offset"]] = symbols.get_symbol(number).name
    stubs: dict[int, str] = {}
    for name, size in ((".plt", 16), (".plt.sec", 16), (".plt.got", 8)):
        section = elf.get_section_by_name(name)
        if section is None:
            continue
        for instruction in Decoder(64, section.data(), ip=section["sh_addr"]):
            is_jump = instruction.mnemonic == Mnemonic.JMP and instruction.op0_kind == OpKind.MEMORY
            if is_jump and instruction.memory_base == Register.RIP:
                slot = instruction.ip_rel_memory_address
                if slot in slots:
                    stubs[instruction.ip // size * size] = slots[slot]
    return stubs


def _stack_calls(build: Build, code: _CallInstructions) -> Iterator[DrawnCall]:
    """The calls of recorded stacks, once for each callee."""
    own = Binary.open(build.stripped)
    others: dict[str, Binary] = {}

    def name(module: str, address: int) -> str:
        binary = own if not module else others.setdefault(module, Binary.open(Path(module)))
        (frames,) = binary.resolve([address - 1])
        return frames[-1].symbol if frames else ""

    for pair in _deduplicate(record_frame_pairs(build)):
        callee = name(pair.module, pair.below)
        if not callee:
            continue
        before = code.call_before(pair.returns_to)
        kind = "indirect" if before is None else before[1] if before[0] == callee else "tail"
        yield pair.returns_to, callee, kind, (own.function_start(pair.below - 1) or 0) if not pair.module else 0


def _deduplicate(pairs: Iterable[FramePair]) -> Iterator[FramePair]:
    yield from dict.fromkeys(pairs)
