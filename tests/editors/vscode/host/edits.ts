// Not a test: writes the answers on each line of program.py and of its edited texts, for test_edits.py.

import { readFileSync, writeFileSync } from "node:fs";
import * as vscode from "vscode";

import type { Framedex } from "../../../../editors/vscode/src/framedex";
import { running } from "./framedex";
import { until } from "./runner";

type Place = [string, number];
type Answer = [Place[], boolean];

/** Writes a list of answers beside this file: on the program, then on each text of edits.json, unsaved and saved. */
export async function run(): Promise<void> {
  const framedex = await running();
  const folder = vscode.workspace.workspaceFolders![0]!.uri;
  const texts = JSON.parse(readFileSync(vscode.Uri.joinPath(folder, "edits.json").fsPath, "utf8")) as string[];
  const [program] = await vscode.workspace.findFiles("*.py");
  const document = await vscode.workspace.openTextDocument(program!);
  await vscode.window.showTextDocument(document);
  const seen = [await look(framedex, document)];
  for (const text of texts) {
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text);
    await vscode.workspace.applyEdit(edit);
    seen.push(await look(framedex, document));
    await document.save();
    seen.push(await look(framedex, document));
  }
  writeFileSync(`${__filename}.json`, JSON.stringify(seen));
}

/** The definitions of each line (file and line, from 1), and whether it has a hover. A new server has no earlier walks. */
async function look(framedex: Framedex, document: vscode.TextDocument): Promise<Answer[]> {
  await framedex.server.stop();
  await framedex.server.start();
  const lines = [...Array(document.lineCount).keys()];
  await until("an answer", async () => (await Promise.all(lines.map((line) => hasHover(document, line)))).some(Boolean) || undefined);
  const answers: Answer[] = [];
  for (const line of lines) {
    const at = new vscode.Position(line, document.lineAt(line).firstNonWhitespaceCharacterIndex);
    const found = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>("vscode.executeDefinitionProvider", document.uri, at);
    answers.push([found.map(placeOf), await hasHover(document, line)]);
  }
  return answers;
}

function placeOf(target: vscode.Location | vscode.LocationLink): Place {
  const [uri, range] = "targetUri" in target ? [target.targetUri, target.targetSelectionRange ?? target.targetRange] : [target.uri, target.range];
  return [uri.path.split("/").at(-1)!, range.start.line + 1];
}

async function hasHover(document: vscode.TextDocument, line: number): Promise<boolean> {
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>("vscode.executeHoverProvider", document.uri, new vscode.Position(line, 0));
  return hovers.length > 0;
}
