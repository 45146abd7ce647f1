// Installs framedex into the extension's own environment, or into that of the selected interpreter.

import * as path from "node:path";
import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { InstallFailure, Installer } from "../install/installer";
import { wanted } from "../install/package";
import { findPython, objectionTo, OLDEST } from "../install/python";
import { reasonOf } from "../plain";
import { askRecorder } from "../recorder";
import { inform, Remedies, warn } from "../remedies";
import { selectedInterpreter } from "../server/interpreter";
import { which } from "../server/onPath";
import { Server } from "../server/server";

export const INSTALL = "framedex.installServer";
export const INSTALL_INTO = "framedex.installIntoInterpreter";

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
      await intoOwn(chosen ?? (await anyPython()));
    } catch (error) {
      if (!(error instanceof vscode.CancellationError)) {
        void tell(error, chosen);
      }
      return;
    }
    await server.restart();
    await own.tidy();
    if (server.state === "running") {
      const recorder = await askRecorder(server);
      const lacks = recorder === undefined || recorder.canRecord ? "" : ` It can show recordings but cannot record. ${recorder.message ?? ""}`;
      void inform(`The server was installed and is running.${lacks}`);
    }
  }

  /** Installs into a new environment: the current one stays unchanged until the installation has succeeded. */
  async function intoOwn(python: string): Promise<void> {
    const what = await wanted(wheels);
    const folder = await own.begin();
    try {
      await installer.fill(folder, python, what);
      await own.complete(folder, what.requirement);
    } catch (error) {
      await own.remove(folder);
      throw error;
    }
  }

  function tell(error: unknown, chosen: string | undefined): Promise<void> {
    const others = error instanceof InstallFailure && error.isPythons ? choosing() : {};
    const retry = { "Try again": () => install(chosen), "Show output": () => output.show() };
    return warn(`Cannot install the server: ${reasonOf(error)}`, { ...others, ...retry });
  }

  /** A Python that can create environments. The workspace's choice counts only if the workspace is trusted. */
  async function anyPython(): Promise<string> {
    const selected = vscode.workspace.isTrusted ? await selectedInterpreter(vscode.workspace.workspaceFolders?.[0]) : undefined;
    const found = await findPython(which, selected === undefined ? [] : [selected]);
    if ("reason" in found) {
      throw new InstallFailure(found.reason, true);
    }
    return found.python;
  }

  function choosing(): Remedies {
    const page = vscode.Uri.parse("https://www.python.org/downloads/");
    return { "Choose Python…": choosePython, "Get Python": () => vscode.env.openExternal(page) };
  }

  async function choosePython(): Promise<void> {
    const options = { title: `Python ${OLDEST} or later`, openLabel: "Use this Python" };
    const [chosen] = (await vscode.window.showOpenDialog(options)) ?? [];
    if (chosen !== undefined) {
      const objection = await objectionTo(chosen.fsPath);
      await (objection === undefined ? install(chosen.fsPath) : warn(objection, choosing()));
    }
  }

  /** Offers an upgrade once per window; the server installed before continues to run. */
  async function offerUpgrade(): Promise<void> {
    const [current, what] = await Promise.all([own.current(), wanted(wheels)]);
    if (!isOffered && server.command?.origin === "extension" && current !== undefined && current.requirement !== what.requirement) {
      isOffered = true;
      const told = `The installed server is ${current.requirement}; this version of the extension comes with ${what.requirement}.`;
      await warn(told, { Upgrade: () => install() });
    }
  }

  /** Removes the environment; uninstalling the extension does not, because VS Code keeps the folder. */
  async function removeOwn(): Promise<void> {
    await server.stop();
    await own.removeAll();
    await server.start();
  }

  return vscode.Disposable.from(
    installer,
    server.onDidChangeState((state) => (state === "running" ? offerUpgrade() : undefined)),
    vscode.commands.registerCommand(INSTALL, () => install()),
    vscode.commands.registerCommand("framedex.removeServer", removeOwn),
    vscode.commands.registerCommand(INSTALL_INTO, (interpreter: string, anew = false) =>
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
  const what = await wanted(wheels);
  const task = new vscode.Task(
    { type: "framedex" },
    vscode.workspace.workspaceFolders?.[0] ?? vscode.TaskScope.Workspace,
    "install framedex",
    "framedex",
    new vscode.ProcessExecution(interpreter, ["-m", "pip", "install", ...options, ...what.arguments]),
  );
  const isOurs = ({ execution }: vscode.TaskEndEvent) =>
    execution.task.name === task.name && execution.task.source === task.source;
  const listening: vscode.Disposable[] = [];
  const ended = new Promise<number | undefined>((resolve) =>
    listening.push(
      vscode.tasks.onDidEndTaskProcess((event) => (isOurs(event) ? resolve(event.exitCode) : undefined)),
      // This event also comes if the process could not start; otherwise it comes after the end of the process.
      vscode.tasks.onDidEndTask((event) => (isOurs(event) ? resolve(undefined) : undefined)),
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
