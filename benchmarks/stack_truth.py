"""The true native frames of a process or core, and the judgement of a tool's stacks against the truth."""

from __future__ import annotations

import json
import re
import struct
import subprocess
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

from elftools.elf.elffile import ELFFile

_GDB_SCRIPT = """
import json
kinds = {gdb.NORMAL_FRAME: "function", gdb.INLINE_FRAME: "inlined", gdb.SIGTRAMP_FRAME: "signal"}
threads = {}
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, found, waits = gdb.newest_frame(), [], False
    while frame is not None:
        if frame.type() in kinds:
            place = frame.find_sal()
            name = frame.function().print_name if frame.function() is not None else ""
            file = place.symtab.filename if place.symtab is not None else ""
            found.append([kinds[frame.type()], frame.pc() - waits, name, file, place.line])
        waits = frame.type() == gdb.NORMAL_FRAME or (waits and frame.type() == gdb.INLINE_FRAME)
        frame = frame.older()
    threads[thread.ptid[1]] = found
print("FRAMES " + json.dumps(threads))
"""
_MAPPING = re.compile(r"^\s*(0x\w+)\s+(0x\w+)\s+0x\w+\s+(0x\w+)\s+(?:[rwxps-]+\s+)?(/.*)$", re.MULTILINE)
_SYMBOL_BYTES = 24
_FUNCTION_TYPES = (2, 10)  # STT_FUNC, STT_GNU_IFUNC
_EVALUATOR = "PyEval_EvalFrameDefault"  # Python frames replace it
_SIGNAL_RETURN = "restore_rt"
_MAX_ALIASES = 64  # functions at the same address, and shorter ones inside
_MISMATCH = 0
_UNKNOWN, _OPTIONAL, _RIGHT = 1, 2, 3  # scores of matches


@dataclass(frozen=True, slots=True)
class PythonFrame:
    """A Python frame: its function without classes, its file and its line."""

    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class NativeFrame:
    """A native frame: the possible names of its function, its file and line; empty, "" and 0 if unknown.

    `is_optional`: a tool may leave it out. `elsewhere` are functions of the binary at other addresses. `position` is
    the path of the binary and the address in its ELF file.
    """

    names: frozenset[str]
    file: str = ""
    line: int = 0
    is_optional: bool = False
    elsewhere: frozenset[str] = frozenset()
    position: tuple[str, int] = ("", 0)


@dataclass(frozen=True, slots=True)
class NativeStack:
    """The true native frames of a thread, innermost first. `is_moving`: frames further inside come and go."""

    frames: Sequence[NativeFrame]
    is_moving: bool = False

    def common_callers(self, later: NativeStack) -> NativeStack:
        """The callers that a later stack of the same thread has, too."""
        same = 0
        for mine, other in zip(reversed(self.frames), reversed(later.frames), strict=False):
            if mine != other:
                break
            same += 1
        is_moving = same < max(len(self.frames), len(later.frames))
        return NativeStack(self.frames[len(self.frames) - same :], is_moving)


@dataclass(frozen=True, slots=True)
class ToolStack:
    """The frames of a thread according to a tool, innermost first. A native frame has at most one name."""

    python: Sequence[PythonFrame]
    native: Sequence[NativeFrame]


@dataclass(slots=True)
class Judgement:
    """Numbers of frames. `examples` describe wrong and missing ones."""

    right: int = 0
    wrong: int = 0
    missing: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, other: Judgement) -> None:
        """Add the numbers of another judgement."""
        self.right += other.right
        self.wrong += other.wrong
        self.missing += other.missing
        self.examples += other.examples


def judge_stacks(
    stacks: Mapping[int, ToolStack],
    python: Mapping[int, Sequence[PythonFrame]],
    native: Mapping[int, NativeStack],
) -> tuple[Judgement, Judgement]:
    """The judgements of the Python frames and of the native frames of all threads with a known truth."""
    empty = ToolStack((), ())
    judged_python, judged_native = Judgement(), Judgement()
    for tid, frames in python.items():
        judged_python.add(_align(tid, stacks.get(tid, empty).python, frames, _compare_python))
    for tid, stack in native.items():
        found = stacks.get(tid, empty).native
        judged_native.add(_align(tid, found, stack.frames, _compare_native, is_moving=stack.is_moving))
    return judged_python, judged_native


