"""Parsing a file does not depend on earlier files: the lexers cache words and punctuation."""

from pathlib import Path

import pytest

from framedex.sources import extract_files

SOURCES = {
    "shift.cc": "template <class T> struct A { A<A<T>>* next; int f() { return g() >> 1 > h() ? a->b : a.b; } };\n",
    "templates.cc": "std::vector<std::vector<int>> f(){return std::vector<std::vector<int>>{{1,2},{3}};}\n",
    "operators.cc": (
        "bool operator==(A a, A b) { return !(a<b)&&!(b<a); }\nint A::operator->*(int B::*m) { return x.*m+y->*m; }\n"
    ),
    "spaces.cc": "int  f ( ) { a ( b ) ; c\t(\nd\n)\n; return a [ 1 ] ; }\n#define X(a) \\\n  a ( )\nX(1)\n",
    "letters.cc": 'void größe(int é) { ändern(é); L"x"; u8"y"_s; R"(f())"; \'a\'; 1\'000; 0x1p3; i\\u00e9(); }\n',
    "words.cc": "int64_t format(newer n) { return_value(n); delete n; if (iffy(n)) else_(n); co_await n; }\n",
    "ends.cc": "void f() { g();",
    "words.py": "def matching(match): return lambda_(match) if iffy else async_(1)\nmatch f(1):\n  case 2: g()\n",
    "blanks.py": "class A :\n\tdef f ( self ) :\n\t\treturn [ g ( x ) for x in y\n\t\t]\n\n\n  # a comment\nh( )\n",
    "signs.py": "@a.b\ndef f(*a, **k): return a<<1 if a!=k else (x:=g())//2 ** ~h(); f'{i()!r:>{j()}}'\n",
    "ends.py": "def f(): return g",
}


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    return [str(tmp_path / name) for name in SOURCES]


def test_a_file_gives_the_same_result_after_any_other_file(paths: list[str]) -> None:
    alone = {path: next(iter(extract_files([path], threads=1))) for path in paths}
    again = [*paths, *reversed(paths), *paths]
    together = [(file.path, file) for file in extract_files(again, threads=1)]
    assert [path for path, _ in together] == again
    for path, file in together:
        assert (file.errors, file.definitions) == (alone[path].errors, alone[path].definitions)
