// Shows why the server is not running, with remedies: the same message for every command.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { INSTALL_COMMAND, INSTALL_INTO_COMMAND } from "./install";
import { SHOW_PROBLEM } from "../notRunning";
import { Remedies, warn } from "../remedies";
import { PATH_SETTING } from "../server/locate";
import { MAX_CRASHES } from "../server/restarts";
import { Problem, Server } from "../server/server";
import { isOlder } from "../server/version";

const MINIMUM_VERSION = "0.1.0";
const INSTALL_OFFER = "The extension can install it for this editor.";

export function register({ server }: Framedex): vscode.Disposable {
  return vscode.Disposable.from(
    server.onProblem((problem) => showProblem(problem, server)),
    server.onDidChangeState((state) => (state === "running" ? checkVersion(server) : undefined)),
    vscode.commands.registerCommand(SHOW_PROBLEM, () =>
      server.problem === undefined ? warn("The language server was stopped.", { Start: () => server.start() }) : showProblem(server.problem, server),
    ),
    vscode.commands.registerCommand("framedex.openWalkthrough", async () => {
      await vscode.commands.executeCommand("workbench.action.openWalkthrough", "framedex.framedex#framedex.start", false);
      // VS Code completes a walkthrough step only if its condition changes while the walkthrough is loaded.
      await vscode.commands.executeCommand("setContext", "framedex.walkthroughOpened", true);
    }),
  );
}

async function showProblem(problem: Problem, server: Server): Promise<void> {
  const showOutput = () => vscode.commands.executeCommand("framedex.showOutput");
  const restart = () => server.restart();
  switch (problem.kind) {
    case "missing":
      return warn(`${problem.found.reason} ${INSTALL_OFFER}`, installButtons(problem.found.interpreter));
    case "failed":
      return warn(`${problem.command.command} did not start: ${problem.reason}`, {
        ...(problem.command.origin === "extension" ? { "Reinstall": install } : {}),
        "Show output": showOutput,
        Restart: restart,
        "Open settings": openSettings,
      });
    case "crashed":
      return warn(`The server crashed ${MAX_CRASHES} times in three minutes and will not be restarted.`, {
        Restart: restart,
        "Show output": showOutput,
      });
  }
}

function installButtons(interpreter: string | undefined): Remedies {
  const into = () => vscode.commands.executeCommand(INSTALL_INTO_COMMAND, interpreter);
  return {
    Install: install,
    ...(interpreter === undefined ? {} : { "Install into this environment": into }),
    "Choose framedex…": choosePath,
    "How to set up": () => vscode.commands.executeCommand("framedex.openWalkthrough"),
  };
}

function install(): Thenable<unknown> {
  return vscode.commands.executeCommand(INSTALL_COMMAND);
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
