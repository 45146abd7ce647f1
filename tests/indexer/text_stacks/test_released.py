"""Frames of XLA and JAX in texts, resolved by release maps: the release, the marks, and unresolvable ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from framedex.index import Index
from framedex.model import LaunchInfo, LocationEvidence, SourceMapInfo
from framedex.sources.extraction import extract_files
from framedex.sources.release_maps import ReleasedFile, ReleaseSources, build_released_file, write_release_maps
from framedex.sources.releases import read_release_commits
from framedex.sources.releases.statements import StatedReleases
from framedex.text_stacks import read
from framedex.text_stacks.source_lookup.frame_context import FoundFrame
from framedex.text_stacks.source_lookup.released import ReleasedSources
from framedex.text_stacks.source_lookup.resolve import Resolver
from framedex.texts.places import format_location_labels
from tests.indexer.recorded import Project

RELEASES = ("0.10.1", "0.10.2")
CLIENT = """\
namespace xla {
void PjRtClient::Compile(int module) {}
void PjRtClient::Load(int a) {}
void PjRtClient::Load(int a, int b) {}
}
"""
MORE = "// a line more in the later release\n"
JAXLIB = "namespace jax { void Register() {} }\n"
ADDRESSES = {"xla": "https://github.com/openxla/xla", "jaxlib": "https://github.com/jax-ml/jax"}


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The maps of two releases; the later one has all of `client.cc` one line further down."""
    folder = tmp_path_factory.mktemp("maps")
    sources = [
        _sources(folder, "xla", "xla/pjrt/client.cc", (CLIENT, MORE + CLIENT)),
        _sources(folder, "jaxlib", "jaxlib/ffi.cc", (JAXLIB, JAXLIB)),
    ]
    path = folder / "releases.fdmaps"
    path.write_bytes(write_release_maps(RELEASES, sources))
    return path


def _sources(folder: Path, component: str, path: str, texts: tuple[str, ...]) -> ReleaseSources:
    files: list[dict[str, ReleasedFile]] = []
    for text in texts:
        (folder / "source.cc").write_text(text)
        (file,) = extract_files([str(folder / "source.cc")])
        files.append({path: build_released_file(file, text.encode())})
    return ReleaseSources([_info(component, release) for release in RELEASES], files)


def _info(component: str, release: str) -> SourceMapInfo:
    return SourceMapInfo(component, ADDRESSES[component], commit_of(component, release), is_dirty=False, tool="test")


def commit_of(component: str, release: str) -> str:
    return read_release_commits(release)["xla" if component == "xla" else "jax"]


def found(text: str, maps: Path, index: Index | None = None) -> list[FoundFrame]:
    """The resolved frames of a text."""
    releases = StatedReleases(text)
    resolver = Resolver(index, releases=releases, released=ReleasedSources(index, releases, path=maps))
    frames = list(read(text).frames())
    resolver.set_program(*frames)
    return [resolver.find(frame) for frame in frames]


def place(text: str, maps: Path, index: Index | None = None) -> tuple[str | None, list[str]]:
    """The public address of the only resolved frame, and its labels."""
    (location,) = [each.location for each in found(text, maps, index) if each.location is not None]
    return location.url, format_location_labels(location)


def address(line: int, release: str, path: str = "xla/pjrt/client.cc", component: str = "xla") -> str:
    return f"{ADDRESSES[component]}/blob/{commit_of(component, release)}/{path}#L{line}"


ABSL = "*** SIGSEGV received at time=1700000000 on cpu 3 ***\n    @     0x7f8ace4a5291       1456  {}\n"
GDB = "#0  0x00007f8ace4a5291 in {} () from {}\n#1  0x00007f8ace4a5292 in main ()\n"


@pytest.mark.parametrize(("release", "line"), [("0.10.1", 2), ("0.10.2", 3)])
def test_a_function_is_found_in_the_stated_release(maps: Path, release: str, line: int) -> None:
    text = f"jaxlib=={release}\n" + ABSL.format("xla::PjRtClient::Compile()")
    assert place(text, maps) == (address(line, release), ["definition"])


