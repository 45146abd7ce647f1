"""Frames of jaxlib's libraries lead to the sources of its release, without local copies.

The captures are of real programs, the maps are those that framedex ships.
"""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from framedex.base.progress import Progress
from framedex.captures import read_capture
from framedex.index import Index, Store
from framedex.index.write import aggregates
from framedex.index.write.sources import SourceTables
from framedex.ingest import CaptureFrameNamer, SilentProgress, find_sources, ingest_captures, pipeline, release_maps
from framedex.ingest.locations import locate_functions
from framedex.ingest.recorded_binaries import RecordedBinaries
from framedex.ingest.report import IndexingReport
from framedex.ingest.source_maps import import_map
from framedex.model import (
    CallFilter,
    Capture,
    FrameRole,
    FrameRow,
    LaunchInfo,
    Location,
    LocationEvidence,
    NativeFrame,
    is_of_nearest_release,
)
from framedex.path_resolution.files import file_exists
from framedex.sources.release_maps import open_release_maps
from framedex.sources.release_maps.reader import SHIPPED, ReleaseMap
from framedex.sources.source_map import write_map
from framedex.texts.places import format_location_labels
from tests.indexer.recorded import Project, middle_of, module_of
from tests.one_put import recorded_put
from tests.oracle.whole_captures import add_capture

BOUNDARY = "PJRT_Client_BufferFromHostBuffer"
INNERMOST = "xla::PjRtCApiClient::BufferFromHostBuffer"
XLA = "xla/pjrt/c_api_client/pjrt_c_api_client.cc"


@pytest.fixture(scope="module")
def recorded() -> Path:
    """A capture of a program that moves an array to the device."""
    return recorded_put()


@pytest.fixture(scope="module")
def first(recorded: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, IndexingReport]:
    """The index of that capture alone, which tests copy, and its report."""
    index = tmp_path_factory.mktemp("first") / "index.db"
    with Store(index) as store:
        return index, ingest_captures(store, [recorded], [], SilentProgress())


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """The path of a test's index."""
    return tmp_path / ".framedex" / "index.db"


@pytest.fixture
def indexed(first: tuple[Path, IndexingReport], index: Path) -> Path:
    """The index of the capture."""
    index.parent.mkdir()
    return Path(shutil.copy(first[0], index))


def of_release(capture: Path, version: str, folder: Path) -> Capture:
    """The capture, changed as if this jaxlib release was recorded, in its own environment below `folder`."""
    read = read_capture(capture)
    site = next(module.path for module in read.modules if "/jaxlib/" in module.path).partition("/jaxlib/")[0]
    environment = folder / version / "site-packages"
    environment.mkdir(parents=True)
    (environment / "jaxlib").symlink_to(f"{site}/jaxlib")
    modules = (replace(m, path=m.path.replace(f"{site}/jaxlib/", f"{environment}/jaxlib/")) for m in read.modules)
    launch = LaunchInfo(packages={"jax": version, "jaxlib": version})
    metadata = replace(read.metadata, launch=launch, started_unix_ns=len(list(folder.iterdir())))
    return replace(read, path=capture.with_name(version), metadata=metadata, modules=tuple(modules))


def trace_of(index: Path, capture: int = 1) -> tuple[FrameRow, ...]:
    with Index.open(index) as opened:
        calls = opened.calls.find(CallFilter())
        call = next(call for call in calls if call.function == BOUNDARY and call.capture == capture)
        trace = opened.calls.trace(call.id)
        assert trace is not None
        return trace.frames


def place(frames: tuple[FrameRow, ...], name: str = INNERMOST) -> Location:
    (found,) = (frame.location for frame in frames if frame.function.name == name)
    assert found is not None
    return found


def leads_somewhere(location: Location | None) -> bool:
    return location is not None and (file_exists(location.path) or location.url is not None)


def of_this_release(component: str) -> ReleaseMap:
    found = open_release_maps().nearest(component, importlib.metadata.version("jaxlib"))
    assert found is not None
    return found


