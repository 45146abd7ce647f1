"""A trace as Markdown, for pasting into an issue."""

from __future__ import annotations

from pathlib import Path

from framedex.model import (
    CallRow,
    CaptureRow,
    FrameRole,
    FrameRow,
    FunctionRow,
    Language,
    Location,
    LocationEvidence,
    Trace,
)
from framedex_server.documents.trace_markdown import format_markdown


def frame(name: str, path: str, role: FrameRole = FrameRole.CODE) -> FrameRow:
    function = FunctionRow(1, Language.NATIVE, role, name, name, "/lib/a.so", "", None, 0)
    return FrameRow(1, function, Location(path, 7, LocationEvidence.EXACT), (), "/lib/a.so", 0x10, inlined=False)


def markdown(*frames: FrameRow) -> list[str]:
    call = CallRow(1, 1, "PJRT_Call", "PJRT", "main", 0, 2_000, 0, {}, 1)
    capture = CaptureRow(1, "/captures/1", 0.0, "python3 train.py", 1, 1, "{}", ())
    text = format_markdown(Trace(call, capture, frames), lambda path: f"file://{path}")
    return text.partition("most recent call last:\n\n")[2].splitlines()


def test_glue_is_folded_and_numbers_continue() -> None:
    found = markdown(
        frame("outer", "/gone/outer.cc"),
        frame("_PyEval_Vector", "/gone/ceval.c", FrameRole.INTERPRETER),
        frame("std::invoke", "/gone/invoke.h", FrameRole.GLUE),
        frame("inner", "/gone/inner.cc"),
    )
    assert found == [
        "1. C++ `outer` at `/gone/outer.cc:7`",
        "",
        "<details><summary>2 glue or interpreter frames</summary>",
        "",
        "2. C++ `_PyEval_Vector` at `/gone/ceval.c:7`",
        "3. C++ `std::invoke` at `/gone/invoke.h:7`",
        "",
        "</details>",
        "",
        "4. C++ `inner` at `/gone/inner.cc:7`",
    ]


def test_a_single_glue_frame_is_shown_instead_of_folded() -> None:
    found = markdown(frame("std::invoke", "/gone/invoke.h", FrameRole.GLUE), frame("inner", "/gone/inner.cc"))
    assert [line[0] for line in found] == ["1", "2"]


def test_a_package_file_has_its_path_inside_the_package(tmp_path: Path) -> None:
    path = tmp_path / "site-packages" / "jax" / "api.py"
    path.parent.mkdir(parents=True)
    path.write_text("import jax\n")
    assert markdown(frame("device_put", str(path))) == [f"1. C++ `device_put` at [`jax/api.py:7`](<file://{path}#L7>)"]
