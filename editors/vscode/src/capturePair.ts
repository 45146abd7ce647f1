// Two captures to compare, as the reader picks them.

import * as vscode from "vscode";

import { captureItem } from "./captureItems";
import { plain } from "./plain";
import { Capture, Captures, ListedIndex } from "./server/protocol";
import { Server } from "./server/server";

/** The captures of a folder's index, else of the one that is meant. */
export async function knownCaptures(server: Server, folder: string | undefined, about: object): Promise<readonly Capture[] | undefined> {
  if (folder === undefined) {
    return (await server.request<Captures | null>("framedex/captures", about))?.captures;
  }
  const listed = await server.request<{ indexes: ListedIndex[] }>("framedex/indexes");
  return listed?.indexes.find((index) => index.folder === folder)?.captures;
}

/** The capture before and the one after: what was begun earlier comes first. */
export async function choosePair(captures: readonly Capture[], given: Capture | undefined): Promise<[Capture, Capture] | undefined> {
  if (captures.length < 2) {
    void vscode.window.showInformationMessage("framedex: Two captures are needed to compare: record the program again.");
    return undefined;
  }
  const first = given ?? (await pick("Compare this capture", captures));
  const second = first && (await pick(`Compare “${plain(first.name)}” with`, captures.filter(({ id }) => id !== first.id)));
  if (first === undefined || second === undefined) {
    return undefined;
  }
  return first.started <= second.started ? [first, second] : [second, first];
}

async function pick(placeHolder: string, captures: readonly Capture[]): Promise<Capture | undefined> {
  return (await vscode.window.showQuickPick(captures.map(captureItem), { title: "framedex: compare captures", placeHolder }))?.capture;
}
