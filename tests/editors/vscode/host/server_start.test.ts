// Where the server is found, and what happens when it ends by itself.

import * as assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

import { isFound, locateServer } from "../../../../editors/vscode/src/server/locate";
import { MAX_CRASHES } from "../../../../editors/vscode/src/server/restarts";
import type { Problem } from "../../../../editors/vscode/src/server/server";
import { makeEnvironment, withFolder } from "./environment";
import { activated, running, serverProcess } from "./framedex";
import { program } from "./project";
import { test, until } from "./runner";

export { run } from "./runner";

const project = path.dirname(program().fsPath);
const PYTHON_SETTING = "python.defaultInterpreterPath";

/** Runs `body` with settings of the workspace's; a file, for VS Code writes no setting that it does not know. */
async function withSettings(settings: Record<string, string>, body: () => Promise<void>): Promise<void> {
  const file = path.join(project, ".vscode", "settings.json");
  const [[name, value] = ["", ""]] = Object.entries(settings);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(settings));
  try {
    await until("the setting", () => vscode.workspace.getConfiguration().get(name) === value || undefined);
    await body();
  } finally {
    rmSync(path.dirname(file), { recursive: true });
    await until("the setting to go", () => vscode.workspace.getConfiguration().get(name) !== value || undefined);
  }
}

async function found(): Promise<[string, string]> {
  const located = await locateServer((await activated()).own);
  return isFound(located) ? [located.origin, located.command] : ["nowhere", located.reason];
}

test("without a setting or an interpreter it is the one on the PATH", async () => {
  const [origin, command] = await found();
  assert.equal(origin, "PATH");
  assert.ok(path.isAbsolute(command));
});

test("the workspace's environment comes before the PATH, if framedex is in it", async () => {
  const folder = path.join(project, ".venv");
  try {
    makeEnvironment(folder);
    assert.equal((await found())[0], "PATH");
    const { framedex } = makeEnvironment(folder, "exit 1");
    assert.deepEqual(await found(), ["interpreter", framedex]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the interpreter of the settings comes before the workspace's environment", async () => {
  const own = path.join(project, ".venv");
  await withFolder(async (folder) => {
    const { python, framedex } = makeEnvironment(folder, "exit 1");
    makeEnvironment(own, "exit 1");
    try {
      await withSettings({ [PYTHON_SETTING]: python }, async () => assert.deepEqual(await found(), ["interpreter", framedex]));
    } finally {
      rmSync(own, { recursive: true });
    }
  });
});

test("the setting comes first, and what it names has to be there", async () => {
  await withFolder(async (folder) => {
    const { python, framedex } = makeEnvironment(folder, "exit 1");
    await withSettings({ [PYTHON_SETTING]: python, "framedex.server.path": "/no/such/framedex" }, async () => {
      assert.match((await found()).join(" "), /^nowhere framedex.server.path is .*which is not a command on this machine/);
    });
    await withSettings({ "framedex.server.path": framedex }, async () => assert.deepEqual(await found(), ["setting", framedex]));
  });
});

test("a server that is killed is started again, but not for ever", async () => {
  const { server } = await running();
  await server.restart();
  const problems: Problem[] = [];
  const listening = server.onProblem((problem) => problems.push(problem));
  try {
    const killed = new Set<number>();
    for (let crash = 1; crash <= MAX_CRASHES; crash++) {
      const next = await until("a server", () => {
        const id = server.state === "running" ? serverProcess() : undefined;
        return id === undefined || killed.has(id) ? undefined : id;
      });
      killed.add(next);
      process.kill(next, "SIGKILL");
    }
    await until("the end", () => server.state === "failed" || undefined);
    assert.deepEqual(problems.map(({ kind }) => kind), ["crashed"]);
    assert.equal(serverProcess(), undefined);
    await vscode.commands.executeCommand("framedex.restartServer");
    assert.equal(server.state, "running");
  } finally {
    listening.dispose();
  }
});

test("a server that ends amid questions is started again", async () => {
  const { server } = await running();
  const first = serverProcess();
  assert.ok(first);
  process.kill(first, "SIGKILL");
  const answers = await Promise.allSettled(Array.from({ length: 20 }, () => server.request("framedex/captures")));
  assert.ok(answers.some(({ status }) => status === "rejected"));
  await until("another server", () => {
    const id = server.state === "running" ? serverProcess() : undefined;
    return id === first ? undefined : id;
  });
  assert.ok(await server.request("framedex/captures"));
});

test("what goes wrong in the server is told without links that would run something", async () => {
  const { server } = await running();
  await assert.rejects(server.request("framedex/[here](command:quit)"), ({ message }: Error) => {
    assert.match(message, /framedex\/\[here\]/);
    assert.ok(!message.includes("]("));
    return true;
  });
});

test("a changed setting starts another server, and one that does not run is told of", async () => {
  const { server } = await running();
  const problems: Problem[] = [];
  const listening = server.onProblem((problem) => problems.push(problem));
  try {
    await withSettings({ "framedex.server.path": "/bin/false" }, async () => {
      await until("the failure", () => problems.at(-1)?.kind === "failed" || undefined);
    });
    await withSettings({ "framedex.server.path": "/no/such" }, async () => {
      await until("the other failure", () => problems.at(-1)?.kind === "missing" || undefined);
    });
  } finally {
    listening.dispose();
  }
  assert.deepEqual(problems.map(({ kind }) => kind), ["failed", "missing"]);
  await running();
});
