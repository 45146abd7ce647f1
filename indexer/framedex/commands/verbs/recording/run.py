"""`framedex run`: record a program on the mock TPU or another plug-in."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from framedex.base.errors import FramedexError
from framedex.commands.launching.boundaries import BoundaryType, build_boundary_variables
from framedex.commands.launching.contents import (
    CONTENTS_PARAMETERS,
    ProgramCommand,
    build_contents_variables,
    contents_options,
)
from framedex.commands.launching.launch import Launch, check_python, find_interpreter, find_runtime, launch
from framedex.commands.launching.options import (
    HANG_PARAMETERS,
    RECORDING_PARAMETERS,
    build_behaviour_variables,
    build_hang_policy,
    build_machine_variables,
    build_recording_variables,
    hang_options,
    machine_options,
    recording_options,
)
from framedex.commands.launching.program import Program, parse_program
from framedex.commands.launching.runtimes import Runtime, find_plugin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from framedex.commands.launching.outcome import Outcome
    from framedex.commands.launching.runtimes import Plugin


@click.command(cls=ProgramCommand, context_settings={"allow_interspersed_args": False})
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for captures. Default: .framedex/captures.",
)
@click.option(
    "--plugin",
    metavar="PATH|NAME",
    help="Record this PJRT plug-in instead of the mock: an installed one such as libtpu, or [NAME:]PATH.",
)
@machine_options
@click.option(
    "--behaviour",
    "behaviours",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Replace functions of the TPU runtime with the Python functions in this file.",
)
@click.option("-m", "is_module", is_flag=True, help="Run a module, like `python -m`.")
@click.option("-c", "is_code", is_flag=True, help="Run code, like `python -c`.")
@click.option(
    "--python",
    default=sys.executable,  # noqa: TID251
    type=click.Path(dir_okay=False),
    help="The Python that runs the program. Default: framedex's own.",
)
@click.option(
    "--validate",
    type=click.Choice(("report", "abort")),
    metavar="[=report|abort]",
    help="Report broken rules of the PJRT C API on stderr: some at the call, all afterwards with their stacks. `abort`"
    " ends the program at the first of them.",
)
@click.option(
    "--boundary",
    "boundaries",
    multiple=True,
    type=BoundaryType(),
    metavar="[LIBRARY:]FUNCTION[,...]",
    help="Also record calls of these functions of any library, such as 'libz.so:deflate'. A prototype names the"
    " arguments: 'getenv(const char* name)'.",
)
@recording_options
@contents_options
@hang_options
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT|COMMAND|-m MODULE|-c CODE|- [ARGS]...")
@click.pass_context
def run(
    ctx: click.Context,
    /,
    output: Path | None,
    plugin: str | None,
    behaviours: tuple[Path, ...],
    is_module: bool,
    is_code: bool,
    python: str,
    validate: str | None,
    boundaries: tuple[str, ...],
    program: tuple[str, ...],
    **others: Any,
) -> None:
    """Record a program on the mock TPU or a plug-in.

    SCRIPT, -m MODULE, -c CODE and - (stdin) work as with python. COMMAND is a Python command such as `pytest` or
    `torchrun`, or an interpreter with its arguments (`python3.12 -X dev train.py`). A command runs under the Python
    in its first line, everything else under framedex's own Python or that of --python.

    The program's output, arguments, exit status and exceptions do not change. The capture goes to .framedex/captures
    in the working folder. With FRAMEDEX_RECORD=0 nothing is recorded. docs/reference/mock-tpu.md lists the machines to
    simulate and the failures to inject, docs/reference/behaviours.md describes --behaviour. The first of several
    behaviours is the outermost. jaxlib 0.4.13 is recorded through the older TPU C API
    (docs/explanation/tpu-executor-allocate.md).
    """
    if not program:
        raise click.UsageError(
            "Name a script, a command, a module with -m, or code with -c: `framedex run SCRIPT [ARGS]...`."
        )
    if is_module and is_code:
        raise click.UsageError("-m and -c exclude each other: use one of them.")
    if plugin == "":
        raise click.UsageError("--plugin is empty: name a plug-in, or leave it out for the mock TPU.")
    recording = build_recording_variables({name: others.pop(name) for name in RECORDING_PARAMETERS})
    policy = build_hang_policy({name: others.pop(name) for name in HANG_PARAMETERS})
    recording |= build_contents_variables({name: others.pop(name) for name in CONTENTS_PARAMETERS})
    variables = build_machine_variables(others)
    if plugin and variables:
        raise click.UsageError("--device, --hbm and similar options are for the mock TPU, not for a plug-in.")
    settings = variables | recording | build_boundary_variables(boundaries)
    if validate:
        settings["FRAMEDEX_VALIDATE"] = validate
    is_python_named = ctx.get_parameter_source("python") is not ParameterSource.DEFAULT
    if is_module or is_code:
        started = Program(find_interpreter(python), ("-m" if is_module else "-c", *program))
    else:
        started = parse_program(program, find_interpreter(python), is_named=is_python_named)
    runtime, found = _check_recordable(started, plugin)
    if behaviours and runtime is Runtime.TPU_EXECUTOR:
        raise click.UsageError("--behaviour needs the PJRT table, which jaxlib 0.4.13 does not use.")
    if behaviours:
        platform = found.name if found else "tpu"
        settings |= build_behaviour_variables(behaviours, platform, is_own_python=started.python == sys.executable)  # noqa: TID251
    outcome = launch(Launch(started.python, started.arguments, output, settings, found, runtime, hang_policy=policy))
    _print_lines(f"framedex: {line}" for line in outcome.summary().splitlines())
    if validate and outcome.captures:
        _print_violations(outcome)
    _exit_like_program(ctx, outcome)


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        with suppress(OSError):  # stderr is closed; the program's status must still be passed on
            click.echo(line, err=True)


def _print_violations(outcome: Outcome) -> None:
    """Report the broken rules of the C API. A failure is reported, because the program's status must be passed on."""
    from framedex.commands.launching.validation import render_validation_report

    try:
        _print_lines(render_validation_report(outcome.captures))
    except (FramedexError, OSError) as error:
        _print_lines([f"framedex: the recording was not validated: {error}"])


def _check_recordable(program: Program, plugin: str | None) -> tuple[Runtime, Plugin | None]:
    """The runtime of the program's JAX, and its plug-in. Raises FramedexError if the program cannot be recorded.

    If the user did not name the interpreter, the error explains the choice.
    """
    try:
        check_python(program.python)
        if plugin:
            return Runtime.PJRT, find_plugin(plugin, program.python)
        return find_runtime(program.python), None
    except FramedexError as error:
        if not program.reason:
            raise
        raise FramedexError(f"{error.message}\n{program.reason}", error.remedy) from error


def _exit_like_program(ctx: click.Context, outcome: Outcome) -> None:
    """End as the program did: with its exit status, or by the same signal."""
    if outcome.status < 0:
        outcome.raise_signal()
    ctx.exit(outcome.status)
