"""The options of `%%framedex` and `%framedex`; most are options of `framedex run`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from framedex.base.errors import FramedexError
from framedex.commands.launching.options import (
    RECORDING_PARAMETERS,
    build_behaviour_variables,
    build_machine_variables,
    build_recording_variables,
    machine_options,
    recording_options,
)

FRESH_OPTION = "--fresh"


@dataclass(frozen=True, slots=True)
class Options:
    """Parsed options: the variable for the answers, the folder for captures, and whether to use a new process.

    `recording` are environment variables for the recorder, `machine` those for the runtime. `plugin` is
    empty if none was named.
    """

    name: str
    output: Path | None
    is_fresh: bool
    plugin: str
    recording: Mapping[str, str]
    machine: Mapping[str, str]


def _with_machine_options(command: Any) -> Any:
    plugin = click.option(
        "--plugin", default="", metavar="PATH|NAME", help="Record this PJRT plug-in instead of the mock."
    )
    behaviour = click.option(
        "--behaviour",
        "behaviours",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Replace functions of the TPU runtime with the Python functions in this file.",
    )
    return plugin(machine_options(behaviour(command)))


@click.command("%%framedex", add_help_option=False)
@click.option("-o", "name", default="", metavar="NAME", help="Bind the answers to this variable.")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), help="The folder for captures.")
@click.option(FRESH_OPTION, is_flag=True, help="Run the cell as plain Python in a new process.")
@recording_options
@_with_machine_options
def _cell_command(**chosen: Any) -> Options:
    """Record the runtime calls of this cell and show the answers below it.

    Options of the machine need --fresh once JAX has opened its devices.
    """
    return _build_options(**chosen)


@click.command("%framedex", add_help_option=False)
@_with_machine_options
def _kernel_command(**chosen: Any) -> Options:
    """Choose the machine on which JAX runs in this kernel, before JAX opens its devices."""
    nothing: dict[str, Any] = dict.fromkeys(RECORDING_PARAMETERS) | {"include": (), "exclude": ()}
    return _build_options(name="", output=None, fresh=False, **nothing, **chosen)


def parse_cell_options(line: str) -> Options:
    """Parse the options of `%%framedex`. Raises FramedexError if they are malformed."""
    return _parse(_cell_command, line)


def parse_kernel_options(line: str) -> Options:
    """Parse the options of `%framedex`. Raises FramedexError if they are malformed."""
    return _parse(_kernel_command, line)


def format_help() -> str:
    """The help texts of both magics."""
    texts = (
        command.get_help(click.Context(command, info_name=command.name)) for command in (_cell_command, _kernel_command)
    )
    return "\n\n".join(texts)


def _parse(command: click.Command, line: str) -> Options:
    try:
        options: Options = command.main(shlex.split(line), prog_name=command.name, standalone_mode=False)
    except click.ClickException as error:
        raise FramedexError(error.format_message(), "`%%framedex?` lists the options.") from None
    except ValueError as error:  # an unclosed quote
        raise FramedexError(f"The options {line} cannot be parsed: {error}.") from None
    return options


def _build_options(
    name: str, output: Path | None, fresh: bool, plugin: str, behaviours: tuple[Path, ...], **others: Any
) -> Options:
    if name and not name.isidentifier():
        raise click.UsageError(f"-o {name} is not a variable name.")
    recording = build_recording_variables({each: others.pop(each) for each in RECORDING_PARAMETERS})
    machine = build_machine_variables(others)
    if plugin and machine:
        raise click.UsageError("--device, --hbm and similar options are for the mock TPU, not for a plug-in.")
    if behaviours:
        machine |= build_behaviour_variables(behaviours, None if plugin else "tpu", is_own_python=True)
    return Options(name, output, fresh, plugin, recording, machine)
