// Which Python framedex is installed with, and what is said of a pip that failed.

import * as assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";

import { explainPipFailure } from "../src/install/failure";
import { findPython, findObjection } from "../src/install/python";

/** Commands that answer to being asked what Python they are. */
async function withCommands(answers: Record<string, string>, body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "framedex-python-"));
  try {
    for (const [name, answer] of Object.entries(answers)) {
      writeFileSync(path.join(folder, name), `#!/bin/sh\n${answer}\n`);
      chmodSync(path.join(folder, name), 0o755);
    }
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("a Python that is too old, lacks venv, or is none is refused with the reason", async () => {
  const answers = { old: "echo 3.9", bare: "echo lacking 3.12", ancient: "echo 2.7", odd: "echo hello", broken: "exit 1", fit: "echo 3.14" };
  await withCommands(answers, async (folder) => {
    const objection = (name: string) => findObjection(path.join(folder, name));
    assert.match((await objection("old")) ?? "", /old is Python 3\.9\.$/);
    assert.match((await objection("ancient")) ?? "", /ancient is Python 2\.7\.$/);
    assert.match((await objection("bare")) ?? "", /lacks ensurepip\..* apt install python3\.12-venv/);
    assert.match((await objection("odd")) ?? "", /odd is not a Python interpreter\.$/);
    assert.match((await objection("broken")) ?? "", /broken cannot be run\.$/);
    assert.equal(await objection("fit"), undefined);
    assert.match((await objection("no such")) ?? "", /cannot be run\.$/);
  });
});

test("the first Python that does is taken, from the PATH before the chosen one", async () => {
  await withCommands({ python3: "echo 3.9", "python3.13": "exit 127", "python3.12": "echo 3.12", mine: "echo 3.11" }, async (folder) => {
    const at = (name: string) => path.join(folder, name);
    const which = (names: readonly string[]) => async (name: string) => (names.includes(name) ? at(name) : undefined);
    assert.deepEqual(await findPython(which(["python3", "python3.13", "python3.12"]), [at("mine")]), { python: at("python3.12") });
    assert.deepEqual(await findPython(which(["python3"]), [at("mine")]), { python: at("mine") });
    assert.deepEqual(await findPython(which(["python3"]), []), {
      reason: `framedex needs Python 3.11 or later: ${at("python3")} is Python 3.9.`,
    });
    assert.deepEqual(await findPython(which([]), []), {
      reason: "framedex needs Python 3.11 or later: there is no Python on the PATH.",
    });
  });
});

test("a failure of pip is told by its cause, with the remedy", () => {
  assert.match(explainPipFailure("WARNING: Retrying ... NewConnectionError('...: Failed to establish a new connection')\nERROR: No matching"), /cannot reach/);
  assert.match(explainPipFailure("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]"), /certificate is not trusted/);
  assert.match(explainPipFailure("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"), /disk is full/);
  assert.equal(explainPipFailure("Collecting x\nERROR: first\nERROR: No matching distribution found for x\n\n[notice] a new pip"), "No matching distribution found for x");
  assert.equal(explainPipFailure("odd\n"), "odd");
  assert.equal(explainPipFailure(""), "pip printed nothing.");
});
