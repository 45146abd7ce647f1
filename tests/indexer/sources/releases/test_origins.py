"""The release of a binary, by its package and by the names in it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from framedex.model import Metadata, Module
from framedex.sources.releases import NO_ORIGIN, BinaryOrigin, Build, FunctionOrigins, find_builds, read_release_commits
from tests.indexer.recorded import Project

SITE = "/env/lib/python3.11/site-packages"
XLA = Build("xla", "0.10.2", "c0ffee", f"{SITE}/jaxlib")
JAXLIB = Build("jaxlib", "0.10.2", "dead", f"{SITE}/jaxlib")
CUDA = Build("xla", "0.10.1", "beef", f"{SITE}/jax_plugins/xla_cuda12")
NAMED_BY_XLA = "absl::Status xla::(anonymous namespace)::Run<int>(xla::Shape const&)"


@pytest.mark.parametrize("symbol", [NAMED_BY_XLA, "absl::Foo::bar()", "main"])
def test_a_library_of_a_package_belongs_to_its_release(symbol: str) -> None:
    origins = FunctionOrigins([JAXLIB, XLA, CUDA])
    assert origins.origin_of(f"{SITE}/jaxlib/cpu/_lapack.so", symbol) == BinaryOrigin("0.10.2", is_known=True)
    plugin = f"{SITE}/jax_plugins/xla_cuda12/xla_cuda_plugin.so"
    assert origins.origin_of(plugin, symbol) == BinaryOrigin("0.10.1", is_known=True)


def test_xla_names_in_another_binary_belong_to_an_unknown_release() -> None:
    origins = FunctionOrigins([JAXLIB, XLA])
    assert origins.origin_of("/plugins/libpjrt.so", NAMED_BY_XLA) == BinaryOrigin("0.10.2")
    assert origins.origin_of(f"{SITE}/jaxlib_of_mine/lib.so", "tsl::Env::Default()") == BinaryOrigin("0.10.2")
    assert FunctionOrigins().origin_of("/plugins/libpjrt.so", NAMED_BY_XLA) == BinaryOrigin("")


@pytest.mark.parametrize(
    "symbol",
    ["", "Foo::Run()", "absl::Status mine::Run(xla::Shape)", "std::vector<xla::Shape>::push_back()", "xla_run()"],
)
def test_foreign_names_belong_to_no_release(symbol: str) -> None:
    assert FunctionOrigins([JAXLIB, XLA]).origin_of("/mine/libops.so", symbol) == NO_ORIGIN


@pytest.mark.parametrize(
    ("binary", "distribution"),
    [
        ("jax_plugins/xla_cuda12/xla_cuda_plugin.so", "jax_cuda12_pjrt"),
        ("jax_plugins/xla_rocm7/xla_rocm_plugin.so", "jax_rocm7_pjrt"),
        ("jax_cuda13_plugin/_linalg.so", "jax_cuda13_plugin"),
    ],
)
def test_gpu_plugins_have_the_version_of_their_own_distribution(
    project: Project, tmp_path: Path, binary: str, distribution: str
) -> None:
    site = tmp_path / "site-packages"
    (site / f"{distribution}-0.10.1.dist-info").mkdir(parents=True)
    (site / "jax_cuda12_pjrt_of_others-0.9.0.dist-info").mkdir()
    metadata = Metadata(started_unix_ns=4_000_000_000_000_000_000)
    modules = (Module(f"{site}/{binary}", 0, 1, None, ""),)

    (build,) = find_builds(replace(project.capture, codes=(), modules=modules, metadata=metadata))

    folder = f"{site}/{binary.rpartition('/')[0]}"
    assert build == Build("xla", "0.10.1", read_release_commits("0.10.1")["xla"], folder)
    assert FunctionOrigins([build]).origin_of(f"{site}/{binary}", "main") == BinaryOrigin("0.10.1", is_known=True)
