// Shows the note about a step in the status bar until the cursor moves, and lists the other ways, by file.

import * as path from "node:path";
import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { cutAtWord, withoutIcons } from "../plain";
import { Led, Way } from "../server/protocol";
import { open } from "../show";
import { MOST_BRIEF, openOrFetch, sayBriefly } from "../why";
import { count } from "../words";

const SHOW = "framedex.showWays";
/** Maximum number of ways into one file in the first list. */
const MOST_OF_A_FILE = 4;

interface WayItem extends vscode.QuickPickItem {
  readonly way?: Way;
  /** The remaining ways into a file, listed in a second step. */
  readonly more?: readonly Way[];
}

export function register(framedex: Framedex): vscode.Disposable {
  const { server } = framedex;
  const item = vscode.window.createStatusBarItem("framedex.step", vscode.StatusBarAlignment.Left, -10);
  item.name = "framedex: step";
  let last: Led | undefined;

  function tell(led: Led): void {
    last = led;
    item.text = withoutIcons(cutAtWord(led.text, MOST_BRIEF));
    item.tooltip = new vscode.MarkdownString().appendText(`${led.text}\n\n${led.action?.title ?? "Show all ways"}`);
    item.accessibilityInformation = { label: led.text, role: "button" };
    item.command = SHOW;
    led.text === "" ? item.hide() : item.show();
  }

  async function show(): Promise<void> {
    if (last?.action) {
      return openOrFetch(framedex, last.action, last.at);
    }
    const ways = last?.request && (await server.request<Way[]>(last.request, last.at));
    if (!ways?.length) {
      return sayBriefly("The last step had only one way.");
    }
    const chosen = await choose(byFile(ways), count(ways.length, "way"));
    if (chosen !== undefined) {
      await open(chosen.location);
    }
  }

  return vscode.Disposable.from(
    item,
    server.onDidLead(tell),
    server.onDidChangeState(() => item.hide()),
    vscode.window.onDidChangeTextEditorSelection(({ kind }) => (isByHand(kind) ? item.hide() : undefined)),
    vscode.commands.registerCommand(SHOW, show),
  );
}

/** Whether the user moved the cursor: a step moves it too, but by a command. */
function isByHand(kind: vscode.TextEditorSelectionChangeKind | undefined): boolean {
  return kind === vscode.TextEditorSelectionChangeKind.Mouse || kind === vscode.TextEditorSelectionChangeKind.Keyboard;
}

async function choose(items: readonly WayItem[], title: string): Promise<Way | undefined> {
  const options = { title: `framedex: ${title}, the likeliest first`, placeHolder: "Go to", matchOnDescription: true, matchOnDetail: true };
  const chosen = await vscode.window.showQuickPick(items, options);
  return chosen?.more === undefined ? chosen?.way : choose(chosen.more.map(wayItem), `${count(chosen.more.length, "way")} into ${fileOf(chosen.more[0])}`);
}

/** The ways grouped by file, in the order of the first way into each file. */
function byFile(ways: readonly Way[]): WayItem[] {
  const files = new Map<string, Way[]>();
  for (const way of ways) {
    files.set(way.location.uri, [...(files.get(way.location.uri) ?? []), way]);
  }
  return [...files.values()].flatMap((into) => {
    const rest = into.length > MOST_OF_A_FILE ? into.slice(MOST_OF_A_FILE - 1) : [];
    const shown = into.slice(0, into.length - rest.length);
    const separator = { label: withoutIcons(fileOf(into[0])), kind: vscode.QuickPickItemKind.Separator };
    const more = rest.length === 0 ? [] : [{ label: `${rest.length} more in ${withoutIcons(fileOf(into[0]))}…`, description: sizeOf(rest), more: rest }];
    return [separator, ...shown.map(wayItem), ...more];
  });
}

function wayItem(way: Way): WayItem {
  return { label: withoutIcons(way.function), description: withoutIcons(way.detail), detail: withoutIcons(way.place), way };
}

function sizeOf(ways: readonly Way[]): string {
  const calls = ways.reduce((sum, way) => sum + (way.calls ?? 0), 0);
  return calls > 0 ? count(calls, "call") : "";
}

function fileOf(way: Way | undefined): string {
  return way === undefined ? "" : path.posix.basename(vscode.Uri.parse(way.location.uri).path);
}
