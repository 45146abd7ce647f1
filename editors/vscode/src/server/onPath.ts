// Commands on the PATH, and the check whether a command may run.

import * as path from "node:path";
import * as vscode from "vscode";

import { isExecutable, isInAnyFolder } from "./files";

/** Finds a command on the PATH. Relative folders of the PATH are skipped: they would be in the workspace. */
export async function which(name: string): Promise<string | undefined> {
  const file = process.platform === "win32" && path.extname(name) === "" ? `${name}.exe` : name;
  for (const folder of (process.env["PATH"] ?? "").split(path.delimiter).filter(path.isAbsolute)) {
    const command = path.join(folder, file);
    if ((await isExecutable(command)) && (await mayRun(command))) {
      return command;
    }
  }
  return undefined;
}

/** Whether a command is outside untrusted workspaces. */
export async function mayRun(command: string): Promise<boolean> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  return vscode.workspace.isTrusted || !(await isInAnyFolder(command, folders));
}
