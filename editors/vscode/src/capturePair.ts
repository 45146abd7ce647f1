// Chooses two captures to compare: the selected one if there is one, else the user chooses.

import * as vscode from "vscode";

import { CaptureNode } from "./activity/nodes";
import { captureItem } from "./captureItems";
import { Framedex } from "./framedex";
import { plain } from "./plain";
import { Capture, Captures, ListedIndex } from "./server/protocol";
import { showEmptyAnswerReason } from "./why";

/** Two captures of a folder's index, the earlier one first. */
export interface CapturePair {
  readonly folder: string;
  readonly before: Pick<Capture, "id" | "name">;
  readonly after: Pick<Capture, "id" | "name">;
}

const TITLE = "framedex: compare captures";

/** The capture of the node, else the selected one, with another; asks the user only where several are possible. */
export async function choosePair(framedex: Framedex, node: CaptureNode | undefined): Promise<CapturePair | undefined> {
  const index = await chooseIndex(framedex, node?.folder);
  if (index === undefined) {
    return undefined;
  }
  const { folder, captures, selected } = index;
  if (captures.length < 2) {
    void vscode.window.showInformationMessage("framedex: Two captures are needed to compare: record the program again.");
    return undefined;
  }
  const given = node?.capture ?? captures.find(({ id }) => id === selected) ?? (captures.length === 2 ? captures[0] : undefined);
  const first = given ?? (await pick("Compare this capture", captures));
  const second = first && (await chooseOther(first, captures));
  if (first === undefined || second === undefined) {
    return undefined;
  }
  const [before, after] = first.started <= second.started ? [first, second] : [second, first];
  return { folder, before, after };
}

/** The index of a folder, else of the active editor's file, else the one that the user chooses. */
async function chooseIndex(framedex: Framedex, folder: string | undefined): Promise<ListedIndex | undefined> {
  const listed = await framedex.server.request<{ indexes: ListedIndex[] }>("framedex/indexes");
  const indexes = (listed?.indexes ?? []).filter(({ captures }) => captures.length > 0);
  if (indexes.length === 0) {
    await showEmptyAnswerReason(framedex, "framedex/captures");
    return undefined;
  }
  if (folder !== undefined) {
    return indexes.find((index) => index.folder === folder);
  }
  const path = indexes.length > 1 ? await pathOfIndex(framedex) : undefined;
  const known = indexes.length > 1 ? indexes.find(({ index }) => index === path) : indexes[0];
  const items = indexes.map((index) => ({ label: plain(index.folder, 200), index }));
  return known ?? (await vscode.window.showQuickPick(items, { title: TITLE, placeHolder: "In which folder?" }))?.index;
}

async function pathOfIndex({ server }: Framedex): Promise<string | undefined> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const about = { textDocument: { uri: String(uri) } };
  return uri?.scheme === "file" ? (await server.request<Captures | null>("framedex/captures", about))?.index : undefined;
}

/** The only other capture, or the one that the user chooses; captures of the same program come first. */
async function chooseOther(first: Capture, captures: readonly Capture[]): Promise<Capture | undefined> {
  const others = captures.filter(({ id }) => id !== first.id);
  const isSame = ({ name }: Capture): boolean => name === first.name;
  const sorted = [...others.filter(isSame), ...others.filter((each) => !isSame(each))];
  return sorted.length === 1 ? sorted[0] : pick(`Compare “${plain(first.name)}” with`, sorted);
}

async function pick(placeHolder: string, captures: readonly Capture[]): Promise<Capture | undefined> {
  const options = { title: TITLE, placeHolder, matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick(captures.map(captureItem), options))?.capture;
}
