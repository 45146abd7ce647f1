"""Binaries in the index are distinguished by content, and found by their build-ids."""

from __future__ import annotations

from dataclasses import replace

from tests.indexer.recorded import Project


def test_a_binary_is_found_by_a_build_id_prefix_but_not_by_its_fingerprint(project: Project) -> None:
    by_build_id = replace(project.capture.modules[0], build_id="c0ffee00", fingerprint="")
    by_fingerprint = replace(project.capture.modules[1], build_id=None, fingerprint="c0ffee11")
    with project.ingest(capture=replace(project.capture, modules=(by_build_id, by_fingerprint))) as index:
        assert index.names.modules_with_build_id("c0ffee") == [by_build_id.path]
        assert index.names.modules_with_build_id("c0ffee11") == []
