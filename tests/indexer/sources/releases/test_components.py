"""The component of a frame."""

from __future__ import annotations

import pytest

from framedex.sources.releases.components import (
    NAMES,
    Component,
    FrameOwner,
    find_owner_of_native,
    find_owner_of_python,
)

SITE = "/venv/lib/python3.11/site-packages"
JAXLIB = f"{SITE}/jaxlib/libjax_common.so"


@pytest.mark.parametrize(
    ("file", "component"),
    [
        (f"{SITE}/jax/_src/api.py", Component.JAX),
        (f"{SITE}/jaxlib/mlir/ir.py", Component.JAXLIB),
        (f"{SITE}/flax/nnx.py", Component.PACKAGES),
        (f"{SITE}/framedex_native/mock_tpu/compiling.py", Component.FRAMEDEX),
        (f"{SITE}/framedex/notebook/cells.py", Component.FRAMEDEX),
        ("/usr/lib/python3.11/threading.py", Component.CPYTHON),
        ("<frozen importlib._bootstrap>", Component.CPYTHON),
        ("<string>", Component.OWN),
        ("/home/me/train.py", Component.OWN),
        ("/home/me/jax/train.py", Component.OWN),
    ],
)
def test_a_python_frame_belongs_to_the_package_of_its_file(file: str, component: Component) -> None:
    assert find_owner_of_python(file).component is component


@pytest.mark.parametrize(
    ("binary", "component"),
    [
        (f"{SITE}/jax_plugins/xla_cuda12/xla_cuda_plugin.so", Component.PLUGIN),
        (f"{SITE}/libtpu/libtpu.so", Component.PLUGIN),
        ("/opt/vendor/pjrt_c_api_cpu_plugin.so", Component.PLUGIN),
        (f"{SITE}/framedex_native/libtpu.so", Component.FRAMEDEX),
        (f"{SITE}/numpy.libs/libopenblas.so", Component.PACKAGES),
        ("/usr/bin/python3.11", Component.CPYTHON),
        ("/opt/conda/lib/libpython3.13t.so.1.0", Component.CPYTHON),
        ("/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so", Component.CPYTHON),
        ("/lib/x86_64-linux-gnu/libc.so.6", Component.SYSTEM),
        ("/nix/store/abc-glibc-2.38/lib/libc.so.6", Component.SYSTEM),
        ("/opt/conda/lib/libstdc++.so.6.0.33", Component.SYSTEM),
        ("linux-vdso.so.1", Component.SYSTEM),
        ("[outside every module]", Component.GENERATED),
        ("/home/me/build/libkernels.so", Component.OWN),
        ("/home/me/python-bindings/ext.so", Component.OWN),
    ],
)
def test_a_native_frame_belongs_to_the_component_of_its_binary(binary: str, component: Component) -> None:
    assert find_owner_of_native(binary, "", "", "xla").component is component


@pytest.mark.parametrize(
    ("source", "of_source", "namespace", "component"),
    [
        ("/src/xla/xla/shape.cc", "xla", "xla", Component.XLA),
        ("jaxlib@990e6a0b8413:jaxlib/util.cc", "jaxlib", "jax", Component.JAXLIB),
        ("/src/jax/jaxlib/util.cc", "jax", "jax", Component.JAXLIB),
        ("/proc/self/cwd/external/xla/xla/shape.cc", "", "", Component.XLA),
        ("/proc/self/cwd/external/com_google_absl/absl/status.cc", "", "absl", Component.IN_JAXLIB),
        ("", "", "tsl", Component.XLA),
        ("", "", "std", Component.IN_JAXLIB),
        ("", "", "(anonymous namespace)", Component.IN_JAXLIB),
        ("", "", "", Component.JAXLIB),
    ],
)
def test_a_jaxlib_frame_belongs_to_the_component_of_its_source_or_namespace(
    source: str, of_source: str, namespace: str, component: Component
) -> None:
    owner = find_owner_of_native(JAXLIB, source, of_source, namespace)
    assert owner == FrameOwner(component, folder=f"{SITE}/jaxlib")


def test_a_plugin_is_identified_by_its_file_name() -> None:
    assert find_owner_of_native("/opt/vendor/pjrt_c_api_cpu_plugin.so", "", "", "").name == "pjrt_c_api_cpu_plugin.so"


def test_every_component_has_a_display_name() -> None:
    assert set(NAMES) == set(Component)
