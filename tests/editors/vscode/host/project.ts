// The project on which the window is opened: the recorded demo.

import * as vscode from "vscode";

/** `return jax.device_put(1)`, as VS Code counts: from 0. */
export const PUT_SCALAR = new vscode.Position(7, 13);

export function program(): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) {
    throw new Error("the window has no folder");
  }
  return vscode.Uri.joinPath(folder.uri, "device_put.py");
}
