// Commands on the PATH, and which may be run at all.

import * as path from "node:path";
import * as vscode from "vscode";

import { isExecutable, liesIn } from "./files";

/** The command of a name on the PATH. Relative folders of the PATH would be the workspace's, and are passed over. */
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

/** Whether a command is none of a workspace that is not trusted. */
export async function mayRun(command: string): Promise<boolean> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  return vscode.workspace.isTrusted || !(await liesIn(command, folders));
}
