// Shows why a request had an empty answer: the server has the reason and a command that helps.

import * as vscode from "vscode";

import { Framedex } from "./framedex";
import { truncateAtWord, errorReason, withoutIcons } from "./plain";
import { showNotRunning } from "./notRunning";
import { inform } from "./remedies";
import { Action, EmptyAnswerReason } from "./server/protocol";

const SHOWN_FOR_MS = 5_000;
/** Maximum length of a status bar message, in characters. */
export const MAX_STATUS_BAR_LENGTH = 120;

/** Shows why a request had an empty answer; `again` repeats the request once answers cover all captures. */
export async function showEmptyAnswerReason(framedex: Framedex, request: string, about: object = {}, again?: () => unknown): Promise<void> {
  const why = await framedex.server.request<EmptyAnswerReason>("framedex/why", { ...about, request });
  if (why === undefined) {
    return showNotRunning();
  }
  if (why.action === null) {
    return showInStatusBar(why.text);
  }
  const { action, alternative } = why;
  const help = async (): Promise<unknown> => {
    if (action.command === "framedex.selectCapture") {
      await framedex.stackSelection.selectCapture(null, about);
      return again?.();
    }
    return runAction(action);
  };
  // The user may leave the notification open, so commands do not wait for it.
  const second = alternative === undefined ? {} : { [alternative.title]: () => runAction(alternative) };
  void inform(why.text, { [action.title]: help, ...second }).then(undefined, (error: unknown) => showInStatusBar(errorReason(error)));
  return undefined;
}

/** Runs an action, in VS Code's own way if it has one. */
export async function runAction({ command, arguments: given }: Action): Promise<unknown> {
  switch (command) {
    case "framedex.record": // VS Code's command uses the selected interpreter and shows the output
      return vscode.commands.executeCommand("framedex.recordFile");
    case "framedex.rebuildIndex": // VS Code's command then offers to add missing source folders
      return vscode.commands.executeCommand("framedex.activity.rebuild", { folder: vscode.Uri.parse(String(given[0])).fsPath });
    default:
      return vscode.commands.executeCommand(command, ...given);
  }
}

/** Opens the public page of the frame at which a step ended; if its sources can be fetched, lets the user choose. */
export async function openOrFetch({ server }: Framedex, page: Action, at: object | undefined): Promise<void> {
  const why = await server.request<EmptyAnswerReason>("framedex/why", { ...at, request: "textDocument/definition" });
  const actions = why?.alternative === undefined ? [page] : [page, why.alternative];
  const items = actions.map((action) => ({ label: withoutIcons(action.title), action }));
  const chosen = items.length === 1 ? items[0] : await vscode.window.showQuickPick(items, { title: "framedex: the source is not on this machine" });
  if (chosen !== undefined) {
    await runAction(chosen.action);
  }
}

/** Shows a text in the status bar for a few seconds. */
export function showInStatusBar(message: string): void {
  vscode.window.setStatusBarMessage(`framedex: ${withoutIcons(truncateAtWord(message, MAX_STATUS_BAR_LENGTH))}`, SHOWN_FOR_MS);
}
