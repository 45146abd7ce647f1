// Selection of the capture that restricts answers.

import * as vscode from "vscode";

import { CaptureItem, captureItem } from "../captureItems";
import { Framedex } from "../framedex";
import { Captures } from "../server/protocol";
import { showEmptyAnswerReason } from "../why";

export function register(framedex: Framedex): vscode.Disposable {
  const { server, stackSelection } = framedex;
  return vscode.commands.registerCommand("framedex.pickCapture", async () => {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const about = uri?.scheme === "file" ? { textDocument: { uri: uri.toString() } } : {};
    const known = await server.request<Captures | null>("framedex/captures", about);
    if (!known || known.captures.length === 0) {
      return showEmptyAnswerReason(framedex, "framedex/captures", about);
    }
    const chosen = await vscode.window.showQuickPick(items(known), {
      title: "framedex: captures",
      placeHolder: "Restrict answers to one capture",
      matchOnDescription: true,
      matchOnDetail: true,
    });
    if (chosen === undefined) {
      return;
    }
    await stackSelection.selectCapture(chosen.capture?.id ?? null, about);
  });
}

/** The capture of the item; undefined for the item that removes the restriction. */
function items({ captures, selected }: Captures): (vscode.QuickPickItem & Partial<CaptureItem>)[] {
  const listed = captures.map(captureItem).map((item) =>
    item.capture.id === selected ? { ...item, description: `${item.description}, picked` } : item,
  );
  return [{ label: "Captures that the project's settings select", description: selected === null ? "picked" : "" }, ...listed];
}
