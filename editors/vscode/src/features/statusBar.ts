// The status bar item: the state of the server, the number of captures, and a menu.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { SHOW_PROBLEM } from "../notRunning";
import { codeSpan, plain, withoutIcons } from "../plain";
import { Captures, ListedIndex, EmptyAnswerReason } from "../server/protocol";
import { Server, ServerState } from "../server/server";
import { count } from "../words";

interface MenuItem extends vscode.QuickPickItem {
  readonly command: string;
  readonly arguments?: unknown[];
  /** Whether the entry works without a server. */
  readonly isForAny?: true;
}

const MENU: readonly MenuItem[] = [
  { label: "$(record) Record this file", command: "framedex.recordFile" },
  { label: "$(database) Index this project", command: "framedex.indexProject" },
  { label: "$(list-tree) Show the recorded calls", command: "framedex.activity.show" },
  { label: "$(flame) Show flame graph", command: "framedex.flameGraph" },
  { label: "$(filter) Pick a capture…", command: "framedex.pickCapture" },
  { label: "$(debug-restart) Restart the server", command: "framedex.restartServer", isForAny: true },
  { label: "$(cloud-download) Install the server for this editor", command: "framedex.installServer", isForAny: true },
  { label: "$(output) Show the output", command: "framedex.showOutput", isForAny: true },
  { label: "$(book) Open the walkthrough", command: "framedex.openWalkthrough", isForAny: true },
  { label: "$(gear) Open settings", command: "workbench.action.openSettings", arguments: ["@ext:framedex.framedex"], isForAny: true },
];

const STATES: Readonly<Record<ServerState, { icon: string; stateText: string; colour?: string }>> = {
  starting: { icon: "sync~spin", stateText: "The server starts." },
  running: { icon: "layers", stateText: "The server runs." },
  stopped: { icon: "circle-slash", stateText: "The server was stopped." },
  missing: { icon: "warning", stateText: "framedex was not found.", colour: "statusBarItem.warningBackground" },
  failed: { icon: "error", stateText: "The server does not run.", colour: "statusBarItem.errorBackground" },
};

/** The action that repairs a damaged index, or one from an earlier version. */
const REBUILD = "framedex.rebuildIndex";
const DAMAGED_APPEARANCE = { icon: "warning", colour: "statusBarItem.warningBackground" };

/** The server's captures; `unusable` are the indexes that must be rebuilt. */
interface ServerStatus {
  readonly known: Captures | undefined;
  readonly why: EmptyAnswerReason | undefined;
  readonly unusable: readonly ListedIndex[];
}

const NOTHING: ServerStatus = { known: undefined, why: undefined, unusable: [] };

export function register({ server, stackSelection }: Framedex): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("framedex.status", vscode.StatusBarAlignment.Right, 50);
  item.name = "framedex";
  item.command = "framedex.showMenu";
  let shown: ServerStatus = NOTHING;
  const show = () => {
    const { icon, colour } = shown.unusable.length > 0 ? DAMAGED_APPEARANCE : STATES[server.state];
    // VS Code itself shows the server's long-running work next to the item.
    item.text = `$(${server.work.length > 0 ? "sync~spin" : icon}) ${summary(server, shown)}`;
    const stateText = STATES[server.state].stateText;
    const code = (text: string): string => codeSpan(text, 1_000);
    item.tooltip = new vscode.MarkdownString([`**${stateText}**`, ...details(server, shown, code)].join("\n\n"));
    // Otherwise screen readers would read the tooltip with its asterisks and backticks.
    const words = [summary(server, shown), stateText, ...details(server, shown, (text) => plain(text, 1_000))];
    item.accessibilityInformation = { label: words.join(" "), role: "button" };
    item.backgroundColor = colour === undefined ? undefined : new vscode.ThemeColor(colour);
    item.show();
  };
  const refresh = async () => {
    try {
      shown = server.state === "running" ? await requestStatus(server) : NOTHING;
    } catch {
      shown = NOTHING; // the server has just ended
    }
    await vscode.commands.executeCommand("setContext", "framedex.hasCaptures", (shown.known?.captures.length ?? 0) > 0);
    show();
  };
  show();
  const indexes = vscode.workspace.createFileSystemWatcher("**/.framedex/index.db");
  const retryUnusable = () => (shown.unusable.length > 0 ? server.askAgain() : undefined);
  return vscode.Disposable.from(
    item,
    indexes,
    indexes.onDidCreate(retryUnusable),
    indexes.onDidChange(retryUnusable),
    indexes.onDidDelete(retryUnusable),
    server.onDidChangeState((state) => (state === "running" ? show() : refresh())),
    server.onDidChangeIndex(refresh),
    // Selecting another capture clears the selected stack; a step along a stack changes nothing here.
    stackSelection.onDidChange((stack) => (stack === undefined ? refresh() : undefined)),
    vscode.commands.registerCommand("framedex.showMenu", () => showMenu(server, shown.unusable)),
  );
}

