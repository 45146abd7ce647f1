// Opens the sources of frames that a text names by path or symbol; the server finds the sources.

import * as path from "node:path";
import * as vscode from "vscode";

import { Framedex } from "./framedex";
import { showNotRunning } from "./notRunning";
import { errorReason, withoutIcons } from "./plain";
import { warn } from "./remedies";
import { ResolvedFrame } from "./server/protocol";
import { isPublic, open, openPublic } from "./show";

/** Lines and columns count from 1. */
export type NamedFrame = { readonly path: string; readonly line: number; readonly column: number } | { readonly symbol: string };

type Candidate = ResolvedFrame["locations"][number];

/** Opens the source of a frame; the user chooses among several. `folder` is the base of relative paths. */
export async function openNamed({ server }: Framedex, frame: NamedFrame, folder: vscode.Uri | undefined): Promise<boolean> {
  const beside = folder?.scheme === "file" ? { textDocument: { uri: vscode.Uri.joinPath(folder, "terminal").toString() } } : {};
  const wanted = "symbol" in frame ? { symbol: frame.symbol } : { path: frame.path, line: frame.line };
  let resolved: ResolvedFrame | undefined;
  try {
    resolved = await server.request<ResolvedFrame>("framedex/resolveFrame", { ...wanted, ...beside });
  } catch (error) {
    return showMessage(errorReason(error));
  }
  if (resolved === undefined) {
    void showNotRunning();
    return false;
  }
  const location = await pick(resolved.locations);
  if (location !== undefined) {
    const range = "column" in frame ? moveToColumn(location, frame.column) : location.range;
    return (await open({ uri: location.uri, range })) || showMessage(`${vscode.Uri.parse(location.uri).fsPath} cannot be opened.`);
  }
  if (resolved.locations.length === 0) {
    openElsewhere(resolved);
  }
  return false;
}

async function pick(locations: readonly Candidate[]): Promise<Candidate | undefined> {
  if (locations.length <= 1) {
    return locations[0];
  }
  const items = locations.map((location) => ({
    label: `${withoutIcons(path.basename(vscode.Uri.parse(location.uri).path))}:${location.range.start.line + 1}`,
    description: location.how,
    detail: withoutIcons(vscode.Uri.parse(location.uri).fsPath),
    location,
  }));
  const title = "framedex: the frame may be any of these";
  return (await vscode.window.showQuickPick(items, { title, matchOnDetail: true }))?.location;
}

/** Opens the public page of a frame whose source is missing; without a page, shows the reason. */
function openElsewhere({ url, message }: ResolvedFrame): void {
  void (url !== null && isPublic(url) ? openPublic(url) : warn(message ?? "Its source is unknown."));
}

/** The column in the text if there is one, else the first non-blank column. */
function moveToColumn({ range }: Candidate, column: number): Candidate["range"] {
  const start = column > 1 ? { line: range.start.line, character: column - 1 } : range.start;
  return { start, end: start };
}

function showMessage(message: string): false {
  void warn(message);
  return false;
}
