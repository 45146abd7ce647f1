"""Release maps: written data is read back for each release, and damaged or foreign files are refused.

`match` finds the same definitions in them as in all sources.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from framedex.binaries.names import parse_name
from framedex.model import Definition, DefinitionRow, LocationEvidence, NativeSymbol, SourceMapInfo
from framedex.model.locations import is_unchanged_between_releases
from framedex.model.sources import parse_call_sites
from framedex.sources import extract_files, match_symbol, short_name
from framedex.sources.calls import WrittenCall, written_calls
from framedex.sources.names import build_key
from framedex.sources.release_maps import (
    ReleasedFile,
    ReleaseMap,
    ReleaseSources,
    build_released_file,
    open_release_maps,
    write_release_maps,
)
from framedex.sources.release_maps.reader import CombinedMaps
from framedex.sources.source_map import SourceMapError
from tests.damage import damaged

RELEASES = ("0.4.13", "0.8.0", "0.9.0", "0.11.0")
REPOSITORIES = {"xla": "https://github.com/openxla/xla", "jaxlib": "https://github.com/jax-ml/jax"}
NATIVE = Path(__file__).parents[4] / "native"

OLD = """
namespace xla {
class Client { void Run(); };
void Client::Run() { Prepare(1); Execute(); }
}
"""
NEW = """
// A line more.
namespace xla {
namespace {
int Helper(int a) { return Twice(a); }
}
class Client { void Run(); };
void Client::Run() { Prepare(1); Execute(); }
void Client::Stop(bool now) {
  auto done = [](int a) {
    return Finish(a);
  };
  done(1);
  CHECKED(
      client->Run(),
      now ? Ready(a) : Ready(7, 0x10));
  return Outer(
      Inner(true));
}
#define CHECKED(a, b) Checked(a).With(b, Twice(1))
}
"""


def info(component: str, number: int) -> SourceMapInfo:
    return SourceMapInfo(component, REPOSITORIES[component], f"{number:040x}", False, "test")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, ReleasedFile]]:
    """XLA in each release: a file that changes, one that stays, and one that is added."""
    found = []
    for number, text in enumerate((OLD, OLD, NEW, NEW)):
        folder = tmp_path_factory.mktemp(f"xla-{number}")
        (folder / "client.cc").write_text(text)
        (folder / "status.h").write_text("namespace xla { inline bool Prepare(int a) { return Check(a); } }\n")
        if number == 3:
            (folder / "more.proto").write_text('syntax = "proto3";\nmessage Shape {}\n')
        found.append({f"xla/{Path(path).name}": file for path, file in extracted(sorted(folder.iterdir())).items()})
    return found


def extracted(paths: Sequence[Path]) -> dict[str, ReleasedFile]:
    """The map data of these files, by path."""
    files = extract_files([str(path) for path in paths])
    return {file.path: build_released_file(file, Path(file.path).read_bytes()) for file in files}


@pytest.fixture(scope="module")
def file(sources: list[dict[str, ReleasedFile]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The maps of all releases; of JAX's C++, the last two."""
    of_jaxlib: list[dict[str, ReleasedFile]] = [
        {},
        {},
        *({"jaxlib/client.cc": each["xla/client.cc"]} for each in sources[2:]),
    ]
    path = tmp_path_factory.mktemp("maps") / "made.fdmaps"
    path.write_bytes(
        write_release_maps(
            RELEASES,
            [
                ReleaseSources([info("xla", number) for number in range(4)], sources),
                ReleaseSources([None, None, info("jaxlib", 2), info("jaxlib", 3)], of_jaxlib),
            ],
        )
    )
    return path


