// The tree of the activity view: each level is requested from the server when it is opened.

import * as vscode from "vscode";

import { Boundary, Call, CallFrames, CostAnswer, Costs, ListedIndex } from "../server/protocol";
import { Server } from "../server/server";
import {
  AnswerNode,
  BoundaryNode,
  CallNode,
  CaptureNode,
  CostNode,
  FrameNode,
  GlueNode,
  nodeKey,
  MoreCallsNode,
  Node,
  NumberedFrame,
  StackNode,
} from "./nodes";
import { count } from "../words";
import { createItem } from "./items";

const PAGE_SIZE = 50;
/** The maximum number of calls in one answer of the server. */
const MAX_PAGE_SIZE = 1_000;

const ANSWERS: readonly CostAnswer[] = ["compiles", "transfers", "memory", "waits"];

export type Order = "time" | "calls" | "name";

/** The order and filter of the tree; an empty `filter` means no filter. */
export interface TreeOptions {
  readonly filter: string;
  readonly foldGlue: boolean;
  readonly order: Order;
}

export class ActivityTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  /** The number of calls to show per boundary function, if more than the first page. */
  private readonly wanted = new Map<string, number>();
  /** The calls already read, by boundary function. A refresh replaces the map. */
  private read = new Map<string, readonly Call[]>();
  /** The number of a capture's calls that match the filter, once its boundary functions were listed. */
  private readonly matchingCalls = new Map<string, number>();
  /** The total of all lines of an answer, once they were listed. */
  private readonly totals = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<Node | undefined>();

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly server: Server,
    private current: TreeOptions,
  ) {}

  get options(): TreeOptions {
    return this.current;
  }

  /** Refreshes the tree after a change of the index. */
  refresh(): void {
    this.matchingCalls.clear();
    this.totals.clear();
    this.read = new Map();
    this.changed.fire(undefined);
  }

  /** Shows the tree in another order or with another filter. */
  setOptions(options: Partial<TreeOptions>): void {
    this.current = { ...this.current, ...options };
    this.wanted.clear();
    this.refresh();
  }

  /** Shows the next page of the calls of a boundary function. */
  showMore({ parent, shown, next }: MoreCallsNode): void {
    this.wanted.set(nodeKey(parent), shown + next);
    this.changed.fire(parent);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const key = nodeKey(node);
    return createItem(node, { matchingCalls: this.matchingCalls.get(key), total: this.totals.get(key) });
  }

  getParent(node: Node): Node | undefined {
    return node.parent;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    switch (node?.kind) {
      case undefined:
        return this.roots();
      case "index":
        return captures(node.index, node);
      case "capture":
        return [...this.answers(node), ...(await this.boundaries(node))];
      case "answer":
        return this.costs(node);
      case "cost":
        return costStackNodes(node);
      case "boundary":
        return this.calls(node);
      case "call":
        return this.stacks(node);
      case "stack":
        return this.frames(node, node.frames);
      case "glue":
        return node.frames.map((frame) => ({ kind: "frame", parent: node, frame }));
      case "way":
      case "note":
      case "more":
      case "frame":
        return [];
    }
  }

  dispose(): void {
    this.changed.dispose();
  }

  private async roots(): Promise<Node[]> {
    const listed = await this.server.request<{ indexes: ListedIndex[] }>("framedex/indexes");
    const indexes = (listed?.indexes ?? []).filter((index) => index.captures.length > 0 || index.problem !== null);
    const [first] = indexes;
    return indexes.length === 1 && first?.problem === null
      ? captures(first, undefined)
      : indexes.map((index) => ({ kind: "index", parent: undefined, index }));
  }

  /** Costs cover all calls, so they are hidden while a filter is set. */
  private answers(capture: CaptureNode): Node[] {
    return this.current.filter === "" ? ANSWERS.map((answer) => ({ kind: "answer", parent: capture, answer })) : [];
  }

  private async costs(node: AnswerNode): Promise<Node[]> {
    const { folder, capture } = node.parent;
    const params = { folder, capture: capture.id, answer: node.answer };
    const { text, lines, more } = (await this.server.request<Costs | null>("framedex/costs", params)) ?? NO_COSTS;
    const key = nodeKey(node);
    // VS Code requests the lines again with the row, which then shows the total.
    if (this.totals.get(key) !== text) {
      this.totals.set(key, text);
      this.changed.fire(node);
    }
    const nodes = lines.map<Node>((cost) => ({ kind: "cost", parent: node, cost }));
    const note = lines.length === 0 ? "nothing of this was recorded" : more > 0 ? `${count(more, "more line")}, which cost less` : "";
    return note === "" ? nodes : [...nodes, { kind: "note", parent: node, text: note }];
  }

  private async boundaries(capture: CaptureNode): Promise<Node[]> {
    const params = { folder: capture.folder, capture: capture.capture.id, filter: this.current.filter };
    const found = await this.server.request<{ boundaries: Boundary[] } | null>("framedex/boundaries", params);
    this.tellPassing(capture, found?.boundaries ?? []);
    if (found?.boundaries.length === 0 && this.current.filter !== "") {
      return [{ kind: "note", parent: capture, text: "no call passes the filter" }];
    }
    return (found?.boundaries ?? [])
      .sort(ORDERS[this.current.order])
      .map((boundary) => ({ kind: "boundary", parent: capture, boundary }));
  }

  private tellPassing(capture: CaptureNode, boundaries: readonly Boundary[]): void {
    const matchingCalls = boundaries.reduce((sum, { calls }) => sum + calls, 0);
    // VS Code requests the boundary functions again with the row, which then shows the number.
    if (this.current.filter !== "" && this.matchingCalls.get(nodeKey(capture)) !== matchingCalls) {
      this.matchingCalls.set(nodeKey(capture), matchingCalls);
      this.changed.fire(capture);
    }
  }

  private async calls(node: BoundaryNode): Promise<Node[]> {
    const [key, read] = [nodeKey(node), this.read];
    const wanted = Math.min(this.wanted.get(key) ?? PAGE_SIZE, node.boundary.calls);
    let calls = read.get(key) ?? [];
    while (calls.length < wanted) {
      const page = await this.page(node, calls.length, Math.min(wanted - calls.length, MAX_PAGE_SIZE));
      if (page.length === 0) {
        break; // the index has changed meanwhile, so the tree is reloaded
      }
      calls = [...calls, ...page];
    }
    read.set(key, calls);
    const nodes = calls.map<CallNode>((call) => ({ kind: "call", parent: node, call }));
    const [shown, left] = [calls.length, node.boundary.calls - calls.length];
    // Each page has as many calls as are already shown, up to the limit of one answer.
    return shown > 0 && left > 0 ? [...nodes, { kind: "more", parent: node, shown, next: Math.min(shown, left, MAX_PAGE_SIZE) }] : nodes;
  }

  private async page(node: BoundaryNode, offset: number, limit: number): Promise<readonly Call[]> {
    const { folder, capture } = node.parent;
    const found = await this.server.request<{ calls: Call[] } | null>("framedex/calls", {
      ...{ folder, capture: capture.id, boundary: node.boundary.id, filter: this.current.filter },
      ...{ order: this.current.order === "time" ? "duration" : "start", offset, limit },
    });
    return found?.calls ?? [];
  }

  private async stacks(node: CallNode): Promise<Node[]> {
    const { folder } = node.parent.parent;
    const found = await this.server.request<CallFrames | null>("framedex/frames", { folder, call: node.call.id });
    const unmerged = found?.unmerged ?? null;
    const reason = unmerged === null ? (found?.cutOff ?? null) : `Not merged: ${unmerged}`;
    let position = 0;
    const stacks = (found?.stacks ?? []).map<StackNode>(({ title, frames }) => ({
      ...{ kind: "stack", parent: node, title, reason },
      frames: frames.map((frame, index) => ({ ...frame, number: index + 1, position: position++ })),
    }));
    const [only] = stacks;
    return stacks.length === 1 && only !== undefined && reason === null ? this.frames(node, only.frames) : stacks;
  }

  private frames(parent: CallNode | StackNode, frames: readonly NumberedFrame[]): Node[] {
    const runs: NumberedFrame[][] = [];
    for (const frame of frames) {
      const last = runs.at(-1);
      if (this.current.foldGlue && isGlue(frame) && last?.[0] !== undefined && isGlue(last[0])) {
        last.push(frame);
      } else {
        runs.push([frame]);
      }
    }
    return runs.map((run) => createFrameNode(parent, run, this.current.foldGlue));
  }
}

