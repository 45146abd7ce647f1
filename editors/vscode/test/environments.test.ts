// The extension's own environments: which one counts, and what is left of the others.

import * as assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";

import { OwnEnvironments } from "../src/install/environments";

const HOUR = 60 * 60_000;

async function withRoot(body: (root: string) => Promise<void>): Promise<void> {
  const root = mkdtempSync(path.join(tmpdir(), "framedex-environments-"));
  try {
    await body(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

test("there is none before one is complete", async () => {
  await withRoot(async (root) => {
    const own = new OwnEnvironments(path.join(root, "not", "there"));
    assert.equal(await own.current(), undefined);
    const folder = await own.begin();
    assert.equal(await own.current(), undefined);
    await own.complete(folder, "framedex==1");
    assert.deepEqual(await own.current(), { folder, requirement: "framedex==1" });
  });
});

test("the one before stays in use until an upgrade is complete, and goes then", async () => {
  await withRoot(async (root) => {
    const own = new OwnEnvironments(root, () => HOUR);
    const first = await own.begin();
    await own.complete(first, "framedex==1");
    const second = await own.begin();
    assert.notEqual(second, first);
    await own.tidy();
    assert.equal((await own.current())?.folder, first);
    await own.complete(second, "framedex==2");
    assert.equal((await own.current())?.folder, second);
    await own.tidy();
    assert.deepEqual(readdirSync(root), [path.basename(second)]);
  });
});

test("what an interrupted installation left goes with the next, but not one that is under way", async () => {
  await withRoot(async (root) => {
    let now = HOUR;
    const own = new OwnEnvironments(root, () => now);
    const killed = await own.begin();
    writeFileSync(path.join(killed, "framedex.json"), '{"requ');
    now += 2 * HOUR;
    const underWay = await own.begin();
    const installed = await own.begin();
    await own.complete(installed, "framedex==1");
    await own.tidy();
    assert.deepEqual(readdirSync(root).sort(), [path.basename(underWay), path.basename(installed)].sort());
  });
});
