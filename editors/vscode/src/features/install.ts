// Installs framedex into the extension's own environment, or into that of the selected interpreter.

import * as path from "node:path";
import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { InstallFailure, Installer } from "../install/installer";
import { findRequirement } from "../install/package";
import { findPython, findObjection, MIN_PYTHON_VERSION } from "../install/python";
import { errorReason } from "../plain";
import { askRecorder } from "../recorder";
import { inform, Remedies, warn } from "../remedies";
import { selectedInterpreter } from "../server/interpreter";
import { which } from "../server/onPath";
import { Server } from "../server/server";

export const INSTALL_COMMAND = "framedex.installServer";
export const INSTALL_INTO_COMMAND = "framedex.installIntoInterpreter";

export function register({ context, output, server, own }: Framedex): vscode.Disposable {
  const wheels = path.join(context.extensionPath, "wheels");
  const installer = new Installer(output);
  let underWay: Promise<void> | undefined;
  let isOffered = false;

  /** One installation at a time: further requests wait for the same one. */
  function install(chosen?: string): Promise<void> {
    underWay ??= attempt(chosen).finally(() => (underWay = undefined));
    return underWay;
  }

  async function attempt(chosen: string | undefined): Promise<void> {
    try {
      await installIntoOwnEnvironment(chosen ?? (await findAnyPython()));
    } catch (error) {
      if (!(error instanceof vscode.CancellationError)) {
        void showFailure(error, chosen);
      }
      return;
    }
    await server.restart();
    await own.tidy();
    if (server.state === "running") {
      const recorder = await askRecorder(server);
      const cannotRecordNote = recorder === undefined || recorder.canRecord ? "" : ` It can show recordings but cannot record. ${recorder.message ?? ""}`;
      void inform(`The server was installed and is running.${cannotRecordNote}`);
    }
  }

  /** Installs into a new environment: the current one stays unchanged until the installation has succeeded. */
  async function installIntoOwnEnvironment(python: string): Promise<void> {
    const requirement = await findRequirement(wheels);
    const folder = await own.begin();
    try {
      await installer.fill(folder, python, requirement);
      await own.complete(folder, requirement.requirement);
    } catch (error) {
      await own.remove(folder);
      throw error;
    }
  }

  function showFailure(error: unknown, chosen: string | undefined): Promise<void> {
    const others = error instanceof InstallFailure && error.isCausedByPython ? choosePythonButton() : {};
    const retry = { "Try again": () => install(chosen), "Show output": () => output.show() };
    return warn(`Cannot install the server: ${errorReason(error)}`, { ...others, ...retry });
  }

  /** A Python that can create environments. The workspace's choice counts only if the workspace is trusted. */
  async function findAnyPython(): Promise<string> {
    const selected = vscode.workspace.isTrusted ? await selectedInterpreter(vscode.workspace.workspaceFolders?.[0]) : undefined;
    const found = await findPython(which, selected === undefined ? [] : [selected]);
    if ("reason" in found) {
      throw new InstallFailure(found.reason, true);
    }
    return found.python;
  }

  function choosePythonButton(): Remedies {
    const page = vscode.Uri.parse("https://www.python.org/downloads/");
    return { "Choose Python…": choosePython, "Get Python": () => vscode.env.openExternal(page) };
  }

  async function choosePython(): Promise<void> {
    const options = { title: `Python ${MIN_PYTHON_VERSION} or later`, openLabel: "Use this Python" };
    const [chosen] = (await vscode.window.showOpenDialog(options)) ?? [];
    if (chosen !== undefined) {
      const objection = await findObjection(chosen.fsPath);
      await (objection === undefined ? install(chosen.fsPath) : warn(objection, choosePythonButton()));
    }
  }

  /** Offers an upgrade once per window; the server installed before continues to run. */
  async function offerUpgrade(): Promise<void> {
    const [current, requirement] = await Promise.all([own.current(), findRequirement(wheels)]);
    if (!isOffered && server.command?.origin === "extension" && current !== undefined && current.requirement !== requirement.requirement) {
      isOffered = true;
      const question = `The installed server is ${current.requirement}; this version of the extension comes with ${requirement.requirement}.`;
      await warn(question, { Upgrade: () => install() });
    }
  }

  /** Removes the environment; uninstalling the extension does not, because VS Code keeps the folder. */
  async function removeOwnEnvironment(): Promise<void> {
    await server.stop();
    await own.removeAll();
    await server.start();
  }

  return vscode.Disposable.from(
    installer,
    server.onDidChangeState((state) => (state === "running" ? offerUpgrade() : undefined)),
    vscode.commands.registerCommand(INSTALL_COMMAND, () => install()),
    vscode.commands.registerCommand("framedex.removeServer", removeOwnEnvironment),
    vscode.commands.registerCommand(INSTALL_INTO_COMMAND, (interpreter: string, anew = false) =>
      installInto(interpreter, wheels, server, anew ? ["--force-reinstall"] : []),
    ),
  );
}

/**
 * Runs pip in a visible terminal, as a process task, so that no shell parses the path.
 *
 * With the option `--force-reinstall` it replaces a framedex of the same version that lacks its native part.
 */
export async function installInto(interpreter: string, wheels: string, server: Server, options: readonly string[] = []): Promise<void> {
  const requirement = await findRequirement(wheels);
  const task = new vscode.Task(
    { type: "framedex" },
    vscode.workspace.workspaceFolders?.[0] ?? vscode.TaskScope.Workspace,
    "install framedex",
    "framedex",
    new vscode.ProcessExecution(interpreter, ["-m", "pip", "install", ...options, ...requirement.arguments]),
  );
  const isInstallTask = ({ execution }: vscode.TaskEndEvent) =>
    execution.task.name === task.name && execution.task.source === task.source;
  const listening: vscode.Disposable[] = [];
  const ended = new Promise<number | undefined>((resolve) =>
    listening.push(
      vscode.tasks.onDidEndTaskProcess((event) => (isInstallTask(event) ? resolve(event.exitCode) : undefined)),
      // This event also comes if the process could not start; otherwise it comes after the end of the process.
      vscode.tasks.onDidEndTask((event) => (isInstallTask(event) ? resolve(undefined) : undefined)),
    ),
  );
  try {
    await vscode.tasks.executeTask(task);
    if ((await ended) === 0) {
      await server.restart();
    }
  } finally {
    vscode.Disposable.from(...listening).dispose();
  }
}
