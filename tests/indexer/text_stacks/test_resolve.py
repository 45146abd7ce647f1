"""From frames of texts to source: by path, by symbol through the index, by offset through the binary."""

from __future__ import annotations

from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from framedex.binaries import Binary
from framedex.index import Index
from framedex.model import LocationEvidence
from framedex.path_resolution.files import PathRule
from framedex.path_resolution.precedence import PathResolver
from framedex.text_stacks import read
from framedex.text_stacks.source_lookup.binaries import Binaries
from framedex.text_stacks.source_lookup.frame_context import FoundFrame
from framedex.text_stacks.source_lookup.resolve import Resolver
from tests.indexer.recorded import Project


@pytest.fixture
def index(project: Project) -> Index:
    """An index of the program with its library's sources."""
    return project.ingest(project.library.parent)


def found(text: str, resolver: Resolver) -> FoundFrame:
    """The only frame of a text."""
    (frame,) = read(text).frames()
    return resolver.find(frame)


def location_text(found: FoundFrame) -> tuple[str, int, LocationEvidence] | None:
    place = found.location
    return (Path(place.path).name, place.line, place.how) if place else None


def definition_line(project: Project, text: str) -> int:
    return next(n for n, line in enumerate(project.library_source.read_text().split("\n"), 1) if text in line)


