"""Release maps and source maps: their size, the time to read them, and agreement with checkouts."""

from __future__ import annotations

import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from benchmarks.binaries import NAMESPACES, SourceTrees, symbols_of
from benchmarks.figures import Figure
from benchmarks.processes import ROOT, bytecode_environment, jax_folder, run_framedex, run_measured
from framedex.binaries.names import parse_name
from framedex.model import GENERATOR_LANGUAGES, Definition, LocationEvidence, NativeSymbol
from framedex.sources import iterate_generated_scopes, match_generating_definition, match_symbol, short_name
from framedex.sources.names import build_key
from framedex.sources.release_maps import ReleaseMap, ReleaseMaps, open_release_maps
from framedex.sources.release_maps.format import read_content
from framedex.sources.release_maps.reader import SHIPPED

# --- release maps -----------------------------------------------------------------------------------------------------

_COMPONENTS = ("xla", "jaxlib")
_ROUNDS = 7
_MAX_NAMESAKES, _MAX_BODY_LINES = 12, 400  # as in framedex.sources.bodies


@click.command()
@click.argument("maps", type=click.Path(exists=True, path_type=Path), default=SHIPPED)
def release_map_sizes(maps: Path) -> list[Figure]:
    """Print the size of each part of the release maps as JSON.

    MAPS is the file that framedex ships by default.
    """
    data = maps.read_bytes()
    content = read_content(data)
    decompressed = sum(len(content.file(number)) for number in range(len(content.paths)))
    read_ms = _median_ms(lambda: _read_all(open_release_maps(maps)), 1)
    sizes = {
        "bytes": len(data),
        "releases": len(content.releases),
        "files": len(content.paths),
        "names_bytes": len(content.names),
        "dictionary_bytes": len(content.dictionary),
        "files_bytes": len(content.files),
        "files_decompressed_bytes": decompressed,
        "read_all_ms": read_ms,
    }
    print(json.dumps(sizes, indent=2))
    return [
        Figure(f"release maps of {len(content.releases)} releases", len(data) / 1e6, "MB"),
        Figure("files in the release maps, decompressed", decompressed / 1e6, "MB"),
        Figure("reading every file of a release", read_ms, "ms of a processor"),
    ]


def _read_all(maps: ReleaseMaps) -> None:
    for component in _COMPONENTS:
        if found := maps.nearest(component, maps.releases[-1]):
            for path in found.paths():
                found.file(path)


@click.command()
@click.argument("index", type=click.Path(exists=True, path_type=Path))
def release_map_reading(index: Path) -> list[Figure]:
    """Measure finding the recorded functions of an index in the release maps.

    `framedex index` created INDEX without sources. Each part starts with opened maps and nothing else in memory. The
    bodies are those of all functions that a placed function calls, and of their callees: more than a trace reads.
    """
    rows = sqlite3.connect(index).execute("SELECT DISTINCT symbol, unit FROM functions WHERE mangled <> ''").fetchall()
    symbols = [_native_symbol(symbol, unit) for symbol, unit in rows]
    look_ups = [
        _lookup_key(symbol) for symbol in symbols if parse_name(symbol.symbol).key[:1] in [(e,) for e in NAMESPACES]
    ]
    maps = _open_maps()
    located = [found for each in look_ups for found in match_symbol(each[0], _candidates(maps, each))[1][:1]]
    files = {path for path, _ in located}
    placed = {(path, definition.line, definition.end_line) for path, definition in located}
    called = {
        call.callee
        for path in files
        for each in maps
        for span, calls in each.calls_in_file(path).items()
        if (path, *span) in placed
        for call in calls
    }
    names = called.union(*(calls for name in called for calls in _bodies(maps, name)))
    parts = {
        "opening the release maps": _median_ms(_open_maps),
        f"finding {len(look_ups)} functions": _median_ms_with_maps(
            lambda maps: [_candidates(maps, each) for each in look_ups]
        ),
        f"reading the calls of {len(files)} files": _median_ms_with_maps(
            lambda maps: [dict(each.calls_in_file(path)) for path in files for each in maps]
        ),
        f"reading the bodies of {len(names)} functions": _median_ms_with_maps(
            lambda maps: [_bodies(maps, name) for name in names]
        ),
    }
    print(json.dumps({"placed": len(located), **parts}, indent=2))
    return [Figure(name, milliseconds, "ms of a processor") for name, milliseconds in parts.items()]