def commit_of(component: str, release: str) -> str:
    found = open_release_maps().nearest(component, release)
    assert found is not None
    return found.info.commit


def add(index: Path, *captures: Capture) -> None:
    with Store(index) as store:
        for capture in captures:
            add_capture(store, capture, CaptureFrameNamer())
        find_sources(store, SilentProgress())


def test_every_frame_of_a_first_trace_has_a_link(first: tuple[Path, IndexingReport]) -> None:
    index, report = first

    frames = trace_of(index)
    code = [frame for frame in frames if frame.function.role is FrameRole.CODE and frame.function.symbol]
    assert len(code) > 8
    assert [frame.function.name for frame in code if not leads_somewhere(frame.location)] == []
    jaxlib = [frame.location for frame in code if frame.function.module.endswith("libjax_common.so")]
    assert LocationEvidence.EXACT not in {location.how for location in jaxlib if location}
    assert any("github.com/jax-ml/jax" in (location.url or "") for location in jaxlib if location)
    found = place(frames)
    is_nearest = of_this_release("xla").is_nearest  # this JAX version has no map
    assert found.path.endswith(f":{XLA}") and is_of_nearest_release(found.path) == is_nearest
    assert ("nearest release" in format_location_labels(found)) == is_nearest
    assert found.url is not None and f"/openxla/xla/blob/{found.url.split('/')[6]}/{XLA}#L{found.line}" in found.url
    totals = report.totals
    assert totals.native_released > 5 and totals.native_nearest == (totals.native_released if is_nearest else 0)
    assert report.sources.problems == []


def test_the_index_stores_only_locations_of_release_maps(indexed: Path) -> None:
    with Store(indexed) as store:
        assert store.sources.maps() == [] and store.map_files() == []
        assert store.sources.definitions("BufferFromHostBuffer", "cpp") == []


def test_a_release_without_a_map_uses_the_nearest_and_is_marked(recorded: Path, index: Path, tmp_path: Path) -> None:
    add(index, of_release(recorded, "0.99.0", tmp_path))

    newest = open_release_maps().releases[-1]
    for component, name in (("xla", INNERMOST), ("jaxlib", "jax::DevicePutWithSharding")):
        found = place(trace_of(index), name)
        commit = commit_of(component, newest)
        assert found.path.startswith(f"{component}@{commit[:12]}+nearest:")
        assert "nearest release" in format_location_labels(found) and found.how is not LocationEvidence.EXACT
        assert found.url is not None and f"/blob/{commit}/" in found.url


def test_definitions_in_both_neighbouring_releases_are_marked(recorded: Path, index: Path, tmp_path: Path) -> None:
    """0.8.2 and 0.8.3 were built from the same commit of XLA, so a release between them has its lines."""
    add(index, of_release(recorded, "0.8.2.1", tmp_path))

    found = place(trace_of(index))
    commit = commit_of("xla", "0.8.3")
    assert found.path.startswith(f"xla@{commit[:12]}+unchanged:")
    assert "same in both neighbouring releases" in format_location_labels(found)
    assert found.how is not LocationEvidence.EXACT
    assert found.url is not None and f"/blob/{commit}/" in found.url


@pytest.mark.exhaustive
def test_each_release_in_an_index_uses_its_own_map(recorded: Path, index: Path, tmp_path: Path) -> None:
    releases = ("0.9.0", "0.10.0", "0.10.2")
    add(index, *(of_release(recorded, release, tmp_path) for release in releases))

    found = [place(trace_of(index, number)).path for number, _ in enumerate(releases, 1)]
    assert found == [f"xla@{commit_of('xla', release)[:12]}:{XLA}" for release in releases]