def opened(file: Path, release: str, component: str = "xla") -> ReleaseMap:
    found = open_release_maps(file).nearest(component, release)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("version", "unchanged"),
    [
        ("0.8.5", {"Prepare"}),  # `Run` is the same on both sides, but on another line
        ("0.10.0", {"Prepare", "Run", "Stop"}),
        ("0.10.1.dev20260101", {"Prepare", "Run", "Stop"}),
        ("0.9.0", set()),  # not between two releases: it has its own map
        ("0.12.0", set()),  # later than all releases
        ("0.4.0", set()),
    ],
)
def test_definitions_in_both_neighbouring_releases_are_marked(file: Path, version: str, unchanged: set[str]) -> None:
    nearest = opened(file, version)
    info = replace(nearest.info, is_nearest=nearest.is_nearest)
    for is_known in (True, False):
        maps = CombinedMaps([(info, nearest)], lambda ask: ask(), is_release_known=is_known)
        found = {
            name: is_unchanged_between_releases(path)
            for name in ("Prepare", "Run", "Stop")
            for path, definition in maps.definitions(name, "cpp")
            if definition.kind != "declaration"
        }
        assert {name for name, marked in found.items() if marked} == (unchanged if is_known else set())
        for path, _ in maps.definitions("Run", "cpp"):
            assert maps.maps_containing([path])[0][0].prefix == path.partition(":")[0] + ":"
            assert maps.bodies().calls_in_file(path)


def kept(file: ReleasedFile) -> list[DefinitionRow]:
    """The map data of a file: definitions with the lines, kinds and names of their calls."""
    rows: list[DefinitionRow] = []
    for (name, key, kind, parameters, line, end_line, is_const, *_), written in file.definitions:
        calls = [f'[{each.line},0,"{each.kind}","{each.callee}"]' for each in sorted(written, key=lambda it: it.line)]
        text = f"[{','.join(calls)}]" if calls else None
        rows.append((name, key, kind, parameters, line, end_line, is_const, False, text))
    return sorted(rows, key=lambda row: row[4])


def test_each_release_has_its_own_files(file: Path, sources: list[dict[str, ReleasedFile]]) -> None:
    for release, files in zip(RELEASES, sources, strict=True):
        found = opened(file, release)
        assert found.paths() == sorted(files)
        for path, released in files.items():
            assert list(found.file(path).definitions) == kept(released)
            assert found.file(path).language == released.language


def test_calls_equal_those_parsed_from_the_text(file: Path, tmp_path: Path) -> None:
    source = tmp_path / "client.cc"
    source.write_text(NEW)
    (parsed,) = extract_files([str(source)])
    with_calls = [
        Definition(name, kind, parameters, line, end_line, is_const, parse_call_sites(sites))
        for name, _, kind, parameters, line, end_line, is_const, _, sites in parsed.definitions
    ]
    written = opened(file, "0.11.0").calls_in_file("xla/client.cc")
    # Differences by compiler: GCC's lines, and string literals, are in no map.
    from_text = {
        span: [call._replace(gcc_lines=(), texts=frozenset(), is_qualified=False) for call in calls]
        for span, calls in written_calls(NEW.encode(), with_calls).items()
    }
    assert dict(written) == from_text
    of_stop = {call.callee: call for calls in written.values() for call in calls}
    assert of_stop["Ready"] == WrittenCall(14, "call", "Ready", 2, frozenset((7, 16)))  # on the line of the macro
    assert of_stop["Run"].is_member and of_stop["Outer"].is_last
    (_, stop), _ = opened(file, "0.11.0").definitions("Stop")
    called = [call.callee for call in written[stop.line, stop.end_line] if call.kind == "call"]
    assert called[-2:] == ["Inner", "Outer"]  # as evaluated


def test_only_definitions_inside_given_lines_are_read(file: Path) -> None:
    found = opened(file, "0.11.0")
    (path, stop), _ = found.definitions("Stop", ("xla", "Client", "Stop"))
    inside = found.file(path, [(stop.line, stop.end_line)]).definitions
    assert [row[2] for row in inside] == ["method", "lambda"]


def test_a_file_missing_from_a_release_is_refused(file: Path) -> None:
    assert opened(file, "0.9.0").calls_in_file("xla/more.proto") == {}
    with pytest.raises(SourceMapError, match=r"more\.proto is missing"):
        opened(file, "0.9.0").file("xla/more.proto")