@click.command()
@click.argument("binary", type=click.Path(exists=True, path_type=Path))
@click.argument("release")
@click.argument("trees", nargs=2, metavar="XLA JAXLIB", type=click.Path(exists=True, path_type=Path))
def release_map_agreement(binary: Path, release: str, trees: tuple[Path, Path]) -> list[Figure]:
    """Compare the definitions of a library's functions in the release maps and in checkouts.

    XLA and JAXLIB are trees of the commits of the jaxlib RELEASE, or of the nearest release.
    """
    checkout = SourceTrees(trees)
    maps = _open_maps(release)
    counts = Counter[str]()
    differing = []
    began = time.process_time()
    for symbol in symbols_of(binary, NAMESPACES):
        look_up = _lookup_key(symbol)
        how, found = match_symbol(symbol, _candidates(maps, look_up))
        there_how, there = match_symbol(symbol, _relative_to_trees(checkout.definitions(look_up[1]), trees))
        if how is None and there_how is None:
            how, found = match_generating_definition(symbol, _generating(maps, symbol))
            scopes = dict.fromkeys(iterate_generated_scopes(symbol))
            there_candidates = [each for scope in scopes for each in checkout.generating(scope)]
            there_how, there = match_generating_definition(symbol, _relative_to_trees(there_candidates, trees))
            if how or there_how or (symbol.unit or "").endswith(".pb.cc"):
                counts["generated code"] += 1
        counts["functions"] += 1
        counts[f"map: {_outcome(how)}"] += 1
        counts[f"checkout: {_outcome(there_how)}"] += 1
        if (how, _locations(found)) == (there_how, _locations(there)):
            counts["the same"] += 1
        else:
            differing.append(
                f"{symbol.symbol} ({symbol.unit}): {how} {_locations(found)} / {there_how} {_locations(there)}"
            )
    result = {
        "release": maps[0].release,
        "is_nearest": maps[0].is_nearest,
        **dict(sorted(counts.items())),
        "processor_s": round(time.process_time() - began, 1),
        "differing": differing[:20],
    }
    print(json.dumps(result, indent=2))
    share = 100 * counts["the same"] / max(counts["functions"], 1)
    return [Figure(f"functions of jaxlib {release} with the same definitions as in checkouts", share, "%")]


_LookupKey = tuple[NativeSymbol, str, tuple[str, ...]]  # the symbol, and the key of its look-up


def _lookup_key(symbol: NativeSymbol) -> _LookupKey:
    return symbol, short_name(symbol.symbol), build_key(parse_name(symbol.symbol))


def _native_symbol(symbol: str, unit: str) -> NativeSymbol:
    return NativeSymbol("", symbol, "", None, 0, inlined=False, unit=unit or None)


def _open_maps(release: str = "0.10.2") -> list[ReleaseMap]:
    maps = open_release_maps()
    return [found for component in _COMPONENTS if (found := maps.nearest(component, release))]


def _candidates(maps: list[ReleaseMap], look_up: _LookupKey) -> list[tuple[str, Definition]]:
    _, short, key = look_up
    return [found for each in maps for found in each.definitions(short, key)]


def _generating(maps: list[ReleaseMap], symbol: NativeSymbol) -> list[tuple[str, Definition]]:
    scopes = dict.fromkeys(iterate_generated_scopes(symbol))
    return [
        found
        for scope in scopes
        for each in maps
        for language in GENERATOR_LANGUAGES
        for found in each.definitions(scope, language=language)
    ]


def _bodies(maps: list[ReleaseMap], name: str) -> list[Counter[str]]:
    return [calls for each in maps for calls in each.calls_in_bodies(name, False, _MAX_NAMESAKES, _MAX_BODY_LINES)]


def _relative_to_trees(candidates: Sequence[tuple[str, Definition]], trees: Sequence[Path]) -> list[_Candidate]:
    """Make paths relative to the trees, and drop declarations, which maps do not have."""
    tops = tuple(f"{tree.resolve()}/" for tree in trees)
    return [
        (path.removeprefix(next(top for top in tops if path.startswith(top))), definition)
        for path, definition in candidates
        if definition.kind != "declaration"
    ]


