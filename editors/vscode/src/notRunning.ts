// The message of a command that needs a server when none is running.

import * as vscode from "vscode";

/** The command that shows why the server is not running, with remedies. */
export const SHOW_PROBLEM = "framedex.tellProblem";

/** Runs that command; VS Code shows several equal messages as one. */
export async function showNotRunning(): Promise<undefined> {
  await vscode.commands.executeCommand(SHOW_PROBLEM);
  return undefined;
}