def test_candidate_definitions_of_a_symbol_are_found(file: Path) -> None:
    cases: list[str] = [
        "xla::Client::Run()",
        "xla::v1::Client::Run()",  # an inline namespace, which no definition has
        "xla::(anonymous namespace)::Helper(int)",
        "xla::Client::Stop(bool)::{lambda(int)#1}::operator()(int) const",
        "xla::Client::Client(xla::Client const&)",  # compiler-generated: its class
        "xla::Client::~Client()",
        "xla::Client::operator=(xla::Client&&)",
        "outer::xla::Client::Run()",  # right in the symbol's own translation unit
    ]
    for symbol in cases:
        assert files_defining(opened(file, "0.11.0"), short_name(symbol), build_key(parse_name(symbol))) == [
            "xla/client.cc"
        ]


@pytest.mark.parametrize("symbol", ["xla::Other::Run()", "Run()", "tsl::Client::Run()", "xla::Client::Runs()"])
def test_files_that_define_only_namesakes_are_not_read(file: Path, symbol: str) -> None:
    assert files_defining(opened(file, "0.11.0"), short_name(symbol), build_key(parse_name(symbol))) == []


def test_a_name_is_found_in_the_releases_that_contain_it(file: Path) -> None:
    assert [files_defining(opened(file, release), "Stop") for release in RELEASES] == [[], [], *[["xla/client.cc"]] * 2]
    assert [each.line for release in RELEASES for _, each in opened(file, release).definitions("Run")] == [4, 4, 8, 8]


def test_a_destructor_written_under_another_name_of_its_class_is_found(tmp_path: Path) -> None:
    source = tmp_path / "storage.cc"
    source.write_text("namespace xla {\nusing Storage = Array::Kept;\nStorage::~Kept() { Free(); }\n}\n")
    (released,) = extracted([source]).values()
    path = tmp_path / "made.fdmaps"
    path.write_bytes(write_release_maps(["0.11.0"], [ReleaseSources([info("xla", 1)], [{"xla/storage.cc": released}])]))
    asked = "Kept", build_key(parse_name("xla::Array::Kept::~Kept()"))
    assert [(where, each.line) for where, each in opened(path, "0.11.0").definitions(*asked)] == [("xla/storage.cc", 3)]


def test_messages_are_found_by_their_language(file: Path) -> None:
    found = opened(file, "0.11.0")
    assert files_defining(found, "Shape") == []
    assert [each.kind for _, each in found.definitions("Shape", language="protobuf")] == ["message"]


def test_callees_of_a_body_are_found_unless_too_many_share_the_name(file: Path) -> None:
    found = opened(file, "0.11.0")
    assert found.calls_in_bodies("Prepare", is_member=False, limit=1, longest=10) == [{"Check": 1}]
    assert found.calls_in_bodies("CHECKED", is_member=False, limit=1, longest=10) == [
        {"Checked": 1, "With": 1, "Twice": 1}
    ]
    (of_stop,) = found.calls_in_bodies("Stop", is_member=True, limit=1, longest=10)
    assert of_stop["Finish"] == 1 and of_stop["done"] == 1  # its lambda's too
    assert found.calls_in_bodies("Prepare", is_member=False, limit=0, longest=10) == []
    assert found.calls_in_bodies("Stop", is_member=False, limit=1, longest=1) == [{}]
    assert found.calls_in_bodies("Client", is_member=False, limit=9, longest=9) == []  # a class has no calls


def test_a_missing_definition_comes_from_the_nearest_release(file: Path) -> None:
    maps = open_release_maps(file)
    assert maps.releases == RELEASES
    nearest = {
        version: (found.release, found.is_nearest)
        for version in (
            "0.8.0",
            "0.4.13+cuda12.cudnn89",
            "0.12.0.1",
            "0.4.7",
            "0.7.2",
            "0.5.0",
            "0.9.2",
            "0.9.0.dev1",
            "?",
        )
        if (found := maps.nearest("xla", version))
    }
    assert nearest == {
        "0.8.0": ("0.8.0", False),
        "0.4.13+cuda12.cudnn89": ("0.4.13", False),
        "0.12.0.1": ("0.11.0", True),
        "0.4.7": ("0.4.13", True),
        "0.7.2": ("0.8.0", True),
        "0.5.0": ("0.8.0", True),  # nearer by number of releases
        "0.9.2": ("0.9.0", True),
        "0.9.0.dev1": ("0.9.0", True),
        "?": ("0.4.13", True),
    }


