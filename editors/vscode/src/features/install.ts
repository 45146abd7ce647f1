// Installing framedex: into an environment of the extension's own, or into that of the selected interpreter.

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

  /** One at a time: whoever asks again waits for the same. */
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
      const lacks = recorder === undefined || recorder.canRecord ? "" : ` It shows recordings and cannot record. ${recorder.message ?? ""}`;
      void inform(`The server was installed, and runs.${lacks}`);
    }
  }

  /** Into a new environment: one that is there stays as it is until all has gone well. */
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
    return warn(`The server was not installed: ${reasonOf(error)}`, { ...others, ...retry });
  }

  /** One that can make environments. The workspace's choice counts only where the workspace is trusted. */
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

  /** Once in a window: the server that was installed before serves on. */
  async function offerUpgrade(): Promise<void> {
    const [current, what] = await Promise.all([own.current(), wanted(wheels)]);
    if (!isOffered && server.command?.origin === "extension" && current !== undefined && current.requirement !== what.requirement) {
      isOffered = true;
      const told = `The server that the extension has installed is ${current.requirement}; it now comes with ${what.requirement}.`;
      await warn(told, { Upgrade: () => install() });
    }
  }

  /** Uninstalling the extension leaves it: VS Code keeps the folder. */
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
 * pip, in a terminal that the user sees; a task of a process, so that no shell reads the path.
 *
 * With `--force-reinstall` among the options, a framedex of the same version that lacks its native part is replaced.
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
      // Also of a task whose process could not be started; of others this comes after the end of the process.
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
