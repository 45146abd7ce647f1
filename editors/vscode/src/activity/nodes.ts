// The nodes of the activity view: indexes, captures, costs of lines, boundary functions, calls, frames, and nodes that
// group them.

import { Boundary, Call, Capture, CostAnswer, CostStack, LineCost, ListedIndex, TracedFrame } from "../server/protocol";

export type Node =
  | IndexNode
  | CaptureNode
  | AnswerNode
  | CostNode
  | CostStackNode
  | BoundaryNode
  | NoteNode
  | CallNode
  | MoreCallsNode
  | StackNode
  | GlueNode
  | FrameNode;

export interface IndexNode {
  readonly kind: "index";
  readonly parent: undefined;
  readonly index: ListedIndex;
}

export interface CaptureNode {
  readonly kind: "capture";
  readonly parent: IndexNode | undefined;
  /** The folder of its index. */
  readonly folder: string;
  readonly capture: Capture;
  readonly isPicked: boolean;
}

/** One kind of cost of the program's lines. */
export interface AnswerNode {
  readonly kind: "answer";
  readonly parent: CaptureNode;
  readonly answer: CostAnswer;
}

/** The cost of one line. */
export interface CostNode {
  readonly kind: "cost";
  readonly parent: AnswerNode;
  readonly cost: LineCost;
}

/** One of the stacks behind the line's cost. */
export interface CostStackNode {
  readonly kind: "way";
  readonly parent: CostNode;
  readonly way: CostStack;
}

export interface BoundaryNode {
  readonly kind: "boundary";
  readonly parent: CaptureNode;
  readonly boundary: Boundary;
}

/** A placeholder text for missing children. */
interface NoteNode {
  readonly kind: "note";
  readonly parent: CaptureNode | AnswerNode | CostNode;
  readonly text: string;
}

export interface CallNode {
  readonly kind: "call";
  readonly parent: BoundaryNode;
  readonly call: Call;
}

/** Calls that are not shown yet. */
export interface MoreCallsNode {
  readonly kind: "more";
  readonly parent: BoundaryNode;
  readonly shown: number;
  /** The number of calls that a click shows. */
  readonly next: number;
}

/** One of several stacks of a call: stacks that could not be merged, and stacks that dispatched the call. */
export interface StackNode {
  readonly kind: "stack";
  readonly parent: CallNode;
  readonly title: string;
  readonly reason: string | null;
  readonly frames: readonly NumberedFrame[];
}

/** A run of folded interpreter and glue frames. */
export interface GlueNode {
  readonly kind: "glue";
  readonly parent: CallNode | StackNode;
  readonly frames: readonly NumberedFrame[];
}

export interface FrameNode {
  readonly kind: "frame";
  readonly parent: CallNode | StackNode | GlueNode;
  readonly frame: NumberedFrame;
}

/** `number` counts in its stack, from 1 at the outermost frame; `position` counts in the trace document, from 0. */
export interface NumberedFrame extends TracedFrame {
  readonly number: number;
  readonly position: number;
}

/** Whether an index is unusable but can be rebuilt, according to the server. */
export function isRebuildable({ index }: IndexNode): boolean {
  return index.action?.command === "framedex.rebuildIndex";
}

/** The capture that a node belongs to; undefined for an index. */
export function captureOf(node: Node): CaptureNode | undefined {
  let at: Node | undefined = node;
  while (at !== undefined && at.kind !== "capture") {
    at = at.parent;
  }
  return at;
}

/** The call of a node: the node itself or its ancestor. */
export function callOf(node: Node): CallNode | undefined {
  let at: Node | undefined = node;
  while (at !== undefined && at.kind !== "call") {
    at = at.parent;
  }
  return at;
}

/** A key that identifies a node, also after a refresh of the view. */
export function nodeKey(node: Node): string {
  const parentKey = node.parent === undefined ? "" : `${nodeKey(node.parent)}/`;
  switch (node.kind) {
    case "index":
      return node.index.folder;
    case "capture":
      return `${node.folder}#${node.capture.id}`;
    case "answer":
      return `${parentKey}${node.answer}`;
    case "cost":
      return `${parentKey}${node.cost.place} ${node.cost.call}`;
    case "way":
      return `${parentKey}${node.way.call} ${node.way.text}`;
    case "boundary":
      return `${parentKey}${node.boundary.id}`;
    case "call":
      return `${parentKey}${node.call.id}`;
    case "note":
      return `${parentKey}note`;
    case "more":
      return `${parentKey}more`;
    case "stack":
      return `${parentKey}${node.frames[0]?.position ?? 0} ${node.title}`;
    case "glue":
      return `${parentKey}glue ${node.frames[0]?.position ?? 0}`;
    case "frame":
      return `${parentKey}${node.frame.position}`;
  }
}
