// Where the server is: the setting, else the environment of the selected Python interpreter, else the PATH.
//
// In a workspace that is not trusted nothing of it runs: only what the user has set and the PATH count, and neither
// where it leads into the workspace.

import { execFile } from "node:child_process";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

import { ownEnvironment } from "./environment";
import { expand } from "./expand";
import { isExecutable, liesIn } from "./files";
import { selectedInterpreter } from "./interpreter";

export const PATH_SETTING = "framedex.server.path";

// No package is taken from the working folder (CPython 3.11 and later, as framedex itself).
const NOT_FROM_HERE = "-P";

type Origin = "setting" | "interpreter" | "PATH";

/** How to start framedex: `command ...arguments serve`. */
export interface ServerCommand {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly origin: Origin;
}

/** Why there is none. `interpreter` is the one into which framedex could be installed. */
export interface NotFound {
  readonly reason: string;
  readonly interpreter: string | undefined;
}

export type Located = ServerCommand | NotFound;

export function isFound(located: Located): located is ServerCommand {
  return "command" in located;
}

export async function locateServer(): Promise<Located> {
  const setting = vscode.workspace.getConfiguration("framedex").get<string>("server.path", "").trim();
  if (setting !== "") {
    return fromSetting(setting);
  }
  let interpreter: string | undefined;
  // The interpreter is the workspace's choice, so it counts only where the workspace is trusted.
  for (const folder of vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? [undefined]) : []) {
    const selected = await selectedInterpreter(folder);
    const found = selected === undefined ? undefined : await fromInterpreter(selected);
    if (found !== undefined) {
      return found;
    }
    interpreter ??= selected;
  }
  const onPath = await which("framedex");
  if (onPath !== undefined) {
    return { command: onPath, arguments: [], origin: "PATH" };
  }
  const where = interpreter === undefined ? "on the PATH" : `in the environment of ${interpreter}, nor on the PATH`;
  const untried = vscode.workspace.isTrusted ? "" : " This workspace is not trusted, so its Python environment was not looked at.";
  return { reason: `There is no framedex ${where}.${untried}`, interpreter };
}

async function fromSetting(setting: string): Promise<Located> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const expanded = expand(setting, folder);
  const isName = expanded !== undefined && path.basename(expanded) === expanded;
  const command = expanded === undefined ? undefined : isName ? await which(expanded) : path.resolve(folder ?? "/", expanded);
  if (command === undefined || !(await isExecutable(command))) {
    return { reason: `${PATH_SETTING} is "${setting}", which is no command here.`, interpreter: undefined };
  }
  if (!(await mayRun(command))) {
    return { reason: `${command} is part of this workspace, which is not trusted.`, interpreter: undefined };
  }
  return { command, arguments: [], origin: "setting" };
}

/** framedex in the environment of an interpreter: its script, else its package. */
async function fromInterpreter(interpreter: string): Promise<ServerCommand | undefined> {
  const name = process.platform === "win32" ? "framedex.exe" : "framedex";
  const folder = path.dirname(interpreter);
  for (const script of [path.join(folder, name), path.join(folder, "Scripts", name)]) {
    if (await isExecutable(script)) {
      return { command: script, arguments: [], origin: "interpreter" };
    }
  }
  const run = "from framedex.commands.main import cli; cli(prog_name='framedex')";
  return (await hasPackage(interpreter))
    ? { command: interpreter, arguments: [NOT_FROM_HERE, "-c", run], origin: "interpreter" }
    : undefined;
}

async function hasPackage(interpreter: string): Promise<boolean> {
  const look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('framedex_server') is None)";
  try {
    await promisify(execFile)(interpreter, [NOT_FROM_HERE, "-c", look], { timeout: 5_000, env: ownEnvironment() });
    return true;
  } catch {
    return false;
  }
}

/** The command of a name on the PATH. Relative folders of the PATH would be the workspace's, and are passed over. */
async function which(name: string): Promise<string | undefined> {
  const file = process.platform === "win32" && path.extname(name) === "" ? `${name}.exe` : name;
  for (const folder of (process.env["PATH"] ?? "").split(path.delimiter).filter(path.isAbsolute)) {
    const command = path.join(folder, file);
    if ((await isExecutable(command)) && (await mayRun(command))) {
      return command;
    }
  }
  return undefined;
}

async function mayRun(command: string): Promise<boolean> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath);
  return vscode.workspace.isTrusted || !(await liesIn(command, folders));
}