@pytest.mark.parametrize("name", ["_ZN3xla10PjRtClient7CompileEi", "xla::PjRtClient::Compile(int)"])
def test_mangled_and_complete_names_are_found(maps: Path, name: str) -> None:
    assert place("jaxlib==0.10.2\n" + ABSL.format(name), maps) == (address(3, "0.10.2"), ["definition"])


def test_every_definition_kind_of_the_maps_is_found(maps: Path) -> None:
    names = [
        "xla::PjRtClient::Compile",
        "xla::PjRtClient::Compile()",
        "xla::PjRtClient::Compile(int) const",
        "xla::PjRtClient::~PjRtClient()",
        "void xla::PjRtClient::Compile<int>(int)",
        "xla::PjRtClient::Compile(int)::{lambda(int)#1}::operator()(int) const",
        "xla::PjRtClient::Compile(int)::$_0::operator()(int) const",
        "xla::PjRtClient::Compile(void (*)(int))::Local::method()",
        "xla::operator+(xla::PjRtClient const&, int)",
        "_ZN3xla10PjRtClient7CompileEi",
    ]
    released = ReleasedSources(None, StatedReleases(), path=maps)
    assert [name for name in names if not released.may_be_library_function(name)] == []


def test_a_name_with_an_undefined_last_word_is_not_searched(maps: Path) -> None:
    released = ReleasedSources(None, StatedReleases(), path=maps)
    for name in ("xla::PjRtClient::NoSuch", "xla::ns::NoSuch(int, char const*)", "jax::NoSuch()"):
        assert not released.may_be_library_function(name), name


def test_map_locations_are_never_exact_and_overloads_are_candidates(maps: Path) -> None:
    frames = found("jaxlib==0.10.2\n" + ABSL.format("xla::PjRtClient::Load()"), maps)
    (several,) = [each for each in frames if each.location is not None]
    assert several.location is not None and several.location.how is LocationEvidence.CANDIDATES
    assert {each.line for each in (several.location, *several.candidates)} == {4, 5}
    assert all(each.url for each in several.candidates)


def test_jaxlibs_own_functions_are_in_the_jax_repository(maps: Path) -> None:
    text = "jaxlib==0.10.2\n" + ABSL.format("jax::Register()")
    assert place(text, maps) == (address(1, "0.10.2", "jaxlib/ffi.cc", "jaxlib"), ["definition"])


def test_without_a_release_the_newest_is_used_and_marked(maps: Path) -> None:
    text = ABSL.format("xla::PjRtClient::Compile()")
    released = ReleasedSources(None, StatedReleases(text), path=maps)
    resolver = Resolver(None, released=released)
    (location,) = filter(None, (resolver.find(frame).location for frame in read(text).frames()))
    assert (location.url, format_location_labels(location)) == (address(3, "0.10.2"), ["definition", "nearest release"])
    assert released.assumed == "0.10.2"


@pytest.mark.parametrize(
    ("statement", "line", "release"),
    [
        ("jaxlib==0.10.3", 3, "0.10.2"),  # it has no map
        ("jaxlib==0.9.0", 2, "0.10.1"),
        ("jax==0.10.2", 3, "0.10.2"),  # runs with other releases of jaxlib
        ("jaxlib==0.10.1\njaxlib==0.10.2", 3, "0.10.2"),  # one of the two
    ],
)
def test_locations_of_an_uncertain_release_are_marked(maps: Path, statement: str, line: int, release: str) -> None:
    text = f"{statement}\n" + ABSL.format("xla::PjRtClient::Compile()")
    assert place(text, maps) == (address(line, release), ["definition", "nearest release"])


def test_the_jaxlib_installed_beside_the_frames_counts(maps: Path, tmp_path: Path) -> None:
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    (site / "jaxlib-0.10.1.dist-info").mkdir(parents=True)
    text = ABSL.format("xla::PjRtClient::Compile()") + f'\n  File "{site}/jax/_src/api.py", line 5 in jit\n'
    assert place(text, maps) == (address(2, "0.10.1"), ["definition"])
    library = f"{site}/jaxlib/libjax_common.so"
    assert place(GDB.format("xla::PjRtClient::Compile(int)", library), maps) == (address(2, "0.10.1"), ["definition"])


