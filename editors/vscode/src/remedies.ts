// Messages with buttons for remedies.

import * as vscode from "vscode";

import { withoutLinks } from "./plain";

/** Buttons of a message with their actions. */
export type Remedies = Readonly<Record<string, () => unknown>>;

/** Shows a warning; resolves when the message is closed and the chosen action is done. */
export async function warn(message: string, remedies: Remedies = {}): Promise<void> {
  await offer(vscode.window.showWarningMessage, message, remedies);
}

/** Shows an information message. */
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
