"""The mock's own use of JAX is invisible to the program's listeners, and independent of its settings."""

from __future__ import annotations

from pathlib import Path

from tests.running import run


def test_listeners_and_settings_meet_only_the_programs_own_compilations(tmp_path: Path) -> None:
    heard = run("unheard.py", folder=tmp_path).result

    kinds = ("jaxpr_trace_duration", "jaxpr_to_mlir_module_duration", "backend_compile_duration", "logged")
    assert {kind: heard[kind] for kind in kinds} == dict.fromkeys(kinds, 3)