Frame = TypeVar("Frame", PythonFrame, NativeFrame)


def _align(
    tid: int,
    found: Sequence[Frame],
    truth: Sequence[Frame],
    compare: Callable[[Frame, Frame], int],
    *,
    is_moving: bool = False,
) -> Judgement:
    """Match frames in their order so that most are right: the longest common subsequence, weighted by scores."""
    best = [[0] * (len(truth) + 1) for _ in range(len(found) + 1)]
    scores = [[compare(mine, true) for true in truth] for mine in found]
    for i in reversed(range(len(found))):
        for j in reversed(range(len(truth))):
            matched = best[i + 1][j + 1] + scores[i][j] if scores[i][j] else 0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], matched)
    result = Judgement()
    i = j = 0
    while i < len(found) or j < len(truth):
        if i < len(found) and j < len(truth) and scores[i][j] and best[i][j] == best[i + 1][j + 1] + scores[i][j]:
            result.right += scores[i][j] >= _OPTIONAL
            is_moving = False
            i, j = i + 1, j + 1
        elif i < len(found) and (j == len(truth) or best[i][j] == best[i + 1][j]):
            if not is_moving:
                result.wrong += 1
                result.examples.append(f"thread {tid}: wrong {_describe(found[i])}")
            i += 1
        else:
            if not _may_be_missing(truth[j]):
                result.missing += 1
                result.examples.append(f"thread {tid}: missing {_describe(truth[j])}")
            j += 1
    return result


def _describe(frame: PythonFrame | NativeFrame) -> str:
    name = frame.function if isinstance(frame, PythonFrame) else " or ".join(sorted(frame.names))
    return f"{name} {frame.file}:{frame.line}"


def _may_be_missing(frame: PythonFrame | NativeFrame) -> bool:
    return isinstance(frame, NativeFrame) and (frame.is_optional or not frame.names)


def _compare_python(found: PythonFrame, truth: PythonFrame) -> int:
    return _RIGHT if found == truth else _MISMATCH


def _compare_native(found: NativeFrame, truth: NativeFrame) -> int:
    (name,) = found.names
    if not truth.names:
        return _MISMATCH if name in truth.elsewhere else _UNKNOWN
    if name not in truth.names:
        return _MISMATCH
    if truth.line and found.line:
        line = Path(found.file).name, found.line
        if line != (Path(truth.file).name, truth.line) and line not in _read_lines(*truth.position):
            return _MISMATCH
    return _OPTIONAL if truth.is_optional else _RIGHT


