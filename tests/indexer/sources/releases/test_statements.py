"""Statements of releases in texts: the forms that tools print and people paste, and texts without a statement."""

from __future__ import annotations

import pytest

from framedex.sources.releases.statements import StatedReleases
from framedex.text_stacks.stream import AnnotatedLog
from tests.indexer.text_stacks.test_stream import Names

JAX_AND_JAXLIB_0_9_1 = [
    "jax                0.9.1\njaxlib             0.9.1",
    "jax==0.9.1\njaxlib==0.9.1",
    "jax==0.9.1 jaxlib==0.9.1",
    "jax[cuda12]==0.9.1\njaxlib==0.9.1+cuda12.cudnn89",
    "jax==0.9.1 ; python_version >= '3.11' \\\n    --hash=sha256:00\njaxlib==0.9.1 \\",
    "jax==0.9.1   # via -r requirements.in\njaxlib==0.9.1",
    (
        "jax                       0.9.1              pyhd8ed1ab_0    conda-forge\n"
        "jaxlib                    0.9.1           cpu_py312h3fea53c_0    conda-forge"
    ),
    "  - jax=0.9.1=pyhd8ed1ab_0\n  - jaxlib=0.9.1=cpu_py312h_0",
    ('[[package]]\nname = "jax"\nversion = "0.9.1"\nsource = {}\n[[package]]\nname = "jaxlib"\nversion = "0.9.1"'),
    '[{"name": "jax", "version": "0.9.1"}, {"name": "jaxlib", "version": "0.9.1"}]',
    (
        "{\n"
        ' "name": "jax",\n'
        ' "platform": "noarch",\n'
        ' "version": "0.9.1"\n'
        "},{\n"
        ' "name": "jaxlib",\n'
        ' "platform": "noarch",\n'
        ' "version": "0.9.1"\n'
        "}"
    ),
    "Name: jax\nVersion: 0.9.1\nSummary: x\nRequires: jaxlib\n---\nName: jaxlib\nVersion: 0.9.1",
    "jax:    0.9.1\njaxlib: 0.9.1\nnumpy:  2.2.1\npython: 3.12.3 (main)",
    "jax-0.9.1-py3-none-any.whl\njaxlib-0.9.1-cp312-cp312-manylinux_2_27_x86_64.whl",
    (
        "https://conda.anaconda.org/conda-forge/noarch/jax-0.9.1-pyhd8ed1ab_0.conda\n"
        "https://x/linux-64/jaxlib-0.9.1-cpu_py312h.conda"
    ),
    "| jax | 0.9.1 |\n| jaxlib | 0.9.1 |",
    "| `jax` | `0.9.1` |\n| **jaxlib** | 0.9.1 |",
    "jax|0.9.1\njaxlib|0.9.1",
    "JAX version: 0.9.1\njaxlib version: 0.9.1",
    "**JAX version**: 0.9.1\n**jaxlib version:** 0.9.1",
    "jax_version=0.9.1 jaxlib_version=0.9.1",
    'jax_version = "0.9.1"\njaxlib_version: 0.9.1',
    "JAX 0.9.1 / libtpu 0.0.30\nJAXLIB 0.9.1",
    "jax/jaxlib 0.9.1",
    "jax and jaxlib 0.9.1",
    "jax==jaxlib==0.9.1",
    "jax, jaxlib: 0.9.1",
    "### What jax/jaxlib version are you using?\n\n0.9.1\n",
    "### What jax/jaxlib version are you using?\n\njax v0.9.1, jaxlib v0.9.1\n",
    ">>> jax.__version__\n'0.9.1'\n>>> jaxlib.__version__\n'0.9.1'",
    "In [2]: jax.__version__\nOut[2]: '0.9.1'\nIn [3]: jaxlib.__version__\nOut[3]: '0.9.1'",
    "{'jax': '0.9.1', 'jaxlib': '0.9.1'}",
    '"jax==0.9.1",\n"jaxlib==0.9.1",',
    "pip install 'jax[tpu]==0.9.1' jaxlib==0.9.1",
    " - jax==0.9.0\n + jax==0.9.1\n - jaxlib==0.9.0\n + jaxlib==0.9.1",
    (
        "Found existing installation: jax 0.9.0\n"
        "Successfully uninstalled jax-0.9.0\n"
        "Successfully installed Deprecated-1.2.14 jax-0.9.1 jaxlib-0.9.1"
    ),
    (
        "Requirement already satisfied: jax[cuda12]==0.9.1 in ./venv/lib (0.9.1)\n"
        "Requirement already satisfied: jaxlib<=0.9.1,>=0.9.1 in ./v (from jax) (0.9.1)"
    ),
    "jax==0.9.1\n  - jaxlib [required: >=0.9.1,<=0.9.1, installed: 0.9.1]",
    "jax v0.9.1\n├── jaxlib v0.9.1",
    "/nix/store/abc-python3.12-jax-0.9.1/lib\n/nix/store/a-python3.12-jaxlib-0.9.1/lib",
    (
        "jaxlib @ https://s/jaxlib-0.9.1%2Bcuda12.cudnn89-cp311-cp311-manylinux2014_x86_64.whl#sha256=0\n"
        "jax @ file:///x/jax-0.9.1-py3-none-any.whl"
    ),
    "jax (0.9.1)\njaxlib (0.9.1)",
    "jax version is 0.9.1. jaxlib is 0.9.1.",
    "jax\t0.9.1\njaxlib\t0.9.1",
    "I use JAX 0.9.1, with Jaxlib 0.9.1.",
    "jax@0.9.1 jaxlib@0.9.1",
    "│ jax    │ 0.9.1 │\n│ jaxlib │ 0.9.1 │",
    "INFO:2026-01-01 jax=0.9.1, jaxlib=0.9.1",
    "jax-0.9.1.dist-info jaxlib-0.9.1.dist-info",
    "Using jax: `0.9.1`; jaxlib: `0.9.1`",
    "Collecting jax==0.9.1\n  Downloading jaxlib-0.9.1-cp312-cp312-manylinux_2_27_x86_64.whl.metadata (1.3 kB)",
    "jax.version.__version__ = 0.9.1\njaxlib.version.__version__: '0.9.1'",
    "Package Version\n------- -------\njax     0.9.1\njaxlib  0.9.1",
]
NO_RELEASE_OF_JAX = [
    "JAX: 0.0123",
    "jax: 0.35 s",
    "jax 2.5 times faster",
    "JAX 1.5x",
    "This is deprecated in JAX v0.9.0 and will be removed in JAX v0.10.0",
    "nvcr.io/nvidia/jax:24.10-py3",
    "mujax==0.10.2",
    "jax-v0.9.1-120-gabcdef",
    "Name: numpy\nVersion: 0.9.1",
    "jaxlib is version 0.4.14, but this version of jax requires version >= 0.4.16",
    "jax 0.9.1x",
    "jax>=0.9.1",
    "flax 0.9.1",
    "jax-cuda12-plugin 0.9.1",
    "jax_cuda12_plugin-0.9.1-cp312",
    "jax took 0.9.1s",
    "[jax 0.9",
    "jax 127.0.0.1",
    "jaxtyping 0.2.34",
    "jax.numpy 0.9.1",
    "JAX version:\n\nloss 0.9.1",
    "jax-md 0.9.1",
    "opt/jax 0.9.1",
    "it fails since jax 0.9.1",
    "jax: 127.0.0.1",
]


