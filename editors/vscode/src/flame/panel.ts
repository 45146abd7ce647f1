// A flame graph in a webview: its requests and its page.

import * as vscode from "vscode";
import { Location } from "vscode-languageclient/node";

import { Framedex } from "../framedex";
import { openElsewhere } from "../missingSource";
import { keepPageCurrent, columnNextTo, distFolder } from "../panels";
import { errorReason } from "../plain";
import { warn } from "../remedies";
import { TracedFrame } from "../server/protocol";
import { open } from "../show";
import { escaped, webviewPage } from "../webviewPage";
import { FromPage, Graph, ProgramMemories, Subject, ToPage } from "./messages";

export const FLAME_VIEW = "framedex.flameGraph";

const NO_MEMORY: ProgramMemories = { programs: [], more: 0 };

/** Fills a panel with the graph of a subject, until it is closed. */
export function fill(panel: vscode.WebviewPanel, subject: Subject, framedex: Framedex): vscode.Disposable {
  const { server } = framedex;
  let glue = false;
  let memory = NO_MEMORY;

  async function requestMemory(): Promise<ProgramMemories> {
    try {
      const { folder, capture } = subject;
      return (await server.request<ProgramMemories | null>("framedex/programMemory", { folder, capture })) ?? NO_MEMORY;
    } catch {
      return NO_MEMORY; // the server is too old for this request, and the graph does not need it
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
        const isWhole = boundary === null && before === undefined;
        memory = isWhole ? await requestMemory() : NO_MEMORY;
        return { kind: "graph", subject, graph, memory };
      }
      return { kind: "nothing", subject, reason: graph ? "The index has no such calls." : "No answer from the language server. Check that it is running." };
    } catch (error) {
      return { kind: "nothing", subject, reason: errorReason(error) };
    }
  }

  async function openSource(frame: number): Promise<void> {
    let found: TracedFrame | null | undefined;
    try {
      found = await server.request<TracedFrame | null>("framedex/frame", { folder: subject.folder, frame });
    } catch (error) {
      return warn(errorReason(error));
    }
    if (!found) {
      return warn("The index has changed and no longer contains this frame. Reopen the flame graph.");
    }
    if (found.location === null) {
      return openElsewhere(subject.folder, found);
    }
    return openNextTo(found.location);
  }

  async function openNextTo(location: Location): Promise<void> {
    if (!(await open(location, false, columnNextTo(panel)))) {
      return warn(`${vscode.Uri.parse(location.uri).path} cannot be opened.`);
    }
  }

  async function openLine(program: number, line: number): Promise<void> {
    const found = memory.programs[program]?.lines[line];
    if (!found?.location) {
      return warn(found ? `${found.place} is not on this machine.` : "The index has changed. Reopen the flame graph.");
    }
    return openNextTo(found.location);
  }

  const page = keepPageCurrent(panel, framedex, answer);
  const subscriptions = vscode.Disposable.from(
    panel.webview.onDidReceiveMessage(async (message: FromPage) => {
      if (message.kind === "source") {
        await openSource(message.frame);
      } else if (message.kind === "line") {
        await openLine(message.program, message.line);
      } else {
        glue = message.glue;
        await page.send();
      }
    }),
    page,
  );
  panel.webview.html = webviewPage(panel.webview, distFolder(framedex), "flame", "Flame graph", body(subject));
  return subscriptions;
}

function body(subject: Subject): string {
  return `  <header>
    <h1 id="title"></h1>
    <span id="summary" role="status"></span>
    <span role="group" aria-label="Width of a function">
      <button id="weight-duration">Time</button>
      <button id="weight-calls">Calls</button>
    </span>
    <button id="glue" title="Hide the frames of the interpreter and the glue between languages">Fold glue frames</button>
    <button id="memory-view" hidden title="The live temporaries along the schedule of each program, by line">Memory inside programs</button>
    <button id="reset">Reset zoom</button>
    <input id="search" type="search" placeholder="Search" aria-label="Search functions">
    <span id="found" role="status"></span>
    <span id="legend" role="group" aria-label="Colours">
${legend(subject)}
    </span>
  </header>
  <p id="nothing" hidden></p>
  <main>
    <div id="chart" role="tree" tabindex="0" data-subject="${escaped(JSON.stringify(subject))}"
      aria-label="Flame graph: arrow keys move, Enter zooms, Ctrl+Enter opens the source, Escape resets"></div>
    <div id="memory" hidden></div>
  </main>
  <footer>
    <div id="details" role="status"></div>
    <button id="source" disabled title="Ctrl-click on a function does the same">Go to source</button>
  </footer>`;
}

const KINDS = { python: "Python", native: "C++", boundary: "boundary" };
const CHANGES = { went: "gone", less: "less", same: "about the same", more: "more", came: "new" };

function legend({ before }: Subject): string {
  return Object.entries(before === undefined ? KINDS : CHANGES)
    .map(([kind, name]) => `      <span><span class="legend ${kind}"></span>${name}</span>`)
    .join("\n");
}
