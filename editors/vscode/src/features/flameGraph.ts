// “Show flame graph”: of a capture, of one of its boundary functions, or of the differences between two captures.

import * as vscode from "vscode";

import { BoundaryNode, CaptureNode } from "../activity/nodes";
import { captureItem } from "../captureItems";
import { CapturePair, choosePair } from "../capturePair";
import { Subject } from "../flame/messages";
import { fill, FLAME_VIEW } from "../flame/panel";
import { Framedex } from "../framedex";
import { Panels } from "../panels";
import { plain } from "../plain";
import { Capture, ListedIndex } from "../server/protocol";
import { showEmptyAnswerReason } from "../why";

interface SubjectItem extends vscode.QuickPickItem {
  readonly subject: Subject;
}

export function register(framedex: Framedex): vscode.Disposable {
  const panels = new Panels<Subject>(framedex, FLAME_VIEW, (panel, subject) => fill(panel, subject, framedex), isSubject);

  function open(subject: Subject | undefined): void {
    if (subject !== undefined) {
      panels.open(subject, `Flame graph: ${subject.title}`);
    }
  }

  return vscode.Disposable.from(
    panels,
    vscode.commands.registerCommand("framedex.flameGraph", async (node?: CaptureNode | BoundaryNode) =>
      open(node === undefined ? await choose(framedex) : nodeSubject(node)),
    ),
    // Called with a node of the tree, or with the pair of a comparison.
    vscode.commands.registerCommand("framedex.diff", async (given?: CaptureNode | CapturePair) => {
      const pair = given !== undefined && "before" in given ? given : await choosePair(framedex, given);
      open(pair && pairSubject(pair));
    }),
  );
}

function nodeSubject(node: CaptureNode | BoundaryNode): Subject {
  if (node.kind === "capture") {
    return captureSubject(node.folder, node.capture);
  }
  const { folder, capture } = node.parent;
  return { folder, capture: capture.id, boundary: node.boundary.id, title: `capture ${capture.id}: ${plain(node.boundary.function, 60)}` };
}

function captureSubject(folder: string, capture: Capture): Subject {
  return { folder, capture: capture.id, boundary: null, title: `capture ${capture.id}: ${plain(capture.name, 60)}` };
}

/** The only capture, or the one that the user chooses. */
async function choose(framedex: Framedex): Promise<Subject | undefined> {
  const listed = await framedex.server.request<{ indexes: ListedIndex[] }>("framedex/indexes");
  const items: SubjectItem[] = (listed?.indexes ?? []).flatMap(({ folder, captures }) =>
    captures.map((capture) => ({ ...captureItem(capture), subject: captureSubject(folder, capture) })),
  );
  if (items.length === 0) {
    await showEmptyAnswerReason(framedex, "framedex/captures");
  }
  return items.length > 1
    ? (await vscode.window.showQuickPick(items, { title: "framedex: flame graph", placeHolder: "Of which capture?" }))?.subject
    : items[0]?.subject;
}

function pairSubject({ folder, before, after }: CapturePair): Subject {
  return { folder, capture: after.id, boundary: null, before: before.id, title: `${before.id} → ${after.id}, ${plain(after.name, 60)}` };
}

function isSubject(subject: unknown): subject is Subject {
  const { folder, capture, title } = (subject ?? {}) as Partial<Subject>;
  return typeof folder === "string" && typeof capture === "number" && typeof title === "string";
}