def test_a_local_path_needs_no_index(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    text = '  File "a.py", line 1, in <module>\n'
    assert location_text(found(text, Resolver(None, PathResolver(folders=[tmp_path])))) == (
        "a.py",
        1,
        LocationEvidence.EXACT,
    )
    assert location_text(found(text, Resolver(None))) is None


def test_a_link_leads_to_its_target_file(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    assert location_text(
        found('  File "link.py", line 1, in <module>\n', Resolver(None, PathResolver(folders=[tmp_path])))
    ) == (
        "a.py",
        1,
        LocationEvidence.EXACT,
    )


@pytest.mark.parametrize(
    "printed", ["runtime::allocate()", "runtime::allocate(unsigned long)", "_ZN7runtime8allocateEm"]
)
def test_a_symbol_alone_leads_to_the_definition(project: Project, index: Index, printed: str) -> None:
    line = f"    @     0x7f1bb00a8eed        112  {printed}\n"
    place = found(line, Resolver(index)).location
    assert place is not None
    assert (Path(place.path).name, place.how) == ("runtime.cc", LocationEvidence.DEFINITION)
    assert place.line == definition_line(project, "std::size_t allocate(")


def test_an_unrecorded_symbol_is_found_in_the_sources(index: Index) -> None:
    assert location_text(found("    @  0x7f1bb00a8eed  8  glue::twice()\n", Resolver(index))) == (
        "glue.cc",
        3,
        LocationEvidence.DEFINITION,
    )


def test_an_unknown_symbol_is_not_located(index: Index) -> None:
    assert location_text(found("    @  0x7f1bb00a8eed  8  nobody::knows()\n", Resolver(index))) is None


def test_namesakes_are_candidates(project: Project) -> None:
    other = project.library.with_name("other.cc")
    other.write_text("namespace glue { int twice(int value, int more) { return 2; } }\n")
    try:
        index = project.ingest(project.library.parent)
        answer = found("    @  0x7f1bb00a8eed  8  glue::twice()\n", Resolver(index))
    finally:
        other.unlink()
    assert answer.location is not None
    assert answer.location.how is LocationEvidence.CANDIDATES
    assert {Path(place.path).name for place in (answer.location, *answer.candidates)} == {"glue.cc", "other.cc"}


def test_a_build_machine_path_is_found_by_its_tail(project: Project, index: Index) -> None:
    folder = project.library.parent.name
    assert location_text(found(f"#1 0x4 in f() /build/{folder}/runtime.cc:4:1\n", Resolver(index))) == (
        "runtime.cc",
        4,
        LocationEvidence.EXACT,
    )
    # A matching file name alone does not prove the path.
    assert location_text(found("#1 0x4 in nobody() /build/other/runtime.cc:4:1\n", Resolver(index))) is None


def test_a_symbol_leads_only_to_its_printed_file(project: Project, index: Index) -> None:
    at = definition_line(project, "std::size_t allocate(")
    same = "#1 0x4 in runtime::allocate(unsigned long) /build/other/runtime.cc:4:1\n"
    assert location_text(found(same, Resolver(index))) == ("runtime.cc", at, LocationEvidence.DEFINITION)
    for printed in ("/home/me/plugin.cc:12", "/build/other_runtime.cc:4"):
        assert (
            location_text(found(f"#1 0x4 in runtime::allocate(unsigned long) {printed}:1\n", Resolver(index))) is None
        )


@pytest.mark.parametrize(("module", "is_found"), [("/elsewhere/libruntime.so", True), ("/home/me/libplugin.so", False)])
def test_a_bare_name_in_an_unrecorded_library_proves_nothing(index: Index, module: str, is_found: bool) -> None:
    put = f"#3 0x00007f12 in PJRT_Client_BufferFromHostBuffer () from {module}\n"
    assert (location_text(found(put, Resolver(index))) is not None) == is_found
    qualified = f"#3 0x00007f12 in runtime::allocate(unsigned long) () from {module}\n"
    assert location_text(found(qualified, Resolver(index))) is not None


def test_path_rules_come_first(project: Project, index: Index) -> None:
    rules = [PathRule("/their/a.cc", project.library_source)]
    assert location_text(found("/their/a.cc:3:1: error\n", Resolver(index, PathResolver(rules, index=index)))) == (
        "runtime.cc",
        3,
        LocationEvidence.EXACT,
    )


def test_an_offset_leads_to_the_line_in_debug_information(project: Project) -> None:
    with project.library.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        address = next(int(s["st_value"]) for s in table.iter_symbols() if s.name == "_ZN7runtime8allocateEm")
    build_id = Binary.open(project.library).build_id
    line = definition_line(project, "size + 7")  # of the function inlined there

    def at(build: str | None) -> tuple[str, int, LocationEvidence] | None:
        text = f"    #0 0x7f00  ({project.library}+{address:#x}) (BuildId: {build})\n"
        return location_text(found(text, Resolver(None, binaries=Binaries())))

    assert at(build_id) == ("runtime.cc", line, LocationEvidence.EXACT)
    assert at("00" * 20) is None  # another build of it


def test_a_binary_without_a_build_id_does_not_match_a_text(project: Project) -> None:
    bare = project.library.with_name("libglue.so")
    text = f"    #0 0x7f00 in nobody ({bare}+0x1119) (BuildId: {'00' * 20})\n"
    (frame,) = read(text).frames()
    assert Binary.open(bare).build_id is None
    assert Binaries().symbols(frame, str(bare)) == ()


def test_a_symbolizer_link_leads_to_the_recorded_binary_with_its_build_id(project: Project, index: Index) -> None:
    with project.library.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        address = next(int(s["st_value"]) for s in table.iter_symbols() if s.name == "_ZN7runtime8allocateEm")
    build_id, base = Binary.open(project.library).build_id, 0x7F3B0FCD3000
    mapped = f"{build_id}:{base:x}-{base + 0x10000:x}"
    link = f"https://symbolize.stripped_domain/r/?trace={base + address:x},7f&map={mapped} \n"
    known, unknown = read(link).frames()
    assert location_text(Resolver(index, binaries=Binaries()).find(known)) == (
        "runtime.cc",
        definition_line(project, "size + 7"),
        LocationEvidence.EXACT,
    )
    assert (unknown.address, unknown.offset, unknown.build_id) == (0x7F, None, "")


@pytest.mark.parametrize("path", ["/dev/zero", "/proc/self/mem", "\\x00", "/" + "x" * 5000 + ".py", "/tmp"])
def test_odd_paths_are_not_located(path: str) -> None:
    (frame,) = read(f'  File "{path}", line 1, in f\n').frames()
    assert Resolver(None, binaries=Binaries()).find(frame).location is None
