// Recording the file in the editor.

import { readdir } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

import { Ended } from "../commandLine";
import { Framedex } from "../framedex";
import { tellNotRunning } from "../notRunning";
import { plain, reasonOf } from "../plain";
import { askRecorder, Recorder } from "../recorder";
import { inform, Remedies, warn } from "../remedies";
import { selectedInterpreter, selectingInterpreter } from "../server/interpreter";
import { Server } from "../server/server";
import { INSTALL, INSTALL_INTO } from "./install";

/** The command that installs a framedex that can record. */
const INSTALL_RECORDER = "framedex.installRecorder";

// What `framedex run` says last of a program that it has run; of one that it refuses to run it says something else.
const SUMMARY = /^(?:the program was ended by \w+; )?(?:recorded |(?<nothing>nothing (?:was|is) recorded.*))/;

export function register({ commandLine, server }: Framedex): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("framedex.recordFile", recordFile),
    vscode.commands.registerCommand(INSTALL_RECORDER, async () => {
      const interpreter = await interpreterOfTheWorkspace();
      return interpreter === undefined ? vscode.commands.executeCommand(INSTALL) : vscode.commands.executeCommand(INSTALL_INTO, interpreter, true);
    }),
    server.onDidChangeState((state) => (state === "running" ? setContext() : undefined)),
  );

  /** What the walkthrough and the empty view offer. */
  async function setContext(): Promise<void> {
    const recorder = await askRecorder(server);
    const state = recorder === undefined || recorder.canRecord ? "ready" : recorder.isSupported ? "missing" : "unsupported";
    await vscode.commands.executeCommand("setContext", "framedex.recorder", state);
  }

  async function recordFile(given?: unknown): Promise<number | undefined> {
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
    if (!(await server.ready())) {
      return tellNotRunning();
    }
    const recorder = await askRecorder(server);
    return recorder === undefined || recorder.canRecord ? record(document.uri) : tellNoRecorder(server, recorder);
  }

  /** The exit status; undefined where the program was not run, or was ended by a signal. */
  async function record(uri: vscode.Uri): Promise<number | undefined> {
    const name = plain(path.basename(uri.fsPath));
    const root = vscode.workspace.getWorkspaceFolder(uri);
    // The capture goes to the project; the server indexes it as soon as it has ended.
    const folder = root?.uri.fsPath ?? path.dirname(uri.fsPath);
    const python = await selectedInterpreter(root);
    const before = await capturesIn(folder);
    let ended: Ended;
    try {
      // The framedex that was found may be another interpreter's.
      ended = await commandLine.run(`recording ${name}`, folder, ["run", ...(python === undefined ? [] : ["--python", python]), uri.fsPath]);
    } catch (error) {
      return say(`Recording ${name}: ${reasonOf(error)}`);
    }
    const isNew = (await capturesIn(folder)).some((capture) => !before.includes(capture));
    return tell(name, ended, isNew);
  }

  /** Says how it went, and answers as `record` does; `isNew`: whether there is a capture that was not there before. */
  function tell(name: string, { status, signal, reason }: Ended, isNew: boolean): number | undefined {
    const how = signal === null ? `ended with status ${String(status)}` : `was ended by ${signal}`;
    const showOutput = { "Show output": () => commandLine.show() };
    const summary = SUMMARY.exec(reason);
    if (summary === null && signal === null) {
      return say(`${name} was not run: ${reason || `framedex ${how}.`}`, { ...selectingInterpreter(), ...showOutput });
    }
    // framedex has no word for its own end by a signal.
    const nothing = summary === null ? (isNew ? undefined : "nothing was recorded.") : summary.groups?.["nothing"];
    if (nothing !== undefined) {
      void warn(`${name} ${how}; ${nothing}`, showOutput);
      return status ?? undefined;
    }
    const next = { "Show stacks": () => vscode.commands.executeCommand("framedex.activity.show"), ...showOutput };
    void (status === 0 ? inform(`${name} was recorded.`, next) : warn(`${name} ${how}; what it did until then was recorded.`, next));
    return status ?? undefined;
  }
}

/** Says why this framedex records nothing, and installs one that does where there is one for this system. */
async function tellNoRecorder({ command }: Server, { isSupported, message, remedy }: Recorder): Promise<undefined> {
  const isSelected = (await interpreterOfTheWorkspace()) !== undefined;
  // One that the setting or the PATH names goes before what would be installed.
  const helps = isSelected ? command?.origin !== "setting" : command?.origin === "extension";
  if (!isSupported || !helps) {
    return say(`The framedex that serves this editor cannot record. ${message ?? ""} ${remedy ?? ""}`);
  }
  const install = () => vscode.commands.executeCommand(INSTALL_RECORDER);
  return say(`The framedex that serves this editor cannot record. ${message ?? ""}`, {
    [isSelected ? "Install into this environment" : "Install"]: install,
    ...selectingInterpreter(),
  });
}

async function interpreterOfTheWorkspace(): Promise<string | undefined> {
  return vscode.workspace.isTrusted ? selectedInterpreter(vscode.workspace.workspaceFolders?.[0]) : undefined;
}

/** The names of a project's captures. */
async function capturesIn(project: string): Promise<readonly string[]> {
  try {
    return await readdir(path.join(project, ".framedex", "captures"));
  } catch {
    return []; // nothing was recorded there yet
  }
}

/** The only Python file in a tab: the walkthrough, from which its step is taken, is no text editor. */
function openedProgram(): vscode.Uri | undefined {
  const inputs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ input }) => input));
  const files = inputs.flatMap((input) => (input instanceof vscode.TabInputText ? [input.uri] : []));
  const programs = new Map(files.filter(({ path }) => path.endsWith(".py")).map((uri) => [uri.toString(), uri]));
  return programs.size === 1 ? [...programs.values()][0] : undefined;
}

function say(message: string, remedies: Remedies = {}): undefined {
  void warn(message, remedies);
  return undefined;
}
