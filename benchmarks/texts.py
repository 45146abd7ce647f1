"""Logs and crash texts: speed of the filter, recognised frames, and names and lines that lead to a definition."""

from __future__ import annotations

import os
import pty
import random
import re
import statistics
import subprocess
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from benchmarks.figures import Figure
from benchmarks.processes import FRAMEDEX, ROOT, jaxlib_library
from framedex.binaries import demangle as demanglers
from framedex.binaries.elf import Elf
from framedex.binaries.names import parse_name
from framedex.binaries.symbols import read_symbols
from framedex.index import Index
from framedex.model import Language
from framedex.sources.outline import OutlineMatch, Outlines
from framedex.sources.releases.statements import StatedReleases
from framedex.text_stacks import StackFormat, TextFrame, read
from framedex.text_stacks.source_lookup.binaries import Binaries
from framedex.text_stacks.source_lookup.frame_context import FoundFrame
from framedex.text_stacks.source_lookup.resolve import Resolver

if TYPE_CHECKING:
    from tests.crash_corpus import CrashText

# --- a log as it streams ----------------------------------------------------------------------------------------------

_STACK_SAMPLES = ROOT / "tests" / "fixtures" / "stacks"
_LOCATION_PATTERN = r"[[:alnum:]/_.-]+\.(py|cc|h|c):[0-9]+"
_TIMED_LINES = 2000
_PAUSE_S = 0.002  # between timed lines, about as long as a program may take


@click.command()
@click.option("--index", type=click.Path(exists=True, path_type=Path), help="Index, for example of XLA's sources.")
@click.option("--rounds", type=int, default=5, show_default=True, help="Number of rounds.")
@click.option("--megabytes", type=int, default=128, show_default=True, help="Size of the logs.")
@click.option("--gigabytes", type=float, default=1, show_default=True, help="Size of the log for the memory test.")
def resolve(index: Path | None, rounds: int, megabytes: int, gigabytes: float) -> list[Figure]:
    """Measure `framedex resolve` as a filter, against cat, sed and c++filt.

    Speed is that of whole processes, from a pipe to a file. The delay of a line is the time between writing it into a
    pipe and reading it from a pseudo terminal.
    """
    filter_command = [*FRAMEDEX, *(["--index", str(index.resolve())] if index else []), "resolve"]
    filters = {
        "cat": ["cat"],
        "sed -E 's/PLACE/LINK/'": ["sed", "-E", rf"s#{_LOCATION_PATTERN}#\x1b]8;;file:///&\x1b\\&\x1b]8;;\x1b\\#g"],
        "c++filt": ["c++filt"],
        "framedex resolve": filter_command,
    }
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for title, make_log in _LOGS.items():
            figures += _measure_speed(Path(folder) / "log", title, make_log, megabytes, filters, rounds)
        figures.append(_measure_memory(filter_command, round(gigabytes * 1000)))
        timed = {"cat": ["cat"], "grep --line-buffered": ["grep", "--line-buffered", ""], "framedex": filter_command}
        figures.append(_measure_delay(timed))
        os.chdir(ROOT)
    return figures


def _ordinary_log(chance: random.Random) -> Iterator[str]:
    for step in iter(int, 1):
        second = f"{chance.randrange(60):02d},{chance.randrange(1000):03d}"
        yield (
            f"2026-11-20 16:02:{second} INFO     trainer.loop: step {step} loss={chance.random():.6f}"
            f" grad_norm={chance.random():.4f} lr=1.000e-04 tokens/s={chance.randrange(99999)} (TPU_3(process=0))\n"
        )


def _jax_log(chance: random.Random) -> Iterator[str]:
    files = ("pjrt_client", "cpu_client", "service", "hlo_pass_pipeline", "buffer_assignment")
    for module in iter(int, 1):
        file = f"{chance.choice(files)}.cc:{chance.randrange(10, 90)}"
        yield (
            f"I1120 16:02:31.{chance.randrange(10**6):06d}  {chance.randrange(9999)} {file}] Compiled module jit_step_"
            f"{module} in {chance.random() * 100:.2f} ms (fingerprint {chance.getrandbits(64):x})\n"
        )


def _stack_log(_: random.Random) -> Iterator[str]:
    samples = [path.read_text() for path in sorted(_STACK_SAMPLES.glob("*.txt"))]
    while True:
        yield from samples


