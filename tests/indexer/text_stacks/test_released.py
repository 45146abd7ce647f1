"""Frames of XLA and JAX in texts, found in release maps: in which release, marked how, and what is never found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from framedex.index import Index
from framedex.model import LaunchInfo, LocationEvidence, SourceMapInfo
from framedex.placetext import location_labels
from framedex.releasemaps import ReleasedFile, ReleaseSources, build_released_file, write_release_maps
from framedex.releases import release_commits
from framedex.releases.statements import StatedReleases
from framedex.sources.extraction import extract_files
from framedex.text_stacks import read
from framedex.text_stacks.source_lookup.frame_context import FoundFrame
from framedex.text_stacks.source_lookup.released import ReleasedSources
from framedex.text_stacks.source_lookup.resolve import Resolver
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
    """The maps of two releases; in the later one all of `client.cc` is a line further down."""
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
    return release_commits(release)["xla" if component == "xla" else "jax"]


def found(text: str, maps: Path, index: Index | None = None) -> list[FoundFrame]:
    """What is found of the frames of a text."""
    releases = StatedReleases(text)
    resolver = Resolver(index, releases=releases, released=ReleasedSources(index, releases, path=maps))
    frames = list(read(text).frames())
    resolver.set_program(*frames)
    return [resolver.find(frame) for frame in frames]


def place(text: str, maps: Path, index: Index | None = None) -> tuple[str | None, list[str]]:
    """The public address of the only frame that was found, and its labels."""
    (location,) = [each.location for each in found(text, maps, index) if each.location is not None]
    return location.url, location_labels(location)


def address(line: int, release: str, path: str = "xla/pjrt/client.cc", component: str = "xla") -> str:
    return f"{ADDRESSES[component]}/blob/{commit_of(component, release)}/{path}#L{line}"


ABSL = "*** SIGSEGV received at time=1700000000 on cpu 3 ***\n    @     0x7f8ace4a5291       1456  {}\n"
GDB = "#0  0x00007f8ace4a5291 in {} () from {}\n#1  0x00007f8ace4a5292 in main ()\n"


@pytest.mark.parametrize(("release", "line"), [("0.10.1", 2), ("0.10.2", 3)])
def test_a_function_is_found_in_the_release_that_the_text_states(maps: Path, release: str, line: int) -> None:
    text = f"jaxlib=={release}\n" + ABSL.format("xla::PjRtClient::Compile()")
    assert place(text, maps) == (address(line, release), ["definition"])


@pytest.mark.parametrize("name", ["_ZN3xla10PjRtClient7CompileEi", "xla::PjRtClient::Compile(int)"])
def test_mangled_and_whole_names_are_found_as_well(maps: Path, name: str) -> None:
    assert place("jaxlib==0.10.2\n" + ABSL.format(name), maps) == (address(3, "0.10.2"), ["definition"])


def test_whatever_the_maps_define_is_looked_for(maps: Path) -> None:
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
    assert [name for name in names if not released.may_define_function(name)] == []


def test_a_name_whose_last_word_no_release_defines_is_not_looked_for(maps: Path) -> None:
    released = ReleasedSources(None, StatedReleases(), path=maps)
    for name in ("xla::PjRtClient::NoSuch", "xla::ns::NoSuch(int, char const*)", "jax::NoSuch()"):
        assert not released.may_define_function(name), name


def test_what_a_map_knows_is_never_exact_and_overloads_are_candidates(maps: Path) -> None:
    frames = found("jaxlib==0.10.2\n" + ABSL.format("xla::PjRtClient::Load()"), maps)
    (several,) = [each for each in frames if each.location is not None]
    assert several.location is not None and several.location.how is LocationEvidence.CANDIDATES
    assert {each.line for each in (several.location, *several.candidates)} == {4, 5}
    assert all(each.url for each in several.candidates)


def test_jaxlibs_own_functions_are_in_the_repository_of_jax(maps: Path) -> None:
    text = "jaxlib==0.10.2\n" + ABSL.format("jax::Register()")
    assert place(text, maps) == (address(1, "0.10.2", "jaxlib/ffi.cc", "jaxlib"), ["definition"])


def test_where_nothing_says_the_release_the_newest_stands_for_it_and_says_so(maps: Path) -> None:
    text = ABSL.format("xla::PjRtClient::Compile()")
    released = ReleasedSources(None, StatedReleases(text), path=maps)
    resolver = Resolver(None, released=released)
    (location,) = filter(None, (resolver.find(frame).location for frame in read(text).frames()))
    assert (location.url, location_labels(location)) == (address(3, "0.10.2"), ["definition", "nearest release"])
    assert released.assumed == "0.10.2"


@pytest.mark.parametrize(
    ("statement", "line", "release"),
    [
        ("jaxlib==0.10.3", 3, "0.10.2"),  # there is no map of it
        ("jaxlib==0.9.0", 2, "0.10.1"),
        ("jax==0.10.2", 3, "0.10.2"),  # which runs with other releases of jaxlib
        ("jaxlib==0.10.1\njaxlib==0.10.2", 3, "0.10.2"),  # one of the two
    ],
)
def test_what_is_of_another_release_than_surely_the_texts_is_marked(
    maps: Path, statement: str, line: int, release: str
) -> None:
    text = f"{statement}\n" + ABSL.format("xla::PjRtClient::Compile()")
    assert place(text, maps) == (address(line, release), ["definition", "nearest release"])


def test_the_jaxlib_that_is_installed_where_the_frames_are_counts(maps: Path, tmp_path: Path) -> None:
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    (site / "jaxlib-0.10.1.dist-info").mkdir(parents=True)
    text = ABSL.format("xla::PjRtClient::Compile()") + f'\n  File "{site}/jax/_src/api.py", line 5 in jit\n'
    assert place(text, maps) == (address(2, "0.10.1"), ["definition"])
    library = f"{site}/jaxlib/libjax_common.so"
    assert place(GDB.format("xla::PjRtClient::Compile(int)", library), maps) == (address(2, "0.10.1"), ["definition"])


def test_the_recorded_jaxlib_counts_where_the_text_states_none(maps: Path, project: Project) -> None:
    codes = (replace(project.capture.codes[0], filename="/other/site-packages/jaxlib/x.py"), *project.capture.codes[1:])
    launch = LaunchInfo(packages={"jaxlib": "0.10.1"})
    metadata = replace(project.capture.metadata, launch=launch)
    with project.ingest(capture=replace(project.capture, codes=codes, metadata=metadata)) as index:
        text = ABSL.format("xla::PjRtClient::Compile()")
        assert place(text, maps, index) == (address(2, "0.10.1"), ["definition"])
        assert place("jaxlib==0.10.2\n" + text, maps, index) == (address(3, "0.10.2"), ["definition"])


def test_plugins_for_gpus_are_of_jaxlibs_release(maps: Path) -> None:
    text = "jaxlib==0.10.2\n" + GDB.format(
        "xla::PjRtClient::Compile(int)", "/venv/jax_plugins/xla_cuda12/xla_cuda_plugin.so"
    )
    assert place(text, maps) == (address(3, "0.10.2"), ["definition"])


def test_in_a_binary_of_somebody_else_the_release_is_not_known(maps: Path) -> None:
    text = "jaxlib==0.10.2\n" + GDB.format("xla::PjRtClient::Compile(int)", "/opt/vendor/lib_of_others.so")
    assert place(text, maps) == (address(3, "0.10.2"), ["definition", "nearest release"])


def test_namesakes_and_neighbours_are_never_taken_for_it(maps: Path) -> None:
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


def test_a_path_of_a_build_is_public_at_the_commit_of_the_stated_release(maps: Path) -> None:
    text = "jaxlib==0.10.1\nexternal/xla/xla/service/service.cc:690: note\n"
    assert place(text, maps) == (address(690, "0.10.1", "xla/service/service.cc"), [])
    unstated = "external/xla/xla/service/service.cc:690: note\n"
    assert [each.location for each in found(unstated, maps)] == [None]


def test_a_file_name_beside_the_symbol_has_to_be_that_of_the_definition(maps: Path) -> None:
    line = "    #0 0x7f8ace4a5291 in xla::PjRtClient::Compile(int) /build/{}:9\n"
    assert place("jaxlib==0.10.2\n" + line.format("client.cc"), maps) == (address(3, "0.10.2"), ["definition"])
    assert [each.location for each in found("jaxlib==0.10.2\n" + line.format("other.cc"), maps)] == [None]


def test_damaged_maps_are_told_once_and_done_without(tmp_path: Path) -> None:
    damaged = tmp_path / "releases.fdmaps"
    damaged.write_bytes(b"nothing of the kind")
    text = "jaxlib==0.10.2\n" + ABSL.format("xla::PjRtClient::Compile()") * 2
    released = ReleasedSources(None, StatedReleases(text), path=damaged)
    resolver = Resolver(None, released=released)
    assert [resolver.find(frame).location for frame in read(text).frames()] == [None, None]
    assert str(damaged) in released.problem


def test_the_maps_are_not_opened_for_names_of_others(tmp_path: Path) -> None:
    text = ABSL.format("runtime::allocate()") + ABSL.format("std::thread::run()")
    released = ReleasedSources(None, StatedReleases(text), path=tmp_path / "there is no such file")
    resolver = Resolver(None, released=released)
    assert {resolver.find(frame).location for frame in read(text).frames()} == {None}
    assert not released.problem
