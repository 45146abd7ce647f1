// framedex's own requests: docs/reference/language-server.md describes them. Times are in nanoseconds; lines and frames count from 0.

import { Location } from "vscode-languageclient/node";

/** The answer of `framedex/why`. */
export interface Why {
  text: string;
  action: Action | null;
}

/** A command of the server's that helps. */
export interface Action {
  title: string;
  command: string;
  arguments: unknown[];
}

/** What `framedex/led` tells of the step that was just taken: `text` is empty where there is nothing to say. */
export interface Led {
  text: string;
  /** The request that lists all places to which it could have led, and what it takes. */
  request?: "framedex/waysIn" | "framedex/waysOut";
  at?: object;
  /** What opens the next frame where it is not on this machine. */
  action?: Action;
}

/** A place to which a line leads, as `framedex/waysIn` and `framedex/waysOut` list it. */
export interface Way {
  function: string;
  location: Location;
  place: string;
  calls: number | null;
  detail: string;
}

/** A time in nanoseconds, and in words. */
interface Lasting {
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

/** Where the reader is on the picked stack. `frame` counts from the outermost, `frames` is their number. */
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
export interface PickedStack extends StackPosition {
  stackFrames: Frame[];
}

/** A stack through a line, as `framedex/stacks` lists it. */
export interface ListedStack extends Lasting {
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
  /** The command in short. */
  name: string;
  calls: number;
  stacks: number;
}

export interface Captures {
  /** The path of the index. */
  index: string;
  captures: Capture[];
  selected: number | null;
  /** The captures that answers are of, in words; servers before 0.2 have none. */
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

/** One of the indexes of the workspace, with a folder that it is of: how the requests below are told which is meant. */
export interface ListedIndex extends Captures {
  folder: string;
  /** Why it cannot be used: then it lists no captures. */
  problem: string | null;
  /** What helps then. */
  action: Action | null;
}

/** What the calls of a boundary function in a capture came to; where a filter was given, those that pass it. */
export interface Boundary extends Lasting {
  id: number;
  function: string;
  boundary: string;
  calls: number;
  averageText: string;
  latestCall: number;
}

export interface Call extends Lasting {
  id: number;
  capture: number;
  function: string;
  boundary: string;
  arguments: string;
  outcome: string;
  error: number;
  /** Since the recording began. */
  start: number;
  startText: string;
  thread: string;
  stack: number;
}

/** A frame that may be on no file here, and then have a public address, and a place as people read it. */
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

/** The answers what lines cost, by their names in `framedex/costs`. */
export type CostAnswer = "compiles" | "transfers" | "memory" | "waits";

/** The answer of `framedex/costs`: the lines of a capture, or one line, what costs most first. */
export interface Costs {
  /** What all of it comes to; empty where there is nothing. */
  text: string;
  lines: LineCost[];
  /** How many lines were left out. */
  more: number;
}

/** What a line of the program costs. */
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