def _moved_stack_log(chance: random.Random) -> Iterator[str]:
    """The same stacks with random addresses."""
    for text in _stack_log(chance):
        yield _ADDRESS.sub(
            lambda found: f"{chance.getrandbits(40) | 1 << 40:0{len(found[0])}x}"[-len(found[0]) :], text
        )


def _xla_frames(chance: random.Random) -> Iterator[str]:
    """Frames of XLA from its release maps, with random addresses."""
    names = (
        "PjRtCApiClient::InitAttributes",
        "cpu::ThunkExecutor::TracedExecute",
        "Service::Compile",
        "Shape::ToString",
    )
    while True:
        yield f"    @     0x{chance.getrandbits(46) | 1 << 46:012x}        960  xla::{chance.choice(names)}()\n"


def _unknown_symbols(form: str) -> Callable[[random.Random], Iterator[str]]:
    def lines(chance: random.Random) -> Iterator[str]:
        for number in range(_SYMBOLS):
            name = f"ns{number % 97}::Class{number % 1013}::method_{number:06d}(int, char const*)"
            yield form.format(address=f"{chance.getrandbits(46) | 1 << 46:012x}", number=number % 40, name=name)

    return lines


_ADDRESS = re.compile(r"(?<=0x)[0-9a-f]{10,}")
_SYMBOLS = 200_000
_UNKNOWN = f"{_SYMBOLS:,} unknown symbols"
_LOGS: Mapping[str, Callable[[random.Random], Iterator[str]]] = {
    "ordinary log text": _ordinary_log,
    "log of JAX, a place on every line": _jax_log,
    "nothing but stacks": _stack_log,
    "nothing but stacks, no address twice": _moved_stack_log,
    "frames of XLA, no address twice": _xla_frames,
    f"{_UNKNOWN}, glog": _unknown_symbols("    @     0x{address} {name}\n"),
    f"{_UNKNOWN} in XLA's namespace": _unknown_symbols("    @     0x{address} xla::{name}\n"),
    f"{_UNKNOWN}, gdb": _unknown_symbols("#{number}  0x0000{address} in {name} () from /usr/lib/libfoo.so\n"),
    f"{_UNKNOWN} and places, sanitizer": _unknown_symbols(
        "    #{number} 0x{address} in {name} /build/a.cc:{number}1\n"
    ),
}


def _measure_speed(
    log: Path,
    title: str,
    make_log: Callable[[random.Random], Iterator[str]],
    megabytes: int,
    filters: Mapping[str, Sequence[str]],
    rounds: int,
) -> list[Figure]:
    texts = 20_000
    if make_log in (_stack_log, _moved_stack_log, _xla_frames):
        megabytes //= 16
    elif title.startswith(_UNKNOWN):
        texts, megabytes = _SYMBOLS, 0
    block = "".join(islice(make_log(random.Random(1)), texts)).encode()
    log.write_bytes(block * max(megabytes * 1_000_000 // len(block), 1))
    size = log.stat().st_size / 1e6
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in filters}
    for _ in range(rounds):
        for name, command in filters.items():
            taken[name].append(_filter_log(log, command))
    headings = ("filter", "median s", "min s", "MB/s", "processor s", "MB per processor s")
    table = Table(*headings, title=f"{title}, {size:.0f} MB")
    medians = {}
    for name, pairs in taken.items():
        elapsed, processor = medians[name] = tuple(statistics.median(column) for column in zip(*pairs, strict=True))
        least = min(seconds for seconds, _ in pairs)
        speeds = (f"{size / elapsed:.0f}", f"{processor:.2f}", f"{size / processor:.0f}")
        table.add_row(name, f"{elapsed:.2f}", f"{least:.2f}", *speeds)
    Console().print(table)
    own, peer = medians["framedex resolve"][0], medians["c++filt"][0]
    return [Figure(f"speed of {title}", size / own, "MB/s", "c++filt", peer / own)]


def _filter_log(log: Path, command: Sequence[str]) -> tuple[float, float]:
    """Wall-clock and processor seconds of a filter for a log."""
    with log.with_suffix(".out").open("wb") as sink, subprocess.Popen(["cat", log], stdout=subprocess.PIPE) as source:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=source.stdout, stdout=sink, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return time.perf_counter() - began, used.ru_utime + used.ru_stime


def _measure_memory(command: Sequence[str], megabytes: int) -> Figure:
    """Measure the peak memory for a log of ordinary text with distinct places."""
    rest = "".join(islice(_ordinary_log(random.Random(2)), 7000)).encode()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    began, written = time.perf_counter(), 0
    while written < megabytes * 1_000_000:
        places = "".join(f"/build/{written + i}.cc:{i}: warning\n" for i in range(100)).encode()
        process.stdin.write(places + rest)
        written += len(places) + len(rest)
    process.stdin.close()
    _, _, used = os.wait4(process.pid, 0)
    seconds, memory = time.perf_counter() - began, used.ru_maxrss >> 10
    print(f"{written / 1e9:.2f} GB: {seconds:.1f} s, peak memory {memory} MB")
    return Figure(f"peak memory for {written / 1e9:.1f} GB of log", memory, "MB")


def _measure_delay(filters: Mapping[str, Sequence[str]]) -> Figure:
    table = Table("filter", "p50 us", "p99 us", title=f"delay of a line, {_TIMED_LINES} lines")
    medians = {}
    for name, command in filters.items():
        ours, theirs = pty.openpty()
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=theirs, bufsize=0)
        os.close(theirs)
        assert process.stdin is not None
        delays = []
        for line in islice(_ordinary_log(random.Random(3)), _TIMED_LINES):
            began = time.perf_counter()
            process.stdin.write(line.encode())
            shown = b""
            while not shown.endswith(b"\n"):
                shown += os.read(ours, 1 << 16)
            delays.append(time.perf_counter() - began)
            time.sleep(_PAUSE_S)
        process.stdin.close()
        process.wait()
        os.close(ours)
        delays = sorted(delays[10:])  # the first lines wait for the process to start
        p50, p99 = (1e6 * delays[int(part * len(delays))] for part in (0.5, 0.99))
        table.add_row(name, f"{p50:.0f}", f"{p99:.0f}")
        medians[name] = p50
    Console().print(table)
    return Figure("delay of a line, p50", medians["framedex"], "us", "cat", medians["framedex"] / medians["cat"])


