// Traces as documents and as Markdown: for a call in the activity view, the cursor's line, or the open trace.

import * as vscode from "vscode";

import { callOf, captureOf, Node } from "../activity/nodes";
import { Framedex } from "../framedex";
import { TraceDocument } from "../server/protocol";
import { cursor, NO_LINE, Place } from "../show";
import { isTrace, openTrace, identifyTrace, TraceName } from "../traces";
import { showInStatusBar, showEmptyAnswerReason } from "../why";

export function register(framedex: Framedex): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("framedex.showTrace", () => show(framedex, cursor())),
    vscode.commands.registerCommand("framedex.copyTrace", (node?: Node) => copy(framedex, findTrace(node))),
  );
}

async function show(framedex: Framedex, place: Place | undefined): Promise<void> {
  if (place === undefined) {
    return showInStatusBar(NO_LINE);
  }
  const found = await framedex.server.request<TraceDocument | null>("framedex/traceDocument", place);
  if (!found) {
    return showEmptyAnswerReason(framedex, "framedex/traceDocument", place, () => show(framedex, place));
  }
  await openTrace(vscode.Uri.parse(found.uri, true));
}

async function copy(framedex: Framedex, target: TraceName | Place | undefined): Promise<void> {
  if (target === undefined) {
    return showInStatusBar(NO_LINE);
  }
  const found = await framedex.server.request<{ text: string } | null>("framedex/traceMarkdown", target);
  if (!found) {
    return showEmptyAnswerReason(framedex, "framedex/traceMarkdown", target, () => copy(framedex, target));
  }
  await vscode.env.clipboard.writeText(found.text);
  showInStatusBar("The trace was copied as Markdown.");
}

function findTrace(node: Node | undefined): TraceName | Place | undefined {
  const call = node && callOf(node);
  const capture = node && captureOf(node);
  if (call !== undefined && capture !== undefined) {
    return { folder: capture.folder, call: call.call.id };
  }
  const document = vscode.window.activeTextEditor?.document;
  return document && isTrace(document) ? identifyTrace(document) : cursor();
}
