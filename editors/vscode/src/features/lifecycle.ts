// Restarts the server: by command, and after a change of the settings or the interpreter that select it.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { onDidSelectInterpreter } from "../server/interpreter";
import { PATH_SETTING } from "../server/locate";

export function register({ output, server }: Framedex): vscode.Disposable {
  const restart = () => server.restart();
  return vscode.Disposable.from(
    vscode.commands.registerCommand("framedex.restartServer", restart),
    vscode.commands.registerCommand("framedex.showOutput", () => output.show()),
    vscode.workspace.onDidChangeConfiguration((event) => (event.affectsConfiguration(PATH_SETTING) ? restart() : undefined)),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    onDidSelectInterpreter(() => void server.relocate()),
  );
}
