// The extension under test: what its `activate` answers with is what its own features are given.

import * as vscode from "vscode";

import type { Framedex } from "../../../../editors/vscode/src/framedex";
import { until } from "./runner";

/** The extension once its server runs. */
export async function running(): Promise<Framedex> {
  const extension = vscode.extensions.getExtension<Framedex>("framedex.framedex");
  if (extension === undefined) {
    throw new Error("the extension is not installed");
  }
  const framedex = await extension.activate();
  await until("the server", () => framedex.server.state === "running" || undefined);
  return framedex;
}

/** What the active editor shows: the name of its file, and the cursor's line, from 1. */
export function shown(): string {
  const editor = vscode.window.activeTextEditor;
  return editor === undefined ? "" : `${editor.document.uri.path.split("/").at(-1)}:${editor.selection.active.line + 1}`;
}
