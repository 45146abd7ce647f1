"""Without recording support, answers and traces still display, and the remedy is shown."""

from __future__ import annotations

import subprocess

from tests.hiding import NATIVE_PART, python_without
from tests.run.costs.trained import index_of_training
from tests.running import TIMEOUT, plain_environment

SHOWING = """
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
from framedex.index import Index
shell = InteractiveShell.instance()
shell.run_cell("%load_ext framedex")
index = Index.open(Path({path!r}))
html = shell.display_formatter.format(index)[0]["text/html"]
row = shell.display_formatter.format(index.captures()[0])[0]
print("row", "training.py" in row["text/html"] and "Calls: " in row["text/plain"])
print("shown", html.startswith('<div class="framedex">'))
print("failed", not shell.run_cell("%%framedex\\nprint('it ran')").success)
"""


def test_answers_are_shown_and_the_remedy_is_named() -> None:
    code = SHOWING.format(path=str(index_of_training()))
    ran = subprocess.run(
        python_without(NATIVE_PART, code), capture_output=True, text=True, timeout=TIMEOUT, env=plain_environment()
    )
    assert ran.returncode == 0, ran.stderr
    assert "row True" in ran.stdout and "shown True" in ran.stdout
    assert "failed True" in ran.stdout and "it ran" not in ran.stdout
    assert ran.stderr.count("pip install --force-reinstall framedex") == 2
    assert "Traceback" not in ran.stderr
