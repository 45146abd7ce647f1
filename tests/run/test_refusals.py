"""Unsupported uses of `framedex run` are refused with a remedy before the program starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from packaging.requirements import Requirement

from framedex.commands.main import cli
from framedex_native import _native
from tests import pythons
from tests.run.invoking import Ended, framedex_run, program

RUN = (program("endings.py"), "returns")


def assert_refused(ended: Ended, message: str, remedy: str) -> None:
    """The program did not run, and the two lines have the reason and the remedy."""
    assert ended.status == 1
    assert ended.stdout == b""
    assert message in ended.said[0]
    assert remedy in ended.stderr.decode().splitlines()[1]


def test_a_python_that_is_too_old_is_refused(tmp_path: Path) -> None:
    old = next((python for version in ("3.10", "3.9", "3.8") for python in pythons.found(version)), None)
    if old is None:
        pytest.skip("no Python older than 3.11 here")
    ended = framedex_run("--python", old.path, *RUN, folder=tmp_path)
    assert_refused(
        ended, f"{old.path} is Python {old.version}.", "Use one of Python 3.11 to 3.15: `framedex run --python"
    )


@pytest.mark.parametrize("version", ["3.13t", "3.14t"])
def test_a_free_threaded_python_is_refused(tmp_path: Path, version: str) -> None:
    python = next(iter(pythons.found(version)), None)
    if python is None:
        pytest.skip(f"no Python {version} here")
    ended = framedex_run("--python", python.path, *RUN, folder=tmp_path)
    message = "t: free-threaded Python is not recorded."
    assert_refused(ended, message, "Use one of Python 3.11 to 3.15: `framedex run --python")


def test_a_python_without_jaxlib_is_refused(tmp_path: Path) -> None:
    bare = next((p for v in pythons.RECORDABLE for p in pythons.found(v) if not p.has_jax), None)
    if bare is None:
        pytest.skip("every Python here has JAX")
    ended = framedex_run("--python", bare.path, *RUN, folder=tmp_path)
    assert_refused(ended, f"{bare.path} has no jaxlib.", f"`{bare.path} -m pip install jax`")


@pytest.mark.exhaustive(keep=["0.13.0"])
@pytest.mark.parametrize("version", ["0.4.1", "0.13.0", "1.0", "unknown"])
def test_an_unsupported_jaxlib_is_refused(tmp_path: Path, version: str) -> None:
    metadata = tmp_path / "packages" / f"jaxlib-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text(f"Metadata-Version: 2.1\nName: jaxlib\nVersion: {version}\n")
    ended = framedex_run(*RUN, folder=tmp_path, PYTHONPATH=str(tmp_path / "packages"))
    assert_refused(
        ended,
        f"jaxlib {version} is not supported: framedex records jaxlib 0.8 to 0.12, and 0.4.13.",
        "pip install 'jax>=",
    )
    assert Requirement(ended.stderr.decode().split("'")[1]).specifier.contains("0.12.9")


def test_an_invalid_python_is_refused(tmp_path: Path) -> None:
    (tmp_path / "python").write_text("")
    for path in (tmp_path / "python", tmp_path / "nowhere"):
        ended = framedex_run("--python", str(path), *RUN, folder=tmp_path)
        assert_refused(ended, f"{path} cannot be run as Python: ", "Name another Python.")


@pytest.mark.parametrize("output", ["file", "file/captures"])
def test_a_capture_folder_that_cannot_be_created_is_refused(tmp_path: Path, output: str) -> None:
    (tmp_path / "file").write_text("kept")
    ended = framedex_run("-o", output, *RUN, folder=tmp_path)
    assert ended.status != 0
    assert ended.stdout == b""
    assert output in ended.stderr.decode()
    assert (tmp_path / "file").read_text() == "kept"


def test_a_missing_tpu_library_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "__file__", str(tmp_path / "_native.so"))
    result = CliRunner().invoke(cli, ["run", "-o", str(tmp_path / "captures"), *RUN])
    assert result.exit_code == 1
    assert f"{tmp_path / 'libtpu.so'} is missing: the framedex installation is incomplete" in result.stderr
    assert "pip install --force-reinstall framedex" in result.stderr


def test_an_unloadable_tpu_library_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "libtpu.so").write_bytes(b"not a library")
    monkeypatch.setattr(_native, "__file__", str(tmp_path / "_native.so"))
    result = CliRunner().invoke(cli, ["run", "-o", str(tmp_path / "captures"), *RUN])
    assert result.exit_code == 1
    assert "The mock TPU cannot be loaded" in result.stderr
    assert "pip install --force-reinstall framedex" in result.stderr


@pytest.mark.exhaustive(keep=["no script", "hbm"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name a script, a command, a module with -m, or code with -c: `framedex run SCRIPT [ARGS]...`."),
        (["nowhere.py"], "There is no script 'nowhere.py'."),
        (["--devices", "0", *RUN], "0 is not in the range x>=1"),
        (["--devices", "many", *RUN], "'many' is not a valid integer"),
        (["--hbm", "12q", *RUN], "'12q' is not a number of bytes: write it like 1048576, 512MiB or 16GiB."),
        (["--hbm", "0", *RUN], "'0' is not a number of bytes"),
    ],
    ids=["nothing", "no script", "no devices", "devices", "hbm", "no hbm"],
)
def test_usage_errors_are_refused(tmp_path: Path, arguments: list[str], message: str) -> None:
    ended = framedex_run(*arguments, folder=tmp_path)
    assert ended.status == 2
    assert message in ended.stderr.decode()
    assert not (tmp_path / ".framedex").exists()


@pytest.mark.exhaustive(keep=["--device v9-", "--fail device:8-"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--hbm", "100TiB"], "FRAMEDEX_HBM=109951162777600 is not a number of bytes of device memory from 1 to 2^44."),
        (["--device", "v9"], "there is no TPU kind 'v9'; the kinds are v2, v3, v4, v5e, v5p, v6e, tpu7x."),
        (["--device", "v5e:2x2", "--devices", "3"], "FRAMEDEX_DEVICE=v5e:2x2 has 4 devices"),
        (["--hosts", "2", "--host-id", "2"], "FRAMEDEX_HOST_ID=2 is not the number of a host, from 0 to 1."),
        (["--fail", "device:8"], "there is no device 8 to fail: v5e:1x1 has 1, from 0 on."),
        (["--slices", "2", "--fail", "device:0"], "there is no device 0 to fail: v5e:1x1 has 2, from 100000 on."),
        (["--fail", "device:x"], "the failure 'device:x' has no device id after 'device:'."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_impossible_mock_tpu_is_refused(tmp_path: Path, arguments: list[str], message: str) -> None:
    ended = framedex_run(*arguments, *RUN, folder=tmp_path)
    assert_refused(ended, f"The mock TPU cannot be opened: {message}", "Check --device, --devices, --hosts")
