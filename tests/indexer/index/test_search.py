"""Symbol search by parts of names: ranked, within a scope, and with the current sources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from framedex.index import Index, Store
from framedex.ingest import SilentProgress, find_sources, rebuild_index
from framedex.model import FoundSymbol
from tests.indexer.recorded import STRIPPED_SOURCE, Project

_SOURCE = """\
namespace store {
class Buffer {
 public:
  Buffer();
  ~Buffer();
  void CopyBuffer() {}
  void Rebuffered() {}
};
class BufferPool { void Grow() {} };
void buffer() {}
}
namespace other { void Grow() {} }
"""


@pytest.fixture
def tree(project: Project) -> Path:
    """A source folder that has not been read yet."""
    folder = project.folder / "tree"
    folder.mkdir()
    (folder / "store.cc").write_text(_SOURCE)
    (folder / "glue.cc").write_text(STRIPPED_SOURCE)
    return folder


@pytest.fixture
def index(project: Project, tree: Path) -> Iterator[Index]:
    """The recorded program and the tree, indexed."""
    with project.ingest(tree) as index:
        yield index


def _names(found: list[FoundSymbol]) -> list[str]:
    return list(dict.fromkeys(symbol.name for symbol in found))


def test_exact_names_precede_prefixes_words_and_substrings(index: Index) -> None:
    names = _names(index.names.symbols("Buffer"))

    assert names[0] == "store::Buffer"
    order = [names.index(f"store::{name}") for name in ("buffer", "BufferPool", "Buffer::CopyBuffer")]
    assert order == sorted(order)
    assert names[-1] == "store::Buffer::Rebuffered"


def test_case_only_breaks_ties(index: Index) -> None:
    assert _names(index.names.symbols("buffer"))[0] == "store::buffer"
    assert _names(index.names.symbols("COPYBUFFER")) == ["store::Buffer::CopyBuffer"]


def test_a_scope_restricts_the_results(index: Index) -> None:
    assert _names(index.names.symbols("Pool::Gro")) == ["store::BufferPool::Grow"]
    assert _names(index.names.symbols("store::Pool::Gro")) == ["store::BufferPool::Grow"]
    assert _names(index.names.symbols("Pool::store::Gro")) == []


def test_two_characters_match_prefixes_only(index: Index) -> None:
    assert _names(index.names.symbols("gr")) == ["store::BufferPool::Grow", "other::Grow"]


def test_an_unknown_name_has_no_results(index: Index) -> None:
    for text in ("", "::", " ", '"', "%", "zz", "no such name", "\ud800"):
        assert index.names.symbols(text) == [], text


def test_a_recorded_function_is_found_once_with_its_location(index: Index, tree: Path) -> None:
    (symbol,) = index.names.symbols("convert")

    assert symbol.function is not None
    assert symbol.location is not None
    assert (symbol.location.path, symbol.location.line) == (str(tree / "glue.cc"), 2)


def test_a_recorded_function_precedes_equal_matches(index: Index) -> None:
    recorded = [symbol.function is not None for symbol in index.names.symbols("tr")]

    assert recorded
    assert recorded == sorted(recorded, reverse=True)


def test_a_boundary_function_is_found_with_its_latest_call(index: Index) -> None:
    found = [symbol for symbol in index.names.symbols("BufferFromHost") if symbol.kind == "boundary"]

    assert [symbol.name for symbol in found] == ["PJRT_Client_BufferFromHostBuffer"]
    assert found[0].call is not None
    assert index.calls.get(found[0].call) is not None


def test_the_limit_keeps_the_best_matches(index: Index) -> None:
    assert _names(index.names.symbols("Buffer", 1)) == ["store::Buffer"]


def test_a_changed_file_changes_the_results(project: Project, index: Index, tree: Path) -> None:
    (tree / "store.cc").write_text("namespace store { void Shrink() {} }\n")

    with Store(project.index) as store:
        find_sources(store, SilentProgress())

    assert index.names.symbols("CopyBuffer") == []
    assert _names(index.names.symbols("shrink")) == ["store::Shrink"]


def test_a_rebuilt_index_has_the_same_results(project: Project, index: Index) -> None:
    before = _names(index.names.symbols("Grow"))

    rebuild_index(project.index, [], [], SilentProgress())

    assert _names(index.names.symbols("Grow")) == before
