"""pprof profiles: built field by field, and by JAX itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from framedex.base.nativepart import protobuf
from framedex.index import Index
from framedex.model import CallFilter
from tests.indexer.imports.profiles import framedex, pprof
from tests.indexer.recorded import middle_of

OUTER, INNER = ("outer", "/app/a.py", 3), ("std::vector<int>::push_back(int&&)", "vector.h", 7)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tests import into an index in their own folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_counts_and_times_equal_those_of_the_samples(here: Path) -> None:
    """Two samples of two stacks keep the profile's counts and times."""
    path = here / "cpu.pb.gz"
    path.write_bytes(
        pprof(
            [
                ([OUTER, INNER], [12, 120_000_000], {"thread": "worker", "thread_id": 7, "request": "a"}),
                ([OUTER], [3, 30_000_000], {}),
            ]
        )
    )
    result = framedex("import", path)
    assert result.exit_code == 0, result.output
    with Index.open(here / ".framedex" / "index.db") as index:
        (capture,) = index.captures()
        (totals,) = index.calls.totals(CallFilter())
        calls = index.calls.find(CallFilter(), 10)
        graph = index.capture(capture.id).flame_graph()
    assert (totals.function, totals.calls, totals.total) == ("cpu (nanoseconds)", 15, 150_000_000)
    assert capture.started == 1_700_000_000
    assert {call.thread for call in calls} == {"worker (7)", "0"}
    assert [call.arguments for call in calls if call.thread == "worker (7)"] == [{"request": "a"}]
    shown = {node.name: (node.calls, node.duration) for node in graph.nodes}
    assert shown["outer"] == (15, 150_000_000)
    assert shown["std::vector<int>::push_back"] == (12, 120_000_000)


def test_another_value_is_the_weight_if_named(here: Path) -> None:
    types = (("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_space", "bytes"))
    path = here / "heap.pb.gz"
    path.write_bytes(pprof([([OUTER], [2, 300, 50], {})], types))
    for value, weight in ((None, 50), ("alloc_space", 300), ("alloc_objects", 2)):
        chosen = ["--value", value] if value else []
        assert framedex("import", path, *chosen).exit_code == 0
        with Index.open(here / ".framedex" / "index.db") as index:
            assert len(index.captures()) == 1
            assert [each.calls for each in index.calls.totals(CallFilter())] == [weight]
    result = framedex("import", path, "--value", "cpu")
    assert result.exit_code == 1
    assert "no value 'cpu'" in result.stderr and "alloc_objects, alloc_space, inuse_space" in result.stderr


def test_a_binary_names_unnamed_addresses_if_its_identity_is_proven(here: Path, library: Path) -> None:
    """An address in a library with its build-id gets its function and line, but not with another id."""
    from framedex.binaries import Binary
    from framedex.binaries.recorded_files import compute_htlhash

    binary = Binary.open(library)
    address = middle_of(library, "_ZN7runtime8allocateEm")
    whole, integer = protobuf.message_field, protobuf.integer_field
    for build_id, is_named in ((binary.build_id, True), (compute_htlhash(library), True), ("00" * 16, False)):
        strings = ["", "samples", "count", str(library), build_id or ""]
        mapping = (
            integer(1, 1) + integer(2, 1 << 40) + integer(3, (1 << 40) + (1 << 20)) + integer(5, 3) + integer(6, 4)
        )
        content = whole(1, integer(1, 1) + integer(2, 2)) + whole(2, integer(1, 1) + integer(2, 5)) + whole(3, mapping)
        content += whole(4, integer(1, 1) + integer(2, 1) + integer(3, (1 << 40) + address))
        path = here / f"{build_id}.pb"
        path.write_bytes(content + b"".join(whole(6, each.encode()) for each in strings))
        assert framedex("import", path).exit_code == 0
        with Index.open(here / ".framedex" / "index.db") as index:
            (call,) = index.calls.find(CallFilter(capture=index.captures()[-1].id), 1)
            trace = index.calls.trace(call.id)
        assert trace is not None
        names = [frame.function.name for frame in trace.frames]
        assert ("runtime::allocate" in names) is is_named, (build_id, names)


def test_jax_device_memory_profiles_are_imported(here: Path) -> None:
    """In JAX's own device memory profile, program lines have the bytes of their buffers."""
    (here / "hold.py").write_text(
        "import jax.numpy as jnp, jax.profiler\n"
        "def make():\n"
        "    return jnp.ones((1000, 1000))\n"
        "kept = [make() for _ in range(3)]\n"
        "jax.profiler.save_device_memory_profile('memory.prof')\n"
    )
    subprocess.run([sys.executable, "hold.py"], check=True, env={"JAX_PLATFORMS": "cpu"})
    assert framedex("import", "memory.prof").exit_code == 0
    result = framedex("where", "hold.py", "--json")
    lines = {row["line"]: row["calls"] for row in json.loads(result.stdout)["lines"]}
    assert lines[3] == 12_000_000


def test_a_line_without_a_function_is_an_address_and_rust_names_are_demangled(here: Path) -> None:
    whole, integer = protobuf.message_field, protobuf.integer_field
    strings = ["", "samples", "count", "<T as Debug>::fmt", "_ZN4core3fmt5Debug3fmt17h0123456789abcdefE", "/r/fmt.rs"]
    content = whole(1, integer(1, 1) + integer(2, 2))
    content += whole(2, protobuf.packed_field(1, [1, 2]) + protobuf.packed_field(2, [4]))
    content += whole(4, integer(1, 1) + integer(3, 0xDEAD) + whole(4, integer(2, 9)))
    content += whole(4, integer(1, 2) + whole(4, integer(1, 1) + integer(2, 6)))
    content += whole(5, integer(1, 1) + integer(2, 3) + integer(3, 4) + integer(4, 5))
    (here / "rust.pb").write_bytes(content + b"".join(whole(6, each.encode()) for each in strings))
    assert framedex("import", "rust.pb").exit_code == 0
    with Index.open(here / ".framedex" / "index.db") as index:
        trace = index.calls.trace(1)
    assert trace is not None
    assert [frame.function.name for frame in trace.frames] == ["<T as Debug>::fmt", "0xdead"]
