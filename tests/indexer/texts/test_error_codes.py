"""The names of error codes match the PJRT C API from which the recorder was generated."""

from __future__ import annotations

import json
from pathlib import Path

from framedex.texts.errors import ErrorCode, name_error

ABI = Path(__file__).parents[3] / "native" / "abi" / "pjrt_c_api.json"


def test_error_codes_equal_those_of_the_c_api() -> None:
    codes = json.loads(ABI.read_text())["enums"]["PJRT_Error_Code"]

    assert {f"PJRT_Error_Code_{code.name}": code.value for code in ErrorCode} == codes


def test_an_unknown_code_keeps_its_number() -> None:
    assert name_error(8) == "RESOURCE_EXHAUSTED"
    assert name_error(99) == "99"