def test_a_source_folder_overrides_the_map_until_it_is_removed(recorded: Path, indexed: Path, tmp_path: Path) -> None:
    source = tmp_path / "xla" / "moved.cc"
    source.parent.mkdir()
    source.write_text(
        "namespace xla {\n\nint PjRtCApiClient::BufferFromHostBuffer(\n"
        "    const void* data, PrimitiveType type, absl::Span<int64_t const> dims,\n"
        "    std::optional<absl::Span<int64_t const>> byte_strides, HostBufferSemantics host_buffer_semantics,\n"
        "    absl::AnyInvocable<void() &&> on_done_with_host_buffer, PjRtMemorySpace* memory_space,\n"
        "    const Layout* device_layout) {\n  return 1;\n}\n\n}  // namespace xla\n"
    )
    before = place(trace_of(indexed))
    with Store(indexed) as store:
        ingest_captures(store, [recorded], [source.parent], SilentProgress())
        assert place(trace_of(indexed)).path == str(source)

        store.sources.remove_root(str(source.parent))
        find_sources(store, SilentProgress())
    assert place(trace_of(indexed)) == before


def test_an_imported_map_overrides_the_shipped_one_until_removed(indexed: Path, tmp_path: Path) -> None:
    before = place(trace_of(indexed))
    with Store(indexed) as store:
        release = of_this_release("xla")
        file = release.file(XLA)
        rows = [(*row[:4], row[4] + 7, row[5] + 7, *row[6:8], None) for row in file.definitions]
        shifted = replace(file, definitions=rows)
        own = tmp_path / "xla.fdmap"
        with own.open("wb") as stream:
            write_map(stream, replace(release.info, repository="https://example.org/fork", tool="test"), [shifted])
        import_map(store, own, SilentProgress())
        imported = place(trace_of(indexed))
        assert imported.path == before.path.replace("+nearest", "") and imported.line > before.line - 40
        assert imported.url is not None and imported.url.startswith("https://example.org/fork/")

        store.sources.remove_map("xla")
        find_sources(store, SilentProgress())
    assert place(trace_of(indexed)) == before


