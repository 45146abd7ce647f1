"""Click parameter types for quantities."""

from __future__ import annotations

import click

from framedex.sizes import HOW_TO_WRITE, bytes_of


class Bytes(click.ParamType[int]):
    """A positive number of bytes: `1048576`, `512MiB`, `16GB`."""

    name = "bytes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        size = bytes_of(str(value))
        if size is None:
            self.fail(f"{str(value)!r} is not a number of bytes: {HOW_TO_WRITE}.", param, ctx)
        return size
