"""Ahead-of-time topologies without devices: as libtpu makes them, and as JAX requests them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.running import run

# Device order, hosts and ids were read from libtpu 0.0.51.
TOPOLOGIES: list[dict[str, Any]] = [
    {"name": "v2:2x2"},
    {"name": "v3:4x4"},
    {"name": "v4:2x2x1"},
    {"name": "v4:2x2x2", "options": {"chip_config_name": "megacore"}},
    {"name": "v5e:1x1"},
    {"name": "v5e:1x4"},
    {"name": "v5e:4x2"},
    {"name": "v5e:2x4", "options": {"chips_per_host_bounds": [2, 4, 1]}},
    {"name": "v5e:16x16", "options": {"wrap": [1, 1, 0]}},
    {"name": "v5e:4x4", "options": {"num_slices": 2}},
    {"name": "v5p:2x2x4"},
    {"name": "v6e:4x4"},
    {"name": "tpu7x:2x2x1"},
    {"name": "TPU v5 lite:2x2"},
]
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"name": "v9:2x2"}, "there is no TPU kind 'v9'; the kinds are v2, v3, v4, v5e, v5p, v6e, tpu7x"),
    ({"name": "v5e"}, "the topology name 'v5e' is not KIND:SHAPE, such as v5e:2x4 or v4:2x2x2"),
    ({"name": "v5e:0x2"}, "the topology name 'v5e:0x2' is not KIND:SHAPE"),
    ({"name": "v5e:2x-2"}, "the topology name 'v5e:2x-2' is not KIND:SHAPE"),
    ({"name": "v5e:3x3"}, "v5e:3x3 cannot be divided among hosts of 2x2x1 chips each"),
    ({"name": "v5e:999999999999999999999x1"}, "is not KIND:SHAPE"),
    ({"name": "v5e:16384x16384"}, "more than the 16384 devices"),
    ({"name": "v5e:2x2", "options": {"chips_per_host_bounds": [2, 2]}}, "chips_per_host_bounds must be 3 integers"),
    ({"name": "v5e:2x2", "options": {"chips_per_host_bounds": [0, 2, 1]}}, "among hosts of 0x2x1 chips each"),
    ({"name": "v5e:2x2", "options": {"num_slices": "2"}}, "num_slices must be an integer"),
    (
        {"name": "v5e:2x2", "options": {"chip_config_name": "megacore"}},
        "has no configuration 'megacore'; it has default",
    ),
    ({"name": "v5e:2x2", "options": {"colour": 1}}, "unexpected option colour; the options are chips_per_host_bounds"),
]


def topologies(folder: Path, wanted: list[dict[str, Any]], **environment: str) -> list[Any]:
    """The output of `topologies.py` for each."""
    found: list[Any] = run("topologies.py", *map(json.dumps, wanted), folder=folder, **environment).result
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Every topology of TOPOLOGIES, including its serialized form."""
    return topologies(tmp_path_factory.mktemp("made"), [{**wanted, "serialize": True} for wanted in TOPOLOGIES])


def topology(made: list[Any], name: str) -> Any:
    """The one of this name."""
    return made[[wanted["name"] for wanted in TOPOLOGIES].index(name)]


def test_devices_are_listed_by_host_and_numbered_by_position(made: list[Any]) -> None:
    devices = topology(made, "v5e:4x2")["devices"]
    assert [device["id"] for device in devices] == [0, 1, 4, 5, 2, 3, 6, 7]
    assert [device["process_index"] for device in devices] == [0] * 4 + [1] * 4
    assert devices[4]["attributes"]["coords"] == [2, 0, 0]
    assert devices[4]["text"] == "TpuDevice(id=2, process_index=1, coords=(2,0,0), core_on_chip=0)"


def test_chips_of_two_cores_are_two_devices_or_one_by_configuration(made: list[Any]) -> None:
    split, megacore = topology(made, "v4:2x2x1")["devices"], topology(made, "v4:2x2x2")["devices"]
    assert [device["attributes"]["core_on_chip"] for device in split] == [0, 1] * 4
    assert {device["attributes"]["num_cores"] for device in split} == {1}
    assert {device["attributes"]["num_cores"] for device in megacore} == {2}
    assert len(megacore) == 8


def test_options_are_applied(made: list[Any]) -> None:
    assert {device["process_index"] for device in topology(made, "v5e:2x4")["devices"]} == {0}
    assert topology(made, "v5e:16x16")["attributes"]["wrap"] == [1, 1, 0]
    slices = topology(made, "v5e:4x4")["devices"]
    assert (slices[0]["id"], slices[-1]["id"], slices[-1]["process_index"]) == (100000, 200015, 7)


def test_a_serialized_topology_is_restored(made: list[Any]) -> None:
    for found in made:
        copy = found.pop("deserialized")
        damaged = found.pop("damaged")
        assert copy == found
        assert {code for code, _ in damaged} == {"INVALID_ARGUMENT"}
    assert len({found["fingerprint"] for found in made}) == len(made)


def test_an_impossible_topology_is_refused_with_possible_ones(tmp_path: Path) -> None:
    answers = topologies(tmp_path, [wanted for wanted, _ in REFUSED], FRAMEDEX_RECORD="0")
    for (wanted, message), (code, text) in zip(REFUSED, answers, strict=True):
        assert code == "INVALID_ARGUMENT", wanted
        assert message in text, wanted


def test_jax_finds_topologies_by_name(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import json\n"
        "from jax.experimental import topologies\n"
        "described = topologies.get_topology_desc(platform='tpu', topology_name='v5e:2x2', num_slices=2)\n"
        "print(json.dumps([len(described.devices), described.devices[-1].device_kind]))\n"
    )
    assert run(str(tmp_path / "program.py"), folder=tmp_path).result == [8, "TPU v5 lite"]


def test_topologies_equal_those_of_libtpu(made: list[Any], tmp_path: Path) -> None:
    libtpu = os.environ.get("FRAMEDEX_TEST_LIBTPU")
    if libtpu is None:
        pytest.skip("FRAMEDEX_TEST_LIBTPU names no libtpu.so, such as that of the PyPI package libtpu")
    theirs = topologies(tmp_path, TOPOLOGIES, TPU_LIBRARY_PATH=libtpu, TPU_SKIP_MDS_QUERY="1")
    for own, real in zip(made, theirs, strict=True):
        assert [comparable(device) for device in own["devices"]] == [comparable(device) for device in real["devices"]]
        assert own["attributes"].keys() == real["attributes"].keys()


def comparable(device: dict[str, Any]) -> dict[str, Any]:
    """A device without its memory, of which libtpu reserves some, and its slice, named only if there are several."""
    attributes = {
        name: value
        for name, value in device["attributes"].items()
        if name not in ("device_memory_bytes_limit", "slice_index")
    }
    return {**device, "attributes": attributes}
