from collections.abc import Iterator, Sequence

CPP: int
PYTHON: int
PROTO: int
TABLEGEN: int

_Row = tuple[str, str, str, str | None, int, int, bool, bool, str | None]
_File = tuple[int, int, int, int, int, list[_Row], list[str]]

class Run(Iterator[_File]):
    def __next__(self) -> _File: ...

class Extractor:
    def __init__(self, cpp: object, python: object) -> None: ...
    def run(self, files: Sequence[tuple[bytes, int]], macros: str, threads: int) -> Run: ...
    def statements(self, source: bytes, language: int, macros: str) -> list[list[tuple[int, int]]]: ...

def learn_macros(paths: Sequence[bytes], threads: int) -> str: ...
def scrub(source: bytes, macros: str = "") -> bytes: ...
