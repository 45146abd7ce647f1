// Numbers and commands in the words that people read.

import * as assert from "node:assert/strict";
import { test } from "node:test";

import { duration, shortCommand } from "../src/words";

test("a duration is told in the largest unit of which it is one or more, rounded", () => {
  const told: readonly [number, string][] = [
    [-1, "never returned"],
    [0, "0 ns"],
    [999, "999 ns"],
    [1_000, "1 µs"],
    [999_400, "999 µs"],
    [999_600, "1 ms"],
    [999_600_000, "1 s"],
    [12_345_000, "12.3 ms"],
    [999_600_000_000, "1000 s"],
    [1_234_600_000_000, "1235 s"],
  ];
  assert.deepEqual(told.map(([nanoseconds]) => duration(nanoseconds)), told.map(([, text]) => text));
});

test("of a command the script and its arguments are shown", () => {
  assert.equal(shortCommand("/env/bin/python3 /home/me/project/train.py --data /data/a"), "train.py --data /data/a");
  assert.equal(shortCommand("/env/bin/python3.11 model/train.py"), "model/train.py");
});

test("a script whose name a shell would take apart is shown by its name", () => {
  assert.equal(shortCommand("/env/bin/python3 '/home/me/My Project/train.py' --name 'a b'"), "train.py --name 'a b'");
  assert.equal(shortCommand("'/my env/bin/python3' '/home/me/$(x) & y/a program.py'"), "a program.py");
  assert.equal(shortCommand(`/env/bin/python3 '/home/me/it'"'"'s here/it'"'"'s.py' -v`), "it's.py -v");
  assert.equal(shortCommand("/env/bin/python3 '/home/me/a\nb/c\nd.py'"), "c\nd.py");
  assert.equal(shortCommand("/env/bin/python3 '/home/me/cut off"), "cut off");
});

test("what is no script of Python's stays", () => {
  assert.equal(shortCommand("/env/bin/python3 -m train"), "python3 -m train");
  assert.equal(shortCommand("/usr/bin/serve /data/a"), "serve /data/a");
  assert.equal(shortCommand("python3"), "python3");
  assert.equal(shortCommand(""), "(no command)");
});
