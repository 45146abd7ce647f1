"""What a source map costs: its size, and the time to export and import it, beside indexing the sources themselves.

    python benchmarks/source_map.py ROOT [--no-calls]

Each step is a process of its own, as a user's would be. The peak memory is that of the import.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_COMMAND = [sys.executable, "-c", "from framedex.commands.main import cli; cli()"]


def main() -> None:
    """Measure and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--no-calls", action="store_true")
    arguments = parser.parse_args()
    commit = ["--commit", "0" * 40] if not (arguments.root / ".git").exists() else []
    options = ["--component", "measured", *commit, *(["--no-calls"] if arguments.no_calls else [])]
    with tempfile.TemporaryDirectory() as folder:
        index, other, source_map = (Path(folder) / name for name in ("index.db", "other.db", "measured.fdmap"))
        indexing = _seconds("--index", index, "index", "--source", arguments.root)
        exporting = _seconds("--index", index, "sources", "export", arguments.root, "-o", source_map, *options)
        first = source_map.read_bytes()
        from_nothing = _seconds("--index", other, "sources", "export", arguments.root, "-o", source_map, *options)
        is_same = source_map.read_bytes() == first
        importing = _seconds("--index", other, "sources", "import", source_map)
        again = _seconds("--index", other, "sources", "import", source_map)
        figures = {
            "map_bytes": len(first),
            "index_bytes": index.stat().st_size,
            "the_same_bytes_without_an_index": is_same,
            "index_s": indexing,
            "export_s": exporting,
            "export_without_index_s": from_nothing,
            "import_s": importing,
            "import_again_s": again,
            "import_peak_mib": round(_peak(source_map, other) / 1024, 1),
        }
    print(json.dumps(figures, indent=2))


def _seconds(*arguments: str | Path) -> float:
    began = time.perf_counter()
    subprocess.run([*_COMMAND, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return round(time.perf_counter() - began, 2)


def _peak(source_map: Path, index: Path) -> int:
    """The peak memory in KiB of one more import."""
    command = [*_COMMAND, "--index", str(index), "sources", "import", str(source_map)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return os.wait4(process.pid, 0)[2].ru_maxrss


if __name__ == "__main__":
    main()
