// Recording the file in the editor.

import * as assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";

import { addSource } from "../../../../editors/vscode/src/features/indexing";
import { running } from "./framedex";
import { test, until } from "./runner";

export { run } from "./runner";

/** Opens a program from a temporary folder in an editor, and runs `body` with both. */
async function withProgram(text: string, body: (editor: vscode.TextEditor, folder: string) => Promise<void>): Promise<void> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "framedex-record-")));
  const file = path.join(folder, "a program.py");
  writeFileSync(file, text);
  try {
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(file));
    // The page that a new window opens by itself may take the focus once more.
    await until("the program's editor", () => vscode.window.activeTextEditor?.document === editor.document || undefined);
    await body(editor, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("what was typed is saved, recorded, and its exit status told", async () => {
  await running();
  await withProgram("import jax\njax.device_put(1)\n", async (editor, folder) => {
    await editor.edit((change) => change.insert(new vscode.Position(2, 0), "raise SystemExit(3)\n"));
    // Named, because something else may take the focus meanwhile.
    assert.equal(await vscode.commands.executeCommand("framedex.recordFile", editor.document.uri), 3);
    assert.equal(editor.document.isDirty, false);
    assert.ok(readdirSync(path.join(folder, ".framedex", "captures")).length > 0);
  });
});

test("what a program prints is shown as it is", async () => {
  const { commandLine } = await running();
  await withProgram('print("hello")\n', async (editor) => {
    await vscode.commands.executeCommand("framedex.recordFile", editor.document.uri);
    commandLine.show();
    const printed = await until("the output", () =>
      vscode.workspace.textDocuments.map((document) => document.getText()).find((text) => text.includes("hello") && text.includes("> framedex run")),
    );
    assert.match(printed, /^hello$/m);
  });
});

test("a folder of sources is indexed with a project, and a wrong one told", async () => {
  const { commandLine } = await running();
  await withProgram("def here():\n    pass\n", async (_, folder) => {
    assert.equal(await addSource(commandLine, folder, folder), true);
    assert.ok(existsSync(path.join(folder, ".framedex", "index.db")));
    assert.equal(await addSource(commandLine, folder, path.join(folder, "none")), false);
  });
});

test("a text that is no Python file is not run", async () => {
  await running();
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "python", content: "exit(3)" }));
  assert.equal(await vscode.commands.executeCommand("framedex.recordFile"), undefined);
});
