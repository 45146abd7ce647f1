// The selected Python interpreter of a workspace folder.

import * as path from "node:path";
import * as vscode from "vscode";

import { Remedies } from "../remedies";
import { expand } from "./expand";
import { isFile } from "./files";

const PYTHON_EXTENSION = "ms-python.python";
// The Python extension searches for environments while it starts; do not wait for it forever.
const EXTENSION_TIMEOUT_MS = 5_000;

/** The part of the Python extension's API (package @vscode/python-extension) that we use. */
interface PythonExtension {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(environment: { readonly path: string }): Promise<ResolvedEnvironment | undefined>;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

interface ResolvedEnvironment {
  readonly executable: { readonly uri: vscode.Uri | undefined };
}

/** The absolute path of the interpreter; undefined if none is selected. */
export async function selectedInterpreter(folder: vscode.WorkspaceFolder | undefined): Promise<string | undefined> {
  const python = await withTimeout(pythonExtension());
  if (python !== undefined) {
    try {
      return await selectedInExtension(python, folder);
    } catch {
      return undefined; // the Python extension reports its own failure
    }
  }
  const setting = vscode.workspace.getConfiguration("python", folder?.uri).get<string>("defaultInterpreterPath", "");
  const configured = expand(setting, folder?.uri.fsPath);
  const projectEnvironment = folder === undefined ? [] : [environmentPython(path.join(folder.uri.fsPath, ".venv"))];
  for (const candidate of [configured, ...projectEnvironment]) {
    if (candidate !== undefined && path.isAbsolute(candidate) && (await isFile(candidate))) {
      return candidate;
    }
  }
  return undefined;
}

/** A button that selects another interpreter; no button if no extension can do that. */
export function selectInterpreterButton(): Remedies {
  const select = () => vscode.commands.executeCommand("python.setInterpreter");
  return vscode.extensions.getExtension(PYTHON_EXTENSION) === undefined ? {} : { "Select interpreter": select };
}

async function selectedInExtension({ environments }: PythonExtension, folder: vscode.WorkspaceFolder | undefined): Promise<string | undefined> {
  const active = environments.getActiveEnvironmentPath(folder?.uri);
  const resolved = await withTimeout(environments.resolveEnvironment(active));
  return resolved?.executable.uri?.fsPath ?? (path.isAbsolute(active.path) ? active.path : undefined);
}

/** Calls back whenever another interpreter is selected. */
export function onDidSelectInterpreter(changed: () => void): vscode.Disposable {
  const subscriptions: vscode.Disposable[] = [
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("python.defaultInterpreterPath")) {
        changed();
      }
    }),
  ];
  let disposed = false;
  // Wait for the extension however late it starts; only a request for an interpreter has a timeout.
  pythonExtension().then(
    (python) => {
      if (python !== undefined && !disposed) {
        subscriptions.push(python.environments.onDidChangeActiveEnvironmentPath(changed));
      }
    },
    () => undefined, // the Python extension reports its own failure
  );
  return new vscode.Disposable(() => {
    disposed = true;
    vscode.Disposable.from(...subscriptions).dispose();
  });
}

async function pythonExtension(): Promise<PythonExtension | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>(PYTHON_EXTENSION);
  const python = await extension?.activate();
  return python?.environments === undefined ? undefined : python;
}

async function withTimeout<Result>(work: Thenable<Result>): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, EXTENSION_TIMEOUT_MS, undefined)));
  try {
    return await Promise.race([work, timeout]);
  } catch {
    return undefined; // the Python extension reports its own failure
  } finally {
    clearTimeout(timer);
  }
}

/** The Python of an environment. */
export function environmentPython(environment: string): string {
  return process.platform === "win32" ? path.join(environment, "Scripts", "python.exe") : path.join(environment, "bin", "python");
}
