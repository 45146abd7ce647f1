// Stepping along a recorded stack, across languages: the commands and what they say where a stack ends.

import * as vscode from "vscode";

import { Framedex } from "../framedex";
import { sayNoCalls } from "../noCalls";
import { reasonOf, withoutIcons } from "../plain";
import { Elsewhere, foundIn, ListedStack, StackPosition } from "../server/protocol";
import { cursor, open, Place } from "../show";

const SHOWN_FOR = 5_000;

interface Step {
  readonly command: string;
  readonly request: string;
  /** What is said where a stack passes the line but goes no further. */
  readonly end: string;
}

const STEPS: readonly Step[] = [
  { command: "framedex.stepIn", request: "framedex/stepIn", end: "No frame with source is further inward on this stack." },
  { command: "framedex.stepOut", request: "framedex/stepOut", end: "This is the outermost frame with source of this stack." },
  { command: "framedex.nextStack", request: "framedex/nextStack", end: "No other stack goes through this line." },
  { command: "framedex.previousStack", request: "framedex/previousStack", end: "No other stack goes through this line." },
];

export function register(framedex: Framedex): vscode.Disposable {
  return vscode.Disposable.from(
    ...STEPS.map((step) => vscode.commands.registerCommand(step.command, () => guarded(() => take(framedex, step)))),
    vscode.commands.registerCommand("framedex.nextFrame", () => guarded(() => along(framedex, 1))),
    vscode.commands.registerCommand("framedex.previousFrame", () => guarded(() => along(framedex, -1))),
    vscode.commands.registerCommand("framedex.clearStack", () => framedex.picked.clear()),
  );
}

async function take(framedex: Framedex, step: Step): Promise<StackPosition | undefined> {
  const { picked, server } = framedex;
  const place = cursor() ?? placeOfFrame(picked.stack);
  if (place === undefined) {
    return say("Put the cursor on a line of a source file first.");
  }
  if (!(await server.ready())) {
    return say("The language server does not run.");
  }
  const reached = await picked.move(step.request, place);
  if (reached !== undefined) {
    return arrive(reached);
  }
  const stacks = foundIn(await server.request<ListedStack[] | Elsewhere>("framedex/stacks", place));
  if (stacks?.length) {
    return say(step.end);
  }
  await sayNoCalls(framedex, place, () => guarded(() => take(framedex, step)));
  return undefined;
}

/** One frame along the picked stack, also glue and the interpreter's, as far as its source is here. */
async function along(framedex: Framedex, by: 1 | -1): Promise<StackPosition | undefined> {
  const { picked } = framedex;
  const stack = picked.stack;
  if (stack === undefined) {
    const step = STEPS[by === 1 ? 0 : 1];
    return step && take(framedex, step); // which picks one
  }
  for (let frame = stack.frame + by; frame >= 0 && frame < stack.frames; frame += by) {
    const reached = stack.stackFrames[frame]?.location ? await picked.move("framedex/selectFrame", { frame }) : undefined;
    if (reached !== undefined) {
      return arrive(reached);
    }
  }
  return say(by === 1 ? "This is the innermost frame with source." : "This is the outermost frame with source.");
}

async function arrive(reached: StackPosition): Promise<StackPosition | undefined> {
  if (!(await open(reached.location))) {
    return say(`${vscode.Uri.parse(reached.location.uri).path} cannot be opened.`);
  }
  say(`${reached.function}: frame ${reached.frame + 1} of ${reached.frames} on the way to ${reached.boundary}`);
  return reached;
}

function placeOfFrame(position: StackPosition | undefined): Place | undefined {
  const location = position?.location;
  return location && { textDocument: { uri: location.uri }, position: location.range.start };
}

async function guarded<Result>(step: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await step();
  } catch (error) {
    return say(reasonOf(error));
  }
}

function say(message: string): undefined {
  vscode.window.setStatusBarMessage(`framedex: ${withoutIcons(message)}`, SHOWN_FOR);
  return undefined;
}
