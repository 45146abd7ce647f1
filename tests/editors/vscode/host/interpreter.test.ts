// The interpreter that the Python extension has selected: run in the name of a stand-in for it, `interpreter/`.

import * as assert from "node:assert/strict";
import * as path from "node:path";
import * as vscode from "vscode";

import { installInto } from "../../../../editors/vscode/src/features/install";
import { isFound, locateServer } from "../../../../editors/vscode/src/server/locate";
import { makeEnvironment, teachInstalling, withFolder } from "./environment";
import { running } from "./framedex";
import { test, until } from "./runner";

export { run } from "./runner";

interface StandIn {
  select(python: string): void;
  asked(): number;
}

async function standIn(): Promise<StandIn> {
  const extension = vscode.extensions.getExtension<StandIn>("ms-python.python");
  assert.ok(extension);
  return extension.activate();
}

async function select(python: string): Promise<void> {
  (await standIn()).select(python);
}

/** The command on the PATH. */
async function commandOnPath(): Promise<string> {
  await select("python");
  const located = await locateServer((await running()).own);
  assert.ok(isFound(located));
  assert.equal(located.origin, "PATH");
  return located.command;
}

test("an interpreter without framedex leaves the one on the PATH", async () => {
  const { server, own } = await running();
  const onPath = await commandOnPath();
  await withFolder(async (folder) => {
    await select(makeEnvironment(folder).python);
    const located = await locateServer(own);
    assert.deepEqual([isFound(located) && located.command, server.state], [onPath, "running"]);
    await select("python");
  });
});

test("framedex of the selected interpreter is used, as soon as that is selected", async () => {
  const { server } = await running();
  const onPath = await commandOnPath();
  await withFolder(async (folder) => {
    const { python, framedex } = makeEnvironment(path.join(folder, "of python"), `exec '${onPath}' "$@"`);
    await server.relocate(); // has its turn after all that were asked for
    const before = (await standIn()).asked();
    await select(python);
    await until("the other server", () => (server.state === "running" && server.command?.command === framedex) || undefined);
    assert.equal(server.command?.origin, "interpreter");
    assert.equal((await standIn()).asked() - before, 1);
    await select("python");
    await until("the first server", () => (server.state === "running" && server.command?.command === onPath) || undefined);
  });
});

test("framedex is installed into the selected interpreter, and its server started", async () => {
  const { server } = await running();
  const onPath = await commandOnPath();
  await withFolder(async (folder) => {
    const environment = makeEnvironment(path.join(folder, "$(touch no) ; x"));
    teachInstalling(environment, "framedex", `exec '${onPath}' "$@"`);
    await select(environment.python);
    await installInto(environment.python, "/no/wheels", server);
    assert.equal(server.state, "running");
    assert.equal(server.command?.command, environment.framedex);
    await select("python");
    await until("the first server", () => (server.state === "running" && server.command?.command === onPath) || undefined);
  });
});
