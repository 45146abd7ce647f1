// The frames that are found in lines of a terminal, as the tools print them.

import * as assert from "node:assert/strict";
import { test } from "node:test";

import { findLinks } from "../src/terminal/links";

/** The texts that are links, each with what is looked up for it. */
function found(line: string): [string, string][] {
  return findLinks(line).map(({ start, length, frame }) => [
    line.slice(start, start + length),
    "symbol" in frame ? frame.symbol : `${frame.path}:${frame.line}:${frame.column}`,
  ]);
}

test("MLIR: every place of a location", () => {
  assert.deepEqual(found('%0 = stablehlo.add %a, %b : tensor<4xf32> loc("/home/me/model.py":56:3)'), [
    ['"/home/me/model.py":56:3', "/home/me/model.py:56:3"],
  ]);
  assert.deepEqual(found('#loc2 = loc(callsite("f"("a b.py":1:2) at fused<"x">["g.py":3:4, "h.py":5:6]))'), [
    ['"a b.py":1:2', "a b.py:1:2"],
    ['"g.py":3:4', "g.py:3:4"],
    ['"h.py":5:6', "h.py:5:6"],
  ]);
  assert.deepEqual(found('{"time":12:30, "x":1:2}'), []); // no location of MLIR
});

test("HLO: the source of an operation", () => {
  assert.deepEqual(found('ROOT add = f32[4] add(a, b), metadata={op_name="jit(f)/add" source_file="/m/model.py" source_line=74}'), [
    ['source_file="/m/model.py" source_line=74', "/m/model.py:74:1"],
  ]);
});

test("absl and glog: the symbol of a frame without a line", () => {
  assert.deepEqual(found("    @     0x7f1bb00a8eed        112  xla::PjRtCApiClient::BufferFromHostBuffer()"), [
    ["xla::PjRtCApiClient::BufferFromHostBuffer()", "xla::PjRtCApiClient::BufferFromHostBuffer()"],
  ]);
  assert.deepEqual(found("    @     0x7f1bb00a8eed  std::__invoke<>()"), [["std::__invoke<>()", "std::__invoke<>()"]]);
  assert.deepEqual(found("PC: @     0x7f1bb00a8eec  (unknown)  (unknown)"), []);
});

test("gdb: the symbol of a frame without debug information", () => {
  assert.deepEqual(found("#3  0x00007ffff in xla::Run<void (*)(int)> (this=0x0, n=3) from /lib/libtpu.so"), [
    ["xla::Run<void (*)(int)>", "xla::Run<void (*)(int)>"],
  ]);
  for (const operator of ["<", "<<", "<=", "<=>", "<<=", "->", "->*", ">", ">>", ">=", ">>=", "()", "< <int>", "<< <A<int> >"]) {
    const name = `xla::Table<int>::operator${operator}`;
    assert.deepEqual(found(`#3  0x00007ffff in ${name} (this=0x0) from /lib/libtpu.so`), [[name, name]]);
  }
  assert.deepEqual(found("#3  0x00007ffff in my_operator<f (int)> (n=3) from /lib/x.so"), [["my_operator<f (int)>", "my_operator<f (int)>"]]);
  assert.deepEqual(found("#3  0x00007ffff in main () at main.cc:3"), []); // VS Code's own
  assert.deepEqual(found("#4  0x00007ffff in ?? () from /lib/libtpu.so"), []);
});

test("lines of a file as public repositories write them", () => {
  assert.deepEqual(found("see xla/pjrt/client.cc#L74."), [["xla/pjrt/client.cc#L74", "xla/pjrt/client.cc:74:1"]]);
  assert.deepEqual(found("https://github.com/openxla/xla/blob/main/xla/client.cc#L74"), []);
  assert.deepEqual(found("file:///home/me/client.cc#74"), []);
});

test("paths of builds and of other machines", () => {
  for (const path of [
    "external/xla/xla/pjrt/client.cc",
    "bazel-out/k8-opt/bin/external/xla/xla/shape.pb.h",
    "/proc/self/cwd/xla/pjrt/client.cc",
    "/another/machine/xla/client.cc",
  ]) {
    assert.deepEqual(found(`  ${path}:12:7: error: no`), [[`${path}:12:7`, `${path}:12:7`]]);
    assert.deepEqual(found(`(${path}:12)`), [[`${path}:12`, `${path}:12:1`]]);
  }
  assert.deepEqual(found("xla/pjrt/client.cc:12:7: error: relative, so VS Code's own"), []);
  assert.deepEqual(found("https://host/xla/client.cc:12"), []);
});

test("lines without a frame have no links", () => {
  for (const line of ["", "$ ls -la", "E0000 12:30:01.123 client.cc:74] failed", '  File "/m/train.py", line 3, in main', "12:30:45"]) {
    assert.deepEqual(found(line), []);
  }
});

test("hostile lines take no time, and give links within the line", () => {
  const hostile = [
    "@ 0x" + "0x1 @ ".repeat(50_000),
    'loc(' + '"'.repeat(100_000),
    'loc(' + '"a":1:1'.repeat(50_000),
    "#1 " + "< (".repeat(50_000) + ") from x",
    "/".repeat(100_000) + ".cc:1",
    "/a".repeat(50_000) + ".cc:1",
    "/" + "a.".repeat(50_000) + "cc:1",
    'source_file="' + " ".repeat(100_000),
    "a".repeat(50_000) + "#L" + "1".repeat(50_000),
    "@" + " ".repeat(50_000) + "0x1 f()",
    "external/\u202e\u001b[2J/x.cc:1",
  ];
  const begun = process.cpuUsage();
  for (const line of hostile) {
    const links = findLinks(line);
    assert.ok(links.length <= 64);
    assert.ok(links.every(({ start, length }) => length > 0 && start + length <= line.length));
  }
  const { user, system } = process.cpuUsage(begun); // unlike the clock, not of other programs
  assert.ok(user + system < 3_000_000);
});
