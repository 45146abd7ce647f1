"""Record the programs of tests/programs/corpus, each in one file: python scripts/make_recordings.py FOLDER [NAME...].

Each program is recorded on the mock TPU with 8 devices. Its file is kept if a replay there gives the recorded bits.
Plug-ins are then checked with `framedex conform PLUGIN.so --recordings FOLDER`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ("-m", "tests.programs.corpus")
VARIABLES = {"FRAMEDEX_DEVICES": "8", "FRAMEDEX_DEVICE": "v5e"}


def main() -> None:
    """Write the recordings. The exit status is 1 if a replay differs."""
    target = Path(sys.argv[1]).absolute()
    target.mkdir(parents=True, exist_ok=True)
    names = sys.argv[2:] or _run_python(*PROGRAMS).stdout.split()
    differing = sum(_record_and_replay(name, target / f"{name}.fdxreplay") for name in names)
    total = sum(each.stat().st_size for each in target.glob("*.fdxreplay"))
    print(f"{len(names) - differing} of {len(names)} replays give the recorded bits; {total:,} bytes")
    sys.exit(1 if differing else 0)


def _record_and_replay(name: str, file: Path) -> bool:
    """Record and replay a program. Return whether the replay differs or fails."""
    with tempfile.TemporaryDirectory(prefix="framedex-recordings-") as folder:
        ran = _run_python("-m", "framedex", "run", "--contents", "-o", folder, *PROGRAMS, name)
        if ran.returncode:
            sys.exit(f"{name} failed:\n{ran.stderr}")
        replay = _run_python("-m", "framedex", "replay", "--no-bisect", "-o", str(file), folder)
    if replay.returncode:
        file.unlink(missing_ok=True)
        print(f"{name}: {replay.stdout}{replay.stderr}", flush=True)
    else:
        print(f"{name}: {file.stat().st_size:,} bytes, equal", flush=True)
    return replay.returncode != 0


def _run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run this Python in the checkout."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | VARIABLES,
        capture_output=True,
        text=True,
        check=False,
    )


if __name__ == "__main__":
    main()