const NO_COSTS: Costs = { text: "", lines: [], more: 0 };

function costStackNodes(node: CostNode): Node[] {
  const nodes = node.cost.stacks.map<Node>((way) => ({ kind: "way", parent: node, way }));
  const { more } = node.cost;
  return more > 0 ? [...nodes, { kind: "note", parent: node, text: count(more, "more stack") }] : nodes;
}

function captures(index: ListedIndex, parent: Extract<Node, { kind: "index" }> | undefined): Node[] {
  return index.captures.map((capture) => ({
    ...{ kind: "capture", parent, folder: index.folder, capture, isPicked: capture.id === index.selected },
  }));
}

function createFrameNode(parent: CallNode | StackNode, run: readonly NumberedFrame[], foldGlue: boolean): GlueNode | FrameNode {
  const frame = run[0] as NumberedFrame;
  return foldGlue && isGlue(frame) ? { kind: "glue", parent, frames: run } : { kind: "frame", parent, frame };
}

function isGlue(frame: NumberedFrame): boolean {
  return frame.role !== "code";
}

const ORDERS: Record<Order, (a: Boundary, b: Boundary) => number> = {
  time: (a, b) => b.duration - a.duration || b.calls - a.calls,
  calls: (a, b) => b.calls - a.calls || b.duration - a.duration,
  name: (a, b) => a.function.localeCompare(b.function, "en"),
};
