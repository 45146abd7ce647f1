// framedex's own requests: docs/reference/language-server.md describes them. Times are in nanoseconds; lines and frames count from 0.

import { Location } from "vscode-languageclient/node";

/** The answer of `framedex/why`. */
export interface EmptyAnswerReason {
  text: string;
  action: Action | null;
  /** A second command, for a frame whose source is public: it fetches the source. */
  alternative?: Action;
}

/** A server command that helps. */
export interface Action {
  title: string;
  command: string;
  arguments: unknown[];
}

/** The note of `framedex/led` about the latest step; `text` may be empty. */
export interface StepNote {
  text: string;
  /** The request that lists all possible targets of the step, and its parameters. */
  request?: "framedex/waysIn" | "framedex/waysOut";
  at?: object;
  /** The command that opens the next frame if its source is not on this machine. */
  action?: Action;
}

/** A target of a line, as listed by `framedex/waysIn` and `framedex/waysOut`. */
export interface NavigationTarget {
  function: string;
  location: Location;
  place: string;
  calls: number | null;
  detail: string;
}

/** A duration in nanoseconds and as text. */
interface Timed {
  duration: number;
  durationText: string;
}

/** A frame of a recorded stack. */
export interface Frame {
  function: string;
  language: "python" | "native";
  role: string;
  /** Empty where it is unknown. */
  module: string;
  location: Location | null;
  how: string | null;
}

/** The current position on the selected stack. `frame` counts from the outermost frame; `frames` is their number. */
export interface StackPosition extends Frame {
  location: Location;
  stack: number;
  boundary: string;
  call: number;
  calls: number;
  frame: number;
  frames: number;
  text: string;
}

/** The answer of `framedex/stack`: the position with every frame, outermost first. */
export interface SelectedStack extends StackPosition {
  stackFrames: Frame[];
}

/** A stack through a line, as listed by `framedex/stacks`. */
export interface ListedStack extends Timed {
  stack: number;
  boundary: string;
  call: number;
  calls: number;
  frame: number;
  selected: boolean;
}

/** The answer of `framedex/recordedLines`; `unshown` counts lines whose costs no lens shows. */
export interface RecordedLines {
  lines: { line: number; calls: number }[];
  unshown: number;
}

export interface Capture {
  id: number;
  path: string;
  /** Seconds since 1970. */
  started: number;
  command: string;
  /** A short form of the command. */
  name: string;
  calls: number;
  stacks: number;
}

export interface Captures {
  /** The path of the index. */
  index: string;
  captures: Capture[];
  selected: number | null;
  /** The captures that answers cover, as text; servers before 0.2 do not send it. */
  counted?: string;
}

/** The answer of `framedex/resolveFrame`: several locations are candidates; without any, `message` says why. */
export interface ResolvedFrame {
  locations: (Location & { how: string })[];
  url: string | null;
  message: string | null;
}

/** The answer of `framedex/traceDocument`. */
export interface TraceDocument {
  uri: string;
  languageId: string;
  text: string;
}

/** An index of the workspace; `folder` identifies the index in the requests below. */
export interface ListedIndex extends Captures {
  folder: string;
  /** Why the index is unusable; `captures` is empty then. */
  problem: string | null;
  /** The command that repairs it. */
  action: Action | null;
}

/** The totals of a boundary function's calls in a capture; with a filter, of the matching calls. */
export interface Boundary extends Timed {
  id: number;
  function: string;
  boundary: string;
  calls: number;
  averageText: string;
  latestCall: number;
}

export interface Call extends Timed {
  id: number;
  capture: number;
  function: string;
  boundary: string;
  arguments: string;
  outcome: string;
  error: number;
  /** Time since the start of the recording. */
  start: number;
  startText: string;
  thread: string;
  stack: number;
}

/** A frame whose file may be missing on this machine; it may then have a public URL and a readable location. */
export interface TracedFrame extends Frame {
  url: string | null;
  publicPlace: string | null;
}

/** The answer of `framedex/frames`: the stacks in the order of the call's trace document. */
export interface CallFrames {
  call: Call;
  capture: Capture;
  unmerged: string | null;
  cutOff: string | null;
  stacks: { title: string; frames: TracedFrame[] }[];
}

/** The kinds of line costs, by their names in `framedex/costs`. */
export type CostAnswer = "compiles" | "transfers" | "memory" | "waits";

/** The answer of `framedex/costs`: the lines of a capture, or one line, most expensive first. */
export interface Costs {
  /** The total as text; empty if there are no costs. */
  text: string;
  lines: LineCost[];
  /** How many lines were left out. */
  more: number;
}

/** The cost of a line of the program. */
export interface LineCost {
  text: string;
  details: string[];
  function: string;
  place: string;
  location: Location | null;
  stale: string | null;
  call: number;
  stacks: CostStack[];
  /** How many stacks were left out. */
  more: number;
}

/** One of the stacks behind a number: the lines that led there, nearest first, and the latest call. */
export interface CostStack {
  text: string;
  outward: { function: string; place: string }[];
  call: number;
}