def stated(text: str) -> tuple[set[str], set[str]]:
    releases = StatedReleases(text)
    return set(releases.versions_of("jax")), set(releases.versions_of("jaxlib"))


def stated_to_a_stream(text: str) -> tuple[set[str], set[str]]:
    releases = StatedReleases()
    log = AnnotatedLog(Names(), releases)
    list(log.annotate(text.encode()))
    list(log.finish())
    return set(releases.versions_of("jax")), set(releases.versions_of("jaxlib"))


@pytest.mark.parametrize("text", JAX_AND_JAXLIB_0_9_1)
def test_each_form_states_the_releases_of_jax_and_jaxlib(text: str) -> None:
    assert stated(text) == ({"0.9.1"}, {"0.9.1"})


def test_other_packages_numbers_and_wishes_state_no_release() -> None:
    assert {text: stated(text) for text in NO_RELEASE_OF_JAX if stated(text) != (set(), set())} == {}


def test_a_streamed_log_states_the_same_releases_as_a_whole_one() -> None:
    # An answer without a recognisable word is parsed only if the whole text is known.
    texts = [text for text in JAX_AND_JAXLIB_0_9_1 if "__version__\n" not in text and "using?\n\n0" not in text]
    assert {text: stated_to_a_stream(text) for text in texts if stated_to_a_stream(text) != stated(text)} == {}
    record = 'name = "{}"\nversion = "0.9.1"\n'
    packages = record.format("numpy") + record.format("scipy") + record.format("jaxlib")
    assert stated_to_a_stream(packages) == (set(), {"0.9.1"})


