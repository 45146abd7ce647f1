"""The machine that settings request: its kind, its shape, its slices, and how JAX's helpers use it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pythons import ROOT
from tests.running import run
from tests.tiers import exhaustive_unless

DATA = ROOT / "native/pjrt/mock/machine/tpu_kinds.json"
KINDS = {kind["name"]: kind for kind in json.loads(DATA.read_text())["kinds"]}


def machine(folder: Path, **environment: str) -> dict[str, Any]:
    """What `machine.py` prints with these settings."""
    seen: dict[str, Any] = run("machine.py", folder=folder, **environment).result
    return seen


@pytest.fixture(scope="module", params=exhaustive_unless(KINDS, "v4"))
def alone(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[str, Any]]:
    """A row of the table, and the machine when the settings have only the kind."""
    name: str = request.param
    return KINDS[name], machine(tmp_path_factory.mktemp(name), FRAMEDEX_DEVICE=name)


def test_a_kind_without_shape_is_its_smallest_slice(alone: tuple[Any, dict[str, Any]]) -> None:
    kind, seen = alone
    chip = next(entry for entry in kind["configurations"] if entry["name"] == kind["client"])
    x, y, z = kind["smallest_slice"]
    devices = seen["devices"]
    assert len(devices) == x * y * z * chip["devices_per_chip"]
    assert {device["kind"] for device in devices} == {kind["device_kind"]}
    assert {device["num_cores"] for device in devices} == {chip["cores_per_device"]}
    assert [device["id"] for device in devices] == list(range(len(devices)))
    assert devices[-1]["coords"] == [x - 1, y - 1, z - 1]
    assert devices[-1]["core_on_chip"] == chip["devices_per_chip"] - 1
    assert seen["statistics"]["bytes_limit"] == seen["statistics"]["bytes_reservable_limit"] == chip["memory"]
    assert seen["memories"] == [["device", "pinned_host", "unpinned_host"]] * len(devices)


def test_pallas_knows_the_chip_as_in_the_table(alone: tuple[Any, dict[str, Any]]) -> None:
    kind, seen = alone
    assert {size: seen["tensor_core"][size] for size in ("vmem", "smem", "cmem")} == kind["tensor_core"]


@pytest.mark.exhaustive(keep=["16 of v4"])
@pytest.mark.parametrize(
    ("settings", "last"),
    [
        pytest.param({"FRAMEDEX_DEVICES": "8"}, [1, 3, 0], id="8 of v5e"),
        pytest.param({"FRAMEDEX_DEVICES": "6"}, [1, 2, 0], id="6 of v5e"),
        pytest.param({"FRAMEDEX_DEVICES": "4"}, [1, 1, 0], id="4 of v5e"),
        pytest.param({"FRAMEDEX_DEVICE": "v4", "FRAMEDEX_DEVICES": "2"}, [0, 1, 0], id="2 of v4"),
        pytest.param({"FRAMEDEX_DEVICE": "v4", "FRAMEDEX_DEVICES": "16"}, [1, 1, 3], id="16 of v4"),
        pytest.param({"FRAMEDEX_DEVICE": "v3", "FRAMEDEX_DEVICES": "16"}, [1, 3, 0], id="16 of v3"),
        pytest.param({"FRAMEDEX_DEVICE": "v5p:2x2x4"}, [1, 1, 3], id="v5p:2x2x4"),
        pytest.param({"FRAMEDEX_DEVICE": "TPU v5 lite:4x2"}, [3, 1, 0], id="TPU v5 lite:4x2"),
    ],
)
def test_devices_have_the_requested_or_usual_shape(tmp_path: Path, settings: dict[str, str], last: list[int]) -> None:
    seen = machine(tmp_path, **settings)
    assert seen["devices"][-1]["coords"] == last
    assert seen["local"] == [device["id"] for device in seen["devices"]]
    assert_meshes_have_every_device(seen)


@pytest.mark.exhaustive
@pytest.mark.parametrize("device", ["v5e:2x4", "v4:2x2x2", "v6e:2x4", "v5p:2x2x2", "v3:2x2", "tpu7x:2x2x1"])
def test_jax_builds_meshes_of_the_machine(tmp_path: Path, device: str) -> None:
    assert_meshes_have_every_device(machine(tmp_path, FRAMEDEX_DEVICE=device))


def assert_meshes_have_every_device(seen: dict[str, Any]) -> None:
    """JAX's helpers make meshes of all devices."""
    ids = sorted(entry["id"] for entry in seen["devices"])
    for mesh in ("make_mesh", "device_mesh", "hybrid_mesh"):
        assert sorted(id for row in seen[mesh] for id in row) == ids, mesh


