// Commands in the words that people read.

import * as assert from "node:assert/strict";
import { test } from "node:test";

import { shortCommand } from "../src/words";

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
