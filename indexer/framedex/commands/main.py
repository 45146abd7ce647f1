"""The command line `framedex`: one module per verb, imported on first use."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from framedex.base.errors import OUT_OF_MEMORY_REMEDY, FramedexError, convert_system_error
from framedex.base.plaintext import make_visible, quote_shell_word
from framedex.base.version import VERSION
from framedex.commands.output.proposals import read_typed_command, rewrite_proposals

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_OUT_OF_MEMORY = f"framedex: There is not enough memory.\n  {OUT_OF_MEMORY_REMEDY}\n".encode()
_COMPLETION_VARIABLE = "_FRAMEDEX_COMPLETE"  # set by shells on TAB; see completing/shells.py


class Verb(NamedTuple):
    """A verb: its `target` as `room.module:attribute` in `verbs/`, and the first sentence of its help."""

    target: str
    summary: str

    @property
    def module(self) -> str:
        """The module's whole name."""
        name = self.target.partition(":")[0]
        return name if name.startswith("framedex_server.") else f"framedex.commands.verbs.{name}"


# A test compares these sentences with the verbs' own. The server imports this package, so its verb is only a name here.
SECTIONS = {
    "Record and index": {
        "run": Verb("recording.run:run", "Record a program on the mock TPU or a plug-in."),
        "index": Verb("recording.index:index_captures", "Name recorded frames and find their source lines."),
        "captures": Verb(
            "recording.captures:captures", "List the captures in the index, and those that are not indexed."
        ),
        "captures rm": Verb("recording.captures:remove_captures", "Remove captures and their rows in the index."),
        "captures keep": Verb("recording.captures:keep_captures", "Protect captures from `framedex captures rm`."),
        "sources": Verb("recording.sources:sources", "Show the versions, commits and sources of components."),
        "sources export": Verb(
            "recording.source_maps:export_sources", "Write the definitions of ROOT to a source map."
        ),
        "sources import": Verb("recording.source_maps:import_sources", "Import the definitions of a source map."),
        "sources fetch": Verb("recording.source_fetch:fetch", "Download the recorded sources and index them."),
    },
    "Look at calls": {
        "calls": Verb("calls.calls:calls", "List recorded calls by time, with arguments and results."),
        "summary": Verb("calls.summary:summary", "Count calls, errors and times by function."),
        "trace": Verb("calls.trace:trace", "Show the Python and C++ stack of a call."),
        "where": Verb("calls.where:where", "Show the recorded calls below a file or a line."),
        "find": Verb("calls.find:find", "Find functions, classes and FFI targets by part of a name."),
        "callers": Verb("calls.relations:callers", "Show the recorded callers of a function."),
        "callees": Verb("calls.relations:callees", "Show the recorded callees of a function."),
        "ffi": Verb("calls.ffi:ffi", "Show FFI targets: handlers, Python lines and times."),
        "check": Verb("calls.check:check", "Report errors, crashes, API misuse and broken budgets."),
    },
    "Running programs": {
        "live": Verb(
            "running.live:live", "Show each thread of a process now: its Python stack, and its calls in progress."
        ),
        "hang": Verb("running.hang:hang", "Explain why a process hangs, with the line of the cause."),
        "ranks": Verb("running.ranks:ranks", "Find the rank that the others of a job wait for, and its line."),
    },
    "Plug-ins": {
        "conform": Verb("plugins.conform:conform", "Check a PJRT plug-in against the C API."),
        "replay": Verb("plugins.replay:replay", "Replay a capture on a plug-in, and compare the results."),
        "reduce": Verb("plugins.reduce:reduce", "Reduce a recording to a small one that still shows a fault."),
    },
    "Costs by line": {
        "compiles": Verb("costs.compiles:compiles", "Show lines that compile, and what changed."),
        "transfers": Verb("costs.transfers:transfers", "Show lines that copy data between host and device."),
        "memory": Verb("costs.memory:memory", "Show device memory by line, inside programs too, and its growth."),
        "waits": Verb("costs.waits:waits", "Show lines that wait for the device, and loop steps."),
        "diff": Verb("costs.diff:diff", "Compare two recordings by function, line and loop."),
        "report": Verb("costs.report:report", "Write an HTML report of captures."),
    },
    "Crashes and logs": {
        "explain": Verb("crashes.explain:explain", "Find the source of every frame in a crash text or log."),
        "core": Verb("crashes.core:core", "Show the Python and C++ stacks of all threads in a core file."),
        "resolve": Verb("crashes.resolve:resolve", "Copy a log and append source locations to its frames."),
    },
    "Share and export": {
        "share": Verb("sharing.share:share", "Write a capture into one file for another machine."),
        "import": Verb("sharing.import_files:import_files", "Import profiles and shared captures into the index."),
        "export": Verb("sharing.export:export", "Export calls for Perfetto, pprof, speedscope and others."),
        "fleet": Verb("sharing.fleet:fleet", "Collect captures of many processes and query them."),
        "fleet add": Verb("sharing.fleet_add:add_to_fleet", "Add captures to a store, each exactly once."),
        "fleet query": Verb(
            "sharing.fleet_query:query_fleet", "Query all captures of a store, by a prepared query or SQL."
        ),
        "fleet ranks": Verb(
            "sharing.fleet_ranks:compare_fleet_ranks", "Compare the ranks of a job and show the outliers."
        ),
        "fleet pull": Verb("sharing.fleet_pull:pull_from_fleet", "Copy chosen captures of a store into an index."),
        "fleet compact": Verb("sharing.fleet:compact_fleet", "Merge the small files of each day and job."),
        "fleet drop": Verb("sharing.fleet:drop_from_fleet", "Drop the captures before a day, or of a job."),
        "guidebook": Verb("sharing.guidebook:guidebook", "Write a site with one page per API function."),
    },
    "Editors and agents": {
        "open": Verb("editors.open:open_source", "Open a source line in your editor or browser."),
        "serve": Verb("framedex_server.command:serve", "Run the language server over stdin and stdout."),
        "mcp": Verb("editors.mcp:mcp", "Run the MCP server for coding agents, over stdin and stdout."),
        "cmake": Verb("editors.cmake:cmake", "Write a project for CLion and clangd."),
    },
    "Set-up": {
        "demo": Verb("setup.demo:demo", "Record a small program and show its stacks."),
        "doctor": Verb("setup.doctor:doctor", "Check this installation and suggest fixes."),
        "completion": Verb("setup.completion:completion", "Install shell completion for bash, zsh or fish."),
    },
}
VERBS = {name: verb for verbs in SECTIONS.values() for name, verb in verbs.items()}


