// Shows a page of docs/how-to, which the extension carries: the actions of cost problems link to them.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { warn } from "../remedies";

export function register({ context }: Framedex): vscode.Disposable {
  return vscode.commands.registerCommand("framedex.openHowTo", async (given?: { readonly page?: unknown }) => {
    const page = given?.page;
    if (typeof page !== "string" || !/^[a-z-]+$/.test(page)) {
      return;
    }
    const file = vscode.Uri.joinPath(context.extensionUri, "docs", "how-to", `${page}.md`);
    try {
      await vscode.workspace.fs.stat(file);
      await vscode.commands.executeCommand("markdown.showPreview", file);
    } catch {
      void warn(`This version of the extension has no how-to page about ${page}.`);
    }
  });
}