_Candidate = tuple[str, Definition]


def _outcome(how: LocationEvidence | None) -> str:
    return "none" if how is None else "several" if how is LocationEvidence.CANDIDATES else "one"


def _locations(found: Sequence[tuple[str, Definition]]) -> list[str]:
    return [f"{path}:{definition.line}" for path, definition in found]


def _median_ms_with_maps(work: Callable[[list[ReleaseMap]], object]) -> float:
    """Median milliseconds of processor time, with newly opened maps for each round."""
    return statistics.median(_time_once(work, _open_maps()) for _ in range(_ROUNDS))


def _median_ms(work: Callable[[], object], rounds: int = _ROUNDS) -> float:
    return statistics.median(_time_once(lambda _: work(), []) for _ in range(rounds))


def _time_once(work: Callable[[list[ReleaseMap]], object], maps: list[ReleaseMap]) -> float:
    began = time.process_time()
    work(maps)
    return round((time.process_time() - began) * 1000, 1)


# --- the first trace --------------------------------------------------------------------------------------------------

_OPTIONAL_MAPS = """
import sys
from pathlib import Path
from framedex.ingest import release_maps
if sys.argv.pop(1) == "without":
    release_maps.find_release_maps = lambda: Path("/proc/self/no-maps")
from framedex.commands.main import cli
cli(prog_name="framedex")
"""
_DEMO = ROOT / "indexer" / "framedex" / "demo" / "device_put.py"


