// Commands that index the project around the editor's file, add a source folder, or rebuild the index.

import * as path from "node:path";
import * as vscode from "vscode";

import { captureOf, Node } from "../activity/nodes";
import { CommandLine, CommandResult, NotRunningError } from "../commandLine";
import { Framedex } from "../framedex";
import { ADD, ADD_SOURCE } from "../missingSource";
import { showNotRunning } from "../notRunning";
import { plain, errorReason } from "../plain";
import { inform, warn } from "../remedies";
import { runAction } from "../why";

export function register({ commandLine, server }: Framedex): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("framedex.indexProject", async () => {
      const project = projectUri();
      if (project === undefined) {
        void warn("Open a folder or a file first.");
        return;
      }
      if (!(await server.ready())) {
        return showNotRunning();
      }
      try {
        // The server shows progress and errors.
        await server.request("workspace/executeCommand", { command: "framedex.index", arguments: [project.toString()] });
      } catch (error) {
        void warn(errorReason(error));
      }
    }),
    vscode.commands.registerCommand(ADD_SOURCE, async (given?: Node | { readonly folder: string }) => {
      const folder = folderOf(given) ?? projectFolder();
      if (folder === undefined) {
        void warn("Open a folder or a file first.");
        return;
      }
      const source = await pickFolder();
      if (source !== undefined) {
        await addSource(commandLine, folder, source.fsPath);
      }
    }),
    vscode.commands.registerCommand("framedex.activity.rebuild", async (given: Node | { readonly folder: string }) => {
      const folder = folderOf(given);
      if (folder !== undefined) {
        await rebuild(commandLine, folder);
      }
    }),
    vscode.commands.registerCommand("framedex.activity.tellProblem", tellProblem),
  );
}

/** Adds a source folder to a project and indexes it; returns whether that succeeded. */
export async function addSource(commandLine: CommandLine, folder: string, source: string): Promise<boolean> {
  return index(commandLine, `indexing with ${plain(path.basename(source), 60)}`, folder, ["index", "--source", source]);
}

/** Rebuilds the index of a project, even if it is unreadable; returns whether that succeeded. */
export async function rebuild(commandLine: CommandLine, folder: string): Promise<boolean> {
  const name = plain(path.basename(folder), 60);
  if (!(await index(commandLine, `rebuilding the index of ${name}`, folder, ["index", "--rebuild"]))) {
    return false;
  }
  // The source folders of an unreadable index are lost.
  void inform(`The index of ${name} was rebuilt. Add its source folders again if any are missing.`, {
    [ADD]: () => vscode.commands.executeCommand(ADD_SOURCE, { folder }),
  });
  return true;
}

async function index(commandLine: CommandLine, title: string, folder: string, given: readonly string[]): Promise<boolean> {
  let ended: CommandResult;
  try {
    ended = await commandLine.run(title, folder, given);
  } catch (error) {
    void (error instanceof NotRunningError ? showNotRunning() : warn(errorReason(error)));
    return false;
  }
  if (ended.status !== 0) {
    const how = ended.signal === null ? `ended with status ${String(ended.status)}` : `was ended by ${ended.signal}`;
    void warn(`framedex index ${how}. ${ended.reason}`, { "Show output": () => commandLine.show() });
  }
  return ended.status === 0;
}

/** Shows the problem of an index and its remedy. */
async function tellProblem(node: Node): Promise<void> {
  if (node.kind === "index" && node.index.problem !== null) {
    const { folder, problem, action } = node.index;
    await warn(`${folder}: ${problem.replace(/\s*\n\s*/g, " ")}`, action === null ? {} : { [action.title]: () => runAction(action) });
  }
}

function folderOf(given: Node | { readonly folder: string } | undefined): string | undefined {
  if (given === undefined || !("kind" in given)) {
    return given?.folder;
  }
  return given.kind === "index" ? given.index.folder : captureOf(given)?.folder;
}

function projectUri(): vscode.Uri | undefined {
  const uri = vscode.window.activeTextEditor?.document.uri;
  return uri?.scheme === "file" ? uri : vscode.workspace.workspaceFolders?.[0]?.uri;
}

/** The folder of the project: the workspace folder around the editor's file, else the folder of the file. */
function projectFolder(): string | undefined {
  const uri = projectUri();
  const root = uri && vscode.workspace.getWorkspaceFolder(uri)?.uri;
  return root?.fsPath ?? (uri && path.dirname(uri.fsPath));
}

async function pickFolder(): Promise<vscode.Uri | undefined> {
  const options = { title: "Choose a folder with the sources of recorded programs", openLabel: "Index these sources" };
  return (await vscode.window.showOpenDialog({ ...options, canSelectFolders: true, canSelectFiles: false }))?.[0];
}
