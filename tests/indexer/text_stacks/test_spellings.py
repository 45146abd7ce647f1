"""A function's name in every tool's form: all lead to its definition, and ambiguous ones to candidates."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from framedex.binaries.demangle import demangle, load_libstdcxx_demangler, parse_printed_name
from framedex.index import Index, Store
from framedex.ingest import SilentProgress, find_sources
from framedex.model import Language
from framedex.text_stacks import StackFormat, TextFrame
from framedex.text_stacks.source_lookup.resolve import Resolver

# Each definition's first line ends in a comment with its name in the tests.
SOURCE = """\
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#define EXPORT __attribute__((visibility("default"), used, noinline))

namespace rt {
inline namespace v2 {
EXPORT int plain(int n) { return n + 1; }  // plain
}  // namespace v2

struct Shape {
  int rank = 0;
  bool operator==(const Shape& other) const;
  Shape& operator+=(int n);
  int operator[](std::size_t i) const;
  int operator()(int n) const;
  operator bool() const;
  explicit operator std::string() const;
};
EXPORT bool Shape::operator==(const Shape& other) const { return rank == other.rank; }  // equal
EXPORT Shape& Shape::operator+=(int n) { rank += n; return *this; }  // plus_assign
EXPORT int Shape::operator[](std::size_t i) const { return rank + static_cast<int>(i); }  // index
EXPORT int Shape::operator()(int n) const { return n * rank; }  // call
EXPORT Shape::operator bool() const { return rank != 0; }  // to_bool
EXPORT Shape::operator std::string() const { return std::to_string(rank); }  // to_string
EXPORT bool operator<(const Shape& a, const Shape& b) { return a.rank < b.rank; }  // less
EXPORT Shape operator<<(Shape a, int n) { a.rank += n; return a; }  // shift

class Base {
 public:
  virtual ~Base();
  virtual int run(int n);
};
class Other {
 public:
  virtual ~Other() = default;
  virtual int stop(int n);
};
EXPORT Base::~Base() {}  // base_destructor
EXPORT int Base::run(int n) { return n; }  // base_run
EXPORT int Other::stop(int n) { return n; }  // other_stop

class Client : public Base, public Other {
 public:
  explicit Client(int n);
  Client(const std::string& name, int n);
  ~Client() override;
  int run(int n) override;
  int stop(int n) override;
  int put(const std::vector<int>& values, unsigned long size, const char* name) const;
  static std::string name();
  int count();
  int over(int n);
  int over(double n);
  int over(const std::string& n);
  std::size_t size_ = 0;
};
EXPORT Client::Client(int n) : size_(n) {}  // client_of_int
EXPORT Client::Client(const std::string& name, int n) : size_(name.size() + n) {}  // client_of_name
EXPORT Client::~Client() {}  // client_destructor
EXPORT int Client::run(int n) { return n + 2; }  // client_run
EXPORT int Client::stop(int n) { return n + 3; }  // client_stop
EXPORT int Client::put(const std::vector<int>& values, unsigned long size, const char* name) const {  // put
  return static_cast<int>(values.size() + size + (name != nullptr) + size_);
}
EXPORT std::string Client::name() { return "client"; }  // name
EXPORT int Client::count() { return static_cast<int>(size_); }  // count
EXPORT int Client::over(int n) { return n; }  // over_int
EXPORT int Client::over(double n) { return static_cast<int>(n); }  // over_double
EXPORT int Client::over(const std::string& n) { return static_cast<int>(n.size()); }  // over_string

template <typename T>
EXPORT T twice(T value) { return value + value; }  // twice

template <typename T, int N>
class Buffer {
 public:
  EXPORT T at(std::size_t i) const { return data[i]; }  // at
  template <typename U>
  EXPORT U as(U value) { return value; }  // as
  T data[N] = {};
};

namespace {
EXPORT int hidden(int n) { return n * 3; }  // hidden
struct Local {
  EXPORT int work(int n) { return hidden(n) + base; }  // work
  int base = 1;
};
}  // namespace

namespace inner::deep {
EXPORT int nested(const Shape& shape) { return shape.rank; }  // nested
}  // namespace inner::deep

EXPORT int with_lambda(int n) {  // with_lambda
  auto first = [n](int more) __attribute__((noinline)) { return n + more; };  // first_lambda
  auto second = [n](double more) __attribute__((noinline)) { return n * more; };  // second_lambda
  return first(3) + static_cast<int>(second(2.0));
}

EXPORT std::function<int(int)> callback(int n) {  // callback
  return [n](int more) { return n - more; };  // callback_lambda
}

EXPORT int use(int n) {
  Buffer<double, 4> buffer;
  Local local;
  return twice(n) + static_cast<int>(twice(2.5)) + static_cast<int>(buffer.at(1)) + buffer.as(n) + local.work(n);
}
}  // namespace rt

