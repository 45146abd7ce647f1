"""A project to share, whose program contains everything that a redacted file must hide: recorded once, and indexed."""

from __future__ import annotations

import shutil
import sys
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path

from click.testing import CliRunner, Result

from framedex.captures import read_metadata
from framedex.commands.main import cli
from tests.once import made_once
from tests.running import TIMEOUT, Run, mock_environment

USER, ORGANISATION, FUNCTION, STATIC, CONSTANT = "alicewonder", "hiddenlab", "quantize_moonshot", "orchid-7", "0.8125"
SCOPE = "tulip_scope"

PROGRAM = f'''
import functools
import sys
import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames="mode")
def {FUNCTION}(x, mode):
    with jax.named_scope("{SCOPE}"):
        return jnp.sin(x) * {CONSTANT}


def main():
    for _ in range(3):
        {FUNCTION}(jnp.ones((3, 5)), mode="{STATIC}").block_until_ready()


main()
'''


VERBS = (
    "summary",
    "compiles",
    "transfers",
    "memory",
    "waits",
    "check",
    "calls --limit 2000",
    "callers sin_p",
    "trace 40",
)

SHARED = {
    "plain": (),
    "again": (),
    "files": ("--sources", "files"),
    "none": ("--sources", "none"),
    "redacted": ("--redact",),
    "hidden": ("--redact", "--keep", "flax", "--no-clock"),
    "told": ("--redact", "--sources", "lines"),
}
"""The options with which its capture was shared, by file."""


@dataclass(frozen=True)
class SharedProject:
    """The remains of a deleted project: its shared files, their reports, and its own answers.

    `folder` is its former folder, and `host` the machine in the capture.
    """

    folder: Path
    host: str
    files: dict[str, Path]
    said: dict[str, str]
    answers: dict[str, str]

    @property
    def program(self) -> Path:
        """The former folder of the program."""
        return self.folder / "model train.py"


def framedex(*arguments: str | Path) -> Result:
    """Run framedex in the working folder."""
    return CliRunner().invoke(cli, list(map(str, arguments)))


def project() -> SharedProject:
    """The project, shared by all tests: never change it."""
    return made_once("shared_project", _make)


def imported_project() -> Path:
    """A folder whose index has the capture of the file `plain`, shared by all tests: never change it."""
    return made_once("imported_project", _import)


def _import(folder: Path) -> Path:
    with chdir(folder):
        result = framedex("import", project().files["plain"])
    assert result.exit_code == 0, result.output
    return folder


def _make(made: Path) -> SharedProject:
    folder = made / "home" / USER / ORGANISATION
    folder.mkdir(parents=True)
    left = SharedProject(folder, "", {name: made / f"{name}.fdx.zip" for name in SHARED}, {}, {})
    left.program.write_text(PROGRAM)
    command = [sys.executable, f"../{ORGANISATION}/{left.program.name}", "--dataset", f"/data/{ORGANISATION}/set"]
    environment = mock_environment(folder) | {"SLURM_JOB_NAME": f"of-{ORGANISATION}", "FRAMEDEX_JOB": f"{USER}-7"}
    ran = Run.of(command, folder, environment, TIMEOUT)
    assert ran.status == 0, ran.stderr
    index = folder / ".framedex" / "index.db"
    result = framedex("--index", index, "index", ran.capture)
    assert result.exit_code == 0, result.output
    # The program is edited later: the recorded text is shared.
    left.program.write_text(f"# edited\n{PROGRAM.replace('def main', 'def other')}")
    for name, options in SHARED.items():
        result = framedex("--index", index, "share", "1", "-o", left.files[name], *options)
        assert result.exit_code == 0, result.output
        left.said[name] = result.output
    left.program.write_text(PROGRAM)
    with chdir(folder):
        left.answers.update({verb: framedex(*verb.split()).stdout for verb in VERBS})
    host = read_metadata(ran.capture).host or ""
    shutil.rmtree(made / "home")
    return replace(left, host=host)
