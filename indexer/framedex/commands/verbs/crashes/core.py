"""`framedex core`: the stacks of all threads in a core file."""

from __future__ import annotations

from pathlib import Path

import click

from framedex.commands.output.console import json_option, print_json, print_lines
from framedex.commands.output.render_native import build_core_document, render_core_lines


@click.command()
@click.argument("core_file", metavar="CORE", type=click.Path(readable=False, path_type=Path))
@click.argument("executable", metavar="[EXE]", required=False, type=click.Path(readable=False, path_type=Path))
@click.option("--all-frames", is_flag=True, help="Show the frames of the interpreter and of libraries, too.")
@json_option
@click.pass_obj
def core(index_path: Path | None, core_file: Path, executable: Path | None, all_frames: bool, as_json: bool) -> None:
    """Show the Python and C++ stacks of all threads in a core file.

    CORE is a core file of Linux on x86-64, of a crash or of `gcore PID`. EXE is the program, if it is no longer at its
    path in the core. The binaries must be those of the process: their build-ids are compared. Python is shown for
    3.11 and later. The program need not be recorded.

    Frames of XLA and JAX get their source lines as in `framedex explain`: from the index, or from the known releases.
    """
    from framedex.commands.inputs.native_names import name_native_frames
    from framedex.live.native.core_file import open_core
    from framedex.live.native.stacks import read_stacks

    with open_core(core_file) as image:
        stacks = read_stacks(image, executable)
    names = name_native_frames(stacks, index_path)
    if as_json:
        print_json(build_core_document(stacks, names))
        return
    print_lines(render_core_lines(stacks, names, all_frames=all_frames))
