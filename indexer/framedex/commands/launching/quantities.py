"""Quantities as people type them."""

from __future__ import annotations

import re

import click

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


class Bytes(click.ParamType[int]):
    """A number of bytes, more than 0: `1048576`, `512MiB`, `16GB`."""

    name = "bytes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?", str(value).strip(), re.IGNORECASE)
        size = int(float(match[1]) * _UNITS[(match[2] or "").lower()]) if match else 0
        if size <= 0:
            self.fail(f"{str(value)!r} is not a number of bytes: write it like 1048576, 512MiB or 16GiB.", param, ctx)
        return size
