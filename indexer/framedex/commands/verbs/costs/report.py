"""`framedex report`: captures as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from framedex.base import words
from framedex.commands.inputs.options import Choice
from framedex.commands.inputs.selection import CaptureSelection, capture_option, open_whole_runs
from framedex.commands.output.atomic_files import write_atomic
from framedex.commands.output.console import note
from framedex.commands.output.terminal import standard_output
from framedex.commands.report.page import check_replaceable_report, default_editor, open_in_browser, page
from framedex.commands.report.places import EDITORS


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    default=Path("framedex-report.html"),
    show_default=True,
    help="The file to write; - is stdout.",
)
@capture_option
@click.option(
    "--editor",
    type=Choice(list(EDITORS)),
    help="The editor for links to local files. Default: vscode, or framedex if FRAMEDEX_LINK_SCHEME says so.",
)
@click.option("--force", is_flag=True, help="Replace a file that is not a report.")
@click.option("--open", "is_opened", is_flag=True, help="Open the report in the browser.")
@click.pass_obj
def report(
    index_path: Path | None,
    output: Path,
    selection: CaptureSelection | None,
    editor: str | None,
    force: bool,
    is_opened: bool,
) -> None:
    """Write an HTML report of captures.

    The report has a summary, compilations, transfers, memory, waits, threads and devices over time, a flame graph,
    and the findings of `framedex check`. Each line links to your editor or its public page. The file needs no
    network. The same captures give the same file.
    """
    to_stdout = str(output) == "-"
    if to_stdout and is_opened:
        raise click.UsageError("--open needs a file: name one with -o.")
    if not (to_stdout or force):
        check_replaceable_report(output)
    with open_whole_runs(index_path, selection) as (index, answer):
        from framedex.commands.report.contents import read_contents

        text = page(read_contents(index, answer), editor or default_editor())
    if to_stdout:
        click.echo(text, standard_output(), nl=False)
        return
    write_atomic(output, text)
    note(f"Written: {output} ({words.format_size(len(text))})")
    if is_opened:
        open_in_browser(output)