# --- crash texts ------------------------------------------------------------------------------------------------------

CRASH_COLUMNS = (
    *("texts", "frames", "recognised", "wrong", "placed"),
    *("by path", "of", "by symbol", "of ", "by binary", "of  "),
)


@click.command()
@click.option("--index", type=click.Path(exists=True, path_type=Path), help="Index of XLA's and JAX's sources.")
def crash_texts(index: Path | None) -> list[Figure]:
    """Count the frames of crash texts that are recognised, and their source lines.

    The corpus is tests/fixtures/crash_texts; a person counted its frames. Wrong frames are those that no person
    counted. The index finds frames with a symbol only.
    """
    from tests.crash_corpus import corpus

    with Index.open(index) if index else nullcontext() as opened:
        resolver = Resolver(opened, binaries=Binaries())
        counts: dict[str, Counter[str]] = {}
        for text in corpus():
            counts.setdefault(text.producer, Counter()).update(_count_frames(text, resolver))
    table = Table("producer", *CRASH_COLUMNS, title="crash texts")
    for producer, count in counts.items():
        table.add_row(producer, *(str(count[column]) for column in CRASH_COLUMNS))
    total = sum(counts.values(), Counter())
    table.add_section()
    table.add_row("all", *(str(total[column]) for column in CRASH_COLUMNS))
    Console(width=140).print(table)
    return [
        Figure("frames recognised", total["recognised"], f"of {total['frames']:,}"),
        Figure("wrong frames", total["wrong"], "frames"),
        Figure("frames found by symbol", total["by symbol"], f"of {total['of ']}"),
        Figure("frames found by path", total["by path"], f"of {total['of']}"),
    ]


def _count_frames(text: CrashText, resolver: Resolver) -> Counter[str]:
    from tests.crash_corpus import judge

    judged = judge(read(text.text).frames(), text.frames)
    count = Counter(texts=1, frames=len(text.frames), recognised=len(judged.recognised), wrong=len(judged.wrong))
    for column, total, kind in (
        ("by path", "of", "path"),
        ("by symbol", "of ", "symbol"),
        ("by binary", "of  ", "binary"),
    ):
        count[total] = sum(frame.placeable == kind for frame in text.frames)
        count[column] = sum(
            _is_placed(found, resolver.find) for frame, found in judged.recognised if frame.placeable == kind
        )
        count["placed"] += count[column]
    return count


def _is_placed(frame: TextFrame, find: Callable[[TextFrame], object]) -> bool:
    return getattr(find(frame), "location", None) is not None


# --- spellings of symbols ---------------------------------------------------------------------------------------------

NAMESPACES = ("xla", "tsl", "jax", "pjrt", "jaxlib", "stream_executor", "ifrt")


