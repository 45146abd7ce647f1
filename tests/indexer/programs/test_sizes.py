"""The bytes of a result on one device, from its type and sharding, are those that JAX stores there."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from framedex.programs import read_program
from framedex.programs.sizes import compute_size_on_device
from tests.running import run


@pytest.mark.exhaustive(keep=["shardy"])
@pytest.mark.parametrize("partitioner", ["shardy", "gspmd"])
def test_each_device_has_a_fraction_of_a_sharded_result(partitioner: str, tmp_path: Path) -> None:
    ran = run("costs/shardings.py", partitioner, folder=tmp_path, FRAMEDEX_DEVICES="8")

    read = [read_program(path.read_bytes()).signature for path in (ran.capture / "programs").iterdir()]

    (found,) = (each for each in read if each is not None and len(each.results) == len(ran.result))
    signature = json.loads(json.dumps(asdict(found)))  # as stored in the index
    assert [compute_size_on_device(each, signature) for each in signature["results"]] == ran.result


def test_a_type_has_a_size_or_an_unknown_size() -> None:
    cases: list[tuple[str, int]] = [
        *(("float32[]", 4), ("bool[3]", 3), ("bfloat16[2,3]", 12), ("complex128[2]", 32), ("float8_e4m3fn[5]", 5)),
        *(("int64[0]", 0), ("int4[8]", -1), ("token", -1), ("float32[?]", -1), ("", -1), ("float32[3,4", -1)),
        *(("float32[,]", -1), (f"float32[{'9' * 5000}]", -1), (f"int{'8' * 5000}[]", -1)),
    ]
    for kind, size in cases:
        result = {"type": kind, "attributes": {}}
        assert compute_size_on_device(result, {"partitions": "1"}) == size


def test_only_a_known_sharding_divides_a_size() -> None:
    cases: list[tuple[dict[str, str], int]] = [
        ({}, -1),
        *(({"sdy.sharding": sharding}, 32) for sharding in ("P()", "P(None)", "P(None, None)")),
        *(({"sdy.sharding": sharding}, -1) for sharding in ("P('z')", "P('x', ?)", "P('x':part)", "P(1)", "P((", "")),
        ({"sdy.sharding": "P(None, None, None)"}, -1),
        *(({"mhlo.sharding": sharding}, 32) for sharding in ("{replicated}", "{maximal device=0}")),
        ({"mhlo.sharding": "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}, 16),
        *(({"mhlo.sharding": sharding}, -1) for sharding in ("{manual}", "{devices=[2]<=[2]}", "{devices=[]}", "")),
        *(
            ({"mhlo.sharding": sharding}, -1)
            for sharding in ("{devices=[,]", "{devices=[2,]<=[2]}", f"{{devices=[{'2' * 5000}]")
        ),
    ]
    for attributes, size in cases:
        signature = {"partitions": "8", "mesh": {"x": 2, "y": 4}}
        assert compute_size_on_device({"type": "float32[2,4]", "attributes": attributes}, signature) == size
