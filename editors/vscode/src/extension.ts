// Entry point: starts the language server, and restarts it when its path changes or the user asks.

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

import { createClient } from "./client";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("framedex.restartServer", restart),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("framedex.server.path")) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}

async function start(): Promise<void> {
  const path = vscode.workspace.getConfiguration("framedex").get("server.path", "framedex");
  client = createClient(path);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    await explain(path, error);
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.dispose();
}

async function restart(): Promise<void> {
  await stop();
  await start();
}

async function explain(path: string, error: unknown): Promise<void> {
  const openSettings = "Open settings";
  const reason = error instanceof Error ? error.message : String(error);
  const choice = await vscode.window.showWarningMessage(
    `framedex: "${path} serve" did not start (${reason}). Install framedex, or set framedex.server.path.`,
    openSettings,
  );
  if (choice === openSettings) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "framedex.server.path");
  }
}