@click.command()
@click.argument("binary", type=click.Path(exists=True, path_type=Path), required=False)
@click.option("--index", type=click.Path(exists=True, path_type=Path), help="Index of the sources of BINARY.")
@click.option("--release", help="Use the release maps of this release of jaxlib in place of an index.")
@click.option("--sample", type=int, default=300, show_default=True, help="Number of functions.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the sample.")
@click.option("--show", type=int, default=0, help="Print this many spellings of each kind that are not right.")
@click.option("--wrong", is_flag=True, help="Print only spellings that lead to another definition.")
def symbol_spellings(
    binary: Path | None, index: Path | None, release: str | None, sample: int, seed: int, show: int, wrong: bool
) -> list[Figure]:
    """Count the functions whose printed name leads to the definition of their mangled name.

    BINARY is jaxlib's library by default. A sample of functions with a known definition is printed as failure handlers
    and debuggers print them. "placed" spellings lead to any definition, "right" ones to the known one among others,
    "single" ones only to it, "wrong" ones only to others.
    """
    if (index is None) == (release is None):
        raise click.UsageError("Pass either --index or --release.")
    with Index.open(index) if index else nullcontext() as opened:
        resolver = Resolver(opened, releases=StatedReleases(f"jaxlib=={release}"))
        truth = dict(_sample_functions(binary or jaxlib_library(), resolver, sample, seed))
        table = Table("spelling", "placed", "right", "single", "wrong", title=f"{len(truth)} functions")
        figures = []
        for name, spell in SPELLINGS.items():
            counts, missed = _count_spelling(resolver, truth, spell, wrong)
            table.add_row(name, *(f"{counts[each]}" for each in ("placed", "right", "single", "wrong")))
            figures.append(Figure(f"right definitions, {name}", counts["right"], f"of {counts['placed']:,} placed"))
            for line in missed[:show]:
                print(f"{name}: {line}")
    Console().print(table)
    return figures


def _sample_functions(
    binary: Path, resolver: Resolver, size: int, seed: int
) -> Iterator[tuple[str, frozenset[tuple[str, int]]]]:
    """Mangled names of functions, with their definitions."""
    names = sorted({symbol.mangled for symbol in read_symbols(Elf.open(binary)) if symbol.mangled.startswith("_Z")})
    random.Random(seed).shuffle(names)
    found = 0
    for name in names:
        parts = parse_name(demanglers.demangle(name)).parts
        if not parts or parts[0].text not in NAMESPACES:
            continue
        places = _locations(resolver.find(_text_frame(name)))
        if places:
            found += 1
            yield name, places
        if found == size:
            return


def _count_spelling(
    resolver: Resolver,
    truth: Mapping[str, frozenset[tuple[str, int]]],
    spell: Callable[[str], str],
    only_wrong: bool,
) -> tuple[Counter[str], list[str]]:
    counts: Counter[str] = Counter()
    missed = []
    for mangled, expected in truth.items():
        spelling = spell(mangled)
        places = _locations(resolver.find(_text_frame(spelling)))
        counts["placed"] += bool(places)
        counts["right"] += bool(places & expected)
        counts["single"] += len(places) == 1 and places <= expected
        counts["wrong"] += bool(places) and not places & expected
        if not places & expected and (places or not only_wrong):
            missed.append(f"{spelling}\n    {mangled}\n    {sorted(expected)[:2]}\n    {sorted(places)[:2]}")
    return counts, missed


def _text_frame(function: str) -> TextFrame:
    return TextFrame(StackFormat.ABSL, 0, 0, 0, 0, function=function, language=Language.NATIVE)


def _locations(found: FoundFrame) -> frozenset[tuple[str, int]]:
    return frozenset((place.path, place.line) for place in (found.location, *found.candidates) if place is not None)


def _llvm(mangled: str) -> str:
    return demanglers.demangle(mangled)


def _gnu(mangled: str) -> str:
    """The name as libstdc++ prints it, for gdb, c10 and glibc."""
    demangler = demanglers.load_libstdcxx_demangler()
    return (demangler and demangler(demanglers.strip_clone_suffix(mangled))) or mangled


def _absl(mangled: str) -> str:
    """The name as absl prints it: `f<>()` for any template arguments and parameters, without a return type."""
    parts: list[str] = []
    plain = _llvm(mangled)
    if plain.startswith("_Z"):
        return plain
    for part in parse_name(plain).parts:
        text = re.sub(r"^\{lambda.*?(#\d+)?\}$", r"{lambda()\1}", part.text)
        listed = part.parameters is not None and not part.is_lambda
        text = f"~{parts[-1]}" if text == "~" and parts else text
        parts.append(text + "<>" * (part.arguments is not None) + "()" * listed)
    return "::".join(parts).removesuffix("()") + "()"


