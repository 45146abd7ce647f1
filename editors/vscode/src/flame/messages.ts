// Messages between the extension and the page of a flame graph.

import type { Location } from "vscode-languageclient/node";

/** The capture of a graph, optionally one of its boundary functions (an id); with `before`, the changes since that capture. */
export interface Subject {
  readonly folder: string;
  readonly capture: number;
  readonly boundary: number | null;
  readonly before?: number;
  readonly title: string;
}

/** The answer of `framedex/flameGraph`: docs/reference/language-server.md describes it. */
export interface Graph {
  readonly calls: number;
  readonly duration: number;
  readonly durationText: string;
  readonly hidden: number;
  readonly merged: number;
  readonly nodes: readonly GraphNode[];
}

export interface GraphNode {
  readonly parent: number;
  readonly kind: "python" | "native" | "boundary" | "unmerged" | "others";
  readonly name: string;
  readonly calls: number;
  readonly duration: number;
  readonly durationText: string;
  readonly frame: number | null;
  readonly place: string | null;
  readonly how: string | null;
  readonly merged: number;
  /** In a graph of differences: the values of the node in both captures, and their change. */
  readonly before?: Share;
  readonly after?: Share;
  readonly changed?: Readonly<Record<Weight, Changed>>;
}

export interface Share {
  readonly calls: number;
  readonly duration: number;
  readonly durationText: string;
}

export type Changed = "went" | "less" | "same" | "more" | "came";

/** The answer of `framedex/programMemory`: docs/reference/language-server.md describes it. */
export interface ProgramMemories {
  readonly programs: readonly ProgramMemory[];
  readonly more: number;
}

/** The temporaries of a program along its schedule: `points` are pairs of a step and the live bytes. */
export interface ProgramMemory {
  readonly function: string;
  readonly text: string;
  readonly peak: number;
  readonly steps: number;
  readonly points: readonly (readonly [number, number])[];
  readonly lines: readonly LineMemory[];
}

/** The buffers of a line that are alive at the peak: their live bytes at each point. */
export interface LineMemory {
  readonly function: string;
  readonly place: string;
  readonly text: string;
  readonly location: Location | null;
  readonly sizes: readonly number[];
}

/** The state that the page keeps while it is hidden and across a reload of the window. */
export interface PageState {
  readonly subject: Subject;
  readonly weight: Weight;
  readonly glue: boolean;
  readonly search: string;
  /** Whether the page shows the memory inside programs instead of the graph. */
  readonly memory: boolean;
}

export type Weight = "duration" | "calls";

export type ToPage =
  | { readonly kind: "graph"; readonly subject: Subject; readonly graph: Graph; readonly memory: ProgramMemories }
  | { readonly kind: "nothing"; readonly subject: Subject; readonly reason: string };

export type FromPage =
  | { readonly kind: "wanted"; readonly glue: boolean }
  | { readonly kind: "source"; readonly frame: number }
  | { readonly kind: "line"; readonly program: number; readonly line: number };
