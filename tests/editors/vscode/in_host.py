"""Run TypeScript tests inside VS Code's extension host, where VS Code's API is available.

Each `host/*.test.ts` runs in its own window, as the empty extension of `host/`. The tested extension is the installed
package.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.editors.vscode.code_server import EDITORS
from tests.editors.vscode.project import CHECKOUT
from tests.editors.vscode.workbench import Workbench

HOST = Path(__file__).parent / "host"
TOOLS = CHECKOUT / "editors" / "vscode" / "node_modules" / ".bin"

Outcomes = Mapping[str, str | None]
"""The error of each test by name; None for passed tests."""

TIMEOUT = 900.0  # seconds for all tests of a file, on a busy machine

# The global that VS Code's page calls if started for tests (its "smoke test driver").
_AUTOMATION = """
window.testsSaid = [];
window.codeAutomationLog = (kind, words) => window.testsSaid.push(`${kind}: ${words.join(" ")}`);
window.codeAutomationExit = (status) => { window.testsHaveEnded = true; };
"""
_BUNDLED = (
    *("--bundle", "--platform=node", "--format=cjs", "--target=node20"),
    *("--external:vscode", "--sourcemap=inline", "--log-level=warning"),
)
_TEST = re.compile(r'^test\("([^"]+)"', re.MULTILINE)


def test_files() -> list[Path]:
    """The test files."""
    return sorted(HOST.glob("*.test.ts"))


@cache
def names(file: Path) -> tuple[str, ...]:
    """The tests in a file, in order."""
    return tuple(_TEST.findall(file.read_text()))


def check_types() -> None:
    """Check the types of the tests against VS Code's API."""
    _tool("tsc", "--project", str(HOST))


def run(file: Path, folder: Path, window: Workbench) -> Any:
    """Run a file of `host/` in a new window; return the JSON that it wrote (for tests, Outcomes)."""
    script = (folder / file.name).with_suffix(".js")
    _tool("esbuild", str(file), *_BUNDLED, f"--outfile={script}")
    window.page.add_init_script(_AUTOMATION)
    stand_in = HOST / file.name.removesuffix(".test.ts")
    extension = stand_in if stand_in.is_dir() else HOST
    window.load(extensionDevelopmentPath=window.remote(extension), extensionTestsPath=window.remote(script))
    window.page.wait_for_function("window.testsHaveEnded", timeout=TIMEOUT * 1000)
    written = Path(f"{script}.json")
    assert written.is_file(), window.page.evaluate("window.testsSaid.join('\\n')")
    return json.loads(written.read_text())


def notifications(window: Workbench) -> str:
    """The open list of notifications: what the extension told during a failed test."""
    return "\n".join(window.page.locator(".notifications-center").all_inner_texts())


def _tool(name: str, *arguments: str) -> None:
    environment = {**os.environ, "PATH": f"{EDITORS / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [TOOLS / name, *arguments], cwd=HOST, env=environment, capture_output=True, text=True, timeout=TIMEOUT
    )
    assert done.returncode == 0, done.stdout + done.stderr
