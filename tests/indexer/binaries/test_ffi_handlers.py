"""Reading the type of an FFI handler from its code, regardless of inlining."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jaxlib
import pytest

from framedex.binaries import Binary
from framedex.programs.ffi.signatures import format_signature, parse_signature
from tests.ffi_running import EXAMPLES, library_for
from tests.indexer.binaries.embedding import compressed, embed, only_symbols
from tests.tiers import exhaustive_unless


def described(library: Path, symbol: str) -> tuple[str | None, str | None]:
    """The signature of the handler with this symbol, and the name of its original function."""
    binary = Binary.open(library)
    assert binary.symbols is not None
    start = next(found.start for found in binary.symbols if found.mangled == symbol)
    handler = binary.ffi_handler(start)
    if handler is None:
        return None, None
    made_from = None if handler.implementation is None else binary.resolve([handler.implementation])[0][-1].name
    return format_signature(parse_signature(handler.type_arguments)), made_from


@pytest.fixture(scope="module", params=exhaustive_unless(["-O0", "-O1", "-O2"], "-O1"))
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One example without debug information; all examples with -O1."""
    path = tmp_path_factory.mktemp("handlers") / "handlers.so"
    if request.param == "-O1":
        subprocess.run(["strip", "--strip-debug", library_for(sys.executable), "-o", path], check=True)
        return path
    headers = ["-isystem", str(Path(jaxlib.__file__).with_name("include"))]
    flags = ["-std=c++17", "-shared", "-fPIC", request.param]
    subprocess.run(["g++", *flags, *headers, str(EXAMPLES / "rms_norm.cc"), "-o", str(path)], check=True)
    return path


def test_a_handler_has_its_signature_and_implementation(library: Path) -> None:
    names = {"RmsNorm": "rms_norm", "RmsNormForward": "rms_norm_forward", "RmsNormBackward": "rms_norm_backward"}
    signatures = {
        "RmsNorm": "(f32) -> (f32), attributes (f32)",
        "RmsNormForward": "(f32) -> (f32, f32), attributes (f32)",
        "RmsNormBackward": "(f32, f32, f32) -> (f32)",
    }
    for symbol, name in names.items():
        assert described(library, symbol) == (signatures[symbol], f"(anonymous namespace)::{name}")


def test_embedded_symbols_give_the_same_signature(library: Path, tmp_path: Path) -> None:
    symbols = only_symbols(library, tmp_path / "symbols").read_bytes()
    moved = embed(library, tmp_path / "moved.so", compressed(symbols))

    assert described(library, "RmsNorm")[1] is not None
    for symbol in ("RmsNorm", "RmsNormForward", "RmsNormBackward"):
        assert described(moved, symbol) == described(library, symbol)


def test_a_stripped_library_has_no_signature(library: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "stripped.so"
    subprocess.run(["strip", "-s", str(library), "-o", str(stripped)], check=True)
    signature, made_from = described(stripped, "RmsNorm")
    assert made_from is None
    assert signature in (None, "(f32) -> (f32), attributes (f32)"), "exported weak symbols may still name the type"


def test_states_and_strings_are_decoded_and_untyped_handlers_have_no_signature() -> None:
    library = library_for(sys.executable)
    assert described(library, "CounterExecute") == (
        "(s32) -> (s32), attributes (s32)",
        "(anonymous namespace)::count_run",
    )
    assert described(library, "CounterInstantiate")[0] == "() -> (), attributes (s32)"
    assert described(library, "Fail")[0] == "(f32) -> (f32), attributes (string)"
    assert described(library, "AddOneUntyped") == (None, None)


def test_jaxlib_handlers_have_signatures() -> None:
    library = next(Path(jaxlib.__file__).parent.rglob("_lapack.so"))
    signature, made_from = described(library, "lapack_spotrf_ffi")
    assert signature == "(f32) -> (f32, s32), attributes (UpLo)"
    assert made_from is not None and made_from.startswith("jax::CholeskyFactorizationKernel")


def test_damaged_files_give_fewer_signatures_and_never_raise(library: Path, tmp_path: Path) -> None:
    content = library.read_bytes()
    start = next(found.start for found in Binary.open(library).symbols or () if found.mangled == "RmsNorm")
    for size in range(0, len(content), max(len(content) // 40, 1)):
        damaged = tmp_path / f"{size}.so"
        damaged.write_bytes(content[:size])
        Binary.open(damaged).ffi_handler(start)
    for place in range(64, len(content), max(len(content) // 40, 1)):
        damaged = tmp_path / f"bytes-{place}.so"
        damaged.write_bytes(content[:place] + b"\xff" * 64 + content[place + 64 :])
        Binary.open(damaged).ffi_handler(start)
