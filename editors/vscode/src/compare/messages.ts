// Messages between the extension and the page of a comparison.

/** Two captures, by their ids in the index of a folder, and the line of the editor from which they were compared. */
export interface Comparison {
  readonly folder: string;
  readonly before: number;
  readonly after: number;
  readonly here?: { readonly uri: string; readonly line: number };
}

/** The answer of `framedex/compareLines`: docs/reference/language-server.md describes it. */
export interface ComparedLines {
  readonly before: ComparedCapture;
  readonly after: ComparedCapture;
  readonly versions: readonly string[];
  readonly text: string;
  readonly lines: readonly ComparedLine[];
  /** How many lines were left out. */
  readonly more: number;
}

export interface ComparedCapture {
  readonly id: number;
  readonly name: string;
  readonly started: number;
  readonly calls: number;
}

export type Verdict = "worse" | "better" | "other";

export interface ComparedLine {
  readonly verdict: Verdict;
  readonly function: string;
  readonly place: string;
  readonly location: { uri: string; range: { start: Position; end: Position } } | null;
  readonly stale: string | null;
  /** The only capture that executed the line. */
  readonly only: "before" | "after" | null;
  /** The kind of time in `before` and `after`: in the runtime, or waiting. */
  readonly measure: string;
  readonly before: { readonly durationText: string };
  readonly after: { readonly durationText: string };
  readonly differenceText: string;
  /** Whether the times differ by no more than noise. */
  readonly isNoise: boolean;
  readonly reasons: readonly string[];
  readonly moreReasons: number;
}

interface Position {
  line: number;
  character: number;
}

/** The state that the page keeps while it is hidden and across a reload of the window. */
export interface PageState {
  readonly subject: Comparison;
  /** The smallest difference of a time, in milliseconds. */
  readonly floor: number;
}

export type ToPage =
  | { readonly kind: "lines"; readonly subject: Comparison; readonly compared: ComparedLines }
  | { readonly kind: "nothing"; readonly reason: string };

export type FromPage =
  | { readonly kind: "wanted"; readonly floor: number }
  | { readonly kind: "source"; readonly line: number }
  | { readonly kind: "graph" };
