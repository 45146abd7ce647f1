// A frame whose source is not here: its public page, or what can be done about it. Wherever one is clicked.

import * as vscode from "vscode";

import { plain } from "./plain";
import { inform } from "./remedies";
import { isPublic, openPublic } from "./show";

/** The command that has another folder indexed, in the project of `folder` if one is given. */
export const ADD_SOURCE = "framedex.addSource";

/** The button of that command. */
export const ADD = "Add a source folder…";

/** Opens the public page of a frame in the index of a folder; where it has none, says so and does what the reader chooses. */
export function openElsewhere(folder: string, frame: { readonly function: string; readonly url: string | null }): Promise<void> {
  if (frame.url !== null && isPublic(frame.url)) {
    return openPublic(frame.url);
  }
  const message =
    `The source of ${plain(frame.function)} is not here. Add the folder that it is in (framedex index --source DIR), ` +
    "or a map of its sources (framedex sources import FILE); framedex sources says of which commit they have to be.";
  return inform(message, { [ADD]: () => vscode.commands.executeCommand(ADD_SOURCE, { folder }) });
}
