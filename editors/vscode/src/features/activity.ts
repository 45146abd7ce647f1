// The activity view: captures with their boundary functions, calls and frames, read from the index when opened.

import * as vscode from "vscode";

import { CallNode, callOf, captureOf, CaptureNode, CostNode, FrameNode, MoreCallsNode, Node, CostStackNode } from "../activity/nodes";
import { ActivityTree, TreeOptions, Order } from "../activity/tree";
import { Framedex } from "../framedex";
import { plain } from "../plain";
import { open, openPublic } from "../show";
import { openFrame, openTrace, traceUri } from "../traces";
import { showInStatusBar } from "../why";

const VIEW = "framedex.activity";
const OPTIONS_KEY = "framedex.activity.look";

const ORDERS: readonly (vscode.QuickPickItem & { readonly order: Order })[] = [
  { order: "time", label: "Most time first", detail: "calls: longest first" },
  { order: "calls", label: "Most calls first", detail: "and the calls as they were made" },
  { order: "name", label: "By name", detail: "and the calls as they were made" },
];

export function register({ context, server, stackSelection }: Framedex): vscode.Disposable {
  const savedOptions = context.workspaceState.get<Partial<TreeOptions>>(OPTIONS_KEY, {});
  const tree = new ActivityTree(server, { foldGlue: true, order: "time", ...savedOptions, filter: "" });
  const view = vscode.window.createTreeView<Node>(VIEW, { treeDataProvider: tree, showCollapseAll: true });

  async function setOptions(how: Partial<TreeOptions>): Promise<void> {
    tree.setOptions(how);
    await updateTitle();
    const { foldGlue, order } = tree.options;
    await context.workspaceState.update(OPTIONS_KEY, { foldGlue, order });
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

  async function updateTitle(): Promise<void> {
    const { filter, foldGlue } = tree.options;
    // In a narrow side bar, the title is too short for the filter.
    view.message = filter === "" ? undefined : `Only calls with “${plain(filter)}”`;
    await vscode.commands.executeCommand("setContext", "framedex.activity.filtered", filter !== "");
    await vscode.commands.executeCommand("setContext", "framedex.activity.foldsGlue", foldGlue);
  }

  const commands: Record<string, (node: Node) => unknown> = {
    refresh: () => tree.refresh(),
    filter: () => askForFilter(tree.options.filter).then((filter) => (filter === undefined ? undefined : setOptions({ filter }))),
    clearFilter: () => setOptions({ filter: "" }),
    sort: () => vscode.window.showQuickPick(ORDERS, { title: "framedex: sort" }).then((chosen) => chosen && setOptions(chosen)),
    foldGlue: () => setOptions({ foldGlue: true }),
    showGlue: () => setOptions({ foldGlue: false }),
    showMore: (node) => tree.showMore(node as MoreCallsNode),
    openTrace: (node) => openTrace(uriOf(node as CallNode)),
    openCost: (node) => openCost(node as CostNode),
    openWay: (node) => openTrace(traceUri(captureOf(node)?.folder ?? "", (node as CostStackNode).way.call)),
    openFrame: (node) => openFrame(uriOf(node as FrameNode), (node as FrameNode).frame),
    openPublic: (node) => openPublic((node as FrameNode).frame.url ?? ""),
    selectCapture: (node) => stackSelection.selectCapture(captureOf(node)?.capture.id ?? null, { folder: captureOf(node)?.folder }),
    clearCapture: (node) => stackSelection.selectCapture(null, { folder: captureOf(node)?.folder }),
    openFolder: (node) => openFolder(captureOf(node)),
    show,
  };
  void updateTitle();
  return vscode.Disposable.from(
    tree,
    view,
    server.onDidChangeIndex(() => tree.refresh()),
    // Selecting another capture clears the selected stack.
    stackSelection.onDidChange((stack) => (stack === undefined ? tree.refresh() : undefined)),
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
    showInStatusBar(`This source is not on this machine: ${plain(cost.place)}.`);
  }
}

async function openFolder(capture: CaptureNode | undefined): Promise<void> {
  if (capture !== undefined) {
    const known = await vscode.commands.getCommands();
    const command = known.includes("revealFileInOS") ? "revealFileInOS" : "revealInExplorer"; // a browser has no file manager
    await vscode.commands.executeCommand(command, vscode.Uri.file(capture.capture.path));
  }
}