def _without_parameters(mangled: str) -> str:
    return _absl(mangled).removesuffix("()").replace("<>", "")


SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "mangled": lambda name: name,
    "mangled, with a clone's suffix": lambda name: f"{name}.cold",
    "LLVM (ASan, lldb)": _llvm,
    "GNU (gdb, c10)": _gnu,
    "GNU, a clone": lambda name: f"{_gnu(name)} [clone .cold]",
    "GNU, + 0x1a": lambda name: f"{_gnu(name)} + 0x1a",
    "LLVM, + 26": lambda name: f"{_llvm(name)} + 26",
    "GNU, arguments (gdb)": lambda name: f"{_gnu(name)} (this=0x7ffc0a1b, n=3)",
    "absl": _absl,
    "absl, cut after 100": lambda name: _absl(name)[:100],
    "GNU, cut after 120": lambda name: _gnu(name)[:120],
    "LLVM, f(...)": lambda name: f"{_absl(name).removesuffix('()')}(...)",
    "name alone": _without_parameters,
    "std::__1::": lambda name: _llvm(name).replace("std::", "std::__1::"),
}

# --- outlines of Python files -----------------------------------------------------------------------------------------


@click.command()
@click.option("--files", type=int, default=1500, show_default=True, help="Number of installed Python files.")
@click.option("--other", type=click.Path(exists=True, path_type=Path), help="site-packages with another version.")
@click.option("--package", default="jax", show_default=True, help="Package to compare with its other version.")
def outlines(files: int, other: Path | None, package: str) -> list[Figure]:
    """Count the frames that contradict their own Python file, or another version.

    Every line of every code object is a frame. No frame may contradict its own file. With --other, a frame should
    contradict the other version where its line differs.
    """
    warnings.simplefilter("ignore")  # from compiling the files
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is not installed. Install it, or pass --package.")
    site = Path(spec.origin).parents[1]
    paths = sorted(site.rglob("*.py"))
    random.Random(1).shuffle(paths)
    known = Outlines()
    verdicts: Counter[str] = Counter()
    began = time.perf_counter()
    for file in paths[:files]:
        for name, line in _code_lines(file):
            verdicts[_fit_of(known, file, name, line)] += 1
    print(f"own files, {files}: {dict(verdicts)}, {time.perf_counter() - began:.1f} s")
    contradicted = verdicts[OutlineMatch.CONTRADICTS.name.lower()]
    figures = [Figure("lines that contradict their own file", contradicted, f"of {verdicts.total():,}")]
    if other is not None:
        counts = _compare_versions(known, site, other, package)
        print(f"another version: {dict(counts)}")
        for kind in ("another", "the same"):
            found = counts[f"{kind} line, {OutlineMatch.CONTRADICTS.name.lower()}"]
            total = sum(count for key, count in counts.items() if key.startswith(f"{kind} line"))
            title = f"lines that contradict another version, where it has {kind} line"
            figures.append(Figure(title, 100 * found / max(total, 1), "%"))
    return figures


def _compare_versions(outlines: Outlines, site: Path, other: Path, package: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for file in sorted((site / package).rglob("*.py")):
        other_file = other / file.relative_to(site)
        if not other_file.is_file() or "test" in file.name:
            continue
        ours, theirs = (path.read_text().split("\n") for path in (file, other_file))
        for name, line in _code_lines(file):
            is_same = line <= len(theirs) and ours[line - 1] == theirs[line - 1]
            verdict = _fit_of(outlines, other_file, name, line)
            counts[f"{'the same' if is_same else 'another'} line, {verdict}"] += 1
    return counts


def _fit_of(outlines: Outlines, file: Path, name: str, line: int) -> str:
    outline = outlines.outline_of(str(file))
    verdict = outline.fit(name, line, Language.PYTHON) if outline is not None else OutlineMatch.UNKNOWN
    return verdict.name.lower()


def _code_lines(file: Path) -> Iterator[tuple[str, int]]:
    """The name and each line of every code object of a file."""
    try:
        pending = [compile(file.read_bytes(), str(file), "exec")]
    except (SyntaxError, ValueError, OSError):
        return
    while pending:
        code = pending.pop()
        pending += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        for line in {line for *_, line in code.co_lines() if line}:
            yield code.co_name, line
