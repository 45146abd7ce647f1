// “Show flame graph”, of a capture, of one boundary function in it, or of what two captures differ in: a panel for each.

import * as vscode from "vscode";

import { BoundaryNode, CaptureNode } from "../activity/nodes";
import { captureItem } from "../captureItems";
import { choosePair } from "../capturePair";
import { Subject } from "../flame/messages";
import { fill, FLAME_VIEW } from "../flame/panel";
import { Framedex } from "../framedex";
import { plain } from "../plain";
import { Capture, ListedIndex } from "../server/protocol";
import { sayWhy } from "../why";

interface SubjectItem extends vscode.QuickPickItem {
  readonly subject: Subject;
}

export function register(framedex: Framedex): vscode.Disposable {
  const panels = new Map<string, vscode.WebviewPanel>();

  function show(panel: vscode.WebviewPanel, subject: Subject): void {
    const key = JSON.stringify(subject);
    panels.set(key, panel);
    const filled = fill(panel, subject, framedex);
    panel.onDidDispose(() => {
      panels.delete(key);
      filled.dispose();
    });
  }

  function open(subject: Subject | undefined): void {
    const known = subject && panels.get(JSON.stringify(subject));
    if (known !== undefined) {
      known.reveal();
    } else if (subject !== undefined) {
      const options = { retainContextWhenHidden: true };
      show(vscode.window.createWebviewPanel(FLAME_VIEW, `Flame graph: ${subject.title}`, vscode.ViewColumn.Active, options), subject);
    }
  }

  return vscode.Disposable.from(
    new vscode.Disposable(() => panels.forEach((panel) => panel.dispose())),
    vscode.commands.registerCommand("framedex.flameGraph", async (node?: CaptureNode | BoundaryNode) =>
      open(node === undefined ? await choose(framedex) : subjectOf(node)),
    ),
    vscode.commands.registerCommand("framedex.diff", async (node?: CaptureNode) => open(await chooseTwo(framedex, node))),
    vscode.window.registerWebviewPanelSerializer(FLAME_VIEW, {
      async deserializeWebviewPanel(panel, state: { subject?: Subject } | undefined) {
        if (isSubject(state?.subject)) {
          show(panel, state.subject);
        } else {
          panel.dispose();
        }
      },
    }),
  );
}

function subjectOf(node: CaptureNode | BoundaryNode): Subject {
  if (node.kind === "capture") {
    return ofCapture(node.folder, node.capture);
  }
  const { folder, capture } = node.parent;
  return { folder, capture: capture.id, boundary: node.boundary.id, title: plain(node.boundary.function, 60) };
}

function ofCapture(folder: string, capture: Capture): Subject {
  return { folder, capture: capture.id, boundary: null, title: plain(capture.name, 60) };
}

/** The only capture, or the one that the reader chooses. */
async function choose(framedex: Framedex): Promise<Subject | undefined> {
  const listed = await framedex.server.request<{ indexes: ListedIndex[] }>("framedex/indexes");
  const items: SubjectItem[] = (listed?.indexes ?? []).flatMap(({ folder, captures }) =>
    captures.map((capture) => ({ ...captureItem(capture), subject: ofCapture(folder, capture) })),
  );
  if (items.length === 0) {
    await sayWhy(framedex, "framedex/captures");
  }
  return items.length > 1
    ? (await vscode.window.showQuickPick(items, { title: "framedex: flame graph", placeHolder: "Of which capture?" }))?.subject
    : items[0]?.subject;
}

/** Two captures of one index: of the one that is given, else of that which the reader chooses where there are several. */
async function chooseTwo(framedex: Framedex, node: CaptureNode | undefined): Promise<Subject | undefined> {
  const listed = await framedex.server.request<{ indexes: ListedIndex[] }>("framedex/indexes");
  const indexes = (listed?.indexes ?? []).filter(({ folder, captures }) => captures.length > 0 && (node === undefined || folder === node.folder));
  if (indexes.length === 0) {
    await sayWhy(framedex, "framedex/captures");
    return undefined;
  }
  const items = indexes.map((index) => ({ label: plain(index.folder, 200), index }));
  const chosen = items.length > 1 ? await vscode.window.showQuickPick(items, { title: "framedex: flame graph of differences", placeHolder: "In which folder?" }) : items[0];
  const pair = chosen && (await choosePair(chosen.index.captures, node?.capture));
  if (chosen === undefined || pair === undefined) {
    return undefined;
  }
  const [before, after] = pair;
  const title = `${before.id} → ${after.id}, ${plain(after.name, 60)}`;
  return { folder: chosen.index.folder, capture: after.id, boundary: null, before: before.id, title };
}

function isSubject(subject: Subject | undefined): subject is Subject {
  return typeof subject?.folder === "string" && typeof subject.capture === "number" && typeof subject.title === "string";
}