def test_a_missing_component_comes_from_the_nearest_release_that_has_it(file: Path) -> None:
    found = opened(file, "0.4.13", "jaxlib")
    assert (found.release, found.is_nearest, found.info) == ("0.9.0", True, info("jaxlib", 2))
    assert files_defining(found, "Run") == ["jaxlib/client.cc"]
    assert open_release_maps(file).nearest("jax", "0.9.0") is None


@pytest.mark.exhaustive
def test_matching_with_maps_equals_matching_with_all_definitions(tmp_path: Path) -> None:
    files = extracted(sorted(NATIVE.rglob("*.cc")))
    by_path = {path.removeprefix(f"{NATIVE}/"): file for path, file in files.items()}
    path = tmp_path / "native.fdmaps"
    path.write_bytes(write_release_maps(["0.11.0"], [ReleaseSources([info("xla", 1)], [by_path])]))
    found = opened(path, "0.11.0")
    symbols = {
        f"{row[0]}{row[3] or '()'}"
        for file in files.values()
        for row, _ in file.definitions
        if row[2] in ("function", "method")
    }
    outcomes = []
    for text in sorted(symbols):
        symbol = NativeSymbol("", text, "", None, 0, inlined=False, unit=None)
        short = short_name(text)
        how, places = match_symbol(symbol, found.definitions(short, build_key(parse_name(text))))
        assert (how, places) == match_symbol(symbol, found.definitions(short))
        outcomes.append(how)
    assert len(outcomes) > 500
    assert outcomes.count(LocationEvidence.DEFINITION) > len(outcomes) * 0.7


def test_file_order_does_not_matter(file: Path, sources: list[dict[str, ReleasedFile]]) -> None:
    infos = [info("xla", number) for number in range(4)]
    turned = [dict(reversed(files.items())) for files in sources]
    first, second = (write_release_maps(RELEASES, [ReleaseSources(infos, each)]) for each in (sources, turned))
    assert first == second


def test_a_foreign_file_is_refused(tmp_path: Path, file: Path) -> None:
    path = tmp_path / "other.fdmaps"
    with pytest.raises(SourceMapError, match="cannot be read: No such file"):
        open_release_maps(path)
    path.write_bytes(b"\xfd7zXZ\0 something else")
    with pytest.raises(SourceMapError, match=r"other\.fdmaps have an unknown format"):
        open_release_maps(path)
    path.write_bytes(file.read_bytes().replace(b"FDMAPS\n\2", b"FDMAPS\n\3", 1))
    with pytest.raises(SourceMapError, match="are of version 3, this framedex reads version 2") as refusal:
        open_release_maps(path)
    assert "Install framedex again" in refusal.value.remedy


def test_damage_is_refused_or_harmless(tmp_path: Path, file: Path) -> None:
    content = file.read_bytes()
    whole = everything(file)
    path = tmp_path / "damaged.fdmaps"
    for seed in range(500):
        path.write_bytes(damaged(content, seed))
        with contextlib.suppress(SourceMapError):
            assert everything(path) == whole


def files_defining(released: ReleaseMap, short_name: str, key: tuple[str, ...] = ()) -> list[str]:
    return list(dict.fromkeys(path for path, _ in released.definitions(short_name, key)))


def everything(file: Path) -> list[object]:
    maps = open_release_maps(file)
    found: list[object] = [maps.releases]
    for component in REPOSITORIES:
        for release in RELEASES:
            each = maps.nearest(component, release)
            assert each is not None
            files = [(each.file(path), dict(each.calls_in_file(path))) for path in each.paths()]
            found += [each.info, each.release, files, each.definitions("Run")]
    return found
