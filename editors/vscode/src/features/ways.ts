// Shows the note about a step in the status bar until the cursor moves, and lists the other ways, by file.

import * as path from "node:path";
import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { truncateAtWord, withoutIcons } from "../plain";
import { StepNote, NavigationTarget } from "../server/protocol";
import { open } from "../show";
import { MAX_STATUS_BAR_LENGTH, openOrFetch, showInStatusBar } from "../why";
import { count } from "../words";

const SHOW = "framedex.showWays";
/** Maximum number of ways into one file in the first list. */
const MAX_TARGETS_PER_FILE = 4;

interface TargetItem extends vscode.QuickPickItem {
  readonly target?: NavigationTarget;
  /** The remaining ways into a file, listed in a second step. */
  readonly more?: readonly NavigationTarget[];
}

export function register(framedex: Framedex): vscode.Disposable {
  const { server } = framedex;
  const item = vscode.window.createStatusBarItem("framedex.step", vscode.StatusBarAlignment.Left, -10);
  item.name = "framedex: step";
  let last: StepNote | undefined;

  function showNote(led: StepNote): void {
    last = led;
    item.text = withoutIcons(truncateAtWord(led.text, MAX_STATUS_BAR_LENGTH));
    item.tooltip = new vscode.MarkdownString().appendText(`${led.text}\n\n${led.action?.title ?? "Show all ways"}`);
    item.accessibilityInformation = { label: led.text, role: "button" };
    item.command = SHOW;
    led.text === "" ? item.hide() : item.show();
  }

  async function show(): Promise<void> {
    if (last?.action) {
      return openOrFetch(framedex, last.action, last.at);
    }
    const targets = last?.request && (await server.request<NavigationTarget[]>(last.request, last.at));
    if (!targets?.length) {
      return showInStatusBar("The last step had only one way.");
    }
    const chosen = await choose(groupByFile(targets), count(targets.length, "way"));
    if (chosen !== undefined) {
      await open(chosen.location);
    }
  }

  return vscode.Disposable.from(
    item,
    server.onDidLead(showNote),
    server.onDidChangeState(() => item.hide()),
    vscode.window.onDidChangeTextEditorSelection(({ kind }) => (isUserMove(kind) ? item.hide() : undefined)),
    vscode.commands.registerCommand(SHOW, show),
  );
}

/** Whether the user moved the cursor: a step moves it too, but by a command. */
function isUserMove(kind: vscode.TextEditorSelectionChangeKind | undefined): boolean {
  return kind === vscode.TextEditorSelectionChangeKind.Mouse || kind === vscode.TextEditorSelectionChangeKind.Keyboard;
}

async function choose(items: readonly TargetItem[], title: string): Promise<NavigationTarget | undefined> {
  const options = { title: `framedex: ${title}, the likeliest first`, placeHolder: "Go to", matchOnDescription: true, matchOnDetail: true };
  const chosen = await vscode.window.showQuickPick(items, options);
  return chosen?.more === undefined ? chosen?.target : choose(chosen.more.map(targetItem), `${count(chosen.more.length, "way")} into ${fileOf(chosen.more[0])}`);
}

/** The ways grouped by file, in the order of the first way into each file. */
function groupByFile(targets: readonly NavigationTarget[]): TargetItem[] {
  const files = new Map<string, NavigationTarget[]>();
  for (const target of targets) {
    files.set(target.location.uri, [...(files.get(target.location.uri) ?? []), target]);
  }
  return [...files.values()].flatMap((inFile) => {
    const rest = inFile.length > MAX_TARGETS_PER_FILE ? inFile.slice(MAX_TARGETS_PER_FILE - 1) : [];
    const shown = inFile.slice(0, inFile.length - rest.length);
    const separator = { label: withoutIcons(fileOf(inFile[0])), kind: vscode.QuickPickItemKind.Separator };
    const more = rest.length === 0 ? [] : [{ label: `${rest.length} more in ${withoutIcons(fileOf(inFile[0]))}…`, description: formatCallCount(rest), more: rest }];
    return [separator, ...shown.map(targetItem), ...more];
  });
}

function targetItem(target: NavigationTarget): TargetItem {
  return { label: withoutIcons(target.function), description: withoutIcons(target.detail), detail: withoutIcons(target.place), target };
}

function formatCallCount(targets: readonly NavigationTarget[]): string {
  const calls = targets.reduce((sum, target) => sum + (target.calls ?? 0), 0);
  return calls > 0 ? count(calls, "call") : "";
}

function fileOf(target: NavigationTarget | undefined): string {
  return target === undefined ? "" : path.posix.basename(vscode.Uri.parse(target.location.uri).path);
}
