"""editors/helix in a real Helix in a tmux terminal, driven like a user."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.helix import show_places, shown_place
from tests.editors.screen import HAS_TMUX, Screen
from tests.editors.sessions import EDITORS
from tests.server.recording import Recording, record

HELIX = shutil.which("hx") or shutil.which("helix")

pytestmark = pytest.mark.skipif(
    HELIX is None or not HAS_TMUX, reason="needs tmux and Helix (newer Debians: apt-get install hx)"
)


class Helix:
    """Helix with our configuration, on a recorded program."""

    def __init__(self, recording: Recording) -> None:
        home = recording.root / "home"
        settings = home / ".config" / "helix"
        settings.mkdir(parents=True)
        text = (EDITORS / "helix" / "languages.toml").read_text()
        # The configuration requires an installed framedex.
        started = f'command = "{sys.executable}"\nargs = ["-m", "framedex_server"]'
        (settings / "languages.toml").write_text(text.replace('command = "framedex"\nargs = ["serve"]', started))
        show_places(settings)
        environment = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
        self.screen = Screen(f"{HELIX} demo.py:8", recording.root, environment)

    def expect_place(self, name: str, line: int) -> None:
        """Wait for the cursor to be in a file, at a 1-based line."""
        self.screen.wait_until(lambda: shown_place(self.screen.text) == (name, line))


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    """A recorded program."""
    return record(tmp_path)


@pytest.fixture
def helix(recording: Recording) -> Iterator[Helix]:
    """Helix with the cursor on the line on which `main` calls `make_input`, its server ready."""
    session = Helix(recording)
    try:
        # Helix does not show that the server is starting, and queries only running servers: an answer means it is
        # ready.
        session.screen.wait_until(lambda: "PJRT_Client" in _hovered(session))
        yield session
    finally:
        session.screen.close()


def _hovered(helix: Helix) -> str:
    helix.screen.type("Space", "k")
    return helix.screen.text


def test_definition_steps_frame_by_frame_from_python_into_native_code(helix: Helix) -> None:
    for place in [("demo.py", 5), ("library.py", 4), ("client.cc", 4)]:
        helix.screen.type("gd")
        helix.expect_place(*place)


def test_hover_shows_recorded_data(helix: Helix) -> None:
    helix.screen.type("Space", "k")
    helix.screen.wait_until(lambda: "3 recorded calls" in helix.screen.text)


def test_references_list_the_origins_of_stacks(helix: Helix) -> None:
    helix.screen.type("gr")
    helix.expect_place("demo.py", 11)
