"""editors/helix in a real Helix, in a terminal of tmux, doing what a person would do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.editors.sessions import EDITORS
from tests.server.recording import Recording, record

HELIX = shutil.which("hx") or shutil.which("helix")
PATIENCE = 30.0  # seconds: what takes longer is a failure

pytestmark = pytest.mark.skipif(
    HELIX is None or shutil.which("tmux") is None, reason="needs tmux and Helix (newer Debians: apt-get install hx)"
)


class Helix:
    """Helix with our configuration, on a recorded program, on a screen of 40 lines."""

    def __init__(self, recording: Recording) -> None:
        self._root = recording.root
        self._place = self._root / "place"
        self._tmux = ["tmux", "-L", f"framedex-{uuid.uuid4().hex}"]
        home = self._root / "home"
        settings = home / ".config" / "helix"
        settings.mkdir(parents=True)
        text = (EDITORS / "helix" / "languages.toml").read_text()
        # The configuration is for those who have installed framedex.
        started = f'command = "{sys.executable}"\nargs = ["-m", "framedex_server"]'
        (settings / "languages.toml").write_text(text.replace('command = "framedex"\nargs = ["serve"]', started))
        environment = {
            **os.environ,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "TERM": "xterm-256color",
        }
        command = [*self._tmux, "-f", os.devnull, "new-session", "-d", "-x", "120", "-y", "40", f"{HELIX} demo.py:8"]
        subprocess.run(command, check=True, cwd=self._root, env=environment)

    def close(self) -> None:
        """End it, whatever it is at."""
        subprocess.run([*self._tmux, "kill-server"], check=True)

    def screen(self) -> str:
        """What is on the screen."""
        return subprocess.run([*self._tmux, "capture-pane", "-p"], check=True, capture_output=True, text=True).stdout

    def type(self, *keys: str) -> None:
        """Press keys, as tmux names them."""
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def place(self) -> tuple[str, int]:
        """The file and line of the cursor, as Helix tells it."""
        self._place.unlink(missing_ok=True)
        self.type(":sh echo %{buffer_name}:%{cursor_line}. > place", "Enter")
        until(lambda: self._place.is_file() and self._place.read_text().endswith(".\n"), self.screen)
        name, line = self._place.read_text().rstrip(".\n").rsplit(":", 1)
        return Path(name).name, int(line)


def until(holds: Callable[[], bool], tell: Callable[[], str]) -> None:
    """Wait for what another program is to do."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, tell()


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    """A recorded program."""
    return record(tmp_path)


@pytest.fixture
def helix(recording: Recording) -> Iterator[Helix]:
    """Helix with the cursor on the line on which `main` calls `make_input`, its server ready."""
    session = Helix(recording)
    try:
        # The server has started when it answers: Helix says nothing of it, and asks those that run.
        until(lambda: "PJRT_Client" in _hovered(session), session.screen)
        yield session
    finally:
        session.close()


def _hovered(helix: Helix) -> str:
    helix.type("Space", "k")
    return helix.screen()


def test_definition_goes_frame_by_frame_across_the_border(helix: Helix) -> None:
    places = [("demo.py", 8)]
    for _ in range(3):
        helix.type("gd")
        until(lambda: helix.place() != places[-1], helix.screen)
        places.append(helix.place())
    assert places[1:] == [("demo.py", 5), ("library.py", 4), ("client.cc", 4)]


def test_hover_tells_what_was_recorded(helix: Helix) -> None:
    helix.type("Space", "k")
    until(lambda: re.search(r"3 recorded calls", helix.screen()) is not None, helix.screen)


def test_references_list_where_the_stacks_came_from(helix: Helix) -> None:
    helix.type("gr")
    until(lambda: helix.place() == ("demo.py", 11), helix.screen)
