// Traces as documents and as Markdown: of a call in the activity view, of the line of the cursor, of the open trace.

import * as vscode from "vscode";

import { callOf, captureOf, Node } from "../activity/nodes";
import { Framedex } from "../framedex";
import { sayNoCalls } from "../noCalls";
import { Elsewhere, foundIn, TraceDocument } from "../server/protocol";
import { cursor, Place } from "../show";
import { isTrace, openTrace, traceIn, TraceName } from "../traces";

export function register(framedex: Framedex): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("framedex.showTrace", () => show(framedex, cursor())),
    vscode.commands.registerCommand("framedex.copyTrace", (node?: Node) => copy(framedex, meantBy(node))),
  );
}

async function show(framedex: Framedex, place: Place | undefined): Promise<void> {
  const found = place && foundIn(await framedex.server.request<TraceDocument | Elsewhere | null>("framedex/traceDocument", place));
  if (!found) {
    await sayNoCalls(framedex, place, () => show(framedex, place));
    return;
  }
  await openTrace(vscode.Uri.parse(found.uri, true));
}

async function copy(framedex: Framedex, meant: TraceName | Place | undefined): Promise<void> {
  const found = meant && foundIn(await framedex.server.request<{ text: string } | Elsewhere | null>("framedex/traceMarkdown", meant));
  if (!found) {
    await sayNoCalls(framedex, meant && "position" in meant ? meant : undefined, () => copy(framedex, meant));
    return;
  }
  await vscode.env.clipboard.writeText(found.text);
  vscode.window.setStatusBarMessage("framedex: The trace was copied as Markdown.", 5_000);
}

function meantBy(node: Node | undefined): TraceName | Place | undefined {
  const call = node && callOf(node);
  const capture = node && captureOf(node);
  if (call !== undefined && capture !== undefined) {
    return { folder: capture.folder, call: call.call.id };
  }
  const document = vscode.window.activeTextEditor?.document;
  return document && isTrace(document) ? traceIn(document) : cursor();
}
