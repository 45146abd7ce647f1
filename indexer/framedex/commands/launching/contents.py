"""The options of `framedex run` that record the contents of buffers, for `framedex replay`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from framedex.commands.launching.options import ByteSize

_FLAG = "--contents"
_CHOICES = ("inputs", "hash", "all")
_DEFAULTS = {_FLAG: "all", "--validate": "report"}  # for options whose value is optional

_OPTIONS = (
    click.option(
        _FLAG,
        type=click.Choice(_CHOICES),
        metavar="[=inputs|hash|all]",
        help="Keep the contents of buffers for `framedex replay`: those sent to devices (inputs), also hashes of those"
        " read (hash), or both whole (all, the default).",
    ),
    click.option(
        "--contents-limit",
        type=ByteSize(),
        metavar="BYTES",
        help="Keep at most this number of bytes of contents. Default: 1GiB.",
    ),
)
CONTENTS_PARAMETERS = ("contents", "contents_limit")
"""The parameter names of these options."""


def contents_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for contents to a command; `build_contents_variables` takes their values."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def build_contents_variables(chosen: Mapping[str, Any]) -> dict[str, str]:
    """The environment variables of the given options. Raises click.UsageError for a limit without --contents."""
    if chosen["contents_limit"] is not None and chosen["contents"] is None:
        raise click.UsageError("--contents-limit needs --contents.")
    limit = chosen["contents_limit"]
    texts = {
        "FRAMEDEX_CONTENTS": chosen["contents"] or "",
        "FRAMEDEX_CONTENTS_LIMIT": "" if limit is None else str(limit),
    }
    return {name: text for name, text in texts.items() if text}


class ProgramCommand(click.Command):
    """A command whose options precede a program: `--contents PROGRAM` means `--contents=all PROGRAM`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give options with an optional value their default value, then parse the arguments."""
        with_values = {
            name
            for each in self.params
            if isinstance(each, click.Option) and not each.is_flag
            for name in (*each.opts, *each.secondary_opts)
        }
        place = 0
        while place < len(args) and args[place].startswith("-") and args[place] not in ("-", "--"):
            if default := _DEFAULTS.get(args[place]):
                args[place] += f"={default}"
            place += 2 if args[place] in with_values else 1
        return super().parse_args(ctx, args)
