// Finds the server: by the setting, in the environment of the selected Python interpreter, on the PATH, or in the
// extension's own environment, in this order.
//
// Nothing from an untrusted workspace runs: its interpreter is ignored, and so are a setting of the user or a PATH entry
// that leads into the workspace.

import { execFile } from "node:child_process";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

import { OwnEnvironments } from "../install/environments";
import { framedexEnvironment } from "./environment";
import { expand } from "./expand";
import { isExecutable } from "./files";
import { environmentPython, selectedInterpreter } from "./interpreter";
import { mayRun, which } from "./onPath";

export const PATH_SETTING = "framedex.server.path";

// Do not import packages from the working folder (CPython 3.11 and later, like framedex itself).
const SAFE_PATH_OPTION = "-P";

type Origin = "setting" | "interpreter" | "PATH" | "extension";

/** How to start framedex: `command ...arguments serve`. */
export interface ServerCommand {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly origin: Origin;
}

/** Why framedex was not found. `interpreter` is the selected one, into which framedex could be installed. */
export interface NotFound {
  readonly reason: string;
  readonly interpreter: string | undefined;
}

export type LocateResult = ServerCommand | NotFound;

export function isFound(located: LocateResult): located is ServerCommand {
  return "command" in located;
}

export async function locateServer(own: OwnEnvironments): Promise<LocateResult> {
  const setting = vscode.workspace.getConfiguration("framedex").get<string>("server.path", "").trim();
  if (setting !== "") {
    return fromSetting(setting);
  }
  let interpreter: string | undefined;
  // The workspace chooses the interpreter, so it counts only if the workspace is trusted.
  for (const folder of vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? [undefined]) : []) {
    const selected = await selectedInterpreter(folder);
    const found = selected === undefined ? undefined : await fromInterpreter(selected, "interpreter");
    if (found !== undefined) {
      return found;
    }
    interpreter ??= selected;
  }
  const onPath = await which("framedex");
  if (onPath !== undefined) {
    return { command: onPath, arguments: [], origin: "PATH" };
  }
  const installed = await own.current();
  const installedCommand = installed && (await fromInterpreter(environmentPython(installed.folder), "extension"));
  if (installedCommand !== undefined) {
    return installedCommand;
  }
  const where = interpreter === undefined ? "on the PATH" : `in the environment of ${interpreter} or on the PATH`;
  const untrustedNote = vscode.workspace.isTrusted ? "" : " This workspace is not trusted, so its Python environment was not looked at.";
  return { reason: `framedex was not found ${where}.${untrustedNote}`, interpreter };
}

async function fromSetting(setting: string): Promise<LocateResult> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const expanded = expand(setting, folder);
  const isName = expanded !== undefined && path.basename(expanded) === expanded;
  const command = expanded === undefined ? undefined : isName ? await which(expanded) : path.resolve(folder ?? "/", expanded);
  if (command === undefined || !(await isExecutable(command))) {
    return { reason: `${PATH_SETTING} is "${setting}", which is not a command on this machine.`, interpreter: undefined };
  }
  if (!(await mayRun(command))) {
    return { reason: `${command} is part of this workspace, which is not trusted.`, interpreter: undefined };
  }
  return { command, arguments: [], origin: "setting" };
}

/** framedex in the environment of an interpreter: its script, else its package. */
export async function fromInterpreter(interpreter: string, origin: Origin): Promise<ServerCommand | undefined> {
  const name = process.platform === "win32" ? "framedex.exe" : "framedex";
  const folder = path.dirname(interpreter);
  for (const script of [path.join(folder, name), path.join(folder, "Scripts", name)]) {
    if (await isExecutable(script)) {
      return { command: script, arguments: [], origin };
    }
  }
  const run = "from framedex.commands.main import cli; cli(prog_name='framedex')";
  return (await hasPackage(interpreter))
    ? { command: interpreter, arguments: [SAFE_PATH_OPTION, "-c", run], origin }
    : undefined;
}

async function hasPackage(interpreter: string): Promise<boolean> {
  const findPackageCode = "import importlib.util, sys; sys.exit(importlib.util.find_spec('framedex_server') is None)";
  try {
    await promisify(execFile)(interpreter, [SAFE_PATH_OPTION, "-c", findPackageCode], { timeout: 5_000, env: framedexEnvironment() });
    return true;
  } catch {
    return false;
  }
}
