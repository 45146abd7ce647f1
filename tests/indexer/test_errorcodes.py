"""The names of error codes are those of the PJRT C API that the recorder was generated from."""

from __future__ import annotations

import json
from pathlib import Path

from framedex.errortext import ErrorCode, error_name

ABI = Path(__file__).parents[2] / "native" / "abi" / "pjrt_c_api_0.112.json"


def test_the_codes_are_those_of_the_c_api() -> None:
    codes = json.loads(ABI.read_text())["enums"]["PJRT_Error_Code"]

    assert {f"PJRT_Error_Code_{code.name}": code.value for code in ErrorCode} == codes


def test_a_code_that_is_none_of_pjrts_keeps_its_number() -> None:
    assert error_name(8) == "RESOURCE_EXHAUSTED"
    assert error_name(99) == "99"
