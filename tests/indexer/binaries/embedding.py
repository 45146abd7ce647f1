"""Build binaries with embedded symbols (`.gnu_debugdata`) from binaries with a `.symtab`."""

from __future__ import annotations

import lzma
import subprocess
from pathlib import Path


def only_symbols(binary: Path, output: Path) -> Path:
    """An ELF file with all symbols of a binary, and its debug information if any, without code and data."""
    subprocess.run(["objcopy", "--only-keep-debug", binary, output], check=True)
    return output


def functions_not_exported(binary: Path, output: Path) -> Path:
    """An ELF file with a binary's non-exported functions, as distributions embed it (GDB manual)."""
    everything = output.with_name(f"{output.name}.debug")
    subprocess.run(["objcopy", "--only-keep-debug", binary, everything], check=True)
    exported = _functions("-D", binary)
    kept = output.with_name(f"{output.name}.kept")
    kept.write_text("\n".join(sorted(_functions(binary) - exported)))
    subprocess.run(["objcopy", "-S", f"--keep-symbols={kept}", everything, output], check=True)
    return output


def compressed(content: bytes) -> bytes:
    """Content in embedded form."""
    return lzma.compress(content, preset=0)


def embed(binary: Path, output: Path, section: bytes, *options: str) -> Path:
    """The binary with this content in `.gnu_debugdata`, by default without its own symbols."""
    content = output.with_name(f"{output.name}.xz")
    content.write_bytes(section)
    given = [*(options or ("--strip-all",)), f"--add-section=.gnu_debugdata={content}"]
    subprocess.run(["objcopy", *given, binary, output], check=True)
    content.unlink()
    return output


def _functions(*arguments: str | Path) -> set[str]:
    command = ["nm", "--format=posix", "--defined-only", *arguments]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {name for name, kind, *_ in map(str.split, lines) if kind in "TtWw"}
