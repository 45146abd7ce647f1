"""The recording that a verb replays, and its plug-ins."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.base.errors import FramedexError, raise_if_limit
from framedex.base.plaintext import make_printable
from framedex.captures import capture_folders, find_captures_within, project_captures_folder
from framedex.commands.inputs.files import to_absolute_path, working_folder
from framedex.commands.launching.launch import find_interpreter
from framedex.commands.output.atomic_files import open_atomic
from framedex.commands.output.console import note

if TYPE_CHECKING:
    from framedex.plugins.replay.plan import OptionValue, Plan
    from framedex.plugins.replay.recording_file import LinesOfCalls
    from framedex.plugins.replay.runner import Target

MOCK = "mock"
_SUFFIX = ".fdxreplay"
_MAX_FLOAT = 3.4028235e38  # PJRT_NamedValue has 32-bit floats


class CreateOption(click.ParamType["tuple[str, OptionValue]"]):
    """`NAME=VALUE`; integers, floats and booleans are recognised."""

    name = "NAME=VALUE"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, OptionValue]:
        """Return the name and the value of an option of PJRT_Client_Create."""
        name, separator, text = value.partition("=")
        if not separator or not name:
            self.fail(f"{value!r} is not NAME=VALUE.", param, ctx)
        if text in ("true", "false"):
            return name, text == "true"
        if re.fullmatch(r"[+-]?[0-9]+", text):
            if not -(1 << 63) <= int(text) < 1 << 63:
                self.fail(f"{value!r} is not in the range of 64-bit integers.", param, ctx)
            return name, int(text)
        if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
            if abs(float(text)) > _MAX_FLOAT:
                self.fail(f"{value!r} is not in the range of 32-bit floats.", param, ctx)
            return name, float(text)
        return name, text


create_option = click.option(
    "--option",
    "create_options",
    multiple=True,
    type=CreateOption(),
    help="An option of PJRT_Client_Create. Repeatable.",
)
sandbox_option = click.option(
    "--sandbox/--no-sandbox",
    "is_confined",
    default=True,
    help="Let replays write only temporary files and devices, and the mock TPU open no connection. Default: yes,"
    " where Linux has Landlock.",
)
_OPTIONS = (
    click.option("--plugin", default=MOCK, metavar="PATH", help="Replay on this PJRT plug-in. Default: the mock TPU."),
    click.option(
        "--against", metavar="PATH", help="Compare with this plug-in instead of the recording; `mock` is the mock TPU."
    ),
    click.option(
        "--ulps",
        type=click.IntRange(0),
        default=0,
        metavar="N",
        help="Accept floating-point values at most N ulps apart.",
    ),
    click.option(
        "--rtol",
        type=click.FloatRange(0),
        default=0.0,
        metavar="R",
        help="Accept floating-point values within this relative difference.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0),
        metavar="N",
        help="The seed of inputs that were not recorded. Default: that of a reduced recording, or 0.",
    ),
    create_option,
    sandbox_option,
    click.option(
        "--python",
        default=sys.executable,  # noqa: TID251
        type=click.Path(dir_okay=False),
        help="The Python that runs the plug-in; its jaxlib runs the mock's programs. Default: framedex's own.",
    ),
)


def plugin_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the plug-ins and of comparisons."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class OpenRecording:
    """A capture or a recording in a file: its path, the plan, the lines of its calls, and the recorded command.

    `seed` is that of the reduction to this file.
    """

    path: Path
    plan: Plan
    lines: LinesOfCalls
    command: str
    seed: int = 0

    def choose_seed(self, named: int | None) -> int:
        """Return the named seed, by default that of the recording."""
        return self.seed if named is None else named


@contextmanager
def open_recording(named: Path | None, *, warns: bool = True) -> Iterator[OpenRecording]:
    """Open a recording; the newest capture of this folder if none is named. Raises FramedexError."""
    from framedex.plugins.replay.call_lines import CallLines
    from framedex.plugins.replay.recorded_calls import RecordedCapture, build_plan
    from framedex.plugins.replay.recording_file import DamagedRecordingError, read_recording

    if named is not None and to_absolute_path(named).is_file():
        with tempfile.TemporaryDirectory(prefix="framedex-replay-") as folder:
            try:
                opened = OpenRecording(to_absolute_path(named), *read_recording(to_absolute_path(named), Path(folder)))
            except DamagedRecordingError as error:
                raise FramedexError(
                    f"{make_printable(str(named))} is not a recording, or is damaged: {make_printable(str(error))}.",
                    "Name a capture, or a file of `framedex replay -o NAME` or `framedex reduce --keep nan`.",
                ) from None
            except OSError as error:
                raise_if_limit(error)
                raise FramedexError(
                    f"{make_printable(str(named))} cannot be unpacked: {error.strerror}.",
                    f"It is unpacked to {tempfile.gettempdir()}. Name a folder with more room in TMPDIR.",
                ) from None
            if warns:
                note("The file contains programs for the plug-in's compiler: replay only files that you trust.")
            yield opened
        return
    recorded = RecordedCapture.read(_find_capture(named))
    plan = build_plan(recorded)
    if not plan.operations:
        raise FramedexError(
            "The capture has no calls to replay.",
            "Record the program at the mock TPU or a plug-in: JAX's own CPU backend makes no PJRT calls.",
        )
    command = recorded.stream.capture.metadata.command
    yield OpenRecording(plan.capture, plan, CallLines(recorded), command)


def recording_path(named: Path) -> Path:
    """Return the path of a recording in a file, with its suffix."""
    path = to_absolute_path(named)
    return path.with_name(path.name.removesuffix(_SUFFIX) + _SUFFIX)


def save_recording(path: Path, plan: Plan, recording: OpenRecording, seed: int) -> None:
    """Write a part of a recording into one file."""
    from framedex.plugins.replay.recording_file import write_recording

    with open_atomic(recording_path(path)) as file:
        write_recording(file, plan, recording.lines, recording.command, seed)


def find_recordings(folder: Path) -> dict[str, Path]:
    """Return the recordings in a folder by name: its files of recordings, or else its captures.

    Raises FramedexError if there are none.
    """
    folder = to_absolute_path(folder)
    files = sorted(folder.glob(f"*{_SUFFIX}"))
    if files:
        return {each.stem: each for each in files}
    return {"/".join(each.relative_to(folder).parts) or each.name: each for each in find_captures_within(folder)}


def find_targets(
    plugin: str,
    against: str | None,
    python: str,
    create_options: Iterable[tuple[str, OptionValue]],
    *,
    is_confined: bool,
) -> tuple[Target, Target | None]:
    """Return the plug-in under test, and the one to compare with. Raises FramedexError if there is none.

    `create_options` are those of the first one's client.
    """
    found = find_target(plugin, find_interpreter(python))
    target = replace(found, is_confined=is_confined, options=dict(create_options))
    return target, None if against is None else find_reference(target, against)


def find_reference(tested: Target, name: str = MOCK) -> Target:
    """Return the plug-in of that name, with which the tested plug-in is compared."""
    return replace(find_target(name, tested.python), is_reference=True, is_confined=tested.is_confined)


def _find_capture(named: Path | None) -> Path:
    if named is not None:
        return find_captures_within(to_absolute_path(named))[-1]
    captures = capture_folders(project_captures_folder(working_folder()))
    if not captures:
        raise FramedexError(
            "There is no capture in this folder.",
            "Record a program: `framedex run --contents SCRIPT`, or name a capture.",
        )
    return captures[-1]


def find_target(name: str, python: str) -> Target:
    """Return the plug-in of this name. Raises FramedexError if there is none."""
    from framedex.base.nativepart import framedex_native
    from framedex.plugins.replay.runner import Target

    replayer = framedex_native.replayer_path()
    if name == MOCK:
        return Target(framedex_native.library_path(), python, is_mock=True, replayer=replayer)
    path = to_absolute_path(Path(name).expanduser())
    if not path.is_file():
        raise FramedexError(
            f"There is no plug-in {make_printable(name)}.", "Name the file of a PJRT plug-in, or `mock`."
        )
    return Target(path, python, is_mock=False, replayer=replayer)