@pytest.mark.exhaustive(keep=["cut off"])
@pytest.mark.parametrize("damage", ["missing", "cut off", "foreign"])
def test_without_release_maps_indexing_continues_warns_once_and_recovers_later(
    recorded: Path, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    maps = tmp_path / "releases.fdmaps"
    if damage != "missing":
        content = SHIPPED.read_bytes()
        maps.write_bytes(content[: len(content) // 2] if damage == "cut off" else b"something else")
    monkeypatch.setattr(release_maps, "find_release_maps", lambda: maps)
    with Store(index) as store:
        report = ingest_captures(store, [recorded], [], SilentProgress())
        (problem,) = report.sources.problems
        assert str(maps) in problem and "Install framedex again" in problem
        assert report.totals.native_named > 20 and report.totals.native_released == 0

        monkeypatch.setattr(release_maps, "find_release_maps", lambda: SHIPPED)
        report = ingest_captures(store, [recorded], [], SilentProgress())
        assert report.sources.problems == [] and report.totals.native_released > 5


def test_damaged_maps_end_the_early_search(
    recorded: Path, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release_maps, "find_release_maps", lambda: tmp_path / "gone.fdmaps")
    found = []

    def count(tables: SourceTables, progress: Progress, binaries: RecordedBinaries) -> list[str]:
        found.append(locate_functions(tables, progress, binaries))
        return found[-1]

    monkeypatch.setattr(pipeline, "locate_functions", count)
    other = Path(shutil.copytree(recorded, tmp_path / "other"))
    metadata = json.loads((other / "capture.json").read_text())
    (other / "capture.json").write_text(json.dumps(metadata | {"pid": 1}))
    with Store(index) as store:
        report = ingest_captures(store, [recorded, other], [], SilentProgress())

    assert len(report.captures) == 2
    assert [len(problems) for problems in found] == [1, 1]  # after the first capture, and after both


def test_line_totals_are_computed_once(recorded: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames have their lines when calls are counted by line."""
    rebuilt = []
    monkeypatch.setattr(aggregates, "rebuild_line_totals", lambda *_: rebuilt.append(True))
    with Store(index) as store:
        report = ingest_captures(store, [recorded], [], SilentProgress())

    assert report.totals.native_released > 5 and not rebuilt


def test_locations_stay_if_the_maps_are_damaged_later(
    recorded: Path, indexed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = place(trace_of(indexed))
    monkeypatch.setattr(release_maps, "find_release_maps", lambda: tmp_path / "gone.fdmaps")
    with Store(indexed) as store:
        ingest_captures(store, [recorded], [], SilentProgress())
    assert place(trace_of(indexed)) == before


# A library with XLA's names only, and one function with the name of one in XLA's port.cc.
OWN = """\
#define KEPT __attribute__((noinline, used))
namespace Foo { KEPT int Run(int value) { volatile int copy = value; return copy; } }
namespace mlir { KEPT int verify(int value) { volatile int copy = value; return copy; } }
extern "C" KEPT int PJRT_Client_Compile(int value) { volatile int copy = value; return copy; }
extern "C" KEPT int GetPjrtApi() { volatile int copy = 1; return copy; }
namespace tsl { namespace port { static KEPT int NumSchedulableCPUs() { volatile int copy = 1; return copy; } } }
"""
STRANGE = {
    "Foo::Run": "_ZN3Foo3RunEi",
    "mlir::verify": "_ZN4mlir6verifyEi",
    "PJRT_Client_Compile": "PJRT_Client_Compile",
    "GetPjrtApi": "GetPjrtApi",
}
NAMED_BY_XLA = {"tsl::port::NumSchedulableCPUs": "_ZN3tsl4portL18NumSchedulableCPUsEv"}


def places_in_own_library(project: Project, source: str) -> dict[str, Location | None]:
    """The locations of functions of a library compiled from a missing file of this name."""
    compiled = project.folder / source
    compiled.write_text(OWN)
    library = project.folder / "libown.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", source, "-o", library.name], cwd=project.folder, check=True)
    compiled.unlink()
    symbols = STRANGE | NAMED_BY_XLA
    own = tuple(NativeFrame(2, middle_of(library, symbol)) for symbol in symbols.values())
    first = len(project.capture.frames)
    stack, *others = project.capture.stacks
    capture = project.again(
        source,
        modules=(*project.capture.modules, module_of(library)),
        frames=(*project.capture.frames, *own),
        stacks=(replace(stack, frames=(*range(first, first + len(own)), *stack.frames)), *others),
    )
    with project.ingest(capture=capture) as opened:
        return {name: opened.functions.find(name)[0].location for name in symbols}


def test_functions_of_an_unrelated_library_never_resolve_to_xla(project: Project) -> None:
    assert set(places_in_own_library(project, "own.cc").values()) == {None}


def test_xla_functions_in_a_foreign_library_lead_to_the_nearest_release(project: Project) -> None:
    places = places_in_own_library(project, "port.cc")

    found = places.pop(*NAMED_BY_XLA)
    assert found is not None and is_of_nearest_release(found.path)
    assert found.path.endswith("xla/tsl/platform/default/port.cc")
    assert set(places.values()) == {None}


def test_a_function_named_like_one_of_jaxlib_does_not_replace_it(recorded: Path, index: Path, tmp_path: Path) -> None:
    source = tmp_path / "kernel.cc"
    source.write_text(
        "namespace xla {\nstruct PjRtCApiClient { int BufferFromHostBuffer(int); };\n"
        "int PjRtCApiClient::BufferFromHostBuffer(int value) { volatile int copy = value; return copy; }\n}\n"
    )
    library = tmp_path / "libkernel.so"
    subprocess.run(["g++", "-shared", "-fPIC", "-g", source, "-o", library], check=True)
    read = read_capture(recorded)
    own = NativeFrame(len(read.modules), middle_of(library, "_ZN3xla14PjRtCApiClient20BufferFromHostBufferEi"))
    stack, *others = read.stacks
    capture = replace(
        read,
        modules=(*read.modules, module_of(library)),
        frames=(*read.frames, own),
        stacks=(replace(stack, frames=(len(read.frames), *stack.frames)), *others),
    )

    add(index, capture)

    assert place(trace_of(index)).path.endswith(f":{XLA}")
    with Index.open(index) as opened:
        found = {function.location.path for function in opened.functions.find(INNERMOST) if function.location}
    assert str(source) in found and len(found) == 2
