// Shows why a request had an empty answer: the server has the reason and a command that helps.

import * as vscode from "vscode";

import { Framedex } from "./framedex";
import { cutAtWord, reasonOf, withoutIcons } from "./plain";
import { tellNotRunning } from "./notRunning";
import { inform } from "./remedies";
import { Action, Why } from "./server/protocol";

const SHOWN_FOR = 5_000;
/** Maximum characters of a text in the status bar. */
export const MOST_BRIEF = 120;

/** Shows why a request had an empty answer; `again` repeats the request once answers cover all captures. */
export async function sayWhy(framedex: Framedex, request: string, about: object = {}, again?: () => unknown): Promise<void> {
  const why = await framedex.server.request<Why>("framedex/why", { ...about, request });
  if (why === undefined) {
    return tellNotRunning();
  }
  if (why.action === null) {
    return sayBriefly(why.text);
  }
  const { action, alternative } = why;
  const help = async (): Promise<unknown> => {
    if (action.command === "framedex.selectCapture") {
      await framedex.picked.answerFrom(null, about);
      return again?.();
    }
    return take(action);
  };
  // The user may leave the notification open, so commands do not wait for it.
  const second = alternative === undefined ? {} : { [alternative.title]: () => take(alternative) };
  void inform(why.text, { [action.title]: help, ...second }).then(undefined, (error: unknown) => sayBriefly(reasonOf(error)));
  return undefined;
}

/** Runs an action, in VS Code's own way if it has one. */
export async function take({ command, arguments: given }: Action): Promise<unknown> {
  switch (command) {
    case "framedex.record": // with the interpreter that is selected, and what it prints in sight
      return vscode.commands.executeCommand("framedex.recordFile");
    case "framedex.rebuildIndex": // and then the source folders that are missing can be added
      return vscode.commands.executeCommand("framedex.activity.rebuild", { folder: vscode.Uri.parse(String(given[0])).fsPath });
    default:
      return vscode.commands.executeCommand(command, ...given);
  }
}

/** Opens the public page of the frame at which a step ended; if its sources can be fetched, lets the user choose. */
export async function openOrFetch({ server }: Framedex, page: Action, at: object | undefined): Promise<void> {
  const why = await server.request<Why>("framedex/why", { ...at, request: "textDocument/definition" });
  const actions = why?.alternative === undefined ? [page] : [page, why.alternative];
  const items = actions.map((action) => ({ label: withoutIcons(action.title), action }));
  const chosen = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: "framedex: the source is not on this machine" });
  if (chosen !== undefined) {
    await take(chosen.action);
  }
}

/** Shows a text in the status bar for a few seconds. */
export function sayBriefly(message: string): void {
  vscode.window.setStatusBarMessage(`framedex: ${withoutIcons(cutAtWord(message, MOST_BRIEF))}`, SHOWN_FOR);
}