def test_the_recorded_jaxlib_counts_if_the_text_states_none(maps: Path, project: Project) -> None:
    codes = (replace(project.capture.codes[0], filename="/other/site-packages/jaxlib/x.py"), *project.capture.codes[1:])
    launch = LaunchInfo(packages={"jaxlib": "0.10.1"})
    metadata = replace(project.capture.metadata, launch=launch)
    with project.ingest(capture=replace(project.capture, codes=codes, metadata=metadata)) as index:
        text = ABSL.format("xla::PjRtClient::Compile()")
        assert place(text, maps, index) == (address(2, "0.10.1"), ["definition"])
        assert place("jaxlib==0.10.2\n" + text, maps, index) == (address(3, "0.10.2"), ["definition"])


def test_gpu_plugins_have_jaxlibs_release(maps: Path) -> None:
    text = "jaxlib==0.10.2\n" + GDB.format(
        "xla::PjRtClient::Compile(int)", "/venv/jax_plugins/xla_cuda12/xla_cuda_plugin.so"
    )
    assert place(text, maps) == (address(3, "0.10.2"), ["definition"])


def test_the_release_of_a_foreign_binary_is_unknown(maps: Path) -> None:
    text = "jaxlib==0.10.2\n" + GDB.format("xla::PjRtClient::Compile(int)", "/opt/vendor/lib_of_others.so")
    assert place(text, maps) == (address(3, "0.10.2"), ["definition", "nearest release"])


def test_namesakes_and_neighbours_are_never_matched(maps: Path) -> None:
    names = [
        *("PjRtClient::Compile()", "mine::PjRtClient::Compile()", "mine::xla::PjRtClient::Compile()", "Compile"),
        *(
            "xla::PjRtClient::Run()",
            "xla::Other::Compile()",
            "xla::Compile()",
            "std::function<xla::PjRtClient ()>::Compile()",
        ),
        *("myxla::PjRtClient::Compile()", "Register()", "xla::", "xla"),
    ]
    for name in names:
        text = "jaxlib==0.10.2\n" + ABSL.format(name)
        assert {each.location for each in found(text, maps)} <= {None}, name


def test_a_build_path_is_public_at_the_commit_of_the_stated_release(maps: Path) -> None:
    text = "jaxlib==0.10.1\nexternal/xla/xla/service/service.cc:690: note\n"
    assert place(text, maps) == (address(690, "0.10.1", "xla/service/service.cc"), [])
    unstated = "external/xla/xla/service/service.cc:690: note\n"
    assert [each.location for each in found(unstated, maps)] == [None]


def test_a_file_name_beside_a_symbol_must_match_its_definition(maps: Path) -> None:
    line = "    #0 0x7f8ace4a5291 in xla::PjRtClient::Compile(int) /build/{}:9\n"
    assert place("jaxlib==0.10.2\n" + line.format("client.cc"), maps) == (address(3, "0.10.2"), ["definition"])
    assert [each.location for each in found("jaxlib==0.10.2\n" + line.format("other.cc"), maps)] == [None]


def test_damaged_maps_are_reported_once_and_skipped(tmp_path: Path) -> None:
    damaged = tmp_path / "releases.fdmaps"
    damaged.write_bytes(b"nothing of the kind")
    text = "jaxlib==0.10.2\n" + ABSL.format("xla::PjRtClient::Compile()") * 2
    released = ReleasedSources(None, StatedReleases(text), path=damaged)
    resolver = Resolver(None, released=released)
    assert [resolver.find(frame).location for frame in read(text).frames()] == [None, None]
    assert str(damaged) in released.problem


def test_foreign_names_do_not_open_the_maps(tmp_path: Path) -> None:
    text = ABSL.format("runtime::allocate()") + ABSL.format("std::thread::run()")
    released = ReleasedSources(None, StatedReleases(text), path=tmp_path / "there is no such file")
    resolver = Resolver(None, released=released)
    assert {resolver.find(frame).location for frame in read(text).frames()} == {None}
    assert not released.problem
