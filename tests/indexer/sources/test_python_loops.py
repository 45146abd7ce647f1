"""The loops and statements of Python files with unusual syntax."""

from __future__ import annotations

import warnings

import pytest

from framedex.sources.python_syntax import PythonScopes

ELIFS = 1_500  # nested in the syntax tree deeper than Python's recursion limit


def test_a_long_elif_chain_has_a_statement_for_each_line() -> None:
    chain = "".join(f"    elif n == {number}:\n        f({number})\n" for number in range(ELIFS))
    source = f"def choose(n):\n    if n < 0:\n        f(n)\n{chain}    g(n)\n"

    scope = PythonScopes(source.encode()).scope("choose", 1)

    assert scope is not None
    lines = range(2, 5 + 2 * ELIFS)
    assert [part.first_line for part in scope.block.parts] == [*lines]
    assert [part.first_line for part in scope.block.parts if part.is_certain] == [lines[0], lines[-1]]


def test_statements_after_a_continue_are_uncertain() -> None:
    source = "for n in f():\n    with g():\n        h()\n        if n:\n            continue\n        h()\n    h()\n"

    scope = PythonScopes(source.encode()).scope("<module>", 1)

    assert scope is not None
    ((body,),) = [[loop.body for loop in scope.loops]]
    assert [(part.first_line, part.is_certain) for part in body.parts] == [
        (2, True),
        (3, True),
        (4, True),
        (5, False),
        (6, False),
        (7, False),
    ]


def test_a_file_that_the_compiler_warns_about_is_parsed_without_a_warning() -> None:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        scope = PythonScopes(b"pattern = '\\d'\n").scope("<module>", 1)

    assert scope is not None and not found


@pytest.mark.parametrize("content", [b"def f(:\n", b"\xff\xfe", b"f(" * 1_000], ids=["syntax", "encoding", "depth"])
def test_an_unparsable_file_has_no_scopes(content: bytes) -> None:
    assert PythonScopes(content).scope("<module>", 1) is None


def test_a_cell_with_magics_and_shell_commands_has_its_loops() -> None:
    cell = (
        "# a comment first\n!pip install x\n%matplotlib inline\nfiles = !ls\nt = %timeit -o f()\n"
        "if files:\n    %load_ext y\nstep?\n??step\nfor i in range(5):\n    keep.append(i % 3)\n"
    )
    scope = PythonScopes(cell.encode()).scope("<module>", 1)
    assert scope is not None
    assert [(loop.line, loop.last_line) for loop in scope.loops] == [(10, 11)]


def test_other_invalid_code_has_no_loops() -> None:
    assert PythonScopes(b"for i in range(5):\n    f(i\n%s\n").scope("<module>", 1) is None
