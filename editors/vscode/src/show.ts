// Positions in source files: the cursor's position, and opening a position.

import * as vscode from "vscode";
import { Location } from "vscode-languageclient/node";

export interface Place {
  readonly textDocument: { readonly uri: string };
  readonly position: { readonly line: number; readonly character: number };
}

/** A position as request parameters. */
function placeOf(uri: vscode.Uri, position: vscode.Position): Place {
  return { textDocument: { uri: uri.toString() }, position: { line: position.line, character: position.character } };
}

/** The message if the cursor is not in a file. */
export const NO_LINE = "Put the cursor on a line of a source file first.";

/** The position of the cursor in a file. */
export function cursor(): Place | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor?.document.uri.scheme === "file" ? placeOf(editor.document.uri, editor.selection.active) : undefined;
}

/** The argument of a command link from the server, if it is a position. */
export function placeIn(given: unknown): Place | undefined {
  const { textDocument, position } = (given ?? {}) as Partial<Record<"textDocument" | "position", Record<string, unknown>>>;
  const uri = textDocument?.["uri"];
  const [line, character] = [position?.["line"], position?.["character"]];
  const isPlace = typeof uri === "string" && isIndex(line) && isIndex(character);
  return isPlace ? { textDocument: { uri }, position: { line, character } } : undefined;
}

/** Opens a position, in the active editor group unless another is given; returns false if it cannot be opened. */
export async function open(location: Location, preserveFocus = false, column?: vscode.ViewColumn): Promise<boolean> {
  const uri = vscode.Uri.parse(location.uri, true);
  const { line, character } = location.range.start;
  const here = new vscode.Position(line, character);
  try {
    const editor = await vscode.window.showTextDocument(uri, {
      viewColumn: column ?? vscode.window.activeTextEditor?.viewColumn ?? vscode.ViewColumn.Active,
      preserveFocus,
      selection: new vscode.Range(here, here),
    });
    editor.revealRange(new vscode.Range(here, here), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    return true;
  } catch {
    return false; // the file was removed, or is not a text file
  }
}

/** Opens a public URL in the browser; only web URLs, because it comes from an index. */
export async function openPublic(url: string): Promise<void> {
  if (isPublic(url)) {
    await vscode.env.openExternal(vscode.Uri.parse(url, true));
  }
}

export function isPublic(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

function isIndex(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}
