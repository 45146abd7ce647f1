"""Write the output of `framedex diff` for one program on several jaxlib releases into docs/how-to/compare.md.

python docs/make_version_diffs.py PYTHON...

Each PYTHON has a different release of jax and jaxlib, oldest first. All are the same CPython. The program is the page's
fence below `<!-- program of versions -->`. The comparison of two releases is below `<!-- diff OLDER NEWER OPTIONS...
-->`, with the verb's options. Paths are shortened as in sessions.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).with_name("how-to") / "compare.md"
FRAMEDEX = str(Path(sys.executable).with_name("framedex"))
HOME = "/home/me"
_PROGRAM = re.compile(r"^<!-- program of versions -->\n```python\n(.*?)^```$", re.M | re.S)
_DIFF = re.compile(r"^(<!-- diff (?P<older>\S+) (?P<newer>\S+)(?P<options>[^\n]*) -->\n```text\n).*?^```$", re.M | re.S)
_VERSION = "import jaxlib; print(jaxlib.__version__)"


def main(pythons: list[str]) -> None:
    """Record the program with each interpreter, and write the comparisons of the pairs."""
    text = PAGE.read_text()
    program = _PROGRAM.search(text)
    if program is None:
        sys.exit(f"{PAGE} has no program")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "steps.py").write_text(program[1])
        captures = {
            _command_output([python, "-c", _VERSION], folder).strip(): number
            for number, python in enumerate(pythons, 1)
        }
        for python in pythons:
            _command_output([FRAMEDEX, "run", python, "steps.py"], folder)
        _command_output([FRAMEDEX, "index"], folder)

        def compare(found: re.Match[str]) -> str:
            sides = (str(captures[found[side]]) for side in ("older", "newer"))
            output = _command_output([FRAMEDEX, "diff", *sides, *found["options"].split()], folder)
            return f"{found[1]}{output.replace(str(folder), HOME)}```"

        PAGE.write_text(_DIFF.sub(compare, text))


def _command_output(command: list[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main(sys.argv[1:])
