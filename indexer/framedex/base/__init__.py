"""Modules that every package uses.

- `errors.py`, `words.py`, `plaintext.py`: errors with a remedy, phrases, and text from recordings made harmless
- `folders.py`, `regularfile.py`, `interpreters.py`, `web.py`, `progress.py`: the user's folders, foreign files,
  interpreters, downloads, progress
- `nativepart.py`, `protobuf.py`: the compiled part, and what works without it
- `memory_maps.py`: the memory maps of running processes
- `lazy.py`, `version.py`: imports on first use, and the version
"""
