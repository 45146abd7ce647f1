"""Transfers between hosts over the network, and lowering for devices that are only described."""

from __future__ import annotations

from pathlib import Path

from tests.running import run


def test_arrays_move_over_the_network_and_described_devices_have_memories(tmp_path: Path) -> None:
    """jax.experimental.transfer fills buffers in parts; lowering for host memory queries the available memories."""
    done = run("network_transfer.py", folder=tmp_path, FRAMEDEX_DEVICES="2")
    assert done.result == {
        "pulled": True,
        "device": True,
        "memories": ["device", "pinned_host", "unpinned_host"],
        "default": "device",
        "lowered": True,
    }
