// What is said where there is nothing to show: the server says why, and which of its commands helps.

import * as vscode from "vscode";

import { Framedex } from "./framedex";
import { cutAtWord, reasonOf, withoutIcons } from "./plain";
import { tellNotRunning } from "./notRunning";
import { inform } from "./remedies";
import { Action, Why } from "./server/protocol";

const SHOWN_FOR = 5_000;
/** Characters of a text in the status bar, which has room for as many. */
export const MOST_BRIEF = 120;

/** Says why a request about a place or an index was answered with nothing; `again` asks anew once all captures answer. */
export async function sayWhy(framedex: Framedex, request: string, about: object = {}, again?: () => unknown): Promise<void> {
  const why = await framedex.server.request<Why>("framedex/why", { ...about, request });
  if (why === undefined) {
    return tellNotRunning();
  }
  if (why.action === null) {
    return sayBriefly(why.text);
  }
  const { action } = why;
  const help = async (): Promise<unknown> => {
    if (action.command === "framedex.selectCapture") {
      await framedex.picked.answerFrom(null, about);
      return again?.();
    }
    return take(action);
  };
  // The user may leave the notification open for as long as they like; no command waits for that.
  void inform(why.text, { [action.title]: help }).then(undefined, (error: unknown) => sayBriefly(reasonOf(error)));
  return undefined;
}

/** Does what helps, as this editor does it where it has a way of its own. */
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

/** Says something in the status bar, for a while. */
export function sayBriefly(message: string): void {
  vscode.window.setStatusBarMessage(`framedex: ${withoutIcons(cutAtWord(message, MOST_BRIEF))}`, SHOWN_FOR);
}