async function requestStatus(server: Server): Promise<ServerStatus> {
  const listed = await server.request<{ indexes: ListedIndex[] }>("framedex/indexes");
  const known = (await server.request<Captures | null>("framedex/captures")) ?? undefined;
  const why = known === undefined ? await server.request<EmptyAnswerReason>("framedex/why", { request: "framedex/captures" }) : undefined;
  return { known, why, unusable: (listed?.indexes ?? []).filter(({ action }) => action?.command === REBUILD) };
}

function summary(server: Server, { known, unusable }: ServerStatus): string {
  if (server.state === "missing") {
    return "framedex: not found";
  }
  if (unusable.length > 0) {
    return `framedex: index ${unusable.some(({ problem }) => problem?.includes("is damaged")) ? "damaged" : "unusable"}`;
  }
  if (server.state !== "running" || known === undefined) {
    return "framedex";
  }
  const selected = known.captures.find((each) => each.id === known.selected);
  return `framedex: ${selected === undefined ? count(known.captures.length, "capture") : `capture ${selected.id} only`}`;
}

/** The lines of the tooltip; `code` formats names of files and commands. */
function details(server: Server, { known, why, unusable }: ServerStatus, code: (text: string) => string): string[] {
  const lines = unusable.map(({ problem }) => code((problem ?? "").replace(/\s*\n\s*/g, " ")));
  if (server.command !== undefined) {
    const version = server.version === undefined ? "" : `, version ${code(server.version)}`;
    lines.push(`${code(server.command.command)} (${server.command.origin})${version}`);
  }
  if (known !== undefined) {
    lines.push(`Index: ${code(known.index)}, ${count(known.captures.length, "capture")}`);
    const selected = known.captures.find((each) => each.id === known.selected);
    if (selected !== undefined) {
      lines.push(`Answers cover only capture ${selected.id}: ${code(selected.command)}`);
    } else if (known.counted !== undefined) {
      lines.push(`Answers cover: ${known.counted}`);
    }
  } else if (why !== undefined && unusable.length === 0) {
    lines.push(code(why.text));
  }
  return [...lines, ...server.work.map(code)];
}

async function showMenu(server: Server, unusable: readonly ListedIndex[]): Promise<void> {
  const chosen = await vscode.window.showQuickPick(menu(server, unusable), { title: "framedex" });
  if (chosen !== undefined) {
    await vscode.commands.executeCommand(chosen.command, ...(chosen.arguments ?? []));
  }
}

/** The menu's entries, most helpful first; without a server, only those that work without one. */
function menu(server: Server, unusable: readonly ListedIndex[]): readonly MenuItem[] {
  const rebuild = unusable.map(({ folder }) => ({
    ...{ label: "$(wrench) Rebuild the index", description: withoutIcons(folder) },
    ...{ command: "framedex.activity.rebuild", arguments: [{ folder }] },
  }));
  if (server.state === "running" || server.state === "starting") {
    return [...rebuild, ...MENU];
  }
  const usable = MENU.filter(({ isForAny }) => isForAny);
  const isInstall = ({ command }: MenuItem): boolean => server.state === "missing" && command === "framedex.installServer";
  const why: MenuItem = { label: "$(question) Why the server does not run", command: SHOW_PROBLEM };
  return [...usable.filter(isInstall), why, ...usable.filter((each) => !isInstall(each))];
}