extern "C" EXPORT int rt_start(int n) { return rt::use(n); }  // c_function
"""

GNU_STRING = "basic_string<char, std::char_traits<char>, std::allocator<char> >"

_COMPILERS = [compiler for compiler in ("g++", "clang++") if shutil.which(compiler)]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree") / "src"
    folder.mkdir()
    (folder / "client.cc").write_text(SOURCE)
    return folder


@pytest.fixture(scope="module")
def index(tree: Path) -> Index:
    with Store(tree.parent / "index.db") as store:
        with store.transaction():
            store.sources.add_root(str(tree))
        find_sources(store, SilentProgress())
    return Index.open(tree.parent / "index.db")


def lines() -> dict[str, int]:
    """The lines by the names in their comments."""
    found = {}
    for number, line in enumerate(SOURCE.split("\n"), 1):
        code, mark, name = line.rpartition("  // ")
        if mark and code.strip() not in ("}", ""):
            found[name] = number
    return found


def places(index: Index, name: str, form: StackFormat = StackFormat.GDB) -> list[int]:
    found = Resolver(index).find(TextFrame(form, 0, 0, 0, 0, function=name, language=Language.NATIVE))
    return [place.line for place in (found.location, *found.candidates) if place is not None]


def test_every_spelling_of_a_name_leads_to_its_definition(index: Index) -> None:
    names = [
        # Demanglers: GNU's and LLVM's, with and without their additions.
        ("rt::plain(int)", "plain"),
        ("rt::v2::plain(int)", "plain"),
        ("int rt::twice<int>(int)", "twice"),
        ("double rt::twice<double>(double)", "twice"),
        ("rt::twice<int>(int)", "twice"),
        ("rt::twice<int>", "twice"),
        ("rt::Buffer<double, 4>::at(unsigned long) const", "at"),
        ("rt::Buffer<double, 4>::at(unsigned long)const", "at"),
        ("int rt::Buffer<double, 4>::as<int>(int)", "as"),
        ("rt::Client::put(std::vector<int, std::allocator<int> > const&, unsigned long, char const*) const", "put"),
        ("rt::Client::put(std::vector<int, std::allocator<int>> const&, unsigned long, char const*) const", "put"),
        ("rt::Client::put(std::__1::vector<int, std::__1::allocator<int> > const&, unsigned long, char const*)", "put"),
        ("rt::Client::put(const std::vector<int>&, unsigned long, const char*) const", "put"),
        ("rt::Client::put(const std::vector<int, std::allocator<int> > &, size_t, const char *) const", "put"),
        ("rt::Client::name[abi:cxx11]()", "name"),
        (f"rt::Client::over(std::__cxx11::{GNU_STRING} const&)", "over_string"),
        (f"rt::Client::over(std::__1::{GNU_STRING.replace('std::', 'std::__1::')} const&)", "over_string"),
        ("rt::Client::over(std::string const&)", "over_string"),
        ("rt::Client::over(double)", "over_double"),
        ("rt::Client::over(int)", "over_int"),
        ("rt::Client::Client(int)", "client_of_int"),
        ("rt::Client::Client(std::string const&, int)", "client_of_name"),
        ("rt::Client::~Client()", "client_destructor"),
        ("non-virtual thunk to rt::Client::stop(int)", "client_stop"),
        ("virtual thunk to rt::Client::stop(int)", "client_stop"),
        # Operators.
        ("rt::Shape::operator==(rt::Shape const&) const", "equal"),
        ("rt::Shape::operator+=(int)", "plus_assign"),
        ("rt::Shape::operator[](unsigned long) const", "index"),
        ("rt::Shape::operator()(int) const", "call"),
        ("rt::Shape::operator()", "call"),
        ("rt::Shape::operator bool() const", "to_bool"),
        ("rt::operator<(rt::Shape const&, rt::Shape const&)", "less"),
        ("rt::operator<<(rt::Shape, int)", "shift"),
        ("rt::operator< (a=..., b=...)", "less"),
        # Unnamed namespaces.
        ("rt::(anonymous namespace)::hidden(int)", "hidden"),
        ("rt::{anonymous}::hidden(int)", "hidden"),
        ("rt::<unnamed>::hidden(int)", "hidden"),
        ("rt::_GLOBAL__N_1::hidden(int)", "hidden"),
        ("rt::(anonymous namespace)::Local::work(int)", "work"),
        ("rt::{anonymous}::Local::work (this=0x7ffc, n=3)", "work"),
        # Lambdas.
        ("rt::with_lambda(int)::{lambda(int)#1}::operator()(int) const", "first_lambda"),
        ("rt::with_lambda(int)::{lambda(double)#1}::operator()(double) const", "second_lambda"),
        ("rt::with_lambda(int)::'lambda'(int)::operator()(int) const", "first_lambda"),
        ("rt::with_lambda(int)::'lambda'(double)::operator()(double) const", "second_lambda"),
        ("rt::with_lambda(int)::$_0::operator()(int) const", "first_lambda"),
        ("rt::with_lambda(int)::<lambda(double)>::operator()(double) const", "second_lambda"),
        ("rt::with_lambda(int)::{lambda(int)#1}::operator()(int) const (__closure=0x7ffc, more=3)", "first_lambda"),
        ("rt::callback(int)::{lambda(int)#1}::operator()(int) const", "callback_lambda"),
        # gdb, with the values of arguments, and lldb.
        ("rt::Client::put (this=0x55d0, values=std::vector of length 2, capacity 2 = {...}, size=3, name=0x0)", "put"),
        ("rt::Client::run (this=0x55d0, n=<optimized out>)", "client_run"),
        ("rt::Client::count (this=0x7ffe)", "count"),
        ("rt::plain (n=3)", "plain"),
        ("rt::plain(n=3)", "plain"),
        ("rt::plain(int) ()", "plain"),
        ("rt::plain(...)", "plain"),
        ("rt::twice<int> (value=3)", "twice"),
        ("rt_start (n=1)", "c_function"),
        ("rt_start", "c_function"),
        # Offsets in the function, and its compiled parts.
        ("rt::plain(int) + 26", "plain"),
        ("rt::plain(int) + 0x1a", "plain"),
        ("rt::plain(int)+0x1a", "plain"),
        ("rt_start+0x1a", "c_function"),
        ("rt::plain(int) [clone .cold]", "plain"),
        ("rt::plain(int) [clone .isra.0] [clone .cold] + 0x1a", "plain"),
        ("rt::plain(int) (.cold)", "plain"),
        ("rt::plain(int) (.part.0)", "plain"),
        ("rt::plain(int)@plt", "plain"),
        ("libclient.so!rt::plain(int)", "plain"),
        ("rt::plain(int) [inlined]", "plain"),
        # absl and glog.
        ("rt::plain()", "plain"),
        ("rt::twice<>()", "twice"),
        ("rt::Buffer<>::at()", "at"),
        ("rt::(anonymous namespace)::hidden()", "hidden"),
        ("rt::Client::put()", "put"),
        ("rt::callback()::{lambda()#1}::operator()()", "callback_lambda"),
        # Mangled.
        ("_ZN2rt2v25plainEi", "plain"),
        ("_ZN2rt2v25plainEi.cold", "plain"),
        ("_ZN2rt2v25plainEi.llvm.1234567", "plain"),
        ("_ZN2rt2v25plainEi.__uniq.123456789", "plain"),
        ("_ZN2rt2v25plainEi+0x1a", "plain"),
        ("_ZN2rt2v25plainEi@plt", "plain"),
        # Cut within the parameters.
        ("rt::Client::put(std::vector<int, std::allocator<int> > const&, unsign", "put"),
        ("rt::Client::put(std::vector<int, std::al...", "put"),
    ]  # fmt: skip
    known = lines()
    assert [(printed, places(index, printed)) for printed, _ in names] == [
        (printed, [known[function]]) for printed, function in names
    ]


def test_an_ambiguous_name_has_candidates(index: Index) -> None:
    known = lines()
    for printed, functions in (
        ("rt::Client::over()", {"over_int", "over_double", "over_string"}),
        ("rt::Client::over", {"over_int", "over_double", "over_string"}),
        ("rt::Client::over (this=0x7ffc, n=...)", {"over_int", "over_double", "over_string"}),
        ("rt::with_lambda()::{lambda()#1}::operator()()", {"first_lambda", "second_lambda"}),
        ("rt::with_lambda(int, std::vector<int, std", {"with_lambda", "first_lambda", "second_lambda"}),
    ):
        assert set(places(index, printed)) == {known[each] for each in functions}, printed


def test_an_unknown_function_is_not_located(index: Index) -> None:
    names = [
        "rt::Client::",
        "rt::Buffer<double, 4",
        "rt::Buffer<double, 4...",
        "rt::Client::pu...",
        "rt::(anonymous name",
        "guard variable for rt::plain(int)::x",
        "vtable for rt::Client",
        "typeinfo name for rt::Client",
        "plain(int)",
        "nobody::plain(int)",
        "()",
        "(",
        "+0x1a",
        " (n=3)",
        "...",
        "operator()",
        "[clone .cold]",
    ]
    assert [printed for printed in names if places(index, printed)] == []


@pytest.mark.exhaustive(keep=_COMPILERS[:1])
@pytest.mark.parametrize("compiler", _COMPILERS)
def test_compiler_generated_names_lead_to_their_definitions(tree: Path, index: Index, compiler: str) -> None:
    """Mangled, and as printed by both demanglers."""
    library = tree.parent / f"lib{compiler}.so"
    command = [compiler, "-std=c++17", "-O0", "-shared", "-fPIC", str(tree / "client.cc"), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True)
    listing = subprocess.run(["nm", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    symbols = [line.split()[-1] for line in listing.splitlines() if line.split()[-2] in "tTwW"]
    gnu = load_libstdcxx_demangler()
    assert gnu is not None
    known = {line: name for name, line in lines().items()}
    seen = set()
    for symbol in symbols:
        if "2rt" not in symbol.partition("I")[0] or "St8function" in symbol[:16]:
            continue
        found = {tuple(places(index, name or symbol)) for name in (symbol, demangle(symbol), gnu(symbol))}
        if (places_of := next(iter(found))) and len(places_of) == 1 and places_of[0] in known:
            seen.add(known[places_of[0]])
        assert len(found) == 1, symbol
    missing = set(known.values()) - seen - {"c_function"}
    assert not missing


def test_a_truncated_name_is_parsed() -> None:
    name = "std::function<int (int)> const& rt::Buffer<double (*)(int), 4>::as<rt::(anonymous namespace)::Local>(int)"
    assert all(isinstance(parse_printed_name(name[:length]).symbol, str) for length in range(1, len(name) + 1))
