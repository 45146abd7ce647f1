"""A small C++ program, compiled in the usual variants of binaries."""

import subprocess
from pathlib import Path

import pytest

SOURCE = r"""
#include <cstdio>
namespace shop {
struct Till {
  int total = 0;
  __attribute__((noinline)) int ring(int price);
};
static inline __attribute__((always_inline)) int taxed(int price) {
  volatile int p = price;
  return p * 2;  // the inlined line
}
__attribute__((noinline)) int Till::ring(int price) {
  total += taxed(price);
  return total;
}
namespace { __attribute__((noinline)) int hidden(int x) { volatile int y = x; return y + 1; } }
}
extern "C" __attribute__((noinline)) int plain_c(int x) { volatile int y = x; return y - 1; }
int main() {
  shop::Till till;
  std::printf("%d\n", till.ring(shop::hidden(plain_c(3))));
}
"""


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "program.cc"
    path.write_text(SOURCE)
    return path


@pytest.fixture(scope="session")
def debug_binary(source: Path) -> Path:
    return compiled(source, "debug", "-g", "-O2", "-Wl,--build-id=0x0123abcd")


@pytest.fixture(scope="session")
def fixed_binary(source: Path) -> Path:
    return compiled(source, "fixed", "-g", "-O2", "-no-pie")


@pytest.fixture(scope="session")
def plain_binary(source: Path) -> Path:
    return compiled(source, "plain", "-O2", "-g0", "-Wl,--build-id=none")


@pytest.fixture(scope="session")
def stripped_library(source: Path) -> Path:
    return compiled(source, "stripped.so", "-O2", "-shared", "-fPIC", "-s")


def compiled(source: Path, name: str, *options: str) -> Path:
    output = source.with_name(name)
    subprocess.run(["g++", *options, "-o", output, source], check=True)
    return output
