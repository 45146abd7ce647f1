// Walking along a recorded stack, and what is marked of it.

import * as assert from "node:assert/strict";
import * as vscode from "vscode";

import { findMarks } from "../../../../editors/vscode/src/features/highlight";
import type { Framedex } from "../../../../editors/vscode/src/framedex";
import type { ListedStack } from "../../../../editors/vscode/src/server/protocol";
import { running, serverProcess, shown, untilShown } from "./framedex";
import { program, PUT_SCALAR } from "./project";
import { test, until } from "./runner";

export { run } from "./runner";

async function atDevicePut(): Promise<Framedex> {
  const framedex = await running();
  framedex.stackSelection.clear();
  await vscode.window.showTextDocument(program(), { selection: new vscode.Range(PUT_SCALAR, PUT_SCALAR) });
  await untilShown(/^device_put\.py:8$/);
  return framedex;
}

/** Where a command leads, again and again, until it leads nowhere. */
async function walk(command: string): Promise<string[]> {
  const way = [shown()];
  for (;;) {
    await vscode.commands.executeCommand(command);
    if (shown() === way.at(-1)) {
      return way;
    }
    way.push(shown());
  }
}

test("steps lead inward to the last frame with a source here, and back the same way", async () => {
  const { stackSelection, server } = await atDevicePut();
  // The first step would take the stack that took longest: on a busy machine, it may be another one.
  const place = { textDocument: { uri: program().toString() }, position: PUT_SCALAR };
  const stacks = await server.request<ListedStack[]>("framedex/stacks", place);
  const put = stacks?.find(({ boundary }) => boundary === "PJRT_Client_BufferFromHostBuffer");
  assert.ok(put);
  await stackSelection.move("framedex/selectStack", { ...place, stack: put.stack });
  const inward = await walk("framedex.stepIn");
  assert.equal(inward[0], "device_put.py:8");
  assert.match(inward[1] ?? "", /^api\.py:/);
  assert.match(inward.at(-1) ?? "", /^pxla\.py:\d+$/);
  assert.equal(stackSelection.stack?.boundary, "PJRT_Client_BufferFromHostBuffer");
  assert.equal(vscode.window.tabGroups.all.length, 1);
  const outward = await walk("framedex.stepOut");
  assert.deepEqual(outward.slice(0, inward.length), inward.reverse());
});

test("next frame passes glue too, and stays on the stack", async () => {
  const { stackSelection } = await atDevicePut();
  await vscode.commands.executeCommand("framedex.stepIn");
  const stack = stackSelection.stack;
  assert.ok(stack);
  const located = stack.stackFrames.flatMap(({ location }, number) => (location && number > stack.frame ? [number] : []));
  for (const frame of located) {
    await vscode.commands.executeCommand("framedex.nextFrame");
    assert.deepEqual([stackSelection.stack?.frame, stackSelection.stack?.stack], [frame, stack.stack]);
  }
  const last = shown();
  await vscode.commands.executeCommand("framedex.nextFrame");
  assert.equal(shown(), last);
  await vscode.commands.executeCommand("framedex.previousFrame");
  assert.equal(stackSelection.stack?.frame, located.at(-2) ?? stack.frame);
});

test("next and previous stack stay on the line", async () => {
  const { stackSelection } = await atDevicePut();
  await vscode.commands.executeCommand("framedex.nextStack");
  const first = stackSelection.stack?.stack;
  await vscode.commands.executeCommand("framedex.nextStack");
  assert.notEqual(stackSelection.stack?.stack, first);
  await vscode.commands.executeCommand("framedex.previousStack");
  assert.equal(stackSelection.stack?.stack, first);
  assert.equal(shown(), "device_put.py:8");
});

test("on a line without recorded calls a step stays where it is", async () => {
  const { stackSelection } = await running();
  await vscode.window.showTextDocument(program(), { selection: new vscode.Range(0, 0, 0, 0) });
  stackSelection.clear();
  await vscode.commands.executeCommand("framedex.stepIn");
  assert.equal(shown(), "device_put.py:1");
  assert.equal(stackSelection.stack, undefined);
});

test("the lines of the selected stack are marked until it is cleared", async () => {
  const { stackSelection } = await atDevicePut();
  await vscode.commands.executeCommand("framedex.stepIn");
  const marks = findMarks(program(), stackSelection.stack);
  assert.ok(marks.others.some((range) => range.start.line === PUT_SCALAR.line));
  assert.equal(marks.current.length, 0);
  const [current] = findMarks(vscode.window.activeTextEditor?.document.uri ?? program(), stackSelection.stack).current;
  assert.match(current?.renderOptions?.after?.contentText ?? "", /^frame \d+ of \d+$/);
  await vscode.commands.executeCommand("framedex.clearStack");
  assert.equal(stackSelection.stack, undefined);
});

test("without a server nothing stays marked", async () => {
  const { stackSelection, server } = await atDevicePut();
  await vscode.commands.executeCommand("framedex.stepIn");
  assert.ok(stackSelection.stack);
  await server.stop();
  assert.equal(stackSelection.stack, undefined);
  await server.start();
});

test("another server has no selected stack, and nothing stays marked", async () => {
  const { stackSelection, server } = await atDevicePut();
  await vscode.commands.executeCommand("framedex.stepIn");
  assert.ok(stackSelection.stack);
  const cleared = new Promise<void>((resolve) => stackSelection.onDidChange((stack) => (stack === undefined ? resolve() : undefined)));
  await server.restart();
  await cleared;
});

test("a server that ends while the selected stack is looked up leaves no error behind", async () => {
  const { stackSelection, server } = await atDevicePut();
  await vscode.commands.executeCommand("framedex.stepIn");
  assert.ok(stackSelection.stack);
  const id = serverProcess();
  assert.ok(id);
  const errors: unknown[] = [];
  const listening = (error: unknown) => errors.push(error);
  process.on("unhandledRejection", listening);
  try {
    process.kill(id, "SIGSTOP"); // it cannot answer any more
    server["indexChanged"].fire();
    const asked = new Promise<void>((resolve) => vscode.window.onDidChangeVisibleTextEditors(() => resolve()));
    await vscode.window.showTextDocument(program(), { viewColumn: vscode.ViewColumn.Beside });
    await asked;
    process.kill(id, "SIGKILL");
    await until("another server", () => {
      const next = server.state === "running" ? serverProcess() : undefined;
      return next === id ? undefined : next;
    });
    assert.deepEqual(errors, []);
  } finally {
    process.off("unhandledRejection", listening);
  }
});
