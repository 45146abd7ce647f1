// What becomes of an installation that fails: a real Python and a real pip, that cannot do what they are asked.

import * as assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import * as vscode from "vscode";

import { OwnEnvironments } from "../../../../editors/vscode/src/install/environments";
import { InstallFailure, Installer } from "../../../../editors/vscode/src/install/installer";
import { findPython } from "../../../../editors/vscode/src/install/python";
import { isFound, locateServer } from "../../../../editors/vscode/src/server/locate";
import { which } from "../../../../editors/vscode/src/server/onPath";
import { makeEnvironment, withFolder } from "./environment";
import { test } from "./runner";

export { run } from "./runner";

/** Why an installation with these arguments of pip's fails. */
async function failure(...pip: string[]): Promise<InstallFailure> {
  const output = vscode.window.createOutputChannel("installing", { log: true });
  const installer = new Installer(output);
  const found = await findPython(which, []);
  assert.ok("python" in found);
  let thrown: unknown;
  await withFolder(async (folder) => {
    try {
      await installer.fill(folder, found.python, { requirement: "framedex", arguments: pip });
    } catch (error) {
      thrown = error;
    }
  });
  output.dispose();
  assert.ok(thrown instanceof InstallFailure, String(thrown));
  return thrown;
}

/** The process with this word in its command. */
function processWith(word: string): number | undefined {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((id) => {
      try {
        return readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0").includes(word);
      } catch {
        return false; // it has ended meanwhile
      }
    });
}

test("without a network it says that the package index cannot be reached", async () => {
  // Nothing listens on the discard port.
  const { message, isCausedByPython } = await failure("--retries", "1", "--index-url", "http://127.0.0.1:9/simple", "framedex-test-no-such");
  assert.match(message, /cannot reach the package index.*proxy/);
  assert.ok(!isCausedByPython);
});

test("what no index has is named", async () => {
  const { message } = await failure("--no-index", "framedex-test-no-such");
  assert.match(message, /No matching distribution found for framedex-test-no-such/);
});

test("what pip installs has to run", async () => {
  const { message } = await failure("--no-index", "pip");
  assert.match(message, /does not run: the environment does not contain framedex/);
});

test("a pip that is killed is told of", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  try {
    await once(silent, "listening");
    const address = silent.address();
    assert.ok(address !== null && typeof address === "object");
    const index = `http://127.0.0.1:${address.port}/simple`;
    const failing = failure("--index-url", index, "framedex-test-no-such");
    await once(silent, "connection");
    const pip = processWith(index);
    assert.ok(pip);
    process.kill(pip, "SIGKILL");
    assert.equal((await failing).message, "pip was ended by SIGKILL.");
  } finally {
    silent.close();
  }
});

test("a Python that makes no environment is told of, and another may be chosen", async () => {
  await withFolder(async (folder) => {
    const installer = new Installer(vscode.window.createOutputChannel("installing", { log: true }));
    const { python } = makeEnvironment(folder);
    const filling = installer.fill(folder, python, { requirement: "framedex", arguments: [] });
    await assert.rejects(filling, (error: unknown) => {
      assert.ok(error instanceof InstallFailure);
      assert.ok(error.isCausedByPython);
      assert.match(error.message, /could not create an environment: it ended with status 1\.$/);
      return true;
    });
  });
});

test("the extension's own environment is used where there is no other, once it is complete", async () => {
  await withFolder(async (root) => {
    const own = new OwnEnvironments(root);
    const folder = await own.begin();
    const { framedex } = makeEnvironment(folder, "exit 1");
    const onPath = await locateServer(own);
    assert.equal(isFound(onPath) && onPath.origin, "PATH");
    const before = process.env["PATH"];
    process.env["PATH"] = "/nowhere";
    try {
      assert.ok(!isFound(await locateServer(own)));
      await own.complete(folder, "framedex");
      const located = await locateServer(own);
      assert.deepEqual(isFound(located) && [located.origin, located.command], ["extension", framedex]);
    } finally {
      process.env["PATH"] = before;
    }
  });
});
