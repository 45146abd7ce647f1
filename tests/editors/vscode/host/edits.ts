// Not a test: asks about every line of training.py before and after edits, for test_edits.py.

import { readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

import { running } from "./framedex";
import { until } from "./runner";

/** The definitions of a line (file and 1-based line), and whether it has a hover. */
type Answer = [[string, number][], boolean];

/** Writes the answers beside this file: on the recorded text, then on each text of edits.json, unsaved and saved. */
export async function run(): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) {
    throw new Error("the window has no folder");
  }
  const texts = JSON.parse(readFileSync(path.join(folder.uri.fsPath, "edits.json"), "utf8")) as string[][];
  const document = await vscode.workspace.openTextDocument(vscode.Uri.joinPath(folder.uri, "training.py"));
  await vscode.window.showTextDocument(document);
  await running();
  await until("an answer", async () => (await answers(document)).some(([places]) => places.length > 0) || undefined);
  const seen = [await answers(document)];
  for (const lines of texts) {
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, document.validateRange(new vscode.Range(0, 0, document.lineCount, 0)), `${lines.join("\n")}\n`);
    await vscode.workspace.applyEdit(edit);
    seen.push((await answers(document)).slice(0, lines.length));
    await document.save();
    seen.push((await answers(document)).slice(0, lines.length));
  }
  writeFileSync(`${__filename}.json`, JSON.stringify(seen));
}

async function answers(document: vscode.TextDocument): Promise<Answer[]> {
  const all: Answer[] = [];
  for (let line = 0; line < document.lineCount; line++) {
    const position = new vscode.Position(line, 0);
    const definitions = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>(
      "vscode.executeDefinitionProvider", document.uri, position);
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>("vscode.executeHoverProvider", document.uri, position);
    all.push([definitions.map(placeOf), hovers.length > 0]);
  }
  return all;
}

function placeOf(definition: vscode.Location | vscode.LocationLink): [string, number] {
  const [uri, range] =
    "targetUri" in definition
      ? [definition.targetUri, definition.targetSelectionRange ?? definition.targetRange]
      : [definition.uri, definition.range];
  return [path.basename(uri.path), range.start.line + 1];
}
