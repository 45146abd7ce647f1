// Gutter dots on the recorded lines of the program's own files, and a one-time offer to show the costs of all lines.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { inform } from "../remedies";
import { RecordedLines } from "../server/protocol";
import { findMarks } from "./highlight";

const SETTING = "gutter.recorded-lines";
const OFFERED_KEY = "framedex.offeredAllCosts";
const COSTS = ["compiles", "transfers", "memory", "waits"] as const;
/** The command that shows lenses for the costs of all lines. */
const SHOW_ALL_COMMAND = "framedex.showAllCosts";

export function register({ context, stackSelection, server }: Framedex): vscode.Disposable {
  const media = (name: string) => vscode.Uri.joinPath(context.extensionUri, "media", name);
  const dot = vscode.window.createTextEditorDecorationType({
    light: { gutterIconPath: media("recorded-light.svg") },
    dark: { gutterIconPath: media("recorded-dark.svg") },
    gutterIconSize: "contain",
  });

  let known = new WeakMap<vscode.TextDocument, { readonly version: number; readonly found: RecordedLines | undefined }>();

  /** VS Code moves dots with the text; they are requested again when the file is saved. */
  async function show(editor: vscode.TextEditor): Promise<void> {
    const found = await findRecordedLines(editor.document);
    // The marks of the selected stack are in the same gutter.
    const { current, others } = findMarks(editor.document.uri, stackSelection.stack);
    const markedLines = new Set([...current.map(({ range }) => range), ...others].map(({ start }) => start.line));
    const dots = (found?.lines ?? []).filter(({ line }) => !markedLines.has(line)).map(({ line }) => new vscode.Range(line, 0, line, 0));
    editor.setDecorations(dot, dots);
    if (found !== undefined && found.unshown > 0) {
      await offerOnce(found.unshown);
    }
  }

  /** Requests the dots again only after an edit, a save or a change of the index: a step along a stack does not change them. */
  async function findRecordedLines(document: vscode.TextDocument): Promise<RecordedLines | undefined> {
    const last = known.get(document);
    if (last?.version === document.version) {
      return last.found;
    }
    const { version } = document;
    const asked = known;
    const found = await requestRecordedLines(document);
    asked.set(document, { version, found });
    return found;
  }

  async function requestRecordedLines(document: vscode.TextDocument): Promise<RecordedLines | undefined> {
    const isOwn = document.uri.scheme === "file" && vscode.workspace.getWorkspaceFolder(document.uri) !== undefined;
    if (!isOwn || server.state !== "running" || !vscode.workspace.getConfiguration("framedex", document).get(SETTING, true)) {
      return undefined;
    }
    try {
      const about = { textDocument: { uri: document.uri.toString() } };
      return (await server.request<RecordedLines | null>("framedex/recordedLines", about)) ?? undefined;
    } catch {
      return undefined; // the server has just ended, or is too old for this request
    }
  }

  /** Shows the offer once per machine. */
  async function offerOnce(unshown: number): Promise<void> {
    if (context.globalState.get(OFFERED_KEY, false)) {
      return;
    }
    await context.globalState.update(OFFERED_KEY, true);
    const more = unshown === 1 ? "One more line has a small cost." : `${unshown} more lines have small costs.`;
    void inform(`Dots mark recorded lines. Code lenses show notable costs. ${more}`, {
      "Show all costs": () => vscode.commands.executeCommand(SHOW_ALL_COMMAND),
    });
  }

  const showAll = () => vscode.window.visibleTextEditors.forEach((editor) => void show(editor));
  const requestAgain = () => {
    known = new WeakMap();
    showAll();
  };
  return vscode.Disposable.from(
    dot,
    server.onDidChangeState((state) => (state === "running" ? undefined : requestAgain())),
    server.onDidChangeIndex(requestAgain),
    stackSelection.onDidChange(showAll),
    vscode.window.onDidChangeVisibleTextEditors(showAll),
    vscode.workspace.onDidSaveTextDocument((document) => (known.delete(document) ? showAll() : undefined)),
    vscode.workspace.onDidChangeConfiguration((event) => (event.affectsConfiguration(`framedex.${SETTING}`) ? requestAgain() : undefined)),
    vscode.commands.registerCommand(SHOW_ALL_COMMAND, () => showCosts("lenses")),
    vscode.commands.registerCommand("framedex.showNotableCosts", () => showCosts("notable")),
  );
}

/** Sets how lines show their costs, in the workspace settings if a workspace is open. */
async function showCosts(how: "lenses" | "notable"): Promise<void> {
  const { Global, Workspace } = vscode.ConfigurationTarget;
  const target = vscode.workspace.workspaceFolders === undefined ? Global : Workspace;
  for (const cost of COSTS) {
    await vscode.workspace.getConfiguration("framedex").update(`editor.${cost}`, how, target);
  }
}
