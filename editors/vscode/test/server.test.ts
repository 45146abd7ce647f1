// What starting the server rests on, as far as no editor is needed for it.

import * as assert from "node:assert/strict";
import { homedir } from "node:os";
import { test } from "node:test";

import { expand } from "../src/server/expand";
import { isInside } from "../src/server/files";
import { isOlder } from "../src/server/version";

test("a path in the settings may name the home, the folder and the environment", () => {
  process.env["FRAMEDEX_TEST"] = "/opt/env";
  assert.equal(expand("~/bin/framedex", "/w"), `${homedir()}/bin/framedex`);
  assert.equal(expand("${workspaceFolder}/.venv/../framedex", "/w"), "/w/framedex");
  assert.equal(expand("${env:FRAMEDEX_TEST}/framedex", undefined), "/opt/env/framedex");
  assert.equal(expand("${env:FRAMEDEX_NO_SUCH}/framedex", "/w"), undefined);
  assert.equal(expand("${workspaceFolder}/framedex", undefined), undefined);
  assert.equal(expand("  ", "/w"), undefined);
  assert.equal(expand("a~b", "/w"), "a~b");
});

test("what lies in a folder", () => {
  assert.ok(isInside("/w/a/b", "/w"));
  assert.ok(isInside("/w/..a", "/w"));
  assert.ok(!isInside("/w/../a", "/w"));
  assert.ok(!isInside("/ww", "/w"));
});

test("versions are compared by their numbers", () => {
  assert.ok(isOlder("0.0.9", "0.1.0"));
  assert.ok(isOlder("0.9", "0.10"));
  assert.ok(!isOlder("0.1.0", "0.1.0"));
  assert.ok(!isOlder("1.0.dev3+g1", "0.9.9"));
});
