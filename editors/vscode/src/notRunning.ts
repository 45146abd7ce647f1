// What a command says where it needs the server and none runs.

import * as vscode from "vscode";

/** The command that tells why the server does not run, with what helps. */
export const TELL_PROBLEM = "framedex.tellProblem";

/** Tells it: VS Code shows one message of several that are the same. */
export async function tellNotRunning(): Promise<undefined> {
  await vscode.commands.executeCommand(TELL_PROBLEM);
  return undefined;
}
