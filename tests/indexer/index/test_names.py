"""The meaning of a name: exact matches, then the user's own functions, then whole words, then any part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from framedex.index import Index
from framedex.index.ask.name.matching import MatchQuality, match_function, match_name
from framedex.index.file.paths import is_user_file
from tests.indexer.recorded import build_project


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Iterator[Index]:
    """The recorded program, indexed."""
    with build_project(tmp_path_factory.mktemp("project"), library).ingest() as index:
        yield index


def test_names_are_ranked_by_similarity() -> None:
    cases: list[tuple[str, str, MatchQuality | None]] = [
        ("Buffer", "Buffer", MatchQuality.NAME),
        ("Buffer", "buffer", MatchQuality.ANY_CASE),
        ("PJRT_Buffer_Destroy", "Buffer", MatchQuality.WORDS),
        ("CopyBuffer", "buffer", MatchQuality.WORDS),
        ("PJRT_Client_BufferFromHostBuffer", "fromhost", MatchQuality.WORDS),
        ("xla_ffi_call", "ffi_call", MatchQuality.WORDS),
        ("HTTPServer", "server", MatchQuality.WORDS),
        ("bufferpool", "buffer", MatchQuality.BEGINNING),
        ("PJRT_LoadedExecutable_Execute", "exec", MatchQuality.WORD_BEGINNING),
        ("rebuffered", "buffer", MatchQuality.PART),
        ("buffer", "pool", None),
        ("buffer", "", None),
        ("İstanbul_put", "put", MatchQuality.WORDS),
    ]
    for name, wanted, expected in cases:
        assert match_name(name, wanted) is expected


def test_the_last_parts_of_a_qualified_name_match() -> None:
    cases: list[tuple[str, str, str, MatchQuality]] = [
        ("Trainer.step", "step", "step", MatchQuality.NAME),
        ("xla::Client::Compile", "Compile", "Client::Compile", MatchQuality.NAME),
        ("timed.<locals>.inner", "inner", "timed.inner", MatchQuality.NAME),
        ("timed.<locals>.inner", "inner", "timed.<locals>.inner", MatchQuality.NAME),
        ("Trainer.step", "step", "TRAINER.STEP", MatchQuality.ANY_CASE),
        ("Trainer.step", "step", "Trainer", MatchQuality.WORDS),
        ("Trainer.step", "step", "iner.step", MatchQuality.PART),
    ]
    for name, short, wanted, expected in cases:
        assert match_function(name, short, wanted) is expected


def test_exact_names_precede_names_that_contain_the_text(index: Index) -> None:
    found = index.functions.match("put")

    assert found.is_name
    assert [function.name for function in found.functions] == ["put"]


def test_the_last_part_of_a_qualified_name_is_a_name(index: Index) -> None:
    assert [function.name for function in index.functions.find("convert")] == ["glue::convert"]
    assert [function.name for function in index.functions.find("glue::convert")] == ["glue::convert"]


def test_a_substring_matches_all_names_that_contain_it(index: Index) -> None:
    found = index.functions.match("UNTIME::ALL")

    assert not found.is_name
    assert [function.name for function in found.functions] == ["runtime::allocate"]
    assert index.functions.find("UNTIME::ALL") == []


def test_program_functions_precede_others_for_a_substring(index: Index) -> None:
    found = index.functions.match("a")  # runtime::allocate and PJRT_Client_BufferFromHostBuffer have one, too

    assert not found.is_name
    own = [is_user_file(function.module) for function in found.functions]
    assert own == sorted(own, reverse=True)


def test_a_pattern_must_match_every_part(index: Index) -> None:
    found = index.functions.match("*a*")

    assert found.is_name
    assert {"main", "transfer", "runtime::allocate"} <= {function.name for function in found.functions}


def test_an_unknown_name_matches_nothing(index: Index) -> None:
    for name in ("no such function", "", "%", "*zz*", "[", "\ud800"):
        found = index.functions.match(name)
        assert (found.functions, found.count, found.likely) == ((), 0, 0), name


def test_a_call_matches_by_a_function_on_its_stack(index: Index) -> None:
    found = index.calls.latest("transfer")

    assert found is not None
    chains = index.calls.call_chains_of_stack(found.stack)
    assert any(frame.function.name == "transfer" for chain in chains for frame in chain)


def test_program_files_are_the_users_own() -> None:
    cases: list[tuple[str, bool]] = [
        ("/home/me/train.py", True),
        ("/home/me/kernels/build/libkernels.so", True),
        ("/usr/local/lib/libkernels.so", True),
        ("/home/me/env/lib/python3.12/site-packages/jax/_src/api.py", False),
        ("/usr/lib/python3.13/runpy.py", False),
        ("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", False),
        ("/lib64/ld-linux-x86-64.so.2", False),
        ("<frozen runpy>", False),
        ("", False),
    ]
    for path, own in cases:
        assert is_user_file(path) is own
