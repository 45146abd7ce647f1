// What the activity view shows: indexes, captures, what lines cost, boundary functions, calls, frames, and what stands
// between them.

import { Boundary, Call, Capture, CostAnswer, CostStack, LineCost, ListedIndex, TracedFrame } from "../server/protocol";

export type Node =
  | IndexNode
  | CaptureNode
  | AnswerNode
  | CostNode
  | WayNode
  | BoundaryNode
  | NoteNode
  | CallNode
  | MoreNode
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
  /** Of the index that it is in. */
  readonly folder: string;
  readonly capture: Capture;
  readonly isPicked: boolean;
}

/** What the lines of the program cost by one answer. */
export interface AnswerNode {
  readonly kind: "answer";
  readonly parent: CaptureNode;
  readonly answer: CostAnswer;
}

/** What one line costs. */
export interface CostNode {
  readonly kind: "cost";
  readonly parent: AnswerNode;
  readonly cost: LineCost;
}

/** One of the ways to that line: a stack behind its number. */
export interface WayNode {
  readonly kind: "way";
  readonly parent: CostNode;
  readonly way: CostStack;
}

export interface BoundaryNode {
  readonly kind: "boundary";
  readonly parent: CaptureNode;
  readonly boundary: Boundary;
}

/** A word in place of what is not there. */
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
export interface MoreNode {
  readonly kind: "more";
  readonly parent: BoundaryNode;
  readonly shown: number;
  /** How many of them are shown by a click. */
  readonly next: number;
}

/** One of several stacks under a call: those that could not be merged, and the stacks that had a call made. */
export interface StackNode {
  readonly kind: "stack";
  readonly parent: CallNode;
  readonly title: string;
  readonly reason: string | null;
  readonly frames: readonly NumberedFrame[];
}

/** Neighbouring frames of the interpreter and of glue, folded. */
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

/** `number` counts in its stack from the outermost frame, 1; `position` in the whole trace document from 0. */
export interface NumberedFrame extends TracedFrame {
  readonly number: number;
  readonly position: number;
}

/** Whether an index cannot be used as it is, but can be made anew: the server says what helps. */
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

/** The call that a node is, or is under. */
export function callOf(node: Node): CallNode | undefined {
  let at: Node | undefined = node;
  while (at !== undefined && at.kind !== "call") {
    at = at.parent;
  }
  return at;
}

/** What tells a node from all others, also after the view was read anew. */
export function keyOf(node: Node): string {
  const above = node.parent === undefined ? "" : `${keyOf(node.parent)}/`;
  switch (node.kind) {
    case "index":
      return node.index.folder;
    case "capture":
      return `${node.folder}#${node.capture.id}`;
    case "answer":
      return `${above}${node.answer}`;
    case "cost":
      return `${above}${node.cost.place} ${node.cost.call}`;
    case "way":
      return `${above}${node.way.call} ${node.way.text}`;
    case "boundary":
      return `${above}${node.boundary.id}`;
    case "call":
      return `${above}${node.call.id}`;
    case "note":
      return `${above}note`;
    case "more":
      return `${above}more`;
    case "stack":
      return `${above}${node.frames[0]?.position ?? 0} ${node.title}`;
    case "glue":
      return `${above}glue ${node.frames[0]?.position ?? 0}`;
    case "frame":
      return `${above}${node.frame.position}`;
  }
}