@click.command()
@click.option("--program", type=click.Path(exists=True, path_type=Path), default=_DEMO, help="Program to record.")
@click.option("--rounds", type=int, default=15, show_default=True, help="Number of rounds.")
@click.option("--source", "sources", type=click.Path(path_type=Path), multiple=True, help="Source tree; repeatable.")
@click.option("--checkouts", type=click.Path(path_type=Path), nargs=2, help="Checkouts of XLA and JAX to compare with.")
def first_trace(
    program: Path, rounds: int, sources: tuple[Path, ...], checkouts: tuple[Path, Path] | None
) -> list[Figure]:
    """Measure `framedex index` of a first capture, with and without release maps.

    Records the program on the mock TPU, then indexes its capture in turns. Without --source, the folders of
    `make demo` are indexed too. With --checkouts at the commits of the installed jaxlib, counts the frames with the
    same file and line in both.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run_side("with", "run", "-o", folder / "captures", program.absolute(), folder=folder)
        trees = sources or (jax_folder(), ROOT / "native")
        options = [option for tree in trees for option in ("--source", tree.absolute())]
        sides = ("with", "without")
        seconds: dict[str, list[float]] = {side: [] for side in sides}
        totals, sizes = {}, {}
        for number in range(-1, rounds):  # the first round warms the disk's cache
            for side in sides[:: 1 if number % 2 else -1]:
                index = folder / f"{side}.db"
                index.unlink(missing_ok=True)
                index.with_name(f"{index.name}.seal").unlink(missing_ok=True)
                command = ("--index", index, "index", folder / "captures", *options, "--json")
                output, taken = _run_side(side, *command, folder=folder)
                totals[side], sizes[side] = json.loads(output)["totals"], index.stat().st_size
                if number >= 0:
                    seconds[side].append(taken)
        agreement = _count_agreement(folder, [checkout.absolute() for checkout in checkouts or ()])
    with_s, without_s = (statistics.median(seconds[side]) for side in sides)
    differences = [one - other for one, other in zip(seconds["with"], seconds["without"], strict=True)]
    result = {
        "rounds": rounds,
        "with_s": round(with_s, 3),
        "without_s": round(without_s, 3),
        "difference_s": round(statistics.median(differences), 3),
        "quartiles_s": [round(each, 3) for each in statistics.quantiles(differences, n=4)[::2]],
        "frames_in_release_maps": totals["with"]["native_released"],
        "index_bytes": sizes["with"],
        "index_bytes_more": sizes["with"] - sizes["without"],
        **agreement,
    }
    print(json.dumps(result, indent=2))
    unit, peer = "s of a processor", "index without release maps"
    figures = [Figure(f"index of {program.name} with release maps", with_s, unit, peer, with_s / without_s)]
    if compared := agreement.get("compared"):
        figures.append(Figure("frames on the same line as with checkouts", agreement["same_line"], f"of {compared}"))
    return figures


def _count_agreement(folder: Path, checkouts: list[Path]) -> dict[str, int]:
    """Count the frames of `with.db` with the same file and line in an index of these checkouts."""
    if not checkouts:
        return {}
    options = [option for checkout in checkouts for option in ("--source", checkout)]
    _run_side("without", "--index", folder / "tree.db", "index", folder / "captures", *options, folder=folder)
    released, read = (_frame_locations(folder / name, checkouts) for name in ("with.db", "tree.db"))
    pairs = [(location, read.get(frame)) for frame, location in released.items()]
    return {
        "compared": len(pairs),
        "same_file": sum(other is not None and location[0] == other[0] for location, other in pairs),
        "same_line": sum(location == other for location, other in pairs),
    }


def _frame_locations(index: Path, checkouts: list[Path]) -> dict[tuple[str, int, int], tuple[str, int]]:
    """The relative path and line of native frames, by module, offset and depth."""
    connection = sqlite3.connect(index)
    rows = connection.execute(
        "SELECT m.path, fr.offset, fr.depth, f.path, fr.line FROM frames fr JOIN modules m ON m.id = fr.module"
        " JOIN files f ON f.id = fr.file"
    ).fetchall()
    connection.close()
    prefixes = [f"{checkout}/" for checkout in checkouts]
    found = {}
    for *frame, path, line in rows:
        top = next((prefix for prefix in prefixes if path.startswith(prefix)), None)
        inside = path[len(top) :] if top else path.partition(":")[2]
        if inside:
            found[frame[0], frame[1], frame[2]] = (inside, line)
    return found


def _run_side(side: str, *arguments: str | Path, folder: Path) -> tuple[str, float]:
    """Run framedex with or without release maps; return its output and its seconds of processor time."""
    cost = run_measured([sys.executable, "-c", _OPTIONAL_MAPS, side, *arguments], folder, bytecode_environment())
    return cost.output, cost.processor_s


# --- source maps ------------------------------------------------------------------------------------------------------


@click.command()
@click.argument("root", type=click.Path(exists=True, path_type=Path))
@click.option("--no-calls", is_flag=True, help="Export the map without calls.")
def source_map(root: Path, no_calls: bool) -> list[Figure]:
    """Measure exporting and importing a source map, against indexing the sources of ROOT."""
    commit = ["--commit", "0" * 40] if not (root / ".git").exists() else []
    options = ["--component", "measured", *commit, *(["--no-calls"] if no_calls else [])]
    tree = root.absolute()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        index, other, exported = folder / "index.db", folder / "other.db", folder / "measured.fdmap"
        indexing = run_framedex(folder, "--index", index, "index", "--source", tree)
        export: tuple[str | Path, ...] = ("sources", "export", tree, "-o", exported, *options)
        exporting = run_framedex(folder, "--index", index, *export)
        first = exported.read_bytes()
        without_index = run_framedex(folder, "--index", other, *export)
        is_same = exported.read_bytes() == first
        importing = run_framedex(folder, "--index", other, "sources", "import", exported)
        again = run_framedex(folder, "--index", other, "sources", "import", exported)
        result = {
            "map_bytes": len(first),
            "index_bytes": index.stat().st_size,
            "same_bytes_without_an_index": is_same,
            "index_s": round(indexing.wall_s, 2),
            "export_s": round(exporting.wall_s, 2),
            "export_without_index_s": round(without_index.wall_s, 2),
            "import_s": round(importing.wall_s, 2),
            "import_again_s": round(again.wall_s, 2),
            "import_peak_mib": round(again.memory_mib, 1),
        }
    print(json.dumps(result, indent=2))
    ratio, unit = importing.wall_s / indexing.wall_s, "s"
    return [
        Figure(f"import of a source map of {root.name}", importing.wall_s, unit, "indexing the tree", ratio),
        Figure(f"size of a source map of {root.name}", len(first) / 1e6, "MB"),
    ]