@pytest.mark.parametrize(
    "line",
    [
        "python: 3.12.3 (main, Jan 1 2026)",
        "Python 3.12.3 (main)",
        "python                    3.12.3   hab0_cpython",
        "  - python=3.12.3=hab00c5b_0_cpython",
        "Python version: 3.12",
        "Process 7: python train.py\nPython v3.12.3 (/u/python)",
    ],
)
def test_python_versions_have_two_numbers(line: str) -> None:
    assert StatedReleases(line).versions_of("python") == {"3.12"}


def test_several_releases_of_one_package_are_all_returned() -> None:
    assert StatedReleases("jaxlib==0.9.1\njaxlib: 0.10.2\n").versions_of("jaxlib") == {"0.9.1", "0.10.2"}


def test_a_nightly_build_keeps_its_commit_and_others_lose_their_local_version() -> None:
    assert stated("jaxlib==0.11.1.dev20260808+cec06d116")[1] == {"0.11.1.dev20260808+cec06d116"}
    assert stated("jaxlib: 0.4.28+cuda12.cudnn89")[1] == {"0.4.28"}


def test_a_changed_statement_counts_as_a_change() -> None:
    releases = StatedReleases(" - jaxlib==0.9.0\n")
    known = releases.count
    releases.read_line(" + jaxlib==0.9.1")
    assert releases.versions_of("jaxlib") == {"0.9.1"}
    assert releases.count > known


def test_a_bare_version_in_a_stream_states_a_release_after_a_name() -> None:
    text = "Version: 0.9.1\n" * 3 + "Name: jax\nVersion: 0.9.1\n"
    assert stated_to_a_stream(text) == stated(text) == ({"0.9.1"}, set())


def test_a_version_many_lines_after_a_name_is_not_of_that_package() -> None:
    near, far = ("Name: jax\n" + "Summary: x\n" * lines + "Version: 0.9.1\n" for lines in (3, 4))
    assert [stated(near), stated(far)] == [({"0.9.1"}, set()), (set(), set())]
    assert [stated_to_a_stream(near), stated_to_a_stream(far)] == [({"0.9.1"}, set()), (set(), set())]


def test_a_row_of_a_table_states_the_releases_in_all_its_cells() -> None:
    rows = "| | working | broken |\n|---|---|---|\n| jax | `0.9.0` | **0.9.1** |\n| jaxlib | 0.9.0 | 0.9.1 |\n"
    assert stated(rows) == ({"0.9.0", "0.9.1"}, {"0.9.0", "0.9.1"})


@pytest.mark.parametrize(
    "line",
    [
        "This does not happen with jax 0.9.0.",
        "I can't reproduce this on jax==0.9.0",
        "jax 0.9.0 is fine",
        "Everything is fine with jax 0.9.0",
        "There is no error with jax 0.9.0",
        "the same script passes under jax 0.9.0",
    ],
)
def test_a_release_mentioned_as_working_is_not_that_of_the_text(line: str) -> None:
    assert stated(line) == (set(), set())
    assert stated(f"jax==0.9.1\n{line}") == ({"0.9.1"}, set())
    assert stated(f"{line.rstrip('.')}, but jax 0.9.1 crashes") == ({"0.9.0", "0.9.1"}, set()), "either may be meant"


def test_a_dockerfile_variable_states_a_release() -> None:
    assert stated("ENV JAX_VERSION=0.9.1 JAXLIB_VERSION=0.9.0") == ({"0.9.1"}, {"0.9.0"})
