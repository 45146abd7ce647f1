"""code-server: the real VS Code in a browser, with its own home folder."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.browsers import PATIENCE
from tests.editors.vscode.project import CHECKOUT

EDITORS = CHECKOUT / ".editors"
VSIX = CHECKOUT / "editors" / "vscode" / "framedex.vsix"
LINUX = VSIX.with_name("framedex-linux-x64.vsix")
"""The package for linux-x64, which exists only during a test, or after `make vsix` with wheels in dist/."""

_PROGRAM = EDITORS / "node_modules" / "code-server" / "out" / "node" / "entry.js"
_ADDRESS = re.compile(r"listening on (http://\S+?)/?$")

# Settings that disable network access and anything that would disturb the tests.
QUIET: Mapping[str, Any] = {
    "chat.disableAIFeatures": True,
    "editor.accessibilitySupport": "off",
    "extensions.autoCheckUpdates": False,
    "extensions.ignoreRecommendations": True,
    # As on the desktop: in a browser, VS Code saves by itself while a test saves.
    "files.autoSave": "off",
    "git.enabled": False,
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    # Makes terminal rows elements of the page.
    "terminal.integrated.gpuAcceleration": "off",
    "terminal.integrated.enablePersistentSessions": False,
    "window.autoDetectColorScheme": True,
    "window.titleBarStyle": "native",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.welcomePage.walkthroughs.openOnInstall": False,
}

RESET_KEY = "Control+Alt+Shift+F12"
"""Runs RESET, in Playwright's key notation. VS Code in a browser cannot restart its extension host."""

RESET = (
    *("workbench.action.closeAllGroups", "workbench.action.terminal.killAll", "workbench.action.closePanel"),
    *("framedex.activity.clearCapture", "framedex.activity.clearFilter", "framedex.activity.foldGlue"),
    # Only a view that was shown before can be collapsed.
    *("framedex.activity.focus", "workbench.actions.treeView.framedex.activity.collapseAll"),
    *("notifications.clearAll", "workbench.view.explorer"),
)
"""Commands that close a test's editors, clear the state of the extension and its server, and show the files."""

QUIETED = ("telemetry", "update-check", "workspace-trust", "getting-started-override")
"""Settings that code-server has switches for."""


class CodeServer:
    """A running code-server with the packaged extension; all its processes end with the block."""

    def __init__(
        self,
        root: Path,
        *,
        path: str,
        settings: Mapping[str, Any] | None = None,
        switched_off: Sequence[str] = QUIETED,
        package: Path = VSIX,
    ) -> None:
        """Start one with all its files below `root`, this PATH, and QUIET and `settings` as user settings.

        `package` is the extension's package.
        """
        self._mark = f"FRAMEDEX_TEST_SERVER={uuid.uuid4().hex}"
        self._data = root / "data"
        self._output = root / "code-server.log"
        self._options = [
            *("--config", str(root / "config.yaml")),
            *("--user-data-dir", str(self._data)),
            *("--extensions-dir", str(root / "extensions")),
        ]
        self._environment = _environment(root, path) | dict([self._mark.split("=")])
        _write_settings(self._data, {**QUIET, **(settings or {})})
        (root / "config.yaml").write_text("auth: none\n")
        self._call("--install-extension", str(package))
        self._process = self._start(switched_off)
        try:
            self.address = self._first_address()
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """Kill it with all its processes."""
        self._process.terminate()
        self._process.wait(PATIENCE)
        # Terminals and language servers have their own sessions: an inherited variable identifies them.
        for child in _with_mark(self._mark):
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

    @property
    def authority(self) -> str:
        """HOST:PORT, as in `vscode-remote` URIs."""
        return self.address.removeprefix("http://")

    def logs(self) -> Iterator[Path]:
        """The output of the server, then the logs of its windows."""
        yield self._output
        yield from sorted(path for path in (self._data / "logs").rglob("*.log") if path.stat().st_size)

    def _call(self, *arguments: str) -> None:
        done = subprocess.run(
            [_node(), _PROGRAM, *self._options, *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _start(self, switched_off: Sequence[str]) -> subprocess.Popen[str]:
        command: list[str | Path] = [
            _node(),
            _PROGRAM,
            *(*self._options, "--auth", "none", "--bind-addr", "127.0.0.1:0"),
            *(f"--disable-{switch}" for switch in switched_off),
            # The page may then run tests inside the extension host, and receives their results.
            *("--vscode-option", "enable-smoke-test-driver"),
        ]
        return subprocess.Popen(
            command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _first_address(self) -> str:
        """The server's address, once it is printed; a thread then logs further output."""
        said = self._process.stdout
        assert said is not None
        log = self._output.open("w", buffering=1)
        for line in said:
            log.write(line)
            if found := _ADDRESS.search(line):
                threading.Thread(target=shutil.copyfileobj, args=(said, log, 1), daemon=True).start()
                return found[1]
        log.close()
        raise AssertionError(self._output.read_text())


@contextmanager
def packages_locked() -> Iterator[None]:
    """Keep other workers from building packages: all of them build in one folder."""
    with (EDITORS / "packages.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_packages(dist: Path) -> str:
    """The output of building the extension's packages with the wheels in a folder."""
    command = [CHECKOUT / "scripts" / "vsix"]
    done = subprocess.run(command, env={**os.environ, "DIST": str(dist)}, capture_output=True, text=True, check=True)
    return done.stdout


def _node() -> Path:
    return EDITORS / "bin" / "node"


def _environment(root: Path, path: str) -> dict[str, str]:
    """The user's environment without references to the user's own files or to a surrounding VS Code."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("VSCODE_", "XDG_", "CODE_SERVER_"))
    }
    home = root / "home"
    home.mkdir(parents=True)
    # VS Code reads the environment from the login shell, where the system's profile resets PATH.
    (home / ".profile").write_text(f"PATH={shlex.quote(path)}\n")
    return kept | {"HOME": str(home), "PATH": path, "SHELL": "/bin/sh"}


def _write_settings(data: Path, settings: Mapping[str, Any]) -> None:
    # "Machine": VS Code ignores user settings that name programs of a machine.
    for kind in ("User", "Machine"):
        (data / kind).mkdir(parents=True)
        (data / kind / "settings.json").write_text(json.dumps(settings, indent=2))
    reset = {"key": RESET_KEY.replace("Control", "ctrl"), "command": "runCommands", "args": {"commands": RESET}}
    (data / "User" / "keybindings.json").write_text(json.dumps([reset]))


def _with_mark(mark: str) -> Iterator[int]:
    """The processes that inherited an entry of the environment."""
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
        except OSError:
            continue  # the process has exited, or belongs to another user
