"""Definitions of Python files."""

from pathlib import Path

from framedex.model import Definition
from framedex.sources import parse_file

TEXT = """
@decorated
def f(a, *, b=1):
    def g():
        return lambda x: x
    return g


class C(Base):
    class D:
        async def m(self) -> int: ...
    def n(self): return [lambda: 1 for _ in ()]
"""


def test_names_are_qualified_as_in_python(tmp_path: Path) -> None:
    path = tmp_path / "file.py"
    path.write_text(TEXT)
    parsed = parse_file(path)
    assert (parsed.language, parsed.problems) == ("python", ())
    assert parsed.definitions == (
        Definition("f", "function", "(a, *, b=1)", 3, 6),
        Definition("f.<locals>.g", "function", "()", 4, 5),
        Definition("f.<locals>.g.<locals>.<lambda>", "lambda", "x", 5, 5),
        Definition("C", "class", None, 9, 12),
        Definition("C.D", "class", None, 10, 11),
        Definition("C.D.m", "method", "(self)", 11, 11),
        Definition("C.n", "method", "(self)", 12, 12),
        Definition("C.n.<locals>.<lambda>", "lambda", None, 12, 12),
    )


def test_every_function_of_a_real_module_has_its_qualname(tmp_path: Path) -> None:
    """The parsed names and lines of a standard library module are those of its code objects."""
    import argparse

    path = Path(argparse.__file__)
    found = {(d.name, d.line) for d in parse_file(path).definitions if d.kind in ("function", "method")}
    codes, pending = set(), [compile(path.read_text(), str(path), "exec")]
    while pending:
        code = pending.pop()
        pending += [constant for constant in code.co_consts if hasattr(constant, "co_qualname")]
        if code.co_flags & 0x2 and not code.co_name.startswith("<"):  # CO_NEWLOCALS: functions, not class bodies
            codes.add((code.co_qualname, code.co_firstlineno))
    undecorated = {(name, line) for name, line in codes if (name, line) in found}
    assert {name for name, _ in codes} == {name for name, _ in found}
    assert len(undecorated) > 0.8 * len(codes)
