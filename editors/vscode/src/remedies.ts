// Messages with buttons, each of which does something about what is said.

import * as vscode from "vscode";

import { withoutLinks } from "./plain";

/** Buttons of a message, each with what it does. */
export type Remedies = Readonly<Record<string, () => unknown>>;

/** Warns of something that is wrong; resolves when the message is closed and what was chosen is done. */
export async function warn(message: string, remedies: Remedies = {}): Promise<void> {
  await offer(vscode.window.showWarningMessage, message, remedies);
}

/** Tells of something that went as it should. */
export async function inform(message: string, remedies: Remedies = {}): Promise<void> {
  await offer(vscode.window.showInformationMessage, message, remedies);
}

async function offer(
  show: (message: string, ...buttons: string[]) => Thenable<string | undefined>,
  message: string,
  remedies: Remedies,
): Promise<void> {
  const choice = await show(`framedex: ${withoutLinks(message, 1_000)}`, ...Object.keys(remedies));
  if (choice !== undefined) {
    await remedies[choice]?.();
  }
}
