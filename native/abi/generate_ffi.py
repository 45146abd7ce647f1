"""Write the indexer's table of FFI enumerators: `python generate_ffi.py`. A test compares it with the data.

The C++ types of handlers contain dtypes as numbers: `xla::ffi::Buffer<(xla::ffi::DataType)11, 2>`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pjrt_abi
from pjrt_abi import Abi

DATA = Path(__file__).with_name("pjrt_c_api.json")
TARGET = Path(__file__).parents[2] / "indexer" / "framedex" / "programs" / "ffi" / "ffi_enumerators.json"
_DTYPES = "XLA_FFI_DataType"


def main() -> None:
    """Write the table to the indexer's folder."""
    TARGET.write_text(table(pjrt_abi.load(DATA)))


def table(abi: Abi) -> str:
    """The table as JSON: dtypes by number, in lower case as XLA writes them."""
    values = sorted(abi.enums[_DTYPES].items(), key=lambda item: item[1])
    dtypes = {str(value): name.removeprefix(f"{_DTYPES}_").lower() for name, value in values}
    about = "Made by native/abi/generate_ffi.py; do not edit."
    return json.dumps({"about": about, "dtypes": dtypes}, indent=2) + "\n"


if __name__ == "__main__":
    main()
