from collections.abc import Sequence

_Words = tuple[bytes, ...]
_Line = tuple[int, int, int, _Words | None, bytes | None]

class LineScanner:
    def __init__(self, needles: Sequence[bytes], word_needles: Sequence[bytes]) -> None: ...
    def scan(self, text: bytes, answers: dict[_Words, bytes]) -> list[_Line]: ...
