"""Command line of the benchmarks: `python -m benchmarks NAME [OPTIONS]`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import click

from benchmarks.figures import PAGE, Figure, render_page, save_figures


@dataclass(frozen=True, slots=True)
class Subject:
    """A module with benchmarks of one subject. Its name is also the name of its file in `results/`."""

    module: str
    title: str
    benchmarks: tuple[str, ...]


SUBJECTS = (
    Subject(
        "recording",
        "Recording",
        (
            *("device-put-loop", "training-step", "first-step", "stack-walk", "ffi-handler", "kept-programs"),
            *("kept-binaries", "recorded-contents", "replayed-recordings"),
        ),
    ),
    Subject("other_tools", "Recording compared with other tools", ("other-tools",)),
    Subject("process_stacks", "Stacks of processes and cores", ("process-stacks",)),
    Subject("mock_tpu", "Mock TPU", ("dispatch", "behaviours", "device-memory", "real-programs")),
    Subject("jax_suite", "JAX's own tests on the mock TPU", ("jax-suite",)),
    Subject("indexing", "Indexing captures", ("ingest", "many-stacks", "large-index", "followed-calls", "seal")),
    Subject(
        "costs",
        "Costs by line",
        ("compiles", "costs-by-line", "verb-memory", "time-differences", "program-memory"),
    ),
    Subject("compilations", "Causes of recompilations", ("recompiles",)),
    Subject("binaries", "Binaries and their functions", ("symbols", "matching", "lines-by-eye")),
    Subject("sources", "Source trees", ("source-index", "source-fetch", "statement-lines", "static-callers")),
    Subject(
        "release_maps",
        "Release maps and source maps",
        ("release-map-sizes", "release-map-reading", "release-map-agreement", "first-trace", "source-map"),
    ),
    Subject("library_lines", "Lines of calls in libraries", ("library-lines", "text-lines", "definitions")),
    Subject("texts", "Logs and crash texts", ("resolve", "crash-texts", "symbol-spellings", "outlines")),
    Subject("verbs", "Command line", ("verb-starts", "completion", "demo")),
    Subject("server", "Language server", ("server", "server-at-scale", "server-while-indexing")),
    Subject("editors", "Editors", ("open-place", "vscode-activation", "vscode-answers", "cmake-project")),
    Subject("exchange", "Export, import and reports", ("export", "import", "share", "report", "guidebook-site")),
    Subject("fleet", "Fleet store and ranks", ("fleet-store", "fleet-ranks", "running-ranks")),
    Subject("development", "Time that contributors wait", ("development-times",)),
)
TITLES = {subject.module: subject.title for subject in SUBJECTS}


def find_subject(benchmark: str) -> Subject | None:
    """The subject of a benchmark, or None if no benchmark has this name."""
    return next((subject for subject in SUBJECTS if benchmark in subject.benchmarks), None)


class Benchmarks(click.Group):
    """Commands of all subjects. A module is imported when one of its commands is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all benchmarks, by subject."""
        return [name for subject in SUBJECTS for name in subject.benchmarks]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a benchmark, or None if no benchmark has this name."""
        subject = find_subject(cmd_name)
        if subject is None:
            return None
        module = importlib.import_module(f"benchmarks.{subject.module}")
        return next(
            value for value in vars(module).values() if isinstance(value, click.Command) and value.name == cmd_name
        )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the first argument. Raises UsageError with a remedy for an unknown name."""
        if find_subject(args[0]) is None:
            close = get_close_matches(args[0], self.list_commands(ctx))
            remedy = f"Did you mean {' or '.join(close)}?" if close else "List them: python -m benchmarks"
            raise click.UsageError(f"No benchmark is named {args[0]!r}. {remedy}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one line for each benchmark, grouped by subject."""
        for subject in SUBJECTS:
            commands = [(name, self.get_command(ctx, name)) for name in subject.benchmarks]
            with formatter.section(subject.title):
                width = formatter.width - max(len(name) for name in self.list_commands(ctx)) - 6
                rows = [(name, command.get_short_help_str(width)) for name, command in commands if command]
                formatter.write_dl(rows)


@click.group(cls=Benchmarks, invoke_without_command=True, context_settings={"terminal_width": 120})
@click.option("--save", is_flag=True, help="Save the figures in benchmarks/results/ and update RESULTS.md.")
@click.option("--table", is_flag=True, help="Write benchmarks/RESULTS.md from benchmarks/results/ and exit.")
@click.pass_context
def main(context: click.Context, save: bool, table: bool) -> None:
    """Run a benchmark and print its table. Without a name, list the benchmarks."""
    if table:
        PAGE.write_text(render_page(TITLES))
        context.exit()
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@main.result_callback()
@click.pass_context
def save_results(context: click.Context, figures: Sequence[Figure] | None, save: bool, table: bool) -> None:
    """Save the figures that a benchmark returned, if requested."""
    name = context.invoked_subcommand
    subject = find_subject(name) if name else None
    if not save or not figures or name is None or subject is None:
        return
    click.echo(f"saved in {save_figures(subject.module, name, figures)}", err=True)
    PAGE.write_text(render_page(TITLES))


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
