// Messages between the extension and the page of a flame graph.

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

/** The state that the page keeps while it is hidden and across a reload of the window. */
export interface PageState {
  readonly subject: Subject;
  readonly weight: Weight;
  readonly glue: boolean;
  readonly search: string;
}

export type Weight = "duration" | "calls";

export type ToPage =
  | { readonly kind: "graph"; readonly subject: Subject; readonly graph: Graph }
  | { readonly kind: "nothing"; readonly subject: Subject; readonly reason: string };

export type FromPage =
  | { readonly kind: "wanted"; readonly glue: boolean }
  | { readonly kind: "source"; readonly frame: number };
