"""Possible lines of a frame for calls through pointer tables, from lambdas and by operators, and for jumps."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from framedex.binaries import Binary
from framedex.model import FrameRow, LocationEvidence
from tests.indexer.ingest.test_call_lines import address_of, capture_of, exact_lines, frames_of
from tests.indexer.recorded import Project

HEADER = """\
namespace shop {
struct Till {
  virtual int ring(int x);
  virtual int close(int x);
};
struct Desk {
  virtual int open(int x);
  virtual int sell(int x);
  virtual int close(int x);
};
int price(int x);
struct Paper {
  Paper& operator<<(int x);
  int lines;
};
struct Keys {
  int (*unlock)(int x);
  int (*lock)(int x);
};
int unlock(int x);
int lock(int x);
}
"""
METHODS = """\
#include "shop.h"
namespace shop {
int Till::ring(int x) { return x + 1; }
int Till::close(int x) { return x + 2; }
int Desk::open(int x) { return x + 3; }
int Desk::sell(int x) { return x + 4; }
int Desk::close(int x) { return x + 5; }
int price(int x) { return x * 3; }
Paper& Paper::operator<<(int x) {
  lines += x;
  return *this;
}
int unlock(int x) { return lock(x) + 1; }
int lock(int x) { return x - 1; }
}
"""
CALLERS = """\
#include "shop.h"
namespace shop {
inline int shut(Desk* desk, int x) { return desk->close(x) + 1; }
int day(Desk* desk, Till* till, int x) {
  int sum = shut(desk, x);
  sum += till->ring(sum);
  return sum - till->close(sum);
}
int last(Till* till, int x) {
  if (x > 3) {
    return till->close(x);
  }
  int sum = till->close(x + 1);
  return sum * 2;
}
int again(int x) {
  auto twice = [&](int y) { return price(y) * 2; };
  if (x == 7) {
    return price(x) + 1;
  }
  return twice(x + 2);
}
inline void sign(Paper& paper) { paper << 1; }
int bill(Paper& paper, int x) {
  paper << x;
  sign(paper);
  return paper.lines;
}
int turn(Keys* keys, int x) {
  int once = keys->unlock(x);
  return keys->lock(once) + 1;
}
}
"""
DAY, LAST, AGAIN = "_ZN4shop3dayEPNS_4DeskEPNS_4TillEi", "_ZN4shop4lastEPNS_4TillEi", "_ZN4shop5againEi"
RING, CLOSE, SHUT = "_ZN4shop4Till4ringEi", "_ZN4shop4Till5closeEi", "_ZN4shop4Desk5closeEi"
PRICE = "_ZN4shop5priceEi"
TURN, LOCK = "_ZN4shop4turnEPNS_4KeysEi", "_ZN4shop4lockEi"
BILL, WRITE = "_ZN4shop4billERNS_5PaperEi", "_ZN4shop5PaperlsEi"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same code with and without debug information, in `with.so` and `without.so`, and its source in `tree`."""
    folder = tmp_path_factory.mktemp("pointers")
    (folder / "tree").mkdir()
    for name, text in (("shop.h", HEADER), ("methods.cc", METHODS), ("callers.cc", CALLERS)):
        (folder / "tree" / name).write_text(text)
    for name, debug in (("with.so", "-g"), ("without.so", "-g0")):
        command = ["g++", "-O2", debug, "-shared", "-fPIC", "-fvisibility=hidden", "tree/callers.cc", "tree/methods.cc"]
        subprocess.run([*command, "-o", name], cwd=folder, check=True)
    return folder


def frame(built: Path, project: Project, caller: str, number: int, callee: str) -> tuple[FrameRow, int]:
    """The frame of one call of a caller, which was recorded calling `callee`, and its line."""
    library = built / "without.so"
    code = Binary.open(library).code_around(address_of(library, caller))
    assert code is not None
    returns_to = [call.return_address for call in code.calls if call.return_address][number]
    capture = capture_of(project.capture, library, [(returns_to, address_of(library, callee))])
    (found,) = frames_of(project.ingest(built / "tree", capture=capture))
    return found, exact_lines(built / "with.so", [returns_to])[returns_to]


@pytest.mark.parametrize(("number", "callee"), [(0, SHUT), (1, RING), (2, CLOSE)])
def test_a_call_through_a_table_is_distinguished_from_other_table_calls(
    built: Path, project: Project, number: int, callee: str
) -> None:
    """Two methods with one name, one called by an inlined function: each call is on its line.

    Both lines stay candidates, because the object's class is unknown.
    """
    found, truth = frame(built, project, DAY, number, callee)

    assert found.location is not None and found.location.line == truth
    assert found.location.how is (LocationEvidence.SINGLE if callee == RING else LocationEvidence.RANKED)
    assert [other.line for other in found.candidates] == ([] if callee == RING else [12 - truth])


def test_a_tail_call_is_not_a_candidate_for_other_frames(built: Path, project: Project) -> None:
    """A tail call leaves no frame, so the frame is at the other call of that name."""
    found, truth = frame(built, project, LAST, 0, CLOSE)

    assert found.location is not None
    assert (
        (found.location.line, found.location.how) == (truth, LocationEvidence.RANKED) == (13, LocationEvidence.RANKED)
    )


def test_calls_in_a_lambda_and_in_its_function_are_both_candidates(built: Path, project: Project) -> None:
    """For a name called once in a function and once in its inlined lambda, neither is the only call."""
    placed = [frame(built, project, AGAIN, number, PRICE)[0] for number in (0, 1)]

    assert [each.location.how for each in placed if each.location] == [LocationEvidence.RANKED, LocationEvidence.RANKED]
    assert all({each.location.line, *(c.line for c in each.candidates)} == {17, 19} for each in placed if each.location)


def test_a_call_more_frequent_in_machine_code_than_in_source_is_not_unique(built: Path, project: Project) -> None:
    """For an operator used once in the function and once in an inlined function, no line is certain."""
    placed = [frame(built, project, BILL, number, WRITE)[0] for number in (0, 1)]

    assert [each.location.how for each in placed if each.location] == [LocationEvidence.RANKED, LocationEvidence.RANKED]


def test_an_object_pointer_is_not_mistaken_for_a_function_with_its_name(built: Path, project: Project) -> None:
    """A call, and a call through a struct's pointer of the same name: the call has one line."""
    found, truth = frame(built, project, TURN, 1, LOCK)

    assert found.location is not None and (found.location.line, found.location.how) == (truth, LocationEvidence.SINGLE)
