// The activity view: captures with their boundary functions, calls and frames, read from the index when opened.

import * as vscode from "vscode";

import { CallNode, callOf, captureOf, CaptureNode, CostNode, FrameNode, MoreNode, Node, WayNode } from "../activity/nodes";
import { ActivityTree, Look, Order } from "../activity/tree";
import { Framedex } from "../framedex";
import { plain } from "../plain";
import { open, openPublic } from "../show";
import { openFrame, openTrace, traceUri } from "../traces";
import { sayBriefly } from "../why";

const VIEW = "framedex.activity";
const LOOK = "framedex.activity.look";

const ORDERS: readonly (vscode.QuickPickItem & { readonly order: Order })[] = [
  { order: "time", label: "Most time first", detail: "calls: longest first" },
  { order: "calls", label: "Most calls first", detail: "and the calls as they were made" },
  { order: "name", label: "By name", detail: "and the calls as they were made" },
];

export function register({ context, server, picked }: Framedex): vscode.Disposable {
  const kept = context.workspaceState.get<Partial<Look>>(LOOK, {});
  const tree = new ActivityTree(server, { foldGlue: true, order: "time", ...kept, filter: "" });
  const view = vscode.window.createTreeView<Node>(VIEW, { treeDataProvider: tree, showCollapseAll: true });

  async function look(how: Partial<Look>): Promise<void> {
    tree.lookAt(how);
    await tell();
    const { foldGlue, order } = tree.look;
    await context.workspaceState.update(LOOK, { foldGlue, order });
  }

  /** Shows the view, with the focus on its first item. */
  async function show(): Promise<void> {
    const [first] = await tree.getChildren();
    if (first !== undefined) {
      await view.reveal(first, { focus: true, select: false });
    }
    // Set the focus last: a view that is still loading its items would lose it.
    await vscode.commands.executeCommand(`${VIEW}.focus`);
  }

  async function tell(): Promise<void> {
    const { filter, foldGlue } = tree.look;
    // The title has no room for it in a narrow side bar.
    view.message = filter === "" ? undefined : `Only calls with “${plain(filter)}”`;
    await vscode.commands.executeCommand("setContext", "framedex.activity.filtered", filter !== "");
    await vscode.commands.executeCommand("setContext", "framedex.activity.foldsGlue", foldGlue);
  }

  const commands: Record<string, (node: Node) => unknown> = {
    refresh: () => tree.refresh(),
    filter: () => askForFilter(tree.look.filter).then((filter) => (filter === undefined ? undefined : look({ filter }))),
    clearFilter: () => look({ filter: "" }),
    sort: () => vscode.window.showQuickPick(ORDERS, { title: "framedex: sort" }).then((chosen) => chosen && look(chosen)),
    foldGlue: () => look({ foldGlue: true }),
    showGlue: () => look({ foldGlue: false }),
    showMore: (node) => tree.showMore(node as MoreNode),
    openTrace: (node) => openTrace(uriOf(node as CallNode)),
    openCost: (node) => openCost(node as CostNode),
    openWay: (node) => openTrace(traceUri(captureOf(node)?.folder ?? "", (node as WayNode).way.call)),
    openFrame: (node) => openFrame(uriOf(node as FrameNode), (node as FrameNode).frame),
    openPublic: (node) => openPublic((node as FrameNode).frame.url ?? ""),
    selectCapture: (node) => picked.answerFrom(captureOf(node)?.capture.id ?? null, { folder: captureOf(node)?.folder }),
    clearCapture: (node) => picked.answerFrom(null, { folder: captureOf(node)?.folder }),
    openFolder: (node) => openFolder(captureOf(node)),
    show,
  };
  void tell();
  return vscode.Disposable.from(
    tree,
    view,
    server.onDidChangeIndex(() => tree.refresh()),
    // Selecting another capture clears the selected stack.
    picked.onDidChange((stack) => (stack === undefined ? tree.refresh() : undefined)),
    ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(`${VIEW}.${name}`, run)),
  );
}

async function askForFilter(filter: string): Promise<string | undefined> {
  const given = await vscode.window.showInputBox({
    title: "framedex: filter",
    prompt: "Calls whose boundary function, arguments, or a function or file on their stack contain this text",
    value: filter,
  });
  return given?.trim();
}

/** The trace of a node's call. */
function uriOf(node: CallNode | FrameNode): vscode.Uri {
  const { call, parent } = callOf(node) as CallNode;
  return traceUri(parent.parent.folder, call.id);
}

async function openCost({ cost }: CostNode): Promise<void> {
  if (cost.location === null || !(await open(cost.location))) {
    sayBriefly(`This source is not on this machine: ${plain(cost.place)}.`);
  }
}

async function openFolder(capture: CaptureNode | undefined): Promise<void> {
  if (capture !== undefined) {
    const known = await vscode.commands.getCommands();
    const command = known.includes("revealFileInOS") ? "revealFileInOS" : "revealInExplorer"; // there is none in a browser
    await vscode.commands.executeCommand(command, vscode.Uri.file(capture.capture.path));
  }
}
