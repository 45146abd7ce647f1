// What a click on a frame in a terminal opens: by the index of the recorded demo.

import * as assert from "node:assert/strict";
import * as vscode from "vscode";

import { openNamed } from "../../../../editors/vscode/src/namedFrame";
import { findLinks } from "../../../../editors/vscode/src/terminal/links";
import { running, shown, untilShown } from "./framedex";
import { program } from "./project";
import { test } from "./runner";

export { run } from "./runner";

/** Follows the first link of a line. */
async function click(line: string): Promise<boolean> {
  const framedex = await running();
  const [link] = findLinks(line);
  assert.ok(link);
  return openNamed(framedex, link.frame, vscode.workspace.workspaceFolders?.[0]?.uri);
}

test("a location of MLIR, by its line and column", async () => {
  assert.ok(await click(`loc("${program().fsPath}":8:12)`));
  await untilShown(/^device_put\.py:8$/);
  assert.equal(vscode.window.activeTextEditor?.selection.active.character, 11);
});

test("the source of an operation of HLO, relative to the workspace", async () => {
  assert.ok(await click('metadata={source_file="device_put.py" source_line=12}'));
  await untilShown(/^device_put\.py:12$/);
});

test("a path of a build leads to the indexed file with that tail", async () => {
  assert.ok(await click("external/framedex/native/pjrt/mock/devices/device_memory.cc:20:1: error: no"));
  await untilShown(/^device_memory\.cc:20$/);
});

test("a frame of absl leads to its function", async () => {
  assert.ok(await click("    @     0x7f1bb00a8eed        112  framedex::mock::DeviceMemory::Allocate()"));
  await untilShown(/^device_memory\.(cc|h):/);
});

test("what is nowhere opens nothing", async () => {
  await vscode.window.showTextDocument(program());
  assert.equal(await click("external/xla/\u202e$(zap)/no_such_file.cc#L3"), false);
  assert.equal(await click("    @     0x7f1bb00a8eed        112  no::such()"), false);
  assert.match(shown(), /^device_put\.py:/);
});
