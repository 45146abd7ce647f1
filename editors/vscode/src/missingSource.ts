// Frames whose source is not on this machine: opens the public page, or shows a remedy.

import * as vscode from "vscode";

import { plain } from "./plain";
import { inform } from "./remedies";
import { isPublic, openPublic } from "./show";

/** The command that adds a source folder, to the project of `folder` if given. */
export const ADD_SOURCE = "framedex.addSource";

/** The button of that command. */
export const ADD = "Add a source folder…";

/** Opens the public page of a frame in the index of a folder; if it has none, shows a message with a remedy. */
export function openElsewhere(folder: string, frame: { readonly function: string; readonly url: string | null }): Promise<void> {
  if (frame.url !== null && isPublic(frame.url)) {
    return openPublic(frame.url);
  }
  const message =
    `The source of ${plain(frame.function)} is not here. Add the folder that it is in (framedex index --source DIR), ` +
    "or a map of its sources (framedex sources import FILE); framedex sources shows the required commit.";
  return inform(message, { [ADD]: () => vscode.commands.executeCommand(ADD_SOURCE, { folder }) });
}