@cache
def _read_lines(path: str, address: int) -> frozenset[tuple[str, int]]:
    """The file names and lines at an address according to addr2line: gdb does not always choose the same line."""
    command = ["addr2line", "-i", "-e", path, hex(address)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return frozenset((Path(file).name, int(line)) for file, line in re.findall(r"^(.*):(\d+)", output, re.MULTILINE))


def read_native_truth(gdb_arguments: Sequence[str], folder: Path) -> dict[int, NativeStack]:
    """The native frames of all threads, by thread id."""
    script = folder / "frames.py"
    script.write_text(_GDB_SCRIPT)
    command = ["gdb", "-nx", "-batch", "-ex", "info proc mappings", "-ex", f"source {script}", *gdb_arguments]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    mappings = [(int(a, 16), int(b, 16), int(c, 16), path) for a, b, c, path in _MAPPING.findall(output)]
    (line,) = (line for line in output.splitlines() if line.startswith("FRAMES "))
    threads = json.loads(line.removeprefix("FRAMES "))
    return {
        int(tid): NativeStack([_build_frame(mappings, *frame) for frame in frames]) for tid, frames in threads.items()
    }


def _build_frame(
    mappings: Iterable[tuple[int, int, int, str]], kind: str, address: int, name: str, file: str, line: int
) -> NativeFrame:
    if kind == "signal":
        return NativeFrame(frozenset({_SIGNAL_RETURN}), is_optional=True)
    start, _, offset, path = next((each for each in mappings if each[0] <= address < each[1]), (0, 0, 0, ""))
    symbols = _read_symbols(path) if path else SymbolTable()
    position = symbols.address_of(address - start + offset)
    covering = symbols.names_at(position) if kind == "function" else frozenset()
    names = covering | ({normalize_name(name)} if name else frozenset())
    is_optional = kind == "inlined" or _EVALUATOR in names
    elsewhere = frozenset() if names else symbols.names
    return NativeFrame(names, file, line, is_optional, elsewhere, (path, position))


class SymbolTable:
    """The functions in the symbol tables of a binary."""

    def __init__(self, path: str | None = None) -> None:
        """Read the binary. Without a path, or if it is not an ELF file, the table is empty."""
        self._symbols: list[tuple[int, int, bytes]] = []
        self._segments: list[tuple[int, int, int]] = []
        if path is None or not Path(path).is_file():
            return
        with Path(path).open("rb") as file:
            elf = ELFFile(file)
            self._segments = [
                (each["p_offset"], each["p_filesz"], each["p_vaddr"]) for each in elf.iter_segments("PT_LOAD")
            ]
            for section in elf.iter_sections():
                if section["sh_type"] in ("SHT_SYMTAB", "SHT_DYNSYM"):
                    names = elf.get_section(section["sh_link"]).data()
                    self._symbols += _parse_symbols(section.data(), names)
        self._symbols = sorted(set(self._symbols))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all functions, not demangled."""
        return frozenset(name.decode("utf-8", "replace") for _, _, name in self._symbols)

    def address_of(self, offset: int) -> int:
        """The address in the ELF file at an offset in the file; 0 if none is loaded there."""
        return next((offset - start + at for start, size, at in self._segments if start <= offset < start + size), 0)

    def names_at(self, address: int) -> frozenset[str]:
        """The normalized names of the functions at an address."""
        last = bisect_right(self._symbols, address, key=lambda symbol: symbol[0])
        symbols = self._symbols[max(last - _MAX_ALIASES, 0) : last]
        found = [name for start, size, name in symbols if start <= address < start + size]
        return frozenset(normalize_name(each) for name in found for each in (_demangle(name), name.decode()))


_read_symbols = cache(SymbolTable)


def _parse_symbols(table: bytes, names: bytes) -> Iterable[tuple[int, int, bytes]]:
    for name, kind, _, section, address, size in struct.iter_unpack("<IBBHQQ", table):
        if kind & 15 in _FUNCTION_TYPES and section and size:
            yield address, size, names[name : names.find(b"\0", name)]


@cache
def _demangle(name: bytes) -> str:
    return subprocess.run(["c++filt"], input=name, capture_output=True, check=True).stdout.decode().strip()


@cache
def normalize_name(name: str) -> str:
    """A function's name in the form that all tools share.

    It lacks parameters, template arguments, suffixes of compilers, outer namespaces and leading underscores.
    """
    text = re.sub(r"@@?[A-Z].*$|\[clone.*?\]|\(anonymous namespace\)::|\[abi:\w+\]", "", name)
    text = re.sub(r"\.(?:llvm|part|cold|isra|constprop|lto_priv|localalias)\b[.\d]*", "", text)
    text = re.sub(r"operator(?:\(\)|->|<<|>>|<|>)", "operator", text)
    text = re.sub(r"\{lambda.*?\}|'lambda\d*'", "lambda", text)
    while (shorter := re.sub(r"<[^<>]*>|\([^()]*\)", "", text)) != text:
        text = shorter
    text = re.sub(r"\s(?:const|volatile|noexcept|&).*$", "", text.strip())
    return "::".join(text.split(" ")[-1].split("::")[-2:]).lstrip("_") if text else name
