// Records the file in the editor.

import { readdir } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

import { CommandResult } from "../commandLine";
import { Framedex } from "../framedex";
import { showNotRunning } from "../notRunning";
import { plain, errorReason } from "../plain";
import { askRecorder, Recorder } from "../recorder";
import { inform, Remedies, warn } from "../remedies";
import { selectedInterpreter, selectInterpreterButton } from "../server/interpreter";
import { Server } from "../server/server";
import { INSTALL_COMMAND, INSTALL_INTO_COMMAND } from "./install";

/** The command that installs a framedex that can record. */
const INSTALL_RECORDER = "framedex.installRecorder";

// The last message of `framedex run` after it has run a program; its last message differs if it refuses to run one.
const SUMMARY = /^(?:the program was ended by \w+; )?(?:recorded |(?<nothing>nothing (?:was|is) recorded.*))/;

export function register({ commandLine, server }: Framedex): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("framedex.recordFile", recordFile),
    vscode.commands.registerCommand(INSTALL_RECORDER, async () => {
      const interpreter = await workspaceInterpreter();
      return interpreter === undefined ? vscode.commands.executeCommand(INSTALL_COMMAND) : vscode.commands.executeCommand(INSTALL_INTO_COMMAND, interpreter, true);
    }),
    server.onDidChangeState((state) => (state === "running" ? setContext() : undefined)),
  );

  /** The action of the walkthrough and of the empty view. */
  async function setContext(): Promise<void> {
    const recorder = await askRecorder(server);
    const state = recorder === undefined || recorder.canRecord ? "ready" : recorder.isSupported ? "missing" : "unsupported";
    await vscode.commands.executeCommand("setContext", "framedex.recorder", state);
  }

  async function recordFile(given?: unknown): Promise<number | undefined> {
    const uri = given instanceof vscode.Uri ? given : vscode.window.activeTextEditor?.document.uri ?? findOpenProgram();
    const document = uri === undefined ? undefined : await vscode.workspace.openTextDocument(uri);
    if (document?.languageId !== "python" || document.isUntitled || document.uri.scheme !== "file") {
      return showWarning("Open the Python file to record, save it, and put the cursor into it.");
    }
    if (!vscode.workspace.isTrusted) {
      return showWarning("This workspace is not trusted, so its programs cannot run.");
    }
    if (document.isDirty && !(await document.save())) {
      return showWarning("Cannot save the file.");
    }
    if (!(await server.ready())) {
      return showNotRunning();
    }
    const recorder = await askRecorder(server);
    return recorder === undefined || recorder.canRecord ? record(document.uri) : showCannotRecord(server, recorder);
  }

  /** The exit status; undefined if the program did not run or was ended by a signal. */
  async function record(uri: vscode.Uri): Promise<number | undefined> {
    const name = plain(path.basename(uri.fsPath));
    const root = vscode.workspace.getWorkspaceFolder(uri);
    // The capture is written into the project; the server indexes it when the recording has finished.
    const folder = root?.uri.fsPath ?? path.dirname(uri.fsPath);
    const python = await selectedInterpreter(root);
    const before = await capturesIn(folder);
    let ended: CommandResult;
    try {
      // The framedex that was found may belong to another interpreter.
      ended = await commandLine.run(`recording ${name}`, folder, ["run", ...(python === undefined ? [] : ["--python", python]), uri.fsPath]);
    } catch (error) {
      return showWarning(`Recording ${name}: ${errorReason(error)}`);
    }
    const isNew = (await capturesIn(folder)).some((capture) => !before.includes(capture));
    return reportResult(name, ended, isNew);
  }

  /** Reports the result, and returns the same as `record`; `isNew`: whether a new capture was created. */
  function reportResult(name: string, { status, signal, reason }: CommandResult, isNew: boolean): number | undefined {
    const how = signal === null ? `ended with status ${String(status)}` : `was ended by ${signal}`;
    const showOutput = { "Show output": () => commandLine.show() };
    const summary = SUMMARY.exec(reason);
    if (summary === null && signal === null) {
      return showWarning(`${name} was not run: ${reason || `framedex ${how}.`}`, { ...selectInterpreterButton(), ...showOutput });
    }
    // framedex prints nothing if a signal ends it.
    const nothing = summary === null ? (isNew ? undefined : "nothing was recorded.") : summary.groups?.["nothing"];
    if (nothing !== undefined) {
      void warn(`${name} ${how}; ${nothing}`, showOutput);
      return status ?? undefined;
    }
    const next = { "Show stacks": () => vscode.commands.executeCommand("framedex.activity.show"), ...showOutput };
    void (status === 0 ? inform(`${name} was recorded.`, next) : warn(`${name} ${how}; its calls until then were recorded.`, next));
    return status ?? undefined;
  }
}

/** Shows why this framedex cannot record, and offers to install one that can if this system is supported. */
async function showCannotRecord({ command }: Server, { isSupported, message, remedy }: Recorder): Promise<undefined> {
  const isSelected = (await workspaceInterpreter()) !== undefined;
  // The setting or the PATH would take precedence over an installed one.
  const wouldBeUsed = isSelected ? command?.origin !== "setting" : command?.origin === "extension";
  if (!isSupported || !wouldBeUsed) {
    return showWarning(`The framedex that serves this editor cannot record. ${message ?? ""} ${remedy ?? ""}`);
  }
  const install = () => vscode.commands.executeCommand(INSTALL_RECORDER);
  return showWarning(`The framedex that serves this editor cannot record. ${message ?? ""}`, {
    [isSelected ? "Install into this environment" : "Install"]: install,
    ...selectInterpreterButton(),
  });
}

async function workspaceInterpreter(): Promise<string | undefined> {
  return vscode.workspace.isTrusted ? selectedInterpreter(vscode.workspace.workspaceFolders?.[0]) : undefined;
}

/** The folder names of a project's captures. */
async function capturesIn(project: string): Promise<readonly string[]> {
  try {
    return await readdir(path.join(project, ".framedex", "captures"));
  } catch {
    return []; // nothing was recorded there yet
  }
}

/** The only Python file in a tab, for the walkthrough: no text editor is active while it has the focus. */
function findOpenProgram(): vscode.Uri | undefined {
  const inputs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ input }) => input));
  const files = inputs.flatMap((input) => (input instanceof vscode.TabInputText ? [input.uri] : []));
  const programs = new Map(files.filter(({ path }) => path.endsWith(".py")).map((uri) => [uri.toString(), uri]));
  return programs.size === 1 ? [...programs.values()][0] : undefined;
}

function showWarning(message: string, remedies: Remedies = {}): undefined {
  void warn(message, remedies);
  return undefined;
}
