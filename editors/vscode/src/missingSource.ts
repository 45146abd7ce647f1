// What is said of a frame whose source is not here, and what can be done about it: wherever one is clicked.

import * as vscode from "vscode";

import { plain } from "./plain";
import { inform } from "./remedies";
import { isPublic, openPublic } from "./show";

/** The command that has another folder indexed, in the project of `folder` if one is given. */
export const ADD_SOURCE = "framedex.addSource";

/** The button of that command. */
export const ADD = "Add a source folder…";

/** Says that the source of a frame in the index of a folder is not here, and does what the reader chooses. */
export function tellMissingSource(folder: string, frame: { readonly function: string; readonly url: string | null }): Promise<void> {
  const { url } = frame;
  const message =
    `The source of ${plain(frame.function)} is not here. Add the folder that it is in (framedex index --source DIR), ` +
    "or a map of its sources (framedex sources import FILE); framedex sources says of which commit they have to be.";
  const add = { [ADD]: () => vscode.commands.executeCommand(ADD_SOURCE, { folder }) };
  return inform(message, url !== null && isPublic(url) ? { ...add, "Open its public source": () => openPublic(url) } : add);
}
