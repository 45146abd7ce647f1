// What is said when the server does not run, with what can be done about it.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { Remedies, warn } from "../remedies";
import { PATH_SETTING } from "../server/locate";
import { MOST_CRASHES } from "../server/restarts";
import { Problem, Server } from "../server/server";
import { isOlder } from "../server/version";

const MINIMUM_VERSION = "0.1.0";

export function register({ server }: Framedex): vscode.Disposable {
  return vscode.Disposable.from(
    server.onProblem((problem) => tell(problem, server)),
    server.onDidChangeState((state) => (state === "running" ? checkVersion(server) : undefined)),
    vscode.commands.registerCommand("framedex.openWalkthrough", async () => {
      await vscode.commands.executeCommand("workbench.action.openWalkthrough", "framedex.framedex#framedex.start", false);
      // VS Code ticks a step when something changes while it has the walkthrough, which it reads when it is first opened.
      await vscode.commands.executeCommand("setContext", "framedex.walkthroughOpened", true);
    }),
  );
}

async function tell(problem: Problem, server: Server): Promise<void> {
  const showOutput = () => vscode.commands.executeCommand("framedex.showOutput");
  const restart = () => server.restart();
  switch (problem.kind) {
    case "missing":
      return warn(problem.found.reason, installing(problem.found.interpreter, server));
    case "failed":
      return warn(`${problem.command.command} did not start: ${problem.reason}`, {
        "Show output": showOutput,
        Restart: restart,
        "Open settings": openSettings,
      });
    case "crashed":
      return warn(`The server has ended ${MOST_CRASHES} times in three minutes and is not started again.`, {
        Restart: restart,
        "Show output": showOutput,
      });
  }
}

function installing(interpreter: string | undefined, server: Server): Remedies {
  const others = {
    "Choose framedex…": choosePath,
    "How to set up": () => vscode.commands.executeCommand("framedex.openWalkthrough"),
  };
  return interpreter === undefined ? others : { "Install into this environment": () => install(interpreter, server), ...others };
}

/** pip, in a terminal that the user sees; a task of a process, so that no shell reads the path. */
export async function install(interpreter: string, server: Server): Promise<void> {
  const wanted = vscode.workspace.getConfiguration("framedex").get("server.package", "framedex");
  const task = new vscode.Task(
    { type: "framedex" },
    vscode.workspace.workspaceFolders?.[0] ?? vscode.TaskScope.Workspace,
    "install framedex",
    "framedex",
    new vscode.ProcessExecution(interpreter, ["-m", "pip", "install", wanted]),
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

async function choosePath(): Promise<void> {
  const [chosen] = (await vscode.window.showOpenDialog({ title: "The framedex command", openLabel: "Use as framedex" })) ?? [];
  if (chosen !== undefined) {
    const target = vscode.ConfigurationTarget.Global;
    await vscode.workspace.getConfiguration("framedex").update("server.path", chosen.fsPath, target);
  }
}

function openSettings(): Thenable<unknown> {
  return vscode.commands.executeCommand("workbench.action.openSettings", PATH_SETTING);
}

async function checkVersion(server: Server): Promise<void> {
  if (server.version !== undefined && isOlder(server.version, MINIMUM_VERSION)) {
    const command = server.command?.command ?? "framedex";
    await warn(
      `${command} is version ${server.version}; this extension needs ${MINIMUM_VERSION} or later. ` +
        "Upgrade it with pip install --upgrade framedex, then restart the server.",
      { Restart: () => server.restart(), "Open settings": openSettings },
    );
  }
}
