"""`framedex report`: captures as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from framedex import words
from framedex.commands.inputs.choices import Choice
from framedex.commands.inputs.scope import Chosen, capture_option, index_of_whole_runs
from framedex.commands.output.console import note
from framedex.commands.output.terminal import standard_output
from framedex.commands.output.whole_files import write_whole
from framedex.commands.report.places import EDITORS
from framedex.commands.report.writing import open_in_browser, refuse_foreign, usual_editor


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
    index_path: Path | None, output: Path, chosen: Chosen | None, editor: str | None, force: bool, is_opened: bool
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
        refuse_foreign(output)
    with index_of_whole_runs(index_path, chosen) as (index, answer):
        from framedex.commands.report.contents import contents_of
        from framedex.commands.report.page import page

        text = page(contents_of(index, answer), editor or usual_editor())
    if to_stdout:
        click.echo(text, standard_output(), nl=False)
        return
    write_whole(output, text)
    note(f"Written: {output} ({words.size(len(text))})")
    if is_opened:
        open_in_browser(output)
