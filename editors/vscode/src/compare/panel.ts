// A comparison of two captures in a webview: its requests and its page.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { keepPageCurrent, columnNextTo, distFolder } from "../panels";
import { errorReason } from "../plain";
import { warn } from "../remedies";
import { open } from "../show";
import { escaped, webviewPage } from "../webviewPage";
import { ComparedLines, Comparison, FromPage, ToPage } from "./messages";

export const COMPARE_VIEW = "framedex.compare";

const MILLISECOND = 1_000_000;

/** Fills a panel with a comparison, until it is closed. */
export function fill(panel: vscode.WebviewPanel, subject: Comparison, framedex: Framedex): vscode.Disposable {
  let floor: number | undefined;
  let compared: ComparedLines | undefined;

  async function answer(): Promise<ToPage> {
    const { folder, before, after } = subject;
    try {
      compared = (await framedex.server.request<ComparedLines | null>("framedex/compareLines", { folder, before, after, floor })) ?? undefined;
      return compared === undefined
        ? { kind: "nothing", reason: "The index no longer contains both captures." }
        : { kind: "lines", subject, compared };
    } catch (error) {
      return { kind: "nothing", reason: errorReason(error) };
    }
  }

  async function openSource(number: number): Promise<void> {
    const line = compared?.lines[number];
    if (line?.location && !(await open(line.location, false, columnNextTo(panel)))) {
      await warn(`${line.place} cannot be opened.`);
    }
  }

  async function handleMessage(message: FromPage): Promise<unknown> {
    switch (message.kind) {
      case "source":
        return openSource(message.line);
      case "graph":
        return compared && vscode.commands.executeCommand("framedex.diff", { folder: subject.folder, before: compared.before, after: compared.after });
      case "wanted":
        floor = Math.round(Math.max(message.floor, 0) * MILLISECOND);
        return page.send();
    }
  }

  const page = keepPageCurrent(panel, framedex, answer);
  const subscriptions = vscode.Disposable.from(
    panel.webview.onDidReceiveMessage(handleMessage),
    page,
  );
  panel.webview.html = webviewPage(panel.webview, distFolder(framedex), "compare", "Compare captures", body(subject));
  return subscriptions;
}

function body(subject: Comparison): string {
  return `  <main id="comparison" data-subject="${escaped(JSON.stringify(subject))}">
    <header>
      <h1>Compare captures</h1>
      <dl id="sides"></dl>
      <p id="summary" role="status">Comparing…</p>
      <p id="here" hidden></p>
      <div id="controls">
        <label>Ignore time differences below <input id="floor" type="number" min="0" step="any"> ms</label>
        <button id="graph">Flame graph of differences</button>
      </div>
    </header>
    <table id="lines" hidden>
      <thead>
        <tr><th scope="col">Change</th><th scope="col">Before</th><th scope="col">After</th><th scope="col">Line</th><th scope="col">Reason</th></tr>
      </thead>
    </table>
  </main>`;
}