def test_slices_of_one_process_have_the_ids_and_texts_of_libtpu(tmp_path: Path) -> None:
    seen = machine(tmp_path, FRAMEDEX_DEVICE="v5e:2x2", FRAMEDEX_SLICES="2")
    assert [device["id"] for device in seen["devices"]] == [*range(100000, 100004), *range(200000, 200004)]
    assert [device["slice_index"] for device in seen["devices"]] == [0] * 4 + [1] * 4
    assert seen["devices"][-1]["debug_text"] == ("MegaScalePjRtDevice(wrapped=TPU_3(process=0,(1,1,0,0)), slice_id=1)")
    assert seen["donated_while_read"] == [1, 0]
    assert seen["hybrid_mesh"] and all(len({id // 100000 for id in row}) == 1 for row in seen["hybrid_mesh"])


def test_with_several_hosts_a_process_has_only_its_own_devices(tmp_path: Path) -> None:
    seen = machine(tmp_path, FRAMEDEX_DEVICE="v5e:4x4", FRAMEDEX_HOSTS="4", FRAMEDEX_HOST_ID="1")
    assert seen["process"] == [1, 4]
    assert seen["local"] == [2, 3, 6, 7]
    assert [device["process_index"] for device in seen["devices"]] == [i // 4 for i in range(16)]
    own = [device["local_hardware_id"] for device in seen["devices"] if device["process_index"] == 1]
    assert own == [0, 1, 2, 3]
    assert {device["local_hardware_id"] for device in seen["devices"] if device["process_index"] != 1} == {None}
    assert "MemoryStats is only supported for addressable" in seen["foreign_statistics"]
    assert len(seen["memories"]) == 4


REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "unknown kind": (
        {"FRAMEDEX_DEVICE": "v9"},
        "no TPU kind 'v9'; the kinds are v2, v3, v4, v5e, v5p, v6e, tpu7x.",
    ),
    "malformed shape": (
        {"FRAMEDEX_DEVICE": "v5e:3"},
        "FRAMEDEX_DEVICE=v5e:3 has no chip shape after the colon, such as v5e:2x4.",
    ),
    "too many devices": (
        {"FRAMEDEX_DEVICE": "v5e:200x200"},
        "1 x v5e:200x200 is more than the 16384 devices that can be simulated.",
    ),
    "half a chip": ({"FRAMEDEX_DEVICE": "v3", "FRAMEDEX_DEVICES": "3"}, "a v3 chip has 2 devices."),
    "another number of devices": (
        {"FRAMEDEX_DEVICE": "v5e:2x2", "FRAMEDEX_DEVICES": "8"},
        "has 4 devices, which contradicts FRAMEDEX_DEVICES=8",
    ),
    "uneven hosts": ({"FRAMEDEX_DEVICE": "v5e:4x4", "FRAMEDEX_HOSTS": "3"}, "as many as these can: 1, 2, 4, 8, 16."),
    "unknown host": (
        {"FRAMEDEX_HOSTS": "2", "FRAMEDEX_HOST_ID": "2"},
        "FRAMEDEX_HOST_ID=2 is not the number of a host, from 0 to 1",
    ),
    "uneven slices": (
        {"FRAMEDEX_SLICES": "2", "FRAMEDEX_HOSTS": "3"},
        "3 hosts cannot be shared evenly by 2 slices.",
    ),
}


@pytest.mark.exhaustive(keep=["unknown kind", "uneven hosts"])
@pytest.mark.parametrize("name", REFUSED)
def test_an_impossible_machine_is_refused_with_possible_ones(tmp_path: Path, name: str) -> None:
    settings, message = REFUSED[name]
    done = run("endings.py", "returns", folder=tmp_path, **settings)
    assert "framedex: the mock TPU cannot be opened: " in done.stderr
    assert message in done.stderr
