// Webview panels of one kind: one per subject, revealed if it is open, and restored after a reload of the window.

import * as vscode from "vscode";

import { Framedex } from "./framedex";

/** The folder of the pages' files: pages cannot load any other file of the extension. */
export function distFolder({ context }: Framedex): vscode.Uri {
  return vscode.Uri.joinPath(context.extensionUri, "dist");
}

/** The column next to a panel. */
export function columnNextTo(panel: vscode.WebviewPanel): vscode.ViewColumn {
  return panel.viewColumn === vscode.ViewColumn.One ? vscode.ViewColumn.Two : vscode.ViewColumn.One;
}

/** Sends data to the page of a panel; `send` does nothing after the panel is disposed. */
export interface PageUpdater extends vscode.Disposable {
  send(): Promise<void>;
}

/** Sends data to the page of a panel after changes of the index, and whenever `send` is called. */
export function keepPageCurrent(panel: vscode.WebviewPanel, { server }: Framedex, answer: () => Promise<unknown>): PageUpdater {
  let isClosed = false;

  async function send(): Promise<void> {
    const message = await answer();
    if (!isClosed) {
      await panel.webview.postMessage(message);
    }
  }

  const subscription = server.onDidChangeIndex(send);
  return {
    send,
    dispose(): void {
      isClosed = true;
      subscription.dispose();
    },
  };
}

export class Panels<Subject> implements vscode.Disposable {
  private readonly panels = new Map<string, vscode.WebviewPanel>();
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly framedex: Framedex,
    private readonly view: string,
    private readonly fill: (panel: vscode.WebviewPanel, subject: Subject) => vscode.Disposable,
    isSubject: (subject: unknown) => subject is Subject,
  ) {
    this.subscription = vscode.window.registerWebviewPanelSerializer(view, {
      deserializeWebviewPanel: async (panel, state: { subject?: unknown } | undefined) => {
        const subject = state?.subject;
        if (isSubject(subject)) {
          this.show(panel, subject);
        } else {
          panel.dispose();
        }
      },
    });
  }

  open(subject: Subject, title: string): void {
    const known = this.panels.get(JSON.stringify(subject));
    if (known !== undefined) {
      known.reveal();
    } else {
      this.show(vscode.window.createWebviewPanel(this.view, title, vscode.ViewColumn.Active, { retainContextWhenHidden: true }), subject);
    }
  }

  dispose(): void {
    this.subscription.dispose();
    this.panels.forEach((panel) => panel.dispose());
  }

  private show(panel: vscode.WebviewPanel, subject: Subject): void {
    const key = JSON.stringify(subject);
    this.panels.set(key, panel);
    panel.webview.options = { enableScripts: true, localResourceRoots: [distFolder(this.framedex)] };
    panel.iconPath = vscode.Uri.joinPath(this.framedex.context.extensionUri, "media", "icon.svg");
    const filled = this.fill(panel, subject);
    panel.onDidDispose(() => {
      this.panels.delete(key);
      filled.dispose();
    });
  }
}
