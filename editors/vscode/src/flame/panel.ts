// One flame graph in a webview: what its page asks for, and the page itself.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { openElsewhere } from "../missingSource";
import { reasonOf } from "../plain";
import { warn } from "../remedies";
import { TracedFrame } from "../server/protocol";
import { open } from "../show";
import { FromPage, Graph, Subject, ToPage } from "./messages";

export const FLAME_VIEW = "framedex.flameGraph";

/** Fills a panel with the graph of a subject, until it is closed. */
export function fill(panel: vscode.WebviewPanel, subject: Subject, { context, server }: Framedex): vscode.Disposable {
  const dist = vscode.Uri.joinPath(context.extensionUri, "dist");
  let glue = false;
  let isClosed = false;
  panel.webview.options = { enableScripts: true, localResourceRoots: [dist] };
  panel.iconPath = vscode.Uri.joinPath(context.extensionUri, "media", "icon.svg");

  async function send(): Promise<void> {
    const message = await answer();
    if (!isClosed) {
      await panel.webview.postMessage(message);
    }
  }

  async function answer(): Promise<ToPage> {
    const { folder, capture, boundary, before } = subject;
    try {
      const graph =
        before === undefined
          ? await server.request<Graph | null>("framedex/flameGraph", { folder, capture, boundary, glue })
          : await server.request<Graph | null>("framedex/flameGraphOfDifferences", { folder, before, after: capture, glue });
      if (graph && graph.nodes.length > 0) {
        return { kind: "graph", subject, graph };
      }
      return { kind: "nothing", subject, reason: graph ? "No such calls are in the index." : "The language server has no answer: does it run?" };
    } catch (error) {
      return { kind: "nothing", subject, reason: reasonOf(error) };
    }
  }

  async function openSource(frame: number): Promise<void> {
    let found: TracedFrame | null | undefined;
    try {
      found = await server.request<TracedFrame | null>("framedex/frame", { folder: subject.folder, frame });
    } catch (error) {
      return warn(reasonOf(error));
    }
    if (!found) {
      return warn("This frame is not in the index any more: the flame graph was made before.");
    }
    if (found.location === null) {
      return openElsewhere(subject.folder, found);
    }
    const column = panel.viewColumn === vscode.ViewColumn.One ? vscode.ViewColumn.Two : vscode.ViewColumn.One;
    if (!(await open(found.location, false, column))) {
      return warn(`${vscode.Uri.parse(found.location.uri).path} cannot be opened.`);
    }
  }

  const subscriptions = vscode.Disposable.from(
    panel.webview.onDidReceiveMessage(async (message: FromPage) => {
      if (message.kind === "source") {
        await openSource(message.frame);
      } else {
        glue = message.glue;
        await send();
      }
    }),
    server.onDidChangeIndex(send),
    new vscode.Disposable(() => (isClosed = true)),
  );
  panel.webview.html = page(panel.webview, dist, subject);
  return subscriptions;
}

function page(webview: vscode.Webview, dist: vscode.Uri, subject: Subject): string {
  const nonce = randomBytes(16).toString("base64");
  const file = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(dist, name)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="UTF-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <link rel="stylesheet" href="${file("flame.css")}">
  <title>Flame graph</title>
</head>
<body>
  <header>
    <h1 id="title"></h1>
    <span id="summary" role="status"></span>
    <span role="group" aria-label="Width of a function">
      <button id="weight-duration">Time</button>
      <button id="weight-calls">Calls</button>
    </span>
    <button id="glue" title="Pass over the frames of the interpreter and between the languages">Fold glue frames</button>
    <button id="reset">Reset zoom</button>
    <input id="search" type="search" placeholder="Search" aria-label="Search functions">
    <span id="found" role="status"></span>
    <span id="legend">
${legend(subject)}
    </span>
  </header>
  <p id="nothing" hidden></p>
  <main id="chart" tabindex="0" data-subject="${escaped(JSON.stringify(subject))}"
    aria-label="Flame graph: arrow keys move, Enter zooms, Ctrl+Enter opens the source, Escape resets"></main>
  <footer>
    <div id="details" role="status"></div>
    <button id="source" disabled title="Ctrl-click on a function does the same">Go to source</button>
  </footer>
  <script nonce="${nonce}" src="${file("flame.js")}"></script>
</body>
</html>`;
}

const KINDS = { python: "Python", native: "C++", boundary: "boundary" };
const CHANGES = { went: "went", less: "less", same: "same", more: "more", came: "came" };

function legend({ before }: Subject): string {
  return Object.entries(before === undefined ? KINDS : CHANGES)
    .map(([kind, name]) => `      <span><span class="legend ${kind}"></span>${name}</span>`)
    .join("\n");
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