class VerbGroup(click.Group):
    """The verbs, each imported on first use. Prints all errors for users."""

    def __call__(self, *args: Any, **extra: Any) -> Any:
        """Run the process as click does, and report unwritable output."""
        from framedex.commands.output.pipes import report_unwritable_stdout

        try:
            with report_unwritable_stdout():
                return super().__call__(*args, **extra)
        except MemoryError:  # the text is ready, because this report must not need memory
            os.write(2, _OUT_OF_MEMORY)
            raise SystemExit(1) from None

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *more: Any, **extra: Any) -> Any:
        """Run as click does. Usage lines and proposals show the command as the user typed it."""
        if _COMPLETION_VARIABLE in os.environ:
            import framedex.commands.completing.shells  # noqa: F401 - registers the shells with click
        extra.setdefault("complete_var", _COMPLETION_VARIABLE)
        return super().main(args, prog_name or read_typed_command(), *more, **extra)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        """The matching verbs and options, without importing a verb."""
        from click.shell_completion import CompletionItem

        verbs = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return [CompletionItem(name, help=VERBS[name].summary) for name in verbs] + click.Command.shell_complete(
            self, ctx, incomplete
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the verbs, section by section."""
        return [name for name in VERBS if " " not in name]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the verb of this name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command = _import_verb(cmd_name)
        below = [name for name in VERBS if name.startswith(f"{cmd_name} ")]
        if below:
            assert isinstance(command, click.Group)
            for name in below:
                command.add_command(_import_verb(name))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that the user named. Raises UsageError with the most similar name if there is none."""
        if args[0].startswith("-") or self.get_command(ctx, args[0]) is not None:
            return super().resolve_command(ctx, args)
        from framedex.base.words import find_nearest_name

        near = find_nearest_name(args[0], self.list_commands(ctx))
        advice = f"Did you mean '{near}'?" if near else "`framedex --help` lists the verbs."
        if args[0].endswith(".py"):
            advice = f"`framedex run {quote_shell_word(args[0])}` records a program."
        raise click.UsageError(f"There is no verb '{args[0]}'. {advice}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs by section, without importing a verb."""
        column = max(map(len, self.list_commands(ctx)))
        room = formatter.width - 6 - column
        for section, verbs in SECTIONS.items():
            rows = [
                (f"{name:{column}}", click.Command(name, help=verb.summary).get_short_help_str(room))
                for name, verb in verbs.items()
                if " " not in name
            ]
            with formatter.section(section):
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb, and print an error for the user with its remedy (status 1).

        Ctrl-C ends with the status that shells use for it, without a message.
        """
        try:
            return self._invoke_with_plain_errors(ctx)
        except FramedexError as error:
            _print_error(error)
            ctx.exit(1)
        except click.UsageError as error:
            # The message quotes what the user typed. The attribute is final, and each subclass has its own constructor.
            vars(error)["message"] = "\n".join(map(make_visible, error.message.split("\n")))
            if type(error) is click.UsageError:  # subclasses have click's own messages
                raise click.UsageError(rewrite_proposals(error.message), error.ctx) from error
            raise
        except KeyboardInterrupt:
            ctx.exit(128 + signal.SIGINT)
        except (OSError, ImportError) as error:
            failure = convert_system_error(error)
            if (
                failure is None or getattr(sys.stdout, "failure", None) is not None
            ):  # `report_unwritable_stdout` reports it
                raise
            _print_error(failure)
            ctx.exit(1)

    def _invoke_with_plain_errors(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except FileNotFoundError:
            from framedex.commands.inputs.files import working_folder

            working_folder()  # raises FramedexError if the working folder was deleted
            raise
        except (FramedexError, OSError, MemoryError, click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            _raise_if_index_damaged(ctx, error)
            raise


def _import_verb(verb: str) -> click.Command:
    found = VERBS[verb]
    command = getattr(importlib.import_module(found.module), found.target.partition(":")[2])
    assert isinstance(command, click.Command)
    return command


def _print_error(error: FramedexError) -> None:
    try:
        from framedex.commands.output.console import print_error

        print_error(error)
    except (OSError, MemoryError, ImportError):  # at a resource limit, the process cannot import the console
        with suppress(OSError):
            click.echo(f"framedex: {error.message}\n  {error.remedy}", err=True)


def _raise_if_index_damaged(ctx: click.Context, error: Exception) -> None:
    """Raise FramedexError if the index of this verb is damaged, because the damage is then the cause of the error."""
    from framedex.commands.inputs.project_index import INDEX_KEY
    from framedex.index.file.soundness import report_damage

    if (path := ctx.meta.get(INDEX_KEY)) is not None:
        with report_damage(path):
            raise error


@click.command(name="framedex", cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="framedex")
@click.option(
    "--index",
    "index_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The index. Default: the nearest .framedex/index.db in this folder or above it.",
)
@click.option("--read-only", is_flag=True, hidden=True, help="Write nothing: for verbs that agents run.")
@click.pass_context
def cli(ctx: click.Context, index_path: Path | None, read_only: bool) -> None:
    """See what really happens under a line of JAX: Python and C++ stacks, with sources.

    Exit status: 0 for an answer; 1 if nothing is found or something fails (stderr says why and what to do); 2 for a
    wrong command line. `run` ends with the status of its program.
    """
    ctx.obj = index_path
    if read_only:
        from framedex.commands.inputs.project_index import READ_ONLY_KEY

        ctx.meta[READ_ONLY_KEY] = True
