// Recording the file in the editor.

import * as path from "node:path";
import * as vscode from "vscode";

import { Ended } from "../commandLine";
import { Framedex } from "../framedex";
import { plain, reasonOf } from "../plain";
import { inform, Remedies, warn } from "../remedies";

export function register({ commandLine }: Framedex): vscode.Disposable {
  return vscode.commands.registerCommand("framedex.recordFile", async (given?: unknown) => {
    const uri = given instanceof vscode.Uri ? given : vscode.window.activeTextEditor?.document.uri ?? openedProgram();
    const document = uri === undefined ? undefined : await vscode.workspace.openTextDocument(uri);
    if (document?.languageId !== "python" || document.isUntitled || document.uri.scheme !== "file") {
      return say("Open the Python file that is to be recorded, and put the cursor into it; it has to be saved.");
    }
    if (!vscode.workspace.isTrusted) {
      return say("This workspace is not trusted, so none of its programs is run.");
    }
    if (document.isDirty && !(await document.save())) {
      return say("The file could not be saved.");
    }
    return record(document.uri);
  });

  /** The exit status; undefined where the program was not run, or was ended by a signal. */
  async function record(uri: vscode.Uri): Promise<number | undefined> {
    const name = plain(path.basename(uri.fsPath));
    // The capture goes to the project; the server indexes it as soon as it has ended.
    const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath ?? path.dirname(uri.fsPath);
    let ended: Ended;
    try {
      ended = await commandLine.run(`recording ${name}`, folder, ["run", uri.fsPath]);
    } catch (error) {
      return say(`Recording ${name}: ${reasonOf(error)}`);
    }
    void tell(name, ended);
    return ended.status ?? undefined;
  }

  function tell(name: string, { status, signal }: Ended): Promise<void> {
    const next: Remedies = {
      "Show stacks": () => vscode.commands.executeCommand("framedex.activity.focus"),
      "Show output": () => commandLine.show(),
    };
    if (status === 0) {
      return inform(`${name} was recorded.`, next);
    }
    const how = signal === null ? `ended with status ${String(status)}` : `was ended by ${signal}`;
    return warn(`${name} ${how}; what it did until then was recorded.`, next);
  }
}

/** The only Python file in a tab: the walkthrough, from which its step is taken, is no text editor. */
function openedProgram(): vscode.Uri | undefined {
  const inputs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ input }) => input));
  const files = inputs.flatMap((input) => (input instanceof vscode.TabInputText ? [input.uri] : []));
  const programs = new Map(files.filter(({ path }) => path.endsWith(".py")).map((uri) => [uri.toString(), uri]));
  return programs.size === 1 ? [...programs.values()][0] : undefined;
}

function say(message: string): undefined {
  void warn(message);
  return undefined;
}
