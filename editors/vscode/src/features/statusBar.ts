// The status bar's item: how the server is, what it knows, and a menu.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { codeSpan } from "../plain";
import { Captures, Why } from "../server/protocol";
import { Server, ServerState } from "../server/server";
import { count } from "../words";

const MENU: readonly (vscode.QuickPickItem & { command: string; arguments?: unknown[] })[] = [
  { label: "$(record) Record this file", command: "framedex.recordFile" },
  { label: "$(database) Index this project", command: "framedex.indexProject" },
  { label: "$(list-tree) Show the recorded calls", command: "framedex.activity.focus" },
  { label: "$(flame) Show flame graph", command: "framedex.flameGraph" },
  { label: "$(filter) Pick a capture…", command: "framedex.pickCapture" },
  { label: "$(debug-restart) Restart the server", command: "framedex.restartServer" },
  { label: "$(cloud-download) Install the server for this editor", command: "framedex.installServer" },
  { label: "$(output) Show the output", command: "framedex.showOutput" },
  { label: "$(book) Open the walkthrough", command: "framedex.openWalkthrough" },
  { label: "$(gear) Open settings", command: "workbench.action.openSettings", arguments: ["@ext:framedex.framedex"] },
];

const STATES: Readonly<Record<ServerState, { icon: string; told: string; colour?: string }>> = {
  starting: { icon: "sync~spin", told: "The server starts." },
  running: { icon: "layers", told: "The server runs." },
  stopped: { icon: "circle-slash", told: "The server was stopped." },
  missing: { icon: "warning", told: "framedex was not found.", colour: "statusBarItem.warningBackground" },
  failed: { icon: "error", told: "The server does not run.", colour: "statusBarItem.errorBackground" },
};

export function register({ server, picked }: Framedex): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("framedex.status", vscode.StatusBarAlignment.Right, 50);
  item.name = "framedex";
  item.command = "framedex.showMenu";
  let known: Captures | undefined;
  let why: Why | undefined;
  const show = () => {
    const { icon, colour } = STATES[server.state];
    // VS Code itself shows beside it what the server is busy with.
    item.text = `$(${server.work.length > 0 ? "sync~spin" : icon}) ${summary(server, known)}`;
    item.tooltip = tooltip(server, known, why);
    item.backgroundColor = colour === undefined ? undefined : new vscode.ThemeColor(colour);
    item.show();
  };
  const ask = async () => {
    try {
      const isRunning = server.state === "running";
      known = isRunning ? ((await server.request<Captures | null>("framedex/captures")) ?? undefined) : undefined;
      why = isRunning && known === undefined ? await server.request<Why>("framedex/why", { request: "framedex/captures" }) : undefined;
    } catch {
      [known, why] = [undefined, undefined]; // the server has just ended
    }
    show();
  };
  show();
  return vscode.Disposable.from(
    item,
    server.onDidChangeState(show),
    server.onDidChangeIndex(ask),
    picked.onDidChange(ask),
    vscode.commands.registerCommand("framedex.showMenu", showMenu),
  );
}

function summary(server: Server, known: Captures | undefined): string {
  if (server.state === "missing") {
    return "framedex: not found";
  }
  if (server.state !== "running" || known === undefined) {
    return "framedex";
  }
  const selected = known.captures.find((each) => each.id === known.selected);
  return `framedex: ${selected === undefined ? count(known.captures.length, "capture") : `capture ${selected.id} only`}`;
}

function tooltip(server: Server, known: Captures | undefined, why: Why | undefined): vscode.MarkdownString {
  const lines = [`**${STATES[server.state].told}**`];
  if (server.command !== undefined) {
    const version = server.version === undefined ? "" : `, version ${codeSpan(server.version)}`;
    lines.push(`${codeSpan(server.command.command)} (${server.command.origin})${version}`);
  }
  if (known !== undefined) {
    lines.push(`Index: ${codeSpan(known.index)}, ${count(known.captures.length, "capture")}`);
    const selected = known.captures.find((each) => each.id === known.selected);
    if (selected !== undefined) {
      lines.push(`Answers are of capture ${selected.id} alone: ${codeSpan(selected.command)}`);
    }
  } else if (why !== undefined) {
    lines.push(codeSpan(why.text));
  }
  lines.push(...server.work.map((work) => codeSpan(work)));
  return new vscode.MarkdownString(lines.join("\n\n"));
}

async function showMenu(): Promise<void> {
  const chosen = await vscode.window.showQuickPick(MENU, { title: "framedex" });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command, ...(chosen.arguments ?? []));
  }
}
