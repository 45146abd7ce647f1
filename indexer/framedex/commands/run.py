"""`framedex run`: run a program on the mock TPU and record it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from framedex.commands.launch import Launch, Outcome, check_python, launch
from framedex.commands.quantities import parse_bytes


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("-o", "--output", type=click.Path(path_type=Path, file_okay=False), help="The folder for captures.")
@click.option("--device", metavar="KIND[:SHAPE]", help="The kind of TPU and its chips: v4, v5e:2x4, ... Default: v5e.")
@click.option("--devices", type=click.IntRange(1), metavar="N", help="How many TPU devices, in the kind's usual shape.")
@click.option(
    "--hosts", type=click.IntRange(1), metavar="N", help="Share the devices among N hosts; this is one of them."
)
@click.option("--host-id", type=click.IntRange(0), metavar="I", help="Which of the hosts this is. Default: 0.")
@click.option("--slices", type=click.IntRange(1), metavar="N", help="Simulate N slices of that shape.")
@click.option("--hbm", metavar="BYTES", help="Memory of each device, for example 512MiB. Default: as the kind has.")
@click.option(
    "--fail", multiple=True, metavar="RULE", help="Fail on demand: 'PJRT_Client_Compile:2=INTERNAL', 'device:1'."
)
@click.option("-m", "is_module", is_flag=True, help="The program is a module: run it as `python -m` does.")
@click.option(
    "--python",
    default=sys.executable,
    type=click.Path(dir_okay=False),
    help="The Python that runs the program. Default: the one framedex runs under.",
)
@click.option("--include", multiple=True, metavar="PATTERN", help="Record only functions like this: 'PJRT_Buffer_*'.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Do not record functions like this.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="Record every Nth call of each thread.")
@click.option("--limit", metavar="BYTES", help="Stop recording calls at this size, for example 1GiB.")
@click.option("--ring", is_flag=True, help="At the limit, let the oldest calls give way to the newest.")
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="SCRIPT|-m MODULE [ARGS]...")
@click.pass_context
def run(
    ctx: click.Context,
    output: Path | None,
    device: str | None,
    devices: int | None,
    hosts: int | None,
    host_id: int | None,
    slices: int | None,
    hbm: str | None,
    fail: tuple[str, ...],
    is_module: bool,
    python: str,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    sample: int | None,
    limit: str | None,
    ring: bool,
    program: tuple[str, ...],
) -> None:
    """Run SCRIPT (or -m MODULE) on the mock TPU and record every call into its runtime.

    The program is run as it is: its output, arguments, exit status and exceptions are its own. The capture goes into
    .framedex/captures of the working folder. With FRAMEDEX_RECORD=0 it runs the same way and nothing is recorded.
    docs/mock-tpu.md says which machines can be simulated and what can be made to fail.
    """
    if not program:
        raise click.UsageError("Name a script, or a module with -m: framedex run SCRIPT [ARGS]...")
    if not is_module and not os.path.exists(program[0]):  # noqa: PTH110 - Path.exists raises where it may not look
        raise click.UsageError(f"There is no script {program[0]!r}.")
    if ring and limit is None:
        raise click.UsageError("--ring needs a size: --limit BYTES.")
    settings = {
        "FRAMEDEX_DEVICE": device or "",
        "FRAMEDEX_DEVICES": _number(devices),
        "FRAMEDEX_HOSTS": _number(hosts),
        "FRAMEDEX_HOST_ID": _number(host_id),
        "FRAMEDEX_SLICES": _number(slices),
        "FRAMEDEX_HBM": _bytes("--hbm", hbm),
        "FRAMEDEX_FAIL": ";".join(fail),
        "FRAMEDEX_INCLUDE": ",".join(include),
        "FRAMEDEX_EXCLUDE": ",".join(exclude),
        "FRAMEDEX_SAMPLE": _number(sample),
        "FRAMEDEX_LIMIT": _bytes("--limit", limit),
        "FRAMEDEX_RING": "1" if ring else "",
    }
    arguments = ("-m", *program) if is_module else program
    check_python(python)
    outcome = launch(Launch(python, arguments, output, settings))
    click.echo(f"framedex: {outcome.summary()}", err=True)
    _end_like(ctx, outcome)


def _number(value: int | None) -> str:
    """A number as an environment variable has it; empty if none was given."""
    return "" if value is None else str(value)


def _bytes(option: str, text: str | None) -> str:
    """A size as typed, as a number of bytes; empty if none was given."""
    if text is None:
        return ""
    value = parse_bytes(text)
    if value is None:
        raise click.UsageError(f"{option} {text!r} is not a number of bytes: write it like 1048576, 512MiB or 16GiB.")
    return str(value)


def _end_like(ctx: click.Context, outcome: Outcome) -> None:
    """End as the program ended: with its exit status, or by the same signal."""
    if outcome.status < 0:
        outcome.raise_signal()
    ctx.exit(outcome.status)
