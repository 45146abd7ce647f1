// Trace documents: identifies their calls, and opens them, alone or next to the source of a frame.

import * as path from "node:path";
import * as vscode from "vscode";

import { openElsewhere } from "./missingSource";
import { open } from "./show";
import { TracedFrame } from "./server/protocol";

const TRACE_SCHEME = "framedex-trace";
export const TRACE_LANGUAGE = "framedex-trace";

const NAME = /^(call|stack)-(\d{1,15})\.fdtrace$/;
const HEADING = /^call (\d{1,15}): /m;
const FRAME = /^ *\d+ [PN] /;
// Characters at the start of a document that are searched for its call.
const HEAD_LENGTH = 2_000;

/** The request parameters that identify a trace and its index. */
export interface TraceName {
  readonly folder: string;
  readonly call?: number;
  readonly stack?: number;
}

/** The document of a call; the server creates its text when it opens. */
export function traceUri(folder: string, call: number): vscode.Uri {
  return vscode.Uri.from({ scheme: TRACE_SCHEME, path: `${folder}/call-${call}.fdtrace` });
}

export function isTrace(document: vscode.TextDocument): boolean {
  return document.languageId === TRACE_LANGUAGE;
}

/** Identifies the trace of a document by its name, else by its text; undefined if neither does. */
export function identifyTrace(document: vscode.TextDocument): TraceName | undefined {
  const folder = document.uri.path.replace(/\/[^/]*$/, "") || "/";
  const [, kind, id] = NAME.exec(document.uri.path.slice(folder.length).replace(/^\//, "")) ?? [];
  if (document.uri.scheme === TRACE_SCHEME && id !== undefined) {
    return kind === "stack" ? { folder, stack: Number(id) } : { folder, call: Number(id) };
  }
  const [, call] = HEADING.exec(document.getText(new vscode.Range(0, 0, 5, HEAD_LENGTH))) ?? [];
  return isTrace(document) && call !== undefined ? { folder, call: Number(call) } : undefined;
}

/** Opens the trace of a call in the active editor group, at the frame with this position if given. */
export async function openTrace(uri: vscode.Uri, position?: number, preserveFocus = false): Promise<vscode.TextEditor> {
  const document = await vscode.workspace.openTextDocument(uri);
  const line = position === undefined ? undefined : findFrameLine(document, position);
  const editor = await vscode.window.showTextDocument(document, { viewColumn: traceColumn(), preserveFocus });
  if (line !== undefined) {
    // Glue is folded when a trace opens, and a cursor in a fold is moved to its head.
    await vscode.commands.executeCommand("editor.unfold", { selectionLines: [line] });
    editor.selection = new vscode.Selection(line, 0, line, 0);
    editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
  return editor;
}

/** Opens the trace at a frame, and next to it the frame's source or public page; keeps the focus. */
export async function openFrame(uri: vscode.Uri, frame: TracedFrame & { readonly position: number }): Promise<void> {
  const trace = await openTrace(uri, frame.position, true);
  if (frame.location === null) {
    void openElsewhere(path.posix.dirname(uri.path), frame);
    return;
  }
  const beside = trace.viewColumn === vscode.ViewColumn.One ? vscode.ViewColumn.Two : vscode.ViewColumn.One;
  await open(frame.location, true, beside);
}

/** The line of the n-th frame of all stacks in a trace document. */
function findFrameLine(document: vscode.TextDocument, position: number): number | undefined {
  let seen = 0;
  for (let line = 0; line < document.lineCount; line++) {
    if (FRAME.test(document.lineAt(line).text) && seen++ === position) {
      return line;
    }
  }
  return undefined;
}

/** The column in which a trace is already open, else the active one. */
function traceColumn(): vscode.ViewColumn {
  const open = vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === TRACE_SCHEME);
  return open?.viewColumn ?? vscode.window.activeTextEditor?.viewColumn ?? vscode.ViewColumn.One;
}
